"""A repository that attacks its own test run: in the box only, it ends in bounded time, and nothing of it is left."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from sisimpur.agents.qa.runner.report_pipe import PIPE, ReportPipe
from sisimpur.agents.qa.runner.suite import RawTestRun, SuiteOrder
from sisimpur.agents.qa.test_runner import read_run
from sisimpur.shared.model.errors import Misconfigured
from tests.edges.bench_scene import DJANGO, PYTEST, SMALL, UNITTEST, Files, Scene, frame, lines, make_scene, outcomes
from tests.killing import killer_of_boxes


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return make_scene(tmp_path_factory)


@pytest.fixture(autouse=True)
def _nobody_is_left(scene: Scene) -> Iterator[None]:
    yield
    assert boxed(scene) == set()


def boxed(scene: Scene) -> set[int]:
    """The processes that see a run's files, which only its own box shows."""
    found, place = set(), "/".join(scene.folder.parts[-2:])  # another worker has a scene of the same name
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        with suppress(OSError):
            if f"{place}/scratch/suite-" in Path(f"/proc/{pid}/mountinfo").read_text("utf-8", "replace"):
                found.add(pid)
    return found


def attack(body: str) -> Files:
    """A test that passes, then one that attacks."""
    indented = body.replace("\n", "\n    ")
    return {"tests/test_a.py": f"def test_before(): pass\ndef test_attack():\n    {indented}\ndef test_after(): pass\n"}


BEFORE = {"tests/test_a.py::test_before": "passed"}


# --- taking too much -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("while True: pass", id="runs for ever"),
        pytest.param("import time; time.sleep(1000)", id="sleeps for ever"),
        pytest.param("import os; os.mkfifo('/out/mine'); open('/out/mine')", id="waits for ever"),
        pytest.param(
            "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 13, 15)]; time.sleep(1000)",
            id="ignores what asks it to end",
        ),
    ],
)
def test_who_takes_too_long_is_ended(scene: Scene, code: str) -> None:
    raw = scene.run({"a.py": code}, "python a.py", limits=replace(SMALL, seconds=2))
    assert (raw.end, raw.report) == ("timed out", None)
    assert raw.seconds < 15


@pytest.mark.parametrize(
    ("body", "end"),
    [
        pytest.param(
            "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", "processes", id="forks without end"
        ),
        pytest.param(
            "import threading, time\nwhile True:\n    try: threading.Thread(target=time.sleep, args=(1000,)).start()\n"
            "    except RuntimeError: pass",
            "processes",
            id="threads without end",
        ),
        pytest.param(
            "import os\nfor _ in range(4):\n    if not os.fork(): break\nx = b'x' * 300_000_000\nwhile True: pass",
            "memory",
            id="fills memory together",
        ),
        pytest.param(
            "import os\nwhile True:\n    try: os.write(os.open('/out/x', 1089), b'x' * 1_000_000)\n"
            "    except OSError: os.rename('/out/x', f'/out/{os.urandom(8).hex()}')",
            "disk",
            id="fills what stays",
        ),
        pytest.param(
            "import os, time\nfor n in range(3000): os.mkdir(f'/out/{n}')\ntime.sleep(1000)", "disk", id="folders"
        ),
        pytest.param(
            "import os, time\nos.chdir('/out')\nfor _ in range(300):\n    os.mkdir('d')\n    os.chdir('d')\n"
            "time.sleep(1000)",
            "disk",
            id="folders within folders",
        ),
    ],
)
def test_who_takes_too_much_is_ended(scene: Scene, body: str, end: str) -> None:
    raw = scene.run(attack(body), limits=replace(SMALL, files=2000))
    assert raw.end == end
    assert raw.seconds < SMALL.seconds
    assert outcomes(raw) == BEFORE
    assert "end" not in lines(raw)[-1]


@pytest.mark.parametrize("place", ["/job", "/tmp", "/home/sandbox"])
def test_a_private_folder_that_is_full_is_the_tests_own_failure(scene: Scene, place: str) -> None:
    body = f"for n in range(100): open(f'{place}/{{n}}', 'wb').write(b'x' * 10_000_000)"
    raw = scene.run(attack(body), f"{PYTEST} -p no:cacheprovider", replace(SMALL, memory_mb=2000))
    assert "No space left on device" in raw.output
    assert frame(raw) == (3, 3, 1, 1)
    assert outcomes(raw)["tests/test_a.py::test_after"] == "passed"


