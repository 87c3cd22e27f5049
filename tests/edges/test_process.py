"""The contract of the door to programs, with real ones."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.errors import CommandFailed, Refused, Unavailable
from sisimpur.shared.system import process
from sisimpur.shared.system.process import End, KeptProgram, RunOptions, detached, other, repeated, run

ENV = {"PATH": "/usr/bin:/bin"}
ROOT = Path(__file__).parents[2]
FAMILY = "trap '' HUP; (sleep 100 & sleep 100) & sleep {seconds}"  # a child and a grandchild


class Lifeline:
    """A pipe whose one end only the started programs hold: it breaks when the last of them is gone."""

    def __init__(self) -> None:
        self.ours, self.theirs = os.pipe()

    def close_theirs(self) -> None:
        if self.theirs >= 0:
            os.close(self.theirs)
        self.theirs = -1

    def all_are_gone(self) -> bool:
        self.close_theirs()
        ready, _, _ = select.select([self.ours], [], [], 5)
        return bool(ready) and os.read(self.ours, 1) == b""


@pytest.fixture
def lifeline() -> Iterator[Lifeline]:
    line = Lifeline()
    yield line
    line.close_theirs()
    os.close(line.ours)


# --- what it is given ----------------------------------------------------------------------------------------


def test_it_gets_exactly_the_environment_that_is_given() -> None:
    assert run(["/usr/bin/env"], env={"A": "1", "B": "x y"}, timeout=5).text == "A=1\nB=x y\n"


def test_a_program_is_looked_up_in_the_given_path_only(tmp_path: Path) -> None:
    assert run(["env"], env={"PATH": str(tmp_path)}, timeout=5).end == "not found"


def test_it_works_in_the_given_folder_and_else_in_the_root(tmp_path: Path) -> None:
    assert run(["pwd"], env=ENV, cwd=tmp_path, timeout=5).text == f"{tmp_path}\n"
    assert run(["pwd"], env=ENV, timeout=5).text == "/\n"


def test_it_inherits_only_the_descriptors_that_are_passed(lifeline: Lifeline) -> None:
    listing = ["sh", "-c", "ls /proc/$$/fd"]
    os.set_inheritable(lifeline.ours, True)
    assert run(listing, env=ENV, timeout=5).text.split() == ["0", "1", "2"]
    inherits = RunOptions(pass_fds=(lifeline.ours,))
    assert str(lifeline.ours) in run(listing, env=ENV, timeout=5, how=inherits).text.split()


@pytest.mark.parametrize(
    ("data", "read"),
    [
        pytest.param(None, b"", id="nothing to read: it does not wait for a keyboard"),
        pytest.param(b"a\0b\n", b"a\0b\n", id="bytes, not text"),
        pytest.param(b"x" * 300_000, b"x" * 300_000, id="more than a pipe holds"),
    ],
)
def test_it_reads_the_data(data: bytes | None, read: bytes) -> None:
    assert run(["cat"], env=ENV, timeout=5, data=data, how=RunOptions(limit=1_000_000)).output == read


def test_data_that_nobody_reads_blocks_nobody() -> None:
    assert run(["true"], env=ENV, timeout=5, data=b"x" * 5_000_000).ok


@pytest.mark.parametrize(
    ("argv", "env"),
    [
        pytest.param(["echo", "a\0b"], {}, id="NUL in an argument"),
        pytest.param(["echo"], {"A": "a\0b"}, id="NUL in a value"),
        pytest.param(["echo", "\ud800"], {}, id="half of a surrogate pair"),
    ],
)
def test_what_no_program_can_be_given_is_refused(argv: list[str], env: dict[str, str]) -> None:
    with pytest.raises(Refused, match="echo was not started"):
        run(argv, env={**ENV, **env}, timeout=5)


# --- how it ends ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "code", "ok"),
    [
        pytest.param("true", 0, True, id="good"),
        pytest.param("exit 3", 3, False, id="its own code"),
        pytest.param("kill -9 $$", -9, False, id="a signal is a negative code"),
    ],
)
def test_the_code_says_how_it_ended(script: str, code: int, ok: bool) -> None:
    done = run(["sh", "-c", script], env=ENV, timeout=5)
    assert (done.code, done.end, done.ok) == (code, "exited", ok)


@pytest.mark.parametrize(
    ("argv", "cwd"),
    [
        pytest.param(["no-such-program"], "/", id="no such program"),
        pytest.param(["/etc/passwd"], "/", id="not a program"),
        pytest.param(["true"], "/no/such/folder", id="no such folder"),
    ],
)
def test_a_program_that_cannot_start_is_an_ordinary_answer(argv: list[str], cwd: str) -> None:
    done = run(argv, env=ENV, cwd=Path(cwd), timeout=5)
    assert (done.code, done.end, done.ok) == (127, "not found", False)
    assert (argv[0] if cwd == "/" else cwd) in done.complaint


def test_a_run_that_takes_too_long_is_ended() -> None:
    done = run(["sleep", "100"], env=ENV, timeout=0.2)
    assert (done.end, done.ok) == ("timed out", False)
    assert 0.2 <= done.seconds < 1.5


def test_it_is_asked_politely_first() -> None:
    done = run(["sh", "-c", "trap 'echo bye; exit' TERM; sleep 100 & wait"], env=ENV, timeout=0.2)
    assert (done.end, done.text) == ("timed out", "bye\n")


def test_the_group_ends_with_the_time_limit_also_when_it_is_deaf(lifeline: Lifeline) -> None:
    script = "trap '' TERM; " + FAMILY.format(seconds=100)
    run(["sh", "-c", script], env=ENV, timeout=0.2, how=RunOptions(pass_fds=(lifeline.theirs,)))
    assert lifeline.all_are_gone()


def test_the_group_ends_with_its_leader(lifeline: Lifeline) -> None:
    inherits = RunOptions(pass_fds=(lifeline.theirs,))
    assert run(["sh", "-c", FAMILY.format(seconds=0)], env=ENV, timeout=5, how=inherits).end == "exited"
    assert lifeline.all_are_gone()


def test_the_group_ends_when_the_watch_gives_a_reason(lifeline: Lifeline) -> None:
    seen = []

    def watch(pid: int, printed: int) -> End | None:
        seen.append(pid)
        return "memory" if len(seen) == 2 else None

    argv = ["sh", "-c", FAMILY.format(seconds=100)]
    assert run(argv, env=ENV, timeout=9, how=RunOptions(watch=watch, pass_fds=(lifeline.theirs,))).end == "memory"
    assert seen[0] == seen[1]
    assert lifeline.all_are_gone()


def test_the_group_ends_when_we_are_interrupted(lifeline: Lifeline) -> None:
    def interrupted(pid: int, printed: int) -> End | None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        argv = ["sh", "-c", FAMILY.format(seconds=100)]
        run(argv, env=ENV, timeout=9, how=RunOptions(watch=interrupted, pass_fds=(lifeline.theirs,)))
    assert lifeline.all_are_gone()


@pytest.mark.parametrize("merge", [pytest.param(False, id="apart"), pytest.param(True, id="merged")])
def test_the_watch_is_told_how_many_bytes_were_printed(merge: bool) -> None:
    def watch(pid: int, printed: int) -> End | None:
        return "output" if printed == 8 else None

    argv = ["sh", "-c", "printf 12345; sleep 0.3; printf 678 >&2; sleep 100"]
    assert run(argv, env=ENV, timeout=9, how=RunOptions(merge=merge, watch=watch)).end == "output"


# --- what it prints ------------------------------------------------------------------------------------------


def test_output_and_errors_are_kept_apart_or_merged_in_order() -> None:
    argv = ["sh", "-c", "echo one; echo two >&2; echo three"]
    apart, merged = run(argv, env=ENV, timeout=5), run(argv, env=ENV, timeout=5, how=RunOptions(merge=True))
    assert (apart.output, apart.errors, apart.complaint) == (b"one\nthree\n", b"two\n", "two")
    assert (merged.output, merged.errors) == (b"one\ntwo\nthree\n", b"")


def test_text_survives_bytes_that_are_none() -> None:
    assert run(["printf", r"a\377b"], env=ENV, timeout=5).text == "a\ufffdb"


@given(size=st.integers(0, 600), limit=st.integers(0, 600))
def test_what_is_kept_ishead_and_tail_within_the_limit(size: int, limit: int) -> None:
    printed = bytes(ord("a") + n % 26 for n in range(size))
    done = run(["cat"], env=ENV, timeout=5, data=printed, how=RunOptions(limit=limit))
    if size <= limit:
        assert (done.output, done.cut) == (printed, False)
    else:
        head, tail = printed[: limit // 2], printed[size - (limit - limit // 2) :]
        assert done.output == head + f"\n[... {size - limit} bytes left out ...]\n".encode() + tail
        assert done.cut


def test_who_prints_without_end_is_ended() -> None:
    script = f"import os, time; os.ftruncate(1, {process.MOST_PRINTED + 1}); time.sleep(100)"
    assert run([sys.executable, "-c", script], env=ENV, timeout=9).end == "output"


# --- in the background ---------------------------------------------------------------------------------------


def test_a_program_in_the_background_ends_with_the_block(lifeline: Lifeline) -> None:
    argv = ["sh", "-c", FAMILY.format(seconds=100)]
    with process.running(argv, env=ENV, pass_fds=(lifeline.theirs,)) as pid:
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert lifeline.all_are_gone()


def test_a_program_that_is_missing_cannot_run_in_the_background() -> None:
    with pytest.raises(Unavailable, match="no-such-program"), process.running(["no-such-program"], env=ENV):
        pass


# --- programs that outlive us, and processes of others -------------------------------------------------------

SELF_PORTRAIT = """
import json, os, sys
print(json.dumps({"env": dict(os.environ), "fds": os.listdir("/proc/self/fd"), "session": os.getsid(0) == os.getpid(),
                  "read": sys.stdin.read()}), flush=True)
