"""Environment builder: runs what installs packages, the target's own code among it, in a box.

    place/env          -> /env           what stays
    place/job          -> /job           the commit's files, where the tests will find theirs
    place/tmp, home    -> /tmp, $HOME    on the disk: packages are too large for memory

No secret is in there, and the one way out is the package index. Nobody asks a box what it did: what it left is never
looked into from here, only mounted in other boxes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from sisimpur.agents.qa.runner.index_proxy import HOSTS, IndexProxy
from sisimpur.agents.qa.runner.interpreters import Interpreters
from sisimpur.agents.qa.runner.private_index import PrivateIndex
from sisimpur.agents.qa.runner.suite import GATE, GENERATED, JOB, PACKAGES
from sisimpur.agents.qa.survey.findings import what_mends
from sisimpur.agents.qa.survey.roots import FETCHED_ONCE, Root, in_words
from sisimpur.agents.qa.survey.target_survey import survey_at
from sisimpur.shared.model import change
from sisimpur.shared.model.errors import BrokenSetup, Misconfigured, Refused, Unavailable
from sisimpur.shared.model.text import one_line
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.box import METER_PORT, Box, Finished, Job, JobLimits, Mount, hand_over, python_mounts
from sisimpur.shared.sandbox.box_usage import walk
from sisimpur.shared.sandbox.bubblewrap import never
from sisimpur.shared.system.paths import remove_folder
from sisimpur.shared.system.process import repeated

ENV = "/env"
PLACES = {"env": ENV, "job": JOB, "tmp": "/tmp", "home": "/home/sandbox"}  # noqa: S108  the box's own
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
INSTALL = JobLimits(  # no `stall`: what compiles is silent for long
    seconds=600, memory_mb=2048, address_mb=16_384, processes=256, file_mb=1024, disk_mb=4096, files=400_000
)
MOST_GENERATED = 64_000_000  # bytes of modules that a set-up may write among the sources: each run gets a copy
MOST_LINES, MOST_LINE = 5, 200  # of what a failed command printed
CAUSE = re.compile(
    r"(?:[\w./-]+:\d+:\d+: )?(?:E|ERROR|[Ee]rror|fatal(?: error)?|\w{0,60}(?:Error|Exception)): "
    r"(?!subprocess-exited-with-error)"
)

SEEN = {"PATH": f"{ENV}/bin:/usr/bin:/bin", "VIRTUAL_ENV": ENV, "ROOTS": f"{ENV}/roots"}  # at set-up and at test time
VERSIONS = (
    "SETUPTOOLS_SCM_PRETEND_VERSION",
    "PDM_BUILD_SCM_VERSION",
    "PBR_VERSION",
    "UV_DYNAMIC_VERSIONING_BYPASS",
    "POETRY_DYNAMIC_VERSIONING_BYPASS",
)
QUIET = {
    "PIP_CONFIG_FILE": "/dev/null",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_CACHE_DIR": "1",
    "PIP_NO_INPUT": "1",
    "PIP_PROGRESS_BAR": "off",
    "PIP_RETRIES": "2",
    "UV_PROJECT_ENVIRONMENT": ENV,
    "UV_PYTHON_DOWNLOADS": "never",
    **dict.fromkeys(VERSIONS, "999.0.0"),  # there is no git to ask, and no older version fits all who ask
}
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": PACKAGES, "UV_NO_INDEX": "1", "UV_FIND_LINKS": PACKAGES}
PROXY = f"http://127.0.0.1:{METER_PORT}"

# What the target has pinned stays as it is. Generated tests can do without hypothesis, nothing can without the others.
# `.name` is younger than Python 3.9, and these run with the target's own.
PINNED = """
import importlib.metadata as found
for one in found.distributions():
    if not one.read_text("direct_url.json"):
        print(f"{one.metadata['Name']}=={one.version}")
