"""Target survey: files of a commit -> what the target is, what is installed for its tests, and how they run. Pure.

The one place that decides it: the environment, QA, `init`, `doctor` and the proposed workflow ask here.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sisimpur.agents.qa.survey.commands import NONE, Part, command_of, holds_tests, settings_module
from sisimpur.agents.qa.survey.manifests import WANTED, Manifests, Read, within
from sisimpur.agents.qa.survey.roots import FOLDER, Root, Suites, setup_of
from sisimpur.shared.model.change import CommitFiles, paths_of
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.text import one_line

LARGEST = 5_000_000  # bytes of a file that is read: lock files are long
PIP, LOCKED = "pip install", "/tmp/locked.txt"  # noqa: S108  the box's own
STUB = "echo 'import setuptools; setuptools.setup()' > setup.py"  # pip does not take a setup.cfg alone
# The versions of poetry.lock and pdm.lock, of what is there once: their own tools are large, and not always to be had.
PINS = (
    'import sys;toml=__import__("tomllib" if sys.version_info>(3,11) else "pip._vendor.tomli",fromlist=["load"]);'
    'p={(x["name"],x["version"]) for x in toml.load(open(sys.argv[1],"rb"))["package"]'
    ' if not {"git","path","url","source"}&x.keys()};'
    '[print(n+"=="+v) for n,v in sorted(p) if len({w for m,w in p if m==n})==1]'
)
PIPENV = (
    "import json,sys;d=json.load(open(sys.argv[1]));"
    '[print(n+x["version"]+("; "+x["markers"] if "markers" in x else ""))'
    ' for k in ("default","develop") for n,x in d[k].items() if "version" in x]'
)
REQUIREMENTS = re.compile(
    r"(requirements([-_.](dev|tests?|testing|develop))?|(dev|tests?|testing)[-_.]requirements)\.txt"
    r"|(requirements|reqs)/(requirements|base|common|main|dev|develop|development|local|tests?|testing)\.txt"
    r"|tests?/(requirements([-_.](dev|tests?))?|tests?[-_.]requirements)\.txt"
)
MANIFESTS = {"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "requirements.txt", "manage.py"}
LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock")  # the first that is there counts
NOT_PARTS = {
    *("tests", "test", "testing", "testdata", "fixtures", "docs", "doc", "examples", "example", "samples"),
    *("vendor", "third_party", "node_modules", "templates", "benchmarks", "requirements", "reqs", "scripts", "tools"),
}
HERE = {"tests", "test"}  # folders of tests that speak of all parts
DEEPEST = 3  # folders above a part
MOST_PARTS = 12
MOST_ROOTS = 6  # with environments of their own, unless the owner says so: each has a pytest, and its own copy of all
OTHERS = {
    "package.json": "JavaScript", "go.mod": "Go", "Cargo.toml": "Rust", "pom.xml": "Java", "build.gradle": "Java",
    "build.gradle.kts": "Kotlin", "Gemfile": "Ruby", "composer.json": "PHP", "CMakeLists.txt": "C or C++",
}  # fmt: skip
CONDA = re.compile(r"(?:.*/)?(environment[\w.-]*\.ya?ml|conda-lock\.yml|meta\.yaml)")
SAYS_SERVICES = re.compile(
    r"(.*/)?((docker-)?compose[\w.-]*\.ya?ml|settings[\w/]*\.py|\.gitlab-ci\.yml)|\.github/.*\.ya?ml"
)
CI = re.compile(r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml")
SYSTEM = re.compile(r"\bapt(?:-get)?(?: -\S+)* install ([^\n;&|]+)")
# A name, and nothing that a shell would read otherwise, or apt: `sudo-` removes it, `l.+` is an expression.
SYSTEM_PACKAGE = re.compile(r"[a-z0-9](?:[a-z0-9+-]|\.[a-z0-9])*[a-z0-9+]")
MOST_SYSTEM, LONGEST_PATH = 50, 120  # packages of one line, and characters
TESTED = re.compile(r"\b(pytest|tests?|tox|nox)\b")
SERVICES = {
    "PostgreSQL": r"image:\s*['\"]?[\w./-]*postg(?:res|is)|backends\.postgresql",
    "MySQL": r"image:\s*['\"]?[\w./-]*(?:mysql|mariadb)|backends\.mysql",
    "Redis": r"image:\s*['\"]?[\w./-]*(?:redis|valkey)|redis://",
    "RabbitMQ": r"image:\s*['\"]?[\w./-]*rabbitmq|amqp://",
    "MongoDB": r"image:\s*['\"]?[\w./-]*mongo|mongodb://",
    "Elasticsearch": r"image:\s*['\"]?[\w./-]*(?:elastic|opensearch)",
}
FOR_TESTS = re.compile(r"test|dev|local")  # in the name of a file of requirements
FLAT = re.compile(r"(tests?|docs?|examples?|scripts?|tools?|build|benchmarks?|utils?|tasks)")  # as setuptools sees them


@dataclass(frozen=True)
class TargetSurvey:
    """`paths`: of all files; `read`: the text of one; `offline`: packages come from a folder; no lock file is read.
    `asked`: the owner's word on the packages (`roots:`); what he leaves empty is found. None: his own commands are for
    all of them at once.

    Everything is found when it is asked for.
    """

    paths: Collection[str]
    read: Read
    offline: bool = False
    asked: tuple[Root, ...] | None = ()

    # --- what it is --------------------------------------------------------------------------------------

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The folders that are installed and tested, each by itself: nearly always the repository, and only that."""
        if said := [one.folder for one in self.asked or () if any(map(one.holds, self.paths))]:
            return tuple(map(self._part, said))
        there = _folders(self.paths)
        if not there or not there[0]:
            return (self._part(""),)
        is_tested = any(path.partition("/")[0] in (*HERE, path) and holds_tests(path) for path in self.paths)
        return tuple(map(self._part, (*([""] if is_tested else ()), *there[:MOST_PARTS])))

    @cached_property
    def roots(self) -> tuple[Root, ...]:
        """The parts, where each has an environment of its own; empty: they share one."""
        parts = self.parts
        are_apart = self.asked is not None and 1 < len(parts) <= MOST_ROOTS and parts[0].folder
        return tuple(map(self._root, parts)) if self.asked or are_apart else ()

    @property
    def languages(self) -> tuple[str, ...]:
        ours = ("Python",) if any(path.endswith(".py") for path in self.paths) else ()
        return (*ours, *dict.fromkeys(language for language, _ in self.others()))

    def others(self) -> Iterator[tuple[str, str]]:
        """(language, file that shows it) of what has suites that are not run here."""
        for path in sorted(self.paths):
            name = path.rpartition("/")[2]
            if name in OTHERS and not NOT_PARTS & set(path.split("/")[:-1]):
                yield OTHERS[name], path

    def services(self) -> Mapping[str, str]:
        """What tests may need that is not there: its name -> the file that shows it."""
        found: dict[str, str] = {}
        for path in sorted(self.paths):
            if SAYS_SERVICES.fullmatch(path):
                text = self.read(path)
                found = {name: path for name, sign in SERVICES.items() if re.search(sign, text)} | found
        return found

    def system_packages(self) -> tuple[str, str]:
        """What its CI installs beside Python's packages, as one line for Debian, and the file; empty: nothing."""
        for path in filter(CI.fullmatch, sorted(self.paths)):
            words = [word for found in SYSTEM.findall(self.read(path).replace("\\\n", " ")) for word in found.split()]
            if named := [word for word in dict.fromkeys(words) if SYSTEM_PACKAGE.fullmatch(word)]:
                return f"apt-get install {' '.join(named[:MOST_SYSTEM])}", one_line(path, LONGEST_PATH)
        return "", ""

    @property
    def manager(self) -> str:
        """Who manages its packages."""
        part = self.parts[0]
        lock = self._lock(part)
        by_tool = next((name for name in ("poetry", "pdm", "hatch", "uv") if name in part.manifests.tool), "")
        by_file = {"uv.lock": "uv", "Pipfile.lock": "pipenv", "pylock.toml": "pip"}.get(lock, lock.partition(".")[0])
        return by_file or by_tool or ("pipenv" if "Pipfile" in part.paths else "pip")

    def conda(self) -> str:
        """The file that asks for conda where nothing asks for pip; empty: there is none."""
        found = next((path for path in sorted(self.paths) if CONDA.fullmatch(path)), "")
        return found if found and not self.setup else ""

    # --- what is installed, and how it is tested ----------------------------------------------------------

    @cached_property
    def setup(self) -> str:
        """The command that installs what the tests need; empty: nothing is to be installed."""
        if self.roots:
            return setup_of(self.roots)
        if len(self.parts) == 1 and not self.parts[0].folder:
            return " && ".join(self._steps(self.parts[0]))
        steps = [(part, step) for part in self.parts for step in self._steps(part, alone=False)]
        local = " ".join(f"-e {shlex.quote(_place(part))}" for part in self.parts if _is_package(part))
        together = [f"{PIP} --use-pep517 {local}"] if local else []  # in one go: they need one another
        return " && ".join((*together, *(f"(cd {shlex.quote(part.folder)} && {step})" for part, step in steps)))

    def test(self, configured: str = "") -> str:
        """The command for its tests; empty: it has none. `configured`: what the owner says."""
        if said := configured.strip():
            return "" if said == NONE else said
        if self.roots:
            return Suites.of(self.roots).whole
        if not self.parts[0].folder and (whole := command_of(self.parts[0])):
            return whole  # the tests of all lie there, or are found from there
        commands = {part.folder: command for part in self.parts if (command := command_of(part))}
        if len(commands) > 1:
            runs = " ".join(f"(cd {shlex.quote(folder)} && {run}) || code=$?;" for folder, run in commands.items())
            return f"code=0; {runs} exit $code"
        return next((f"cd {shlex.quote(at)} && {run}" if at else run for at, run in commands.items()), "")

    def suites(self, configured: str = "") -> Suites:
        """As `test`, with the roots that can be run by themselves."""
        return Suites.of(self.roots) if self.roots and not configured.strip() else Suites(self.test(configured))

    @property
    def settings(self) -> str:
        """Django's settings module; empty: there is none."""
        return next(filter(None, map(settings_module, self.parts)), "")

    def _part(self, folder: str) -> Part:
        at = f"{folder}/" if folder else ""
        paths = frozenset(path.removeprefix(at) for path in self.paths if path.startswith(at)) if at else self.paths
        said = () if at else map(self.read, filter(CI.fullmatch, sorted(paths)))
        runs = "\n".join(text for text in said if TESTED.search(text))
        return Part(folder, paths, Manifests(lambda path: self.read(at + path) if path in paths else "", runs))

    def _root(self, part: Part) -> Root:
        said = next((one for one in self.asked or () if one.folder == part.folder), Root(part.folder))
        test = said.test or command_of(part)
        return Root(part.folder, said.setup or " && ".join(self._apart(part)), "" if test == NONE else test)

    def _apart(self, part: Part) -> Iterator[str]:
        """Install it from its own folder, in one go with the other packages of the repository that it needs."""
        wanted = [*self._beside(part)]
        beside = [f"-e {shlex.quote(posixpath.relpath(one.folder, part.folder))}" for one in wanted]
        own = [f"-e {shlex.quote(_place(part, '.'))}"] if _is_package(part) else []
        if own or beside:
            yield f"{PIP} --use-pep517 {' '.join((*own, *beside))}"
        yield from self._steps(part, alone=False)

    def _beside(self, part: Part) -> Iterator[Part]:
        """The packages that it names, and those that these name."""
        open_, known = [part], {part.folder}
        while open_:
            here = open_.pop()
            names = here.manifests.names(one for one in here.paths if REQUIREMENTS.fullmatch(one))
            for other in self.parts:
                if other.folder not in known and other.manifests.name in names and _is_package(other):
                    known.add(other.folder)
                    open_.append(other)
                    yield other

    def _lock(self, part: Part) -> str:
        return "" if self.offline else next((name for name in LOCKS if name in part.paths), "")

    def _steps(self, part: Part, alone: bool = True) -> Iterator[str]:
        lock, is_package = self._lock(part), _is_package(part)
        is_exported = lock in ("uv.lock", "pylock.toml", "Pipfile.lock")
        pip = f"{PIP} -c {LOCKED}" if lock and not is_exported else PIP
        if lock:
            yield _of_lock(lock, part)
        files = sorted((one for one in part.paths if REQUIREMENTS.fullmatch(one)), key=lambda one: (len(one), one))
        hashed = [one for one in files if "--hash=" in part.read(one)]  # pip takes these only by themselves
        for group in (hashed, [one for one in files if one not in hashed]):
            if group:
                yield pip + "".join(f" -r {one}" for one in group)
        if asked := () if is_exported else self._asked(part, is_package, files):
            yield f"{pip} {shlex.join(asked)}"
        if is_package and alone:
            stub = f"{STUB} && " if not {"setup.py", "pyproject.toml"} & {*part.paths} else ""
            yield f"{stub}{_with_extras(f'{pip} --use-pep517 -e', part)}"

    def _asked(self, part: Part, is_package: bool, files: Iterable[str]) -> tuple[str, ...]:
        """Requirements that stand in no file of pip's; those of tox and nox if nothing else speaks of tests."""
        asked = part.manifests.requirements(is_package)
        if asked or part.manifests.extras() or any(FOR_TESTS.search(one) for one in files):
            return asked
        return part.manifests.by_runners()


