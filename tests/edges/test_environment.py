"""What the tests need is installed in a box, once for all commits that ask for the same, and by nobody's tricks."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.qa.runner.bench import BoxBench
from sisimpur.agents.qa.runner.environment_build import COPIES, PINNED
from sisimpur.agents.qa.runner.environment_store import (
    DEPENDENCIES,
    INSTALL,
    KEPT,
    Environments,
    EnvironmentStore,
    Setup,
    dependency_files,
)
from sisimpur.agents.qa.runner.suite import Environment, SuiteOrder
from sisimpur.agents.qa.survey.roots import Root, Suites
from sisimpur.agents.qa.survey.target_survey import LOCKED, TargetSurvey
from sisimpur.shared.model.errors import BrokenSetup, Misconfigured, Unavailable
from sisimpur.shared.model.scope import matches
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.repo.mirror_tree import TreeEntry
from sisimpur.shared.repo.objects import Unchanging
from sisimpur.shared.sandbox.box import METER_PORT, Box, Finished, Job, Mount, find_box
from sisimpur.shared.system import process
from sisimpur.shared.system.process import End
from tests import repositories
from tests.killing import finishes, killed_at, points, snippet

PYTHON = Path(sys.executable)
REPOSITORY = Path(__file__).parents[2]

# --- a target and its packages -------------------------------------------------------------------------------


@dataclass
class Target:
    """A repository, our copy of it, and a folder of packages."""

    folder: Path
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.mirror = Mirror(self.folder / "mirror.git", Remote(str(self.folder / "forge")))
        self.packages = self.folder / "packages"
        self.packages.mkdir(parents=True)
        self.packages.chmod(0o755)
        for tool in ("pytest", "coverage", "hypothesis"):
            wheel(self.packages, tool, "9.0")

    def commit(self, files: Mapping[str, str]) -> str:
        made = repositories.commit if (self.folder / "forge").exists() else repositories.repository
        sha = made(self.folder / "forge", files)
        self.mirror.create()
        self.mirror.fetch("main")
        return sha

    def environments(self, box: Box, command: str = "", **others: object) -> Environments:
        setup = Setup("demo", PYTHON, command, self.packages)
        return Environments(box, self.mirror, self.kept, replace(setup, **others), self.told.append)  # type: ignore[arg-type]

    @property
    def kept(self) -> Path:
        return self.folder / "environments"


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target(tmp_path / "closed")


def wheel(folder: Path, name: str, version: str, requires: str = "") -> None:
    """A package that pip can install: one module, which knows its version."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{path},sha256={digest(text)},{len(text)}" for path, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name_, text in files.items():
            archive.writestr(name_, text)
    path.chmod(0o644)


def digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


BACKEND = """
import os, zipfile
def made(folder, tag, files):
    name = "lib-1.0-py3-none-any.whl"
    info = {"METADATA": "Metadata-Version: 2.1\\nName: lib\\nVersion: 1.0\\nRequires-Dist: needed\\n",
            "WHEEL": "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n", "RECORD": "",
            "entry_points.txt": "[console_scripts]\\nlib = lib:main\\n"}
    with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
        for path, text in (files | {f"lib-1.0.dist-info/{key}": text for key, text in info.items()}).items():
            archive.writestr(path, text)
    return name
def build_wheel(folder, *_, **__):
    return made(folder, "", {"lib.py": open("lib.py").read()})
def build_editable(folder, *_, **__):
    return made(folder, "", {"lib.pth": os.getcwd() + "\\n"})
"""
LIBRARY = {
    "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n# lib\n",
    "backend.py": BACKEND,
    "lib.py": "def main(): print('old')\n",
    "requirements.txt": "pytest==6.0\nattrs==19.0\n",
}


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return find_box(tmp_path_factory.mktemp("box"))


def inside(box: Box, environment: Environment, script: str, files: Path) -> Finished:
    """What the script does where the tests run: the files in /job, laid out anew."""
    job = Job(("sh", "-c", f"cp -a /src/. /job/ && cd /job && {script}"), environment.mounts, env=environment.env)
    return box.run(replace(job, mounts=(*job.mounts, Mount(files, "/src")), private={"/job": 10}))