print("and an error", file=sys.stderr)
"""


def ended(pid: int) -> bool:
    with other(pid) as process:
        gone = process is None or process.has_ended(10)
    os.waitpid(pid, 0)  # ours to bury, as long as we live
    return gone


def test_a_detached_program_outlives_who_started_it(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from sisimpur.shared.system.process import detached\n"
        "print(detached(['sleep', '60'], env={'PATH': '/usr/bin:/bin'}, output=Path(sys.argv[1])))"
    )
    starter = run((sys.executable, "-W", "error", "-c", code, str(tmp_path / "out")), cwd=ROOT, env=ENV, timeout=20)
    assert starter.ok and not starter.errors
    with other(int(starter.text)) as process:
        assert process and not process.has_ended()
        process.ask_to_end()
        assert process.has_ended(5)


def test_a_detached_program_has_nothing_of_ours_but_what_it_is_given(tmp_path: Path, lifeline: Lifeline) -> None:
    os.set_inheritable(lifeline.ours, True)
    output = tmp_path / "out"
    for _ in range(2):  # what an earlier one has printed stays
        assert ended(detached([sys.executable, "-c", SELF_PORTRAIT], env={**ENV, "A": "1"}, output=output))
    told, error = output.read_text().splitlines()[-2:]
    portrait = json.loads(told)
    assert portrait["env"]["A"] == "1" and "HOME" not in portrait["env"]
    assert str(lifeline.ours) not in portrait["fds"]
    assert (portrait["session"], portrait["read"], error) == (True, "", "and an error")
    assert (len(output.read_text().splitlines()), output.stat().st_mode & 0o777) == (4, 0o600)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda path: path.symlink_to(path.with_name("target")), id="a link"),
        pytest.param(os.mkfifo, id="a pipe that nobody reads"),
        pytest.param(Path.mkdir, id="a folder"),
    ],
)
def test_a_detached_program_prints_into_a_plain_file_or_is_not_started(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    make(tmp_path / "out")
    with pytest.raises(Unavailable, match="true cannot be started"):
        detached(["true"], env=ENV, output=tmp_path / "out")
    assert not (tmp_path / "target").exists()


def test_a_program_that_is_not_there_cannot_be_detached(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no-such-program cannot be started"):
        detached(["no-such-program"], env=ENV, output=tmp_path / "out")


@pytest.mark.parametrize("number", [0, -1, 1 << 30, 1 << 40])
def test_a_number_that_no_process_has_reaches_nobody(number: int) -> None:
    with other(number) as process:
        assert process is None


def test_who_has_ended_cannot_be_asked_and_his_number_hurts_nobody(tmp_path: Path) -> None:
    pid = detached(["sleep", "60"], env=ENV, output=tmp_path / "out")
    with other(pid) as reached:
        assert reached and not reached.has_ended()
        reached.kill()
        assert reached.has_ended(5)
        os.waitpid(pid, 0)
        reached.ask_to_end()


# --- killed by somebody --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "signal", "is_killed"),
    [
        pytest.param("kill -9 $$", "SIGKILL", True, id="killed, perhaps for want of memory"),
        pytest.param("kill $$", "SIGTERM", True, id="asked to end"),
        pytest.param("sh -c 'kill -9 $$'; exit $?", "SIGKILL", True, id="what it ran was killed, as a shell says it"),
        pytest.param("kill -SEGV $$", "SIGSEGV", False, id="its own fault"),
        pytest.param("exit 7", "", False, id="its own code"),
    ],
)
def test_who_is_ended_by_a_signal_says_so(script: str, signal: str, is_killed: bool) -> None:
    done = run(["sh", "-c", script], env={}, timeout=10)
    assert (done.signal, done.is_killed) == (signal, is_killed)
    assert done.complaint == (f"ended by {signal}" if signal and done.code < 0 else done.complaint)


def test_a_limit_is_no_kill() -> None:
    done = run(["sleep", "9"], env={"PATH": "/usr/bin:/bin"}, timeout=0.1)
    assert (done.end, done.signal, done.is_killed, done.complaint) == ("timed out", "", False, "")


@pytest.mark.parametrize(("kills", "begun"), [(0, 1), (1, 2), (5, 2)])
def test_what_was_killed_is_repeated_once(tmp_path: Path, kills: int, begun: int) -> None:
    script = f"echo . >> {tmp_path}/begun; test $(wc -l < {tmp_path}/begun) -gt {kills} || kill -9 $$"
    done = repeated(lambda: run(["sh", "-c", script], env={"PATH": "/usr/bin:/bin"}, timeout=10))
    assert (tmp_path / "begun").read_text().count(".") == begun
    assert done.is_killed == (kills > 1)


def test_a_kept_program_that_was_killed_is_named_with_the_signal() -> None:
    kept = KeptProgram(["sh", "-c", "kill -9 $$"], env={})
    with pytest.raises(CommandFailed, match=r"^sh has ended by SIGKILL$"):
        kept.line(5)
