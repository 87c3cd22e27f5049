"""What the owner writes in his Discord channel -> his answers, each followed once, and what came of it below.

A yes is said twice: the first is answered with what he has to know (commit, files, cost, what no gate saw), the second
names that commit. Protected paths are not approved here: they are to be read where the change itself is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from sisimpur.agents.orchestrator.board.review_facts import AttemptCommits
from sisimpur.agents.orchestrator.board.session import Session
from sisimpur.agents.orchestrator.inbox.answers import MEANINGS, GoalAnswers, OwnerAnswers, PlanAnswers
from sisimpur.agents.orchestrator.inbox.inbox import AskedBack, Channel, OwnerAnswer, answer_in
from sisimpur.agents.orchestrator.publishing.owner_text import unseen
from sisimpur.shared.forge.forge import Comment
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.text import as_said, counted, few
from sisimpur.shared.model.work import Branch
from sisimpur.shared.money.ledger_reader import LedgerReader
from sisimpur.shared.money.token_budget import cents
from sisimpur.shared.notify.discord_channel import ChannelMessage, at_time
from sisimpur.shared.store.chain import heard_by
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.task_records import TaskRecord
from sisimpur.shared.system.fault import fault_point

VIA = "discord"
LISTENS = timedelta(seconds=20)  # between two looks
OLDEST = timedelta(days=1)  # what was written before nobody follows any more
ANSWER = re.compile(r"/answer[ \t]+(\S+)[ \t]+(\S.*)", re.DOTALL)
SHORT_COMMIT, MOST_NAMED, LONGEST_LINE = 12, 5, 1_000
THE_PLAN = "plan"  # named like a task; no task of a plan is called so


class ListensTo(Protocol):
    """Port to a channel. TeamError: it cannot be read now, or never."""

    def newer(self, than: str) -> Sequence[ChannelMessage]: ...
    def reply(self, to: str, text: str) -> None: ...


@dataclass
class ChannelInbox:
    """`owners`: the numbers of their accounts. `channel` None: nobody listens. `clean`: see Outgoing."""

    channel: ListensTo | None
    owners: frozenset[str]
    commits: AttemptCommits
    answers: OwnerAnswers
    goals: GoalAnswers
    plans: PlanAnswers
    spending: LedgerReader
    session: Session
    clean: Callable[[str], str]
    _read: str = field(default="", init=False)  # the newest message that was read
    _looked: datetime | None = field(default=None, init=False)
    _trouble: str = field(default="", init=False)  # what was told last

    def hear(self) -> None:
        """What is wrong with the channel is told once, and keeps nobody from working."""
        now = self.session.now()
        if self.channel is None or (self._looked and abs(now - self._looked) < LISTENS):
            return
        self._looked = now
        try:
            with self.session.lock.released():
                messages = self.channel.newer(self._read or at_time(now - OLDEST))
            for message in messages:
                if message.author in self.owners and message.text.lstrip().startswith("/"):
                    with heard_by(VIA):
                        self._heed(message, self.channel)
                self._read = message.id
        except TeamError as problem:
            self._told(f"what you write at Discord is not heard: {problem}")
        else:
            self._trouble = ""

    def _told(self, trouble: str) -> None:
        if trouble != self._trouble:
            self._trouble = trouble
            self.session.tell(trouble)

    def _heed(self, message: ChannelMessage, channel: ListensTo) -> None:
        """The word is written down before it is acted on; what a kill cuts off is acted on again, to the same end."""
        key, journal = f"discord:heard:{message.id}", self._journal
        if journal.outcome_of(key):
            return
        journal.intend(key, "hear", "", message.id, self.session.now())
        told = self._came_of(message)
        fault_point("answer.given")
        journal.achieved(key, message.id)
        if told:
            self.session.tell(f"you wrote at Discord: {told}")
            self._reply(message.id, self.clean(told), channel)

    def _reply(self, to: str, text: str, channel: ListensTo) -> None:
        """A courtesy: without it his word counts all the same."""
        try:
            with self.session.lock.released():
                channel.reply(to, text)
        except TeamError as problem:
            self.session.tell(f"your words at Discord are heeded, but not answered there: {problem}")

    def _came_of(self, message: ChannelMessage) -> str:
        if not message.edited and (told := self._answered(message.text.strip())):
            return told
        planned = {one.id for one in self.plans.waiting()}
        waiting = (*self._waiting(), *([THE_PLAN] if planned else []))
        places, is_unblock = self._journal.places(), message.text.casefold().split()[:1] == ["/unblock"]
        begins = places[State.BACKLOG] if is_unblock else frozenset()  # without what it waits for
        may_be_named = planned | places[State.FAILED] | begins  # a task that failed may be tried again
        named = tuple(id_ for id_ in message.text.split()[1:2] if id_ in may_be_named)
        said = Comment(message.id, message.author, message.text, message.at, edited=message.edited)
        heard = answer_in(said, Channel((*waiting, *named)))
        if heard is None:
            return ""
        if isinstance(heard, AskedBack):
            return heard.question
        task = heard.task or next(iter((*waiting, *named)), "")
        if task == THE_PLAN:
            return self._plan(heard)
        known = self._journal.task(task) if task else None
        if known is None:
            return "nothing waits for you"
        unseen_letters = f". What nobody sees was taken out of your words: `{heard.unseen}`" if heard.unseen else ""
        return f"{task}: {self._done(known, heard)}{unseen_letters}"

    def _answered(self, text: str) -> str:
        """A question about a goal, named by its id; empty: it is about none."""
        found = ANSWER.fullmatch(text)
        if found is None or found[1] not in {one.goal_id for one in self.goals.asked()}:
            return ""
        try:
            return self.goals.answer(found[1], found[2])
        except Misconfigured as reason:
            return str(reason)

    def _done(self, known: TaskRecord, answer: OwnerAnswer) -> str:
        state = self.answers.state(known.id)
        try:
            if answer.over:
                return "a finding is settled below the pull request, on the board or in the terminal"
            if answer.word == "approve":
                return self._approve(known, state, answer.commit)
            if answer.word == "retest":
                self.answers.retest(known.id, state)
                return "its tests are run again"
            if answer.word == "unblock":
                return self.plans.unblock(known.id, answer.why)
            meaning = MEANINGS[answer.word]
            if answer.word == "retry":
                self.answers.require_again(known.id, state)
            self.answers.move(known.id, state, answer.word, answer.why)
        except Misconfigured as reason:
            return str(reason)
        return "the coder tries again" if meaning.target is State.BACKLOG else "it is out of the queue"

    def _plan(self, answer: OwnerAnswer) -> str:
        """A plan is begun by a second word, which names exactly these tasks."""
        waiting, commit = self.plans.waiting(), self.plans.mark()
        if answer.word != "approve" or answer.over:
            return "a plan is approved whole, with `/approve plan`; one of its tasks is dropped with `/cancel ID why`"
        if answer.commit and commit.startswith(answer.commit):
            try:
                return as_said(self.plans.approve("", commit), LONGEST_LINE)
            except Misconfigured as reason:  # the day it waited for was over in between
                return str(reason)
        asked = "the plan is another one now." if answer.commit else "are you sure?"
        titles = (f"{one.id} {as_said(one.spec.title if one.spec else '')}" for one in waiting)
        typed = f"to let exactly these begin, write: `/approve plan {commit}`"
        return "\n".join((asked, few([*titles], MOST_NAMED, "\n"), typed))

    def _approve(self, known: TaskRecord, state: State, named: str) -> str:
        commit = self.commits.newest(known)
        seen = self.commits.seen(known, commit).branch if commit else None
        if seen is None or known.id not in self._waiting():
            return f"it lies in {state}/ and does not wait for you"
        if seen.protected:
            paths = few([f"`{path}`" for path in seen.protected], MOST_NAMED)
            return f"it changes {paths}, which is approved on the board or below its pull request only"
        if not named:
            return "\n".join(("are you sure?", *self._to_know(known, seen)))
        if not commit.startswith(named):
            return "\n".join(("the change has moved on since.", *self._to_know(known, seen)))
        self.answers.approve(known.id, state, "", self._tested(known, commit))
        return f"{commit[:SHORT_COMMIT]} is approved"

    def _to_know(self, known: TaskRecord, seen: Branch) -> Iterator[str]:
        """Before the second word."""
        evidence, _ = self.answers.gates.newest(known.id)
        parked = self.answers.gates.parked(known.id)
        yield f"**{as_said(known.title)}**, commit `{seen.commit[:SHORT_COMMIT]}`"
        yield f"{counted(len(seen.changed), 'file')}: {few([f'`{path}`' for path in seen.changed], MOST_NAMED)}"
        yield f"spent: ${cents(self.spending.used_by([known.id])[known.id].amount)}"
        yield from (f"why you are asked: {as_said(reason)}" for reason in (parked.reasons if parked else ()))
        yield from (f"no gate saw: {as_said(line)}" for line in (unseen(evidence) if evidence else ())[:MOST_NAMED])
        yield f"to merge exactly this, write: `/approve {known.id} {seen.commit[:SHORT_COMMIT]}`"

    def _tested(self, known: TaskRecord, commit: str) -> str:
        """The commit, where it is the one that was tested: what nobody could test is approved untested."""
        evidence, _ = self.answers.gates.newest(known.id)
        return commit if evidence else ""

    def _waiting(self) -> tuple[str, ...]:
        """Changes that wait for his word."""
        gates = self.answers.gates
        in_review = sorted(self._journal.places()[State.IN_REVIEW])
        parked = [found for id_ in in_review if (found := gates.parked(id_))]
        return tuple(one.task for one in parked if not gates.is_approved(one))

    @property
    def _journal(self) -> Journal:
        return self.answers.journal
