"""Who may import whom: main.py -> cli -> agents -> shared/edge -> shared/domain -> standard library."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

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


@cache
def modules() -> tuple[Path, ...]:
    found = [ROOT / "main.py"]
    for folder in ("cli", "agents", "shared"):
        found += sorted((ROOT / folder).rglob("*.py"))
    return tuple(found)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def imports(path: Path) -> tuple[tuple[str, bool], ...]:
    """(module, whether it is imported when this module is loaded)."""
    top = {id(node) for node in parsed(path).body}
    found: list[tuple[str, bool]] = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found += ((alias.name, id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += ((f"{node.module}.{alias.name}", id(node) in top) for alias in node.names)
    return tuple(found)


def tops(path: Path) -> set[str]:
    return {name.split(".")[0] for name, _ in imports(path)}


def ours(path: Path) -> set[str]:
    return {name for name, _ in imports(path) if name.split(".")[0] in ("main", "cli", "agents", "shared", "tests")}


def third_party(path: Path) -> set[str]:
    return tops(path) - set(sys.stdlib_module_names) - {"cli", "agents", "shared", "main"}


def offenders(paths: Sequence[Path], wrong: Callable[[Path], set[str]]) -> dict[str, list[str]]:
    """Each module with what it imports against a rule."""
    assert paths, "the rule holds for nothing: its folder has another name now"
    return {str(path.relative_to(ROOT)): sorted(found) for path in paths if (found := wrong(path))}


WORDS = [path for path in modules() if "domain" in path.parts]
DOORS = [path for path in modules() if "edge" in path.parts]
AGENTS = [path for path in modules() if path.parent.parent.name == "agents"]


def test_words_know_only_words_and_the_standard_library() -> None:
    def wrong(path: Path) -> set[str]:
        return {name for name in ours(path) if not name.startswith("shared.domain")} | third_party(path)

    assert offenders(WORDS, wrong) == {}


def test_doors_know_no_agent_and_no_command() -> None:
    assert offenders(DOORS, lambda path: {name for name in ours(path) if not name.startswith("shared.")}) == {}


def test_agents_know_only_their_own_folder_and_shared() -> None:
    def wrong(path: Path) -> set[str]:
        role = path.parent.name
        allowed = ("shared.", f"agents.{role}.")
        if path.name == "agent.py" and role == "orchestrator":
            allowed = ("shared.", "agents.")  # the one place where the roles meet
        return {name for name in ours(path) if not name.startswith(allowed)}

    assert offenders(AGENTS, wrong) == {}


def test_agents_reach_the_world_only_through_doors() -> None:
    effects = {"subprocess", "socket", "sqlite3", "urllib", "http", "shutil", "os"}
    assert offenders(AGENTS, lambda path: (third_party(path) - {"pydantic"}) | (tops(path) & effects)) == {}


# Modules that nothing imports when it is loaded: who needs them pays for them.
LOADED_LAZILY = {
    *("docker_wire", "local_webhook", "meter", "meter_upstream"),
    *("scripted_model", "scripted_wire"),
}
LOADED_AT_ONCE = [path for path in modules() if path.stem not in LOADED_LAZILY]


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    def wrong(path: Path) -> set[str]:
        return {name.split(".")[0] for name, loads in imports(path) if loads} & HEAVY

    assert offenders(LOADED_AT_ONCE, wrong) == {}


def test_a_module_that_is_loaded_lazily_is_imported_lazily() -> None:
    def wrong(path: Path) -> set[str]:
        eager = {name for name, loads in imports(path) if loads and name.startswith("shared.edge.")}
        return {name for name in eager if LOADED_LAZILY & set(name.split("."))}

    assert offenders(LOADED_AT_ONCE, wrong) == {}


def test_only_the_process_door_starts_programs() -> None:
    starters = {path.stem for path in modules() if "subprocess" in tops(path)}
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
            what = ast.get_docstring(parsed(shared / folder / "__init__.py"))
            parts.append(f"## {folder}\n\n{what}\n\n| module | is |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


CHARTER = """# shared: words and doors

Words (`domain`) are frozen values and pure decisions; doors (`edge`) are one per piece of the outside world. Everything
else lives with the agent that needs it. To add a module is to write its sentence:
`python -m tests.test_architecture > shared/README.md`."""


def _row(path: Path) -> str:
    text = ast.get_docstring(parsed(path)) or ""
    return f"| `{path.name}` | {' '.join(text.split(chr(10) * 2)[0].split())} |"


def test_the_charter_of_shared_lists_every_module_with_its_sentence() -> None:
    assert (ROOT / "shared" / "README.md").read_text("utf-8") == charter()


if __name__ == "__main__":
    sys.stdout.write(charter())
