"""A Docker engine for tests: a base image made of this machine's own Python, and an app that behaves as a file says.

Nothing comes from a registry. The base image is made once per machine and stays (its name says of what it was made);
everything else carries the label of a home of its own and goes with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import io
import json
import os
import re
import secrets
import socket
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest

from sisimpur.agents.devops.docker.docker_engine import connected, found
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.system.process import run

T = TypeVar("T")

BASE = "sisimpur-test-base"
HOME = "sisimpur.home"  # the label of all that is ours
MODULES = "encodings.idna, http.server, json, pathlib, runpy, signal, sqlite3, subprocess, urllib.request, zlib"
SAID = (
    "ENV PATH=/usr/local/bin:/usr/bin:/bin",
    "WORKDIR /app",
    'CMD ["python3", "app.py"]',
)  # each is a step less later
LEFT_OUT = ("ssl", "_ssl", "_hashlib")  # of what they import: large, and they do without

Kind = Literal[
    "healthy",
    "exits",  # with 3, as soon as it is up
    "sick",  # every page is a 500, but for /healthz/
    "dies",  # with 4, after `seconds`
    "flaps",  # every other request is a 500
    "stubborn",  # nothing ends it but KILL
    "says",  # prints `text`, and is well
    "unbuildable",  # its Dockerfile ends with 7
    "slow",  # answers after `seconds`
]

PORTS = range(20_000, 32_000)


def engine_or_skip() -> Any:
    """A client of the engine's API; the test is skipped, with the reason, where none answers."""
    reason = _reason()
    if reason:
        pytest.skip(reason)
    return client()


def client() -> Any:
    return found(os.environ)


@functools.cache
def _reason() -> str:
    """Why no engine can be used; empty: one answers."""
    try:
        with connected(os.environ):
            return ""
    except TeamError as error:
        return f"no Docker engine answers: {error}"[:200]


# --- the base image ------------------------------------------------------------------------------------------


@functools.cache
def base_image() -> str:
    """The name of an image with python3 and sh, and nothing else; made if it is not there."""
    name = f"{BASE}:{_digest()}"
    lock = Path(tempfile.gettempdir(), f"{BASE}-{os.getuid()}.lock")
    with contextlib.closing(client()) as engine, lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # several workers of one suite want it at the same moment
        if not engine.images(name=name):
            engine.import_image_from_data(_tar(), *name.split(":"), changes=list(SAID))
    return name


def _digest() -> str:
    program = _program().stat()
    parts = (sys.version, str(_program()), program.st_mtime_ns, MODULES, SAID, LEFT_OUT)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def _program() -> Path:
    return Path(sys.executable).resolve()


def _tar() -> bytes:
    """Everything keeps its place, so that Python finds what is its own."""
    shell = Path("/bin/sh").resolve()
    modules = _modules()
    programs = [_program(), shell, *(path for path in modules if path.suffix == ".so")]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for folder in ("tmp", "etc", "usr/local/bin", f"{_library()}/lib-dynload"):
            tar.addfile(_folder(folder))
        for path in sorted({*programs[:2], *modules, *_libraries(programs)}):
            _add(tar, path)
        for name, target in (("bin/sh", shell), ("usr/local/bin/python3", _program())):
            tar.addfile(_link(name, target))
        _add_text(tar, "etc/passwd", "root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    return packed.getvalue()


def _library() -> Path:
    return Path(os.__file__).resolve().parent


def _modules() -> list[Path]:
    """Of the standard library, as far as MODULES need it, with what was compiled of it."""
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({LEFT_OUT!r}))\n"
        f"import {MODULES}\n"
        "for m in list(sys.modules.values()):\n"
        "    for name in ('__file__', '__cached__'): print(getattr(m, name, None) or '')"
    )
    said = run([str(_program()), "-I", "-S", "-c", code], env={}, timeout=60)
    assert said.ok, said.complaint
    found = {Path(line) for line in said.text.splitlines() if line} | {Path(os.__file__)}
    found |= set((_library() / "encodings").rglob("*.py"))
    return sorted(path for path in found if path.is_file())


def _libraries(programs: list[Path]) -> set[Path]:
    found: set[Path] = set()
    for program in programs:
        said = run(["ldd", str(program)], env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}, timeout=60)
        found |= {Path(name) for name in re.findall(r"(/\S+) \(0x", said.text)}
    return found


def _add(tar: tarfile.TarFile, path: Path) -> None:
    info = tarfile.TarInfo(str(path).lstrip("/"))
    info.size, info.mtime, info.mode = path.stat().st_size, int(path.stat().st_mtime), 0o755
    with path.open("rb") as file:
        tar.addfile(info, file)


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(text), 0o644
    tar.addfile(info, io.BytesIO(text.encode()))


def _folder(name: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name.lstrip("/"))
    info.type, info.mode = tarfile.DIRTYPE, 0o777 if name == "tmp" else 0o755
    return info


def _link(name: str, target: Path) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, str(target)
    return info


# --- the app -------------------------------------------------------------------------------------------------

DOCKERFILE = """FROM {base}
COPY . /app
"""
COMPLAINT = "the flux compensator is missing"
BROKEN = f'RUN echo "{COMPLAINT}" >&2; exit 7\n'

