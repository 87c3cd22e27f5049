"""Task files: a round trip, durable creation and moves, and every way in which a file can be wrong."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.lifecycle import FOLDERS, State
from sisimpur.shared.model.text import visible
from sisimpur.shared.model.work import Difficulty, Priority, TaskKind, TaskSpec
from sisimpur.shared.store.task_store import YOUNG, TaskStore, UnreadableFile, parse, render
from sisimpur.shared.system.paths import Home

pytestmark = pytest.mark.disk

GOOD = "---\ntitle: Fix it\nfiles: [a.py]\n---\n\nDo it.\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.make()
    return home


@pytest.fixture
def store(home: Home) -> TaskStore:
    return TaskStore(home)


def drop(home: Home, name: str, data: str | bytes, state: State = State.BACKLOG) -> Path:
    path = home.tasks(state) / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def reason(store: TaskStore, id_: str) -> str:
    spec = store.read(State.BACKLOG, id_).spec
    assert isinstance(spec, UnreadableFile)
    return spec.reason


words = st.text(st.characters(min_codepoint=32, exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp", "Zs", "Co", "Cn"]))
lines = words.map(lambda text: visible(text[:100]).strip()).filter(bool)  # as all words of a model are, before
names = st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}){0,2}\.py", fullmatch=True)


@given(
    title=lines,
    description=st.lists(lines, min_size=1, max_size=3).map("\n\n".join),
    files=st.lists(names, min_size=1, max_size=3),
    acceptance=st.lists(lines, max_size=3),
    priority=st.sampled_from(Priority),
    difficulty=st.sampled_from(Difficulty),
    kind=st.sampled_from(TaskKind),
    after=st.lists(names, max_size=2),
    tests=st.lists(names, max_size=2),
)
def test_what_is_written_is_read_again(
    title: str,
    description: str,
    files: list[str],
    acceptance: list[str],
    priority: Priority,
    difficulty: Difficulty,
    **more: Any,
) -> None:
    spec = TaskSpec(
        "20261120-01",
        title,
        description,
        priority,
        "g-1",
        tuple(files),
        (),
        (),
        tuple(acceptance),
        difficulty,
        after=tuple(more["after"]),
        kind=more["kind"],
        changes_tests=tuple(more["tests"]),
    )
    assert parse(spec.id, render(spec), "t.md") == spec


def test_a_file_that_names_neither_kind_nor_turn_is_read_as_it_always_was() -> None:
    spec = parse("t", GOOD, "t.md")
    assert (spec.kind, spec.after, spec.changes_tests) == (TaskKind.UNKNOWN, (), ())
    assert not {"kind", "after", "changes_tests"} & {line.partition(":")[0] for line in render(spec).splitlines()}


def test_a_task_is_added_once_whatever_its_folder(store: TaskStore) -> None:
    spec = parse("t", GOOD, "t.md")
    assert store.add(spec) and not store.add(spec)
    assert store.move("t", State.BACKLOG, State.FAILED)
    assert not store.add(spec)
    assert store.find("t") == [State.FAILED]


def test_a_move_never_overwrites_and_says_when_the_owner_was_faster(home: Home, store: TaskStore) -> None:
    drop(home, "t.md", GOOD)
    drop(home, "t.md", "the owner's own", State.FAILED)
    assert not store.move("t", State.BACKLOG, State.FAILED)
    assert (home.tasks(State.FAILED) / "t.md").read_text() == "the owner's own"
    assert not store.move("absent", State.BACKLOG, State.FAILED)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param("", "backlog/t.md: is empty", id="empty"),
        pytest.param("---\ntitle: x\nfiles: [a.py]\n---\n", "has no description below the front matter", id="no text"),
        pytest.param("---\ntitle: x\n", "the front matter is not closed; end it with a line '---'", id="not closed"),
        pytest.param("Do it!\n", "backlog/t.md:1: must begin with front matter", id="no front matter"),
        pytest.param(GOOD + "\0", "holds a NUL byte", id="NUL"),
        pytest.param(b"---\ntitle: \xff\n---\n", "not UTF-8 text (byte 11)", id="not UTF-8"),
        pytest.param(GOOD.encode("utf-16"), "not UTF-8 text (byte 0)", id="UTF-16"),
        pytest.param("x" * 70_000, "70000 bytes, the limit is 65536", id="too large"),
        pytest.param(
            GOOD.replace("a.py", "/etc/passwd"), "'/etc/passwd' is not a path inside the repository", id="abs"
        ),
        pytest.param(GOOD.replace("a.py", "../x"), "'../x' is not a path inside the repository", id="parent"),
        pytest.param(GOOD.replace("a.py", "~/.bashrc"), "'~/.bashrc' is not a path inside the repository", id="home"),
        pytest.param(GOOD.replace("a.py", ".git/hooks/x"), "is not a path inside the repository", id="git"),
        pytest.param(GOOD.replace("files: [a.py]\n", ""), "say which files it may change", id="no files"),
        pytest.param(
            GOOD.replace("title:", "auto_merge: true\ntitle:"), "auto_merge: unknown key", id="grants a right"
        ),
        pytest.param(GOOD.replace("title:", "priority: URGENT!!!\ntitle:"), "backlog/t.md:2: priority:", id="priority"),
        pytest.param(
            GOOD.replace("title:", "id: other\ntitle:"), "says id other; the file's name counts", id="other id"
        ),
        pytest.param(GOOD.replace("Fix it", '"  "'), "title: is blank", id="a blank title"),
        pytest.param(GOOD.replace("[a.py]", "a.py"), "backlog/t.md:3: files:", id="a text instead of a list"),
    ],
)
def test_an_unreadable_file_is_named_and_stays(home: Home, store: TaskStore, data: str | bytes, why: str) -> None:
    path = drop(home, "t.md", data)
    before = path.read_bytes()
    assert why in reason(store, "t")
    assert "\n" not in reason(store, "t")
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["CON", ".", "x" * 200, "a b", "Über", "-f", "a..b", "x.lock"])
def test_a_name_that_is_no_id_is_refused(home: Home, store: TaskStore, name: str) -> None:
    if name == ".":
        assert store.names()[State.BACKLOG] == []
        return
    drop(home, f"{name}.md", GOOD)
    if name.startswith("."):
        return
    assert "is no task id" in reason(store, name)


def test_a_symbolic_link_is_not_followed(home: Home, store: TaskStore, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(GOOD)
    os.symlink(tmp_path / "secret", home.tasks(State.BACKLOG) / "t.md")
    assert "is a symbolic link" in reason(store, "t")


def test_a_pipe_blocks_nobody(home: Home, store: TaskStore) -> None:
    os.mkfifo(home.tasks(State.BACKLOG) / "t.md")
    assert "is not a plain file" in reason(store, "t")


def test_folders_and_sockets_in_place_of_a_file_are_named(home: Home, store: TaskStore) -> None:
    (home.tasks(State.BACKLOG) / "t.md").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.tasks(State.FAILED) / "s.md"))
        assert "is not a plain file" in reason(store, "t")
        assert isinstance(store.read(State.FAILED, "s").spec, UnreadableFile)


@pytest.mark.parametrize("name", [".hidden.md", "t.md~", "t.md.swp", "t.tmp", "notes.txt"])
def test_what_editors_leave_behind_is_no_task(home: Home, store: TaskStore, name: str) -> None:
    drop(home, name, GOOD)
    assert store.all() == []


def test_a_file_that_may_still_be_written_is_young(home: Home, store: TaskStore) -> None:
    """14: never half a task."""
    drop(home, "t.md", GOOD)
    assert store.is_young(State.BACKLOG, "t")
    store.wait()
    assert not store.is_young(State.BACKLOG, "t")


def test_crlf_is_read_like_lf(home: Home, store: TaskStore) -> None:
    drop(home, "t.md", GOOD.replace("\n", "\r\n"))
    assert store.read(State.BACKLOG, "t").spec == parse("t", GOOD, "t.md")


READS = """import sys, time
from pathlib import Path
from sisimpur.shared.store.task_store import TaskStore
from sisimpur.shared.system.paths import Home
store, began = TaskStore(Home(Path(sys.argv[1]))), time.process_time()
print(len(store.all()), time.process_time() - began)"""


def test_ten_thousand_files_are_read_within_two_seconds(home: Home) -> None:
    """In a process of its own: in this one lines may be counted, which takes time."""
    for number in range(10_000):
        drop(home, f"t{number}.md", GOOD, FOLDERS[number % len(FOLDERS)])
    done = subprocess.run([sys.executable, "-c", READS, str(home.root)], check=True, capture_output=True, text=True)
    count, seconds = done.stdout.split()
    assert count == "10000"
    assert float(seconds) < 2  # the benchmark has the honest figure; this only notices a factor


# --- read again ----------------------------------------------------------------------------------------------


def test_a_file_that_has_rested_is_not_read_twice_and_no_change_of_it_is_missed(home: Home, store: TaskStore) -> None:
    """Not even one that keeps size and time; a file that was just written is read at each look."""
    path = drop(home, "t.md", GOOD)
    assert store.all() == store.all() and store.all()[0] is not store.all()[0]
    time.sleep(YOUNG + 0.1)
    (first,), before = store.all(), path.stat()
    assert store.all()[0] is first
    path.write_text(GOOD.replace("Fix it", "Fix me"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    time.sleep(YOUNG + 0.1)
    assert title(store) == "Fix me"
    path.write_text(GOOD.replace("Fix it", "Fix us"))
    assert title(store) == "Fix us"
    path.write_text(GOOD.replace("Fix it", "Fix up"))
    assert title(store) == "Fix up"
    store.move("t", State.BACKLOG, State.FAILED)
    drop(home, "t.md", GOOD)
    assert [(one.state, one.id) for one in store.all()] == [(State.BACKLOG, "t"), (State.FAILED, "t")]


def test_a_file_that_becomes_unreadable_after_it_was_read_is_named(home: Home, store: TaskStore) -> None:
    path = drop(home, "t.md", GOOD)
    time.sleep(YOUNG + 0.1)
    store.all()
    path.rename(path.with_suffix(".kept"))
    path.symlink_to(path.with_suffix(".kept"))
    (one,) = store.all()
    assert isinstance(one.spec, UnreadableFile) and "symbolic link" in one.spec.reason


def title(store: TaskStore) -> str:
    (one,) = store.all()
    assert isinstance(one.spec, TaskSpec)
    return one.spec.title
