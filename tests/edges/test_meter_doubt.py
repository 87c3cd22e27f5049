"""What an upstream counts is believed within bounds that we see ourselves. Outside of them a call costs all it may."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from sisimpur.shared.money.meter.upstream import PROOF, UNPROVED, Vendor
from sisimpur.shared.money.pricing import Pricing
from tests.edges.meter_scene import HAIKU, OPUS, SONNET, Scene, body, code, scene
from tests.edges.upstream import Step

PROSE = "The quick brown fox jumps over the lazy dog and runs away from it as fast as it can. "
QUESTION = body(messages=[{"role": "user", "content": PROSE * 40}], max_tokens=1_000)
TOKENS = 20 * 40  # that a tokenizer makes of it
HONEST = Step(text=PROSE * 10, input=TOKENS, output=20 * 10)
LIES = {
    "nothing at all": Step(text=PROSE * 10, input=0, output=0),
    "one token of input": Step(text=PROSE * 10, input=1, output=200),
    "one token of output": Step(text=PROSE * 10, input=TOKENS, output=1),
    "a fifth of the input": Step(text=PROSE * 10, input=TOKENS // 5, output=200),
    "a fifth of the output": Step(text=PROSE * 10, input=TOKENS, output=200 // 5),
    "more input than bytes": Step(text=PROSE * 10, input=5_000, output=200),
    "more output than was allowed": Step(text=PROSE * 10, input=TOKENS, output=1_001),
    "one token, then a cut": Step(text=PROSE * 10, input=1, cut_after=4),
    "one token, then an error": Step(
        text=PROSE, input=1, broken_event={"type": "error", "error": {"type": "x"}}, hold_after=4
    ),
}


@pytest.fixture(scope="module")
def one_meter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with scene(tmp_path_factory.mktemp("m")) as found:
        yield found


@pytest.fixture
def meter(one_meter: Scene) -> Iterator[Scene]:
    one_meter.ticket()
    yield one_meter
    one_meter.again()


def worst(max_tokens: int = 1_000) -> int:
    """The least that a reservation of QUESTION can be: below it nobody knows whether the call was booked at it."""
    return TOKENS * 2_000 + max_tokens * 10_000


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_count_that_cannot_be_true_is_booked_at_the_reservation_and_after_two_its_model_is_paused(
    tmp_path: Path, lie: Step, stream: bool
) -> None:
    with scene(tmp_path) as meter:
        meter.upstream.script = lambda request: lie
        for _ in range(2):
            with suppress(httpx2.TransportError):
                meter.post({**QUESTION, "stream": stream})
        first, second = meter.calls()
        assert (first.state, first.code) == (second.state, second.code) == ("lost", "meter_untrue")
        assert first.cost == second.cost > worst()
        assert code(meter.post(QUESTION)) == "meter_model_paused"
        counted = body(messages=QUESTION["messages"], max_tokens=None)
        assert code(meter.post(counted, path="/v1/messages/count_tokens")) == "meter_paused"
        assert len(meter.upstream.requests) == 2
        (reason,) = meter.ledger.reader.paused_models()
        assert SONNET in reason and "cannot be true" in reason and "type: python main.py resume" in reason
        assert not meter.ledger.reader.paused()
        meter.upstream.script = lambda request: HONEST
        assert meter.post({**QUESTION, "model": HAIKU}).status_code == 200
        meter.ledger.resume()
        assert meter.post(QUESTION).status_code == 200


LIE = LIES["nothing at all"]


def test_when_a_second_model_lies_nothing_is_spent(tmp_path: Path) -> None:
    with scene(tmp_path, script=lambda request: LIE) as meter:
        for model in (SONNET, SONNET, HAIKU):
            assert meter.post({**QUESTION, "model": model}).status_code == 200
        assert {code(meter.post({**QUESTION, "model": model})) for model in (SONNET, HAIKU, OPUS)} == {"meter_halted"}
        assert len(meter.upstream.requests) == 3


def test_a_paused_model_stays_paused_over_a_restart_and_the_others_are_suspected(tmp_path: Path) -> None:
    """The book keeps the pause; it ends with the owner's word alone."""
    hold = threading.Event()
    with scene(tmp_path, LIE, LIE) as meter:
        for _ in range(2):
            meter.post(QUESTION)
    with scene(tmp_path, script=lambda request: Step(hold=hold)) as meter, ThreadPoolExecutor(3) as callers:
        assert code(meter.post(QUESTION)) == "meter_model_paused"
        answers = [callers.submit(meter.post, body(model=HAIKU)) for _ in range(3)]
        assert meter.upstream.arrived.acquire(timeout=5)
        assert not meter.upstream.arrived.acquire(timeout=0.1)
        hold.set()
        assert [answer.result().status_code for answer in answers] == [200] * 3


