"""What the owner wrote below open pull requests -> his answers, each followed once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sisimpur.agents.orchestrator.board.review_facts import AttemptCommits, PullRequests
from sisimpur.agents.orchestrator.board.session import Session
from sisimpur.agents.orchestrator.inbox.answers import MEANINGS, OwnerAnswers, Word
from sisimpur.agents.orchestrator.publishing.publishing import Address, Publishing
from sisimpur.agents.orchestrator.vision.issue_goals import InboxRules
from sisimpur.shared.forge.forge import Comment, Forge, Pull, RateLimited
from sisimpur.shared.model.errors import ForgeError, Misconfigured, TeamError
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.store.task_records import TaskRecord
from sisimpur.shared.system.fault import fault_point

SHORTEST = 7  # digits of a commit's name
MOST_DIGITS = 4  # of a finding's number; a longer one is how its letters begin


@dataclass(frozen=True)
class Inbox:
    """`rules`: whose words count."""

    rules: InboxRules
    forge: Forge
    pulls: PullRequests
    commits: AttemptCommits
    answers: OwnerAnswers
    publishing: Publishing
    session: Session

    def hear(self, known: Iterable[TaskRecord]) -> None:
        """A forge that does not answer now is asked again next time; the work goes on."""
        if not self.rules.owners:
            return
        for one in known:
            pull = self.pulls.known.get(one.id)
            if pull is None or pull.state == "merged":
                continue
            try:
                self._heed(one, pull)
            except RateLimited:  # whoever goes on asking is locked out
                raise
            except TeamError as problem:
                self.session.tell(f"{one.id}: what was written below its pull request is not heard yet: {problem}")

    def _heed(self, known: TaskRecord, pull: Pull) -> None:
        """Each word is written down before it is acted on; what a kill cuts off is acted on again, to the same end."""
        journal, now = self.publishing.journal, self.session.now()
        new = [comment for comment in self.forge.comments(pull.number) if self._is_new(known, comment)]
        answers = counting(answers_in(new))
        for comment in new:
            journal.intend(self._key(known, comment), "hear", known.id, comment.id, now)
        said = [(answer.word, self._give(known, pull, answer)) for answer in answers]
        fault_point("answer.given")
        for comment in new:
            journal.achieved(self._key(known, comment), comment.id)
        if said and pull.state == "open":
            for word, came_of_it in said:
                self.session.tell(f"{known.id}: you wrote {word}: {came_of_it}")
            self._reply(known, pull, "\n\n".join(f"### You wrote: {word}\n\n{told}" for word, told in said))

    def _reply(self, known: TaskRecord, pull: Pull, text: str) -> None:
        """A courtesy: without it his word counts all the same."""
        number = known.last.number if known.last else 0
        to = Address(known.id, number, pull.number, pull.head_sha)
        try:
            self.publishing.heard(to, text, self.session.now())
        except ForgeError as problem:
            self.session.tell(f"{known.id}: your words are heeded, but not answered there: {problem}")

    def _is_new(self, known: TaskRecord, comment: Comment) -> bool:
        """Of an owner, no text of ours (one account may be both), not followed yet."""
        is_his = self.rules.is_owner(comment.author) and not comment.ours
        return is_his and not self.publishing.journal.outcome_of(self._key(known, comment))

    def _key(self, known: TaskRecord, comment: Comment) -> str:
        return f"{known.id}:heard:{comment.id}"

    def _give(self, known: TaskRecord, pull: Pull, answer: OwnerAnswer) -> str:
        """What came of it, in words for him. He has closed it himself: of his words only the reason is left to keep."""
        state = self.answers.state(known.id)
        try:
            if answer.over:
                return self._approve_over(known, state, answer)
            if answer.word == "approve":
                return self._approve(known, state, answer)
            if answer.word == "retest":
                self.answers.retest(known.id, state)
                return "its tests are run again"
            meaning = MEANINGS[answer.word]
            if pull.state == "open" and state is not meaning.target:
                self.answers.move(known.id, state, answer.word, answer.why)
            else:
                self.answers.note(known.id, meaning.said, answer.why)
        except Misconfigured as reason:
            return str(reason)
        return "the coder tries again" if meaning.target is State.BACKLOG else "it is out of the queue"

    def _approve_over(self, known: TaskRecord, state: State, answer: OwnerAnswer) -> str:
        """A number is that of the findings that stood there when the owner wrote."""
        if answer.task not in ("", known.id):
            return f"this is the pull request of {known.id}, not of {answer.task}: nothing is settled"
        read = self.answers.gates.begun_at("review", known.id, self.commits.newest(known))
        if answer.over.isdecimal() and len(answer.over) < MOST_DIGITS and read and read > answer.at:
            return "it was read again since: name the finding by its letters, or write the number that it has now"
        finding = self.answers.approve_over(known.id, state, answer.over, answer.why)
        place = f"{finding.path}:{finding.line}"
        return f"{finding.rule} at {place} is settled, in later commits, too; nothing else is approved"

    def _approve(self, known: TaskRecord, state: State, answer: OwnerAnswer) -> str:
        """The commit that the owner names, or what waited when he wrote: never a change that he has not seen."""
        commit, parked = self.commits.newest(known), self.answers.gates.parked(known.id)
        is_later = parked is not None and parked.at is not None and parked.at > answer.at
        is_named = len(answer.commit) >= SHORTEST and commit.startswith(answer.commit)
        if not is_named if answer.commit else is_later:
            return f"the change has moved on since; to merge what is there now write: /approve {commit[:12]}"
        self.answers.approve(known.id, state, answer.why)
        return f"{commit[:12]} is approved"


# --- a comment or a review -> what the owner answers with it -------------------------------------------------


COMMAND = re.compile(r"/(approve|retry|reject|cancel|retest)\b[ \t]*(.*)", re.DOTALL | re.IGNORECASE)
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


_WORDS: dict[str, Word] = {"retry": "retry", "reject": "reject", "cancel": "cancel", "retest": "retest"}


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
