"""The warm engine by attack: tasks that share one box take nothing from each other, and nothing of them is left."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest

from sisimpur.agents.coder.engine import aider_command, aider_fence
from sisimpur.agents.coder.engine.aider_runner import DISK, MEMORY, PROCESSES, AiderEngine
from sisimpur.agents.coder.engine.aider_warm import Place, WarmAider
from sisimpur.agents.coder.engine.engine import EngineJob, EngineRun, never
from sisimpur.agents.coder.engine.warm_box import WarmBox
from sisimpur.shared.model.errors import Stopping
from sisimpur.shared.sandbox.box import Box, Finished, Job, Mount, Stoppable, find_box
from sisimpur.shared.system import process
from tests.edges.engine_bench import FILES, TICKET, Bench, tree
from tests.edges.warm_scene import PYTHON, Warm, obedient_aider, warm

ROOT = os.geteuid() == 0
pytestmark = pytest.mark.skipif(bool(aider_fence.why_not()), reason=aider_fence.why_not())

TOOLS = """
import ctypes, os, resource, signal, socket, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
def write(path, text="x", mode="w"):
    with open(path, mode) as file:
        file.write(text)
"""
VICTIM = (
    TOOLS
    + """
import json
door = socket.socket(socket.AF_UNIX); door.bind("\\0victim"); door.listen()
secret = "what only the victim knows"
write("told.tmp", json.dumps({"pid": os.getpid(), "own": os.getcwd(), "home": os.environ["HOME"], "in": id(secret)}))
priority = os.getpriority(os.PRIO_PROCESS, 0)
os.rename("told.tmp", "told.json")
while not os.path.exists("leave"):
    time.sleep(0.02)
lower = os.getpriority(os.PRIO_PROCESS, 0) - priority
print("LEFT", open("README.md").read(), resource.getrlimit(resource.RLIMIT_CORE), lower, flush=True)
"""
)
ATTACK = (
    TOOLS
    + """
victim = {victim}
def attack():
{body}
try:
    print("THROUGH", attack())
except (OSError, subprocess.SubprocessError) as error:
    print("STOPPED", error)
