"""Fault points, and the helper with which all kill tests die."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sisimpur.shared.system.process import Finished, other
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.gated import FILES, GOOD, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads
from tests.killing import REPOSITORY, WARM, at_length, finishes, forked, killed_at, plainly, points, snippet
from tests.warm_start import WarmStart

PROGRAM = """
    import sys
    from sisimpur.shared.system.fault import fault_point

    for name in ("push.planned", "push.sent", "push.sent", "push.done"):
        fault_point(name)
        open(sys.argv[1], "a").write("x")
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace"


def test_without_the_variables_a_fault_point_does_nothing(trace: Path) -> None:
    finishes(snippet(PROGRAM, str(trace)))
    assert trace.read_text() == "xxxx"


def test_the_points_are_listed_in_order_each_time_they_are_passed(trace: Path) -> None:
    assert points(snippet(PROGRAM, str(trace))) == ["push.planned", "push.sent", "push.sent", "push.done"]
    assert trace.read_text() == "xxxx"


@pytest.mark.parametrize(
    ("point", "done_before"),
    [
        pytest.param("push.planned", 0, id="the first point"),
        pytest.param("push.sent", 1, id="a name means its first passing"),
        pytest.param(3, 2, id="a number tells two passings apart"),
        pytest.param("push.sent#2", 2, id="and so does a name with its count"),
        pytest.param("push.done", 3, id="the last point"),
    ],
)
def test_it_dies_at_the_point_and_nothing_after_it_happens(trace: Path, point: str | int, done_before: int) -> None:
    passed = killed_at(point, snippet(PROGRAM, str(trace)))
    assert len(passed) == done_before + 1
    assert (trace.read_text() if trace.exists() else "") == "x" * done_before


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param("pass", "ended with 0", id="never comes there"),
        pytest.param("raise SystemExit('no')", "ended with 1", id="fails before"),
        pytest.param("import os; os.kill(os.getpid(), 15)", "ended with -15", id="ends by another signal"),
        pytest.param(
            "import os; from sisimpur.shared.system.fault import fault_point; fault_point('a.b'); os.kill(os.getpid(), 9)",  # noqa: E501
            "died after",
            id="is killed elsewhere",
        ),
    ],
)
def test_a_program_that_does_not_die_there_fails_the_test(code: str, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        killed_at("push.sent", snippet(code))


def test_a_program_without_fault_points_cannot_pass_a_kill_test() -> None:
    with pytest.raises(AssertionError, match="passes 0 fault points"):
        points(snippet("pass"))


# --- forked from a warm interpreter, or started plainly ------------------------------------------------------

How = Callable[[list[str], dict[str, str], float], Finished]
EITHER = pytest.mark.parametrize("how", [pytest.param(plainly, id="plainly"), pytest.param(forked, id="forked")])
LEAVES_A_CHILD = """
    import os, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    print(os.getpid(), child.pid, flush=True)
"""
HOLDS = """
    import os, sys, time
    from pathlib import Path
    from sisimpur.shared.system import lock
    with lock.hold(Path(sys.argv[1])):
        print("held", flush=True)
        Path(sys.argv[1] + ".held").touch()
        while not Path(sys.argv[1] + ".refused").exists():
            time.sleep(0.01)
"""
REFUSED = """
    import sys, time
    from pathlib import Path
    from sisimpur.shared.model.errors import Misconfigured
    from sisimpur.shared.system import lock
    while not Path(sys.argv[1] + ".held").exists():
        time.sleep(0.01)
    try:
        with lock.hold(Path(sys.argv[1])):
            print("held too")
    except Misconfigured:
        print("taken")
    Path(sys.argv[1] + ".refused").touch()
"""


def lives(pid: int) -> bool:
    with other(pid) as one:
        return one is not None and not one.has_ended(5)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            "import sys; print(sys.argv, sys.orig_argv, sys.path, __name__, [n for n in globals() if '__' not in n])",
            id="its words",
        ),
        pytest.param("import os; print(os.getcwd(), sorted(os.environ.items()))", id="its place and environment"),
        pytest.param("import os; print(os.getsid(0) == os.getpgid(0) == os.getpid())", id="a session of its own"),
        pytest.param("import os; print(sorted(os.listdir('/proc/self/fd')))", id="nothing open that it inherits"),
        pytest.param(
            "import threading, os; print(threading.active_count(), os.listdir('/proc/self/task')[1:])", id="one thread"
        ),
        pytest.param("import signal; print([str(signal.getsignal(n)) for n in (1, 2, 13, 15, 17)])", id="its signals"),
        pytest.param("import sys; print(repr(sys.stdin.read()), sys.stdin.fileno())", id="nothing to read"),
        pytest.param("import __main__; print(__main__.__dict__ is globals())", id="it is the main module"),
        pytest.param("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)", id="an exit code"),
        pytest.param("raise SystemExit('because')", id="an exit with words"),
        pytest.param("import os; os._exit(3)", id="at once"),
        pytest.param("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", id="by a signal"),
        pytest.param(
            "import os, signal; print('said', flush=True); os.kill(os.getpid(), signal.SIGKILL)", id="by force"
        ),
        pytest.param("file = open('/dev/fd/1', 'a'); file.write('not flushed')", id="with a file open"),
        pytest.param("import atexit; atexit.register(print, 'at the end')", id="with something to do at the end"),
        pytest.param(
            "import threading, time; threading.Thread(target=lambda: time.sleep(0.1) or print('and a thread')).start()",
            id="with a thread that works on",
        ),
        pytest.param("print('x' * 300_000)", id="with much to say"),
    ],
)
def test_a_forked_program_is_and_ends_as_a_plain_one(code: str) -> None:
    argv, env = snippet(code, "one", "two words"), {"SISIMPUR_X": "ä\udcff\n"}
    plain, warm = plainly(argv, env), forked(argv, env)
    assert (warm.code, warm.end, warm.output, warm.errors, warm.cut) == (
        plain.code,
        plain.end,
        plain.output,
        plain.errors,
        plain.cut,
    )


