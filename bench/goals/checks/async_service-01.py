import tempfile
from pathlib import Path

from common import holds


def check(tree):
    from dakghor.store import Store

    at = [1000.0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "queue.db")
        first = Store(path, lease_seconds=60, now=lambda: at[0])
        job, sent = first.put("mail", {}), first.put("mail", {})
        first.claim("one")
        first.done(first.claim("one")["id"])
        second = Store(path, lease_seconds=60, now=lambda: at[0])
        at[0] += 59
        if second.claim("two") is not None:
            return "a job that another worker is sending is taken from it"
        at[0] += 2
        again = second.claim("two")
        if again is None or again["id"] != job or again["worker"] != "two":
            return "a job whose worker died is never sent"
        if second.claim("two") is not None or second.job(sent)["state"] != "done":
            return "a job is taken twice"
    return None


holds(check)