@pytest.mark.parametrize("script", [PINNED, COPIES], ids=["what is pinned", "copies"])
def test_what_asks_the_targets_own_python_needs_no_newer_one(script: str) -> None:
    old = "import importlib.metadata as found; del found.Distribution.name\n"  # as before Python 3.10
    done = process.run((sys.executable, "-I", "-c", old + script), env={}, timeout=60)
    assert done.ok, done.complaint
    assert script is COPIES or re.search(r"^pytest==\d", done.text, re.MULTILINE)


# --- in a real box -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_environment_is_built_once_and_tests_what_lies_in_the_job_folder(box: Box, target: Target) -> None:
    wheel(target.packages, "pytest", "6.0")
    wheel(target.packages, "hypothesis", "9.0", "Requires-Dist: attrs>=22\n")
    for version in ("19.0", "22.0"):
        wheel(target.packages, "attrs", version)
    wheel(target.packages, "needed", "1.0")
    first = target.commit(LIBRARY)
    environments = target.environments(box)
    built = environments.ready(first)

    files = target.folder / "new"
    files.mkdir(mode=0o755)
    (files / "lib.py").write_text("def main(): print('new')\n")
    versions = "import pytest, coverage, attrs, needed; print(pytest.VERSION, coverage.VERSION, attrs.VERSION)"
    done = inside(box, built, f"lib; python -c '{versions}'; python -c 'import hypothesis'; touch /env/x", files)
    assert done.text.split() == ["new", "6.0", "9.0", "19.0"], "what is pinned stays, and our tools come beside it"
    assert "No module named 'hypothesis'" in done.complaint, "it does not fit, and nobody needs it"
    assert "Read-only" in done.complaint

    made = target.kept / built.key / "made"
    inode = made.stat().st_ino
    assert environments.ready(first) == built
    assert target.environments(box).ready(first) == built, "another process finds it too"
    assert made.stat().st_ino == inode
    assert {path.name for path in made.parent.iterdir()} == {"made", "hooks", "env"}
    assert len(target.told) == 1


@pytest.mark.slow
def test_a_run_has_the_modules_that_the_set_up_wrote_among_the_sources(box: Box, target: Target) -> None:
    files = {"pkg/__init__.py": "from pkg.made import VALUE\n", "pkg/own.py": "MINE = 1\n", "requirements.txt": ""}
    first = target.commit(files)
    writes = {"pkg/made.py": "VALUE = 7", "pkg/own.py": "MINE = 2", "new/made.py": "", "conftest.py": "", "notes": ""}
    command = " && ".join(("mkdir new", *(f"echo {text!r} > {path}" for path, text in writes.items())))
    bench = BoxBench(box, target.mirror, target.environments(box, command), target.folder / "scratch")
    look = "python -c 'import pkg, pkg.own; print(pkg.VALUE, pkg.own.MINE)'; find . -type f ! -path '*/.*' | sort"
    told = bench.run(SuiteOrder(first, look, cover=False)).output.split()
    assert told == ["7", "1", "./pkg/__init__.py", "./pkg/made.py", "./pkg/own.py", "./requirements.txt"]
    second = target.commit({**files, "pkg/made.py": "VALUE = 8\n"})
    assert bench.run(SuiteOrder(second, look, cover=False)).output.split()[0] == "8", "the commit's own comes first"
    bench.close()


@pytest.mark.slow
def test_packages_that_pin_otherwise_have_an_environment_each_with_our_tools(box: Box, target: Target) -> None:
    for version in ("19.0", "22.0"):
        wheel(target.packages, "attrs", version)
    files = {"old/requirements.txt": "attrs==19.0\n", "new/requirements.txt": "attrs==22.0\n"}
    built = target.environments(box).ready(target.commit(files))
    laid = target.folder / "files"
    for path in files:
        (laid / path).parent.mkdir(parents=True)
    ask = "python -c 'import attrs, pytest, coverage; print(attrs.VERSION, pytest.VERSION)'"
    done = inside(box, built, Suites.of((Root("old", test=ask), Root("new", test=ask))).whole, laid)
    assert done.text.split() == ["19.0", "9.0", "22.0", "9.0"]
    assert "No module named 'attrs'" in inside(box, built, "python -c 'import attrs'", laid).complaint


