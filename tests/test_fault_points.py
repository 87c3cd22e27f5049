"""Every durable or outward effect of a door passes a fault point: what a kill test cannot reach, it cannot prove.

An effect is known by its call (EFFECTS, and git's writing commands). It is reached where its function, or every caller
of it in the same module, passes a fault point. What needs none stands in EXEMPT with its reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOORS = (ROOT / "shared", ROOT / "agents")

# Calls by their last name, and by what stands before it (empty: anything, "-": nothing).
FILES = {
    "os": {"rename", "replace", "link", "symlink", "unlink", "remove", "rmdir", "truncate", "ftruncate", "pwrite"},
    "shutil": {"rmtree", "move", "copy", "copyfile"},
    "libc": {"renameat2"},
    "": {"unlink", "rmdir", "rename", "symlink_to", "hardlink_to", "write_text", "write_bytes"},
    "-": {"write_text", "write_bytes", "create_text", "move", "remove_folder"},  # of our own door to files
}
PROGRAMS = {
    "subprocess": {"run", "Popen", "call", "check_call", "check_output"},
    "process": {"run", "running", "attached", "detached"},
    "-": {"run", "running", "attached", "detached"},  # the same ones, imported by name
    "box": {"run"},
    "_box": {"run"},
}
VERBS = {"post", "put", "patch", "delete", "send", "request", "stream", "write", "mutate"}
REQUESTS = {
    "": {"requestJson", "handle_request", "handle_async_request", "notify", "urlopen"},
    "_http": {"ask"},
    "http": {"ask"},
    **dict.fromkeys(("client", "_client", "_team", "line"), VERBS),
    "messages": {"create", "stream"},
}
CONTAINERS = {
    "engine": {
        "build",
        "tag",
        "create_volume",
        "create_container",
        "start",
        "stop",
        "remove_container",
        "remove_image",
    },
    "_manager": {"build", "tag", "volume", "create", "start", "stop", "remove", "clean"},
}
INNER = {"_commits": {"move", "take", "delete", "keep"}, "commits": {"move", "take", "delete", "keep"}}
EFFECTS = (FILES, PROGRAMS, REQUESTS, CONTAINERS, INNER)

WRITING_GIT = {"push", "update-ref", "fast-import", "init", "config", "fetch", "pack-refs", "repack", "prune", "gc"}
WRITING_SQL = ("insert", "update", "delete", "create", "alter", "drop", "replace", "vacuum", "commit")
SQL_CALLS = {"execute", "executemany", "executescript", "rows", "row"}


@dataclass(frozen=True)
class Effect:
    module: str  # its path, without .py
    function: str  # `Class.method`, or a function
    what: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.module}:{self.function}"


@dataclass
class Function:
    """One of a module, with all that is nested in it."""

    name: str
    node: ast.AST
    calls: set[str] = field(default_factory=set)  # last names
    effects: list[tuple[str, int]] = field(default_factory=list)
    is_reached: bool = False  # passes a fault point itself


# --- reading a module ----------------------------------------------------------------------------------------


def functions(tree: ast.Module) -> Iterator[Function]:
    """Of all levels that are not inside another function; what a module does when it is loaded is one, too."""
    outside = ast.Module([node for node in tree.body if not isinstance(node, Definition | ast.ClassDef)], [])
    yield Function("", outside)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Function(node.name, node)
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield Function(f"{node.name}.{inner.name}", inner)


Definition = ast.FunctionDef | ast.AsyncFunctionDef


def read(source: str) -> list[Function]:
    found = list(functions(ast.parse(source)))
    for one in found:
        inside = _is_given_a_connection(one.node) or _opens_a_transaction(one.node)
        for node in ast.walk(one.node):
            if isinstance(node, ast.Call):
                before, name = _names(node.func)
                one.calls.add(name)
                one.is_reached |= name == "fault_point"
                if what := _effect(node, before, name, inside):
                    one.effects.append((what, node.lineno))
    return found


def _names(called: ast.expr) -> tuple[str, str]:
    """`self._box.run` -> _box, run; `run` -> -, run."""
    if isinstance(called, ast.Attribute):
        before = called.value
        return (before.attr if isinstance(before, ast.Attribute) else getattr(before, "id", "")), called.attr
    return "-", getattr(called, "id", "")


def _effect(call: ast.Call, before: str, name: str, in_transaction: bool) -> str:
    """What it does, in a word; empty: nothing that lasts."""
    if name == "transaction" or (name == "write" and before in ("_db", "db")):
        return "transaction"
    if name in SQL_CALLS:
        return "" if in_transaction and name.startswith("execute") else _sql(call)
    if name in ("git", "try_git"):
        return _git(call.args[1:] if before == "-" else call.args)
    for table in EFFECTS:
        if name in table.get(before, ()) or (before != "-" and name in table.get("", ())):
            return f"{before}.{name}".removeprefix("-.")
    return ""


def _sql(call: ast.Call) -> str:
    text = _literal(call.args[0]) if call.args else ""
    return f"SQL {text.split()[0]}" if text.lower().startswith(WRITING_SQL) else ""


def _git(words: Sequence[ast.expr]) -> str:
    """A command that is not written out may be a writing one. A function is given the repository first."""
    commands = [_literal(argument) for argument in words]
    if commands[:1] == ["hash-object"] or commands[:1] == ["merge-tree"]:
        return f"git {commands[0]}" if "-w" in commands or "--write-tree" in commands else ""
    name = commands[0] if commands else ""
    return f"git {name or '?'}" if name in WRITING_GIT or not name else ""


def _literal(node: ast.expr) -> str:
    """The text, or its beginning; empty: it is not written here."""
    if isinstance(node, ast.JoinedStr):
        return _literal(node.values[0]) if node.values else ""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_given_a_connection(node: ast.AST) -> bool:
    """Then it is its caller's transaction."""
    arguments = node.args.args if isinstance(node, Definition) else []
    return any(one.annotation and "Connection" in ast.unparse(one.annotation) for one in arguments)


