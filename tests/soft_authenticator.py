"""An authenticator and the browser before it, in software: what a phone answers, and what an attacker would."""

from __future__ import annotations

import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, ATTESTED = 1, 4, 64  # flags of authenticator data
ES256 = -7


@dataclass
class SoftAuthenticator:
    """It answers for `origin`, whatever the options say: a browser would be stricter, an attacker is not."""

    origin: str
    site: str
    count: int = 0
    flags: int = PRESENT | VERIFIED
    credential: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))

    def makes(self, asked: dict[str, Any], public_key: bytes | None = None) -> dict[str, str]:
        """Return the body that adds it, but for its name."""
        name = len(self.credential).to_bytes(2, "big") + self.credential
        data = self._data(ATTESTED) + bytes(16) + name + (self.public_key() if public_key is None else public_key)
        client = self._client("webauthn.create", asked)
        return {"ticket": asked["ticket"], "client": told(client), "authenticator": told(data)}

    def signs(self, asked: dict[str, Any], **changed: Any) -> dict[str, str]:
        """Return the body that signs in. `changed`: words of what the browser saw that are others."""
        self.count += 1
        client, data = self._client("webauthn.get", asked, **changed), self._data()
        signature = self.key.sign(data + sha256(client).digest(), ECDSA(SHA256()))
        parts = {"credential": self.credential, "client": client, "authenticator": data, "signature": signature}
        return {"ticket": asked["ticket"], **{name: told(part) for name, part in parts.items()}}

    def public_key(self, **changed: Any) -> bytes:
        numbers = self.key.public_key().public_numbers()
        x, y = (one.to_bytes(32, "big") for one in (numbers.x, numbers.y))
        return cbor2.dumps({1: 2, 3: changed.get("alg", ES256), -1: 1, -2: changed.get("x", x), -3: y})

    def _client(self, kind: str, asked: dict[str, Any], **changed: Any) -> bytes:
        saw = {"type": kind, "challenge": asked["options"]["challenge"], "origin": self.origin, "crossOrigin": False}
        return json.dumps({**saw, **changed}).encode()

    def _data(self, more: int = 0) -> bytes:
        return sha256(self.site.encode()).digest() + bytes([self.flags | more]) + self.count.to_bytes(4, "big")


def told(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def untold(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