PROBE = f"""
import os, socket, sys
def through(what, act):
    try:
        act()
    except OSError:
        return
    print("GOT THROUGH:", what)
def proxy(target):
    with socket.create_connection(("127.0.0.1", {METER_PORT}), 5) as line:
        line.sendall(f"CONNECT {{target}} HTTP/1.1\\r\\n\\r\\n".encode())
        answer = line.recv(100)
    if b" 403 " not in answer:
        raise SystemExit(f"the proxy says {{answer}}")
    raise OSError
def plain(target):
    with socket.create_connection(("127.0.0.1", {METER_PORT}), 5) as line:
        line.sendall(f"GET http://{{target}}/ HTTP/1.1\\r\\n\\r\\n".encode())
        if b" 403 " not in line.recv(100):
            print("GOT THROUGH: plain http")
port, canary = int(sys.argv[1]), sys.argv[2]
through("another host", lambda: proxy("evil.example:443"))
through("this machine by the proxy", lambda: proxy("127.0.0.1:443"))
through("a private address by the proxy", lambda: proxy("10.0.0.1:443"))
through("a service of this machine", lambda: proxy(f"localhost:{{port}}"))
plain("index.invalid")
through("a port of this machine", lambda: socket.create_connection(("127.0.0.1", port), 2))
through("another machine", lambda: socket.create_connection(("192.0.2.1", 443), 2))
through("a file of the owner", lambda: open(canary))
through("a file beside the environment", lambda: open("/env/../made", "w"))
through("the system", lambda: open("/usr/lib/x", "w"))
through("the interpreter", lambda: open(os.path.join(sys.base_prefix, "lib", "x"), "w"))
print(*sorted(name for name in os.environ if "KEY" in name or "TOKEN" in name), "is all")
if os.fork() == 0:
    os.setsid()
    os.execlp("sleep", "sleep", sys.argv[3])
sys.exit(7)
"""


@pytest.mark.slow
def test_what_installs_reaches_nothing_and_leaves_nothing(box: Box, target: Target) -> None:
    canary, token = target.folder / "owner", f"3600.{os.getpid()}"
    canary.write_text("secret")
    canary.chmod(0o644)
    with socket.create_server(("127.0.0.1", 0)) as service:
        commit = target.commit({"setup.py": PROBE})
        command = f"python setup.py {service.getsockname()[1]} {canary} {token}"
        environments = target.environments(box, command, packages=None, hosts=("localhost", "index.invalid"))
        with pytest.raises(BrokenSetup) as failed:
            environments.ready(commit)
    assert str(failed.value).splitlines() == [
        f"the tests of demo have no environment: `{command}` ended with exit code 7",
        "  is all",
        "mend `setup:` in config/targets/demo.yaml",
    ]
    assert not process.run(["pgrep", "-f", f"sleep {token}"], env={"PATH": "/usr/bin:/bin"}, timeout=10).ok
    assert len(target.told) == 6, "the beginning, and one line for each of five requests"
    assert left_in(target) == []


def left_in(target: Target) -> list[str]:
    return [path.name for path in target.kept.iterdir() if path.name != ".lock"]


DEEP = "mkdir -p /env/$(printf 'd/%.0s' $(seq 150))"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "how"),
    [
        pytest.param("head -c 200000000 /dev/zero > big & head -c 200000000 /dev/zero > /env/big; sleep 9",
                     "wrote more than 100 MB", id="the disk is filled"),
        pytest.param(f"{DEEP}; chmod 0 /env/d; rm -rf /env/lib64; ln -s / /env/lib64", "nested deeper than",
                     id="folders too deep, closed, and a link to everything"),
        pytest.param("pip install .", "lib: a copy is installed, so the tests would test the copy", id="a copy"),
    ],
)  # fmt: skip
def test_an_environment_that_nobody_could_use_is_refused_and_removed(
    box: Box, target: Target, command: str, how: str
) -> None:
    for name, version in (("needed", "1.0"), ("pytest", "6.0"), ("attrs", "19.0")):
        wheel(target.packages, name, version)
    commit = target.commit(LIBRARY)
    with pytest.raises(
        BrokenSetup, match=r"have no environment: `(?s:.*)mend `setup:` in config/targets/demo\.yaml"
    ) as e:
        target.environments(box, command, limits=replace(INSTALL, disk_mb=100)).ready(commit)
    assert how in str(e.value)
    assert left_in(target) == []
    assert (REPOSITORY / "main.py").exists()


