import json

from dakghor.http import respond
from dakghor.store import Store


def test_health():
    assert respond(Store(":memory:"), "GET", "/health") == (200, {"alive": True})


def test_an_unknown_message():
    status, _ = respond(Store(":memory:"), "POST", "/jobs", json.dumps({"message": "nope"}).encode())
    assert status == 400


def test_a_job():
    store = Store(":memory:")
    body = {"message": "order_paid", "to": "a@b.c", "fields": {"name": "Mitu", "order": 5}}
    status, found = respond(store, "POST", "/jobs", json.dumps(body).encode())
    assert status == 202
    assert "Mitu" in store.job(found["job"])["payload"]["text"]
