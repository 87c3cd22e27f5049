"""Signatures: `<expiry>.<hex of HMAC-SHA256(secret, expiry + "." + body)>`."""

import hashlib
import hmac


def sign(secret, body, expires):
    """The signature of a body, good until `expires` (seconds since 1970)."""
    mac = hmac.new(secret, str(expires).encode() + b"." + body, hashlib.sha256)
    return f"{expires}.{mac.hexdigest()}"


def verify(secret, body, signature, now):
    """Is it ours, and still good?"""
    expires, _, _ = signature.partition(".")
    if not expires.isdecimal() or int(expires) < now:
        return False
    return hmac.compare_digest(sign(secret, body, int(expires)), signature)
