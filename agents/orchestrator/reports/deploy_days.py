"""The book of deploys -> DeployAccount: what was deployed on a day, and whose change it was. Changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agents.orchestrator.deploys.deploy_book import DeployRepository
from agents.orchestrator.reports.account import DeployAccount, Live
from shared.model.deployment import PLACES, Deploy, DeployStage, Place, healthy_at, unwatched
from shared.model.lifecycle import Event
from shared.store.journal import Journal


@dataclass(frozen=True)
class DeployDays:
    """`places`: where is deployed now, the last one last; none: the driver was taken away. `clean`: takes out keys.

    `subjects`: commits -> the first line of the message of each, where it is known.
    """

    book: DeployRepository
    journal: Journal
    places: Sequence[Place]
    clean: Callable[[str], str]
    subjects: Callable[[Iterable[str]], Mapping[str, str]]

    @property
    def last(self) -> str:
        return self.places[-1] if self.places else ""

    def of(self, day: str) -> tuple[DeployAccount, ...]:
        """Begun or ended on that day; what is under way belongs to each day until its end."""
        found = [deploy for deploy in self.book.deploys() if _is_of(deploy, day)]
        merges = self.journal.merged_as(deploy.commit for deploy in found)
        return tuple(self.account(deploy, merges.get(deploy.commit, "")) for deploy in found)

    def account(self, deploy: Deploy, task: str) -> DeployAccount:
        """`task`: whose change it is; empty: nobody's of ours."""
        known = self.journal.task(task) if task else None
        deploys = self.book.deploys()
        return DeployAccount(
            replace(deploy, why=self.clean(deploy.why)),
            task,
            self.clean(known.title) if known else self._subject(deploy.commit),
            self._is_again(deploy, task),
            any(_is_of_before(one, deploy) for one in deploys),
            unwatched(deploy, deploys),
            tuple(self._live(place, deploys) for place in self._ahead(deploy.place)),
        )

    def _ahead(self, place: Place) -> Sequence[Place]:
        return [one for one in self.places if PLACES.index(one) > PLACES.index(place)]

    def _live(self, place: Place, deploys: Sequence[Deploy]) -> Live:
        commit = healthy_at(place, deploys)
        return Live(place, commit, self._subject(commit))

    def _subject(self, commit: str) -> str:
        return self.clean(self.subjects([commit]).get(commit, "")) if commit else ""

    def paused(self) -> str:
        """Why nothing is begun unasked; empty: it is, or nothing is to be deployed at all."""
        pause = self.book.paused() if self.places else None
        return self.clean(pause.why) if pause else ""

    def _is_again(self, deploy: Deploy, task: str) -> bool:
        """The owner may have done something else with it meanwhile."""
        if not (deploy.broke and task and deploy.ended_at):
            return False
        back = [event for event in self.journal.history(task) if event.event is Event.SICK]
        return any(datetime.fromisoformat(event.at) >= deploy.ended_at for event in back)


def _is_of_before(one: Deploy, deploy: Deploy) -> bool:
    """The same commit, healthy there."""
    is_same = (one.place, one.commit) == (deploy.place, deploy.commit)
    return is_same and one.number < deploy.number and one.stage is DeployStage.HEALTHY


def _is_of(deploy: Deploy, day: str) -> bool:
    first = deploy.begun_at.date().isoformat() if deploy.begun_at else day
    last = deploy.ended_at.date().isoformat() if deploy.ended_at else ""
    return first == day or last == day or (not last and first <= day)