"""
)


@dataclass
class Running:
    """A task in a thread of its own."""

    job: EngineJob
    thread: threading.Thread
    runs: list[EngineRun]

    def end(self) -> EngineRun:
        self.thread.join(30)
        (run,) = self.runs
        return run


def started(engine: Any, job: EngineJob, stop: Callable[[], bool] = never) -> Running:
    runs: list[EngineRun] = []
    thread = threading.Thread(target=lambda: runs.append(engine.run(job, stop)), daemon=True)
    thread.start()
    return Running(job, thread, runs)


def wait_for(look: Callable[[], object], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


@dataclass
class Scene:
    """A victim at work, and what is known of it: more than an attacker could."""

    warm: Warm
    desk: Bench
    victim: Running
    told: dict[str, Any]

    def attack(self, body: str) -> EngineRun:
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        return self.run(ATTACK.format(victim=repr(self.told), body=lines))

    def run(self, code: str, **given: Any) -> EngineRun:
        return self.warm.engine.run(self.desk.job(message=code, **given))


@contextmanager
def scene(box: Box, python: Path) -> Iterator[Scene]:
    with warm(box, python) as found, found.bench(box, []) as desk:
        victim = started(found.engine, desk.job(message=VICTIM, seconds=600))
        wait_for(lambda: (victim.job.folder / "told.json").exists())
        told = json.loads((victim.job.folder / "told.json").read_text())
        told |= {"engine": str(Path(told["home"]).parent)}
        yield Scene(found, desk, victim, told)
        (victim.job.folder / "leave").touch()
        run = victim.end()
        assert "LEFT A calculator.\n (1, 1) 0" in run.output or isinstance(box, Unfenced), run
        assert found.told == []  # the server of the first task is the server of the last


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return obedient_aider(tmp_path_factory.mktemp("aider") / "venv")


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return find_box(tmp_path_factory.mktemp("box"))


@pytest.fixture(scope="module")
def fenced(box: Box, python: Path) -> Iterator[Scene]:
    with scene(box, python) as found:
        yield found


class Unfenced:
    """A warm box in which no task shuts itself in."""

    name, version = "unfenced", "0"
    quality: Literal["full", "reduced"] = "full"

    def __init__(self, box: Box, folder: Path) -> None:
        self._box, self._open = box, folder / "aider_fence.py"
        self._open.write_text(Path(aider_fence.__file__).read_text() + "\n\ndef shut_in(*_): ...\n")

    def run(self, job: Job, stop: Callable[[], bool] = never) -> Finished:
        fence = Mount(Path(aider_fence.__file__), "")
        mounts = [replace(m, source=self._open) if m.source == fence.source else m for m in job.mounts]
        return self._box.run(replace(job, mounts=tuple(mounts)), stop)


@pytest.fixture(scope="module")
def unfenced(box: Box, python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with scene(Unfenced(box, tmp_path_factory.mktemp("open")), python) as found:
        yield found


README = "f\"{victim['own']}/README.md\""
# What a task tries, and whether it would succeed without its fence. None: something else stops it as well.
ATTACKS = {
    "read a file of another task": (f"return open({README}).read()", True),
    "list another task's folder": ('return os.listdir(victim["own"])', True),
    "list the folder of all tasks": ('return os.listdir(os.path.dirname(victim["own"]))', not ROOT),
    "change a file of another task": (f'write({README}, "", "a")', True),
    "empty a file of another task": (f"os.truncate({README}, 14)", True),
    "take a file of another task": (f'os.rename({README}, "mine"); os.rename("mine", {README})', True),
    "put a file in its place": (f'write("mine", "A calculator.\\n"); os.rename("mine", {README})', True),
    "remove a file of another task": ('write(p := victim["own"] + "/new"); os.unlink(p)', True),
    "only remove it": (f"os.unlink({README})", None),
    "make a folder there": ('os.mkdir(p := victim["own"] + "/folder"); os.rmdir(p)', True),
    "link its file to oneself": (f'os.link({README}, "mine")', True),
    "follow a link of one's own": (f'os.symlink({README}, "link"); return open("link").read()', True),
    "link oneself to its folder": ('os.symlink("/etc/passwd", p := victim["own"] + "/link"); os.unlink(p)', True),
    "change its mode": (f"os.chmod({README}, 0o755)", True),
    "change its times": (f"os.utime({README}, (1, 1))", True),
    "change its attributes": (f'os.setxattr({README}, "user.x", b"1")', None),
    "be told what it does": (
        'call("inotify_add_watch", libc.inotify_init(), victim["own"].encode(), 0x100)',
        True,
    ),
    "read its task": ('return open(victim["engine"] + "/given/message.txt").read()', True),
    "write its result": ('write(victim["engine"] + "/result/result.json", "{}")', True),
    "write into its home": ('write(victim["home"] + "/.gitconfig", "")', True),
    "read its ticket in its environment": ("return open(f\"/proc/{victim['pid']}/environ\").read()", None),
    "read its arguments": ("return open(f\"/proc/{victim['pid']}/cmdline\").read()", True),
    "read its memory": (
        'with open(f"/proc/{victim[\'pid\']}/mem", "rb", 0) as file:\n'
        '    file.seek(victim["in"])\n'
        "    return file.read(100)",
        None,
    ),
    "read its memory without a file": (
        "into = ctypes.create_string_buffer(8)\n"
        "here = (ctypes.c_size_t * 2)(ctypes.addressof(into), 8)\n"
        'there = (ctypes.c_size_t * 2)(victim["in"], 8)\n'
        'call("process_vm_readv", victim["pid"], here, 1, there, 1, 0)',
        None,
    ),
    "examine it": ('call("ptrace", 16, victim["pid"], 0, 0); call("ptrace", 17, victim["pid"], 0, 0)', None),
    "look into anything of /proc": ('return open("/proc/self/status").read()', True),
    "signal it": ('os.kill(victim["pid"], signal.SIGCONT)', None),
    "signal its own waiter": ("os.kill(os.getppid(), signal.SIGCONT)", True),
    "signal each process": (
        "for pid in range(1, os.getpid()):\n"
        "    try:\n"
        "        os.kill(pid, signal.SIGCONT)\n"
        "        return pid\n"
        "    except OSError as error:\n"
        "        last = error\n"
        "raise last",
        True,  # its waiter
    ),
    "lower its limits": ('resource.prlimit(victim["pid"], resource.RLIMIT_CORE, (0, 0))', True),
    "slow it down": ('os.setpriority(os.PRIO_PROCESS, victim["pid"], 15)', True),
    "bind it to a processor": ('os.sched_setaffinity(victim["pid"], {0})', True),
    "find the server's channel": (
        "for number in range(3, 2000):\n"
        "    try:\n"
        "        return os.fstat(number)\n"
        "    except OSError as error:\n"
        "        last = error\n"
        "raise last",
        False,
    ),
    "connect to an abstract socket of another task": (
        'socket.socket(socket.AF_UNIX).connect("\\0victim")',
        True,
    ),
    "connect to another port": (
        'try:\n    socket.create_connection(("127.0.0.1", 9), 1)\n'
        'except ConnectionRefusedError:\n    return "nobody listens, but it could"',
        True,
    ),
    "listen at a port": ('socket.create_server(("127.0.0.1", 0))', True),
    "use another kind of socket": ("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", True),
    "share memory that outlives it": ('call("shmget", 4711, 4096, 0o1600)', True),
    "share a queue that outlives it": ('call("mq_open", b"/queue", os.O_CREAT | os.O_RDWR, 0o600, None)', None),
    "leave a file for the next task": ('write("/tmp/for-you")', True),
    "leave a file in shared memory": ('write("/dev/shm/for-you")', True),
    "leave a file in the box's home": ('write("/home/sandbox/.gitconfig", "")', True),
    "change what it was given": ('write(os.environ["HOME"] + "/../given/message.txt", "")', True),
    "make a folder beside the tasks": ('os.mkdir("../mine")', not ROOT),
    "run a program of its own": (
        'os.close(os.open("x", os.O_CREAT | os.O_WRONLY, 0o755)); write("x", "#!/bin/sh\\n")\n'
        'subprocess.run(["./x"], check=True)',
        True,
    ),
    "make a device": ('os.mknod("device", 0o20600, os.makedev(1, 1))', False),
    "mount": ('call("mount", b"none", b"/tmp", b"tmpfs", 0, None)', False),
    "make a namespace": ('call("unshare", 0x10000000)', False),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_task_cannot(fenced: Scene, name: str) -> None:
    before = tree(fenced.victim.job.folder)
    run = fenced.attack(ATTACKS[name][0])
    assert "STOPPED" in run.output and "THROUGH" not in run.output, run.output
    assert tree(fenced.victim.job.folder) == before
    assert (fenced.victim.job.folder / "README.md").stat().st_mode & 0o111 == 0


@pytest.mark.parametrize("name", [name for name, (_, through) in ATTACKS.items() if through])
def test_without_its_fence_a_task_can(unfenced: Scene, name: str) -> None:
    """So each attack is a real one."""
    run = unfenced.attack(ATTACKS[name][0])
    assert "THROUGH" in run.output, run.output


# --- what a task may -----------------------------------------------------------------------------------------


def test_a_task_has_its_own_folders_the_meter_and_the_systems_programs(fenced: Scene) -> None:
    run = fenced.run(
        TOOLS
        + """
