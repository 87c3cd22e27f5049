"""Settings. Whatever differs between two machines comes from the environment."""

import os
from dataclasses import dataclass

TRUE = {"1", "true", "yes", "on"}


@dataclass(frozen=True)
class Config:
    secret: bytes
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 4
    debug: bool = False


def flag(text):
    """Is a setting switched on?"""
    return text in TRUE


def load(environ=None):
    """The settings of this process. Raises ValueError if one is missing or no use."""
    found = os.environ if environ is None else environ
    secret = found.get("RELAY_SECRET", "")
    if len(secret) < 8:
        raise ValueError("RELAY_SECRET: at least 8 characters")
    port = int(found.get("RELAY_PORT", "8080"))
    if not 0 < port < 65536:
        raise ValueError("RELAY_PORT: 1 to 65535")
    return Config(
        secret.encode(),
        found.get("RELAY_HOST", "127.0.0.1"),
        port,
        int(found.get("RELAY_WORKERS", "4")),
        flag(found.get("RELAY_DEBUG", "")),
    )
