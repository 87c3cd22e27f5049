"""A request, as far as a relay must understand one."""

from dataclasses import dataclass, field

LONGEST_BODY = 1_000_000
METHODS = ("GET", "POST")


class BadRequest(ValueError):
    """The text is no request; the message says why."""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict = field(default_factory=dict)
    body: bytes = b""


def parse_head(text):
    """Method, path and headers. Raises BadRequest."""
    first, *lines = text.split("\r\n")
    try:
        method, path, _ = first.split(" ")
    except ValueError:
        raise BadRequest("no request line") from None
    if method not in METHODS:
        raise BadRequest(f"method: {method}")
    headers = {}
    for line in lines:
        if line:
            name, colon, value = line.partition(":")
            if not colon:
                raise BadRequest(f"no header: {line}")
            headers[name] = value.strip()
    return method, path, headers


def length_of(headers):
    """How long the body is. Raises BadRequest."""
    text = headers.get("Content-Length", "0")
    if not text.isdecimal():
        raise BadRequest("Content-Length: no number")
    if int(text) > LONGEST_BODY:
        raise BadRequest("Content-Length: too large")
    return int(text)


async def read_request(reader):
    """One request from a stream. Raises BadRequest."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    method, path, headers = parse_head(head.rstrip("\r\n"))
    body = await reader.readexactly(length_of(headers))
    return Request(method, path, headers, body)


def response(status, text):
    """The bytes of an answer."""
    reasons = {200: "OK", 202: "Accepted", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 429: "Too Many Requests"}
    body = text.encode()
    head = f"HTTP/1.1 {status} {reasons[status]}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
