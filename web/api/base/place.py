"""How a request came: on this machine, in the open and with a key; or by the board's own name, over TLS. Pure.

Only over TLS there is a cookie: on this machine every port would get it. What a proxy says is believed of the written
addresses alone, and of what it says only that TLS was spoken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

from sisimpur.shared.config.settings_board import OURSELVES, BoardFile

COOKIE = "__Host-sisimpur"  # a browser takes one of this name only over TLS, for all paths, from this host itself
_RULES = "Path=/; Secure; HttpOnly; SameSite="
WAY = "sisimpur.way"  # where a request's scope holds how it came


@dataclass(frozen=True)
class Way:
    """How a request came. `origins`: of pages that are the board's own there; `origin`: by which of them it was called.

    `passkeys`: the origin of the page that may have passkeys there; empty: none may.
    """

    origins: frozenset[str]
    is_private: bool
    origin: str = ""
    passkeys: str = ""


@dataclass(frozen=True)
class BoardPlace:
    """By which names the board is called.

    `names`: over TLS, as a browser writes them; `proxies`: who speaks TLS for it; `is_open`: it listens beyond this
    machine.
    """

    port: int
    names: tuple[str, ...] = ()
    proxies: frozenset[str] = frozenset()
    has_tls: bool = False
    is_open: bool = False

    @property
    def here(self) -> tuple[str, ...]:
        """Its names on this machine, in the open; with TLS it has none."""
        names = () if self.has_tls else ("127.0.0.1", "localhost", "[::1]")
        return tuple(f"{name}:{self.port}" for name in names)

    @property
    def passkeys_here(self) -> str:
        """The origin of its page on this machine that may have passkeys; empty: with TLS it has none."""
        return f"http://localhost:{self.port}" if self.here else ""

    @property
    def passkeys_there(self) -> str:
        """The same over TLS; empty: it has no name."""
        own = next((name for name in self.names[:1] if _is_name(name)), "")
        return own and f"https://{own}"

    def way(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> Way | None:
        """Return how it came; None: by no way that is the board's."""
        host, came_from = headers.get("host", "").lower(), _came_from(scope)
        if host in self.names and self._is_private(scope, headers, came_from):
            return Way(frozenset({f"https://{host}"}), True, f"https://{host}", self.passkeys_there)
        if host in self.here and not (self.is_open and came_from not in OURSELVES):
            origins = frozenset(f"http://{name}" for name in self.here)
            return Way(origins, False, f"http://{host}", self.passkeys_here)
        return None

    def _is_private(self, scope: Mapping[str, Any], headers: Mapping[str, str], came_from: str) -> bool:
        if self.has_tls:
            return scope.get("scheme") in ("https", "wss")
        return came_from in self.proxies and headers.get("x-forwarded-proto", "").lower() == "https"

    def why_not(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        """Say to whom came by no way what would be one."""
        if headers.get("host", "").lower() in self.names and not self.has_tls:
            return (
                f"this came from {_came_from(scope)} without a word of TLS; if that is your proxy, write its address as"
                " `proxy` into config/board.yaml, and let it say X-Forwarded-Proto"
            )
        return f"the board answers as {' and '.join((*self.here[:2], *self.names))} only"


def place_of(file: BoardFile, port: int) -> BoardPlace:
    """`port`: where it listens; a link may name another, before a proxy."""
    if not file.is_private:
        return BoardPlace(port)
    first = called_by(file.url)
    behind = first.removeprefix(urlsplit(file.url).hostname or "")
    names = tuple(dict.fromkeys((first, *(f"{name.lower()}{behind}" for name in file.hosts))))
    is_open = not ip_address(file.listen).is_loopback
    return BoardPlace(port, names, frozenset(file.proxy), bool(file.tls.cert), is_open)


def _is_name(called: str) -> bool:
    """Tell whether it is a name, with or without a port: browsers take no passkey for an address in numbers."""
    try:
        ip_address(urlsplit(f"//{called}").hostname or "")
    except ValueError:
        return True
    return False


def called_by(url: str) -> str:
    """Return the name of an https address as a browser says it: in lower case, with its port if it is no usual one."""
    called = urlsplit(url)
    return f"{called.hostname or ''}{f':{called.port}' if called.port not in (None, 443) else ''}"


def _came_from(scope: Mapping[str, Any]) -> str:
    """Return the address at the other end of the line, whatever its headers say."""
    address = str((scope.get("client") or ("",))[0])
    try:
        found = ip_address(address)
    except ValueError:
        return address
    plain = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(plain or found)


# --- the cookie ----------------------------------------------------------------------------------------------


def cookie_with(token: str, lasts: timedelta, name: str = COOKIE, site: str = "Strict") -> str:
    """Return what a browser keeps it by. `site`: Lax: it also comes along when another site sends the browser here."""
    return f"{name}={token}; Max-Age={int(lasts.total_seconds())}; {_RULES}{site}"


def token_in(headers: Mapping[str, str], wanted: str = COOKIE) -> str:
    """Return the session's token that came as a cookie. Empty: none, or two: nobody knows who put in the other."""
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    found = [value for name, _, value in pairs if name == wanted]
    return found[0] if len(found) == 1 else ""
