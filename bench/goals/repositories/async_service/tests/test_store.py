import pytest

from dakghor.store import Store


class Clock:
    def __init__(self):
        self.at = 1000.0

    def __call__(self):
        return self.at


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    made = Store(tmp_path / "queue.db", lease_seconds=60, now=clock)
    yield made
    made.close()


def test_first_in_first_out(store):
    first, second = store.put("mail", {"to": "a"}), store.put("mail", {"to": "b"})
    assert [store.claim("w")["id"], store.claim("w")["id"]] == [first, second]
    assert store.claim("w") is None


def test_a_retry_waits(store, clock):
    job = store.put("mail", {})
    store.claim("w")
    store.retry(job, 5, "busy")
    assert store.claim("w") is None
    clock.at += 5
    assert store.claim("w")["tries"] == 2


def test_counts(store):
    store.put("mail", {})
    store.bury(store.put("mail", {}), "no")
    assert store.counts() == {"ready": 1, "dead": 1}