def test_one_process_cannot_take_all_memory(scene: Scene) -> None:
    raw = scene.run(attack("bytes(10_000_000_000)"))
    assert "MemoryError" in raw.output
    assert frame(raw) == (3, 3, 1, 1)


def test_a_gigabyte_of_output_is_cut(scene: Scene) -> None:
    body = "import os\nfor _ in range(1100): os.write(9, b'x' * 1_000_000)"
    files = {**attack(body), "go.sh": "exec 9>&1\npython -m pytest -q -s\n"}
    raw = scene.run(files, "sh go.sh")
    assert len(raw.output) < SMALL.output + 100
    assert "bytes left out" in raw.output


# --- ending early --------------------------------------------------------------------------------------------

LEAVE = "import os\nos._exit(0)"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(LEAVE, 0, id="as if all were well"),
        pytest.param("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", 137, id="by force"),
        pytest.param(
            "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nwhile True: pass", 137, id="its parent"
        ),
        pytest.param("import ctypes\nctypes.string_at(0)", 139, id="a crash"),
    ],
)
def test_a_runner_that_leaves_early_has_no_last_line(scene: Scene, body: str, code: int) -> None:
    raw = scene.run(attack(body))
    assert (raw.end, raw.code) == ("exited", code)
    assert outcomes(raw) == BEFORE
    assert lines(raw)[0] == {"collected": 3}
    assert "end" not in lines(raw)[-1]


def test_the_exit_code_says_so_when_all_but_the_runner_are_killed(scene: Scene) -> None:
    raw = scene.run(attack("import os, signal\nos.kill(-1, signal.SIGKILL)"))
    assert (raw.end, raw.code) == ("exited", 137)  # also when it was repeated. How far the runner comes then is a race


def test_one_that_leaves_before_its_tests_has_no_report(scene: Scene) -> None:
    raw = scene.run({"conftest.py": LEAVE, "test_a.py": "def test_a(): assert 0\n"})
    assert (raw.end, raw.code, raw.report) == ("exited", 0, None)


@pytest.mark.parametrize("command", [UNITTEST, DJANGO])
def test_the_same_with_other_runners(scene: Scene, command: str) -> None:
    manage = "import unittest\nunittest.main(module=None, argv=['x', 'discover'])\n"
    cases = "def test_1(self): pass\n    def test_2(self): os._exit(0)\n"
    test = f"import os, unittest\nclass A(unittest.TestCase):\n    {cases}"
    raw = scene.run({"manage.py": manage, "test_a.py": test}, command)
    assert (raw.code, lines(raw)) == (0, [{"collected": 2}, {"test": "test_a.A.test_1", "outcome": "passed"}])


# --- the report ----------------------------------------------------------------------------------------------

REPORT = "/out/report.jsonl"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("os.unlink(R); os.symlink('/etc/passwd', R)", id="a link to a file of ours"),
        pytest.param("os.unlink(R); os.mkfifo(R)", id="another pipe"),
        pytest.param("os.unlink(R); os.mkdir(R)", id="a folder"),
        pytest.param("os.unlink(R); os.symlink(R, R)", id="a link to itself"),
        pytest.param("os.unlink(R); os.symlink('/dev/zero', R)", id="a link to something without end"),
        pytest.param("os.unlink(R)", id="nothing"),
    ],
)
def test_what_was_told_stays_told_and_what_is_put_in_place_of_the_pipe_is_not_read(scene: Scene, body: str) -> None:
    raw = scene.run(attack(f"import os\nR = {REPORT!r}\n{body}"))
    assert (raw.end, raw.code, outcomes(raw)) == ("exited", 0, BEFORE)
    assert not read_run(raw).is_whole


def test_a_report_beyond_all_size_is_none_and_whoever_writes_it_is_not_waited_for(scene: Scene) -> None:
    raw = scene.run(attack(f"[open({REPORT!r}, 'ab').write(b'x' * 10_000_000) for _ in range(6)]"))
    assert (raw.end, raw.code, raw.report) == ("exited", 0, None)