SERVER = '''"""Pages that behave as behaviour.json beside this file says, at HOST:PORT. /kept counts what was kept."""
import json, os, signal, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

how = json.loads(Path(__file__).with_name("behaviour.json").read_text())
kind, asked = how["kind"], 0
print("begins:", how["text"], flush=True)
signal.signal(signal.SIGTERM, signal.SIG_IGN if kind == "stubborn" else lambda *_: sys.exit(0))
if kind == "exits":
    print("gives up", flush=True)
    sys.exit(3)
if kind == "slow":
    time.sleep(how["seconds"])
if kind == "dies":
    signal.signal(signal.SIGALRM, lambda *_: os._exit(4))
    signal.setitimer(signal.ITIMER_REAL, how["seconds"])


def kept():
    with open("/kept/count", "a") as file:
        file.write("x")
        return file.tell()


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        global asked
        asked += 1
        bad = (kind == "sick" and self.path != "/healthz/") or (kind == "flaps" and asked % 2 == 0)
        pages = {"/env": lambda: json.dumps(dict(os.environ)), "/kept": kept, "/healthz/": lambda: "ok"}
        body = str("broken" if bad else pages.get(self.path, lambda: how["text"])()).encode()
        self.send_response(500 if bad else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer((os.environ.get("HOST", "0.0.0.0"), int(os.environ.get("PORT", "8000"))), Page).serve_forever()
'''


@dataclass(frozen=True)
class App:
    """How a version of the app behaves. `text`: what its pages say, and its log; given by `Releases.add` if empty."""

    kind: Kind = "healthy"
    seconds: float = 1.0
    text: str = ""


class Releases:
    """Commits, each a folder below `folder`. Knows nothing by heart: another process may open it, too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True, parents=True)

    def add(self, app: App | Kind = "healthy", files: Mapping[str, str] | None = None) -> str:
        """A new commit -> its id. `files` are written over the app's own."""
        app = App(app) if isinstance(app, str) else app
        number = sum(1 for _ in self.folder.iterdir()) + 1
        commit = hashlib.sha1(f"{number} {self.folder}".encode()).hexdigest()
        behaviour = {**asdict(app), "text": app.text or f"release {number}"}
        dockerfile = DOCKERFILE.format(base=base_image()) + (BROKEN if app.kind == "unbuildable" else "")
        ours = {"app.py": SERVER, "behaviour.json": json.dumps(behaviour), "Dockerfile": dockerfile}
        for name, text in {**ours, **(files or {})}.items():
            path = self.of(commit) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return commit

    def of(self, commit: str) -> Path:
        return self.folder / commit

    def text(self, commit: str) -> str:
        """What its pages say."""
        return str(json.loads((self.of(commit) / "behaviour.json").read_text("utf-8"))["text"])


# --- around a test -------------------------------------------------------------------------------------------


def new_home_id() -> str:
    return secrets.token_hex(6)


@contextlib.contextmanager
def cleaned_up(home_id: str) -> Iterator[None]:
    """Afterwards nothing is left at the engine that carries this home's label, or is made of what does."""
    try:
        yield
    finally:
        clean_up(home_id)


def clean_up(home_id: str) -> None:
    label = {"label": f"{HOME}={home_id}"}
    with contextlib.closing(client()) as engine:
        for container in engine.containers(all=True, filters=label):
            engine.remove_container(container["Id"], force=True, v=True)
        for image in engine.images(filters=label):
            _quietly(engine.remove_image, image["Id"], force=True)
        for image in engine.images(filters={**label, "dangling": True}):
            _quietly(engine.remove_image, image["Id"], force=True)
        for network in engine.networks(filters=label):
            _quietly(engine.remove_network, network["Id"])
        for volume in engine.volumes(filters=label)["Volumes"] or []:
            _quietly(engine.remove_volume, volume["Name"], force=True)


def _quietly(what: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    import docker

    with contextlib.suppress(docker.errors.APIError):  # gone with another one
        what(*arguments, **options)


def free_port() -> int:
    """Nobody has it, and no other worker of a suite is given it: below those that the system gives away, in turn."""
    while True:
        port = PORTS.start + _turn() % len(PORTS)
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


def _turn() -> int:
    """A number that nobody else is given."""
    with open(Path(tempfile.gettempdir()) / f"sisimpur-test-ports-{os.getuid()}", "a+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        turn = int(file.read() or 0)
        file.truncate(0)
        file.write(str(turn + 1))
        return turn


@contextlib.contextmanager
def occupied(port: int) -> Iterator[None]:
    """Somebody else listens there."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", port))
        one.listen()
        yield


def page(port: int, path: str = "/", seconds: float = 10.0) -> str:
    """What a place says, as soon as it says something; an AssertionError if it never does."""
    answer = within(seconds, lambda: _page(port, path))
    assert answer is not None, f"nobody answers at port {port}"
    return answer


def _page(port: int, path: str) -> str | None:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return f"{error.code}"
    except OSError:
        return None


def within(seconds: float, ask: Callable[[], T]) -> T:
    """The first answer that is something, or the last one."""
    until = time.monotonic() + seconds
    while not (answer := ask()) and time.monotonic() < until:
        time.sleep(0.05)
    return answer
