"""Asking Google or GitHub who signed in there. Authlib speaks OAuth; our own adapter carries it.

So each question has one address, an end in time and in size, no redirect, no proxy, and is kept nowhere.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.base_client import BaseApp
from authlib.integrations.base_client.sync_app import OAuth2Mixin
from authlib.integrations.base_client.sync_openid import OpenIDMixin
from authlib.integrations.httpx_client import OAuth2Client
from joserfc.errors import JoseError

from sisimpur.shared.config.settings_sign_in import NUMBER
from sisimpur.shared.system.http import Http, HttpCall, NoAnswer
from sisimpur.web.api.access.oauth_begun import BegunSignIn, ProvenAccount, SignInProvider, vouched_mail

PATIENCE = 10.0  # seconds, for each of three questions
MAX_ANSWER = 64 << 10  # bytes
LEEWAY = 60  # seconds by which two clocks may differ
Why = Literal["away", "refused"]
# What a library may raise over an answer that is none; RecursionError: JSON within JSON without end.
UNUSABLE = (AuthlibBaseError, JoseError, httpx2.HTTPError, ValueError, LookupError, TypeError, AttributeError)


class CarriedCalls(httpx2.BaseTransport):
    """httpx2's way out, by our adapter. An answer that is longer than it may be is none."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        kept = ("authorization", "content-type", "accept", "user-agent")
        headers = {name: value for name, value in request.headers.items() if name in kept}
        body = {"content": request.read()} if request.method == "POST" else {}
        call = HttpCall({**headers, "accept-encoding": "identity"}, MAX_ANSWER, PATIENCE, request.method, body)
        answer = self._http.ask(str(request.url), call)
        if isinstance(answer, NoAnswer):
            raise httpx2.ConnectError(answer.why)
        if not answer.whole:
            raise ValueError("longer than it may be")
        return httpx2.Response(answer.status, headers={"content-type": answer.kind}, content=answer.body)


class AccountApp(OAuth2Mixin, OpenIDMixin, BaseApp):  # type: ignore[misc]  # Authlib has no types
    """Authlib's client without a framework: what it would keep in a session follows from the ticket."""

    client_cls = OAuth2Client


def app_of(provider: SignInProvider, client: tuple[str, str], http: Http) -> AccountApp:
    """`client`: id and secret. Where it answers is written down, not looked up."""
    return AccountApp(
        None,
        name=provider.name,
        client_id=client[0],
        client_secret=client[1],
        authorize_url=provider.authorize,
        access_token_url=provider.token,
        client_kwargs={
            "scope": provider.scope or None,
            "code_challenge_method": "S256",
            "token_endpoint_auth_method": "client_secret_post",
            "transport": CarriedCalls(http),
            "trust_env": False,
            "follow_redirects": False,
        },
        jwks_uri=provider.keys,
        id_token_signing_alg_values_supported=["RS256"],
    )


def address(app: AccountApp, provider: SignInProvider, begun: BegunSignIn, callback: str) -> str:
    """Return where the browser goes to sign in."""
    asked = {"state": begun.state, "code_verifier": begun.verifier} | ({"nonce": begun.nonce} if provider.keys else {})
    return str(app.create_authorization_url(callback, **asked)["url"])


def who(app: AccountApp, provider: SignInProvider, begun: BegunSignIn, callback: str, code: str) -> ProvenAccount | Why:
    """Exchange the code for the account's number. The provider's keys to it are forgotten at once."""
    try:
        token = app.fetch_access_token(callback, code=code, code_verifier=begun.verifier)
        claims = _signed(app, provider, begun, token) if provider.keys else _asked(app, provider, token)
    except httpx2.ConnectError:
        return "away"
    except (*UNUSABLE, RecursionError):
        return "refused"
    number = str(claims.get("sub") or "")
    return (
        ProvenAccount(provider.name, number, vouched_mail(claims))
        if re.fullmatch(NUMBER, number, re.ASCII)
        else "refused"
    )


def _signed(app: AccountApp, provider: SignInProvider, begun: BegunSignIn, token: Any) -> dict[str, object]:
    """What its signed word says: to us, now, and to this very question."""
    wanted = {
        "iss": {"essential": True, "values": list(provider.issuers)},
        "aud": {"essential": True, "value": app.client_id},
        "sub": {"essential": True},
    }
    return dict(app.parse_id_token(token, begun.nonce, claims_options=wanted, leeway=LEEWAY) or {})


def _asked(app: AccountApp, provider: SignInProvider, token: Any) -> dict[str, object]:
    answer = app.get(provider.user, token=token, headers={"accept": "application/vnd.github+json"})
    number = answer.json().get("id") if answer.status_code == 200 else None
    return {"sub": number} if isinstance(number, int) and not isinstance(number, bool) else {}
