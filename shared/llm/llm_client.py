"""Model adapter: a question in, a checked value out.

What happens when the answer is not one, and how often (each is a call of its own at the meter, below the same caps):

    too long            once more with all its room, once more with twice that, then Stumble
    does not fit        one repair that quotes the reason, then Stumble
    the model refuses   the next model, once, then ReplyDeclined
    gone, busy, paused  the next model; after the last one ModelAway
    nobody is there     ModelAway at once, naming the address: another model would not be there either
    a wrong request     Misconfigured at once, with the vendor's words: another model is no cure for our mistake
    a cap is reached    OutOfBudget
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar, assert_never

from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from sisimpur.shared.llm.llm_call import (
    Absent,
    Cut,
    Declined,
    ModelQuestion,
    Outcome,
    Replies,
    Said,
    Unwanted,
    key_of,
    line,
    send,
)
from sisimpur.shared.model.errors import Misconfigured, ModelAway, OutOfBudget, Refused, ReplyDeclined, Stumble
from sisimpur.shared.model.work import ModelChoice, Run
from sisimpur.shared.money.ticket import CallRecord, TicketOrder, is_filtered
from sisimpur.shared.money.token_budget import room
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point

# --- from an answer's text to a checked value -----------------------------------------------------------------

T = TypeVar("T")

LONGEST = 200_000  # characters of an answer
LONGEST_TEXT = 20_000  # characters of one text in it
LARGEST = 2**63 - 1  # what our database holds
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")  # all but tab and line ends


def _unfit(reason: str) -> Refused:
    """One line that tells the model what to change. It may quote a field's name."""
    return Refused(" ".join(CONTROLS.sub("?", reason).split()))


def adapter(answer: type[T]) -> TypeAdapter[T]:
    """The form of an answer: a plain dataclass, or any type that pydantic knows."""
    wanted: Any = answer
    form: TypeAdapter[T] = _adapter(wanted)
    return form


@cache
def _adapter(answer: Any) -> Any:
    """One for each form: to build it takes 10 ms."""
    return TypeAdapter(answer)


class _Bare(GenerateJsonSchema):
    """Titles say names again, our docstrings are for us, and a default is ours to fill in: each call would pay them."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  theirs has it
        return False

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


@cache
def schema(form: TypeAdapter[Any]) -> Mapping[str, Any]:
    """The form as the API wants it. Its own title stays: it tells which form was asked for."""
    import anthropic

    bare = form.json_schema(schema_generator=_Bare)
    bare.pop("description", None)
    for part in bare.get("$defs", {}).values():
        part.pop("description", None)
        part.pop("title", None)
    wanted: Mapping[str, Any] = anthropic.transform_schema(bare)
    return wanted


def read(form: TypeAdapter[T], text: str) -> T:
    """The value, or Refused: exactly one JSON document, no unknown field, nothing converted, all within limits."""
    if len(text) > LONGEST:
        raise _unfit(f"the answer has {len(text)} characters, the limit is {LONGEST}")
    try:
        value = form.validate_json(text, strict=True, extra="forbid")
    except ValidationError as error:
        raise _unfit(_told(error)) from None
    for problem in _problems(json.loads(text, object_pairs_hook=_without_twins), "the answer"):
        raise _unfit(problem)
    return value


def _told(error: ValidationError) -> str:
    """Places and reasons without the values, which are not ours to repeat."""
    found = error.errors(include_url=False, include_input=False, include_context=False)[:3]
    return "; ".join(
        f"{'.'.join(str(part)[:60] for part in e['loc']) or 'the answer'}: {e['msg']}"[:300] for e in found
    )


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _unfit("a field stands twice in one object")
    return found


def _problems(value: Any, place: str) -> Iterator[str]:
    """List what the form cannot say: texts, numbers and names that we could not store, show or pass on."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _problems(name, "a field's name")
            yield from _problems(inner, name[:60])
    elif isinstance(value, list):
        for inner in value:
            yield from _problems(inner, place)
    elif isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            yield f"{place}: {len(value)} characters, the limit is {LONGEST_TEXT}"
        if bad := CONTROLS.search(value):
            yield f"{place}: holds the character U+{ord(bad.group()):04X}, which no text here may hold"
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{place}: not a finite number"
    elif isinstance(value, int) and abs(value) > LARGEST:
        yield f"{place}: the number is larger than {LARGEST}"


