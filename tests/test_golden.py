"""Tables, commands, exit codes, fault points, variables and make targets stay the same while the house is rebuilt.

Answers and pages of a home: tests/journey/test_old_homes.py. The settings: docs/configuration.md, which is generated.
"""

from __future__ import annotations

import ast
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from sisimpur.cli.app import main
from sisimpur.shared.system.process import Finished, run
from tests.accepted import is_accepted
from tests.homes.frozen import thaw
from tests.journey.stage import repository

ROOT = Path(__file__).parents[1]
HOMES = Path(__file__).parent / "homes"
OURS = ("main.py", "agents", "cli", "shared", "web", "simulators")  # where the program's own source lies
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "COLUMNS": "1000"}


def main_py(*words: str) -> Finished:
    return run((sys.executable, str(ROOT / "main.py"), *words), env=ENVIRONMENT, timeout=60)


def typed(home: Path, *words: str) -> None:
    """The same without a process of its own."""
    with redirect_stdout(StringIO()):
        assert main(["--home", str(home), *words]) == 0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A new one, with its database."""
    home = tmp_path / "home"
    typed(home, "init", "--target", str(repository(tmp_path / "site")))
    typed(home, "memory")  # it makes the index of the lessons, too
    return home


# --- tables --------------------------------------------------------------------------------------------------


def test_the_tables_of_a_new_home_are_those_that_people_have(home: Path) -> None:
    is_accepted("schema.sql", schema(home / ".state" / "agents.db"))


def test_an_old_home_comes_to_the_same_tables(home: Path, tmp_path: Path) -> None:
    """Each step forward leads there from every version, so nothing is left of an old one."""
    for old in sorted(HOMES.glob("*/home")):
        opened = thaw(old.parent, tmp_path / old.parent.name)
        typed(opened, "tasks")
        assert schema(opened / ".state" / "agents.db") == schema(home / ".state" / "agents.db")


def test_the_tables_of_the_local_forge_are_those_that_people_have(tmp_path: Path) -> None:
    """The first day makes its file, so the newest kept home has one."""
    opened = thaw(sorted(HOMES.glob("*/home"))[-1].parent, tmp_path / "owner")
    typed(opened, "prs")
    is_accepted("forge.sql", schema(next(opened.glob(".state/forge/*/forge.db"))))


def schema(path: Path) -> str:
    """Every table, index and trigger as SQL without comments, by name; and the number of steps that led there."""
    db = sqlite3.connect(path)
    made = db.execute(
        "select sql from sqlite_master where sql is not null and name not like 'sqlite_%' and name not in"
        " (select name from pragma_table_list where type = 'shadow') order by type desc, name"
    ).fetchall()
    steps = db.execute("pragma user_version").fetchone()[0]
    db.close()
    return "\n".join((f"pragma user_version = {steps};", *(f"{by_columns(sql)};" for (sql,) in made))) + "\n"


def by_columns(sql: str) -> str:
    """Drop comments, even out blanks, and give each part of a table a line."""
    text = " ".join(re.sub(r"--[^\n]*", "", sql).split())
    if not text.startswith("CREATE TABLE"):
        return text
    depth, found = 0, ""
    for char in text:
        depth -= char == ")"
        if depth == (1 if char == "," else 0) and char in "(,)":
            found = found.rstrip() + {"(": " (\n   ", ",": ",\n   ", ")": "\n)"}[char]
        else:
            found += char
        depth += char == "("
    return re.sub(r"\n +", "\n    ", found)


def test_a_schema_is_compared_without_its_comments() -> None:
    one = by_columns("CREATE TABLE a (  -- why\n  b integer check (b in (1, 2)), -- and why\n  c text\n) strict")
    assert one == "CREATE TABLE a (\n    b integer check (b in (1, 2)),\n    c text\n) strict"


# --- commands and their ends ---------------------------------------------------------------------------------


def test_the_commands_take_what_they_took() -> None:
    """The usage line of each, from the program's own list of commands."""
    commands = re.findall(r"^  ([a-z][a-z-]+) ", main_py("help").text.partition("\noptions:")[0], re.MULTILINE)
    code = (
        "import sys; from sisimpur.cli.app import main\n"
        "for command in sys.argv[1:]:\n"
        "    try: main([command, '--help'])\n"
        "    except SystemExit as end: assert not end.code\n"
    )
    done = run((sys.executable, "-c", code, *commands), cwd=ROOT, env=ENVIRONMENT, timeout=60)
    usages = re.findall(r"^usage: \S+ (.*)$", done.text, re.MULTILINE)
    is_accepted("commands.txt", "\n".join(sorted(usages)) + "\n")