import tempfile
os.makedirs("a/b"); write("a/b/c"); os.rename("a/b/c", "a/d"); os.link("a/d", "e"); os.truncate("e", 0); os.unlink("e")
write("/dev/null")
with tempfile.NamedTemporaryFile() as file:
    print("TEMPORARY", file.name.startswith(os.environ["HOME"]))
print(sorted(os.environ), os.environ["ANTHROPIC_API_KEY"])
print(subprocess.run(["git", "config", "user.name"], capture_output=True, check=True, text=True).stdout)
socket.create_connection(("127.0.0.1", 9911)).close()
print("DONE", flush=True)
"""
    )
    assert "TEMPORARY True" in run.output and "DONE" in run.output and "Coder" in run.output, run.output
    names = sorted({*aider_command.environment(TICKET, ""), "PATH", "LANG", "HOME", "TMPDIR"})
    assert f"{names} {TICKET}" in run.output


TAKE_ITS_PLACE = """
import os
print("SEES", sorted(os.listdir(".")))
try:
    print(open(os.environ["HOME"] + "/../aside/.env").read())
except PermissionError:
    print("NOT ASIDE", flush=True)
os.mkdir(".env", 0)
os.symlink("/", ".env.local")
"""


def test_what_lay_in_the_way_is_back_afterwards_and_what_the_task_put_there_is_gone(fenced: Scene) -> None:
    secrets = {".env": "KEY=ours\n", ".aider.conf.yml": "test: true\n", ".env.local": "x\n"}
    job = fenced.desk.job(
        folder=fenced.desk.folder(FILES | secrets),
        message=TAKE_ITS_PLACE,
    )
    run = fenced.warm.engine.run(job)
    assert "SEES ['.git', 'README.md', 'app']" in run.output and "NOT ASIDE" in run.output, run.output
    assert tree(job.folder) == {path: text.encode() for path, text in (FILES | secrets).items()}


# --- what ends a task, and only this one ---------------------------------------------------------------------

FOREVER = """
import os, signal, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        for number in range(1, 32):
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_IGN)
        os.fork()
        while True:
            with open("beat", "a") as file:
                file.write(".")
            time.sleep(0.01)
