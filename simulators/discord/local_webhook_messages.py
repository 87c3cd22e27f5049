"""The local webhook's messages: kept in memory, and as files to look at."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sisimpur.shared.system.paths import write_text
from sisimpur.simulators.discord.local_channel import CHANNEL, LocalChannel
from sisimpur.simulators.discord.local_webhook_rules import refusal

ADDRESS = re.compile(r"/api/(?:v\d+/)?webhooks/(\d+)/([^/]+)(?:/messages/([^/]+))?", re.ASCII)
WEBHOOK, TOKEN = "1300000000000000001", "local-webhook-" + "0" * 54
FIRST = 1_300_000_000_000_001_000  # the id of the first message
MAX_FORM = 10 << 20  # bytes


@dataclass(frozen=True)
class Message:
    """`payload` as it was sent, edits included; `files`: name -> bytes."""

    id: str
    payload: Mapping[str, Any]
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: Mapping[str, str]
    kind: str  # the content type
    body: bytes
    authorization: str = ""


@dataclass(frozen=True)
class Reply:
    status: int
    body: Mapping[str, Any] | Sequence[Any] | None = None


class Desk:
    """Answers as Discord does. `folder`: `<id>.json`, and beside it the message's files, `<id>-<name>`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.kept: dict[str, Message] = {}
        self.channel = LocalChannel()
        self.is_gone = False
        self._folder = folder
        self._made = 0

    def answer(self, asked: Asked) -> Reply:
        if asked.path == f"/api/v10/channels/{CHANNEL}/messages":
            return Reply(*self.channel.answer(asked.method, asked.authorization, asked.query, asked.body))
        found = ADDRESS.fullmatch(asked.path)
        if found is None:
            return _no("404: Not Found", 0, 404)
        webhook, token, message = found.groups()
        if self.is_gone or webhook != WEBHOOK:
            return _no("Unknown Webhook", 10015, 404)
        if token != TOKEN:
            return _no("Invalid Webhook Token", 50027, 401)
        if message is None:
            return self._post(asked) if asked.method == "POST" else _no("405: Method Not Allowed", 0, 405)
        if message not in self.kept:
            return _no("Unknown Message", 10008, 404)
        return self._one(asked, self.kept[message])

    def remove(self, message: str) -> None:
        """As if somebody had deleted it in Discord."""
        del self.kept[message]
        for path in self._files(message):
            path.unlink()

    def _one(self, asked: Asked, message: Message) -> Reply:
        match asked.method:
            case "GET":
                return Reply(200, _shown(message))
            case "PATCH":
                return self._edit(asked, message)
            case "DELETE":
                self.remove(message.id)
                return Reply(204)
            case _:
                return _no("405: Method Not Allowed", 0, 405)

    def _post(self, asked: Asked) -> Reply:
        form = read_form(asked)
        if isinstance(form, Reply):
            return form
        payload, files = form
        if wrong := refusal(payload, files):
            return Reply(400, wrong)
        self._made += 1
        message = self._keep(Message(str(FIRST + self._made), payload, files))
        return Reply(200, _shown(message)) if asked.query.get("wait") == "true" else Reply(204)

    def _edit(self, asked: Asked, message: Message) -> Reply:
        """What is not named stays; also the files, if `attachments` does not say which."""
        form = read_form(asked)
        if isinstance(form, Reply):
            return form
        payload, files = form
        files = {**_staying(message, payload), **files}
        whole = {**message.payload, **payload}
        if wrong := refusal(whole, files):
            return Reply(400, wrong)
        return Reply(200, _shown(self._keep(replace(message, payload=whole, files=files))))

    def _keep(self, message: Message) -> Message:
        for path in self._files(message.id):
            path.unlink()
        for name, data in message.files.items():
            (self._folder / f"{message.id}-{re.sub(r'[^A-Za-z0-9._-]', '_', name)[:100]}").write_bytes(data)
        write_text(
            self._folder / f"{message.id}.json", json.dumps(message.payload, indent=1, ensure_ascii=False) + "\n"
        )
        self.kept[message.id] = message
        return message

    def _files(self, message: str) -> list[Path]:
        return [path for path in self._folder.iterdir() if re.split("[.-]", path.name)[0] == message]


def read_form(asked: Asked) -> tuple[dict[str, Any], dict[str, bytes]] | Reply:
    """The payload, and what was sent with it."""
    if len(asked.body) > MAX_FORM:
        return _no("Request entity too large", 40005, 413)
    raw, files = asked.body, dict[str, bytes]()
    if boundary := re.search(r'multipart/form-data;.*boundary="?([^";]+)', asked.kind):
        raw = b""
        for name, filename, data in _parts(asked.body, boundary[1].encode()):
            if name == "payload_json":
                raw = data
            else:
                files[filename or name] = data
    try:
        payload = json.loads(raw)
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        return _no("The request body contains invalid JSON.", 50109, 400)
    return payload, files


def _parts(body: bytes, boundary: bytes) -> list[tuple[str, str, bytes]]:
    """(name, file's name, bytes) of each part of a form."""
    found = []
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, data = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        named = dict(re.findall(r'[; ](name|filename)="([^"]*)"', head.decode("utf-8", "replace")))
        found.append((named.get("name", ""), named.get("filename", ""), data.removesuffix(b"\r\n")))
    return found


def _staying(message: Message, payload: Mapping[str, Any]) -> dict[str, bytes]:
    """The files that an edit leaves: those whose id it names. Ids are their places, from 1000 on."""
    named = payload.get("attachments")
    if named is None:
        return dict(message.files)
    ids = {str(one.get("id")) for one in named}
    return {name: data for number, (name, data) in enumerate(message.files.items(), 1000) if str(number) in ids}


def _shown(message: Message) -> dict[str, Any]:
    files = enumerate(message.files.items(), 1000)
    shown = [{"id": str(number), "filename": name, "size": len(data)} for number, (name, data) in files]
    return {
        "id": message.id,
        "type": 0,
        "webhook_id": WEBHOOK,
        "content": message.payload.get("content") or "",
        "embeds": message.payload.get("embeds") or [],
        "attachments": shown,
    }


def _no(message: str, code: int, status: int) -> Reply:
    return Reply(status, {"message": message, "code": code})
