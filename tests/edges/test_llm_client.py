"""Asking a model: what is sent, which answers are understood, and what happens with all the others."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.llm import llm_client
from sisimpur.shared.llm.llm_call import Replies
from sisimpur.shared.llm.llm_client import LlmClient, MeterAccess, repair
from sisimpur.shared.model.errors import (
    Misconfigured,
    ModelAway,
    OutOfBudget,
    Refused,
    ReplyDeclined,
    Stumble,
    TeamError,
    Unavailable,
)
from sisimpur.shared.model.work import ModelChoice, Run
from sisimpur.shared.money.ledger import Ledger
from sisimpur.shared.money.meter import Meter, MeterSetup, MeterTimeouts, Upstream
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.ticket import CallRecord, TicketOrder
from sisimpur.shared.money.token_budget import Caps
from sisimpur.shared.system.clock import ManualClock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.books import new_book
from tests.killing import finishes, killed_at, snippet

MORNING = datetime(2026, 11, 20, 7, tzinfo=UTC)
SONNET, OPUS, HAIKU = "claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"
RUN = Run(7, "planner", "2026-11-20", "t1", 1)
SYSTEM = "You are the Planner of a small team."
BUDGET = 10**9


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@dataclass(frozen=True)
class Step:
    title: str
    hours: int = 1
    share: float = 0.5


@dataclass(frozen=True)
class Plan:
    """A form as an agent would write it: a plain dataclass."""

    name: str
    size: Size = Size.SMALL
    files: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    note: str | None = None


GOOD: Mapping[str, Any] = {"name": "ship it", "size": "large", "files": ["a.py"], "steps": [{"title": "build"}]}
PLAN = Plan("ship it", Size.LARGE, ("a.py",), (Step("build"),))


@dataclass
class TicketBox:
    """A ledger that only gives out tickets."""

    orders: list[TicketOrder] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)

    def open_ticket(self, order: TicketOrder, now: datetime) -> str:
        self.orders.append(order)
        return f"ticket {len(self.orders)}"

    def close_ticket(self, token: str, now: datetime) -> None:
        self.closed.append(token)

    def calls_of(self, token: str) -> tuple[CallRecord, ...]:
        """No meter, no record."""
        return ()

    def last_words(self, token: str) -> str:
        return ""


@pytest.fixture(scope="module")
def one_server() -> Iterator[ScriptedModel]:
    with ScriptedModel([], clock=ManualClock(MORNING)) as model:
        yield model


@pytest.fixture
def model(one_server: ScriptedModel) -> ScriptedModel:
    one_server.requests.clear()
    return one_server


@pytest.fixture
def replies(tmp_path: Path) -> Iterator[Replies]:
    db = new_book(tmp_path / "agents.db")
    yield Replies(db)
    db.close()


@pytest.fixture
def tickets() -> TicketBox:
    return TicketBox()


@pytest.fixture
def client(model: ScriptedModel, replies: Replies, tickets: TicketBox) -> LlmClient:
    return client_of(model, replies, tickets)


def client_of(
    model: ScriptedModel, replies: Replies, tickets: TicketBox, choice: ModelChoice | None = None
) -> LlmClient:
    choice = choice or ModelChoice(SONNET, (OPUS, HAIKU), "medium", 1_000)
    return LlmClient(tickets, replies, MeterAccess(model.url, BUDGET), {"planner": choice}, ManualClock(MORNING))


def ask(client: LlmClient, run: Run = RUN, user: str = "Plan this.") -> Plan:
    return client.ask(run, SYSTEM, user, Plan)


def good(**more: Any) -> dict[str, Any]:
    return {"json": GOOD, **more}


# --- what is sent --------------------------------------------------------------------------------------------


def test_a_good_answer_is_a_value(client: LlmClient, model: ScriptedModel) -> None:
    model.play([good()])
    assert ask(client) == PLAN


def test_the_request_is_a_stable_prefix_the_users_text_a_form_and_an_effort(
    client: LlmClient, model: ScriptedModel
) -> None:
    model.play([good()])
    ask(client)
    sent = model.requests[0].body
    form = sent.pop("output_config")
    assert sent == {
        "model": SONNET,
        "max_tokens": 1_000,
        "system": SYSTEM,
        "messages": [{"role": "user", "content": "Plan this."}],
        "stream": True,
    }
    assert form["effort"] == "medium"
    assert form["format"]["schema"]["properties"].keys() == {"name", "size", "files", "steps", "note"}


def test_an_empty_effort_is_the_models_own(model: ScriptedModel, replies: Replies, tickets: TicketBox) -> None:
    model.play([good()])
    ask(client_of(model, replies, tickets, ModelChoice(SONNET)))
    assert model.requests[0].body["output_config"].keys() == {"format"}


def test_each_question_has_a_ticket_of_its_own_that_ends_with_it(
    client: LlmClient, model: ScriptedModel, tickets: TicketBox
) -> None:
    model.play([good(), {"status": 500}])
    ask(client)
    with pytest.raises(Unavailable):
        ask(client, user="Plan that.")
    assert tickets.closed == ["ticket 1", "ticket 2"]
    assert [request.headers["authorization"] for request in model.requests] == ["Bearer ticket 1", "Bearer ticket 2"]
    assert (tickets.orders[0].run, tickets.orders[0].budget) == (RUN, BUDGET)
    assert tickets.orders[0].models == (SONNET, OPUS, HAIKU)


def test_an_agent_without_a_model_is_the_owners_business(client: LlmClient) -> None:
    with pytest.raises(Misconfigured, match="names no model for cook"):
        ask(client, Run(1, "cook", "2026-11-20"))


def test_a_text_that_is_no_unicode_is_sent_all_the_same(client: LlmClient, model: ScriptedModel) -> None:
    model.play([good()])
    ask(client, user="Look at caf\udce9.py.")
    assert model.requests[0].body["messages"][0]["content"] == "Look at caf?.py."


# --- room for the answer


def roomy(model: ScriptedModel, replies: Replies, longest: int, most: int = 16_000) -> LlmClient:
    choice = {"planner": ModelChoice(SONNET, (HAIKU,), "medium", most)}
    access = MeterAccess(model.url, BUDGET, longest=lambda *_: longest)
    return LlmClient(TicketBox(), replies, access, choice, ManualClock(MORNING))


@pytest.mark.parametrize(("longest", "room"), [(0, 16_000), (100, 4_000), (2_000, 6_000), (9_000, 16_000)])
def test_an_answer_has_the_room_that_such_answers_need(
    model: ScriptedModel, replies: Replies, longest: int, room: int
) -> None:
    model.play([good()])
    ask(roomy(model, replies, longest))
    assert [request.body["max_tokens"] for request in model.requests] == [room]


@pytest.mark.parametrize(("least", "room"), [(0, 4_000), (3_000, 4_000), (10_000, 10_000), (20_000, 16_000)])
def test_it_has_never_less_room_than_its_question_asks_for(
    model: ScriptedModel, replies: Replies, least: int, room: int
) -> None:
    model.play([good()])
    roomy(model, replies, 100).ask(RUN, "You plan.", "Plan this.", Plan, least=least)
    assert [request.body["max_tokens"] for request in model.requests] == [room]


def test_one_that_does_not_fit_has_all_of_it_next_and_twice_that_last(model: ScriptedModel, replies: Replies) -> None:
    model.play([cut(), cut(), good()])
    ask(roomy(model, replies, 100))
    assert [request.body["max_tokens"] for request in model.requests] == [4_000, 16_000, 32_000]


# --- what is kept for the next question -----------------------------------------------------------------------

STORY = "Once. Twice. And the end."
ENDS = (6, 13)


def keeping(model: ScriptedModel, replies: Replies, keeps: Callable[[str, int], bool]) -> LlmClient:
    choice = {"planner": ModelChoice(SONNET, (HAIKU,), "medium", 1_000)}
    return LlmClient(TicketBox(), replies, MeterAccess(model.url, BUDGET, keeps=keeps), choice, ManualClock(MORNING))


def blocks(model: ScriptedModel, number: int = -1) -> Any:
    return model.requests[number].body["messages"][0]["content"]


def test_each_beginning_is_a_block_and_the_last_of_them_is_marked(model: ScriptedModel, replies: Replies) -> None:
    model.play([good()])
    asked: list[tuple[str, int]] = []

    def keeps(name: str, size: int) -> bool:
        asked.append((name, size))
        return True

    assert keeping(model, replies, keeps).ask(RUN, SYSTEM, STORY, Plan, ENDS) == PLAN
    mark = {"cache_control": {"type": "ephemeral"}}
    told = [{"type": "text", "text": text} for text in ("Once. ", "Twice. ", "And the end.")]
    assert blocks(model) == [told[0], {**told[1], **mark}, told[2]]
    assert asked == [(SONNET, len(SYSTEM.encode()) + 13)]


@pytest.mark.parametrize(("ends", "keeps"), [(ENDS, False), ((), True)])
def test_what_is_not_worth_it_or_asked_once_is_one_text_without_a_mark(
    model: ScriptedModel, replies: Replies, ends: tuple[int, ...], keeps: bool
) -> None:
    model.play([good()])
    keeping(model, replies, lambda *_: keeps).ask(RUN, SYSTEM, STORY, Plan, ends)
    assert blocks(model) == STORY


def test_the_same_question_is_the_same_with_a_mark_and_without(model: ScriptedModel, replies: Replies) -> None:
    """The answer that was paid for is kept, whatever prices say by then."""
    model.play([good()])
    for keeps, ends in ((True, ENDS), (False, ENDS), (False, ())):
        assert keeping(model, replies, lambda *_, so=keeps: so).ask(RUN, SYSTEM, STORY, Plan, ends) == PLAN
    assert len(model.requests) == 1


def test_another_model_is_asked_anew_whether_it_pays(model: ScriptedModel, replies: Replies) -> None:
    model.play([{"status": 404}, good()])
    keeping(model, replies, lambda name, _: name == SONNET).ask(RUN, SYSTEM, STORY, Plan, ENDS)
    assert [isinstance(blocks(model, number), list) for number in (0, 1)] == [True, False]


def test_a_repair_reads_what_the_question_has_written(model: ScriptedModel, replies: Replies) -> None:
    long = "x" * 8_000
    model.play([{"text": "no"}, good()])
    keeping(model, replies, lambda *_: True).ask(RUN, SYSTEM, f"{long} Plan.", Plan, (len(long),))
    first, second = (request.usage for request in model.requests)
    assert first["cache_creation_input_tokens"] == second["cache_read_input_tokens"] > 2_000


# --- what happens with an answer that is none ----------------------------------------------------------------

S, O, H = SONNET, OPUS, HAIKU  # noqa: E741 - the column below is narrow


def meter(code: str, text: str = "meter: no") -> dict[str, Any]:
    """What the meter answers instead of the model."""
    return {"status": 400, "error": {"message": text, "details": {"error_code": code}}}


def cut(text: str = "half") -> dict[str, Any]:
    return {"text": text, "stop_reason": "max_tokens"}


REFUSES: dict[str, Any] = {"stop_reason": "refusal"}
UPSTREAM = meter("meter_upstream", "meter: the upstream was busy")

POLICY = [
    # what comes back; what is raised (None: the good answer), and its text; which models were asked
    pytest.param([good()], None, "", [S], id="good"),
    pytest.param([cut(), good()], None, "", [S, S], id="too long: once more"),
    pytest.param([cut(), cut()], Stumble, "longer than 2000 tokens", [S, S], id="too long twice"),
    pytest.param([{"text": "no"}, good()], None, "", [S, S], id="unreadable: one repair"),
    pytest.param([{"text": "no"}, {"text": "no"}], Stumble, "also after one repair", [S, S], id="twice"),
    pytest.param([{"text": "no"}, cut(), good()], None, "", [S, S, S], id="the repair is too long: once more"),
    pytest.param([cut(), {"text": "no"}, cut()], Stumble, "longer than", [S, S, S], id="too long again later"),
    pytest.param([REFUSES, good()], None, "", [S, O], id="refusal: the next model"),
    pytest.param([REFUSES, REFUSES], ReplyDeclined, "refuses to answer", [S, O], id="not a third model"),
    pytest.param([REFUSES | {"text": "I must not"}, good()], None, "", [S, O], id="refusal in the middle of a text"),
    pytest.param([{"status": 404}, good()], None, "", [S, O], id="model gone: the next"),
    pytest.param([{"status": 529}, good()], None, "", [S, O], id="overloaded: the next"),
    pytest.param([UPSTREAM, UPSTREAM, good()], None, "", [S, O, H], id="the meter gave up: the next, and the next"),
    pytest.param([meter("meter_unrepeated", "meter: no money")], ModelAway, f"{S}: meter: no money", [S],
                 id="not known as away: no dearer one"),
    pytest.param([UPSTREAM] * 3, ModelAway, f"{H}: meter: the upstream was busy", [S, O, H], id="no model is left"),
    pytest.param([meter("meter_model_gone"), good()], None, "", [S, O], id="the meter says that the model is gone"),
    pytest.param([REFUSES, UPSTREAM, good()], None, "", [S, O, H], id="a refusal, then an overload"),
    pytest.param([UPSTREAM, {"text": "no"}, good()], None, "", [S, O, O], id="the repair asks the model that answered"),
    pytest.param([meter("meter_task_cap", "meter: cap of this task reached: cap $1")], OutOfBudget("", "task"),
                 "meter: cap of this task reached: cap $1", [S], id="task cap"),
    pytest.param([meter("meter_day_cap")], OutOfBudget, "meter: no", [S], id="day cap"),
    pytest.param([meter("meter_upkeep_cap")], OutOfBudget("", "upkeep"), "meter: no", [S], id="the share of upkeep"),
    pytest.param([meter("meter_month_cap")], OutOfBudget, "", [S], id="month cap"),
    pytest.param([meter("meter_call_cap")], OutOfBudget, "", [S], id="calls of this run"),
    pytest.param([cut(), meter("meter_ticket_cap")], OutOfBudget("", "task"), "", [S, S], id="cap at the second call"),
    pytest.param([UPSTREAM, meter("meter_ticket_cap")], ModelAway, f"{S}: meter: the upstream was busy", [S, O],
                 id="what was lost for a busy model leaves nothing for the next"),
    pytest.param([UPSTREAM, {"text": "no"}, meter("meter_ticket_cap")], OutOfBudget("", "task"), "", [S, O, O],
                 id="no money for a repair"),
    pytest.param([UPSTREAM, cut(), meter("meter_ticket_cap")], OutOfBudget("", "task"), "", [S, O, O],
                 id="no money for a longer answer"),
    pytest.param([meter("meter_model_paused"), good()], None, "", [S, O], id="this model is paused: the next"),
    pytest.param([meter("meter_model_paused", "meter: m lies; type: python main.py resume")] * 3, ModelAway,
                 f"{H}: meter: m lies; type: python main.py resume", [S, O, H], id="all are paused: what to type"),
    pytest.param([meter("meter_paused")], OutOfBudget, "", [S], id="spending is paused: rest"),
    pytest.param([meter("meter_halted")], OutOfBudget, "", [S], id="spending is halted: rest"),
    pytest.param([meter("meter_stopping")], Unavailable, "", [S], id="the meter is being stopped"),
    pytest.param([meter("meter_retry_later")], Unavailable, "", [S], id="the upstream asks to wait"),
    pytest.param([meter("meter_unknown_model", "meter: no price")], Misconfigured, "no price", [S], id="cost"),
    pytest.param([meter("meter_upstream_refused", "meter: refused (400)")], Misconfigured("", "task"),
                 "refused (400); correct", [S], id="a wrong request: no other model"),
    pytest.param([meter("meter_bad_request")], Unavailable, "", [S], id="any other refusal of the meter"),
    pytest.param([{"status": 401}], Unavailable, "scripted error 401", [S], id="ticket not known"),
    pytest.param([{"status": 413}], Stumble, S, [S], id="too large"),
    pytest.param([{"status": 500}], Unavailable, "scripted error 500", [S], id="server error: never repeated by us"),
    pytest.param([{"status": 429, "headers": {"retry-after": "1"}}], Unavailable, "", [S], id="429: not by us"),
    pytest.param([good(error_event={})], Unavailable, "Overloaded", [S], id="error in mid-stream"),
    pytest.param([good(drop="before")], Unavailable, "broke off", [S], id="no answer"),
    pytest.param([good(drop="after 4")], Unavailable, "broke off", [S], id="cut stream"),
    pytest.param([{"text": "x", "stop_reason": "model_context_window_exceeded"}], Stumble, "too long", [S], id="room"),
    pytest.param([good(stop_reason="pause_turn")], Unavailable, "pause_turn", [S], id="a stop nobody asked for"),
]  # fmt: skip


@pytest.mark.parametrize(("answers", "error", "says", "models"), POLICY)
def test_every_answer_has_its_consequence(
    client: LlmClient,
    model: ScriptedModel,
    tickets: TicketBox,
    answers: list[dict[str, Any]],
    error: type[TeamError] | OutOfBudget | Misconfigured | None,
    says: str,
    models: list[str],
) -> None:
    model.play(answers)
    if error is None:
        assert ask(client) == PLAN
    else:
        kind = error if isinstance(error, type) else type(error)
        with pytest.raises(kind) as caught:
            ask(client)
        assert says in str(caught.value)
        assert type(caught.value) is kind
        assert getattr(caught.value, "of", "") == getattr(error, "of", "")
        assert "\n" not in str(caught.value)
    assert [request.body["model"] for request in model.requests] == models
    assert tickets.closed == ["ticket 1"]


def test_without_a_second_model_a_refusal_is_the_end(
    model: ScriptedModel, replies: Replies, tickets: TicketBox
) -> None:
    model.play([REFUSES])
    with pytest.raises(Stumble, match="refuses to answer"):
        ask(client_of(model, replies, tickets, ModelChoice(SONNET)))


def test_a_longer_answer_gets_twice_the_room(client: LlmClient, model: ScriptedModel) -> None:
    model.play([{"text": json.dumps({"name": "x" * 5_000}), "times": "any"}])
    assert ask(client).name == "x" * 5_000
    assert [request.body["max_tokens"] for request in model.requests] == [1_000, 2_000]


def test_a_repair_quotes_the_reason_and_the_answer(client: LlmClient, model: ScriptedModel) -> None:
    model.play([{"json": {"name": "x", "files": "a.py"}}, good()])
    ask(client)
    (message,) = model.requests[1].body["messages"]
    first, *told = message["content"].split("\n\n")
    assert (message["role"], first) == ("user", "Plan this.")
    assert "files: Input should be a valid array" in told[0]
    assert told[1] == '{"name": "x", "files": "a.py"}'


def test_a_repair_quotes_a_hostile_answer_as_far_as_it_can_be_sent() -> None:
    told = repair("Plan this.", "\ud800\0\x1b" + "x" * 9_000, "why")
    assert told.encode().count(b"x") == 4_000 - 3
    assert not {"\0", "\x1b"} & set(told)


def test_nobody_at_the_meter_is_said_in_one_line(replies: Replies, tickets: TicketBox, tmp_path: Path) -> None:
    alone = LlmClient(
        tickets,
        replies,
        MeterAccess(tmp_path / "no.sock", 1),
        {"planner": ModelChoice(SONNET)},
        ManualClock(MORNING),
    )
    with pytest.raises(Unavailable, match=r"nobody answers at .*the meter does not run"):
        ask(alone)
    assert tickets.closed == ["ticket 1"]


START = {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [],
         "model": SONNET, "usage": {"input_tokens": 1, "output_tokens": 1}}}  # fmt: skip


def event(data: Mapping[str, Any]) -> str:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n"


@pytest.fixture
def garbage() -> Iterator[Callable[[str], str]]:
    """Serves one text, whatever is asked; answers the address."""
    text = b""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    def serve(told: str) -> str:
        nonlocal text
        text = told.encode()
        return f"http://127.0.0.1:{server.server_port}"

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield serve
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<html>It works!</html>", id="another server"),
        pytest.param("", id="nothing"),
        pytest.param("event: message_start\ndata: {\n\n", id="no JSON"),
        pytest.param("event: message_start\ndata: []\n\n", id="no event"),
        pytest.param(event(START), id="ends early"),
        pytest.param(event({"type": "message_stop"}), id="an end without a beginning"),
        pytest.param(event(START) + event({"type": "message_stop"}), id="no reason to stop"),
        pytest.param(
            event(START) + event({"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta"}}),
            id="more of a block that never began",
        ),
        pytest.param(event({"type": "error", "error": "oh"}), id="an error that says nothing"),
    ],
)  # fmt: skip
def test_a_stream_that_makes_no_sense_is_unavailable(
    garbage: Callable[[str], str], replies: Replies, tickets: TicketBox, text: str
) -> None:
    models = {"planner": ModelChoice(SONNET)}
    client = LlmClient(tickets, replies, MeterAccess(garbage(text), BUDGET), models, ManualClock(MORNING))
    with pytest.raises(Unavailable):
        ask(client)


# --- hostile answers -----------------------------------------------------------------------------------------

DEEP = "[" * 100_000
HOSTILE = [
    pytest.param("Here is your plan.", "Invalid JSON", id="not JSON"),
    pytest.param('Sure: {"name": "x"}', "Invalid JSON", id="JSON inside prose"),
    pytest.param('```json\n{"name": "x"}\n```', "Invalid JSON", id="JSON inside a code fence"),
    pytest.param('{"name": "x"} {"name": "y"}', "trailing characters", id="two objects"),
    pytest.param('{"name": "x", "name": "y"}', "a field stands twice", id="one field twice"),
    pytest.param('{"name": "x"', "EOF", id="half an object"),
    pytest.param(" ", "EOF", id="nothing"),
    pytest.param("null", "should be an object", id="null"),
    pytest.param("[]", "should be an object", id="a list"),
    pytest.param('{"name": null}', "name: Input should be a valid string", id="null for a text"),
    pytest.param('{"name": 1}', "name: Input should be a valid string", id="a number for a text"),
    pytest.param('{"name": "x", "files": "a.py"}', "files: Input should be a valid array", id="a text for a list"),
    pytest.param('{"name": "x", "steps": {}}', "steps: Input should be a valid array", id="an object for a list"),
    pytest.param('{"name": "x", "size": "huge"}', "size: Input should be 'small' or 'large'", id="an unknown word"),
    pytest.param('{"name": "x", "allowed": true}', "allowed: Unexpected", id="an unknown field"),
    pytest.param('{"name": "x", "steps": [{"title": "y", "z": 1}]}', "steps.0.z: Unexpected", id="an inner one"),
    pytest.param('{"name": "x", "steps": [{"title": "y", "hours": "2"}]}', "valid integer", id="a number as a text"),
    pytest.param('{"name": "x", "steps": [{"title": "y", "hours": 1.5}]}', "valid integer", id="half an hour"),
    pytest.param('{"name": "x", "steps": [{"title": "y", "share": NaN}]}', "share: not a finite number", id="NaN"),
    pytest.param('{"name": "x", "steps": [{"title": "y", "share": 1e999}]}', "not a finite number", id="infinity"),
    pytest.param(f'{{"name": "x", "steps": [{{"title": "y", "hours": 1{"0" * 5000}}}]}}', "out of range", id="10^5000"),
    pytest.param(f'{{"name": "x", "steps": [{{"title": "y", "hours": {2**63}}}]}}', "is larger than", id="2^63"),
    pytest.param('{"name": "\\ud800"}', "Invalid JSON", id="half a character"),
    pytest.param('{"name": "a\\u0000b"}', "name: holds the character U+0000", id="NUL"),
    pytest.param('{"name": "a\\u001b[2Jb"}', "name: holds the character U+001B", id="a terminal's control sequence"),
    pytest.param('{"name": "x", "no\\u0000\\nte": 1}', "no? te: Unexpected", id="an unknown field of a hostile name"),
    pytest.param(json.dumps({"name": "x" * 20_001}), "name: 20001 characters, the limit is 20000", id="a long text"),
    pytest.param(f'{{"name": "x"}}{" " * 200_000}', "the limit is 200000", id="a long answer"),
    pytest.param(DEEP, "recursion limit", id="100,000 levels"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), HOSTILE)
def test_a_hostile_answer_is_repaired_once_and_then_refused_with_its_reason(
    model: ScriptedModel, replies: Replies, tickets: TicketBox, text: str, reason: str
) -> None:
    model.play([{"text": text, "times": "any"}])
    client = client_of(model, replies, tickets, ModelChoice(SONNET, (), "", 64_000))
    with pytest.raises(Stumble) as caught:
        ask(client)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 1_000
    assert len(model.requests) == 2
    assert reason in model.requests[1].body["messages"][0]["content"]


NAMES = st.sampled_from(["name", "steps", "files", "title", "x", "\0"])
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
DOCUMENTS = st.recursive(VALUES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner))


@given(text=st.text(max_size=300) | DOCUMENTS.map(json.dumps))
def test_whatever_comes_is_a_value_or_one_line_of_reason(text: str) -> None:
    form = llm_client.adapter(Plan)
    try:
        value = llm_client.read(form, text)
    except Refused as reason:
        assert str(reason)
        assert "\n" not in str(reason)
        str(reason).encode()  # can be sent, stored and printed
    else:
        assert isinstance(value, Plan)


def test_what_the_vendor_forbids_in_a_form_is_not_in_ours() -> None:
    form = llm_client.schema(llm_client.adapter(Plan))
    assert form["additionalProperties"] is False
    assert form["$defs"]["Step"]["additionalProperties"] is False
    assert "default" not in form["properties"]["files"]


def test_a_form_holds_names_and_types_and_no_words_that_every_call_would_pay_for() -> None:
    form = llm_client.schema(llm_client.adapter(Plan))
    assert str(form).count("title") == str(form).count("'title': {'type': 'string'}") + len(["of Plan", "required"])
    assert "description" not in str(form) and "default" not in str(form)
    assert (form["title"], set(form["properties"])) == ("Plan", {"name", "size", "files", "steps", "note"})


# --- a crash replays for free --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "user", "calls"),
    [
        pytest.param(RUN, "Plan this.", 1, id="the same attempt: nothing is asked again"),
        pytest.param(Run(8, "planner", "2026-11-20", "t1", 1), "Plan this.", 1, id="the same attempt, a new run"),
        pytest.param(Run(7, "planner", "2026-11-20", "t1", 2), "Plan this.", 2, id="another attempt"),
        pytest.param(Run(7, "planner", "2026-11-21", "t1", 1), "Plan this.", 2, id="another day"),
        pytest.param(Run(7, "planner", "2026-11-20", "t2", 1), "Plan this.", 2, id="another task"),
        pytest.param(RUN, "Plan that.", 2, id="another question"),
    ],
)
def test_an_answer_that_was_understood_is_not_paid_twice(
    client: LlmClient, model: ScriptedModel, run: Run, user: str, calls: int
) -> None:
    model.play([good(times="any")])
    ask(client)
    assert ask(client, run, user) == PLAN
    assert len(model.requests) == calls


@pytest.mark.parametrize(
    "choice",
    [
        pytest.param(ModelChoice(OPUS, (), "medium", 1_000), id="another model"),
        pytest.param(ModelChoice(SONNET, (), "low", 1_000), id="another effort"),
        pytest.param(ModelChoice(SONNET, (HAIKU,), "medium", 1_000), id="another fallback"),
    ],
)
def test_another_choice_of_model_asks_anew(
    model: ScriptedModel, replies: Replies, tickets: TicketBox, choice: ModelChoice
) -> None:
    model.play([good(times="any")])
    for each in (ModelChoice(SONNET, (), "medium", 1_000), choice):
        ask(client_of(model, replies, tickets, each))
    assert len(model.requests) == 2


def test_another_form_asks_anew(client: LlmClient, model: ScriptedModel) -> None:
    model.play([good(), {"json": {"title": "build"}}])
    ask(client)
    assert client.ask(RUN, SYSTEM, "Plan this.", Step) == Step("build")


def test_a_repaired_answer_is_remembered_under_the_first_question(client: LlmClient, model: ScriptedModel) -> None:
    model.play([REFUSES, {"text": "no"}, good()])
    assert ask(client) == ask(client) == PLAN
    assert len(model.requests) == 3


def test_what_was_not_understood_is_not_remembered(client: LlmClient, model: ScriptedModel) -> None:
    model.play([{"text": "no"}, {"text": "no"}, good()])
    with pytest.raises(Stumble):
        ask(client)
    assert ask(client) == PLAN


def test_old_answers_are_forgotten(replies: Replies) -> None:
    replies.keep("old", "1", MORNING)
    replies.keep("new", "2", MORNING + timedelta(hours=1))
    assert replies.prune(MORNING + timedelta(minutes=1)) == 1
    assert (replies.find("old"), replies.find("new")) == (None, "2")


ASKING = """
    import sys
    from datetime import UTC, datetime
    from pathlib import Path
    from sisimpur.shared.model.work import ModelChoice
    from sisimpur.shared.system.clock import ManualClock
    from sisimpur.shared.store.database import Database
    from sisimpur.shared.llm.llm_client import LlmClient, MeterAccess, repair
    from sisimpur.shared.llm.llm_call import Replies
    from tests.edges.test_llm_client import BUDGET, PLAN, RUN, SYSTEM, Plan, TicketBox
    url, home = sys.argv[1:]
    models = {"planner": ModelChoice("claude-sonnet-5-5")}
    clock = ManualClock(datetime(2026, 11, 20, tzinfo=UTC))
    replies = Replies(Database(Path(home, "agents.db")))
    client = LlmClient(TicketBox(), replies, MeterAccess(url, BUDGET), models, clock)
    assert client.ask(RUN, SYSTEM, "Plan this.", Plan) == PLAN