POETRY = """
[[package]]
name = "attrs"
version = "24.1.0"
[[package]]
name = "colorama"
version = "0.4.5"
[[package]]
name = "colorama"
version = "0.4.6"
[[package]]
name = "mine"
version = "1.0"
source = { type = "git" }
"""
PIPENV = """{"_meta": {}, "default": {"attrs": {"version": "==24.1.0"}, "mine": {"git": "x"}},
"develop": {"colorama": {"version": "==0.4.6", "markers": "os_name == 'nt'"}}}"""


@pytest.mark.parametrize(
    ("lock", "text", "said"),
    [
        pytest.param("poetry.lock", POETRY, ["attrs==24.1.0"], id="one version of a name, of the index"),
        pytest.param("pdm.lock", POETRY, ["attrs==24.1.0"], id="pdm"),
        pytest.param(
            "Pipfile.lock", PIPENV, ["attrs==24.1.0", "colorama==0.4.6; os_name == 'nt'"], id="pipenv, with conditions"
        ),
    ],
)
def test_what_a_lock_file_says_is_read_by_the_command_itself(
    tmp_path: Path, lock: str, text: str, said: list[str]
) -> None:
    (tmp_path / lock).write_text(text)
    read = TargetSurvey([lock], lambda _: text).setup.partition(" && ")[0].replace(LOCKED, "locked")
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    assert process.run(["sh", "-c", read], cwd=tmp_path, env=env, timeout=30).ok
    assert (tmp_path / "locked").read_text().splitlines() == said


FROM_THE_INDEX = """
import sys
from pathlib import Path
from sisimpur.shared.sandbox.box import Job, find_box
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.repo.git import Remote
from sisimpur.agents.qa.runner.environment_store import Environments, Setup

folder, commit = Path(sys.argv[1]), sys.argv[2]
box, mirror = find_box(folder / "box"), Mirror(folder / "mirror.git", Remote(str(folder / "forge")))
told = []
setup = Setup("demo", Path(sys.executable))
built = Environments(box, mirror, folder / "environments", setup, told.append).ready(commit)
script = "import six, pytest, coverage, hypothesis; print(six.__version__)"
print(box.run(Job(("python", "-c", script), built.mounts, env=built.env)).text, *told[1:])
"""


@pytest.mark.slow
def test_a_package_comes_from_the_index_through_the_proxy(target: Target) -> None:
    """In a program of its own: nobody in this one leaves the machine."""
    commit = target.commit({"requirements.txt": "six==1.16.0\n"})
    argv = snippet(FROM_THE_INDEX, str(target.folder), commit)
    done = process.run(argv, cwd=REPOSITORY, env={"PATH": os.environ["PATH"]}, timeout=300)
    assert done.ok, done.complaint
    assert done.text.split() == ["1.16.0"]


# --- which environment a commit gets: with a box that only writes down what it is asked for ---------------------


@dataclass
class Script:
    """A box in which every command ends as it is told to; `seen`: what lay in /job, and the jobs."""

    ends: list[Finished] = field(default_factory=list)
    seen: list[dict[str, str]] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    name: str = "script"
    version: str = "0"
    quality: Literal["full", "reduced"] = "reduced"

    def run(self, job: Job, stop: Callable[[], bool] = lambda: False) -> Finished:
        if "-VV" in job.command:
            return finished(output=self.version)
        self.jobs.append(job)
        if "venv" in job.command:
            source = {mount.target: mount.source for mount in job.mounts}["/job"]
            self.seen.append({path.name: path.read_text() for path in source.iterdir() if path.is_file()})
            return finished()
        return self.ends.pop(0) if self.ends else finished()


def finished(code: int = 0, end: End = "exited", output: str = "") -> Finished:
    return Finished(code, output.encode(), b"", end, 1.0)


BEFORE = {"requirements.txt": "a\n", "lib.py": "old"}


