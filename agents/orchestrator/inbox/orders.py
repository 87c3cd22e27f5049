"""What an owner wrote -> an order, a question back, or nothing. Pure; one rule for every place where he may write.

A command is a comment of its own, in its exact form. What is nearly one is asked back about: nobody guesses whether
"/approve NO WAIT" is a yes. A text that was changed after it was written is nobody's word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sisimpur.agents.orchestrator.inbox.answers import Word
from sisimpur.shared.forge.forge import Comment
from sisimpur.shared.model.text import around_unseen, harmless, shown, visible

ORDER = re.compile(r"/[ \t]*(\w+)(?![\w/])(.*)", re.DOTALL)  # `/usr/bin` is a path
WITHIN = re.compile(r"^[ \t]*/(?:approve|reject|cancel|retry|answer|retest)(?![\w/])", re.MULTILINE | re.IGNORECASE)
OVER = re.compile(r"(?:--)?over[ \t]+[`'\"#]*(\d+|(?=\w*\d)[0-9a-f]+|[0-9a-f]{7,})\b[`'\".,:;]*\s*", re.IGNORECASE)
COMMIT = re.compile(r"`?([0-9a-f]{7,40})`?", re.IGNORECASE)
OUR_ID = re.compile(r"\d{8}-[a-z]?\d+")  # as a plan gives them; an owner's own may be any word
WITH_WORDS: dict[str, Word] = {"retry": "retry", "answer": "retry", "reject": "reject", "cancel": "cancel"}
LONGEST, SHOWN = 4_000, 80  # characters of one answer, and of what is asked back about


@dataclass(frozen=True)
class Channel:
    """Where it was written: the ids of the tasks that wait for a word there, and the commit of the only one."""

    waiting: tuple[str, ...] = ()
    commit: str = ""


@dataclass(frozen=True)
class OwnerAnswer:
    word: Word
    at: datetime
    why: str = ""
    commit: str = ""  # the one that he approves; empty: whatever waited when he wrote
    over: str = ""  # the finding that he settles, and nothing else
    task: str = ""  # which he names; empty: the only one
    unseen: str = ""  # where he wrote what nobody sees, which was taken out


@dataclass(frozen=True)
class AskedBack:
    """`wrote`: how it begins, in one line; `question`: why it is no order, and what to type."""

    at: datetime
    wrote: str
    question: str


Heard = OwnerAnswer | AskedBack


def answer_in(said: Comment, channel: Channel = Channel()) -> Heard | None:
    """None: it is no answer."""
    text = said.body.replace("\r\n", "\n").replace("\r", "\n").strip()
    found = _meant(said, text, channel)
    if isinstance(found, OwnerAnswer) and said.edited:
        found = f"it was changed after it was written, so it is no ruling; write it anew: {_forms(channel)}"
    if isinstance(found, str):
        return AskedBack(said.at, harmless(shown(text), SHOWN) or f"({said.verdict})", found)
    return found and replace(found, why=visible(found.why), unseen=around_unseen(text))


def _meant(said: Comment, text: str, channel: Channel) -> OwnerAnswer | str | None:
    """A text: the question that is asked back."""
    if found := ORDER.match(text):
        return _command(said, found[1].casefold(), found[2], channel)
    if WITHIN.search(text):
        return f"a command is a comment of its own, and this is more; write only: {_forms(channel)}"
    if not (said.verdict or said.path) or not (text or said.verdict in ("approve", "request_changes")):
        return None
    if len(channel.waiting) > 1:
        return f"{_several(channel)}; write: {_forms(channel)}"
    if said.verdict == "approve":
        return OwnerAnswer("approve", said.at, text[:LONGEST], said.sha)
    return OwnerAnswer(
        "retry", said.at, f"{said.path}:{said.line or '?'}: {text}"[:LONGEST] if said.path else text[:LONGEST]
    )


def _command(said: Comment, word: str, rest: str, channel: Channel) -> OwnerAnswer | str:
    if word not in (*WITH_WORDS, "approve", "retest") or (rest and not re.match(r"[\s:,]", rest)):
        return f"this is none of my commands; write: {_forms(channel)}"
    if (said.verdict == "approve" and word != "approve") or (said.verdict == "request_changes" and word == "approve"):
        return f"the review says one thing and its text another; write one of: {_forms(channel)}"
    named = _named(rest, channel)
    if isinstance(named, str):
        return named
    task, rest = named
    if word in WITH_WORDS:
        return OwnerAnswer(WITH_WORDS[word], said.at, rest.lstrip(":, \t\n")[:LONGEST], task=task)
    if word == "approve" and (over := OVER.match(rest)):
        return OwnerAnswer("approve", said.at, rest[over.end() :][:LONGEST], over=over[1].lower(), task=task)
    if word == "retest" and not rest:
        return OwnerAnswer("retest", said.at, task=task)
    commit = COMMIT.fullmatch(rest)
    if word == "retest" or (rest and not commit):
        return f"/{word} takes nothing else behind it, so nothing was done; write: {_forms(channel)}"
    if said.path and not commit:  # of a remark at a line GitHub moves the commit along
        return f"a remark at a line approves nothing; write as a comment of its own: {_forms(channel)}"
    return OwnerAnswer(
        "approve", said.at, "", commit[1].lower() if commit else said.sha if said.verdict else "", task=task
    )


def _named(rest: str, channel: Channel) -> tuple[str, str] | str:
    """The task that is named first, and what follows it; or the question that is asked back."""
    first, others = [*rest.strip().split(maxsplit=1), "", ""][:2]
    if first in channel.waiting:
        return first, others
    if OUR_ID.fullmatch(first):
        return f"{first} does not wait here; write: {_forms(channel)}"
    if len(channel.waiting) > 1:
        return f"{_several(channel)}; write: {_forms(channel)}"
    return "", rest.strip()


def _several(channel: Channel) -> str:
    return f"several tasks wait here ({', '.join(channel.waiting)}), so name the one that you mean"


def _forms(channel: Channel) -> str:
    """What to type."""
    id_ = "ID " if len(channel.waiting) > 1 else ""
    commit = f"`/approve {channel.commit[:12]}`, " if channel.commit else "" if id_ else "`/approve COMMIT`, "
    return f"`/approve{' ID' if id_ else ''}`, {commit}`/reject {id_}why`, or `/retry {id_}what to do differently`"


# --- several of them -----------------------------------------------------------------------------------------


def answers_in(comments: Iterable[Comment], channel: Channel = Channel()) -> list[Heard]:
    """In order. A review is one answer: who approves, approves with his remarks at the lines, if none is a command."""
    said = list(comments)
    approved = {comment.id for comment in said if comment.verdict == "approve"}
    found = []
    for comment in said:
        if not (comment.review and comment.review in approved):
            found.append(answer_in(comment, channel))
        elif isinstance(heard := answer_in(replace(comment, verdict="approve", edited=False), channel), AskedBack):
            found.append(heard)
    return [one for one in found if one]


def counting(heard: Sequence[Heard]) -> list[Heard]:
    """Questions, each word over a finding, and the last of the others. No approval counts with a question after it."""
    asked = [one for one in heard if isinstance(one, AskedBack)]
    answers = [one for one in heard if isinstance(one, OwnerAnswer)]
    last = last_word([one for one in answers if not one.over])
    if last and last.word == "approve" and any(one.at >= last.at for one in asked):
        asked.append(
            AskedBack(last.at, "/approve", "what you wrote since is unclear, so nothing is approved; write it again")
        )
        last = None
    return [*asked, *(one for one in answers if one.over), *([last] if last else [])]


def last_word(answers: Sequence[OwnerAnswer]) -> OwnerAnswer | None:
    """Of several answers, the oldest first, the last one counts; what is to be done differently adds up."""
    if not answers:
        return None
    last = answers[-1]
    if last.word != "retry":
        return last
    before = [answer for answer in answers if answer.word == "retry"]
    unseen = next((answer.unseen for answer in before if answer.unseen), "")
    return replace(last, why="\n".join(answer.why for answer in before if answer.why), unseen=unseen)