@pytest.mark.parametrize(
    "code", ["1 / 0", "import sisimpur.shared.nothing", "import sisimpur.shared.system.lock as a; a.nothing", "if"]
)
def test_what_it_does_not_survive_is_said_as_by_a_plain_one(code: str) -> None:
    plain, warm = plainly(snippet(code), {}), forked(snippet(code), {})
    assert warm.code == plain.code == 1
    assert warm.complaint.splitlines()[-1] == plain.complaint.splitlines()[-1]


def test_a_module_that_is_run_is_not_the_one_that_is_imported() -> None:
    argv = [sys.executable, "-m", "bench.reference", "--no-such-thing"]
    plain, warm = plainly(argv, {}), forked(argv, {})
    assert (warm.code, warm.output, warm.errors) == (plain.code, plain.output, plain.errors)


def test_nothing_of_one_program_is_seen_by_the_next() -> None:
    leaves = "import os, sys; from sisimpur.shared.system import fault; fault.left = 1; os.environ['LEFT'] = '1'; os.chdir('/')"  # noqa: E501
    looks = "import os; from sisimpur.shared.system import fault; print(hasattr(fault, 'left'), os.environ.get('LEFT'))"
    finishes(snippet(leaves))
    assert finishes(snippet(looks + "; print(os.getcwd())")).text.split() == ["False", "None", str(REPOSITORY)]
    one, two = (finishes(snippet("import random, uuid; print(random.random(), uuid.uuid4())")).text for _ in range(2))
    assert one != two


def test_it_has_no_variable_but_those_that_it_is_given() -> None:
    asks = snippet("import os; print(*(name for name in os.environ if not name.startswith('LC_')))")
    assert WARM.run(asks, {"ONE": "1"}, 30).text.split() == ["ONE"]


@EITHER
def test_at_its_end_nothing_of_its_group_goes_on(how: How) -> None:
    leader, child = map(int, how(snippet(LEAVES_A_CHILD), {}, 30).text.split())
    assert (lives(leader), lives(child)) == (False, False)


@EITHER
@pytest.mark.parametrize("deaf", [False, True])
def test_a_program_that_hangs_is_ended_with_its_group(how: How, deaf: bool) -> None:
    first = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)" if deaf else "pass"
    code = f"    {first}{LEAVES_A_CHILD}    time.sleep(300)"
    done = how(snippet(code), {}, 1.5)
    assert (done.end, done.code) == ("timed out", -signal.SIGKILL if deaf else -signal.SIGTERM)
    leader, child = map(int, done.text.split())
    assert (lives(leader), lives(child)) == (False, False)


