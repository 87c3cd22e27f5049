"""Addresses of passkeys: sign in by one, add one, see them, delete one."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import AfterValidator, Field
from starlette.exceptions import HTTPException

from sisimpur.shared.config.settings_sign_in import ListedPerson
from sisimpur.shared.model.errors import Refused, TeamError
from sisimpur.shared.model.text import JOINERS
from sisimpur.shared.store.chain import heard_by
from sisimpur.web.api.access.access_routes import TokenAnswer, signed_in_with
from sisimpur.web.api.access.passkey_answers import ChallengeAnswer, NewPasskeyAnswer, OfferAnswer
from sisimpur.web.api.access.passkey_book import Passkey, Passkeys
from sisimpur.web.api.access.passkey_check import (
    LASTS,
    Bytes,
    PasskeyTickets,
    SignedByPasskey,
    Ticket,
    asked_to_make,
    asked_to_sign,
    challenge_of,
    made,
    signed,
    site_of,
)
from sisimpur.web.api.access.step_up import StepUp, passkey_origin
from sisimpur.web.api.base.board_answers import API, answered, as_response
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.board_openapi import KNOWN, BoardBody, Changed, Named, described
from sisimpur.web.api.base.guard import Failures, signed_in
from sisimpur.web.api.base.place import WAY, Way
from sisimpur.web.api.base.sign_in import BoardAnswer, SignedIn, named


def _plain(name: str) -> str:
    """Refuse what a terminal or a page would not show as it is."""
    name = name.strip()
    if not any(map(str.isalnum, name)) or not all(one.isprintable() or one in JOINERS for one in name):
        raise ValueError("name it after where it lies, e.g. my phone")
    return name


Name = Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_plain)]


class OfferBody(BoardBody):
    """`passkey`: what one that is there has signed for it, where the board has asked for it."""

    name: Name
    passkey: SignedByPasskey | None = None


class NewPasskeyBody(BoardBody):
    name: Name
    ticket: Ticket
    client: Bytes
    authenticator: Bytes


@dataclass
class PasskeysAnswer:
    passkeys: list[Passkey]
    is_here: bool
    at: str


@dataclass(frozen=True)
class PasskeyRoutes:
    home: BoardHome
    failures: Failures
    step_up: StepUp
    tickets: PasskeyTickets = field(default_factory=PasskeyTickets)

    def routes(self) -> APIRouter:
        routes = APIRouter(prefix=API)
        routes.add_api_route(
            "/session/challenge",
            self.challenge,
            methods=["POST"],
            status_code=201,
            responses=described(ChallengeAnswer, 201),
        )
        routes.add_api_route(
            "/session/passkey", self.sign_in, methods=["POST"], status_code=201, responses=described(TokenAnswer, 201)
        )
        routes.add_api_route(
            "/session/offer", self.offer, methods=["POST"], status_code=201, responses=described(OfferAnswer, 201)
        )
        routes.add_api_route(
            "/passkeys", self.add, methods=["POST"], status_code=201, responses=described(NewPasskeyAnswer, 201)
        )
        routes.add_api_route("/passkeys", self.passkeys, responses=KNOWN | described(PasskeysAnswer))
        routes.add_api_route("/passkeys/{id}", self.delete, methods=["DELETE"], status_code=204)
        return routes

    def challenge(self, request: Request) -> Response:
        """What a passkey is to sign, for anybody; the ticket goes back with it. Nothing is kept of it."""
        origin = passkey_origin(request)
        ticket = self.tickets.make(_signing_in(origin), self._now())
        return _made({"ticket": ticket, "options": asked_to_sign(challenge_of(ticket), origin, LASTS)})

    def sign_in(self, request: Request, body: SignedByPasskey) -> Response:
        """Begin a session, as by a link, in the role of who added the passkey."""
        origin, now = passkey_origin(request), self._now()
        try:
            challenge = self.tickets.challenge(body.ticket, _signing_in(origin), now)
            with self.home.open(looking=False) as records, heard_by(f"board: passkey {named(body.credential)}"):
                passkeys = Passkeys(records.db)
                if not (key := passkeys.key_of(body.credential, site_of(origin))):
                    raise Refused("this passkey is not known here; it may have been deleted")
                count = signed(body, key, challenge, origin)
                self.tickets.use_up(body.ticket, now)
                if not (token := passkeys.sign_in(body.credential, count, records.clock.now(), self._listed)):
                    raise Refused("this passkey counts less than before: there may be a copy of it; delete it")
        except Refused as why:
            raise HTTPException(self.failures.next_status(), f"{why}; or type: sisimpur board --link") from None
        return signed_in_with(token, request.scope[WAY])

    def offer(self, request: Request, body: OfferBody) -> Response:
        """What an authenticator is to make, for who is signed in; the ticket goes back with it.

        Where grave orders are signed, another passkey is one: the first of a person is not, and stands for him then.
        """
        who, origin = signed_in(request.scope), passkey_origin(request)
        with self.home.open(looking=False) as records:
            there = Passkeys(records.db).credentials(who, site_of(origin))
            if there and self.step_up.is_on:
                proof = self.step_up.proof(request, records, ("", "", f"add {body.name}"), body.passkey)
                if isinstance(proof, BoardAnswer):
                    return as_response(proof)
        ticket = self.tickets.make(_adding(who, origin), self._now())
        return _made({"ticket": ticket, "options": asked_to_make(ticket, origin, body.name, there)})

    def add(self, request: Request, body: NewPasskeyBody) -> Response:
        """Keep a passkey for who is signed in: it signs in to the same role, and never to more."""
        who, origin, now = signed_in(request.scope), passkey_origin(request), self._now()
        challenge = self.tickets.challenge(body.ticket, _adding(who, origin), now)
        facts = made(body.client, body.authenticator, challenge, origin)
        self.tickets.use_up(body.ticket, now)
        with self.home.open(looking=False) as records:
            id_ = Passkeys(records.db).add(who, site_of(origin), body.name, facts, records.clock.now())
        return _made({"id": id_})

    def passkeys(self, request: Request, known: Changed = "") -> Response:
        """Your own passkeys, for an owner all; and at which address one is added: `at`, if it is another than this."""
        who, way = signed_in(request.scope), _way(request)
        with self.home.open() as records:
            found = Passkeys(records.db).of(who)
        told = [{name: value for name, value in asdict(one).items() if name != "person"} for one in found]
        at = "" if way.origin == way.passkeys else way.passkeys
        return answered(json.dumps({"passkeys": told, "is_here": way.origin == way.passkeys, "at": at}), known)

    def delete(self, request: Request, id: Named) -> Response:  # noqa: A002
        """Delete one of your own, an owner any: whoever came by it has to sign in anew."""
        who = signed_in(request.scope)
        if self.step_up.is_on:  # without any a person adds his first one, which nothing signs
            how = f"delete a passkey at the terminal: sisimpur board --close {id}"
            raise HTTPException(403, f"grave orders are signed here (step_up), so {how}")
        with self.home.open(looking=False) as records:
            passkeys = Passkeys(records.db)
            if id not in {one.id for one in passkeys.of(who)} or not passkeys.close(id, records.clock.now()):
                raise HTTPException(404, "no passkey of yours has this name; see: passkeys")
        return Response(status_code=204)

    def _listed(self, account: str) -> ListedPerson | None:
        try:
            return self.home.listed(account)
        except TeamError:  # why is for no stranger
            raise HTTPException(503, "this home cannot be read now; type: sisimpur doctor") from None

    def _now(self) -> datetime:
        return self.home.now()


def _way(request: Request) -> Way:
    way: Way = request.scope[WAY]
    return way


def _signing_in(origin: str) -> str:
    return f"sign in at {origin}"


def _adding(who: SignedIn, origin: str) -> str:
    return f"add for {who.key} at {origin}"


def _made(value: object) -> Response:
    return Response(json.dumps(value), 201, media_type="application/json")