def test_a_forged_report_lacks_the_word_and_makes_all_of_it_worthless(scene: Scene) -> None:
    forged = '{"collected": 1}\n{"test": "x", "outcome": "passed"}\n{"end": 0, "ran": 1}\n'
    raw = scene.run(attack(f"open({REPORT!r}, 'w').write({forged!r})\nimport os\nos._exit(0)"))
    assert read_run(raw).end == "damaged report"
    assert raw.report and b"without the word" in raw.report


def test_what_is_loaded_with_the_tests_does_not_find_the_word(scene: Scene) -> None:
    seen = "import os\nassert os.path.exists('/out/report.jsonl') and not os.path.exists('/out/report.word')\n"
    for name in ("conftest.py", "shop.py"):
        run = read_run(
            scene.run({name: seen, "test_a.py": "try: import shop\nexcept ImportError: pass\ndef test_a(): pass\n"})
        )
        assert (run.end, len(run.of("passed"))) == ("finished", 1), name


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (
            "import _pytest.runner as r\nold = r.CallInfo.from_call.__func__\n"
            "r.CallInfo.from_call = classmethod(lambda *a, **b: old(*a, **b))",
            "from_call",
        ),
        ("import unittest\nunittest.TestCase.assertEqual = lambda *_, **__: None", "assertEqual"),
        ("import builtins\nold = abs\nbuiltins.abs = lambda n: old(n)", "builtins.abs"),
        ("import gate_report\ngate_report.Report.test = lambda self, *_: None", "Report.test"),
        ("import _pytest.python as p\np.Function.runtest.__code__ = (lambda self: None).__code__", "Function.runtest"),
    ],
)
def test_a_runner_that_is_not_what_it_was_is_told_as_a_test_that_fails(scene: Scene, code: str, name: str) -> None:
    files = {"shop.py": code + "\n", "test_a.py": "import shop\n\n\ndef test_a():\n    assert shop\n"}
    run = read_run(scene.run(files))
    if name == "Report.test":
        assert not run.is_whole, "nothing was told"
    else:
        assert run.is_whole and [test for test in run.of("failed") if name in test], run
        assert any("cannot be believed" in one.text for one in run.failures)


def test_what_a_test_puts_back_is_nobodys_business(scene: Scene) -> None:
    test = "from unittest import mock\n\n\ndef test_a():\n    with mock.patch('os.write'):\n        assert 1\n"
    assert not read_run(scene.run({"test_a.py": test})).of("failed")


@pytest.mark.parametrize("put", ["os.symlink('/etc/passwd', C)", "os.mkfifo(C)", "os.mkdir(C)"])
def test_what_lies_in_place_of_the_counted_lines_is_not_read(scene: Scene, put: str) -> None:
    raw = scene.run(attack(f"import os\nC = '/out/coverage.json'\n{put}"), cover=True)
    assert raw.end == "exited"
    assert raw.coverage is None or json.loads(raw.coverage)["files"]
    assert (raw.coverage is None) == ("mkdir" in put)


def test_counted_lines_that_were_broken_are_none(scene: Scene) -> None:
    body = "import shutil\nshutil.rmtree('/out/lines')\nopen('/out/lines', 'w').write('mine')"
    raw = scene.run(attack(body), cover=True)
    assert raw.coverage is None
    assert outcomes(raw)["tests/test_a.py::test_after"] == "passed"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_was_closed_is_removed_all_the_same(scene: Scene) -> None:
    assert scene.run(attack("import os\nos.chmod('/out', 0)")).report is None


# --- around it -----------------------------------------------------------------------------------------------


def test_there_is_no_network_but_its_own(scene: Scene) -> None:
    body = (
        "import socket, urllib.request\nwith socket.create_server(('127.0.0.1', 8000)):\n"
        "    socket.create_connection(('127.0.0.1', 8000)).close()\n"
        "urllib.request.urlopen('http://192.0.2.1/', timeout=5)"
    )
    raw = scene.run(attack(body))
    assert "Network is unreachable" in raw.output
    assert outcomes(raw)["tests/test_a.py::test_attack"] == "failed"
    assert frame(raw) == (3, 3, 1, 1)


def test_what_is_not_ours_to_write_cannot_be_written(scene: Scene) -> None:
    body = (
        "import os\nfor place in ('/src/x', '/run/gate/x', os.__file__, '/x'):\n"
        "    try: open(place, 'w')\n    except OSError as error: assert error.errno == 30, place\n"
        "    else: raise OSError"
    )
    assert frame(scene.run(attack(body))) == (3, 3, 0, 0)


