"""Addresses of what can be ordered."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response
from starlette.exceptions import HTTPException

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import pasteable
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.text import sha256_of
from sisimpur.shared.store.chain import heard_by
from sisimpur.web.api.access.passkey_check import SignedByPasskey
from sisimpur.web.api.access.step_up import StepUp
from sisimpur.web.api.acting.order_bodies import (
    AnswerBody,
    CapBody,
    PauseBody,
    PlanBody,
    RollbackBody,
    RulingBody,
    WhyBody,
)
from sisimpur.web.api.acting.orders import carried_out
from sisimpur.web.api.base.board_answers import API, as_response, etag
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.board_openapi import described
from sisimpur.web.api.base.guard import not_allowed, problem, signed_in
from sisimpur.web.api.base.rights import Role, may
from sisimpur.web.api.base.sign_in import BoardAnswer, BoardOrders
from sisimpur.web.api.reading import readers
from sisimpur.web.api.reading.plan_review import plan_review
from sisimpur.web.api.reading.reading_routes import state_of
from sisimpur.web.api.reading.review import is_guarded, is_protected, review_facts
from sisimpur.web.api.reading.team_answers import DoneAnswer

Key = Annotated[str, Header(alias="Idempotency-Key", min_length=8, max_length=200)]
Seen = Annotated[str, Header(alias="If-Match")]


@dataclass(frozen=True)
class BoardActions:
    """Orders, one after the other: what is said twice under one key is done once."""

    home: BoardHome
    lock: threading.Lock
    step_up: StepUp

    def routes(self) -> APIRouter:
        routes = APIRouter(prefix=API)
        orders: dict[str, Callable[..., Response]] = {
            "/tasks/{id}/rulings": self.rule,
            "/tasks/{id}/unblock": self.unblock,
            "/tasks/{id}/retest": self.retest,
            "/answers": self.answer,
            "/plan/rulings": self.rule_plan,
            "/deploys/pause": self.pause,
            "/deploys/rollback": self.roll_back,
            "/money/cap": self.raise_cap,
        }
        for path, order in orders.items():
            routes.add_api_route(path, order, methods=["POST"], status_code=201, responses=described(DoneAnswer, 201))
        return routes

    def rule(self, request: Request, id: str, body: RulingBody, key: Key, seen: Seen = "") -> Response:  # noqa: A002
        """`If-Match`: the ETag of the review that was read."""
        who = signed_in(request.scope)
        if not may(who.role, "POST", f"{API}/tasks/{id}/rulings", body.ruling):
            raise HTTPException(*not_allowed(who.role))
        if not seen:
            raise HTTPException(428, "say which review you have read: If-Match")

        def judged(records: Records) -> BoardAnswer:
            state = state_of(records, id)
            if why_not := _not_for(who.role, body.ruling, records, id):
                raise HTTPException(403, why_not)
            review = review_facts(records, id, state)
            text = self.home.told(review, records)
            if body.commit != review["commit"]:
                return _stale(409, "it has changed since you looked at it", text)
            if seen != etag(text):
                return _stale(412, "what is known about it has changed since you looked at it", text)
            wish = Arguments(body.ruling, Path(), id=id, commit=body.commit, why=body.words)
            if body.ruling != "approve" or not self.step_up.is_on or not is_protected(records, id):
                return self._done(records, wish)
            order = (id, body.commit, body.ruling)
            return self._signed(request, records, order, body.passkey, wish)

        return self.once(key, f"{id} {_said(body)}", judged)

    def answer(self, body: AnswerBody, key: Key) -> Response:
        def judged(records: Records) -> BoardAnswer:
            asked = [one["text"] for one in readers.waiting(records)["asked"] if one["goal"] == body.id]
            now = json.loads(self.home.told(asked, records))
            if now and sorted(now) != sorted(body.asked):
                return BoardAnswer(409, problem(409, "what is asked has changed since you read it", now=now).decode())
            return self._done(records, Arguments("answer", Path(), id=body.id, text=body.text))

        return self.once(key, f"answer {body.model_dump_json()}", judged)

    def rule_plan(self, body: PlanBody, key: Key) -> Response:
        """Let all tasks begin whose plan waits, or drop them."""

        def judged(records: Records) -> BoardAnswer:
            text = self.home.told(plan_review(records), records)
            if (now := json.loads(text))["mark"] not in ("", body.mark):
                return BoardAnswer(409, problem(409, "the plan has changed since you looked at it", now=now).decode())
            command = "approve" if body.ruling == "approve" else "cancel"
            return self._done(records, Arguments(command, Path(), id="plan", commit=body.mark, why=body.why))

        return self.once(key, f"plan {body.model_dump_json()}", judged)

    def pause(self, body: PauseBody, key: Key) -> Response:
        return self._order(Arguments("pause-deploys" if body.paused else "resume-deploys", Path(), why=body.why), key)

    def roll_back(self, body: RollbackBody, key: Key) -> Response:
        """Bring back what was healthy before, and pause deploys."""
        return self._order(Arguments("rollback", Path(), place=body.place), key)

    def raise_cap(self, request: Request, body: CapBody, key: Key) -> Response:
        """Let today cost up to this much; tomorrow the policy counts again."""

        def judged(records: Records) -> BoardAnswer:
            wish = Arguments("raise-cap", Path(), amount=body.cap, why=body.why)
            order = (records.day(), "", f"raise-cap {body.cap}")
            return self._signed(request, records, order, body.passkey, wish)

        return self.once(key, f"raise-cap {_said(body)}", judged)

    def unblock(self, id: str, body: WhyBody, key: Key) -> Response:  # noqa: A002
        """Let a task begin without those that it waits for."""
        return self._order(Arguments("unblock", Path(), id=id, why=body.why), key)

    def retest(self, id: str, key: Key) -> Response:  # noqa: A002
        """Run the tests of a change again; no model is asked."""
        return self._order(Arguments("retest", Path(), id=id), key)

    def _order(self, wish: Arguments, key: str) -> Response:
        def judged(records: Records) -> BoardAnswer:
            if wish.id:
                state_of(records, wish.id)  # a whole id: nothing is guessed here
            return self._done(records, wish)

        return self.once(key, repr(wish), judged)

    def _signed(
        self, request: Request, records: Records, order: Sequence[str], said: SignedByPasskey | None, wish: Arguments
    ) -> BoardAnswer:
        """Do it, and keep what was signed for it. `order`: as in StepUp."""
        proof = self.step_up.proof(request, records, order, said)
        if isinstance(proof, BoardAnswer):
            return proof
        with heard_by(signed_in(request.scope).via, proof):
            return self._done(records, wish)

    def _done(self, records: Records, wish: Arguments) -> BoardAnswer:
        try:
            return BoardAnswer(201, self.home.told(carried_out(records, wish), records))
        except Misconfigured as said:
            return BoardAnswer(409, problem(409, pasteable(str(said), self.home.root)).decode())

    def once(self, key: str, asked: str, do: Callable[[Records], BoardAnswer]) -> Response:
        """What was refused may be asked again under its key; what was done is only told again."""
        digest = sha256_of(asked)
        with self.lock, self.home.open(looking=False) as records:
            book = BoardOrders(records.db)
            known = book.answered(key, digest)
            if known and not known.text:
                raise HTTPException(known.status, "this key stood for another order")
            found = known or do(records)
            if known is None and found.status == 201:
                book.keep(key, digest, found, records.clock.now())
        return as_response(found)


def _not_for(role: Role, ruling: str, records: Records, id_: str) -> str:
    """Say why this role may not rule so about this task; empty: it may."""
    if role is not Role.OWNER and ruling == "approve" and is_guarded(records, id_):
        return "your team's notes in VISION.md guard what it changes: an owner has to approve it"
    if role is Role.ANSWER and not records.journal.attempts(id_):
        return "nobody has begun it: whether it begins says a person, and a retry would"  # see plan_approval
    return ""


def _said(body: RulingBody | CapBody) -> str:
    """Return what stands for an order: signed or not, it is the same one."""
    return body.model_dump_json(exclude={"passkey"})


def _stale(status: int, title: str, review: str) -> BoardAnswer:
    return BoardAnswer(status, problem(status, title, now=json.loads(review), etag=etag(review)).decode())
