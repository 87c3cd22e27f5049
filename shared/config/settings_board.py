"""config/board.yaml: where the board listens, and by which names it is called."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from sisimpur.shared.config.settings_part import Host, SettingsPart

OURSELVES = ("127.0.0.1", "localhost", "::1")


def _address(value: str) -> str:
    """Refuse what a phone could not open, and what would carry its key in the open."""
    parts = urlsplit(value)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in OURSELVES)
    if value and (not is_safe or not parts.hostname or "@" in parts.netloc or parts.path.strip("/") or parts.query):
        raise ValueError("write the address that you type into a browser, e.g. https://team.example.net")
    return value.rstrip("/")


class BoardFile(SettingsPart):
    port: int = Field(strict=True, default=8765, ge=1024, le=65535)
    """Where it listens on this machine; its own for good: another page on it could leave a worker that answers."""
    hosts: tuple[Host, ...] = Field(default=(), max_length=20)
    """Other names than 127.0.0.1 and localhost by which it is called, e.g. behind a proxy; all others are refused."""
    url: Annotated[str, AfterValidator(_address), Field(examples=["https://team.example.net"])] = ""
    """The address that links in messages begin with; empty: messages carry no link."""
