"""Addresses of what is notified: a browser asks for it, sees whether it works, and ends it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field
from starlette.exceptions import HTTPException

from sisimpur.cli.wiring.records import Records
from sisimpur.cli.wiring.services import push_sender
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.notify.phone.phone_notifier import PhoneNotifier, PushSender
from sisimpur.shared.notify.phone.push_book import Push, PushBook
from sisimpur.shared.notify.phone.sealing import BrowserKeys
from sisimpur.web.api.base.board_answers import API, answered
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.board_openapi import KNOWN, BoardBody, Changed, Named, described
from sisimpur.web.api.base.guard import signed_in
from sisimpur.web.api.base.rights import Role, may
from sisimpur.web.api.base.sign_in import NAMED, SignedIn


class PushKeysBody(BoardBody):
    p256dh: str = Field(max_length=120)
    auth: str = Field(max_length=60)


class PushBody(BoardBody):
    """A browser's subscription. `endpoint`: where its push service takes what is for it."""

    endpoint: str = Field(max_length=1_200)
    keys: PushKeysBody
    language: Literal["en", "bn"] = "en"


@dataclass
class PushAnswer:
    """A browser that is notified. `told`: when it was last; `why`: what went wrong with the last one."""

    id: str
    service: str
    language: str
    made: str
    told: str
    why: str
    session: str
    mine: bool


@dataclass
class PushesAnswer:
    """`key`: that a browser has to allow; empty: who only looks is not notified."""

    key: str
    pushes: list[PushAnswer]


@dataclass
class PushTestAnswer:
    """`says`: the push service's answer, or why nothing could be sent."""

    taken: bool
    says: str


MakeSender = Callable[[Records], PushSender]


@dataclass(frozen=True)
class PushRoutes:
    """`make_sender`: what sends, by the home's own key."""

    home: BoardHome
    make_sender: MakeSender = push_sender
    _trying: threading.Lock = field(default_factory=threading.Lock)

    def routes(self) -> APIRouter:
        routes = APIRouter(prefix=f"{API}/pushes")
        routes.add_api_route("", self.pushes, responses=KNOWN | described(PushesAnswer))
        routes.add_api_route("", self.begin, methods=["POST"], status_code=201, responses=described(PushAnswer, 201))
        routes.add_api_route("/{id}", self.end, methods=["DELETE"], status_code=204)
        routes.add_api_route("/{id}/test", self.test, methods=["POST"], responses=described(PushTestAnswer))
        return routes

    def pushes(self, request: Request, known: Changed = "") -> Response:
        """Which browsers are notified, and the key that one has to allow; who is no owner sees only their own."""
        who = signed_in(request.scope)
        with self.home.open() as records:
            key = self.make_sender(records).key.public if may(who.role, "POST", f"{API}/pushes") else ""
            found = [_told(one, who) for one in self._theirs(who, records)]
        return answered(json.dumps(asdict(PushesAnswer(key, found))), known)

    def begin(self, request: Request, body: PushBody) -> Response:
        """Notify this browser of what waits, for as long as who asks is signed in. The same browser again: anew."""
        who = signed_in(request.scope)
        with self.home.open(looking=False) as records:
            if not self.make_sender(records).takes.fullmatch(body.endpoint):
                raise HTTPException(422, "this lies at no push service of a browser that we know")
            try:
                keys = BrowserKeys(body.keys.p256dh, body.keys.auth)
            except ValueError:
                raise HTTPException(422, "these are no keys of a browser") from None
            now = records.clock.now()
            push = PushBook(records.db).keep(who.digest, body.endpoint, keys, body.language, now)
        return Response(json.dumps(asdict(_told(push, who))), 201, media_type="application/json")

    def end(self, request: Request, id: Named) -> Response:  # noqa: A002
        """Notify it no more."""
        with self.home.open(looking=False) as records:
            PushBook(records.db).end(self._one(request, records, id).id)
        return Response(status_code=204)

    def test(self, request: Request, id: Named) -> Response:  # noqa: A002
        """Send a message that says nothing, and tell what the service answers."""
        if not self._trying.acquire(blocking=False):
            raise HTTPException(429, "another test is on its way; wait for it")
        try:
            with self.home.open(looking=False) as records:
                push = self._one(request, records, id)
                phone = PhoneNotifier(push, PushBook(records.db), self.make_sender(records))
                try:
                    taken, says = True, phone.test()
                except TeamError as problem:
                    taken, says = False, str(problem)
        finally:
            self._trying.release()
        return Response(json.dumps({"taken": taken, "says": says}), media_type="application/json")

    def _theirs(self, who: SignedIn, records: Records) -> list[Push]:
        found = PushBook(records.db).alive(records.clock.now())
        return [one for one in found if who.role is Role.OWNER or one.session == who.digest]

    def _one(self, request: Request, records: Records, id_: str) -> Push:
        """That of another is none to who is no owner."""
        found = self._theirs(signed_in(request.scope), records)
        push = next((one for one in found if one.id == id_), None)
        if push is None:
            raise HTTPException(404, "no browser of this name is notified; see: pushes")
        return push


def _told(push: Push, who: SignedIn) -> PushAnswer:
    """Nothing by which somebody could send."""
    about = (push.id, push.service, push.language, push.made, push.told, push.why)
    return PushAnswer(*about, push.session[:NAMED], push.session == who.digest)