# --- the client -----------------------------------------------------------------------------------------------

TICKET_LIFE = timedelta(hours=2)
PATIENCE = 120.0  # seconds
QUOTED = 4_000  # characters of an unreadable answer that its repair repeats
COMPLAINT = 300  # characters of what a vendor says of our request
WRONG_REQUEST = "our request was refused: {}; correct config/agents.yaml, or report it if all is right there"


class Tickets(Protocol):
    """The giver of tickets, who keeps the meter's record of the calls on them: the ledger."""

    def open_ticket(self, order: TicketOrder, now: datetime) -> str: ...

    def close_ticket(self, token: str, now: datetime) -> None: ...

    def calls_of(self, token: str) -> Sequence[CallRecord]: ...

    def last_words(self, token: str) -> str: ...


@dataclass(frozen=True)
class MeterAccess:
    """Way of a client to the meter, and what it asks of it.

    `socket` may be an address too. `budget` is that of each ticket, in nano-dollars. `upstream`: where the meter sends
    the calls, to be named when nobody is there. `patience`: seconds that the meter may wait for a busy model; each of
    its tries may have to be booked at its worst case. `keeps`: whether it pays to have this model keep a beginning of
    so many bytes that is used again. `longest`: tokens of the longest recent answer to this agent by this model.
    """

    socket: Path | str
    budget: int
    upstream: str = ""
    patience: float = PATIENCE
    keeps: Callable[[str, int], bool] = lambda *_: False
    longest: Callable[[str, str], int] = lambda *_: 0


@dataclass(frozen=True)
class LlmClient:
    """Asks models through the meter. `models` are by agent."""

    ledger: Tickets
    replies: Replies
    meter: MeterAccess
    models: Mapping[str, ModelChoice]
    clock: Clock

    def ask(self, run: Run, system: str, user: str, answer: type[T], kept: Sequence[int] = (), least: int = 0) -> T:
        """Ask the model of `run.agent` -> what it says, as an `answer`. Errors: see the module.

        `kept`: where beginnings of `user` end (characters, rising, before its end) with which another question of the
        next or last five minutes begins too. `least`: tokens that the answer is given room for, whatever others needed.
        """
        choice = self.models.get(run.agent)
        if choice is None:
            raise Misconfigured(f"config/agents.yaml names no model for {run.agent}; add one")
        form = adapter(answer)
        asking = _Asking(choice, system, user, schema(form), tuple(kept))
        key = key_of(run, asking.whole)
        before = self.replies.find(key)
        if before is not None:
            with suppress(Refused):  # an older program understood it
                return read(form, before)
        asking.fit(self.meter.longest(run.agent, choice.model), least)
        with self._line(run, choice) as call:
            text, value = asking.answer(call, lambda text: read(form, text))
            self.replies.keep(key, text, self.clock.now())
        return value

    @contextmanager
    def _line(self, run: Run, choice: ModelChoice) -> Iterator[Callable[[ModelQuestion], Outcome]]:
        """Open a ticket for calls; it ends with them."""
        now = self.clock.now()
        models = (choice.model, *choice.fallback)
        order = TicketOrder(run, self.meter.budget, models, now + TICKET_LIFE, retry_s=self.meter.patience)
        ticket = self.ledger.open_ticket(order, now)
        fault_point("ask.ticket")
        try:
            with line(self.meter.socket, ticket) as client:
                yield lambda question: self._looked_up(send(client, self._marked(question)), ticket)
        finally:
            self.ledger.close_ticket(ticket, self.clock.now())

    def _marked(self, question: ModelQuestion) -> ModelQuestion:
        size = len(question.beginning.encode("utf-8", "replace"))
        return replace(question, marked=bool(size) and self.meter.keeps(question.model, size))

    def _looked_up(self, outcome: Outcome, ticket: str) -> Outcome:
        """Explain a call that came to nothing: the meter passes no words of a vendor on, they stand in the book."""
        calls = self.ledger.calls_of(ticket) if isinstance(outcome, Absent | Unwanted) else ()
        if isinstance(outcome, Absent) and calls and _nobody_there(calls[-1]):
            at = f" at {self.meter.upstream}" if self.meter.upstream else ""
            where = f"the model does not answer{at}: it cannot be reached"
            raise ModelAway(
                f"{where}; check the network, or ANTHROPIC_BASE_URL in config/.env, then type: python main.py doctor"
            )
        if isinstance(outcome, Unwanted):
            return _explained(outcome, calls[-1].status if calls else None, self.ledger.last_words(ticket))
        return outcome