def _opens_a_transaction(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) and _names(one.func)[1] == "transaction" for one in ast.walk(node))


# --- judging -------------------------------------------------------------------------------------------------


def unreached(module: str, source: str) -> list[Effect]:
    """Effects without a fault point in their function, nor in all of its callers here."""
    found = read(source)
    reached = {one.name for one in found if one.is_reached}
    while more := {one.name for one in found if one.name not in reached and _all_reached(one, found, reached)}:
        reached |= more
    return [
        Effect(module, one.name, what, line) for one in found if one.name not in reached for what, line in one.effects
    ]


def _all_reached(one: Function, found: list[Function], reached: set[str]) -> bool:
    last = one.name.rpartition(".")[2]
    callers = [other.name for other in found if last in other.calls and other is not one]
    return bool(callers) and set(callers) <= reached


def doors() -> Iterator[tuple[str, str]]:
    for path in sorted(path for folder in DOORS for path in folder.rglob("*.py")):
        yield str(path.relative_to(ROOT).with_suffix("")), path.read_text("utf-8")


def exemption(effect: Effect) -> str:
    """The entry that it stands under; empty: none."""
    folders = (key for key in EXEMPT if key.endswith("/") and effect.module.startswith(key))
    return next((key for key in (effect.place, effect.module, *folders) if key in EXEMPT), "")


