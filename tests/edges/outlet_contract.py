"""What every home of the outlet protocol keeps. A test file gives its home as the fixture `home`:

class TestMyOutlet(OutletContract):
    @pytest.fixture
    def home(self, tmp_path: Path) -> OutletHome: ...
"""

from __future__ import annotations

import json
import traceback
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import pytest

from sisimpur.shared.model.errors import TeamError, Unavailable
from sisimpur.shared.outlets.cloud_event import CloudEvent, Stream, cloud_event
from sisimpur.shared.outlets.outlet import Outlet
from sisimpur.shared.record.audit import AuditRow


def row(number: int, kind: str = "task", detail: str = "{}", subject: str = "20261122-01") -> AuditRow:
    return AuditRow(number, "2026-11-22T09:30:00+00:00", kind, "team", "daemon", subject, "", detail, "f" * 64)


def events(*numbers: int) -> list[CloudEvent]:
    return [cloud_event(row(number, subject="größer\n\u2028"), "/sisimpur/site", str) for number in numbers]


class OutletHome(ABC):
    """An outlet, and a look at what it has taken from behind."""

    outlet: Outlet
    secret: str  # what of its address, or of its key, nobody may see

    @abstractmethod
    def taken(self) -> list[dict[str, Any]]:
        """Read the events as a reader does, in the order in which they came."""

    @abstractmethod
    def leave(self) -> None:
        """From now on nothing is taken."""

    @abstractmethod
    def come_back(self) -> None: ...


class OutletContract:
    def test_it_has_the_name_that_the_owner_knows_and_an_address(self, home: OutletHome) -> None:
        assert home.outlet.name.isalpha() and home.outlet.address

    def test_it_takes_all_events_in_their_order_whole(self, home: OutletHome) -> None:
        home.outlet.take(events(1, 2))
        home.outlet.take(events(3))
        assert home.taken() == [json.loads(event.text) for event in events(1, 2, 3)]

    def test_what_comes_again_can_be_told_by_its_id(self, home: OutletHome) -> None:
        for _ in range(2):
            home.outlet.take(events(1, 2))
        assert {event["id"] for event in home.taken()} == {"1", "2"}

    def test_one_that_is_away_is_an_error_and_gets_them_later(self, home: OutletHome) -> None:
        home.outlet.take(events(1))
        home.leave()
        with pytest.raises(Unavailable):
            home.outlet.take(events(2))
        home.come_back()
        home.outlet.take(events(2, 3))
        assert list(dict.fromkeys(event["id"] for event in home.taken())) == ["1", "2", "3"]

    def test_a_portion_of_many_is_taken(self, home: OutletHome) -> None:
        home.outlet.take(events(*range(1, 201)))
        assert len(home.taken()) == 200

    def test_no_secret_stands_in_an_error_or_a_description(self, home: OutletHome) -> None:
        home.leave()
        with pytest.raises(TeamError) as caught:
            home.outlet.take(events(1))
        assert home.secret not in everything_said(caught.value) + repr(home.outlet)


def everything_said(error: BaseException) -> str:
    """The error as its traceback shows it."""
    return "".join(traceback.format_exception(error))


class MemoryOutlet:
    """The smallest one: it keeps what it takes, and may be told to take nothing."""

    name = "memory"
    stream: Stream = "audit"
    address = "here"

    def __init__(self) -> None:
        self.events: list[CloudEvent] = []
        self.portions: list[int] = []
        self.problem: Exception | None = None

    def take(self, events: Sequence[CloudEvent]) -> None:
        if self.problem:
            raise self.problem
        self.events += events
        self.portions.append(len(events))