def test_0_is_done_1_a_problem_in_one_line_2_wrong_usage(home: Path, tmp_path: Path) -> None:
    done = main_py("--home", str(home), "status")
    assert (done.code, done.errors) == (0, b"")
    problem = main_py("--home", str(tmp_path / "nowhere"), "status")
    assert problem.code == 1 and problem.errors.count(b"\n") == 1 and problem.errors.startswith(b"status: ")
    for words in (["no-such-command"], ["show"]):
        assert main_py(*words).code == 2


def test_3_is_a_bug_with_the_file_that_has_its_trace(home: Path) -> None:
    db = sqlite3.connect(home / ".state" / "agents.db")
    with db:
        db.execute("insert into visions (day, digest, vision_json, guards_json) values ('x', 'x', 'garbage', '[]')")
    db.close()
    bug = main_py("--home", str(home), "status")
    assert bug.code == 3 and bug.errors.count(b"\n") == 1
    assert "Traceback" in Path(bug.errors.decode().split()[-1]).read_text()


def test_130_is_interrupted(home: Path) -> None:
    (home / "logs" / "meter.jsonl").write_text('{"at": "2026-11-20T08:00:00+00:00", "event": "here"}\n')
    argv = [sys.executable, str(ROOT / "main.py"), "--home", str(home), "logs", "--follow"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env={**ENVIRONMENT, "PYTHONUNBUFFERED": "1"}) as follows:
        assert follows.stdout and b"here" in follows.stdout.readline()
        follows.send_signal(signal.SIGINT)
        assert follows.wait(30) == 130


TARGETS = "demo test setup start stop status logs budget doctor bench bench-gates crash soak help"


def test_every_make_target_that_is_documented_is_there() -> None:
    """Targets of DESIGN's section 10 that exist today stay; more may come."""
    there = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert [target for target in TARGETS.split() if target not in there] == []


# --- names in the source -------------------------------------------------------------------------------------


def test_the_fault_points_keep_their_names() -> None:
    """Crash tests and fault plans name them. What stands for a value that is filled in is a star."""
    points = sorted({name for text in source() if CALL in text for name in fault_points(text)})
    assert len(points) > 150
    is_accepted("fault-points.txt", "\n".join(points) + "\n")


def test_the_variables_of_the_environment_keep_their_names() -> None:
    """Names of ours and of the services that the team speaks to stay."""
    services = "SISIMPUR|ANTHROPIC|GITHUB|DISCORD|TAVILY|APPRISE|MAIL|PING|EVENTS"
    names = {name for text in source() for name in re.findall(rf"[\"'`]((?:{services})_[A-Z_]*[A-Z])[\"'`]", text)}
    is_accepted("variables.txt", "\n".join(sorted(names)) + "\n")


CALL = "fault_point"


def source() -> Iterator[str]:
    for top in OURS:
        for path in [ROOT / top] if top.endswith(".py") else sorted((ROOT / top).rglob("*.py")):
            yield path.read_text("utf-8")


def fault_points(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and CALL in (getattr(node.func, "id", ""), getattr(node.func, "attr", "")):
            yield from names_of(node.args[0])


def names_of(name: ast.expr) -> Iterator[str]:
    """AssertionError if the name is made somewhere else: then nobody sees here that it changes."""
    if isinstance(name, ast.IfExp):
        yield from (*names_of(name.body), *names_of(name.orelse))
    elif isinstance(name, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in name.values)
    else:
        assert isinstance(name, ast.Constant), f"write the fault point's name into its call: {ast.unparse(name)}"
        yield str(name.value)


def test_a_fault_point_is_found_by_its_name_however_it_is_called() -> None:
    text = "fault_point('a.b')\nfault.fault_point(f'{kind}.kept')\nfault_point('c' if x else 'd')\nother('e')"
    assert list(fault_points(text)) == ["a.b", "*.kept", "c", "d"]
    with pytest.raises(AssertionError, match="write the fault point's name into its call: kind"):
        list(fault_points("fault_point(kind)"))
