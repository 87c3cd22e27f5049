"""Who may import whom: main.py -> cli -> agents -> shared/edge -> shared/domain -> standard library."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# What takes long to load.
HEAVY = {
    "anthropic",
    "httpx2",
    "starlette",
    "uvicorn",
    "genai_prices",
    "git",
    "github",
    "docker",
    "apscheduler",
    "rich",
    "PIL",
    "tavily",
    "ddgs",
    "requests",
    "lxml",
    "trafilatura",
    "protego",
    "charset_normalizer",
}


def modules() -> list[Path]:
    found = [ROOT / "main.py"]
    for folder in ("cli", "agents", "shared"):
        found += sorted((ROOT / folder).rglob("*.py"))
    return found


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """(module, whether it is imported when this module is loaded)."""
    tree = ast.parse(path.read_text("utf-8"))
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", id(node) in top) for alias in node.names)


def ours(path: Path) -> set[str]:
    return {name for name, _ in imports(path) if name.split(".")[0] in ("main", "cli", "agents", "shared", "tests")}


def third_party(path: Path) -> set[str]:
    tops = {name.split(".")[0] for name, _ in imports(path)}
    return tops - set(sys.stdlib_module_names) - {"cli", "agents", "shared", "main"}


def named(paths: list[Path]) -> list[object]:
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


@pytest.mark.parametrize("path", named([p for p in modules() if "domain" in p.parts]))
def test_words_know_only_words_and_the_standard_library(path: Path) -> None:
    assert {name for name in ours(path) if not name.startswith("shared.domain")} == set()
    assert third_party(path) == set()


@pytest.mark.parametrize("path", named([p for p in modules() if "edge" in p.parts]))
def test_doors_know_no_agent_and_no_command(path: Path) -> None:
    assert {name for name in ours(path) if not name.startswith("shared.")} == set()


@pytest.mark.parametrize("path", named([p for p in modules() if p.parent.parent.name == "agents"]))
def test_agents_know_only_their_own_folder_and_shared(path: Path) -> None:
    role = path.parent.name
    allowed = ("shared.", f"agents.{role}.")
    if path.name == "agent.py" and role == "orchestrator":
        allowed = ("shared.", "agents.")  # the one place where the roles meet
    assert {name for name in ours(path) if not name.startswith(allowed)} == set()


@pytest.mark.parametrize("path", named([p for p in modules() if p.parent.parent.name == "agents"]))
def test_agents_reach_the_world_only_through_doors(path: Path) -> None:
    assert third_party(path) - {"pydantic"} == set()
    effects = {"subprocess", "socket", "sqlite3", "urllib", "http", "shutil", "os"}
    assert {name.split(".")[0] for name, _ in imports(path)} & effects == set()


@pytest.mark.parametrize("path", named(modules()))
def test_heavy_packages_are_imported_where_they_are_used(path: Path) -> None:
    at_load = {name.split(".")[0] for name, loads in imports(path) if loads}
    assert at_load & HEAVY == set() or path.stem in LOADED_LAZILY


# Modules that nothing imports when it is loaded: who needs them pays for them.
LOADED_LAZILY = {"local_webhook", "meter", "meter_upstream", "scripted_model", "scripted_wire"}


@pytest.mark.parametrize("path", named(modules()))
def test_a_module_that_is_loaded_lazily_is_imported_lazily(path: Path) -> None:
    eager = {name for name, loads in imports(path) if loads and name.startswith("shared.edge.")}
    if path.stem not in LOADED_LAZILY:
        assert {name for name in eager if LOADED_LAZILY & set(name.split("."))} == set()


def test_only_the_process_door_starts_programs() -> None:
    starters = {p.stem for p in modules() if any(name.split(".")[0] == "subprocess" for name, _ in imports(p))}
    assert starters <= {"process", "box_forward", "box_probe", "setup"}  # two run inside boxes, one before all else


def test_no_module_imports_itself_in_a_circle() -> None:
    import graphlib

    def module(path: Path) -> str:
        return ".".join(path.relative_to(ROOT).with_suffix("").parts)

    names = {module(path) for path in modules()}
    graph = {
        module(path): {name if name in names else name.rpartition(".")[0] for name in ours(path)} & names
        for path in modules()
    }
    assert list(graphlib.TopologicalSorter(graph).static_order())


def charter() -> str:
    """shared/README.md: one sentence per module, its docstring's own."""
    shared = ROOT / "shared"
    folders = [
        "domain",
        "edge",
        *(f"edge/{path.name}" for path in sorted((shared / "edge").iterdir()) if path.is_dir()),
    ]
    parts = [CHARTER]
    for folder in folders:
        rows = [_row(path) for path in modules() if path.parent == shared / folder and path.name != "__init__.py"]
        if rows:
            what = ast.get_docstring(ast.parse((shared / folder / "__init__.py").read_text("utf-8")))
            parts.append(f"## {folder}\n\n{what}\n\n| module | is |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


CHARTER = """# shared: words and doors

Words (`domain`) are frozen values and pure decisions; doors (`edge`) are one per piece of the outside world. Everything
else lives with the agent that needs it. To add a module is to write its sentence:
`python -m tests.test_architecture > shared/README.md`."""


def _row(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return f"| `{path.name}` | {' '.join(text.split(chr(10) * 2)[0].split())} |"


def test_the_charter_of_shared_lists_every_module_with_its_sentence() -> None:
    assert (ROOT / "shared" / "README.md").read_text("utf-8") == charter()


if __name__ == "__main__":
    sys.stdout.write(charter())
