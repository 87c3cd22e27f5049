"""A comment or a review of the owner below a pull request -> what he answers with it. Pure.

`/approve [commit]`, `/approve [task] over FINDING [why]`, `/retry [what to do]`, `/reject [why]`, `/cancel`. A review
says the same by its verdict; what else is written in a review or at a line goes to the coder. Plain talk below the pull
request is not an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sisimpur.agents.orchestrator.inbox.answers import Word
from sisimpur.shared.forge.forge import Comment

COMMAND = re.compile(r"/(approve|retry|reject|cancel)\b[ \t]*(.*)", re.DOTALL | re.IGNORECASE)
OVER = re.compile(
    r"(?:(\S+)[ \t]+)?(?:--)?over[ \t]+[`'\"#]*(\d+|(?=\w*\d)[0-9a-f]+|[0-9a-f]{7,})\b[`'\".,:;]*\s*", re.I
)
COMMIT = re.compile(r"(?=.*\d)[0-9a-f]{4,40}|[0-9a-f]{7,40}")  # or what is meant to be one
NO_COMMIT = "none"  # no commit is called so: nothing is approved
LONGEST = 4_000  # characters of one answer


@dataclass(frozen=True)
class OwnerAnswer:
    word: Word
    at: datetime
    why: str = ""
    commit: str = ""  # the one that he approves; empty: whatever waited when he wrote
    over: str = ""  # the finding that he settles, and nothing else
    task: str = ""  # which he names beside it


def answer_in(comment: Comment) -> OwnerAnswer | None:
    """None: it is no answer."""
    text = comment.body.strip()[:LONGEST]
    if found := COMMAND.match(text):
        return _command(found[1].lower(), found[2].strip(), comment)
    if comment.verdict == "approve":
        return OwnerAnswer("approve", comment.at, text, comment.sha)
    if text and (comment.verdict or comment.path):
        return OwnerAnswer("retry", comment.at, _placed(comment, text))
    return OwnerAnswer("retry", comment.at) if comment.verdict == "request_changes" else None


def _command(word: str, rest: str, comment: Comment) -> OwnerAnswer:
    if word != "approve":
        return OwnerAnswer(_WORDS[word], comment.at, rest)
    if over := OVER.match(rest):
        return OwnerAnswer("approve", comment.at, rest[over.end() :], over=over[2].lower(), task=over[1] or "")
    words = (one.strip("`'\"()<>.,;:!").casefold() for one in rest.partition("\n")[0].split())
    named = next((one for one in words if COMMIT.fullmatch(one)), "")
    return OwnerAnswer("approve", comment.at, rest, named or _about(comment))


def _about(comment: Comment) -> str:
    """A review is about its commit; of a remark at a line GitHub moves the commit along, so it names none."""
    return comment.sha if comment.verdict else NO_COMMIT if comment.path else ""


_WORDS: dict[str, Word] = {"retry": "retry", "reject": "reject", "cancel": "cancel"}


def _placed(comment: Comment, text: str) -> str:
    return f"{comment.path}:{comment.line or '?'}: {text}" if comment.path else text


def answers_in(comments: Iterable[Comment]) -> list[OwnerAnswer]:
    """In order. A review is one answer: who approves, approves with his remarks at the lines."""
    said = list(comments)
    approved = {comment.id for comment in said if comment.verdict == "approve"}
    found = (answer_in(comment) for comment in said if not (comment.review and comment.review in approved))
    return [answer for answer in found if answer]


def counting(answers: Sequence[OwnerAnswer]) -> list[OwnerAnswer]:
    """Each word over a finding, and the last of the others."""
    last = last_word([answer for answer in answers if not answer.over])
    return [*(answer for answer in answers if answer.over), *([last] if last else [])]


def last_word(answers: Sequence[OwnerAnswer]) -> OwnerAnswer | None:
    """Of several answers, the oldest first, the last one counts; what is to be done differently adds up."""
    if not answers:
        return None
    last = answers[-1]
    if last.word != "retry":
        return last
    return replace(last, why="\n".join(answer.why for answer in answers if answer.word == "retry" and answer.why))
