"""The owner's answer about a task, wherever he gives it: what it does to the task's file and to the gates' book."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from shared.model.errors import Misconfigured
from shared.model.lifecycle import Event, State, owner_moved
from shared.store.gate_book import AwaitingOwner, GateRepository, Ruling, Said
from shared.store.task_store import TaskStore

Word = Literal["approve", "reject", "retry", "cancel"]


@dataclass(frozen=True)
class Meaning:
    """Where the file goes, as which events, and what the gates' book keeps."""

    target: State
    events: tuple[Event, ...]
    said: Said


MEANINGS: Mapping[Word, Meaning] = {
    "retry": Meaning(State.BACKLOG, (Event.RETRIED, Event.WITHDRAWN), "correct"),
    "reject": Meaning(State.FAILED, (Event.CANCELLED,), "reject"),
    "cancel": Meaning(State.FAILED, (Event.CANCELLED,), "reject"),
}


def approve(gates: GateRepository, task: str, state: State, why: str, now: datetime) -> AwaitingOwner:
    """Exactly the change that waits. Misconfigured: none does."""
    parked = gates.parked(task)
    if state is not State.IN_REVIEW or parked is None:
        raise Misconfigured(f"{task} lies in {state}/ and does not wait for you; see: python main.py status")
    gates.rule(task, Ruling("approve", parked.subject, why, now))
    return parked


def move(
    store: TaskStore,
    gates: GateRepository,
    task: str,
    source: State,
    word: Literal["reject", "retry", "cancel"],
    why: str,
    now: datetime,
) -> State:
    """Where the file lies now; `why` reaches the coder. Misconfigured: the word means nothing there."""
    meaning = MEANINGS[word]
    if owner_moved(source, meaning.target) not in meaning.events:
        raise Misconfigured(f"{task} lies in {source}/; {word} does nothing there")
    parked = gates.parked(task)
    gates.rule(task, Ruling(meaning.said, parked.subject if parked else "", why, now))
    if not store.move(task, source, meaning.target):
        raise Misconfigured(f"{task} has just been moved; look again with: python main.py tasks")
    return meaning.target