"""
# pytest compiles its plugins anew in each run where nobody could keep the outcome (half a second with hypothesis): the
# last line but one has it kept.
EACH = f"""exec 2>&1
{FETCHED_ONCE}
for python in {ENV}/bin/python {ENV}/roots/*/bin/python; do
test -x "$python" || continue
%s
done
:
"""  # of the environments: the tests' own, and those of packages that have one
TOOLS = """"$python" -I -c "$1" > /tmp/pinned.txt || exit
add() { "$python" -m pip install -c /tmp/pinned.txt "$@"; }
add pytest coverage hypothesis || add pytest coverage || exit
"$python" -I -c "$2" || exit
(cd "$(mktemp -d)" && env -u PYTHONPATH "$python" -m pytest -q -p no:cacheprovider --collect-only >/dev/null)"""
# Every Python of the environment finds our reporters, also where a command sets a PYTHONPATH of its own.
REPORTERS = f"""
import pathlib, sysconfig
pathlib.Path(sysconfig.get_path("purelib"), "sisimpur_gate.pth").write_text("{GATE}\\n")
"""
COPIES = f"""
import importlib.metadata as found, json, sys
told = {{one.metadata["Name"]: json.loads(one.read_text("direct_url.json") or "{{}}") for one in found.distributions()}}
copies = [name for name, one in told.items()
          if one.get("url", "").startswith("file://{JOB}") and one.get("dir_info", {{"editable": True}}) == {{}}]
if copies:
    sys.exit(f"{{', '.join(copies)}}: a copy is installed, so the tests would test the copy; use `pip install -e`")
"""

# What Python or pytest start by themselves: who brought it, and whether it is what he brought. It is the owner's own
# Python that looks, and it starts nothing of what lies there.
LISTING = f"""
import base64, csv, hashlib, json, os, pathlib, re
def name(info): return re.sub("[-_.]+", "-", info.name.rpartition("-")[0].partition("-")[0]).lower()
def digest(path): return base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).decode().rstrip("=")
found = []
lib = "lib/python*/site-packages"
for site in (one for form in (lib, "roots/*/" + lib) for one in pathlib.Path("{ENV}").glob(form)):
    owners = {{}}
    for record in site.glob("*.dist-info/RECORD"):
        for row in csv.reader(record.read_text("utf-8", "replace").splitlines()):
            if len(row) == 3: owners.setdefault(os.path.normpath(row[0]), (name(record.parent), row[1]))
    starts = [one for form in ("*.pth", "sitecustomize*", "usercustomize*", "conftest.py") for one in site.glob(form)]
    for path in starts + [one for one in site.glob("**/conftest.py") if str(one.relative_to(site)) not in owners]:
        who, said = owners.get(str(path.relative_to(site)), ("", ""))
        is_ours = path.name == "sisimpur_gate.pth" and path.read_text() == "{GATE}\\n"
        same = path.is_file() and not path.is_symlink() and said in ("", "sha256=" + digest(path))
        if not is_ours: found.append([str(path.relative_to(site)), who if same else ""])
    for entries in site.glob("*.dist-info/entry_points.txt"):
        if "[pytest11]" in entries.read_text("utf-8", "replace"):
            found.append(["a plugin of pytest", name(entries.parent)])
print(json.dumps(sorted(map(list, set(map(tuple, found))))))
"""
# What a build writes among the sources (a version from git's tags, a compiled module) is in no commit, and the tests
# import it. Only modules, and only beside files of the commit; nothing that would start by itself.
FILES = f"{ENV}/files"
KEEPING = f"""
import os, pathlib, shutil
was = set(pathlib.Path("{FILES}").read_text("utf-8", "surrogateescape").split("\\0"))
left = {MOST_GENERATED}
for folder in sorted({{os.path.dirname(path) for path in was}}):
    for path in sorted(pathlib.Path("{JOB}", folder).glob("*")):
        name, size = os.path.relpath(path, "{JOB}"), path.lstat().st_size
        starts = path.stem in ("conftest", "sitecustomize", "usercustomize")
        if name in was or starts or path.suffix not in (".py", ".so") or size > left: continue
        if path.is_symlink() or not path.is_file(): continue
        left -= size
        kept = pathlib.Path("{GENERATED}", name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, kept)