# Why no fault point is needed. A place, a module, or a folder with its slash.
EXEMPT: Mapping[str, str] = {
    # doors to the means: whoever uses them passes the points
    "shared/system/paths": "who writes, moves or removes a file passes the points; file.written lies in the middle",
    "shared/system/process": "who starts a program passes the points",
    "shared/system/http": "who asks passes the points",
    "agents/devops/drivers/health_checker": "a GET: a look changes nothing",
    "shared/system/web_line": "a GET: reading changes nothing",
    "shared/store/database:Database.transaction": "who writes passes the points",
    "shared/store/database:Database.write": "who writes passes the points",
    "shared/repo/git": "who runs a command passes the points; stale locks go at each start",
    "shared/repo/objects": "who runs a command passes the points",
    "shared/repo/mirror:Mirror.differing": "looks; its index lies in a mirror that ends with the look",
    "shared/repo/submodules": "only fetches into its own mirrors; what a kill cut off is fetched again",
    "shared/forge/github_client": "github_pulls.sent passes the points; the rest asks",
    "agents/orchestrator/reports/drawn/pdf": "writes and prints in a folder of its own, which goes with it",
    "agents/devops/drivers/kept_box": "BoxDriver passes deploy.stopped and deploy.started; its lock finds it",
    "agents/devops/drivers/owner_command": "who runs a command of the owner's passes the points",
    "agents/devops/docker/docker_engine:build": (
        "DockerfileDriver.build passes deploy.image after it; a build that nobody listens to ends"
    ),
    "agents/devops/docker/docker_manager:DockerManager.tag": "DockerfileDriver.build passes deploy.tagged",
    "agents/devops/docker/docker_manager:DockerManager.volume": (
        "DockerfileDriver passes deploy.volumes; one that is there is found"
    ),
    "agents/devops/docker/docker_manager:DockerManager.create": "DockerfileDriver passes deploy.created",
    "agents/devops/docker/docker_manager:DockerManager.start": "DockerfileDriver passes deploy.running",
    "agents/devops/docker/docker_manager:DockerPlaces.clean": "DockerManager passes deploy.swept after each",
    "shared/forge/local_forge_git": "LocalForge passes the points around each of its writes",
    "shared/money/meter/upstream": "MeteredCall passes llm.reserve before it and llm.sent after it",
    "shared/outlets/event_file": "Relay passes outlet.sending before it and outlet.sent after it",
    "shared/outlets/webhook": "Relay passes outlet.sending before it and outlet.sent after it",
    "shared/notify/apprise_notifier": "NoticeRepository passes notice.sending before it and notice.sent after it",
    "shared/notify/discord_notifier": "NoticeRepository passes notice.sending before it and notice.sent after it",
    "shared/notify/mail_notifier": "NoticeRepository passes notice.sending before it and notice.sent after it",
    "shared/llm/llm_call": "asks our own meter, which passes the points",
    "agents/researcher/web/search": "BookedSearch passes search.booked before it and search.answered after it",
    "agents/researcher/web/web_page": "what runs there leaves nothing; its caller takes a value",
    "shared/sandbox/": "what runs in a box ends with us and leaves only what its caller takes from it",
    # what is made anew when it is missing
    "shared/money/meter/server:Meter.stop": "the next meter makes its socket anew",
    "shared/money/meter/server:_unix_socket": "the next meter makes its socket anew",
    "agents/qa/runner/interpreters": "uv only looks; what it installs lies in its own place, found or made again",
    "agents/qa/runner/private_index": "a GET: reading changes nothing",
    "agents/qa/runner/index_proxy": "its socket lies in a folder that goes at start",
    "shared/system/lock:_write": "the pid or the port in it is only information",
    "shared/llm/llm_call:Replies.prune": "old answers; the next start throws them away",
    "shared/store/activity:Epochs._note": "a sign of life, replaced by the next one",
    "shared/repo/mirror:Mirror.create": "repeated as a whole at each start",
    "shared/repo/mirror:Mirror.bring": "asked again by whoever needs it",
    "shared/repo/committer:Committer.commit": "scratch references go at each start",
    "shared/forge/local_forge_book:LocalForgeRepository._migrate": "repeated as a whole each time it is opened",
    "agents/qa/runner/environment_store:Environments._fill": "EnvironmentStore.add passes the points after it",
    "agents/qa/runner/environment_store:EnvironmentStore._sweep": (
        "half-built ones, swept again before the next is built"
    ),
    # in folders that go at start
    "agents/coder/engine/": (
        "the task's folder and the box's; the commit alone lasts, and the committer passes the points"
    ),
    "agents/devops/ci/workflow_lint": "a scratch folder",
    "agents/qa/runner/trees": "scratch folders, which go at each start",
    "agents/qa/runner/bench": "a scratch folder; gate_book passes the points before and after the tests",
    "agents/qa/runner/report_pipe": "in the scratch folder of a run",
    "agents/qa/runner/environment_build": "a folder that EnvironmentStore throws away unless it is whole",
    "agents/orchestrator/coding:Coding.code": "the task's folder, which goes at each start",
    "agents/orchestrator/board/writing:IndependentTest._written": "the folder of a test, which goes at each start",
    "agents/orchestrator/loop:Work.recover": "left-over folders, removed again at each start",
    "agents/orchestrator/planning/plan_files:PlanPage.write": "written anew by each planning and wrap-up",
    "agents/orchestrator/reports/reporting:ProgressFile.write": "written anew from the books by each wrap-up",
    # money: asked within the points of one call
    "shared/money/ledger:Ledger.reserve": "MeteredCall passes llm.reserve",
    "shared/money/ledger:Ledger._end": "MeteredCall passes llm.settle",
    "shared/money/ledger:Ledger.believes": (
        "notes the first look at a clock in this boot; the next look notes it as well"
    ),
    "shared/money/meter/app:MeterApp._counted": "counts tokens, which costs nothing",
    # services of a test or a demo, which are not ours to kill
    "agents/qa/runner/inside/": "runs in a box",
}


