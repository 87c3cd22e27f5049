"""What the checks share: `holds(check)` calls check(TREE) in the tree and exits 0, or 1 with the sentence it gives."""
import os
import sys
import threading
from pathlib import Path

REPOSITORIES = Path(__file__).resolve().parents[1] / "repositories"
PROSE = {".md", ".txt", ".rst"}
sys.dont_write_bytecode = True


def holds(check):
    tree = Path(sys.argv[1]).resolve()
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    try:
        why = check(tree)
    except ModuleNotFoundError as error:
        print(error)
        sys.exit(2 if error.name in ("django", "pytest") else 1)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
    print(str(why).splitlines()[0] if why else "holds")
    sys.exit(1 if why else 0)


def changed(tree, repository):
    """The first file that is not as it was; tests and prose do not count. For goals that rest on something untrue."""
    before, now = _files(REPOSITORIES / repository), _files(tree)
    for path in sorted(before.keys() | now.keys()):
        if before.get(path) != now.get(path):
            return f"{path} was changed, but there was nothing to do"
    return None


def _files(root):
    found = {}
    for path in root.rglob("*"):
        inside = path.relative_to(root)
        if path.is_file() and path.suffix not in PROSE and not {"__pycache__", ".git", "tests", "docs"} & set(inside.parts):
            if path.suffix != ".pyc" and not path.name.startswith(("test_", ".coverage")):
                found[inside.as_posix()] = path.read_bytes()
    return found


def with_django():
    """The site with an empty database in memory."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "bazar.settings.test"
    import django

    django.setup()
    from django.test.runner import DiscoverRunner

    runner = DiscoverRunner(interactive=False, verbosity=0)
    runner.setup_test_environment()
    runner.setup_databases()


def covered(tree, package):
    """Per cent of a package's lines that the own tests run, as pytest collects them; migrations do not count."""
    import pytest

    ran = {}
    root = str(tree / package) + os.sep

    def trace(frame, event, _):
        if not frame.f_code.co_filename.startswith(root):
            return None
        if event == "line":
            ran.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
        return trace

    threading.settrace(trace)
    sys.settrace(trace)
    try:
        code = pytest.main(["-q", "-p", "no:cacheprovider"])
    finally:
        sys.settrace(None)
        threading.settrace(None)
    if code:
        raise AssertionError("the tests do not pass")
    every = hit = 0
    for path in Path(root).rglob("*.py"):
        if {"migrations", "tests"} & set(path.parts[len(tree.parts):]) or path.name.startswith("test"):
            continue
        lines = _lines(compile(path.read_text("utf-8"), str(path), "exec"))
        every += len(lines)
        hit += len(lines & ran.get(str(path), set()))
    return 100 * hit / every


def _lines(code):
    found = {line for _, _, line in code.co_lines() if line and line != code.co_firstlineno}
    for each in code.co_consts:
        if hasattr(each, "co_lines"):
            found |= _lines(each)
    return found