"""
HOOKS = TypeAdapter(list[tuple[str, str]])

ENDS = {
    "timed out": "took longer than {0.seconds:.0f} s",
    "memory": "took more than {0.memory_mb} MB of memory",
    "processes": "took more than {0.processes} processes",
    "disk": "wrote more than {0.disk_mb} MB or {0.files} files, or folders nested deeper than can be counted",
    "output": "printed too much",
}


@dataclass(frozen=True)
class Setup:
    """Settings of the owner about the tests' environment. `name`: the target's; `python`: an interpreter, which
    `interpreters` choose when the first commit is asked for.

    `command`: a line of shell; empty: see TargetSurvey, which hears of `roots`. `packages`: a folder of wheels to
    install from, then without any network; else `hosts` are those of the package index, and `private` is asked before.
    `branch`: the target's, whose commits were merged; empty: none is known.
    """

    name: str
    python: Path
    command: str = ""
    packages: Path | None = None
    hosts: tuple[str, ...] = HOSTS
    private: PrivateIndex | None = None
    limits: JobLimits = INSTALL
    interpreters: Interpreters | None = field(default=None, compare=False)
    roots: tuple[Root, ...] | None = ()
    branch: str = ""

    @property
    def interpreter(self) -> tuple[Mount, ...]:
        """Its base only: what an environment says about that may have been written in a box."""
        return python_mounts(self.program)

    @property
    def program(self) -> Path:
        return self.python.resolve()

    def wrong(self, setting: str, problem: str) -> Misconfigured:
        return Misconfigured(f"{problem}; correct `{setting}:` in {self.file}")

    @property
    def file(self) -> str:
        return f"config/targets/{self.name}.yaml"


@dataclass(frozen=True)
class Step:
    """One command of a set-up: as people read it, as it is run, and the setting that mends it."""

    name: str
    command: tuple[str, ...]
    mend: str = "setup"
    online: bool = True


@dataclass(frozen=True)
class Builder:
    """`print_progress` gets a line for people, also from other threads. `stop` is asked ten times a second."""

    box: Box
    mirror: Mirror
    setup: Setup
    print_progress: Callable[[str], None] = lambda _line: None
    stop: Callable[[], bool] = never

    def version(self) -> str:
        """Ask the interpreter which version it is. Misconfigured: it does not run."""
        setup = self.setup
        job = Job((str(setup.program), "-I", "-VV"), setup.interpreter, limits=JobLimits(seconds=30))
        done = repeated(lambda: self.box.run(job))
        if not done.ok:
            raise setup.wrong("python", f"{setup.program} does not run: {told(done).strip()}")
        return done.text.strip()

    def build(self, commit: str, command: str, place: Path) -> None:
        """Fill `place`, an empty folder, with `env`. Errors: see Environments.ready. Stopping: see Stoppable."""
        needs = one_line(in_words(command), MOST_LINE) or "our own tools only"
        self.print_progress(f"{self.setup.name}: installing what the tests need ({needs})")
        steps = tuple(_steps(command, self.setup.program))
        try:
            if not self._have_run(steps, commit, place, is_last=False):
                self._have_run(steps, commit, place, is_last=True)
        except BrokenSetup as broken:
            line, path = survey_at(self.mirror, commit).system_packages()
            raise BrokenSetup(f"{broken}{line and f'; its CI installs first ({path}): {line}'}") from None
        for name in PLACES.keys() - {"env"}:
            remove_folder(place / name)

    def hooks(self, place: Path) -> tuple[tuple[str, str], ...]:
        """What starts by itself in a built environment, and whose it is; empty: no package declares it as it is."""
        setup = self.setup
        mounts = (Mount(place / "env", ENV), *setup.interpreter)
        job = Job((str(setup.program), "-I", "-S", "-c", LISTING), mounts, limits=JobLimits(seconds=60))
        try:
            return tuple(HOOKS.validate_json(repeated(lambda: self.box.run(job)).output))
        except ValidationError:
            return (("what starts there cannot be listed", ""),)

    def _have_run(self, steps: Sequence[Step], commit: str, place: Path, is_last: bool) -> bool:
        """False: somebody killed one of them, and all begin anew, in empty folders."""
        self._lay_out(commit, place)
        with self._way_out(place) as index:
            return all(self._runs(step, place, index, is_last) for step in steps)

    def _lay_out(self, commit: str, place: Path) -> None:
        for name in PLACES:
            remove_folder(place / name)
            (place / name).mkdir()
        self.mirror.check_out_all(commit, place / "job", change.ChangeLimits())
        files = [entry.path for entry in self.mirror.tree(commit)]
        (place / "env/files").write_text("\0".join(files), "utf-8", "surrogateescape")
        for name in PLACES:
            hand_over(place / name)

    @contextmanager
    def _way_out(self, place: Path) -> Iterator[IndexProxy | None]:
        if self.setup.packages is not None:
            yield None
            return
        with IndexProxy(place / "index.sock", self.setup.hosts, self.print_progress, way=self.setup.private) as index:
            yield index

    def _runs(self, step: Step, place: Path, index: IndexProxy | None, is_last: bool) -> bool:
        """False: it was killed. The last time that is BrokenSetup, or Unavailable if it is not the owner's to mend."""
        done = self.box.run(self._job(step, place, index), self.stop)
        if done.ok:
            self._look_at_what_is_left(step, place)
            return True
        if done.is_killed and not is_last:
            return False
        if done.end in ("stopped", "machine") or (done.is_killed and done.code < 0):
            how = done.signal or done.end
            raise Unavailable(f"the set-up of {self.setup.name} was ended ({how}); it is tried again")
        if index and index.unreached:
            raise Unavailable(f"{index.unreached}; with `packages:` in {self.setup.file} no network is needed")
        ended = f"was ended by {done.signal}" if done.signal else "ended with exit code {1}"
        how = ENDS.get(done.end, ended).format(self.setup.limits, done.code)
        raise self._broken(step, f"{how}\n{told(done)}", printed(done))

    def _look_at_what_is_left(self, step: Step, place: Path) -> None:
        """Count what the step left: what cannot be counted cannot be given to a box again. BrokenSetup."""
        try:
            for name in PLACES:
                for _ in walk(place / name):
                    pass
        except Refused as error:
            raise self._broken(step, f"left what cannot be used: {error}") from None

    def _job(self, step: Step, place: Path, index: IndexProxy | None) -> Job:
        setup = self.setup
        own = (Mount(place / name, target, writable=True) for name, target in PLACES.items())
        mounts = [*own, *setup.interpreter]  # in this order: an interpreter may lie below /tmp
        env = {**SEEN, **QUIET}
        if os.path.exists(CERTIFICATES):
            env |= {"PIP_CERT": CERTIFICATES, "SSL_CERT_FILE": CERTIFICATES}
        if setup.packages is not None:
            mounts.append(Mount(setup.packages, PACKAGES))
            env |= OFFLINE
        job = Job(step.command, tuple(mounts), cwd=JOB, env=env, limits=setup.limits)
        if index is None or not step.online:
            return job
        env |= {"HTTPS_PROXY": PROXY, "https_proxy": PROXY}
        if setup.private:
            env |= dict.fromkeys(("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), setup.private.in_the_box)
        return replace(job, meter=index.place, env=env)

    def _broken(self, step: Step, how: str, said: str = "") -> BrokenSetup:
        return BrokenSetup(
            f"the tests of {self.setup.name} have no environment: `{one_line(step.name, MOST_LINE)}` {how}\n"
            f"{what_mends(said, step.name, step.mend, self.setup.file)}"
        )


def _steps(command: str, python: Path) -> Iterator[Step]:
    yield Step(f"{python} -m venv", (str(python), "-I", "-m", "venv", ENV), "python", online=False)
    if command:
        yield Step(in_words(command), ("sh", "-c", f"exec 2>&1\n{command}"))
    yield Step("pip install pytest coverage", ("sh", "-c", EACH % TOOLS, "sh", PINNED, REPORTERS))
    yield Step(command, ("sh", "-c", EACH % '"$python" -I -c "$1" || exit', "sh", COPIES), online=False)
    yield Step(command, (str(python), "-I", "-S", "-c", KEEPING), online=False)


def printed(done: Finished) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", (done.output + b"\n" + done.errors).decode("utf-8", "replace"))


def told(done: Finished) -> str:
    """What it called an error, then the last lines that it printed, as plain text: pip tells the cause first."""
    lines = list(dict.fromkeys(line.strip() for line in printed(done).splitlines() if line.strip()))
    causes = [line for line in lines if CAUSE.match(line)][: MOST_LINES - 1]
    ends = [line for line in lines if line not in causes][len(causes) - MOST_LINES :]
    return "\n".join("  " + "".join(filter(str.isprintable, line[:MOST_LINE])) for line in causes + ends)
