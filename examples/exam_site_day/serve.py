"""Serves the exam site on this machine, one version after the other: what `make demo` deploys it with.

    serve.py PLACE build FOLDER                the packages that this version needs
    serve.py PLACE start FOLDER COMMIT PORT    this version, in the place of the one that runs
    serve.py PLACE running                     prints the commit that runs, or nothing
    serve.py PLACE stop                        ends what runs
    serve.py PLACE show                        what ran last, until Ctrl-C

PLACE is a folder of the owner's: packages, database, log, and the file `live`, which says what runs. The server holds a
lock on that file for as long as it lives, so what it says is never older than the server. FOLDER holds the files of a
commit. `deploy.yaml` beside this file shows how they are called.

It needs Python 3.11 and uv. For a site that strangers visit put gunicorn in the place of wsgiref, and a service manager
in the place of `start` and `stop`: see docs/deploys.md.
"""

import fcntl
import hashlib
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

POLITE = 5  # seconds between the polite signal and the other one


def main(place, command, *rest):
    place = Path(place).resolve()
    place.mkdir(parents=True, exist_ok=True)
    commands = {"build": build, "start": start, "running": running, "stop": stop, "show": show, "serve": serve}
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
    """A session of its own: the server outlives this command. It inherits the lock, so there is no moment without."""
    live = opened(place)
    end(live)
    write(live, commit, folder, port)
    with open(place / "log", "ab") as log:
        subprocess.Popen(
            [environment(place, folder) / "bin" / "python", __file__, place, "serve", folder, port, str(live.fileno())],
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=[live.fileno()],
        )


def running(place):
    live = opened(place)
    if not free(live):
        print(read(live)[0])


def stop(place):
    end(opened(place))


def show(place):
    """In the foreground, with a log that one can see."""
    live = opened(place)
    end(live)
    commit, folder, port = read(live)[:3]
    print(f"http://127.0.0.1:{port}/ serves {commit[:8]}; Ctrl-C ends it", flush=True)
    words = [environment(place, folder) / "bin" / "python", __file__, place, "serve", folder, port, str(live.fileno())]
    try:
        subprocess.run(words, cwd=place, pass_fds=[live.fileno()])
    except KeyboardInterrupt:
        pass


def end(live):
    """What runs is asked to end, then ended; the lock is ours afterwards."""
    began = time.monotonic()
    while not free(live):
        pid = read(live)[3:]  # a server that has only just begun has not written it yet
        late = time.monotonic() - began > POLITE
        if pid:
            try:
                os.kill(int(pid[0]), signal.SIGKILL if late else signal.SIGTERM)
            except ProcessLookupError:
                pass  # it ended by itself
        elif late:
            sys.exit(f"something holds {live.name} and does not say who it is")
        time.sleep(0.05)


def opened(place):
    return open(place / "live", "a+", encoding="utf-8")


def free(live):
    """Whether nobody else holds the lock. If so it is ours until the file is closed."""
    try:
        fcntl.flock(live, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read(live):
    """commit, folder, port, and the server's process id."""
    live.seek(0)
    return live.read().splitlines()


def write(live, *lines):
    live.truncate(0)
    live.write("".join(f"{line}\n" for line in lines))
    live.flush()


# --- the server ---


def serve(place, folder, port, lock):
    """In the packages' own Python. Its folder is PLACE, not the version's: data does not belong to a version."""
    live = open(int(lock), "a", encoding="utf-8")
    live.write(f"{os.getpid()}\n")
    live.flush()
    os.environ["DJANGO_SETTINGS_MODULE"] = "core.settings"
    os.environ.setdefault("DJANGO_DATABASE", str(place / "db.sqlite3"))
    sys.path[0] = folder
    from core.wsgi import application
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    log = logging.StreamHandler()
    log.setFormatter(OneLine())
    logging.getLogger("django.request").addHandler(log)
    with make_server("127.0.0.1", int(port), application, Server, Quiet) as server:
        server.serve_forever()


class OneLine(logging.Formatter):
    """With DEBUG off Django keeps to itself why a page failed. A line that deploy.yaml can look for."""

    def format(self, record):
        error = record.exc_info[1] if record.exc_info else None
        why = f": {type(error).__name__}: {error}" if error else ""
        return f"{record.levelname} {record.getMessage()}{why}"


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        """Who looked at what is nobody's business."""


if __name__ == "__main__":
    main(*sys.argv[1:])
