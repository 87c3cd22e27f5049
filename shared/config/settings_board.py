"""config/board.yaml: where the board listens, and by which names it is called."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from sisimpur.shared.config.settings_part import Host, SettingsPart
from sisimpur.shared.config.settings_sign_in import SignInSettings

OURSELVES = ("127.0.0.1", "localhost", "::1")


def _address(value: str) -> str:
    """Refuse what a phone could not open, and what would carry its key in the open."""
    parts = urlsplit(value)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in OURSELVES)
    if value and (not is_safe or not parts.hostname or "@" in parts.netloc or parts.path.strip("/") or parts.query):
        raise ValueError("write the address that you type into a browser, e.g. https://team.example.net")
    return value.rstrip("/")


def _number(value: str) -> str:
    try:
        return str(ip_address(value))
    except ValueError:
        raise ValueError("write an address in numbers, e.g. 127.0.0.1") from None


Number = Annotated[str, AfterValidator(_number), Field(max_length=45, examples=["127.0.0.1"])]


class BoardTls(SettingsPart):
    cert: str = Field(default="", max_length=500, examples=["/etc/ssl/team.pem"])
    """The certificate with its chain (PEM); empty: the board speaks no TLS itself."""
    key: str = Field(default="", max_length=500, examples=["/etc/ssl/team.key"])
    """Its key (PEM)."""


class BoardFile(SettingsPart):
    port: int = Field(strict=True, default=8765, ge=1024, le=65535)
    """Where it listens on this machine; its own for good: another page on it could leave a worker that answers."""
    listen: Number = "127.0.0.1"
    """On which address of this machine; beyond the machine itself only with `tls` or `proxy`."""
    hosts: tuple[Host, ...] = Field(default=(), max_length=20)
    """Other names than that of `url` by which it is called over TLS; all others are refused."""
    url: Annotated[str, AfterValidator(_address), Field(examples=["https://team.example.net"])] = ""
    """The address that links in messages begin with; empty: messages carry no link."""
    proxy: tuple[Number, ...] = Field(default=(), max_length=8)
    """From which addresses a proxy comes that speaks TLS for `url`, e.g. Caddy; nobody else is believed."""
    tls: BoardTls = BoardTls()
    """With it the board speaks TLS itself, and nothing else."""
    sign_in: SignInSettings = SignInSettings()
    """Accounts at Google and GitHub that let somebody in; nobody by default."""
    step_up: Literal["off", "guarded"] = "off"
    """`guarded`: changes of protected or guarded paths, and what decides about money and merges, want a passkey."""

    @property
    def is_private(self) -> bool:
        """Whether somebody speaks TLS for it, so that it may be called from elsewhere."""
        return bool(self.proxy or self.tls.cert)

    @model_validator(mode="after")
    def _nothing_in_the_open(self) -> Self:
        if bool(self.tls.cert) != bool(self.tls.key):
            raise ValueError("tls: write both, cert and key")
        if self.tls.cert and self.proxy:
            raise ValueError("write tls or proxy: one of them speaks TLS")
        if self.is_private and not self.url.startswith("https://"):
            raise ValueError("write url as well, with https: by this name the board is called")
        if self.is_private and urlsplit(self.url).hostname in OURSELVES:
            raise ValueError("url: a name of its own, not this machine's: every port of it gets the cookie")
        if not self.is_private and not ip_address(self.listen).is_loopback:
            raise ValueError(f"listen: beyond this machine ({self.listen}) only with tls or proxy; see docs/phone.md")
        if self.sign_in.ways and not self.is_private:
            raise ValueError("sign_in: write url with https:, and tls or proxy: an account signs in over TLS alone")
        return self
