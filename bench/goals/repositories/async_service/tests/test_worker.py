import asyncio

from dakghor.settings import Settings
from dakghor.store import Store
from dakghor.worker import Worker


class Box:
    def __init__(self, fails=0):
        self.sent = []
        self.fails = fails

    async def send(self, payload):
        if self.fails:
            self.fails -= 1
            raise RuntimeError("busy")
        self.sent.append(payload)


def test_a_job_is_sent_and_done():
    store, box = Store(":memory:"), Box()
    job = store.put("mail", {"to": "a"})
    asyncio.run(Worker(store, {"mail": box}, Settings()).drain())
    assert box.sent == [{"to": "a"}]
    assert store.job(job)["state"] == "done"


def test_a_failure_is_tried_again_later():
    store, box = Store(":memory:"), Box(fails=1)
    job = store.put("mail", {"to": "a"})
    asyncio.run(Worker(store, {"mail": box}, Settings()).drain())
    assert store.job(job)["state"] == "ready"
    assert store.job(job)["error"] == "busy"


def test_hooks_hear_of_what_was_sent():
    store, heard = Store(":memory:"), []
    store.put("mail", {"to": "a"})
    asyncio.run(Worker(store, {"mail": Box()}, Settings(), after_send=[heard.append]).drain())
    assert [job["payload"] for job in heard] == [{"to": "a"}]
