"""Who may import whom: main.py -> cli, web -> agents -> shared/<adapter> -> shared/model -> standard library."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
BELOW = "sisimpur."  # the import root: the rules name modules by their folders, without it
ALL = {"TeamError", "Exception", "BaseException"}  # of our errors; who catches these stands last
# What takes long to load.
HEAVY = {
    "anthropic",
    "httpx2",
    "fastapi",
    "starlette",
    "uvicorn",
    "webauthn",
    "websockets",
    "genai_prices",
    "git",
    "github",
    "docker",
    "apscheduler",
    "rich",
    "PIL",
    "ddgs",
    "requests",
    "lxml",
    "trafilatura",
    "protego",
    "charset_normalizer",
    "authlib",
    "joserfc",
}


@cache
def modules() -> tuple[Path, ...]:
    found = [ROOT / "main.py"]
    for folder in ("cli", "web", "agents", "shared"):
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
            found += ((alias.name.removeprefix(BELOW), id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            source = node.module.removeprefix(BELOW)
            found += ((f"{source}.{alias.name}", id(node) in top) for alias in node.names)
    return tuple(found)


def tops(path: Path) -> set[str]:
    return {name.split(".")[0] for name, _ in imports(path)}


def ours(path: Path) -> set[str]:
    return {
        name
        for name, _ in imports(path)
        if name.split(".")[0] in ("main", "cli", "web", "agents", "shared", "simulators", "tests")
    }


def third_party(path: Path) -> set[str]:
    return tops(path) - set(sys.stdlib_module_names) - {"cli", "web", "agents", "shared", "main", "simulators"}


def offenders(paths: Sequence[Path], wrong: Callable[[Path], set[str]]) -> dict[str, list[str]]:
    """Each module with what it imports against a rule."""
    assert paths, "the rule holds for nothing: its folder has another name now"
    return {str(path.relative_to(ROOT)): sorted(found) for path in paths if (found := wrong(path))}


def within(*packages: str) -> list[Path]:
    """The modules of these packages, and of all below them."""
    folders = [ROOT.joinpath(*package.split(".")) for package in packages]
    return [path for path in modules() if any(folder in path.parents for folder in folders)]


def test_what_is_ours_is_imported_below_one_root() -> None:
    """Else a module would be there twice, and its names would be those of other packages once it is installed."""
    foreign = re.compile(r"^\s*(from|import) (agents|cli|web|shared|simulators)\b", re.MULTILINE)
    paths = [*modules(), *(path for top in ("simulators", "bench", "tests") for path in (ROOT / top).rglob("*.py"))]
    made_up = {"test_house", "test_house_static", "test_packages"}  # trees of their own, in texts
    found = [path.name for path in paths if foreign.search(path.read_text("utf-8")) and path.stem not in made_up]
    assert found == []


def test_the_model_knows_only_itself_and_the_standard_library() -> None:
    def wrong(path: Path) -> set[str]:
        return {name for name in ours(path) if not name.startswith("shared.model")} | third_party(path)

    assert offenders(within("shared.model"), wrong) == {}


def test_shared_knows_no_agent_and_no_command() -> None:
    foreign = ("agents", "cli", "web", "main", "simulators", "tests")
    assert offenders(within("shared"), lambda path: {name for name in ours(path) if name.startswith(foreign)}) == {}


def test_agents_know_only_their_own_folder_and_shared() -> None:
    def wrong(path: Path) -> set[str]:
        role = path.relative_to(ROOT / "agents").parts[0]
        return {name for name in ours(path) if not name.startswith(("shared.", f"agents.{role}."))}

    assert offenders([path for path in within("agents") if path.name != "__init__.py"], wrong) == {}


def test_what_was_said_comes_back_to_a_person_alone_never_into_a_prompt() -> None:
    """It holds words of strangers; of the record nobody who decides, or asks a model, reads it."""
    read = ("shared.record.conversations", "shared.record.trace")
    others = [path for path in within("agents", "shared") if path.parent != ROOT / "shared" / "record"]
    assert offenders(others, lambda path: {name for name in ours(path) if name.startswith(read)}) == {}


def test_the_product_knows_simulators_only_in_the_demo() -> None:
    knows = {path.relative_to(ROOT).as_posix() for path in modules() if "simulators" in tops(path)}
    assert knows == {"cli/commands/offline.py"}


# What speaks to the system or to a library of the outside world; all else asks one of these.
ADAPTERS = (
    *("agents.coder.engine", "agents.qa.runner", "agents.researcher.web"),
    *("agents.devops.ci", "agents.devops.compose", "agents.devops.docker", "agents.devops.drivers"),
)
ADAPTER_MODULES = {
    "agents/orchestrator/reports/drawn/canvas.py",
    "agents/orchestrator/reports/drawn/pdf.py",
    "agents/orchestrator/upkeep/package_index.py",
}


def test_agents_reach_the_world_only_through_adapters() -> None:
    effects = {"subprocess", "socket", "sqlite3", "urllib", "http", "shutil", "os"}
    adapters = within(*ADAPTERS)
    deciding = [path for path in within("agents") if path not in adapters]

    def wrong(path: Path) -> set[str]:
        rows = {"sqlite3"} if path.stem.endswith("_book") else set()  # a repository reads rows
        return (third_party(path) - {"pydantic"}) | (tops(path) & effects - rows)

    found = offenders(deciding, wrong)
    assert set(found) <= ADAPTER_MODULES, found


# Modules that nothing imports when it is loaded: who needs them pays for them.
LOADED_LAZILY = {
    *("access_routes", "acting_routes", "alias_routes", "board_answers", "board_app", "board_news", "file_routes"),
    *("board_openapi", "order_bodies", "page_files", "reading_routes", "yielding_connection"),
    *("oauth_provider", "oauth_routes", "passkey_routes", "push_routes", "step_up"),
    *("docker_wire", "local_webhook", "meter", "scripted_model"),
}
LOADED_AT_ONCE = [path for path in modules() if not LOADED_LAZILY & set(path.with_suffix("").parts)]


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    def wrong(path: Path) -> set[str]:
        return {name.split(".")[0] for name, loads in imports(path) if loads} & HEAVY

    assert offenders(LOADED_AT_ONCE, wrong) == {}


def test_a_module_that_is_loaded_lazily_is_imported_lazily() -> None:
    def wrong(path: Path) -> set[str]:
        eager = {name for name, loads in imports(path) if loads and name.startswith(("shared.", "agents.", "simul"))}
        return {name for name in eager if LOADED_LAZILY & set(name.split("."))}

    assert offenders(LOADED_AT_ONCE, wrong) == {}


def test_only_the_process_door_starts_programs() -> None:
    starters = {path.stem for path in modules() if "subprocess" in tops(path)}
    assert starters <= {
        "process",
        "box_forward",
        "box_probe",
        "environments",
    }  # two run inside boxes, one before all else


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


@cache
def above() -> dict[str, set[str]]:
    """Class of the product -> the names of all that it comes from; a class name is there once."""
    near = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for path in modules()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef)
    }

    def all_(name: str) -> set[str]:
        return {name}.union(*map(all_, near.get(name, ())))

    return {name: all_(name) - {name} for name in near}


def shadowed(path: Path) -> set[str]:
    """Errors that are caught before one that they are a case of: those handlers may stand in one order only."""
    found = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Try):
            caught: set[str] = set()
            for handler in node.handlers:
                names = {one.id for one in ast.walk(handler.type or ast.Name("")) if isinstance(one, ast.Name)}
                found |= {f"{one} at {node.lineno}" for one in caught if above().get(one, set()) & (names - ALL)}
                caught |= names
    return found


def test_handlers_of_our_errors_may_stand_in_any_order() -> None:
    """Only whoever catches them all, as TeamError, stands last."""
    assert "Refused" in above()["ForgeRefused"]
    assert offenders(modules(), shadowed) == {}


def tree() -> str:
    """The packages, each with the sentence of its `__init__`."""
    rows = []
    for path in modules():
        if path.name == "__init__.py" and (text := ast.get_docstring(parsed(path))):
            folder = path.parent.relative_to(ROOT)
            name = f"{'  ' * (len(folder.parts) - 1)}{folder.name}/"
            rows.append(f"{name:<28}{text.splitlines()[0]}")
    return "\n".join(rows) + "\n"


def test_the_shape_shows_every_package_with_its_sentence() -> None:
    """`python -m tests.test_architecture` prints the tree for docs/shape.md."""
    assert tree() in (ROOT / "docs" / "shape.md").read_text("utf-8")


if __name__ == "__main__":
    sys.stdout.write(tree())
