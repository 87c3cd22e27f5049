"""A home on bad ground: one true line, and whoever only looks is answered."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from sisimpur.cli.terminal.arguments import CHECKOUT
from sisimpur.shared.system.process import run
from tests.journey.stage import Stage

ROOM = "mount -t tmpfs -o size=4m room {room} && cp -a {home}/. {room}/ && {spoil}; "
TYPED = "{python} {main} --home {room} {words}"
READ_ONLY, FULL = "mount -o remount,ro {room}", "dd if=/dev/zero of={room}/fill bs=4k 2>/dev/null"
ANSWERED = "what follows is what was known"


def typed(stage: Stage, spoil: str, words: str) -> tuple[int, str]:
    room = stage.root / "room"
    room.mkdir(exist_ok=True)
    places = {"room": room, "home": stage.home.root, "python": sys.executable, "main": CHECKOUT / "main.py"}
    script = (ROOM + TYPED).format(**places, spoil=spoil.format(**places), words=words)
    done = run(("unshare", "-rm", "sh", "-c", script), cwd=stage.root, env={"PATH": os.environ["PATH"]}, timeout=60)
    return done.code, (done.output + done.errors).decode()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up()
    if typed(stage, "true", "status")[0]:
        pytest.skip("nobody may mount anything here")
    return stage


def test_a_home_that_cannot_be_written_is_looked_at_and_says_why(stage: Stage) -> None:
    code, said = typed(stage, READ_ONLY, "status")
    assert code == 0 and f"lies on a read-only file system: mount it writable; nothing is lost; {ANSWERED}" in said
    assert "tasks: 0 backlog" in said
    code, said = typed(stage, FULL, "status")
    assert code == 0 and f"cannot be written: its disk is full; nothing is lost; {ANSWERED}" in said


def test_what_would_change_it_is_refused_in_one_line(stage: Stage) -> None:
    code, said = typed(stage, READ_ONLY, "raise-cap 6")
    assert code == 1 and "(Read-only file system); mount it writable" in said and said.count("\n") == 1


def test_the_doctor_of_a_home_that_cannot_be_written_names_it_and_looks_at_all_the_rest(stage: Stage) -> None:
    code, said = typed(stage, READ_ONLY, "doctor")
    assert code == 1 and "a bug" not in said
    wrong = {line.split()[1]: line for line in said.splitlines() if line.startswith("FAIL")}
    assert "cannot be written" in wrong["home"] and "Read-only file system" in wrong["tests"]
    assert "ok    messages" in said and "ok    research" in said


@pytest.mark.parametrize("command", ["run-day", "start"])
def test_a_disk_on_which_no_box_can_run_is_named_before_anything_is_paid(stage: Stage, command: str) -> None:
    code, said = typed(stage, "true", command)
    assert code == 1 and said.count("\n") == 1
    assert re.search(
        rf"the machine has [0-3] MB of disk left \(looked at from {stage.root}/room\): .*free some space", said
    )
