"""A browser that signs in with an account, at a board behind a proxy and at providers of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2
from starlette.testclient import TestClient

from sisimpur.shared.config.settings import load_board
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.place import COOKIE, place_of
from sisimpur.web.api.board_app import make_app
from tests.journey.described import DescribedClient
from tests.journey.local_accounts import CLIENTS, LocalAccounts
from tests.journey.stage import Stage
from tests.journey.test_board import HERE, PORT

NAME, OTHER_NAME = "team.example.net", "board.example.net"
THERE = f"https://{NAME}"
PROXY = "10.0.0.2"
WAYS = ("google", "github")
BEHIND = f"url: {THERE}\nproxy: [{PROXY}]\nhosts: [{OTHER_NAME}]\n"
RAHIM = "{name: Rahim, role: reviewer, github: 12345, google: 12345}"
NOT_LET_IN = (401, 429)


@dataclass
class Phone:
    """A browser behind a proxy that speaks TLS: it keeps cookies by their names."""

    http: TestClient
    name: str = NAME
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, **headers: str) -> httpx2.Response:
        """As our own page asks."""
        return self._asked(method, path, self.cookies, headers)

    def comes(self, path: str, **headers: str) -> httpx2.Response:
        """As another site sends a browser: what is Strict stays behind."""
        sent = {name: value for name, value in self.cookies.items() if name != COOKIE}
        return self._asked("GET", path, sent, headers)

    def _asked(self, method: str, path: str, cookies: Mapping[str, str], headers: Mapping[str, str]) -> httpx2.Response:
        sent = "; ".join(f"{name}={value}" for name, value in cookies.items())
        way = {"host": self.name, "x-forwarded-proto": "https", **({"cookie": sent} if sent else {}), **headers}
        body: dict[str, str] | None = {} if method == "POST" else None
        answer = self.http.request(method, path, headers=way, json=body, follow_redirects=False)
        for one in answer.headers.get_list("set-cookie"):
            name, _, rest = one.partition("=")
            self.cookies[name] = rest.partition(";")[0]
            if "Max-Age=0" in rest:
                del self.cookies[name]
        return answer

    def leaves(self, provider: str) -> str:
        """Press the button -> the provider's address."""
        said = self.ask("POST", f"/api/v1/sign-in/{provider}", origin=f"https://{self.name}")
        assert said.status_code == 200, said.text
        address: str = said.json()["address"]
        return address

    def comes_back(self, address: str, **headers: str) -> str:
        """Where the provider sends the browser -> what our page is told."""
        parts = urlsplit(address)
        said = self.ask("GET", f"{parts.path}?{parts.query}", **{"sec-fetch-site": "cross-site", **headers})
        assert said.status_code == 303, said.text
        told = re.fullmatch(r"/#sign-in=([a-z0-9:]+)", said.headers["location"])
        assert told, f"it leads elsewhere: {said.headers['location']}"
        assert (told[1] == "done") == (f"{COOKIE}=" in "".join(said.headers.get_list("set-cookie")))
        return told[1]

    def signs_in(self, at: LocalAccounts, provider: str) -> str:
        return self.comes_back(at.sends_back(self.leaves(provider)))

    @property
    def status(self) -> int:
        return self.ask("GET", "/api/v1/status").status_code

    def reads(self, name: str) -> Any:
        answer = self.ask("GET", f"/api/v1/{name}")
        assert answer.status_code == 200, answer.text
        return answer.json()


def listing(stage: Stage, *people: str) -> None:
    clients = f"google: {CLIENTS['google']}, github: {CLIENTS['github']}"
    text = f"{BEHIND}sign_in: {{{clients}, people: [{', '.join(people)}]}}\n"
    (stage.home.config / "board.yaml").write_text(text)


def board(stage: Stage, local: LocalAccounts) -> TestClient:
    place = place_of(load_board(stage.home), PORT)
    app = make_app(BoardHome(stage.home.root, stage.clock), place, local.providers)
    return DescribedClient(app, base_url=HERE, raise_server_exceptions=False, client=(PROXY, 4711))
