"""A Google and a GitHub of our own: OAuth with PKCE, signed words on who it is, and ways to get each of it wrong.

What RFC 6749, 7636 and OpenID Connect Core 3.1 want of a provider is checked of us; the two real ones were not tried.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from sisimpur.web.api.access.oauth_begun import SignInProvider

SECRETS = {"google": "GOCSPX-of-a-local-google", "github": "secret-of-a-local-github"}
CLIENTS = {"google": "one.apps.local", "github": "Ov23local"}
ISSUER = "https://accounts.google.com"
Change = Callable[[dict[str, Any]], dict[str, Any]]


def unchanged(said: dict[str, Any]) -> dict[str, Any]:
    return said


def signed_by(key: RSAKey, name: str = "one") -> Callable[[dict[str, Any]], str]:
    return lambda said: jwt.encode({"alg": "RS256", "kid": name}, said, key, algorithms=["RS256"])


def forged_by(algorithm: str, secret: bytes) -> Callable[[dict[str, Any]], str]:
    """As no library signs: with nothing, or with what everybody knows as if it were a secret."""

    def packed(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    def word(said: dict[str, Any]) -> str:
        body = f"{packed(json.dumps({'alg': algorithm, 'kid': 'one'}).encode())}.{packed(json.dumps(said).encode())}"
        return f"{body}.{packed(hmac.digest(secret, body.encode(), 'sha256')) if secret else ''}"

    return word


@dataclass
class Grant:
    """What a code stands for."""

    provider: str
    asked: Mapping[str, str]
    is_used: bool = False


@dataclass
class LocalAccounts:
    """`user`: who is signed in there. `claims`, `token`, `account`: what is changed of what it says.

    `word`: how it is signed. `answers`: instead of all that, by path.

    `asked`: paths, in their order.
    """

    user: dict[str, Any] = field(default_factory=lambda: {"sub": "12345", "email": "rahim@gmail.com"})
    claims: Change = unchanged
    token: Change = unchanged
    account: Change = unchanged
    answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=dict)
    callbacks: tuple[str, ...] = ()
    asked: list[str] = field(default_factory=list)
    grants: dict[str, Grant] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    url: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"}))
    word: Callable[[dict[str, Any]], str] | None = None  # how it is signed, if not as it ought to be

    @property
    def providers(self) -> tuple[SignInProvider, ...]:
        google = SignInProvider(
            "google",
            f"{self.url}/google/authorize",
            f"{self.url}/google/token",
            "openid email",
            keys=f"{self.url}/google/keys",
            issuers=(ISSUER,),
        )
        github = SignInProvider(
            "github", f"{self.url}/github/authorize", f"{self.url}/github/token", user=f"{self.url}/github/user"
        )
        return google, github

    def sends_back(self, address: str) -> str:
        """Press "allow" there -> where the browser goes."""
        parts = urlsplit(address)
        return self._allowed(parts.path.split("/")[1], dict(parse_qsl(parts.query, strict_parsing=True)))

    def _allowed(self, provider: str, asked: dict[str, str]) -> str:
        assert asked["response_type"] == "code" and asked["client_id"] == CLIENTS[provider], asked
        assert asked["redirect_uri"] in self.callbacks, "a provider sends nobody anywhere else"
        assert asked["code_challenge_method"] == "S256" and len(asked["code_challenge"]) == 43, asked
        assert len(asked["state"]) >= 32 and "code_verifier" not in asked
        assert ("openid" in asked.get("scope", "").split()) == (provider == "google") == ("nonce" in asked), asked
        code = secrets.token_urlsafe(16)
        self.grants[code] = Grant(provider, asked)
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    # --- what is asked of it -------------------------------------------------------------------------------

    def exchange(self, provider: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """A code for a token, once, and only for who began."""
        wrong = (400 if provider == "google" else 200), {"error": "invalid_grant", "error_description": "no"}
        grant = self.grants.get(form.get("code", ""))
        if (form.get("client_id"), form.get("client_secret")) != (CLIENTS[provider], SECRETS[provider]):
            return 401, {"error": "invalid_client"}
        if grant is None or grant.is_used or grant.provider != provider:
            return wrong
        grant.is_used = True
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != grant.asked["code_challenge"]:
            return wrong
        if form.get("grant_type") != "authorization_code" or form.get("redirect_uri") != grant.asked["redirect_uri"]:
            return wrong
        key = secrets.token_urlsafe(16)
        self.tokens.add(key)
        said: dict[str, Any] = {"access_token": key, "token_type": "Bearer" if provider == "google" else "bearer"}
        if provider == "google":
            said |= {"expires_in": 3599, "scope": "openid email", "id_token": self._word(grant.asked["nonce"])}
        return 200, self.token(said)

    def _word(self, nonce: str) -> str:
        now = int(time.time())
        whole = {"iss": ISSUER, "aud": CLIENTS["google"], "azp": CLIENTS["google"], "iat": now, "exp": now + 3600}
        said = {**whole, **self.user, "email_verified": True, "nonce": nonce}
        return (self.word or signed_by(self.key))(self.claims(said))

    def answer(self, method: str, path: str, body: str, authorization: str) -> tuple[int, Any]:
        match method, path:
            case "POST", "/google/token" | "/github/token":
                return self.exchange(path.split("/")[1], dict(parse_qsl(body)))
            case "GET", "/google/keys":
                return 200, {"keys": [self.key.as_dict(private=False)]}
            case "GET", "/github/user":
                if authorization.removeprefix("Bearer ") not in self.tokens:
                    return 401, {"message": "Bad credentials"}
                return 200, self.account({"login": "rahim-dev", "id": int(self.user["sub"]), "type": "User"})
        return 404, {}


# --- the wire ------------------------------------------------------------------------------------------------


def _handler(local: LocalAccounts) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            if path.endswith("/authorize"):
                self.send_response(302)
                self.send_header("location", local._allowed(path.split("/")[1], dict(parse_qsl(query))))
                self.end_headers()
                return
            self._told("")

        def do_POST(self) -> None:
            self._told(self.rfile.read(int(self.headers.get("content-length", "0"))).decode())

        def _told(self, body: str) -> None:
            local.asked.append(self.path)
            if instead := local.answers.get(self.path):
                instead(self)
                return
            status, said = local.answer(self.command, self.path, body, self.headers.get("authorization", ""))
            says(said, status)(self)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def says(said: Any, status: int = 200, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    """An answer as it stands. `said`: bytes, or what becomes JSON."""

    def tell(line: BaseHTTPRequestHandler) -> None:
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        line.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
            line.send_header(name.replace("_", "-"), value)
        line.end_headers()
        line.wfile.write(data)

    return tell


@contextmanager
def serving(local: LocalAccounts) -> Iterator[LocalAccounts]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(local)) as server:
        server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        local.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield local
        finally:
            server.shutdown()
            thread.join()