def test_after_a_lie_each_model_is_asked_one_by_one_and_by_bytes_until_it_has_counted_right(tmp_path: Path) -> None:
    hold, is_held = threading.Event(), threading.Event()
    with scene(tmp_path) as meter, ThreadPoolExecutor(6) as callers:
        meter.upstream.script = lambda request: Step(hold=hold) if is_held.is_set() else HONEST
        for model in (SONNET, HAIKU) * (PROOF + 1):
            meter.post({**QUESTION, "model": model})
        meter.upstream.steps = [LIE]
        meter.post(QUESTION)
        for _ in range(PROOF + 1):
            meter.post({**QUESTION, "model": HAIKU})
        assert [meter.reserved[n] for n in (-3, -2)] == [meter.reserved[1]] * 2
        assert meter.reserved[-1] == meter.reserved[2 * PROOF + 1] < meter.reserved[1]
        meter.upstream.arrived = threading.Semaphore(0)
        is_held.set()
        answers = [callers.submit(meter.post, body(model=model)) for model in (SONNET, HAIKU) * 3]
        for _ in range(3 + 1):  # HAIKU has shown that it counts right; of the liar one at a time
            assert meter.upstream.arrived.acquire(timeout=5)
        assert not meter.upstream.arrived.acquire(timeout=0.1)
        hold.set()
        assert [answer.result().status_code for answer in answers] == [200] * 6


def test_the_answer_of_a_doubted_call_is_paid_and_passed_on(meter: Scene) -> None:
    meter.upstream.steps = [LIES["nothing at all"]]
    answer = meter.post(QUESTION)
    assert answer.json()["content"][0]["text"] == PROSE * 10
    (call,) = meter.calls()
    assert (call.answered, call.stop_reason, call.usage.output) == (200, "end_turn", 0)
    (lost,) = [one for one in meter.ledger.reader.lost_calls() if one.amount == call.cost]
    assert lost.estimate == 0  # what it would have been: the owner can correct it


def test_a_discount_that_nobody_asked_for_is_not_believed(meter: Scene) -> None:
    kept = {"input_tokens": 0, "cache_read_input_tokens": TOKENS}
    meter.upstream.steps = [Step(text=PROSE * 10, usage=kept, output=200)] * 2
    meter.post(QUESTION)
    meter.post({**QUESTION, "cache_control": {"type": "ephemeral"}})
    plain, marked = meter.calls()
    assert plain.cost == TOKENS * 2_000 + 200 * 10_000
    assert marked.cost == TOKENS * 100 + 200 * 10_000


def test_what_costs_nothing_is_not_doubted(tmp_path: Path) -> None:
    class Free:
        input = output = 0

    with scene(tmp_path, pricing=Pricing({"local": Free()})) as meter:
        meter.ticket(models=("local",))
        meter.upstream.script = lambda request: Step(text=PROSE * 100, input=0, output=0, model=SONNET)
        assert [meter.post({**QUESTION, "model": "local"}).status_code for _ in range(3)] == [200] * 3


# --- calls in flight


def test_until_an_upstream_has_counted_right_few_calls_are_in_flight(tmp_path: Path) -> None:
    hold = threading.Event()
    with scene(tmp_path) as meter, ThreadPoolExecutor(6) as callers:
        meter.upstream.script = lambda request: Step(hold=hold)
        answers = [callers.submit(meter.post, body()) for _ in range(6)]
        for _ in range(UNPROVED):
            assert meter.upstream.arrived.acquire(timeout=5)
        assert not meter.upstream.arrived.acquire(timeout=0.1)
        hold.set()
        assert [answer.result().status_code for answer in answers] == [200] * 6


