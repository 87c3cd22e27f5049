"""A push service on this machine, and the browsers behind it: it takes what is sent as real ones do (RFC 8030), checks
who signed it (RFC 8292), and opens it with the browser's own keys (RFC 8291), which the real ones do not have.
"""

from __future__ import annotations

import json
import secrets
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sisimpur.shared.notify.phone.sealing import BrowserKeys, packed, unpacked

LOOPBACK = "127.0.0.1"
CURVE = ec.SECP256R1()


class SinkBrowser:
    """One that has a subscription: it alone opens what comes."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._key, self._auth = ec.generate_private_key(CURVE), secrets.token_bytes(16)
        self._point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def keys(self) -> BrowserKeys:
        return BrowserKeys(packed(self._point), packed(self._auth))

    @property
    def subscription(self) -> dict[str, Any]:
        """As the page posts it."""
        return {"endpoint": self.endpoint, "keys": {"p256dh": self.keys.p256dh, "auth": self.keys.auth}}

    def opened(self, body: bytes) -> dict[str, str]:
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        theirs, box = body[21 : 21 + length], body[21 + length :]
        assert len(box) <= size == 4096 and length == 65
        shared = self._key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, theirs))
        middle = derived(shared, self._auth, b"WebPush: info\x00" + self._point + theirs, 32)
        key = derived(middle, salt, b"Content-Encoding: aes128gcm\x00", 16)
        text = AESGCM(key).decrypt(derived(middle, salt, b"Content-Encoding: nonce\x00", 12), box, None)
        assert text.endswith(b"\x02"), "the last record ends so"
        found: dict[str, str] = json.loads(text[:-1])
        return found


def derived(key: bytes, salt: bytes, info: bytes, size: int) -> bytes:
    return HKDF(SHA256(), size, salt, info).derive(key)


@dataclass
class SinkPush:
    """What came. `shown`: as the worker of the page gets it."""

    headers: dict[str, str]
    shown: dict[str, str]
    claims: dict[str, Any]


@dataclass
class PushSink:
    """`fates`: how the next calls end: a status, `lost` (taken, and not confirmed), `slow`, `huge`, `moved`."""

    tls: ssl.SSLContext
    now: float
    fates: list[str] = field(default_factory=list)
    pushes: list[SinkPush] = field(default_factory=list)
    browsers: dict[str, SinkBrowser] = field(default_factory=dict)
    tries: int = 0
    url: str = ""
    key: str = ""  # the public key that a browser allowed; empty: the first one that comes

    def browser(self) -> SinkBrowser:
        path = f"/send/{secrets.token_urlsafe(24)}"
        self.browsers[path] = SinkBrowser(self.url + path)
        return self.browsers[path]

    def shown(self) -> list[dict[str, str]]:
        """What stands on the phone now: the newest of each tag."""
        return list({one.shown["tag"]: one.shown for one in self.pushes}.values())

    @contextmanager
    def listening(self) -> Iterator[PushSink]:
        sink = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sink.answer(self)

            def log_message(self, *_: object) -> None: ...

        server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
        server.daemon_threads = True
        server.socket = self.tls.wrap_socket(server.socket, server_side=True)
        self.url = f"https://{LOOPBACK}:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()

    def answer(self, ask: BaseHTTPRequestHandler) -> None:
        self.tries += 1
        fate = self.fates.pop(0) if self.fates else "201"
        body = ask.rfile.read(int(ask.headers["content-length"]))
        if fate in ("201", "lost", "huge") and (wrong := self._take(ask, body)):
            fate = wrong
        if fate == "lost":
            ask.connection.close()
            return
        status = {"slow": 201, "huge": 201, "moved": 302}.get(fate) or int(fate.partition(" ")[0])
        ask.send_response(status)
        for name, value in (("retry-after", fate.partition(" ")[2]), ("location", self.url if fate == "moved" else "")):
            if value:
                ask.send_header(name, value)
        ask.end_headers()
        if fate == "slow":
            time.sleep(60)
        said = b"x" * (8 << 20) if fate == "huge" else f"no, not {ask.path}\r\n".encode() if status != 201 else b""
        if fate == "400 cut":  # where we read no further it is not whole
            said = b"no, " * 66 + ask.path.encode()
        with suppress(OSError):  # who reads no more has hung up
            ask.wfile.write(said)

    def _take(self, ask: BaseHTTPRequestHandler, body: bytes) -> str:
        """Take it, or return the status of who does not."""
        kind, _, rest = ask.headers["authorization"].partition(" ")
        parts = dict(one.strip().split("=", 1) for one in rest.split(","))
        self.key = self.key or parts["k"]
        if kind != "vapid" or parts["k"] != self.key:
            return "403"
        public = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, unpacked(parts["k"]))
        claims = jwt.decode(parts["t"], public, algorithms=["ES256"], audience=self.url, options={"verify_exp": False})
        assert self.now < claims["exp"] <= self.now + 86_400 and claims["sub"].startswith(("https://", "mailto:"))
        if ask.path not in self.browsers:
            return "410"
        assert ask.headers["content-encoding"] == "aes128gcm" and int(ask.headers["ttl"]) > 0
        headers = {name.lower(): value for name, value in ask.headers.items()}
        self.pushes.append(SinkPush(headers, self.browsers[ask.path].opened(body), claims))
        return ""
