"""What the owner wrote below open pull requests -> his answers, each followed once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sisimpur.agents.orchestrator.board.review_facts import AttemptCommits, PullRequests
from sisimpur.agents.orchestrator.board.session import Session
from sisimpur.agents.orchestrator.inbox.answers import MEANINGS, OwnerAnswers, Word
from sisimpur.agents.orchestrator.publishing.publishing import HEARD, Address, Publishing
from sisimpur.agents.orchestrator.vision.issue_goals import InboxRules
from sisimpur.shared.forge.forge import FORGE_PROBLEMS, Comment, Forge, Pull, RateLimited, key_of
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.text import around_unseen, harmless, shown, visible
from sisimpur.shared.store.chain import heard_by
from sisimpur.shared.store.task_records import TaskRecord
from sisimpur.shared.system.fault import fault_point

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
                with heard_by("pull request"):
                    self._heed(one, pull)
            except RateLimited:  # whoever goes on asking is locked out
                raise
            except TeamError as problem:
                self.session.tell(f"{one.id}: what was written below its pull request is not heard yet: {problem}")

    def _heed(self, known: TaskRecord, pull: Pull) -> None:
        """Each word is written down before it is acted on; what a kill cuts off is acted on again, to the same end."""
        journal, now = self.publishing.journal, self.session.now()
        there = self.forge.comments(pull.number)
        new = [comment for comment in there if self._is_new(known, comment)]
        channel = Channel((known.id,), self.commits.newest(known))
        answers = [in_time(one, there, channel) for one in counting(answers_in(self._as_written(new), channel))]
        for comment in new:
            journal.intend(self._key(known, comment), "hear", known.id, comment.id, now)
        said = [
            (one.wrote, one.question) if isinstance(one, AskedBack) else (one.word, self._give(known, pull, one))
            for one in answers
        ]
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
        except FORGE_PROBLEMS as problem:
            self.session.tell(f"{known.id}: your words are heeded, but not answered there: {problem}")

    def _is_new(self, known: TaskRecord, comment: Comment) -> bool:
        """Of an owner, no text of ours (one account may be both), not followed yet."""
        is_his = self.rules.is_owner(comment.author, comment.author_id) and not comment.ours
        return is_his and not self.publishing.journal.outcome_of(self._key(known, comment))

    def _as_written(self, new: Sequence[Comment]) -> list[Comment]:
        """With what the forge knows of changes since: not all of it stands in its lists."""
        edited = self.forge.edited(new)
        return [replace(comment, edited=comment.id in edited) for comment in new]

    def _key(self, known: TaskRecord, comment: Comment) -> str:
        """One that was heard is heard once more when it has been changed."""
        return f"{known.id}:heard:{comment.id}{':edited' if comment.edited else ''}"

    def _give(self, known: TaskRecord, pull: Pull, answer: OwnerAnswer) -> str:
        """What came of it, in words for him."""
        told = self._done(known, pull, answer)
        return f"{told}. What nobody sees was taken out of your words: `{answer.unseen}`" if answer.unseen else told

    def _done(self, known: TaskRecord, pull: Pull, answer: OwnerAnswer) -> str:
        """He has closed it himself: of his words only the reason is left to keep."""
        state = self.answers.state(known.id)
        try:
            if answer.over:
                return self._approve_over(known, state, answer)
            if answer.word == "approve":
                return self._approve(known, state, answer)
            if answer.word == "retest":
                self.answers.retest(known.id, state)
                return "its tests are run again"
            if answer.word == "unblock":
                return "it has begun already, and waits for no other task"
            meaning = MEANINGS[answer.word]
            if pull.state == "open" and state is not meaning.target:
                if self.answers.move(known.id, state, answer.word, answer.why) is State.IN_REVIEW:
                    return "its retry is taken back: it waits for you again"
            else:
                self.answers.note(known.id, meaning.said, answer.why)
        except Misconfigured as reason:
            return str(reason)
        return "the coder tries again" if meaning.target is State.BACKLOG else "it is out of the queue"

    def _approve_over(self, known: TaskRecord, state: State, answer: OwnerAnswer) -> str:
        """A number is that of the findings that stood there when the owner wrote."""
        read = self.answers.gates.begun_at("review", known.id, self.commits.newest(known))
        if not is_by_letters(answer.over) and read and read > answer.at:
            return "it was read again since: name the finding by its letters, or write the number that it has now"
        finding = self.answers.approve_over(known.id, state, answer.over, answer.why)
        place = f"{finding.path}:{finding.line}"
        return f"{finding.rule} at {place} is settled, in later commits, too; nothing else is approved"

    def _approve(self, known: TaskRecord, state: State, answer: OwnerAnswer) -> str:
        """The commit that the owner names, or what waited when he wrote: never a change that he has not seen."""
        commit, parked = self.commits.newest(known), self.answers.gates.parked(known.id)
        is_later = parked is not None and parked.at is not None and parked.at > answer.at
        if not commit.startswith(answer.commit) if answer.commit else is_later:
            return f"the change has moved on since; to merge what is there now write: /approve {commit[:12]}"
        self.answers.approve(known.id, state, answer.why)
        return f"{commit[:12]} is approved"


# --- what an owner wrote -> an order -------------------------------------------------------------------------
# Pure; one rule for every place where the owner may write. A command is a comment of its own, in its exact form. What
# is nearly one is asked back about: nobody guesses whether "/approve NO WAIT" is a yes. A text that was changed after
# it was written is nobody's word.

ORDER = re.compile(r"/[ \t]*(\w+)(?![\w/])(.*)", re.DOTALL)  # `/usr/bin` is a path
WITHIN = re.compile(
    r"^[ \t]*/(?:approve|reject|cancel|retry|answer|retest|unblock)(?![\w/])", re.MULTILINE | re.IGNORECASE
)
OVER = re.compile(r"(?:--)?over[ \t]+[`'\"#]*(\d+|(?=\w*\d)[0-9a-f]+|[0-9a-f]{7,})\b[`'\".,:;]*\s*", re.IGNORECASE)
COMMIT = re.compile(r"`?([0-9a-f]{7,40})`?", re.IGNORECASE)
OUR_ID = re.compile(r"\d{8}-[a-z]?\d+")  # as a plan gives them; an owner's own may be any word
WITH_WORDS: dict[str, Word] = {
    "retry": "retry",
    "answer": "retry",
    "reject": "reject",
    "cancel": "cancel",
    "unblock": "unblock",
}
LONGEST, SHOWN = 4_000, 80  # characters of one answer, and of what is asked back about


def is_by_letters(over: str) -> bool:
    """Whether a finding is named by its signature: a number is its place among those that stood there."""
    return bool(over) and not (over.isdecimal() and len(over) < MOST_DIGITS)


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


def in_time(heard: Heard, there: Iterable[Comment], channel: Channel) -> Heard:
    """A question, if we have said something new of the change since, by the forge's clock: ours may have been set back.

    Who names a commit, or a finding by its letters, means that one whenever he wrote.
    """
    if isinstance(heard, AskedBack) or heard.word != "approve" or heard.commit or is_by_letters(heard.over):
        return heard
    ours = [one.newest for one in there if one.ours and not key_of(one.body).endswith(f":{HEARD}")]
    if not ours or max(ours) <= heard.at:
        return heard
    return AskedBack(heard.at, "/approve", f"the change has moved on since; write: {_forms(channel)}")


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
