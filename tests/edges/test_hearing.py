"""What the owner hears at once of a model that does not answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sisimpur.cli.wiring.model import reporting_outages
from sisimpur.shared.llm.llm_call import Replies
from sisimpur.shared.llm.llm_client import LlmClient, MeterAccess
from sisimpur.shared.model.errors import ModelAway
from sisimpur.shared.model.work import ModelChoice
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.meter import Meter, MeterSetup, MeterTimeouts, Upstream
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.token_budget import Caps
from sisimpur.shared.system.clock import ManualClock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.books import new_book
from tests.edges.test_llm_client import MORNING, SONNET, ask, good

PATIENCE = MeterTimeouts(first=0.01, longest=0.01, tries=3)
AGAIN = {"again": True, "status": None}


def heard() -> tuple[Callable[[str, dict[str, Any]], None], list[str], list[str]]:
    logged: list[str] = []
    told: list[str] = []
    return (
        reporting_outages(lambda event, _: logged.append(event), "https://u:p@h.example:8/v1", told.append),
        logged,
        told,
    )


def test_it_is_told_once_until_it_is_over_and_everything_is_logged() -> None:
    note, logged, told = heard()
    for event in ("meter.failed", "meter.failed", "meter.settled", "meter.settled", "meter.failed"):
        note(event, AGAIN)
    assert len(logged) == 5
    where = "https://h.example:8 (check the network, or ANTHROPIC_BASE_URL in config/.env)"
    away = f"the model does not answer at {where}; trying again for up to 62 s"
    assert told == [away, "the model answers again at https://h.example:8", away]


def test_an_error_of_its_own_is_told_apart() -> None:
    note, _, told = heard()
    note("meter.failed", {"again": True, "status": 529})
    assert told == [
        "the model answers with an error of its own (529) at https://h.example:8; trying again for up to 62 s"
    ]


def test_what_nobody_sees_is_told_once_for_each_place_and_a_flood_is_cut() -> None:
    note, logged, told = heard()
    for shown in ("a[U+200B]", "a[U+200B]", *map(str, range(100))):
        note("meter.unseen", {"agent": "coder", "task": "t-1", "shown": (shown,)})
    assert told[0] == "coder t-1: what nobody sees was taken out of a request; it stood here: a[U+200B]"
    assert (len(told), len(logged)) == (50, 102)


def test_what_is_not_tried_again_is_said_by_whoever_asked() -> None:
    note, _, told = heard()
    note("meter.failed", {"again": False, "status": 400})
    assert told == []


@pytest.mark.parametrize("listens", [True, False])
def test_through_the_meter_the_first_try_in_vain_is_heard(tmp_path: Path, listens: bool) -> None:
    told: list[str] = []
    ledger, clock, caps = Ledger(new_book(tmp_path / "agents.db")), ManualClock(MORNING), Caps(10**9, 10**9, 10**9)
    with ScriptedModel([{"status": 529}, good()], clock=clock) as model:
        url = model.url if listens else "http://127.0.0.1:9"
        log = reporting_outages(lambda *_: None, url, told.append, PATIENCE)
        upstream = Upstream(url, "key")
        setup = MeterSetup(tmp_path / "m.sock", upstream, log, PATIENCE)
        meter = Meter(ledger, Pricing(), lambda: caps, clock, setup)
        replies = Replies(new_book(tmp_path / "agents.db"))
        with meter:
            access = MeterAccess(meter.socket, 10**9, url)
            client = LlmClient(ledger, replies, access, {"planner": ModelChoice(SONNET)}, clock)
            if listens:
                ask(client)
            else:
                with pytest.raises(ModelAway):
                    ask(client)
    ledger.close()
    assert [text.split(" at ")[0] for text in told] == (
        ["the model answers with an error of its own (529)", "the model answers again"]
        if listens
        else ["the model does not answer"]
    )
