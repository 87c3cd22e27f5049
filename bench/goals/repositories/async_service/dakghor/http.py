"""A server of three pages. Not a web framework."""
import json

from dakghor import health
from dakghor.messages import KINDS


def handler(store):
    async def answer(reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, path, _ = head.split("\r\n")[0].split(" ")
        length = 0
        for line in head.split("\r\n")[1:]:
            name, _, value = line.partition(":")
            if name.lower() == "content-length":
                length = int(value)
        body = await reader.readexactly(length) if length else b""
        status, found = respond(store, method, path, body)
        text = json.dumps(found).encode()
        writer.write(b"HTTP/1.1 %d -\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (status, len(text)) + text)
        await writer.drain()
        writer.close()

    return answer


def respond(store, method, path, body=b""):
    """(status, what goes out as JSON)"""
    if (method, path) == ("GET", "/health"):
        return health.answer(store)
    if (method, path) == ("GET", "/metrics"):
        return 200, store.counts()
    if (method, path) == ("POST", "/jobs"):
        return _put(store, body)
    return 404, {"error": "no such page"}


def _put(store, body):
    try:
        wanted = json.loads(body)
    except ValueError:
        return 400, {"error": "not JSON"}
    message = KINDS.get(wanted.get("message"))
    if message is None:
        return 400, {"error": "no such message"}
    try:
        text = message(**wanted.get("fields", {})).text()
    except TypeError as error:
        return 400, {"error": str(error)}
    return 202, {"job": store.put(wanted.get("by", "mail"), {"to": wanted.get("to"), "text": text})}
