"""Serves the exam site on this machine, one version after the other: what `make demo` deploys it with.

    serve.py PLACE build FOLDER                the packages that this version needs
    serve.py PLACE start FOLDER COMMIT PORT    this version, in the place of the one that runs
    serve.py PLACE running                     prints the commit that runs, or nothing
    serve.py PLACE stop                        ends what runs
    serve.py PLACE show                        what ran last, until Ctrl-C

PLACE is a folder of the owner's: packages, database, log, and the file `live`, which says what runs. The server holds a
lock on that file for as long as it lives, so what it says is never older than the server. FOLDER holds the files of a
commit. `deploy.yaml` beside this file shows how they are called.

It needs Python 3.11 and uv. For a site that strangers visit put gunicorn in the place of `server.py`, and a service
manager in the place of `start` and `stop`: see docs/deploys.md.
"""

import contextlib
import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

POLITE = 5  # seconds between the polite signal and the other one


def main(place, command, *rest):
    place = Path(place).resolve()
    place.mkdir(parents=True, exist_ok=True)
    commands = {"build": build, "start": start, "running": running, "stop": stop, "show": show}
    commands[command](place, *rest)


# --- the packages ---


def build(place, folder):
    """Once for each requirements.txt; versions that need the same packages share them."""
    packages = environment(place, folder)
    if packages.exists():
        return
    half = packages.with_suffix(".half")
    run("uv", "venv", "--quiet", "--clear", half)
    run("uv", "pip", "install", "--quiet", "--python", half / "bin" / "python", "-r", Path(folder, "requirements.txt"))
    half.rename(packages)  # whole or not there, wherever this is cut


def environment(place, folder):
    needed = Path(folder, "requirements.txt").read_bytes()
    return place / f"packages-{hashlib.sha256(needed).hexdigest()[:12]}"


def run(*words):
    if code := subprocess.run([str(word) for word in words]).returncode:
        sys.exit(code)


# --- what runs ---


def start(place, folder, commit, port):
    """A session of its own: the server outlives this command, and inherits the lock from it."""
    live = opened(place)
    end(live)
    write(live, commit, folder, port)
    with open(place / "log", "ab") as log:
        channels = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        subprocess.Popen(server(place, live), cwd=place, start_new_session=True, pass_fds=[live.fileno()], **channels)


def running(place):
    live = opened(place)
    if is_served(live):
        print(read(live)[0])


def stop(place):
    end(opened(place))


def show(place):
    """In the foreground: its log is what one sees."""
    live = opened(place)
    end(live)
    commit, folder, port = read(live)[:3]
    write(live, commit, folder, port)
    print(f"http://127.0.0.1:{port}/ serves {commit[:8]}; Ctrl-C ends it", flush=True)
    with contextlib.suppress(KeyboardInterrupt):  # the server hears it too
        subprocess.run(server(place, live), cwd=place, pass_fds=[live.fileno()])


def server(place, live):
    commit, folder, port = read(live)
    python, program = environment(place, folder) / "bin" / "python", Path(__file__).with_name("server.py")
    return [python, program, place, folder, port, str(live.fileno())]


# --- the lock ---


def end(live):
    """What runs is asked to end, then ended. The lock is ours afterwards, until the file is closed."""
    began = time.monotonic()
    while is_served(live):
        pid = read(live)[3:]  # a server that has only just begun has not written it yet
        late = time.monotonic() - began > POLITE
        if pid:
            with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(int(pid[0]), signal.SIGKILL if late else signal.SIGTERM)
        elif late:
            sys.exit(f"{live.name} is locked by somebody who does not say who he is")
        time.sleep(0.05)
    fcntl.flock(live, fcntl.LOCK_EX)


def is_served(live):
    """Whether a server holds the lock. Many may ask at once."""
    try:
        fcntl.flock(live, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(live, fcntl.LOCK_UN)
    return False


def opened(place):
    return open(place / "live", "a+", encoding="utf-8")


def read(live):
    """commit, folder, port, and the server's process id."""
    live.seek(0)
    return live.read().splitlines()


def write(live, *lines):
    live.truncate(0)
    live.write("".join(f"{line}\n" for line in lines))
    live.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
