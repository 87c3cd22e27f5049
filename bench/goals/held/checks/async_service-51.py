# mypy: ignore-errors
"""A claim stays the one statement that it was, without a lock of our own, and gives each job to one server only."""

import os
import sys

TREE = sys.argv[1]
sys.path.insert(0, TREE)
os.chdir(TREE)


def no(why):
    print(why)
    sys.exit(1)


import tempfile
import threading
from pathlib import Path

from dakghor.store import Store

with tempfile.TemporaryDirectory() as folder:
    place = Path(folder) / "queue.db"
    store = Store(place)
    jobs = [store.put("sms", {"to": str(number)}) for number in range(60)]
    said = []
    store._db.set_trace_callback(said.append)
    first = store.claim("a")
    store._db.set_trace_callback(None)
    if len(said) != 1 or not said[0].lower().startswith("update job set state = 'leased'"):
        no(f"a claim runs {len(said)} statements for a reason that is untrue")
    if store._db.in_transaction or store._db.isolation_level is not None:
        no("the connection works in transactions for a reason that is untrue")
    if sorted(each.name for each in Path(folder).iterdir()) != ["queue.db"]:
        no("a file for a lock lies beside the queue")
    taken, wrong = [first["id"]], []

    def server(name):
        try:
            mine = Store(place)
            while job := mine.claim(name):
                taken.append(job["id"])
            mine.close()
        except Exception as error:
            wrong.append(error)

    servers = [threading.Thread(target=server, args=(name,)) for name in ("a", "b")]
    for each in servers:
        each.start()
    for each in servers:
        each.join()
    store.close()
    if wrong or sorted(taken) != jobs:
        no(f"not each job once: {wrong or len(taken)}")
source = Path("dakghor/store.py").read_text().lower()
if any(word in source for word in ("begin", "threading", "asyncio", "flock", "lockf")):
    no("the queue locks for a reason that is untrue")
