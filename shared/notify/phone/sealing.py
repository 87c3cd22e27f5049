"""What is sent to a browser: sealed, so that its push service cannot read it (RFC 8291), and signed (RFC 8292)."""

from __future__ import annotations

import base64
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import Home, create_text, read_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

SIGNED_FOR = timedelta(hours=12)  # a service takes at most a day
SALT, AUTH, POINT, SCALAR = 16, 16, 65, 32  # bytes
RECORD = 4096  # bytes; all that we say fits into one
LONGEST = RECORD - 17  # bytes of a text: its end mark and the seal come to it


@dataclass(frozen=True)
class BrowserKeys:
    """A browser's public key and its secret, as it gave them: base64url. ValueError: they are none."""

    p256dh: str
    auth: str = field(repr=False)

    def __post_init__(self) -> None:
        from cryptography.hazmat.primitives.asymmetric import ec

        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), self.point)
        if len(self.secret) != AUTH or len(self.point) != POINT:
            raise ValueError("the keys of a subscription have another length")

    @property
    def point(self) -> bytes:
        return unpacked(self.p256dh)

    @property
    def secret(self) -> bytes:
        return unpacked(self.auth)


def sealed(text: bytes, to: BrowserKeys, once: EllipticCurvePrivateKey | None = None, salt: bytes = b"") -> bytes:
    """Return the body of a push. `once`, `salt`: for an example that is known; else new ones, as they must be."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if len(text) > LONGEST:
        raise ValueError(f"a push holds at most {LONGEST} bytes")
    once, salt = once or ec.generate_private_key(ec.SECP256R1()), salt or secrets.token_bytes(SALT)
    ours = _point(once)
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), to.point)
    shared = _derived(once.exchange(ec.ECDH(), theirs), to.secret, b"WebPush: info\0" + to.point + ours, 32)
    key = _derived(shared, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(shared, salt, b"Content-Encoding: nonce\0", 12)
    head = salt + RECORD.to_bytes(4, "big") + bytes([len(ours)]) + ours
    return head + AESGCM(key).encrypt(nonce, text + b"\x02", None)


# --- who we are ----------------------------------------------------------------------------------------------


class VapidKey:
    """Our key: services know by it that whoever sends is whom the browser allowed. Its text is a secret."""

    def __init__(self, text: str) -> None:
        from cryptography.hazmat.primitives.asymmetric import ec

        self._key = ec.derive_private_key(int.from_bytes(unpacked(text), "big"), ec.SECP256R1())

    @property
    def public(self) -> str:
        """As a browser wants it."""
        return packed(_point(self._key))

    def signed(self, service: str, subject: str, now: datetime) -> str:
        """Return the header that says who sends. `service`: its origin; `subject`: whom it may write to."""
        import jwt

        claims = {"aud": service, "exp": int((now + SIGNED_FOR).timestamp()), "sub": subject}
        return f"vapid t={jwt.encode(claims, self._key, algorithm='ES256')}, k={self.public}"


def vapid_key(home: Home) -> VapidKey:
    """Return the home's own key, made when it is first asked for: a new one would lose each browser.

    Misconfigured: what lies there is none.
    """
    from cryptography.hazmat.primitives.asymmetric import ec

    if not home.push_key.exists():
        number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
        with suppress(FileExistsError):  # the board and the team asked at once
            create_text(home.push_key, packed(number.to_bytes(SCALAR, "big")), home.temporary, 0o600)
            fault_point("phone.key")
    try:
        return VapidKey(read_text(home.push_key))
    except (ValueError, Refused):
        how = "delete it, and press *Notify this phone* again on each"
        raise Misconfigured(f"{home.push_key} holds no key of ours; {how}") from None


def packed(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unpacked(text: str) -> bytes:
    """ValueError: it is no base64url."""
    return base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), b"-_", validate=True)


def _point(key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _derived(key: bytes, salt: bytes, info: bytes, size: int) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), size, salt, info).derive(key)