def _with_extras(install: str, part: Part) -> str:
    """Its CI installs what its extras need of the system, too. Where one cannot be built, the others are installed."""
    every = shlex.quote(_place(part))
    if not (extras := [shlex.quote(name) for name in part.manifests.extras() if name not in WANTED]):
        return f"{install} {every}"
    each = f'{install} ".[$extra]" || echo "left out: $extra"'
    plain = shlex.quote(_place(part, without_ci=True))
    return f"({install} {every} || ({install} {plain} && for extra in {' '.join(extras)}; do {each}; done))"


def _place(part: Part, at: str = "", without_ci: bool = False) -> str:
    """`.[test]`, with the extras that it has; those of a setup.py nobody knows, and pip only warns about others."""
    extras = part.manifests.extras()
    known = tuple(name for name in extras if name in WANTED) if without_ci else extras
    known = known or (WANTED if "setup.py" in part.paths else ())
    place = at or (f"./{part.folder}" if part.folder else ".")
    return f"{place}[{','.join(known)}]" if known else place


def _is_package(part: Part) -> bool:
    """Whether pip can install it. Without a build system setuptools finds one package, and refuses several."""
    manifests = part.manifests
    if within(manifests.tool, "poetry", "package-mode") is False or within(manifests.tool, "uv", "package") is False:
        return False
    if "setup.py" in part.paths or "build-system" in manifests.pyproject or "metadata" in manifests.setup_cfg:
        return True
    tops = {path.partition("/")[0] for path in part.paths if path.endswith(".py") and path.count("/") == 1}
    return manifests.is_project and ("src" in tops or len([top for top in tops if not FLAT.fullmatch(top)]) <= 1)


