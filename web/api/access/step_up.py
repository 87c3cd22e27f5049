"""Once more, by passkey: who gives a grave order signs exactly that one, on a device that knows him.

What is signed is the digest of task, commit, ruling and a ticket, so it is worth nothing for another change, nor once
more, nor to sign in. It is kept in the order's row of the audit: anybody can see later who has signed for which commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from fastapi import Request
from starlette.exceptions import HTTPException

from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.errors import Refused
from sisimpur.web.api.access.passkey_book import Passkeys
from sisimpur.web.api.access.passkey_check import (
    PasskeyTickets,
    SignedByPasskey,
    asked_to_sign,
    challenge_of,
    signed,
    site_of,
)
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.guard import problem, signed_in
from sisimpur.web.api.base.place import WAY, Way
from sisimpur.web.api.base.sign_in import BoardAnswer, SignedIn, named

ORDER_LASTS = timedelta(minutes=5)
PARTS = ("task", "commit", "ruling")
WHY_NOT = "{why}. A passkey of yours signs once, for one task, commit and ruling, on a device that knows you"
NONE_YET = "this has to be signed with a passkey, and you have none here: register a passkey under Settings first"


@dataclass(frozen=True)
class StepUp:
    home: BoardHome
    tickets: PasskeyTickets = field(default_factory=lambda: PasskeyTickets(ORDER_LASTS))

    @property
    def is_on(self) -> bool:
        return self.home.file().step_up == "guarded"

    def proof(
        self, request: Request, records: Records, order: Sequence[str], said: SignedByPasskey | None
    ) -> Mapping[str, str] | BoardAnswer:
        """Return what shows who has signed this order, empty where none is signed; else what to sign, or why not.

        `order`: as PARTS.
        """
        if not self.is_on:
            return {}
        who, origin = signed_in(request.scope), passkey_origin(request)
        mine = Passkeys(records.db).credentials(who, site_of(origin))
        if not mine:
            return _refused(NONE_YET)
        if said is None:
            ticket = self.tickets.make(_ordering(who, origin), self.home.now())
            options = asked_to_sign(challenge_of(ticket, order), origin, ORDER_LASTS, mine)
            return _refused("sign this with your passkey", asked={"ticket": ticket, "options": options})
        try:
            return self._proof(records, who, origin, order, said)
        except Refused as why:
            return _refused(WHY_NOT.format(why=why))

    def _proof(
        self, records: Records, who: SignedIn, origin: str, order: Sequence[str], said: SignedByPasskey
    ) -> Mapping[str, str]:
        """Return what shows anybody who has signed what. Refused: nobody who may, or something else."""
        from webauthn.helpers import bytes_to_base64url

        passkeys, now, site = Passkeys(records.db), self.home.now(), site_of(origin)
        challenge = self.tickets.challenge(said.ticket, _ordering(who, origin), now, order)
        if said.credential not in passkeys.credentials(who, site):
            raise Refused("this passkey is not yours")
        key = passkeys.key_of(said.credential, site)
        count = signed(said, key, challenge, origin)
        self.tickets.use_up(said.ticket, now)
        if not passkeys.counts(said.credential, count, records.clock.now()):
            raise Refused("this passkey counts less than before: there may be a copy of it; delete it")
        told = {"passkey": named(said.credential), **dict(zip(PARTS, order, strict=True)), "nonce": said.ticket}
        return told | {"site": site, "key": bytes_to_base64url(key)} | said.model_dump(exclude={"ticket"})


def _ordering(who: SignedIn, origin: str) -> str:
    return f"order for {who.key} at {origin}"


def _refused(title: str, **more: object) -> BoardAnswer:
    return BoardAnswer(403, problem(403, title, **more).decode())


def passkey_origin(request: Request) -> str:
    """Return the origin of the board's page there. 409: browsers know no passkey by this address."""
    way: Way = request.scope[WAY]
    if way.origin != way.passkeys:
        where = f"open {way.passkeys} for that" if way.passkeys else "write a name into `url` in config/board.yaml"
        raise HTTPException(409, f"a passkey is for a name, and {way.origin} is not the one of this board; {where}")
    return way.origin
