"""What the owner wrote below open pull requests -> his answers, each followed once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sisimpur.agents.orchestrator.board.review_facts import AttemptCommits, PullRequests
from sisimpur.agents.orchestrator.board.session import Session
from sisimpur.agents.orchestrator.inbox.answers import MEANINGS, OwnerAnswers
from sisimpur.agents.orchestrator.inbox.orders import AskedBack, Channel, OwnerAnswer, answers_in, counting
from sisimpur.agents.orchestrator.publishing.publishing import Address, Publishing
from sisimpur.agents.orchestrator.vision.issue_goals import InboxRules
from sisimpur.shared.forge.forge import FORGE_PROBLEMS, Comment, Forge, Pull, RateLimited
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.model.lifecycle import State
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
                self._heed(one, pull)
            except RateLimited:  # whoever goes on asking is locked out
                raise
            except TeamError as problem:
                self.session.tell(f"{one.id}: what was written below its pull request is not heard yet: {problem}")

    def _heed(self, known: TaskRecord, pull: Pull) -> None:
        """Each word is written down before it is acted on; what a kill cuts off is acted on again, to the same end."""
        journal, now = self.publishing.journal, self.session.now()
        new = [comment for comment in self.forge.comments(pull.number) if self._is_new(known, comment)]
        channel = Channel((known.id,), self.commits.newest(known))
        answers = counting(answers_in(self._as_written(new), channel))
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
        if answer.over.isdecimal() and len(answer.over) < MOST_DIGITS and read and read > answer.at:
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