@cache
def unreached_anywhere() -> tuple[Effect, ...]:
    return tuple(effect for door in doors() for effect in unreached(*door))


def test_every_effect_passes_a_fault_point() -> None:
    left = [effect for effect in unreached_anywhere() if not exemption(effect)]
    assert [f"{one.module}.py:{one.line} {one.function}: {one.what}" for one in left] == []


def test_no_exemption_outlives_its_reason() -> None:
    used = {exemption(effect) for effect in unreached_anywhere()}
    assert set(EXEMPT) - used == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        pytest.param("def f():\n    os.replace(a, b)", "f: os.replace", id="an effect"),
        pytest.param("def f():\n    os.replace(a, b)\n    fault_point('x')", "", id="and its point"),
        pytest.param("class A:\n    def f(self):\n        self.path.unlink()", "A.f: path.unlink", id="of a method"),
        pytest.param(
            "def f():\n    g()\n    fault_point('x')\ndef g():\n    os.unlink(a)", "", id="its only caller has one"
        ),
        pytest.param(
            "def f():\n    g()\n    fault_point('x')\ndef h():\n    g()\ndef g():\n    os.unlink(a)",
            "g: os.unlink",
            id="another caller has none",
        ),
        pytest.param(
            "def f():\n    g()\n    fault_point('x')\ndef g():\n    h()\ndef h():\n    os.unlink(a)",
            "",
            id="its caller's caller has one",
        ),
        pytest.param("def f():\n    f()\n    os.unlink(a)", "f: os.unlink", id="itself is no caller"),
        pytest.param("def f(db):\n    with db.transaction() as c:\n        pass", "f: transaction", id="a transaction"),
        pytest.param("def f(db: Connection):\n    db.execute('insert into a')", "", id="in its caller's transaction"),
        pytest.param("def f(db):\n    db.execute('INSERT into a')", "f: SQL INSERT", id="outside of any"),
        pytest.param("def f(db):\n    db.rows('select 1')", "", id="reading"),
        pytest.param("def f(db):\n    db.rows('vacuum')", "f: SQL vacuum", id="writing where one reads"),
        pytest.param("def f():\n    git(path, 'push', 'x')", "f: git push", id="git that writes"),
        pytest.param("def f():\n    git(path, 'rev-parse', 'x')", "", id="git that reads"),
        pytest.param("def f():\n    git(path, *words)", "f: git ?", id="git that says not what it does"),
        pytest.param("def f():\n    subprocess.Popen(words)", "f: subprocess.Popen", id="a program"),
        pytest.param("def f():\n    self._client.post(words)", "f: _client.post", id="a request"),
        pytest.param("def f():\n    text.replace('a', 'b')", "", id="a text"),
        pytest.param("os.unlink(a)", ": os.unlink", id="while it is loaded"),
    ],
)
def test_an_effect_is_found_and_so_is_its_point(source: str, found: str) -> None:
    assert "; ".join(f"{one.function}: {one.what}" for one in unreached("m", source)) == found


SHORT = {"test_guards.py", "test_killing.py", "test_fault_points.py"}  # these look at the switch itself


def test_every_story_that_is_longer_at_every_point_is_in_the_whole_proof() -> None:
    """`make crash` names its files: one that is missing there is only ever sampled."""
    rule = next(line for line in (ROOT / "Makefile").read_text().splitlines() if "SISIMPUR_EVERY_POINT=1" in line)
    longer = {
        path.name
        for path in (ROOT / "tests").rglob("test_*.py")
        if {"EVERY_POINT", "at_length"} & set(path.read_text().replace("(", " ").replace("@", " ").split())
    }
    assert len(longer - SHORT) > 10
    assert [name for name in sorted(longer - SHORT) if name.removeprefix("test_") not in rule] == []