def _of_lock(lock: str, part: Part) -> str:
    """Install what uv or pip read of a lock file; of others its versions bind all that pip installs."""
    if lock == "uv.lock":
        every = " --all-packages" if within(part.manifests.tool, "uv", "workspace") else ""
        chosen = "".join(f" --group {name}" for name in part.manifests.groups())
        chosen += "".join(f" --extra {shlex.quote(name)}" for name in part.manifests.extras())
        export = f"uv export -q --frozen --no-hashes --no-emit-project{every}{chosen} -o {LOCKED}"
        return f"{PIP} uv && {export} && {PIP} -r {LOCKED}"
    if lock == "pylock.toml":
        return f"{PIP} uv && uv pip install -r {lock}"
    if lock == "Pipfile.lock":
        return f"python -c '{PIPENV}' {lock} > {LOCKED} && {PIP} -r {LOCKED}"
    return f"python -c '{PINS}' {lock} > {LOCKED}"


def survey_at(
    source: CommitFiles, commit: str, offline: bool = False, asked: tuple[Root, ...] | None = ()
) -> TargetSurvey:
    """The survey of one commit."""

    def read(path: str) -> str:
        try:
            return (source.read(commit, path, LARGEST) or b"").decode("utf-8", "replace")
        except Refused:  # what is so large is no manifest
            return ""

    return TargetSurvey(paths_of(source, commit), read, offline, asked)


def _folders(paths: Iterable[str]) -> list[str]:
    """Those with manifests, none in another, none of what only looks like a part."""
    having = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] in MANIFESTS}
    having |= {""} if any(map(REQUIREMENTS.fullmatch, paths)) else set()
    found: list[str] = []
    for folder in sorted(having, key=lambda one: (one.count("/"), one)):
        names = folder.split("/")
        is_part = FOLDER.fullmatch(folder) and len(names) <= DEEPEST and not NOT_PARTS & set(names)
        if not folder or (is_part and not any(folder.startswith(f"{other}/") for other in found)):
            found.append(folder)
    return sorted(found)
