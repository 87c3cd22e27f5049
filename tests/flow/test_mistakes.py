"""Typical mistakes, and the answer to each: one line that names the cause, then what to type or to write."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from sisimpur.cli.app import main
from sisimpur.shared.model.lifecycle import State
from tests.flow.stage import FlowStage
from tests.journey.stage import git, repository

Deed = Callable[[FlowStage], object]
DONE, PROBLEM, USAGE = 0, 1, 2


def nothing(stage: FlowStage) -> None:
    """The mistake is in what is typed."""


def writes(path: str, text: str) -> Deed:
    return lambda stage: (stage.home.root / path).write_text(text)


def changes(path: str, old: str, new: str) -> Deed:
    def change(stage: FlowStage) -> None:
        file = stage.home.root / path
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new, 1))

    return change


def drops(state: State, name: str, text: str = "---\ntitle: T\nfiles: [a.py]\n---\n\nDo it.\n") -> Deed:
    return lambda stage: (stage.home.tasks(state) / name).write_text(text)


def both(*deeds: Deed) -> Deed:
    return lambda stage: [deed(stage) for deed in deeds]


def broken_database(stage: FlowStage) -> None:
    stage.home.database.write_bytes(b"this is no database at all" * 100)


def newer_database(stage: FlowStage) -> None:
    with sqlite3.connect(stage.home.database) as db:
        db.execute("pragma user_version = 900")


def makes(folder: str, *words: tuple[str, ...]) -> Deed:
    """A folder beside the home, and what git is told there."""

    def make(stage: FlowStage) -> None:
        (stage.root / folder).mkdir()
        for one in words:
            git(stage.root / folder, *one)

    return make


MISTAKES = {
    # -- what is typed
    "a slip in a command": (nothing, "statsu", USAGE, "there is no command 'statsu'; did you mean status"),
    "a slip in an option": (nothing, "status --jsn", USAGE, "status has no option --jsn; did you mean --json?"),
    "an option of no command": (nothing, "tasks --colour", USAGE, "tasks has no option --colour; all of them:"),
    "no command": (nothing, "", USAGE, "type a command; all of them:"),
    "no task": (nothing, "approve", USAGE, "the following arguments are required: ID"),
    "a task that is none": (nothing, "show 7", PROBLEM, "there is no task '7'; see: "),
    "an id that fits two": (
        both(drops(State.BACKLOG, "a-01.md"), drops(State.FAILED, "b-01.md")),
        "retry 1",
        PROBLEM,
        "'1' fits a-01, b-01; type more of the id",
    ),
    "no without a reason": (nothing, "reject 7", USAGE, "the following arguments are required: --why"),
    "yes to what does not wait": (
        drops(State.BACKLOG, "t.md"),
        "approve t",
        PROBLEM,
        "t lies in backlog/ and does not wait for you; see: ",
    ),
    "again of what is done": (
        drops(State.COMPLETED, "t.md"),
        "retry t",
        PROBLEM,
        "t is done; to have it done once more",
    ),
    "a cancel of what is done": (
        drops(State.COMPLETED, "t.md"),
        "cancel t",
        PROBLEM,
        "cancel does nothing there: it is done",
    ),
    "a word for what waits for nobody": (drops(State.BACKLOG, "t.md"), "unblock t", PROBLEM, "waits for no other task"),
    "tests of what has none": (drops(State.BACKLOG, "t.md"), "retest t", PROBLEM, "has no tests to run again"),
    "an amount in words": (nothing, "raise-cap ten", PROBLEM, "'ten' is not an amount of dollars; write one like 5.00"),
    "an amount that the shell ate": (nothing, "raise-cap .50", PROBLEM, "to a shell $7 is nothing: write 7.50"),
    "less than a day may cost": (nothing, "raise-cap 1", PROBLEM, "a day may cost $5.00 anyway"),
    "a call that is none": (nothing, "write-off 77 --why x", PROBLEM, "there is no"),
    "a phase that is none": (nothing, "run-day --until lunch", USAGE, "choose from"),
    "letters that nobody sees": (nothing, "approve 7\u200b", USAGE, "holds letters that nobody sees"),
    # -- the home and its target
    "a home that is none": (nothing, "--home {root}/other status", PROBLEM, "is no home yet; type: "),
    "no repository": (nothing, "--home {root}/h init --target {root}/nowhere", PROBLEM, "there is no repository at"),
    "a folder without git": (
        makes("plain"),
        "--home {root}/h init --target {root}/plain",
        PROBLEM,
        "is a folder without git; make it a repository with a first commit: ",
    ),
    "an empty repository": (
        makes("empty", ("init", "-q", "-b", "main")),
        "--home {root}/h init --target {root}/empty",
        PROBLEM,
        "commit",
    ),
    "a home in the target": (
        lambda stage: repository(stage.root / "in"),
        "--home {root}/in/home init --target {root}/in",
        PROBLEM,
        "lies inside the target; choose a --home outside of",
    ),
    "a branch that is none": (
        lambda stage: repository(stage.root / "in"),
        "--home {root}/h init --target {root}/in --branch nope",
        PROBLEM,
        "has no branch nope; name another with --branch",
    ),
    "a second target": (
        lambda stage: repository(stage.root / "in"),
        "init --target {root}/in",
        PROBLEM,
        "use another --home for each target",
    ),
    # -- what is written
    "a slip in a setting": (
        writes("config/policy.yaml", "capactiy: {parallel: 1}\n"),
        "status",
        PROBLEM,
        "config/policy.yaml:1: capactiy",
    ),
    "a value that cannot be": (
        writes("config/policy.yaml", "capacity: {parallel: 010}\n"),
        "status",
        PROBLEM,
        "config/policy.yaml:1: capacity.parallel: write a whole number from 1 to 16",
    ),
    "a setting twice": (
        writes("config/policy.yaml", "capacity: {parallel: 1}\n\ncapacity: {parallel: 2}\n"),
        "status",
        PROBLEM,
        "config/policy.yaml:3: the key 'capacity' stands twice, first in line 1; keep one",
    ),
    "a time zone that is none": (
        changes("config/schedules.yaml", "time_zone: UTC", "time_zone: Mars/Base"),
        "status",
        PROBLEM,
        "config/schedules.yaml:2: time_zone",
    ),
    "keys that others can read": (
        lambda stage: (stage.home.config / ".env").chmod(0o644),
        "run-day",
        PROBLEM,
        "chmod 600",
    ),
    "no key": (writes("config/.env", ""), "run-day", PROBLEM, "ANTHROPIC_API_KEY"),
    "no key, and a look": (
        writes("config/.env", ""),
        "status",
        DONE,
        "config/.env (and chmod 600 it); then type:\n      ",
    ),
    "no vision": (
        lambda stage: stage.home.vision.unlink(),
        "plan --dry-run",
        PROBLEM,
        "is missing; write your goals there",
    ),
    "a vision in another encoding": (
        lambda stage: stage.home.vision.write_bytes(b"# Vision\n- \xff\xfe\n"),
        "plan --dry-run",
        PROBLEM,
        "UTF-8",
    ),
    "a slip in a heading": (
        writes("VISION.md", "## Prioriy: HIGH\n- one\n"),
        "plan --dry-run",
        DONE,
        '"Prioriy: HIGH" is read as "priority"; mend it there',
    ),
    "a task without a head": (
        drops(State.BACKLOG, "t.md", "Do it.\n"),
        "status",
        DONE,
        "backlog/t.md:1: must begin with front matter: a line '---'",
    ),
    "a task without files": (
        drops(State.BACKLOG, "t.md", "---\ntitle: T\n---\n\nDo it.\n"),
        "status",
        DONE,
        "backlog/t.md: say which files it may change, e.g. files: [app/views.py]",
    ),
    "a task's name with blanks": (
        drops(State.BACKLOG, "My Task.md"),
        "status",
        DONE,
        "the name is no task id; use small",
    ),
    "a link for a task": (
        lambda stage: (stage.home.tasks(State.BACKLOG) / "t.md").symlink_to("/etc/hostname"),
        "status",
        DONE,
        "t.md: is a symbolic link; put the file itself there",
    ),
    "a database of something else": (broken_database, "status", PROBLEM, "cannot be used"),
    "a newer program's database": (newer_database, "status", PROBLEM, "is from a newer version of this program"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_has_one_answer_that_says_what_to_do(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deed, typed, code, answer = MISTAKES[name]
    stage = FlowStage(tmp_path, "http://127.0.0.1:1").set_up()
    deed(stage)
    words = [word.format(root=tmp_path) for word in typed.split()]
    home = [] if "--home" in words else ["--home", str(stage.home.root)]
    assert ended(words if not typed else [*home, *words]) == code
    out, err = capsys.readouterr()
    assert answer in (out if code == DONE else err)
    assert "Traceback" not in out + err
    assert code != PROBLEM or err.count("\n") == 1, "one line"


def ended(words: list[str]) -> int:
    try:
        return main(words)
    except SystemExit as end:
        return int(str(end.code))


def test_there_are_thirty_of_them() -> None:
    assert len(MISTAKES) >= 30
