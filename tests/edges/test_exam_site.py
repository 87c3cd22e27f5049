"""The demo's target really has the three planted bugs, and the two goals that need no work. Read as text: no Django."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SITE = EXAMPLES / "exam_site"
SOURCES = {str(path.relative_to(SITE)): path.read_text(encoding="utf-8") for path in sorted(SITE.rglob("*.py"))}


def top_level(source: str) -> list[ast.stmt]:
    return ast.parse(source).body


def functions(source: str) -> list[ast.FunctionDef]:
    return [node for node in top_level(source) if isinstance(node, ast.FunctionDef)]


def defined_twice(source: str) -> list[str]:
    """Names of functions that a later one of the same name silently replaces."""
    return [name for name, times in Counter(node.name for node in functions(source)).items() if times > 1]


def setting(source: str, name: str) -> ast.expr:
    """What core/settings.py assigns to `name`."""
    return next(
        node.value
        for node in top_level(source)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
    )


def trusted_origins(source: str) -> list[str]:
    origins = ast.literal_eval(setting(source, "CSRF_TRUSTED_ORIGINS"))
    assert isinstance(origins, list)
    return origins


def own_imports(source: str) -> set[str]:
    """Modules of the site that a file imports by name."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    return {node.module for node in nodes if node.module and node.module.split(".")[0] in ("apps", "core")}


def is_missing(module: str, sources: dict[str, str]) -> bool:
    path = module.replace(".", "/")
    return f"{path}.py" not in sources and f"{path}/__init__.py" not in sources


def broken_imports(sources: dict[str, str]) -> set[tuple[str, str]]:
    return {(path, name) for path, text in sources.items() for name in own_imports(text) if is_missing(name, sources)}


# --- the three bugs ------------------------------------------------------------------------------------------


def test_every_view_of_the_accounts_is_defined_twice_with_the_same_code() -> None:
    found = [ast.dump(node) for node in functions(SOURCES["apps/authentication/views.py"])]
    assert len(found) == 8
    assert found[:4] == found[4:]


def test_a_missing_comma_makes_one_trusted_origin_of_two() -> None:
    assert [origin.count("://") for origin in trusted_origins(SOURCES["core/settings.py"])] == [1, 2]


def test_the_command_line_imports_a_module_that_was_removed() -> None:
    assert broken_imports(SOURCES) == {("brain_cli.py", "apps.brain.brain_engine")}


def test_what_the_removed_module_did_is_done_by_a_function_of_the_services() -> None:
    assert "generate_questions" in [node.name for node in functions(SOURCES["apps/brain/services.py"])]


def test_nothing_else_is_defined_twice() -> None:
    assert [path for path, text in SOURCES.items() if defined_twice(text)] == ["apps/authentication/views.py"]


# --- the goals that need no work -----------------------------------------------------------------------------


def test_debug_is_off_and_hosts_are_named_already() -> None:
    settings = SOURCES["core/settings.py"]
    assert ast.unparse(setting(settings, "DEBUG")) == "os.environ.get('DJANGO_DEBUG') == '1'"
    assert "sisimpur.example" in ast.unparse(setting(settings, "ALLOWED_HOSTS"))
    assert "*" not in ast.unparse(setting(settings, "ALLOWED_HOSTS"))


def test_no_file_starts_a_thread_or_knows_celery() -> None:
    texts = [*SOURCES.values(), (SITE / "requirements.txt").read_text(encoding="utf-8")]
    assert not [text for text in texts if "thread" in text.lower() or "celery" in text.lower()]