"""


BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""


@pytest.mark.parametrize(
    ("code", "end", "detail"),
    [
        pytest.param("x = bytearray(2_000_000_000)", "crashed", "MemoryError", id="too much memory at once"),
        pytest.param(
            "import os, time\nfor _ in range(3): os.fork()\nx = bytearray(300 << 20)\ntime.sleep(20)",
            *("crashed", f"{MEMORY} MB of memory"),
            id="too much memory together",
        ),
        pytest.param(BOMB, "crashed", f"{PROCESSES} processes", id="a fork bomb"),
        pytest.param(
            "import time\nfor n in range(20): open(str(n), 'wb').write(bytes(10 << 20))\ntime.sleep(20)",
            *("crashed", f"{DISK} MB"),
            id="a full disk",
        ),
        pytest.param(
            "import os, time\nfor n in range(150): os.mkdir('d'); os.chdir('d')\ntime.sleep(20)",
            *("crashed", f"{DISK} MB"),
            id="folders too deep to count",
        ),
        pytest.param("open('x', 'wb').write(bytes(20 << 20))", "crashed", "File too large", id="a large file"),
        pytest.param("import os, signal\nos.kill(os.getpid(), 9)", "killed", "SIGKILL", id="its own signal"),
        pytest.param("while True: print('x' * 1000)", "crashed", "", id="endless output"),
        pytest.param(FOREVER + "time.sleep(60)", "timed out", "1 seconds", id="the end of its time"),
        pytest.param(FOREVER, "crashed", "Aider ended with code 70", id="its own end"),
    ],
)
def test_a_task_ends_alone_and_leaves_nothing_running(fenced: Scene, code: str, end: str, detail: str) -> None:
    job = fenced.desk.job(message=code, seconds=1 if end == "timed out" else 60)
    run = fenced.warm.engine.run(job)
    assert (run.end, run.edited) == (end, ())
    assert detail in run.detail
    beat = job.folder / "beat"
    before = beat.stat().st_size if beat.exists() else 0
    time.sleep(0.05)
    assert (beat.stat().st_size if beat.exists() else 0) == before
    assert "NEXT" in fenced.run("print('NEXT')").output


def test_a_task_that_is_stopped_ends_alone(fenced: Scene) -> None:
    job = fenced.desk.job(message=FOREVER + "time.sleep(60)")
    run = fenced.warm.engine.run(job, stop=lambda: (job.folder / "beat").exists())
    assert (run.end, run.seconds < 10) == ("stopped", True)


def test_a_task_in_which_nothing_happens_is_ended(fenced: Scene) -> None:
    run = fenced.run("import time\ntime.sleep(60)", stall=0.4)
    assert run.end == "stalled"


def test_many_tasks_at_once_get_each_its_own(fenced: Scene) -> None:
    code = "import os, time\nprint('TICKET', os.environ['ANTHROPIC_API_KEY'])\ntime.sleep(0.2)"
    jobs = [fenced.desk.job(message=code, ticket=f"ticket-{number}") for number in range(8)]
    for running in [started(fenced.warm.engine, job) for job in jobs]:
        assert f"TICKET {running.job.ticket}\n" in running.end().output


# --- when the server fails -----------------------------------------------------------------------------------


def processes(word: str) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        with suppress(OSError, ValueError):
            if word.encode() in Path(f"/proc/{int(name)}/cmdline").read_bytes():
                found.append(int(name))
    return found


def servers() -> list[int]:
    """Not their forks, nor what started them."""
    found = [pid for pid in processes("aider_server.py") if b"\0-s\0" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    python = [pid for pid in found if os.readlink(f"/proc/{pid}/exe").endswith(PYTHON.name)]
    return [pid for pid in python if parent(pid) not in python]


def parent(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("PPid:"))


def test_a_server_that_dies_costs_the_tasks_in_it_and_the_next_one_gets_another(box: Box, python: Path) -> None:
    with warm(box, python) as found, found.bench(box, []) as desk:
        before = set(servers())
        victim = started(found.engine, desk.job(message=VICTIM))
        wait_for(lambda: (victim.job.folder / "told.json").exists())
        (server,) = set(servers()) - before
        os.kill(server, signal.SIGKILL)
        assert victim.end().end == "killed"
        run = found.engine.run(desk.job(message="import os\nprint(os.getcwd())"))
        assert "/run/engine/work/" in run.output


def test_a_program_that_is_being_stopped_does_not_judge_what_it_cut(box: Box, python: Path) -> None:
    stopping = threading.Event()
    with warm(Stoppable(box, stopping.is_set), python) as found, found.bench(box, []) as desk:
        job = desk.job(message=FOREVER + "time.sleep(60)")
        with pytest.raises(Stopping), ThreadPoolExecutor() as hands:
            cut = hands.submit(found.engine.run, job)
            wait_for((job.folder / "beat").exists)
            stopping.set()
            cut.result()
        with pytest.raises(Stopping):
            found.engine.run(desk.job(message="print()"))
        assert found.told == []


def test_a_run_that_is_interrupted_leaves_nothing_running(fenced: Scene) -> None:
    job = fenced.desk.job(message=FOREVER + "time.sleep(60)")

    def interrupted() -> bool:
        if (job.folder / "beat").exists():
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        fenced.warm.engine.run(job, interrupted)
    before = (job.folder / "beat").stat().st_size
    time.sleep(0.05)
    assert (job.folder / "beat").stat().st_size == before


def test_a_box_that_nobody_uses_ends(box: Box) -> None:
    unused = WarmBox(box, lambda channel: Job(("sleep", "3600.25"), channel=channel), idle=0.2)
    wait_for(lambda: not unused.alive)
    unused.close()
    assert processes("3600.25") == []


def test_whoever_waits_for_a_box_that_another_thread_gives_up_goes_on_without_it(box: Box) -> None:
    slow = WarmBox(box, lambda channel: Job(("sleep", "3600.26"), channel=channel))
    assert slow.problem() == "it was not ready within 30 s"

    def given_up() -> bool:
        slow.close()
        return False

    assert slow.ready(given_up) == {}
    assert processes("3600.26") == []


def test_another_version_of_aider_is_run_cold_and_that_is_said_once(box: Box, tmp_path: Path) -> None:
    with warm(box, obedient_aider(tmp_path / "venv", "0.99.0")) as found, found.bench(box, []) as desk:
        for _ in range(2):
            run = found.engine.run(desk.job(message="import os\nprint(os.getcwd())"))
            assert "/run/engine/task" in run.output
        (told,) = found.told
        assert "0.99.0" in told


def test_a_box_that_does_not_start_is_tried_three_times(box: Box, python: Path) -> None:
    with warm(box, python) as found, found.bench(box, []) as desk:
        cold = AiderEngine(box, python, found.meter, found.home)
        engine = WarmAider(Silent(box), Place(python, found.meter, found.home), cold, found.told.append)
        for _ in range(5):
            assert "/run/engine/task" in engine.run(desk.job(message="import os\nprint(os.getcwd())")).output
        assert len(found.told) == 3


class Silent:
    """A box in which the server ends at once."""

    name, version = "silent", "0"
    quality: Literal["full", "reduced"] = "full"

    def __init__(self, box: Box) -> None:
        self._box = box

    def run(self, job: Job, stop: Callable[[], bool] = never) -> Finished:
        return self._box.run(replace(job, command=("false",)), stop)


STARTER = """
import sys; sys.path = {path!r}
from pathlib import Path
from sisimpur.shared.sandbox.box import find_box
from tests.edges.warm_scene import warm
with warm(find_box(Path({scratch!r})), Path({python!r})) as found, found.bench(None, []) as desk:
    found.engine.run(desk.job(message={code!r}))
"""


def test_nothing_is_left_when_the_daemon_is_killed(python: Path, tmp_path: Path) -> None:
    starter = STARTER.format(
        path=[str(Path(__file__).parents[2]), *sys.path],
        scratch=str(tmp_path / "box"),
        python=str(python),
        code="import os, time\nos.rename('app', 'seen')\ntime.sleep(600)",
    )
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    with process.running([sys.executable, "-c", starter], env=environment) as pid:
        wait_for(lambda: list(tmp_path.glob("warm-*/task-*/seen")))
        inside = processes(str(tmp_path / "box"))
        assert inside
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not processes(str(tmp_path / "box")))
