"""The bill stays below the bounds of SECURITY.md, whatever an endpoint does and whatever it tells of it.

The real meter, asked by several callers at once until it refuses; the endpoint is a program of its own, and its bill is
its own (`lying_endpoint.py` shares no code with ours).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import httpx2
import pytest

from sisimpur.shared.money.token_bounds import FACTOR
from sisimpur.shared.money.token_budget import Caps, dollars
from tests.edges.meter_scene import HAIKU, OPUS, SONNET, Scene, body, code, scene

BEYOND = "Fri, 31 Dec 99999999999 23:59:59 GMT"
CAP = dollars("0.08")
CALLERS = 4
MARKED = 25  # the price of writing a prompt to be kept, by that of reading it

# (c) Bills what it counts, and counts right, however fine its tokenizer is.
HONEST: dict[str, Mapping[str, Any]] = {
    "plain": {},
    "a coarse tokenizer": {"divisor": 5.5},
    "a fine tokenizer": {"divisor": 3.0},
    "a finer tokenizer than any known": {"divisor": 2.0},
    "a token for each byte": {"divisor": 1.0},
    "long answers": {"out": 900},
    "answers up to the last token": {"out": 1_000},
    "short answers": {"out": 1},
    "hidden thoughts": {"hidden": 600, "out": 100},
    "slow": {"pause": 0.02},
    "overloaded for ever": {"status": 529},
    "failing for ever": {"status": 500},
    "failing, and bills the prompts": {"status": 500, "bills_errors": True},
    "overloaded from the fourth call on": {"status": 529, "honest_for": 3},
    "cut in the middle": {"end": "cut"},
    "cut after the prompt was counted": {"end": "early"},
    "an error in the middle": {"end": "error"},
    "prompts are written for a cache": {"kind": "write"},
    "a cheaper model is said to have answered": {"say_model": HAIKU},
    "counts in an event that nobody knows": {"end": "elsewhere"},
    "packs its answers": {"packed": "gzip"},
    "tells a length that is too short": {"packed": "short"},
    "tells a length that is too long": {"packed": "long"},
    "an error instead of an answer": {"packed": "json"},
    "answers with another status than 200": {"serve_as": 201, "out": 1_000, "honest_for": 3},
    "overloaded for a year": {"status": 529, "retry_after": "31536000"},
    "overloaded until yesterday": {"status": 529, "retry_after": "-86400"},
    "overloaded for no number": {"status": 529, "retry_after": "NaN"},
    "overloaded until a day beyond all calendars": {"status": 529, "retry_after": BEYOND},
}
# (b) Counts too little, but what can be.
LOW: dict[str, Mapping[str, Any]] = {
    "a fifth less": {"say_in": 0.8, "say_out": 0.8},
    "a third less": {"say_in": 0.67, "say_out": 0.67},
    "half of all": {"say_in": 0.55, "say_out": 0.55},
    "half of the prompt": {"say_in": 0.55},
    "half of the answer": {"say_out": 0.55},
    "half of long answers": {"say_out": 0.55, "out": 1_000},
    "half, by a fine tokenizer": {"say_in": 0.4, "say_out": 0.4, "divisor": 3.0},
    "half, after some right counts": {"say_in": 0.55, "say_out": 0.55, "honest_for": 3},
    "goes on a little": {"beyond": 1.5, "say_out": 0.6},
    "a discount that nobody asked for": {"kind": "read"},
    "half, and a discount": {"kind": "read", "say_in": 0.55, "say_out": 0.55},
    "cut, and half of the prompt": {"say_in": 0.55, "end": "cut"},
    "counts right, then half": {"end": "shrinks"},
    "begins twice, the second time with half": {"end": "twice"},
}
# (a) Counts what cannot be true.
LIES: dict[str, Mapping[str, Any]] = {
    "nothing": {"say_in": "0", "say_out": "0"},
    "one token of each": {"say_in": "1", "say_out": "1"},
    "nothing for the prompt": {"say_in": "0"},
    "one token for the prompt": {"say_in": "1"},
    "nothing for the answer": {"say_out": "0"},
    "one token for the answer": {"say_out": "1"},
    "a tenth of all": {"say_in": 0.1, "say_out": 0.1},
    "a tenth of the prompt": {"say_in": 0.1},
    "a fifth of long answers": {"say_out": 0.2, "out": 1_000},
    "no count at the end": {"end": "unsaid"},
    "one token, then a cut": {"say_in": "1", "end": "cut"},
    "one token, then nothing": {"say_in": "1", "end": "early"},
    "one token, then an error": {"say_in": "1", "end": "error"},
    "nothing, as a discount": {"kind": "read", "say_in": "0"},
    "more than bytes for the prompt": {"say_in": "9000"},
    "more than was allowed": {"say_out": "1100"},
    "goes on, and counts right": {"beyond": 1.2},
    "goes on five times as long": {"beyond": 5.0, "say_out": "1000"},
    "goes on without end": {"beyond": 60.0, "say_out": "1000"},
    "goes on without end, in whole blocks": {"beyond": 60.0, "say_out": "1000", "in_starts": True},
    "nothing, after some right counts": {"say_in": "0", "say_out": "0", "honest_for": 3},
    "a tenth, after some right counts": {"say_in": 0.1, "say_out": 0.1, "honest_for": 3, "pause": 0.02},
    "goes on, after some right counts": {"beyond": 5.0, "say_out": "1000", "honest_for": 3, "pause": 0.02},
    "nothing, slowly": {"say_in": "0", "say_out": "0", "pause": 0.02},
}
# Counts what is no number.
NONSENSE: dict[str, Mapping[str, Any]] = {
    "a truth": {"count": True},
    "less than nothing": {"count": -5},
    "a text": {"count": "200"},
    "half a token": {"count": 200.5},
    "more than there are": {"count": 10**30},
}
# A dearer model answers, or breaks off: at once, and once the asked one is reserved at bounds that fit.
DEARER: dict[str, Mapping[str, Any]] = {
    "whole": {"say_model": OPUS, "times": 2},
    "whole, after some right counts": {"say_model": OPUS, "times": 2, "honest_for": 3, "out": 1_000},
    "cut": {"say_model": OPUS, "times": 2, "end": "cut", "honest_for": 3, "out": 1_000},
    "an error": {"say_model": OPUS, "times": 2, "end": "error", "honest_for": 3, "out": 1_000},
}
GRID = {"honest": HONEST, "low": LOW, "lies": LIES, "nonsense": NONSENSE, "dearer": DEARER}


@dataclass(frozen=True)
class Truth:
    """What the endpoint says under oath. Amounts in nano-dollars."""

    bill: int
    calls: int
    lies: int
    at_first_lie: int
    at_second_lie: int


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    ways = {f"{kind}-{number}": way for kind, some in GRID.items() for number, way in enumerate(some.values())}
    ways |= {f"two-{number}": way for number, way in enumerate(LIES.values())}
    ways |= {f"marked-{number}": way for number, way in enumerate(MARKS.values())}
    program = [sys.executable, str(Path(__file__).with_name("lying_endpoint.py")), json.dumps(ways), str(CALLERS)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as endpoint:
        assert endpoint.stdin and endpoint.stdout
        yield f"http://127.0.0.1:{endpoint.stdout.readline().strip()}"
        endpoint.stdin.close()


def asked(meter: Scene, models: tuple[str, ...] = (SONNET,), **more: Any) -> Truth:
    """What the endpoint has billed once several callers have asked until they were refused, or six times each."""

    def caller(number: int) -> None:
        for turn in range(6):
            words = f"Call {number}.{turn}: " + "mend the sum of the list and add a test for the empty one; " * 60
            asking = body(messages=[{"role": "user", "content": words}], max_tokens=1_000, stream=number % 2 == 1)
            asking["model"] = models[(number + turn) % len(models)]
            with suppress(httpx2.TransportError):
                answer = meter.post(asking | more)
                if answer.status_code != 200 and code(answer) in ("meter_day_cap", "meter_halted"):
                    return

    with ThreadPoolExecutor(CALLERS) as callers:
        list(callers.map(caller, range(CALLERS)))
    return truth(meter)


def truth(meter: Scene) -> Truth:
    with urlopen(f"{meter.url}/bill") as answer:
        return Truth(**json.load(answer))


@pytest.fixture
def meter(request: pytest.FixtureRequest, tmp_path: Path, address: str) -> Iterator[Scene]:
    with scene(tmp_path, url=f"{address}/{request.param}") as found:
        found.caps[:] = [Caps(10 * CAP, CAP, 10 * CAP)]
        yield found


def of(kind: str, again: str = "") -> Any:
    return [pytest.param(f"{again or kind}-{number}", id=name) for number, name in enumerate(GRID[kind])]


@pytest.mark.parametrize("meter", of("honest"), indirect=True)
def test_one_that_bills_what_it_counts_stays_below_the_cap(meter: Scene) -> None:
    found = asked(meter)
    assert found.bill <= meter.used <= CAP
    assert not meter.ledger.reader.paused()
    assert "meter.bug" not in [event for event, _ in meter.log]


@pytest.mark.parametrize("meter", of("low"), indirect=True)
def test_one_that_counts_too_little_stays_below_the_cap_times_the_factor(meter: Scene) -> None:
    found = asked(meter)
    assert 0 < found.bill <= FACTOR * meter.used
    assert meter.used <= CAP


@pytest.mark.parametrize("meter", of("lies"), indirect=True)
def test_one_whose_count_cannot_be_true_is_asked_no_more_after_two(meter: Scene) -> None:
    found = asked(meter)
    assert found.bill <= CAP + found.at_first_lie
    assert code(meter.post(body())) == "meter_model_paused"
    assert truth(meter) == found
    assert found.calls <= found.at_second_lie + CALLERS
    (reason,) = meter.ledger.reader.stops()
    assert reason.count("cannot be true") == 1


@pytest.mark.parametrize("meter", of("lies", "two"), indirect=True)
def test_one_whose_models_all_lie_is_asked_no_more_after_two_and_one(meter: Scene) -> None:
    """The endpoint bills at SONNET's prices, OPUS is reserved and booked at dearer ones: a cap may end it, too."""
    asked(meter, models=(SONNET, OPUS))
    for model in (SONNET, OPUS):  # whichever has not lied yet
        meter.post(body(model=model))
    found = truth(meter)
    assert found.bill <= CAP + found.at_first_lie
    assert found.calls <= found.at_second_lie + CALLERS + 1
    codes = {code(meter.post(body(model=model))) for model in (SONNET, OPUS)}
    assert codes <= {"meter_halted", "meter_model_paused", "meter_day_cap"}
    assert truth(meter) == found
    reasons = meter.ledger.reader.stops()
    assert all("cannot be true" in reason for reason in reasons), reasons