@pytest.mark.parametrize(
    ("change", "is_new"),
    [
        pytest.param({"lib.py": "new"}, False, id="code"),
        pytest.param({"requirements.txt": "b\n"}, True, id="requirements"),
        pytest.param({"deep/in/requirements/dev.txt": "b\n"}, True, id="requirements anywhere"),
        pytest.param({"web/requirements-dev.in": "b\n"}, True, id="requirements before they are pinned"),
        pytest.param({"Constraints.txt": "b\n"}, True, id="constraints, in capital letters"),
        pytest.param({"pyproject.toml": "[tool.x]"}, True, id="pyproject.toml"),
        pytest.param({"setup.cfg": "[metadata]"}, True, id="setup.cfg"),
        pytest.param({"uv.lock": "b"}, True, id="a lock file"),
        pytest.param({"Pipfile": "b"}, True, id="Pipfile"),
        pytest.param({"ci/install.sh": "pip install b"}, True, id="a file that the command names"),
        pytest.param({"ci/other.sh": "pip install b"}, False, id="a file that it does not name"),
        pytest.param({"README.md": "requirements"}, False, id="a text"),
    ],
)
def test_a_change_of_what_is_installed_needs_another_environment(
    target: Target, change: dict[str, str], is_new: bool
) -> None:
    target.commit({"first": ""})
    target.commit(BEFORE)
    base = target.commit({"lib.py": "base"})
    environments = target.environments(Script(), "sh ci/install.sh")
    before = environments.ready(base).key
    assert (environments.ready(target.commit(change)).key != before) == is_new


@pytest.mark.parametrize(
    ("fails", "code", "installed"),
    [
        pytest.param("nothing", 0, [".[dev,gui,http]"], id="all at once"),
        pytest.param("gui", 0, [".[dev]", ".[http]"], id="without the extra that cannot be built"),
        pytest.param("dev", 1, [], id="what tests ask for must be there"),
        pytest.param(".", 1, [], id="the project itself cannot be built"),
    ],
)
def test_an_extra_of_its_ci_that_cannot_be_built_does_not_keep_the_others_away(
    fails: str, code: int, installed: list[str]
) -> None:
    files = {
        "pyproject.toml": "[build-system]\n[project]\nname='a'\n[project.optional-dependencies]\n"
        "dev=['x']\ngui=['y']\nhttp=['z']",
        ".github/workflows/ci.yml": "run: pip install .[gui,http] && pytest",
    }
    pip = 'pip() { for last; do :; done; case "$last" in *"$FAILS"*) return 1;; esac; echo "$last"; }'
    setup = TargetSurvey(frozenset(files), lambda path: files.get(path, "")).setup
    argv = ("sh", "-c", f"{pip}\n{setup}")
    done = subprocess.run(argv, env={"PATH": "/usr/bin:/bin", "FAILS": fails}, capture_output=True, text=True)
    assert done.returncode == code
    assert [line for line in done.stdout.splitlines() if not line.startswith("left out")] == installed


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param("SETUPTOOLS_SCM_PRETEND_VERSION", id="setuptools-scm, hatch-vcs"),
        pytest.param("PDM_BUILD_SCM_VERSION", id="pdm-backend"),
        pytest.param("PBR_VERSION", id="pbr"),
        pytest.param("UV_DYNAMIC_VERSIONING_BYPASS", id="uv-dynamic-versioning"),
        pytest.param("POETRY_DYNAMIC_VERSIONING_BYPASS", id="poetry-dynamic-versioning"),
    ],
)
def test_who_asks_git_for_a_version_finds_one_where_there_is_no_git(target: Target, asked: str) -> None:
    script = Script()
    target.environments(script, "pip install .").ready(target.commit(BEFORE))
    installing = [job for job in script.jobs if "pip install ." in job.command[-1]]
    assert [job.env.get(asked) for job in installing] == ["999.0.0"]


PARTS = (
    "requirements",
    "REQS",
    "setup.py",
    "poetry",
    ".lock",
    "-lock",
    ".yaml",
    "pylock",
    "environment",
    "/",
    "x",
    "ſ",
    "K",
    "é",
    "",
)


@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), min_size=1, max_size=6).map("".join).filter(bool))
def test_no_file_that_says_what_is_installed_is_passed_over_at_a_glance(path: str) -> None:
    seen = dependency_files([TreeEntry("100644", path, 1, "blob")], "")
    assert bool(seen) == bool(matches(path, DEPENDENCIES))