class _Asking:
    """One question until it is answered: which models are left, and what was tried already."""

    def __init__(
        self, choice: ModelChoice, system: str, user: str, schema: Mapping[str, Any], kept: tuple[int, ...]
    ) -> None:
        self._question = ModelQuestion(choice.model, system, user, schema, choice.effort, choice.max_tokens, kept)
        self._fallback = list(choice.fallback)
        self._most = choice.max_tokens
        self.whole = {**self._question.request, "fallback": choice.fallback}
        self._lengthened = self._declined = False
        self._away: ModelAway | None = None  # the model before this one

    def fit(self, longest: int, least: int) -> None:
        """Give the answer the room that such answers need."""
        self._question = replace(self._question, max_tokens=room(longest, self._most, least))

    def answer(self, call: Callable[[ModelQuestion], Outcome], read: Callable[[str], T]) -> tuple[str, T]:
        """The text and what it means."""
        text = self._text(call)
        try:
            return text, read(text)
        except Refused as reason:
            self._question = replace(self._question, user=repair(self._question.user, text, str(reason)))
        text = self._text(call)
        try:
            return text, read(text)
        except Refused as reason:
            raise Stumble(f"{self._question.model}: {reason} (also after one repair)") from None

    def _text(self, call: Callable[[ModelQuestion], Outcome]) -> str:
        while True:
            match self._outcome(call):
                case Said(text):
                    return text
                case Cut():
                    self._lengthen()
                case Declined():
                    self._after_a_refusal()
                case Absent(reason, cure):
                    self._away = ModelAway("; ".join(filter(None, (f"{self._question.model}: {reason}", cure))))
                    self._next_model(self._away)
                case Unwanted(reason):
                    raise Misconfigured(f"{self._question.model}: {WRONG_REQUEST.format(reason)}", "task")
                case other:
                    assert_never(other)

    def _outcome(self, call: Callable[[ModelQuestion], Outcome]) -> Outcome:
        """Tries that came to nothing are booked at their worst case: if they leave no money, they are the reason."""
        try:
            outcome = call(self._question)
        except OutOfBudget as refused:
            raise (self._away or refused) if refused.of else refused from None
        if not isinstance(outcome, Absent):
            self._away = None
        return outcome

    def _lengthen(self) -> None:
        if self._question.max_tokens < self._most:
            self._question = replace(self._question, max_tokens=self._most)
            return
        if self._lengthened:
            most = self._question.max_tokens
            raise Stumble(f"{self._question.model}: the answer is longer than {most} tokens; raise max_tokens")
        self._lengthened = True
        self._question = replace(self._question, max_tokens=2 * self._question.max_tokens)

    def _after_a_refusal(self) -> None:
        refused = ReplyDeclined(f"{self._question.model}: the model refuses to answer")
        if self._declined:
            raise refused
        self._declined = True
        self._next_model(refused)

    def _next_model(self, otherwise: Exception) -> None:
        if not self._fallback:
            raise otherwise
        self._question = replace(self._question, model=self._fallback.pop(0))


def _nobody_there(call: CallRecord) -> bool:
    """Tell whether no connection was made, so that nothing can have been billed."""
    return call.state == "void" and call.status is None and call.code == "meter_upstream"


def _explained(refused: Unwanted, status: int | None, words: str) -> Outcome:
    """`words` are the vendor's: data, so they are shown in one line and looked through for one thing only."""
    reason = " ".join(CONTROLS.sub(" ", words).split())[:COMPLAINT] or refused.reason
    if status == 429:  # without saying when to come again
        return Absent(reason)
    return Declined() if is_filtered(reason) else Unwanted(reason)


def repair(user: str, text: str, reason: str) -> str:
    """The same question, with what was wrong. The answer is quoted as far as it can be sent at all."""
    quoted = CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text[:QUOTED]).strip() or "(nothing)"
    told = f"Your last answer could not be used: {reason}."
    return f"{user}\n\n{told}\nAnswer again: one JSON document of the form, nothing else. It was:\n\n{quoted}"