"""


def test_a_kill_after_the_answer_is_kept_costs_no_second_call(model: ScriptedModel, tmp_path: Path) -> None:
    model.play([good(times="any")])
    asking = snippet(ASKING, model.url, str(tmp_path))
    killed_at("reply.kept", asking)
    finishes(asking)
    assert len(model.requests) == 1


# --- through the meter ---------------------------------------------------------------------------------------

CAP = 10**9


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(new_book(tmp_path / "agents.db"))
    yield ledger
    ledger.close()


@pytest.fixture
def metered(model: ScriptedModel, ledger: Ledger, replies: Replies, tmp_path: Path) -> Iterator[LlmClient]:
    clock = ManualClock(MORNING)
    patience = MeterTimeouts(first=0.01, longest=0.01, tries=2)
    caps = Caps(CAP, CAP, CAP)
    upstream = Upstream(model.url, "real-key")
    setup = MeterSetup(tmp_path / "meter.sock", upstream, timeouts=patience)
    with Meter(ledger, Pricing(), lambda: caps, clock, setup) as meter:
        models = {"planner": ModelChoice(SONNET, (HAIKU,), "medium", 1_000)}
        yield LlmClient(ledger, replies, MeterAccess(meter.socket, BUDGET), models, clock)


def test_through_the_meter_the_money_book_and_the_vendors_bill_agree(
    metered: LlmClient, model: ScriptedModel, ledger: Ledger
) -> None:
    model.play([cut("half of it " * 360), {"text": "no"}, good()])
    assert ask(metered) == PLAN
    assert [request.headers["authorization"] for request in model.requests] == ["Bearer real-key"] * 3
    assert ledger.reader.totals("2026-11-20", CAP).spent == model.billed > 0


def test_through_the_meter_a_busy_model_gives_way_to_the_next(metered: LlmClient, model: ScriptedModel) -> None:
    model.play([{"when": {"model": "sonnet"}, "status": 529, "times": 2}, good(when={"model": "haiku"})])
    assert ask(metered) == PLAN
    assert [request.body["model"] for request in model.requests] == [SONNET, SONNET, HAIKU]


def refused(status: int, message: str, **more: Any) -> dict[str, Any]:
    return {"status": status, "error": {"type": "invalid_request_error", "message": message}, "times": "any", **more}


def test_through_the_meter_a_wrong_request_is_told_in_the_vendors_words_and_not_asked_again(
    metered: LlmClient, model: ScriptedModel
) -> None:
    """They are data of somebody else: one line, of a bounded length, without control characters."""
    model.play([refused(400, f"effort: 'huge' is\nnot \x1b[2J known {'x' * 5_000}")])
    with pytest.raises(Misconfigured) as caught:
        ask(metered)
    assert caught.value.of == "task"
    text = str(caught.value)
    assert text.startswith(
        f"{SONNET}: our request was refused: invalid_request_error effort: 'huge' is not [2J known x"
    )
    assert text.endswith("correct config/agents.yaml, or report it if all is right there")
    assert len(text) < 500 and text.isprintable()
    assert [request.body["model"] for request in model.requests] == [SONNET]


@pytest.mark.parametrize(
    ("first", "id_"),
    [
        (refused(400, "Output blocked by content filtering policy"), "the answer is filtered, as with a refusal"),
        (refused(429, "slow down"), "too many requests, without a time to come again"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_through_the_meter_what_is_no_fault_of_the_request_is_asked_of_the_next_model(
    metered: LlmClient, model: ScriptedModel, first: dict[str, Any], id_: str
) -> None:
    model.play([{**first, "when": {"model": "sonnet"}}, good(when={"model": "haiku"})])
    assert ask(metered) == PLAN
    assert [request.body["model"] for request in model.requests] == [SONNET, HAIKU]


def test_through_the_meter_where_nobody_listens_the_address_and_its_variable_are_named_and_no_other_model_is_tried(
    ledger: Ledger, replies: Replies, tmp_path: Path
) -> None:
    clock, nowhere = ManualClock(MORNING), "http://127.0.0.1:9"
    patience, caps = MeterTimeouts(first=0.01, longest=0.01, tries=2), Caps(CAP, CAP, CAP)
    setup = MeterSetup(tmp_path / "meter.sock", Upstream(nowhere, "k"), timeouts=patience)
    with Meter(ledger, Pricing(), lambda: caps, clock, setup) as meter:
        models = {"planner": ModelChoice(SONNET, (HAIKU,))}
        client = LlmClient(ledger, replies, MeterAccess(meter.socket, BUDGET, nowhere), models, clock)
        with pytest.raises(
            ModelAway, match=r"answer at http://127\.0\.0\.1:9: .* check the network, or ANTHROPIC_BASE_URL in config"
        ):
            ask(client)
    assert [(share.model, share.calls) for share in ledger.reader.breakdown()] == [(SONNET, 2)]
    assert ledger.reader.totals("2026-11-20", CAP).used == 0


def test_through_the_meter_a_reached_cap_names_itself_and_nothing_is_sent(
    model: ScriptedModel, ledger: Ledger, replies: Replies, tmp_path: Path
) -> None:
    clock = ManualClock(MORNING)
    caps = Caps(CAP, 1_000, CAP)
    upstream = Upstream(model.url, "real-key")
    with Meter(ledger, Pricing(), lambda: caps, clock, MeterSetup(tmp_path / "meter.sock", upstream)) as meter:
        client = LlmClient(ledger, replies, MeterAccess(meter.socket, BUDGET), {"planner": ModelChoice(SONNET)}, clock)
        with pytest.raises(OutOfBudget, match="cap of this day reached"):
            ask(client)
    assert model.requests == []


def test_through_the_meter_a_broken_stream_is_unavailable_and_booked(
    metered: LlmClient, model: ScriptedModel, ledger: Ledger
) -> None:
    model.play([good(drop="after 4")])
    with pytest.raises(Unavailable):
        ask(metered)
    assert ledger.reader.totals("2026-11-20", CAP).lost >= model.billed > 0