def test_what_a_commit_needs_is_read_once(target: Target) -> None:
    target.commit(BEFORE)
    base = target.commit({"lib.py": "base"})
    environments = target.environments(Script())
    built = environments.ready(base)
    target.mirror.close()
    (target.folder / "mirror.git/objects").rename(target.folder / "gone")  # nobody could read it again
    target.mirror.repository.answers = Unchanging()
    assert environments.ready(base) == built


def test_what_a_change_wrote_is_not_run_for_an_environment_that_others_use(target: Target) -> None:
    target.commit(BEFORE)
    base = target.commit({"lib.py": "base"})
    change = target.commit({"lib.py": "forged"})
    box = Script()
    shared = target.environments(box).ready(change)
    assert [seen["lib.py"] for seen in box.seen] == ["base"]
    assert target.environments(box).ready(base) == shared


class Slow(Script):
    """The second environment takes until `built` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.built = threading.Event(), threading.Event()

    def run(self, job: Job, stop: Callable[[], bool] = lambda: False) -> Finished:
        done = super().run(job, stop)
        if "venv" in job.command and len(self.seen) == 2:
            self.begun.set()
            assert self.built.wait(60)
        return done


def test_tests_whose_environment_is_there_do_not_wait_for_another_one_to_be_installed(target: Target) -> None:
    environments = target.environments(box := Slow())
    there = environments.ready(first := target.commit(BEFORE))
    other = target.commit({**BEFORE, "requirements.txt": "b\n"})
    with ThreadPoolExecutor() as threads:
        installing = threads.submit(environments.ready, other)
        assert box.begun.wait(60)
        try:
            assert threads.submit(environments.ready, first).result(30) == there
            assert not installing.done()
        finally:
            box.built.set()
        assert installing.result(60).key != there.key


def test_a_change_of_the_environment_gets_one_that_nobody_else_gets(target: Target) -> None:
    target.commit(BEFORE)
    tried = target.commit({"requirements.txt": "b\n", "lib.py": "forged"})
    again = repositories.shell("git reset -q --hard HEAD^", target.folder / "forge") or target.commit(
        {"requirements.txt": "b\n", "lib.py": "honest"}
    )
    after = target.commit({"lib.py": "later"})
    box = Script()
    keys = [target.environments(box).ready(commit).key for commit in (tried, again, after, again)]
    assert len(set(keys)) == 3
    assert [seen["lib.py"] for seen in box.seen] == ["forged", "honest", "honest"]


def test_a_merged_change_of_the_environment_is_shared_with_what_comes_after_it(target: Target) -> None:
    target.commit(BEFORE)
    tried = target.commit({"requirements.txt": "b\n", "lib.py": "forged"})
    repositories.shell("git reset -q --hard HEAD^", target.folder / "forge")
    merged = target.commit({"requirements.txt": "b\n", "lib.py": "honest"})
    box = Script()
    of_base = target.environments(box, branch="main").ready(merged)
    after = target.commit({"lib.py": "later"})
    assert target.environments(box, branch="main").ready(after) == of_base
    assert target.environments(box, branch="main").ready(tried) != of_base  # not merged: nobody else gets it
    assert target.environments(box, branch="gone").ready(merged) != of_base
    assert [seen["lib.py"] for seen in box.seen] == ["honest", "forged", "honest"]


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"command": "pip install x"}, id="the command"),
        pytest.param({"packages": None}, id="where packages come from"),
        pytest.param({"python": Path("/usr/bin/env")}, id="the interpreter"),
    ],
)
def test_other_settings_need_another_environment(target: Target, changed: dict[str, object]) -> None:
    commit = target.commit(BEFORE)
    before = target.environments(Script()).ready(commit).key
    wheel(target.packages, "late", "1.0")
    late = target.environments(Script()).ready(commit).key
    other = Environments(
        Script(),
        target.mirror,
        target.kept,
        replace(Setup("demo", PYTHON, "", target.packages), **changed),  # type: ignore[arg-type]
    )
    assert len({before, late, other.ready(commit).key}) == 3
    assert target.environments(Script(version="1")).ready(commit).key not in (before, late)


EDITABLE = "pip install --use-pep517 -e '.[test,tests,testing]'"


def test_the_way_to_the_index_is_open_only_while_something_is_installed_from_it(target: Target) -> None:
    commit = target.commit(BEFORE)
    target.environments(offline := Script()).ready(commit)
    target.environments(online := Script(), packages=None).ready(commit)
    assert [job.meter is not None for job in offline.jobs] == [False] * 6
    assert [job.meter is not None for job in online.jobs] == [False, True, True, False, False, False]
    assert all("HTTPS_PROXY" in job.env for job in online.jobs if job.meter)
    assert all(job.env["PIP_NO_INDEX"] == "1" for job in offline.jobs[:4])


# --- what goes wrong -----------------------------------------------------------------------------------------

FIVE = "".join(f"line {number}\x1b[31m\0\n" for number in range(9))


@pytest.mark.parametrize(
    ("done", "how"),
    [
        pytest.param(finished(3), "ended with exit code 3", id="a bad end"),
        pytest.param(finished(-9, "timed out"), "took longer than 600 s", id="too slow"),
        pytest.param(finished(-9, "memory"), "took more than 2048 MB of memory", id="too big"),
        pytest.param(finished(-9, "processes"), "took more than 256 processes", id="too many"),
        pytest.param(finished(-9, "disk"), "wrote more than 4096 MB or 400000 files", id="too much"),
        pytest.param(finished(-9, "output"), "printed too much", id="too loud"),
    ],
)
def test_the_owner_reads_what_failed_how_and_where_to_mend_it(target: Target, done: Finished, how: str) -> None:
    box = Script([replace(done, output=FIVE.encode())])
    with pytest.raises(BrokenSetup) as failed:
        target.environments(box).ready(target.commit(BEFORE))
    first, *lines, last = str(failed.value).splitlines()
    assert first.startswith(f"the tests of demo have no environment: `pip install -r requirements.txt` {how}")
    assert lines == ["  line 4", "  line 5", "  line 6", "  line 7", "  line 8"]
    assert last == "mend `setup:` in config/targets/demo.yaml"


def test_a_set_up_that_fails_is_tried_twice_and_then_remembered(target: Target) -> None:
    commit = target.commit(BEFORE)
    box = Script([finished(1), finished(2), finished(0)])
    environments = target.environments(box)
    said = []
    for _ in range(4):
        with pytest.raises(BrokenSetup) as failed:
            environments.ready(commit)
        said.append(str(failed.value).splitlines()[0][-1])
    assert said == ["1", "2", "2", "2"]
    assert len(box.seen) == 2
    wheel(target.packages, "mended", "1.0")
    environments.ready(commit)


@pytest.mark.parametrize("code", [-9, 137])
def test_a_set_up_that_somebody_kills_begins_once_more_in_empty_folders(target: Target, code: int) -> None:
    script = Script([finished(code)])
    target.environments(script).ready(target.commit(BEFORE))
    assert script.seen == [BEFORE, BEFORE]


def test_a_set_up_whose_box_is_killed_twice_is_tried_again_later(target: Target) -> None:
    environments, commit = target.environments(Script([finished(-9)] * 4)), target.commit(BEFORE)
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"was ended \(SIGKILL\); it is tried again"):
            environments.ready(commit)
    environments.ready(commit)


def test_a_set_up_that_always_kills_itself_is_the_owners_to_mend(target: Target) -> None:
    with pytest.raises(BrokenSetup, match=r"was ended by SIGKILL"):
        target.environments(Script([finished(137)] * 2)).ready(target.commit(BEFORE))


@pytest.mark.parametrize("end", ["stopped", "machine"])
def test_an_end_that_is_nobodys_fault_is_tried_again(target: Target, end: End) -> None:
    commit = target.commit(BEFORE)
    environments = target.environments(Script([finished(-9, end)] * 3))
    for _ in range(3):
        with pytest.raises(Unavailable, match="tried again"):
            environments.ready(commit)
    environments.ready(commit)


class Knocks(Script):
    """Asks the proxy for the index, as pip would, and fails."""

    def run(self, job: Job, stop: Callable[[], bool] = lambda: False) -> Finished:
        done = super().run(job, stop)
        if job.meter is None:
            return done
        with socket.socket(socket.AF_UNIX) as client:
            folder = os.open(job.meter.parent, os.O_RDONLY)  # the whole path may be longer than a socket's
            client.connect(f"/proc/self/fd/{folder}/{job.meter.name}")
            os.close(folder)
            client.sendall(b"CONNECT index.invalid:443 HTTP/1.1\r\n\r\n")
            client.recv(100)
        return finished(1)


def test_an_index_that_does_not_answer_is_not_the_owners_fault(tmp_path: Path) -> None:
    target = Target(tmp_path)
    commit = target.commit(BEFORE)
    environments = target.environments(Knocks(), packages=None, hosts=("index.invalid",))
    for _ in range(3):
        with pytest.raises(Unavailable, match=r"index\.invalid cannot be reached .*`packages:` in config/targets/demo"):
            environments.ready(commit)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        pytest.param({"packages": Path("/nowhere")}, r"/nowhere cannot be read .*correct `packages:`", id="packages"),
        pytest.param({"python": Path("/nowhere/python")}, "no Python at /nowhere", id="no interpreter"),
        pytest.param({"python": Path("/usr/bin/false")}, "/false does not run: .*correct `python:`", id="not Python"),
    ],
)
def test_a_setting_that_leads_nowhere_is_named(
    box: Box, target: Target, changed: dict[str, object], message: str
) -> None:
    commit = target.commit(BEFORE)
    with pytest.raises(Misconfigured, match=message):
        target.environments(box, **changed).ready(commit)  # type: ignore[arg-type]


# --- what is kept --------------------------------------------------------------------------------------------

ADD = """
import sys, time
from pathlib import Path
from sisimpur.agents.qa.runner.environment_store import EnvironmentStore

