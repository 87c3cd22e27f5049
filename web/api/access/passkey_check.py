"""What a browser's authenticator is asked, and whether what it answers is true. Nothing is kept but what was used.

A challenge is asked for by anybody, as often as he likes, so it costs no memory: it is the digest of a ticket that this
process has sealed, and only whoever got the ticket can name it. What was used is remembered while it lasts, and only if
a known passkey has signed it. What is signed for an order is the digest of the order, too.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field

from sisimpur.shared.model.errors import Refused
from sisimpur.web.api.access.passkey_book import PasskeyFacts
from sisimpur.web.api.base.board_openapi import BoardBody

LASTS = timedelta(minutes=2)  # to sign in
NONCE, TIME, SEAL = 16, 8, 32  # bytes of a ticket
LONGEST_TICKET = 2 * (NONCE + TIME + SEAL)  # digits
NAME = "sisimpur"  # as a phone shows it beside its passkey
WRONG = "this is no answer to what was asked: begin again"


Ticket = Annotated[str, Field(pattern=f"^[0-9a-f]{{{LONGEST_TICKET}}}$")]
Bytes = Annotated[str, Field(pattern="^[A-Za-z0-9_-]+$", max_length=2_000)]  # base64url


class SignedByPasskey(BoardBody):
    """What a passkey has signed: to sign in, or for an order; with the ticket that came with the question."""

    ticket: Ticket
    credential: Bytes
    client: Bytes  # what the browser saw: challenge and origin, in JSON
    authenticator: Bytes  # for which site, whether somebody was known, how often
    signature: Bytes


@dataclass
class PasskeyTickets:
    """What was asked of browsers of late. A new process knows none of the one before: they begin again."""

    lasts: timedelta = LASTS
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(SEAL), repr=False)
    _used: dict[str, datetime] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def make(self, purpose: str, now: datetime) -> str:
        """Return one for this purpose alone: what, where, and for whom."""
        body = secrets.token_bytes(NONCE) + int((now + self.lasts).timestamp() * 1000).to_bytes(TIME, "big")
        return (body + self._seal(body, purpose)).hex()

    def challenge(self, ticket: str, purpose: str, now: datetime, order: Sequence[str] = ()) -> bytes:
        """Return what its browser was asked to sign. Refused: it is not ours, too old, used, or for another."""
        try:
            whole = bytes.fromhex(ticket)
        except ValueError:
            raise Refused(WRONG) from None
        body, seal = whole[: NONCE + TIME], whole[NONCE + TIME :]
        if not hmac.compare_digest(seal, self._seal(body, purpose)):
            raise Refused(WRONG)
        left = int.from_bytes(body[NONCE:], "big") / 1000 - now.timestamp()
        if not 0 <= left <= self.lasts.total_seconds():
            raise Refused("it took too long: begin again")
        if ticket in self._used:
            raise Refused("this was used: begin again")
        return challenge_of(ticket, order)

    def use_up(self, ticket: str, now: datetime) -> None:
        """Refused: somebody was faster."""
        with self._lock:
            for old in [one for one, until in self._used.items() if until < now]:
                del self._used[old]
            if ticket in self._used:
                raise Refused("this was used: begin again")
            self._used[ticket] = now + self.lasts

    def _seal(self, body: bytes, purpose: str) -> bytes:
        return hmac.digest(self._key, body + purpose.encode(), "sha256")


def challenge_of(ticket: str, order: Sequence[str] = ()) -> bytes:
    """Return it. Whoever reads it in what was signed does not know the ticket.

    `order`: what is signed for, if it is no sign-in: task, commit, ruling. As a JSON array nothing runs together.
    """
    return sha256((json.dumps([*order, ticket]) if order else ticket).encode()).digest()


def site_of(origin: str) -> str:
    """Return the host name that a passkey of this origin is for."""
    return urlsplit(origin).hostname or ""


# --- what is asked -------------------------------------------------------------------------------------------


def asked_to_sign(challenge: bytes, origin: str, lasts: timedelta, mine: Sequence[str] = ()) -> dict[str, Any]:
    """Return the options of `navigator.credentials.get`. `mine`: which may sign; a stranger is told of none."""
    from webauthn import base64url_to_bytes, generate_authentication_options
    from webauthn.helpers.options_to_json_dict import options_to_json_dict
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor, UserVerificationRequirement

    options = generate_authentication_options(
        rp_id=site_of(origin),
        challenge=challenge,
        timeout=_milliseconds(lasts),
        allow_credentials=[PublicKeyCredentialDescriptor(id=base64url_to_bytes(one)) for one in mine],
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return options_to_json_dict(options)


def asked_to_make(ticket: str, origin: str, name: str, there: Sequence[str]) -> dict[str, Any]:
    """Return the options of `navigator.credentials.create`. `there`: credentials that no second one is made beside.

    Its user handle is made up and forgotten: one credential is one row of ours, and a page on another port of this
    machine does not know it, so that it cannot put its own passkey in its place without being signed for first.
    """
    from webauthn import base64url_to_bytes, generate_registration_options
    from webauthn.helpers.options_to_json_dict import options_to_json_dict
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    options = generate_registration_options(
        rp_id=site_of(origin),
        rp_name=NAME,
        user_name=name,
        challenge=challenge_of(ticket),
        timeout=_milliseconds(LASTS),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=base64url_to_bytes(one)) for one in there],
    )
    return options_to_json_dict(options)


def _milliseconds(lasts: timedelta) -> int:
    return int(lasts.total_seconds() * 1000)


# --- what is answered ----------------------------------------------------------------------------------------


def made(client: str, authenticator: str, challenge: bytes, origin: str) -> PasskeyFacts:
    """Return what is kept of a new passkey. Texts are base64url, as the browser has sent them.

    Who vouches for its authenticator was not asked, and is not read: that alone would be a parser for six formats.
    """
    from webauthn import base64url_to_bytes, verify_registration_response
    from webauthn.helpers import bytes_to_base64url, decode_credential_public_key, decoded_public_key_to_cryptography
    from webauthn.helpers.encode_cbor import encode_cbor
    from webauthn.helpers.structs import AuthenticatorAttestationResponse, RegistrationCredential

    with _refused_else():
        attested = {"fmt": "none", "attStmt": {}, "authData": base64url_to_bytes(authenticator)}
        response = AuthenticatorAttestationResponse(base64url_to_bytes(client), encode_cbor(attested))
        found = verify_registration_response(
            credential=RegistrationCredential(id="", raw_id=b"", response=response),
            expected_challenge=challenge,
            expected_rp_id=site_of(origin),
            expected_origin=origin,
            require_user_verification=True,
        )
        decoded_public_key_to_cryptography(decode_credential_public_key(found.credential_public_key))  # it is a key
        return PasskeyFacts(bytes_to_base64url(found.credential_id), found.credential_public_key, found.sign_count)


def signed(answer: SignedByPasskey, public_key: bytes, challenge: bytes, origin: str) -> int:
    """Return how often the passkey has signed, as its authenticator says. Whether that went back the book tells."""
    from webauthn import base64url_to_bytes, verify_authentication_response
    from webauthn.helpers.structs import AuthenticationCredential, AuthenticatorAssertionResponse

    with _refused_else():
        response = AuthenticatorAssertionResponse(
            base64url_to_bytes(answer.client),
            base64url_to_bytes(answer.authenticator),
            base64url_to_bytes(answer.signature),
        )
        found = verify_authentication_response(
            credential=AuthenticationCredential(answer.credential, base64url_to_bytes(answer.credential), response),
            expected_challenge=challenge,
            expected_rp_id=site_of(origin),
            expected_origin=origin,
            credential_public_key=public_key,
            credential_current_sign_count=0,  # the library compares it before it knows who has signed
            require_user_verification=True,
        )
        return found.new_sign_count


@contextmanager
def _refused_else() -> Iterator[None]:
    """Strangers choose the bytes: what four libraries make of them is one answer, and no bug of ours."""
    try:
        yield
    except Exception as error:  # they have no common name: KeyError of a map, ValueError of a curve
        raise Refused(WRONG) from error