def test_nothing_of_us_is_to_be_seen(scene: Scene) -> None:
    shows = "env | cut -d= -f1 | sort | tr '\\n' ' '; id -un; ls -A / | tr '\\n' ' '"
    seen = scene.run({"a": ""}, shows, cover=True).output
    assert set(seen.split("sandbox\n")[0].split()) == {
        *("COVERAGE_PROCESS_START", "HOME", "LANG", "OLDPWD", "PATH", "PWD", "PYTHONDONTWRITEBYTECODE"),
        *("PYTHONHASHSEED", "PYTHONPATH", "SISIMPUR_ONLY", "SISIMPUR_REPORT", "SISIMPUR_UNCOUNTED"),
    }


DAEMON = (
    "import os, time\nif not os.fork():\n    os.setsid()\n    if os.fork(): os._exit(0)\n"
    "    os.close(1); os.close(2)\n    while True:\n        open('/out/beat', 'w').close()\n        time.sleep(0.01)"
)


def test_a_daemon_ends_with_its_run(scene: Scene) -> None:
    raw = scene.run(attack(DAEMON))
    assert frame(raw) == (3, 3, 0, 0)


@pytest.mark.parametrize(
    ("name", "check"),
    [
        pytest.param("json.py", lambda raw: raw.report is None, id="json"),
        pytest.param("sitecustomize.py", lambda raw: raw.code == 0, id="sitecustomize"),
        pytest.param("gate_report.py", lambda raw: raw.report is None, id="our own names"),
        pytest.param("coverage.py", lambda raw: raw.code == 0, id="coverage"),
    ],
)
def test_names_of_ours_in_the_repository_harm_only_its_own_run(
    scene: Scene, name: str, check: Callable[[RawTestRun], bool]
) -> None:
    raw = scene.run({name: "raise SystemExit(9)", "test_a.py": "def test_a(): pass\n"}, cover=name == "coverage.py")
    assert raw.end == "exited"
    assert check(raw), raw


def test_output_that_is_no_text_is_shown_as_far_as_it_can_be(scene: Scene) -> None:
    raw = scene.run({"a": ""}, r"printf 'a\377\000\033[31mb'; exit 3")
    assert (raw.output, raw.code) == ("a�\0\033[31mb", 3)


def test_a_run_can_be_stopped_and_nobody_of_it_is_left(scene: Scene) -> None:
    mirror, sha = scene.commit(attack(f"{DAEMON}\ntime.sleep(1000)"))
    began, seen = time.monotonic(), []

    def stop() -> bool:
        seen.append(len(boxed(scene)))
        return len(seen) > 3 and seen[-1] >= 3 and time.monotonic() > began + 1

    with closing(scene.bench(mirror)) as bench:
        raw = bench.run(SuiteOrder(sha, PYTEST, cover=False), stop)
    assert raw.end == "stopped"
    assert raw.seconds < SMALL.seconds
    assert max(seen) >= 3
    assert list(scene.scratch.iterdir()) == []


def test_a_command_that_does_not_exist_says_so(scene: Scene) -> None:
    raw = scene.run({"a": ""}, "no-such-runner --all")
    assert (raw.code, raw.report) == (127, None)
    assert "no-such-runner" in raw.output


SLOW = {"test_a.py": "import time\ndef test_a(): time.sleep(0.5)\n"}


@pytest.mark.parametrize(
    ("times", "end"),
    [pytest.param(1, "exited", id="once: it is run once more"), pytest.param(2, "killed", id="twice: that is no run")],
)
def test_a_box_that_somebody_kills_says_nothing_of_its_tests(scene: Scene, times: int, end: str) -> None:
    mirror, sha = scene.commit(SLOW)
    with closing(scene.bench(mirror)) as bench:
        raw = bench.run(SuiteOrder(sha, PYTEST, cover=False), killer_of_boxes(times))
    assert raw.end == end
    assert (outcomes(raw) == {"test_a.py::test_a": "passed"}) == (end == "exited")
    assert list(scene.scratch.iterdir()) == []


def test_where_no_pipe_can_be_made_the_owner_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / PIPE).write_text("")
    with pytest.raises(Misconfigured, match=f"^no pipe can be made in {tmp_path} .*: move the home to [^\n]*$"):
        ReportPipe(tmp_path)