def test_one_that_has_counted_right_is_asked_by_all_at_once(tmp_path: Path) -> None:
    hold = threading.Event()
    with scene(tmp_path) as meter, ThreadPoolExecutor(6) as callers:
        meter.prove()
        meter.upstream.script = lambda request: Step(hold=hold)
        answers = [callers.submit(meter.post, body()) for _ in range(6)]
        for _ in range(6):
            assert meter.upstream.arrived.acquire(timeout=5)
        hold.set()
        assert [answer.result().status_code for answer in answers] == [200] * 6


# --- more than was reserved


def test_a_stream_that_does_not_end_where_it_should_is_cut(meter: Scene) -> None:
    endless = tuple({"type": "text", "text": PROSE * 20} for _ in range(200))
    meter.upstream.steps = [Step(blocks=endless, input=TOKENS, output=1_000)]
    assert code(meter.post(QUESTION)) == "meter_untrue"
    (call,) = meter.calls()
    assert call.code == "meter_untrue"
    assert call.cost > worst()
    assert meter.upstream.left.wait(5)


def test_a_stream_of_nothing_but_signs_of_life_is_cut(meter: Scene) -> None:
    blocks = tuple({"type": "tool_use", "id": "x" * 50_000, "name": "n", "input": {}} for _ in range(40))
    meter.upstream.steps = [Step(blocks=blocks, input=TOKENS, output=10)]
    assert code(meter.post(QUESTION)) == "meter_upstream"
    assert [call.state for call in meter.calls()] == ["lost"]


# --- bounds that fit


def test_a_proved_model_is_reserved_by_what_its_prompt_is_made_of(tmp_path: Path) -> None:
    with scene(tmp_path, script=lambda request: HONEST) as meter:
        for _ in range(PROOF + 1):
            meter.post(QUESTION)
        *before, after = meter.reserved
        assert set(before) == {before[0]}
        assert before[0] > 3_300 * 2_500 + 1_000 * 10_000
        assert TOKENS * 2_000 + 1_000 * 10_000 < after < (2 * TOKENS + 1_000) * 2_000 + 1_000 * 10_000


def test_a_model_that_makes_more_tokens_than_known_ones_is_reserved_by_bytes_for_good(tmp_path: Path) -> None:
    """Its counts are possible, so it is believed: no byte is more than a token."""
    fine = Step(text="fine", input=3_000)
    with scene(tmp_path, *[HONEST] * PROOF, fine, script=lambda request: HONEST) as meter:
        for _ in range(PROOF + 3):
            assert meter.post(QUESTION).status_code == 200
        first, _, fitting, *later = meter.reserved
        assert fitting < first
        assert set(later) == {first}
        assert meter.calls()[PROOF].cost == 3_000 * 2_000 + 20 * 10_000
        assert not meter.ledger.reader.paused()


@pytest.mark.parametrize(("counted", "fits"), [(TOKENS, True), (1, False)], ids=["right", "less than can be"])
def test_where_counting_is_free_the_first_call_fits_too(tmp_path: Path, counted: int, fits: bool) -> None:
    with scene(tmp_path, Step(input=counted), HONEST, vendor=Vendor(counts=True)) as meter:
        assert meter.post(QUESTION).status_code == 200
        assert [request.path for request in meter.upstream.requests] == ["/v1/messages/count_tokens", "/v1/messages"]
        (reserved,) = meter.reserved
        assert (reserved < 1_200 * 2_500 + 1_000 * 10_000) == fits


def test_one_that_has_lied_is_reserved_by_bytes_though_it_counts_for_nothing(tmp_path: Path) -> None:
    lie = LIES["one token of output"]
    with scene(tmp_path, Step(input=TOKENS), lie, Step(input=TOKENS), HONEST, vendor=Vendor(counts=True)) as meter:
        meter.post(QUESTION)
        meter.upstream.steps[:] = [HONEST]
        meter.post(QUESTION)
        counted, by_bytes = meter.reserved
        assert counted < 1_200 * 2_500 + 1_000 * 10_000 < by_bytes


def test_a_count_that_fails_is_no_reason_not_to_ask(tmp_path: Path) -> None:
    with scene(tmp_path, Step(status=529), HONEST, vendor=Vendor(counts=True)) as meter:
        assert meter.post(QUESTION).status_code == 200
