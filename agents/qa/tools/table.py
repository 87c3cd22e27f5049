"""The table: which files have a tool of their own, how it is asked, and how its answer is read. Pure.

A command runs in a shell, in the folder of the repository (or of its manage.py); its files are its arguments. What it
says counts only where it did not say it of the base.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from sisimpur.agents.qa.runner.suite import GATE, PACKAGES
from sisimpur.agents.qa.tools import own_readings, readings
from sisimpur.agents.qa.tools.readings import ABSENT, Reader, ToolRemark
from sisimpur.shared.model.evidence import Remedy
from sisimpur.shared.model.scope import matches, permits
from sisimpur.shared.sandbox.linter import AUDIT, OPTIONS, SCHEMA

MANAGE = "manage.py"

SHELL = ("*.sh", "*.bash")
WORKFLOW = ("/.github/workflows/*.yml", "/.github/workflows/*.yaml")
COMPOSE = ("docker-compose*.yml", "docker-compose*.yaml", "compose*.yml", "compose*.yaml")
DOCKERFILE = ("Dockerfile", "Dockerfile.*", "*.Dockerfile", "Containerfile")
REQUIREMENTS = ("*requirements*.txt", "requirements/*.txt", "*constraints*.txt")
DJANGO = ("*.py", "templates/", "*.html")
PYTHON = ("*.py", "*.pyi")
LINTED = (("ruff.toml", ""), (".ruff.toml", ""), ("pyproject.toml", "[tool.ruff"))
LINTING = 'ruff check --no-cache --no-fix --force-exclude --output-format concise --quiet "$@" 2>&1'
TYPED = (("mypy.ini", ""), (".mypy.ini", ""), ("pyproject.toml", "[tool.mypy"), ("setup.cfg", "[mypy"))
UNTESTED = (
    *SHELL,
    *WORKFLOW,
    *COMPOSE,
    *DOCKERFILE,
    *REQUIREMENTS,
    *("*requirements*.in", "requirements/*.in"),
    "poetry.lock",
    "uv.lock",
)  # nobody writes unit tests of these

# `python -m`, without the folder that it is started in: no file of the repository takes the place of the tool, or of a
# part of it.
ENVIRONMENTS_OWN = f"""python -c "import sys
sys.path = [place for place in sys.path if place]
import importlib.util, runpy
tool = sys.argv.pop(1)
if importlib.util.find_spec(tool) is None:
    sys.exit({ABSENT})
runpy.run_module(tool, run_name='__main__', alter_sys=True)
\""""
EACH_SHELL = 'for file; do bash -n "$file"; done; exit 0'
EACH_PIP = f"""index=--no-index
if [ -d {PACKAGES} ]; then index="$index --find-links {PACKAGES}"; else echo "== no packages"; fi
for file; do
  echo "== $file"
  {ENVIRONMENTS_OWN} pip install --dry-run --quiet --disable-pip-version-check $index -r "$file" || true
done"""
COMPOSED = """compose() {
  if docker compose version >/dev/null 2>&1; then docker compose "$@"; else docker-compose "$@"; fi
}
for file; do
  said=$(compose -f "$file" config -q 2>&1) && continue
  for base in docker-compose.yml docker-compose.yaml compose.yml compose.yaml; do
    main="$(dirname "$file")/$base"
    [ -f "$main" ] && compose -f "$main" -f "$file" config -q >/dev/null 2>&1 && continue 2
  done
  printf '== %s\\n%s\\n' "$file" "$said"
done"""


OwnReading = Callable[[str, str, Collection[str]], Iterator[ToolRemark | str]]  # path, text, all paths of the commit


@dataclass(frozen=True)
class FileTool:
    """`files`: patterns of what it reads. `needs`: shell that fails where it is not installed. `at`: only in a
    repository with this file, in its folder, and about all of it. `own`: no program, but a reading of our own.
    `asked`: files, and a piece of their text: only in a repository that has one of these asks for the tool at all.
    `of_tests`: it reads changed tests, too.
    """

    name: str
    files: tuple[str, ...]
    command: str = ""
    read: Reader = readings.nothing
    needs: str = "true"
    at: str = ""
    remedy: Remedy = "correct"
    own: OwnReading | None = None
    asked: tuple[tuple[str, str], ...] = ()
    of_tests: bool = False

    def line(self, files: Iterable[str], folder: str = "") -> str:
        """The whole line for a shell."""
        inner = (
            f"{{ {self.needs}; }} >/dev/null 2>&1 || exit {ABSENT}\ncd ./{shlex.quote(folder)} || exit\n{self.command}"
        )
        return shlex.join(("sh", "-c", inner, "sh", *(f"./{file}" if file[0] == "-" else file for file in files)))

    def concerned(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(path for path in paths if matches(path, self.files)))

    def is_asked(self, paths: Collection[str], read: Callable[[str], str]) -> bool:
        """Whether this repository wants to know what the tool says."""
        return not self.asked or any(path in paths and piece in read(path) for path, piece in self.asked)


def _program(name: str) -> str:
    return f"command -v {name}"


def _workflow(name: str) -> FileTool:
    command = f'env -u PYTHONPATH {shlex.join((name, *OPTIONS[name]))} "$@" 2>/dev/null'
    return FileTool(name, WORKFLOW, command, partial(readings.workflow, name), _program(name), remedy="ask owner")


def _lock(file: str, command: str) -> FileTool:
    """A lock is written by its own program, not by a model: the owner's turn."""
    return FileTool(
        command, (file, "pyproject.toml"), command, needs=_program(command.split()[0]), at=file, remedy="ask owner"
    )


TOOLS = (
    FileTool("bash -n", SHELL, EACH_SHELL, readings.under, _program("bash")),
    FileTool("shellcheck", SHELL, 'shellcheck -f gcc -S warning "$@"', readings.gcc, _program("shellcheck")),
    _workflow(SCHEMA),
    _workflow(AUDIT),
    FileTool(
        "docker compose config",
        COMPOSE,
        COMPOSED,
        readings.compose,
        "docker compose version || command -v docker-compose",
    ),
    FileTool("our reading of compose files", COMPOSE, own=own_readings.compose),
    FileTool("our reading of Dockerfiles", DOCKERFILE, own=own_readings.dockerfile),
    FileTool("hadolint", DOCKERFILE, 'hadolint --no-color --no-fail "$@"', readings.hadolint, _program("hadolint")),
    FileTool("pip install --dry-run", REQUIREMENTS, EACH_PIP, readings.pip, f"{ENVIRONMENTS_OWN} pip --version"),
    _lock("poetry.lock", "poetry check --lock"),
    _lock("uv.lock", "uv lock --check --offline"),
    FileTool(
        "Django's own checks",
        DJANGO,
        f"python {GATE}/gate_django.py",
        readings.django,
        "python -c 'import django'",
        MANAGE,
    ),
    FileTool("ruff check", PYTHON, LINTING, readings.ruff, _program("ruff"), asked=LINTED, of_tests=True),
    FileTool("mypy", PYTHON, f'python {GATE}/gate_types.py "$@"', readings.mypy, asked=TYPED),
)


def home_of(tool: FileTool, paths: Collection[str]) -> str | None:
    """The folder that the tool runs in; None: it has nothing to do in this repository."""
    if not tool.at:
        return ""
    found = [path for path in paths if posixpath.basename(path) == tool.at]
    return posixpath.dirname(min(found, key=lambda path: (path.count("/"), path))) if found else None


def is_checked_by_tools(path: str) -> bool:
    return permits(path, UNTESTED)
