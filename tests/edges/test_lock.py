"""One team per home."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system.lock import hold, holder, is_held_by, said

pytestmark = pytest.mark.disk

HOLDER = (
    "import sys, time, pathlib; from sisimpur.shared.system.lock import hold\n"
    "with hold(pathlib.Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
)


def test_a_second_one_is_told_who_works_there(tmp_path: Path) -> None:
    with hold(tmp_path / "lock"), pytest.raises(Misconfigured, match=rf"at work on this home \(pid {os.getpid()}\)"):
        hold(tmp_path / "lock").__enter__()


def test_it_is_free_at_once_after_kill_9_and_a_stale_pid_means_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE) as other:
        assert other.stdout and other.stdout.readline() == b"held\n"
        assert holder(path) == str(other.pid)
        other.send_signal(signal.SIGKILL)
    assert path.read_text() == str(other.pid)
    assert holder(path) == ""
    with hold(path):
        assert holder(path) == str(os.getpid())


def test_nobody_works_on_a_home_without_a_lock_file(tmp_path: Path) -> None:
    assert holder(tmp_path / "absent") == ""


@pytest.mark.parametrize("replaced", [False, True], ids=["deleted", "replaced by another file"])
def test_who_holds_it_sees_that_the_file_is_gone(tmp_path: Path, replaced: bool) -> None:
    with hold(tmp_path / "lock") as held:
        assert held.is_ours()
        (tmp_path / "lock").unlink()
        if replaced:
            (tmp_path / "lock").write_text("")
        assert not held.is_ours()


def test_the_kernel_says_who_holds_it_whatever_stands_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_held_by(path, os.getpid())
    with hold(path):
        path.write_text("1")
        assert is_held_by(path, os.getpid())
        assert not is_held_by(path, 1)
        with hold(tmp_path / "another"):
            path.unlink()
            path.write_text("")
            assert not is_held_by(path, os.getpid())
    assert not is_held_by(path, os.getpid())


def test_who_only_looks_keeps_nobody_out(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with path.open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        threading.Timer(0.08, looking.close).start()
        with hold(path):
            assert holder(path) == str(os.getpid())


def test_what_is_said_is_read_until_it_ends_and_who_was_first_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / "board.port"
    with said(path, "54321"):
        assert holder(path) == "54321"
        with said(path, "8765"):
            assert holder(path) == "54321"
        assert holder(path) == "54321"
    assert holder(path) == ""
    with said(path, "80"):
        assert holder(path) == "80"