folder, key, seconds = sys.argv[1:]
store = EnvironmentStore(Path(folder))
def fill(place):
    (place / "env").mkdir()
    time.sleep(float(seconds))
    (place / "env" / "whole").touch()
    print("filled", flush=True)
    return "made"
store.add(key, fill)
assert (store.take(key) / "env" / "whole").exists()
"""


def fill(place: Path) -> str:
    (place / "env").mkdir()
    return "made"


def kept(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".lock"}


def test_a_kill_at_any_point_leaves_no_half_built_environment(tmp_path: Path) -> None:
    def argv(folder: Path) -> list[str]:
        return snippet(ADD, str(folder), "k", "0")

    for number, point in enumerate(points(argv(tmp_path / "clean"), at_least=2), 1):
        folder = tmp_path / str(number)
        killed_at(number, argv(folder))
        found = EnvironmentStore(folder).take("k")
        assert (found is not None) == (point == "environment.ready")
        finishes(argv(folder))
        assert kept(folder) == {"k"}


def test_of_two_who_build_the_same_the_second_uses_what_the_first_made(tmp_path: Path) -> None:
    argv = snippet(ADD, str(tmp_path / "kept"), "k", "0.5")
    env = dict(os.environ)
    with (
        (tmp_path / "out").open("ab") as out,
        process.running(argv, cwd=REPOSITORY, env=env, output=out.fileno()) as one,
    ):
        two = finishes(argv)
        os.waitid(os.P_PID, one, os.WEXITED | os.WNOWAIT)
    assert kept(tmp_path / "kept") == {"k"}
    assert (tmp_path / "out").read_text() + two.text == "filled\n"


def test_the_newest_by_last_use_are_kept(tmp_path: Path) -> None:
    store = EnvironmentStore(tmp_path)
    for number in range(KEPT):
        store.add(str(number), fill)
        os.utime(tmp_path / str(number) / "made", (number, number))
    assert store.take("0")
    store.add("new", fill)
    assert kept(tmp_path) == {"0", "2", "3", "4", "new"}
    assert EnvironmentStore(tmp_path).take("1") is None


def test_what_another_process_uses_stays(tmp_path: Path) -> None:
    user, store = EnvironmentStore(tmp_path), EnvironmentStore(tmp_path)
    for number in range(KEPT + 2):
        store.add(str(number), fill)
        if number == 0:
            assert user.take("0")
        os.utime(tmp_path / str(number) / "made", (number, number))
    assert "0" in kept(tmp_path)
    assert "1" not in kept(tmp_path)


def test_an_environment_that_somebody_removed_is_built_again(tmp_path: Path) -> None:
    store = EnvironmentStore(tmp_path)
    store.add("k", fill)
    assert store.take("k")
    (tmp_path / "k" / "made").unlink()
    assert store.take("k") is None
    store.add("k", fill)
    assert store.take("k") == tmp_path / "k"
