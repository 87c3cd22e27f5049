"""Runs inside the warm engine's box, by Aider's own interpreter: Aider, loaded once and forked for every task.

server: waits on the daemon's channel; each message brings three descriptors: a task's own connection, two files
 └ waiter: one per task; reads the order, tells how it ended, and ends all of it when the connection is shut down
    └ engine: closes what is not its own, shuts itself in (aider_fence.py), then one run (aider_launcher.py)

No task finds a way to the server or to another task: it inherits none, and there is no path to one.
usage: aider_server.py CHANNEL
CHANNEL: a descriptor. When all is loaded, {"version", "threads"} goes there. A waiter sends one byte, gets an order,
one line of JSON: task, files, result, home (folders), see (folders of programs), environment, arguments, port, memory
(bytes), processes; and answers {"code": exit code, or minus the signal}. The server ends with the channel.
"""

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from sisimpur.agents.coder.engine import aider_fence, aider_launcher

PRELOADED = (
    *("litellm", "networkx", "numpy", "httpx", "httpcore", "h11", "requests", "diskcache"),
    *("litellm.llms.anthropic.chat.transformation", "litellm.llms.anthropic.completion.transformation"),
    *("litellm.llms.openai_like.dynamic_config", "litellm.litellm_core_utils.get_supported_openai_params"),
    "importlib_resources.readers",
    *("aider.coders", "aider.repomap", "aider.linter", "aider.history", "aider.scrape"),
)
LONGEST_ORDER = 1 << 20  # bytes
SUBREAPER = 36
KEPT = ("PATH", "LANG")  # of our own environment


def preload() -> str:
    """Aider's version. What is loaded here need not be loaded by every task; nothing is fetched."""
    importlib.import_module("aider.main")
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with contextlib.suppress(ImportError, AttributeError):
        _warm_up()
    return str(importlib.import_module("aider").__version__)


def _warm_up() -> None:
    """Load what Aider's libraries put off until the first call."""
    importlib.import_module("aider.exceptions").LiteLLMExceptions()
    importlib.import_module("aider.llm").litellm._load_litellm()
    litellm: Any = importlib.import_module("litellm")
    litellm.token_counter(model="anthropic/any", messages=[{"role": "user", "content": "loads the tokenizer"}])
    litellm.ModelResponse()  # its checks are built when they are first needed


def serve(channel: socket.socket) -> None:
    """Until the channel ends."""
    own = _memory()
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, 1, 3)
        if not message:
            return
        with contextlib.suppress(OSError):  # no process left: the connection ends, and the daemon sees it
            if os.fork() == 0:
                _never_return(attend, channel, descriptors, own)
        for descriptor in descriptors:
            os.close(descriptor)


def _memory() -> int:
    """Bytes of data that a fork inherits."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmData:")) * 1024


def _never_return(part: Callable[..., object], *arguments: Any) -> NoReturn:
    """A fork is another program: whatever happens in it, it does not go on as the one that it was."""
    try:
        part(*arguments)
    except BaseException as error:  # noqa: BLE001
        with contextlib.suppress(OSError):
            os.write(2, f"{error!r}\n".encode())
    finally:
        os._exit(aider_launcher.CRASHED)


# --- the waiter ----------------------------------------------------------------------------------------------


def attend(channel: socket.socket, descriptors: list[int], inherited: int) -> None:
    channel.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    aider_fence.set_option(SUBREAPER, 1)  # also what a task detaches stays below us
    aider_fence.part()
    connection, output, errors = descriptors
    os.write(connection, b"+")  # by which the daemon knows us
    order = json.loads(_line(connection))
    order["processes"] += _processes()
    engine = os.fork()
    if engine == 0:
        _never_return(work, order, output, errors, inherited)
    code = _code(engine, connection)
    end_all()
    os.write(connection, json.dumps({"code": code}).encode() + b"\n")
    os._exit(0)


def _processes() -> int:
    """Count processes and threads of the whole box."""
    found = 0
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            found += len(os.listdir(f"/proc/{int(name)}/task"))
    return found


def _line(connection: int) -> bytes:
    text = b""
    while not text.endswith(b"\n"):
        if not (part := os.read(connection, 1 << 16)) or len(text) > LONGEST_ORDER:
            os._exit(0)  # the daemon has changed its mind
        text += part
    return text


def _code(engine: int, connection: int) -> int:
    """Wait for the engine's exit code; it is ended when the daemon shuts down the connection."""
    end = os.pidfd_open(engine)
    poll = select.poll()
    poll.register(end, select.POLLIN)
    poll.register(connection, select.POLLIN | select.POLLHUP)
    if end not in dict(poll.poll()):
        os.kill(-1, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(engine, 0)[1])


def end_all() -> None:
    """All that is left of the task, at one blow: -1 is everybody whom we may signal, and that is the task alone."""
    os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


# --- the engine ----------------------------------------------------------------------------------------------


def work(order: dict[str, Any], output: int, errors: int, inherited: int) -> NoReturn:
    os.setsid()
    aider_fence.set_option(aider_fence.SET_DEATH_SIGNAL, signal.SIGKILL)
    _keep_only(output, errors)
    task, files, result, home = (str(order[name]) for name in ("task", "files", "result", "home"))
    most = inherited + order["memory"], order["processes"]
    aider_fence.shut_in(order["see"], [files], [task, result, home], order["port"], *most)
    _become(order["environment"], home)
    os.chdir(task)
    aider_launcher.leave(aider_launcher.one_run(f"{files}/allow.json", f"{result}/result.json", order["arguments"]))


def _keep_only(output: int, errors: int) -> None:
    with open(os.devnull, "rb") as nothing:
        for number, channel in enumerate((nothing.fileno(), output, errors)):
            os.dup2(channel, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


def _become(environment: dict[str, str], home: str) -> None:
    """Take on this environment: nothing of the server's stays, nor of what was derived from it."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    os.environ.clear()
    os.environ.update({**kept, **environment, "HOME": home, "TMPDIR": home})
    tempfile.tempdir = None


def main() -> None:
    channel = socket.socket(fileno=int(sys.argv[1]))
    version = preload()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    threads = len(os.listdir("/proc/self/task"))  # a fork has only one of them
    sys.stdout.flush()
    channel.send(json.dumps({"version": version, "threads": threads}).encode())
    serve(channel)


if __name__ == "__main__":
    main()
