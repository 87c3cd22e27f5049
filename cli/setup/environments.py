"""`setup`: build the two environments and check the machine. Standard library only.

It runs under the system's Python before anything is installed, and again at no cost when all is in place.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

# Not by `sisimpur`: an image in the making has no such folder (packaging/Dockerfile).
from .folders import AIDER_VENV, BUILT, IS_INSTALLED, PACKAGES, ROOT, UV, VENV

GIT_AT_LEAST = (2, 38)


class Wish(Protocol):
    """What was typed behind `setup`."""

    @property
    def home(self) -> Path: ...
    @property
    def target(self) -> str: ...
    @property
    def quiet(self) -> bool: ...
    @property
    def dev(self) -> bool: ...
    @property
    def lock(self) -> bool: ...


def run(arguments: Wish) -> int:
    if arguments.lock or arguments.dev:
        if IS_INSTALLED:
            print("setup: --dev and --lock are for a checkout; clone the repository first", file=sys.stderr)
            return 1
        return lock() if arguments.lock else setup(dev=True)
    return setup() or go_on(arguments)


def go_on(arguments: Wish) -> int:
    """Make a home if a target is named; else print the next command, unless the default home is there already."""
    if arguments.target:
        python = sys.executable if IS_INSTALLED else str(VENV / "bin" / "python")
        words = ("--home", str(arguments.home), "init", "--target", arguments.target)
        return subprocess.run([python, str(ROOT / "main.py"), *words], check=False).returncode
    if not arguments.quiet and not (BUILT / "tasks").is_dir():
        typed = "sisimpur setup --target PATH_OR_URL" if IS_INSTALLED else "make setup TARGET=PATH_OR_URL"
        print(f"setup: all is in place; next, name the repository to work on: {typed}")
    return 0


def setup(dev: bool = False) -> int:
    """Exit code: 0 all in place, 1 something is missing and named."""
    try:
        if sys.version_info < (3, 11):  # noqa: UP036 (this file also runs under what is too old)
            raise SystemExit(f"needs Python 3.11 or later, this is {sys.version.split()[0]}; install python3.11")
        _check_git()
        _check_sandbox()
        if not IS_INSTALLED:
            _build_daemon("requirements-dev.txt" if dev else "requirements.txt")
        _build_aider()
        _fetch_packages()
    except SystemExit as problem:  # one line that says what to type
        print(f"setup: {problem}", file=sys.stderr)
        return 1
    return 0


def lock() -> int:
    """Compile requirements*.in into pinned files with hashes."""
    options = ("--quiet", "--universal", "--generate-hashes", "--no-header", "--upgrade")
    for name in ("requirements", "requirements-dev", "requirements-aider", "requirements-demo"):
        files = (f"{name}.in", "-o", f"{name}.txt")
        _run("uv pip compile", [str(UV), "pip", "compile", *options, "--python-version", "3.11", *files])
    return 0


# --- the machine ---------------------------------------------------------------------------------------------


def _check_git() -> None:
    program = shutil.which("git")
    if program is None:
        raise SystemExit("needs git; type: sudo apt-get install git")
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"(\d+)\.(\d+)", answer)
    if not found or (int(found[1]), int(found[2])) < GIT_AT_LEAST:
        raise SystemExit(f"needs git 2.38 or later, this is {answer.strip() or 'unknown'}")


def _check_sandbox() -> None:
    """Install the sandbox: without it no model-written code is run, so a day would end at its first task."""
    if shutil.which("bwrap"):
        return
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise SystemExit("needs the sandbox program bubblewrap; type: sudo apt-get install bubblewrap")
    _say("installing bubblewrap, the sandbox")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    _run("apt-get update", [apt, "-qq", "update"], quiet)
    _run("apt-get install bubblewrap", [apt, "-qq", "-y", "install", "bubblewrap"], quiet)


# --- the environments ----------------------------------------------------------------------------------------


def _build_daemon(requirements: str) -> None:
    python = VENV / "bin" / "python"
    wanted = _stamp(ROOT / requirements) + ("" if "dev" not in requirements else " dev")
    have = _read(VENV / "installed")
    if have == wanted or have == _stamp(ROOT / "requirements-dev.txt") + " dev":
        return
    _say("building the daemon's environment (.venv)")
    if not python.exists():
        _run("python3 -m venv (Debian: apt-get install python3-venv)", [sys.executable, "-m", "venv", str(VENV)])
    _install_uv(python, requirements)
    options = ("--quiet", "--require-hashes", "--link-mode", "copy")
    _run("uv pip install", [str(UV), "pip", "install", *options, "--python", str(python), "-r", requirements])
    (VENV / "installed").write_text(wanted)


def _install_uv(python: Path, requirements: str) -> None:
    """Install the one package that installs all others, in a tenth of the time that pip takes."""
    pinned = re.search(r"^uv==(?:.*\\\n)*.*\n", (ROOT / requirements).read_text("utf-8"), re.MULTILINE)
    if pinned is None:
        raise SystemExit(f"{requirements} does not pin uv; compile it anew: make lock")
    only = VENV / "uv.txt"
    only.write_text(pinned[0], "utf-8")
    options = ("--quiet", "--disable-pip-version-check", "--require-hashes")
    _run("pip install uv", [str(python), "-m", "pip", "install", *options, "-r", str(only)])


def _build_aider() -> None:
    """Build it with byte code: the environment is read-only in the box, so it could never be compiled there."""
    wanted = _stamp(ROOT / "requirements-aider.txt")
    if _read(AIDER_VENV / "installed") == wanted:
        return
    _say("building the coding engine's environment (.venv-aider)")
    _run(
        "uv venv (Aider needs Python 3.11 or 3.12; install one of them)",
        [str(UV), "venv", "--quiet", "--clear", "--python", ">=3.11,<3.13", str(AIDER_VENV)],
    )
    options = ("--quiet", "--require-hashes", "--compile-bytecode", "--link-mode", "copy")
    python = str(AIDER_VENV / "bin" / "python")
    _run("uv pip install", [str(UV), "pip", "install", *options, "--python", python, "-r", "requirements-aider.txt"])
    (AIDER_VENV / "installed").write_text(wanted)


def _fetch_packages() -> None:
    """Fetch what the tests of the demo's target need: the demo itself needs no network."""
    wanted = _stamp(ROOT / "requirements-demo.txt")
    if _read(PACKAGES / "fetched") == wanted:
        return
    _say("fetching the packages of the demo's target (.demo/packages)")
    shutil.rmtree(PACKAGES, ignore_errors=True)
    PACKAGES.mkdir(parents=True)
    options = ("--quiet", "--disable-pip-version-check", "--require-hashes", "-d", str(PACKAGES))
    _run("pip download", [*_pip(), "download", *options, "-r", "requirements-demo.txt"])
    (PACKAGES / "fetched").write_text(wanted)


def _pip() -> Sequence[str]:
    """Return how pip is started: an environment that uv or pipx made has none of its own."""
    if IS_INSTALLED:
        return str(UV), "tool", "run", "--quiet", "--python", sys.executable, "pip"
    return str(VENV / "bin" / "python"), "-m", "pip"


def _run(what: str, argv: Sequence[str], extra: dict[str, str] | None = None) -> None:
    environment = {**os.environ, "UV_SYSTEM_CERTS": "1", **(extra or {})}  # uv brings its own otherwise
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout or "no output").splitlines() if line.strip()]
        telling = next((line for line in lines if line.lower().startswith(("error", "fatal", "e:"))), lines[-1])
        raise SystemExit(f"{what} failed: {telling[:300]}")


def _stamp(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _say(text: str) -> None:
    print(f"setup: {text} …", flush=True)
