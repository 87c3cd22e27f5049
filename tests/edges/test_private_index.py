"""The owner's own package index: asked with a password that only this side of the box knows."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sisimpur.agents.qa.runner.private_index import PrivateIndex
from sisimpur.shared.config.settings import read_secrets
from sisimpur.shared.model.errors import BrokenSetup, Misconfigured, Refused, Unavailable
from sisimpur.shared.sandbox.box import Box, Job, find_box
from sisimpur.shared.system.outgoing import Outgoing
from sisimpur.shared.system.paths import Home
from tests.edges.test_environment import Target, wheel

PASSWORD = "canary-7c1f@9"
QUOTED = PASSWORD.replace("@", "%40")
BASIC = f"Basic {base64.b64encode(f'owner:{PASSWORD}'.encode()).decode()}"


@dataclass
class StandIn:
    """An index that lets nobody in without the password, and names its files by their whole address, with it."""

    packages: Path
    asked: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                stand_in.asked.append((self.path, self.headers.get("Authorization", "")))
                status, kind, body = stand_in.answer(self.path, self.headers.get("Authorization", ""))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def url(self, password: str = QUOTED) -> str:
        return f"http://owner:{password}@127.0.0.1:{self.server.server_port}/team/simple/"

    def answer(self, path: str, known: str) -> tuple[int, str, bytes]:
        if known != BASIC:
            return 401, "text/html", b""
        if path.startswith("/team/files/"):
            return 200, "application/octet-stream", (self.packages / path.rpartition("/")[2]).read_bytes()
        files = [one.name for one in self.packages.glob(f"{path.split('/')[3]}-*.whl")]
        origin = self.url().replace("/team/simple/", "/team/files")
        page = "".join(f'<a href="{origin}/{name}">{name}</a>' for name in files)
        return (200 if files else 404), "text/html", page.encode()


@pytest.fixture
def target(tmp_path: Path) -> Target:
    made = Target(tmp_path / "closed")
    wheel(made.packages, "inhouse", "1.0")
    return made


@pytest.fixture
def index(target: Target) -> Iterator[StandIn]:
    with closing(StandIn(target.packages)) as made:
        yield made


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return find_box(tmp_path_factory.mktemp("box"))


SPIES = "(env; cat /proc/*/environ; python -m pip config list; cat $HOME/.netrc) > /env/seen 2>&1"


def test_a_package_is_installed_from_it_and_no_box_no_file_and_no_line_knows_the_password(
    box: Box, target: Target, index: StandIn
) -> None:
    commit = target.commit({"requirements.txt": "inhouse==1.0\n"})
    setup = f"pip install -r requirements.txt && {SPIES}; cat /env/seen"
    made = target.environments(box, setup, packages=None, private=PrivateIndex(index.url()))
    built = made.ready(commit)
    shows = "import inhouse; print(inhouse.VERSION)"
    script = f"python -c '{shows}'; env; cat /env/seen; python -m pip download inhouse || echo closed"
    found = box.run(Job(("sh", "-c", script), built.mounts, env=built.env)).text
    assert found.startswith("1.0\n")
    assert found.endswith("closed\n")
    assert "PIP_INDEX_URL=http://127.0.0.1:" in found  # what the install box was given
    assert ("/team/simple/inhouse/", BASIC) in index.asked
    kept = b"".join(path.read_bytes() for path in target.folder.rglob("*") if path.is_file() and path.suffix != ".whl")
    for secret in (PASSWORD, QUOTED, BASIC.removeprefix("Basic ")):
        assert secret not in found
        assert secret.encode() not in kept
        assert secret not in "\n".join(target.told)


@pytest.mark.parametrize(
    ("password", "told"),
    [
        pytest.param(
            "wrong", "refuses the name or password of PACKAGE_INDEX_URL in config/.env", id="a wrong password"
        ),
        pytest.param("", "refuses the name or password", id="none"),
    ],
)
def test_who_is_not_let_in_is_told_what_to_correct_and_not_the_password(
    box: Box, target: Target, index: StandIn, password: str, told: str
) -> None:
    commit = target.commit({"requirements.txt": "inhouse==1.0\n"})
    made = target.environments(box, "", packages=None, private=PrivateIndex(index.url(password)), hosts=())
    with pytest.raises((Unavailable, BrokenSetup), match=told) as problem:
        made.ready(commit)
    assert "wrong" not in str(problem.value)


INDEX = PrivateIndex("https://owner:secret@packages.example/team/simple/", "http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("asked", "passes"),
    [
        pytest.param("/team/simple/inhouse/", True, id="a page"),
        pytest.param("/team/files/a-1.whl?sig=1", True, id="a file beside the pages"),
        pytest.param("/api/user", False, id="what else the password opens"),
        pytest.param("/team/../api/user", False, id="a way up"),
        pytest.param("/team/%2e%2e/api/user", False, id="a way up, escaped"),
        pytest.param("/team/%252e%252e/api/user", False, id="a way up, escaped twice"),
    ],
)
def test_the_password_opens_what_lies_below_the_index_and_nothing_else(asked: str, passes: bool) -> None:
    header = f"GET {asked} HTTP/1.1\r\n\r\n".encode()
    if passes:
        assert INDEX.target(header) == asked
    else:
        with pytest.raises(Refused, match="does not lie below /team/"):
            INDEX.target(header)
    assert INDEX.target(b"POST /team/simple/ HTTP/1.1\r\n\r\n") is None
    assert "secret" not in repr(INDEX)


def test_a_package_that_it_does_not_have_is_looked_for_at_the_first_host_and_one_that_it_has_is_not() -> None:
    assert INDEX.beside("/team/simple/six/", ("pypi.org", "files.pythonhosted.org")) == "https://pypi.org/simple/six/"
    assert INDEX.beside("/team/files/six-1.whl", ("pypi.org",)) == ""
    assert INDEX.beside("/team/simple/six/", ()) == ""


def test_its_address_is_a_secret_and_so_is_the_password_in_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    secrets = read_secrets(home, {"PACKAGE_INDEX_URL": f"https://owner:{QUOTED}@packages.example/simple/"})
    cleaned = Outgoing(secrets.to_hide).clean(f"pip said {PASSWORD} at https://owner:{QUOTED}@packages.example/simple/")
    assert PASSWORD not in cleaned
    assert QUOTED not in cleaned
    with pytest.raises(Misconfigured, match=r"PACKAGE_INDEX_URL is no https address; write it in config/\.env"):
        read_secrets(home, {"PACKAGE_INDEX_URL": "http://owner:x@packages.example/simple/"})