def test_several_at_once_are_processes_to_each_other(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with ThreadPoolExecutor(4) as pool:
        locks = pool.map(finishes, [snippet(HOLDS, path), snippet(REFUSED, path)])
        others = pool.map(finishes, [snippet("import os; print(os.getppid())")] * 2)
        assert [done.text.strip() for done in locks] == ["held", "taken"]
        assert len({done.text for done in others}) == 1  # both were forked, from the same one


@pytest.fixture
def own() -> Iterator[WarmStart]:
    """One that the other tests do not share."""
    warm = WarmStart(REPOSITORY)
    yield warm
    warm.close()


def parent_of(warm: WarmStart) -> int:
    return int(warm.run(snippet("import os; print(os.getppid())"), os.environ, 30).text)


def test_an_interpreter_that_was_killed_is_started_again(own: WarmStart) -> None:
    first = parent_of(own)
    assert parent_of(own) == first
    os.kill(first, signal.SIGKILL)
    assert parent_of(own) != first
    assert lives(first) is False


def test_when_it_dies_under_a_program_the_test_fails_and_the_program_ends(own: WarmStart, tmp_path: Path) -> None:
    told = tmp_path / "pid"
    code = """
        import os, signal, sys, time
        open(sys.argv[1], "w").write(str(os.getpid()))
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(300)
    """
    with pytest.raises(AssertionError, match="the warm interpreter has died"):
        own.run(snippet(code, str(told)), os.environ, 30)
    assert not lives(int(told.read_text()))
    assert parent_of(own)


def test_it_ends_with_whoever_started_it_and_so_does_what_it_runs(tmp_path: Path) -> None:
    told = tmp_path / "pids"
    starts = """
        import os, signal, sys, threading, time
        from pathlib import Path
        from tests.killing import WARM
        threading.Thread(target=WARM.run, args=([sys.executable, *sys.argv[2:]], os.environ, 60)).start()
        while not Path(sys.argv[1]).exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    runs = f"""
        import os, time
        open("{told}.new", "w").write(f"{{os.getppid()}} {{os.getpid()}}")
        os.rename("{told}.new", "{told}")
        time.sleep(300)
    """
    assert plainly(snippet(starts, str(told), *snippet(runs)[1:]), {}).code == -signal.SIGKILL
    warm, program = map(int, told.read_text().split())
    assert (lives(warm), lives(program)) == (False, False)


@pytest.mark.parametrize(
    ("does", "complaint"),
    [
        pytest.param("pass", "", id="nothing"),
        pytest.param("threading.Thread(target=time.sleep, args=(1,)).start()", "started a thread", id="a thread"),
        pytest.param("file = open(os.devnull)", "opened a file", id="a file"),
    ],
)
def test_an_import_that_does_what_a_fork_would_not_have_or_share_is_complained_of(does: str, complaint: str) -> None:
    checks = f"""
        import os, threading, time
        from tests.warm_interpreter import check_that_a_fork_is_whole
        {does}
        check_that_a_fork_is_whole(4)
    """
    done = plainly(snippet(checks), {})
    assert (done.ok, complaint in done.complaint) == (not complaint, True)


def test_only_what_starts_alike_is_forked() -> None:
    env = dict(os.environ)
    assert WARM.can_run(snippet("pass"), env)
    assert WARM.can_run([sys.executable, "-m", "tests.journey.one_day"], env)
    assert WARM.can_run([sys.executable, "main.py", "status"], env)
    assert not WARM.can_run(snippet("pass"), env | {"PYTHONHASHSEED": "1"})
    assert not WARM.can_run([sys.executable, "-m", "venv"], env)
    assert not WARM.can_run([sys.executable, "-I", "main.py"], env)
    assert not WARM.can_run([sys.executable], env)
    assert not WARM.can_run(["sh", "-c", "true"], env)


# --- a day of each kind --------------------------------------------------------------------------------------

IDLE = "# Vision\n"


def lived(how: How, place: Path, module: str, vision: str, at: int = 0) -> tuple[int, str, list[str], set[str]]:
    """How a day ends that is killed at a point (0: never) -> its end, the points it passed, the files it left."""
    place.mkdir()
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        stage = Stage(place, model.url, Coder(GOOD), suite).set_up(vision, FILES)
        with (stage.home.config / "policy.yaml").open("a") as policy:
            policy.write("machine: {most: 1}\n")  # nobody is told that others keep its processors busy
        log = place / "points"
        env = {"SISIMPUR_CRASH_LOG": str(log)} | ({"SISIMPUR_CRASH_AT": str(at)} if at else {})
        done = how([sys.executable, "-m", f"tests.journey.{module}", str(place), model.url], env, 60)
    files = {str(path.relative_to(place)) for path in place.rglob("*") if "objects" not in path.parts}
    return done.code, done.end, log.read_text().splitlines(), files


@pytest.mark.slow
@pytest.mark.parametrize("vision", [IDLE, pytest.param(VISION, marks=at_length)], ids=["idle", "work"])
def test_a_forked_day_passes_and_leaves_what_a_plain_one_does(tmp_path: Path, vision: str) -> None:
    for at in (0, 30):
        plain, warm = (
            lived(how, tmp_path / f"{how.__name__}-{at}", "one_day", vision, at) for how in (plainly, forked)
        )
        assert warm == plain
        assert plain[:2] == (-signal.SIGKILL if at else 0, "exited")


@pytest.mark.slow
def test_a_forked_day_of_a_daemon_passes_and_leaves_what_a_plain_one_does(tmp_path: Path) -> None:
    """Its beats come as they come, so a point may be passed more often."""
    plain, warm = (lived(how, tmp_path / how.__name__, "daemon_day", IDLE) for how in (plainly, forked))
    assert warm[:2] == plain[:2] == (0, "exited")
    assert (set(warm[2]) ^ set(plain[2]), warm[3] ^ plain[3]) == (set(), set())


@pytest.mark.slow
def test_a_day_loads_next_to_nothing_itself(tmp_path: Path) -> None:
    """Else `LOADED_LATE` of the warm interpreter lacks what came since."""
    code = """
        import sys
        before = set(sys.modules)
        from tests.journey import one_day
        code = one_day.main(*sys.argv[1:])
        print(*sorted(set(sys.modules) - before))
        sys.exit(code)
    """
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        Stage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, FILES)
        loaded = finishes(snippet(code, str(tmp_path), model.url)).text.split()
    assert len(loaded) < 20, loaded
