"""What the owner wrote below open pull requests -> his answers, each heeded once. The one ear at the forge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agents.orchestrator.board.review_facts import ReviewFacts
from agents.orchestrator.inbox import answers
from agents.orchestrator.inbox.owner_words import OwnerAnswer, answers_in, last_word
from agents.orchestrator.publishing.publishing import Address
from agents.orchestrator.team import Desk
from shared.forge.forge import Comment, ForgeError, Pull, RateLimited
from shared.model.errors import Misconfigured, TeamError
from shared.model.lifecycle import State
from shared.store.gate_book import Ruling
from shared.store.task_records import TaskRecord
from shared.system.fault import fault_point

SHORTEST = 7  # digits of a commit's name


@dataclass(frozen=True)
class Inbox:
    desk: Desk
    sight: ReviewFacts

    def hear(self, known: Iterable[TaskRecord]) -> None:
        """A forge that does not answer now is asked again next time; the work goes on."""
        if not self.desk.rules.inbox.owners:
            return
        for one in known:
            pull = self.sight.pulls.get(one.id)
            if pull is None or pull.state == "merged":
                continue
            try:
                self._heed(one, pull)
            except RateLimited:  # whoever goes on asking is locked out
                raise
            except TeamError as problem:
                self.desk.tell(f"{one.id}: what was written below its pull request is not heard yet: {problem}")

    def _heed(self, known: TaskRecord, pull: Pull) -> None:
        """Each word is written down before it is acted on; what a kill cuts off is acted on again, to the same end."""
        desk, now = self.desk, self.desk.clock.now()
        new = [comment for comment in desk.delivery.forge.comments(pull.number) if self._is_new(known, comment)]
        answer = last_word(answers_in(new))
        for comment in new:
            desk.journal.intend(self._key(known, comment), "hear", known.id, comment.id, now)
        said = self._give(known, pull, answer) if answer else ""
        fault_point("answer.given")
        for comment in new:
            desk.journal.achieved(self._key(known, comment), comment.id)
        if answer and pull.state == "open":
            desk.tell(f"{known.id}: you wrote {answer.word}: {said}")
            self._reply(known, pull, f"### You wrote: {answer.word}\n\n{said}")

    def _reply(self, known: TaskRecord, pull: Pull, text: str) -> None:
        """A courtesy: without it his word counts all the same."""
        number = known.last.number if known.last else 0
        to = Address(known.id, number, pull.number, pull.head_sha)
        try:
            self.desk.publishing.heard(to, text, self.desk.clock.now())
        except ForgeError as problem:
            self.desk.tell(f"{known.id}: your words are heeded, but not answered there: {problem}")

    def _is_new(self, known: TaskRecord, comment: Comment) -> bool:
        """Of an owner, no text of ours (one account may be both), not heeded yet."""
        is_his = self.desk.rules.inbox.is_owner(comment.author) and not comment.ours
        return is_his and not self.desk.journal.outcome_of(self._key(known, comment))

    def _key(self, known: TaskRecord, comment: Comment) -> str:
        return f"{known.id}:heard:{comment.id}"

    def _give(self, known: TaskRecord, pull: Pull, answer: OwnerAnswer) -> str:
        """What came of it, in words for him. He has closed it himself: of his words only the reason is left to keep."""
        desk, now = self.desk, self.desk.clock.now()
        state = next(iter(desk.store.find(known.id)), State.GONE)
        try:
            if answer.word == "approve":
                return self._approve(known, state, answer)
            meaning = answers.MEANINGS[answer.word]
            if pull.state == "open" and state is not meaning.target:
                answers.move(desk.store, desk.gates, known.id, state, answer.word, answer.why, now)
            elif answer.why not in {ruling.why for ruling in desk.gates.rulings(known.id)}:
                desk.gates.rule(known.id, Ruling(meaning.said, "", answer.why, now))
        except Misconfigured as reason:
            return str(reason)
        return "the coder tries again" if meaning.target is State.BACKLOG else "it is out of the queue"

    def _approve(self, known: TaskRecord, state: State, answer: OwnerAnswer) -> str:
        """The commit that he names, or what waited when he wrote: never a change that he has not seen."""
        commit, parked = self.sight.commit(known), self.desk.gates.parked(known.id)
        is_later = parked is not None and parked.at is not None and parked.at > answer.at
        is_named = len(answer.commit) >= SHORTEST and commit.startswith(answer.commit)
        if not is_named if answer.commit else is_later:
            return f"the change has moved on since; to merge what is there now write: /approve {commit[:12]}"
        answers.approve(self.desk.gates, known.id, state, answer.why, self.desk.clock.now())
        return f"{commit[:12]} is approved"
