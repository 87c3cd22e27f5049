"""The recipe for the phone, as docs/phone.md has it: Caddy with a local certificate in front of a real board."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.exceptions import InvalidStatus

from tests.journey.board_process import free_port, served, socket_to
from tests.journey.gated import FILES, VISION
from tests.journey.stage import Stage

RECIPE = (Path(__file__).parents[2] / "docs" / "phone.md").read_text("utf-8")
CADDY = shutil.which("caddy") or ""
LONGEST = 30.0  # seconds; a busy machine is slow
HERE_ALONE = """{{
    admin off
    skip_install_trust
    auto_https disable_redirects
    default_bind 127.0.0.1
    https_port {port}
    storage file_system {folder}
}}
"""

pytestmark = pytest.mark.skipif(not CADDY, reason="missing: caddy (apt-get install caddy)")


def block(first: str) -> str:
    """What the page says to write into a file that begins so."""
    (found,) = re.findall(rf"^```[a-z]*\n(# {re.escape(first)}\n.*?)^```", RECIPE, re.MULTILINE | re.DOTALL)
    return str(found)


@dataclass
class Phone:
    """Whoever trusts Caddy's own authority, and finds the name at this machine."""

    port: int
    name: str
    trusted: ssl.SSLContext

    @property
    def origin(self) -> str:
        return f"https://{self.name}:{self.port}"

    def ask(self, method: str, path: str, **more: Any) -> httpx2.Response:
        more["headers"] = {"host": f"{self.name}:{self.port}", **more.get("headers", {})}
        with httpx2.Client(verify=self.trusted, trust_env=False, timeout=LONGEST) as http:
            about = {"sni_hostname": self.name}
            return http.request(method, f"https://127.0.0.1:{self.port}{path}", extensions=about, **more)


@contextmanager
def caddy(folder: Path, recipe: str, port: int) -> Iterator[Path]:
    """Yields the certificate of its authority."""
    file, authority = folder / "Caddyfile", folder / "data" / "pki" / "authorities" / "local" / "root.crt"
    file.write_text(HERE_ALONE.format(port=port, folder=folder / "data") + recipe)
    typed = (CADDY, "run", "--config", str(file), "--adapter", "caddyfile")
    with (folder / "caddy.log").open("w") as log:
        process = subprocess.Popen(typed, stdout=log, stderr=log, env={"HOME": str(folder), "PATH": "/usr/bin:/bin"})
    try:
        until = time.monotonic() + LONGEST
        named = folder / "data" / "certificates" / "local"  # made a moment after it begins to serve
        while not (authority.exists() and any(named.glob("*/*.json"))):
            assert process.poll() is None and time.monotonic() < until, (folder / "caddy.log").read_text()
            time.sleep(0.05)
        yield authority
    finally:
        process.terminate()
        process.wait(LONGEST)


def _answers(phone: Phone) -> bool:
    try:
        return phone.ask("GET", "/").is_success
    except httpx2.ConnectError:
        time.sleep(0.05)
        return False


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[tuple[Phone, str]]:
    """With the code of a link that signs in."""
    home, mine, theirs = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES).home, free_port(), free_port()
    settings, recipe = block("config/board.yaml, behind Caddy"), block("/etc/caddy/Caddyfile")
    (name,) = re.findall(r"^url: https://(\S+)$", settings, re.MULTILINE)
    assert f"\n{name} {{\n" in recipe, "one name in both files"
    (home.config / "board.yaml").write_text(settings.replace(name, f"{name}:{theirs}"))
    with (
        served(home.root, mine) as board,
        caddy(tmp_path, recipe.replace("127.0.0.1:8765", f"127.0.0.1:{mine}"), theirs) as authority,
    ):
        one, until = Phone(theirs, name, ssl.create_default_context(cafile=str(authority))), time.monotonic() + LONGEST
        while not _answers(one):  # its name's certificate is taken up a moment after it was made
            assert time.monotonic() < until
        yield one, board.link.partition("#code=")[2]


def test_through_caddy_a_phone_signs_in_with_a_cookie_and_hears_news(phone: tuple[Phone, str]) -> None:
    one, code = phone
    page = one.ask("GET", "/")
    assert page.status_code == 200 and "<script" in page.text
    said = one.ask("POST", "/api/v1/session", json={"code": code}, headers={"origin": one.origin})
    assert said.status_code == 201, said.text
    cookie, *how = said.headers["set-cookie"].split("; ")
    assert cookie.startswith("__Host-") and {"Secure", "HttpOnly"} <= set(how), how
    assert cookie.partition("=")[2] not in said.text
    mine = {"cookie": cookie}
    assert one.ask("GET", "/api/v1/status", headers=mine).status_code == 200
    assert one.ask("GET", "/api/v1/status").status_code == 401, "the cookie it was"
    foreign = {**mine, "origin": "https://evil.example", "idempotency-key": "press-0001"}
    assert one.ask("POST", "/api/v1/deploys/pause", json={}, headers=foreign).status_code == 403
    headers = {"host": f"{one.name}:{one.port}", **mine}
    with (
        httpx2.Client(verify=one.trusted, trust_env=False, timeout=LONGEST) as http,
        http.stream(
            "GET",
            f"https://127.0.0.1:{one.port}/api/v1/news",
            headers=headers,
            extensions={"sni_hostname": one.name},
        ) as news,
    ):
        assert news.status_code == 200
        assert "data" in next(text for text in news.iter_text() if "data" in text), "it is handed on at once"
    for own, status in ({**mine, "origin": one.origin}, 0), ({**mine, "origin": "https://evil.example"}, 403):
        with socket.create_connection(("127.0.0.1", one.port)) as line:
            assert _by_socket(one, line, own) == status


def _by_socket(phone: Phone, line: socket.socket, headers: dict[str, str]) -> int:
    """0: it hears; else with what it was refused."""
    try:
        with socket_to(phone.origin, headers, None, sock=line, ssl=phone.trusted) as news:
            news.send("{}")
            return 0 if "beat" in str(news.recv(LONGEST)) else -1
    except InvalidStatus as refused:
        return refused.response.status_code


def test_whoever_does_not_trust_its_authority_says_nothing_to_it(phone: tuple[Phone, str]) -> None:
    stranger = Phone(phone[0].port, phone[0].name, ssl.create_default_context())
    with pytest.raises(httpx2.ConnectError, match="certificate"):
        stranger.ask("GET", "/")
