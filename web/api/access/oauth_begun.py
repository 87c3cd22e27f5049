"""A sign-in that began in one browser, and whom its end names. Pure.

No row is kept of it: a stranger begins as many as he likes, and would write into the books. What the browser keeps is
a ticket that says nothing; the state, the nonce and the verifier follow from it and from a key that ends with the
process. So whoever comes back with a state that is not his ticket's began elsewhere, too long ago, or at the other one.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sisimpur.shared.config.settings_sign_in import GITHUB, GOOGLE, SignInSettings

LASTS = timedelta(minutes=10)
BEGUN = "__Host-sisimpur-begun"  # the cookie that holds the ticket; only the way back brings it along from another site
VOUCHED = "gmail.com"  # Google knows whose its own addresses are; of another it was told once, by whoever had it then


@dataclass(frozen=True)
class SignInProvider:
    """Where it answers. `keys`: what it signs its word with, as one of `issuers`; without: it is asked at `user`."""

    name: str
    authorize: str
    token: str
    scope: str = ""
    user: str = ""
    keys: str = ""
    issuers: tuple[str, ...] = ()


PROVIDERS = (
    SignInProvider(
        GOOGLE,
        authorize="https://accounts.google.com/o/oauth2/v2/auth",
        token="https://oauth2.googleapis.com/token",  # noqa: S106 (an address)
        scope="openid email",
        keys="https://www.googleapis.com/oauth2/v3/certs",
        issuers=("https://accounts.google.com", "accounts.google.com"),
    ),
    SignInProvider(
        GITHUB,
        authorize="https://github.com/login/oauth/authorize",
        token="https://github.com/login/oauth/access_token",  # noqa: S106 (an address)
        user="https://api.github.com/user",  # without a scope: what everybody sees
    ),
)


@dataclass(frozen=True)
class BegunSignIn:
    """`state`, `nonce`, `verifier`: 256 bits each, of the ticket and the board's key."""

    ticket: str
    state: str
    nonce: str
    verifier: str


def begin(key: bytes, provider: str, now: datetime) -> BegunSignIn:
    until = int((now + LASTS).astimezone(UTC).timestamp())
    return _of(key, f"{provider}.{until}.{secrets.token_urlsafe(32)}")


def taken_up(key: bytes, provider: str, ticket: str, state: str, now: datetime) -> BegunSignIn | None:
    """Return what this browser began with this provider. None: nothing, or it is too old, or the state is another's."""
    began, _, rest = ticket.partition(".")
    until = rest.partition(".")[0]
    one = _of(key, ticket)
    is_its = hmac.compare_digest(one.state.encode(), state.encode("utf-8", "replace"))
    if not is_its or began != provider or int(until) < now.timestamp():  # it is ours, so there is a number
        return None
    return one


def _of(key: bytes, ticket: str) -> BegunSignIn:
    def made(what: str) -> str:
        return urlsafe_b64encode(hmac.digest(key, f"{what} {ticket}".encode(), "sha256")).decode().rstrip("=")

    return BegunSignIn(ticket, made("state"), made("nonce"), made("verifier"))


# --- who it was ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProvenAccount:
    """What a provider says of who signed in there. `mail`: an address for which Google itself vouches; empty: none."""

    way: str
    number: str
    mail: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.way}:{one}" for one in (self.number, self.mail) if one)


def vouched_mail(claims: dict[str, object]) -> str:
    """Return the address that may stand for the account: verified, and Google's own or of a domain that it serves."""
    mail, domain = claims.get("email"), claims.get("hd")
    if not isinstance(mail, str) or not mail.isascii() or claims.get("email_verified") is not True:
        return ""
    of = mail.lower().rpartition("@")[2]
    return mail.lower() if of in (VOUCHED, str(domain or "").lower()) else ""


def listed_as(account: ProvenAccount, people: SignInSettings) -> str:
    """Return the name under which this account stands in the list; empty: it does not."""
    return next((name for name in account.names if people.listed(name)), "")
