# mypy: ignore-errors
"""dead lists, again gives a dead job all its tries and leaves every other job alone, and the service starts as before."""

import os
import sys

TREE = sys.argv[1]
sys.path.insert(0, TREE)
os.chdir(TREE)


def no(why):
    print(why)
    sys.exit(1)


import asyncio
import json
import logging
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from dakghor.settings import load
from dakghor.store import Store
from dakghor.worker import Worker


logging.disable()


class Broken:
    tried = 0

    async def send(self, payload):
        self.tried += 1
        raise RuntimeError("gateway: 500")


with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    config = Path(folder) / "config.json"
    place = Path(folder) / "queue.db"
    http = {"host": "127.0.0.1", "port": port}
    config.write_text(json.dumps({"database": str(place), "retry": {"first": 0, "most": 3}, "http": http}))

    def run(*words):
        argv = [sys.executable, "-m", "dakghor", "--config", str(config), *words]
        return subprocess.run(argv, capture_output=True, text=True, timeout=20, cwd=TREE)

    def worked():
        """How often the broken sender is tried until nothing is due any more."""
        broken = Broken()
        asyncio.run(Worker(store, {"sms": broken, "mail": broken}, load(config)).drain())
        return broken.tried

    store = Store(place)
    sent = store.put("mail", {"to": "a@b.example", "text": "x"})
    store.claim("w")
    store.done(sent)
    other = store.put("mail", {"to": "c@d.example", "text": "x"})
    dead = store.put("sms", {"to": "01700", "text": "x"})
    if worked() != 6:
        no("a job has other tries than its settings say")
    waits = store.put("sms", {"to": "01911", "text": "x"})
    try:
        listed = run("dead")
    except subprocess.TimeoutExpired:
        no("`dead` starts the service")
    lines = [line for line in listed.stdout.splitlines() if line.strip()]
    if listed.returncode or len(lines) != 2:
        no(f"`dead` ends with {listed.returncode} and {len(lines)} lines for two dead jobs")
    for job, kind, to in ((other, "mail", "c@d.example"), (dead, "sms", "01700")):
        if not any(str(job) in line and kind in line and to in line and "gateway: 500" in line for line in lines):
            no(f"no line tells all of the {kind} to {to}")
    for wrong in (sent, waits, 99):
        before = [store.job(job) for job in (sent, other, dead, waits)]
        done = run("again", str(wrong))
        if done.returncode != 1 or not (done.stdout + done.stderr).strip() or "Traceback" in done.stderr:
            no(f"`again` of a job that is not dead ends with {done.returncode}")
        if before != [store.job(job) for job in (sent, other, dead, waits)]:
            no("`again` of a job that is not dead changes something")
    done = run("again", str(dead))
    if done.returncode:
        no("`again` of a dead job fails")
    if store.job(other)["state"] != "dead" or store.job(dead)["state"] != "ready":
        no("`again` does not put this job back, and only this one")
    store.done(waits)
    if worked() != 3:
        no("a job that was put back has not all its tries")
    store.close()
    running = subprocess.Popen(
        [sys.executable, "-m", "dakghor", "--config", str(config)], cwd=TREE, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(100):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
                    started = answer.status == 200
                    break
            except OSError:
                started = False
                time.sleep(0.1)
    finally:
        running.kill()
        running.wait()
    if not started:
        no("the service does not start as the container starts it")
if 'exec python -m dakghor --config "${DAKGHOR_CONFIG:-config.json}"' not in Path("entrypoint.sh").read_text():
    no("the container starts in another way")
