"""The table of the house, and the trace that counts what a day takes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bench.house import Row, lines, table
from bench.trace import ROOT
from sisimpur.shared.system.process import run

WALK = {"day": "2026-11-22", "modules": 90, "git": 61, "reads": 12, "cpu_none": 0.5, "cpu_many": 0.6}


def rows(root: Path, **kept: object) -> dict[str, Row]:
    return {row.figure: row for row in table(root, kept)}


def test_the_table_measures_the_tree_and_shows_what_was_kept(tmp_path: Path) -> None:
    for name, text in {
        "cli/a.py": "from shared import b\n\n\nclass Twice: ...\n",
        "shared/b.py": "import cli.a\n\n\nclass Twice(ValueError):\n    def f(self, x, y): ...\n",
        "simulators/hub.py": "x = 1\n",
        "requirements.in": "one\ntwo\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = rows(tmp_path, walk=WALK, tests={"day": "2026-11-22", "minutes": 4.5})
    assert {figure: row.now for figure, row in found.items()} == {
        "product, lines": 9,
        "product, code lines": 5,
        "product, files": 2,
        "modules in a package": 1,
        "lines in a file": 5,
        "lines in a function": 1,
        "parameters of a function": 2,
        "packages in cycles": 2,
        "class names used twice": 1,
        "exceptions": 1,
        "names that a package exports": 0,
        "docstrings, begun obliquely": 0,
        "modules, bullet to merge": 90,
        "git processes, same way": 61,
        "SQL reads, same way": 12,
        "CPU, 2000 old tasks / none": 1.2,
        "direct dependencies": 2,
        "make test, minutes": 4.5,
    }
    assert {figure for figure, row in found.items() if row.met is False} == {
        "packages in cycles",
        "class names used twice",
        "git processes, same way",
        "make test, minutes",
    }
    assert found["packages in cycles"].where == "cli shared"


def test_what_nobody_has_measured_is_neither_met_nor_missed(tmp_path: Path) -> None:
    row = rows(tmp_path)["modules, bullet to merge"]
    assert (row.now, row.met) == (None, None)
    assert lines([row])[1].split("  ")[-1] == "--walk measures it"


def test_the_table_is_short_enough_for_the_end_of_a_screen(tmp_path: Path) -> None:
    assert len(lines(table(tmp_path, {}))) <= 20


TRACED = """
import json, sqlite3, subprocess, sys, threading
from pathlib import Path
from bench.trace import tracing

sys.path[:0] = [sys.argv[1]]
from cli import loaded, runs

def reads():
    database = sqlite3.connect(":memory:")
    database.execute("create table t (x)")
    database.execute("  select * from t")
    database.execute("insert into t select 1")
    from shared import late
    late.works()

with tracing(Path(sys.argv[1])) as trace:
    for words in (["git", "-c", "a.b=c", "--no-pager", "version"], ["true"], ["env", "git", "--version"]):
        subprocess.run(words, stdout=subprocess.DEVNULL)
    thread = threading.Thread(target=reads)
    thread.start()
    thread.join()
    runs.works()
subprocess.run(["git", "--version"], stdout=subprocess.DEVNULL)
loaded.works()
print(json.dumps([trace.modules, trace.functions, [verb for verb, _ in trace.calls], trace.git, trace.reads]))
"""
WORKS = "def works(): return [x for x in (1, 2)]\n"
SOURCES = {
    "cli/__init__.py": "",
    "cli/loaded.py": WORKS,
    "cli/runs.py": WORKS,
    "shared/__init__.py": "",
    "shared/late.py": f"import shared.lazy, simulators.hub\n{WORKS}def more(): simulators.hub.works()\nmore()\n",
    "shared/lazy.py": f"{WORKS}class Kept:\n    x = works()\nhere = works() + [y for y in Kept.x]\n",
    "simulators/__init__.py": "",
    "simulators/hub.py": WORKS,
}


def test_a_trace_sees_what_runs_in_every_thread_while_it_lasts(tmp_path: Path) -> None:
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    argv = (sys.executable, "-c", TRACED, str(tmp_path))
    done = run(argv, cwd=ROOT, env={"PATH": "/usr/bin:/bin"}, timeout=60)
    assert done.ok, done.complaint
    assert json.loads(done.text) == [["shared/late.py", "cli/runs.py"], 2, ["version"], 1, 1]