@pytest.mark.parametrize("meter", of("nonsense"), indirect=True)
def test_one_whose_count_is_no_number_is_asked_no_more_after_the_calls_in_flight(meter: Scene) -> None:
    found = asked(meter)
    assert 0 < found.bill <= meter.used <= CAP
    assert code(meter.post(body())) == "meter_paused"
    assert truth(meter) == found
    assert found.calls <= CALLERS


@pytest.mark.parametrize("meter", of("dearer"), indirect=True)
def test_a_dearer_model_is_booked_at_its_own_price(meter: Scene) -> None:
    found = asked(meter)
    assert found.bill <= meter.used
    assert found.bill <= CAP + found.at_first_lie


MARKS: dict[str, Mapping[str, Any]] = {
    "a discount": {"kind": "read"},
    "half, and a discount": {"kind": "read", "say_in": 0.55, "say_out": 0.55},
}


@pytest.mark.parametrize("meter", [pytest.param(f"marked-{n}", id=name) for n, name in enumerate(MARKS)], indirect=True)
def test_a_discount_that_was_asked_for_is_believed_as_far_as_prices_go(meter: Scene) -> None:
    found = asked(meter, cache_control={"type": "ephemeral"})
    assert 0 < found.bill <= FACTOR * MARKED * meter.used
    assert meter.used <= CAP


def test_the_grid_is_not_a_small_one() -> None:
    assert sum(map(len, GRID.values())) >= 40
