"""Which messages Discord refuses, and the words in which it does: for the local webhook that stands in for it.

Counted in UTF-16 units. Discord counts characters and lets a few more pass.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST = {  # path -> units; * is any place in a list
    "content": 2000,
    "username": 80,
    "embeds.*.title": 256,
    "embeds.*.description": 4096,
    "embeds.*.url": 2048,
    "embeds.*.author.name": 256,
    "embeds.*.footer.text": 2048,
    "embeds.*.fields.*.name": 256,
    "embeds.*.fields.*.value": 1024,
    "attachments.*.filename": 1024,
    "attachments.*.description": 1024,
}
MOST = {"embeds": 10, "embeds.*.fields": 25, "attachments": 10}
COUNTED = frozenset({"title", "description", "name", "value", "text"})  # in an embed, towards the whole
WHOLE = 6000
COLOURS = 0xFFFFFF
NOT_IN_NAMES = ("clyde", "discord")

Path = tuple[str, ...]


@dataclass(frozen=True)
class Complaint:
    path: Path
    code: str
    message: str


def refusal(payload: Mapping[str, Any], files: Collection[str]) -> dict[str, Any] | None:
    """The body of the 400; None if the message is taken. `files`: the names of what is sent with it."""
    found = [*_too_long(payload), *_too_many(payload), *_embeds(payload, files), *_name(payload)]
    if found:
        return {"message": "Invalid Form Body", "code": 50035, "errors": _nested(found)}
    if not (payload.get("content") or any(payload.get("embeds") or []) or files):
        return {"message": "Cannot send an empty message", "code": 50006}
    return None


def _too_long(payload: Mapping[str, Any]) -> Iterator[Complaint]:
    for path, value in _walk(payload, ()):
        most = LONGEST.get(_pattern(path))
        if most and not isinstance(value, str | None):
            yield Complaint(path, "STRING_TYPE_CONVERT", "Could not interpret the value as string.")
        elif most and _units(value or "") > most:
            yield Complaint(path, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")


def _too_many(payload: Mapping[str, Any]) -> Iterator[Complaint]:
    for path, value in _walk(payload, ()):
        most = MOST.get(_pattern(path))
        if most and isinstance(value, list) and len(value) > most:
            yield Complaint(path, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")


def _embeds(payload: Mapping[str, Any], files: Collection[str]) -> Iterator[Complaint]:
    whole = 0
    for number, embed in enumerate(payload.get("embeds") or []):
        path = ("embeds", str(number))
        whole += sum(_units(text) for at, text in _walk(embed, ()) if at[-1] in COUNTED and isinstance(text, str))
        if not 0 <= embed.get("color", 0) <= COLOURS:
            yield Complaint(
                (*path, "color"), "NUMBER_TYPE_MAX", f"int value should be less than or equal to {COLOURS}."
            )
        for place, field in enumerate(embed.get("fields") or []):
            for key in ("name", "value"):
                if not str(field.get(key) or "").strip():
                    yield Complaint((*path, "fields", str(place), key), "BASE_TYPE_REQUIRED", "This field is required")
        address = (embed.get("image") or {}).get("url", "https:")
        if address.partition(":")[0] not in ("http", "https") and address.removeprefix("attachment://") not in files:
            yield Complaint((*path, "image", "url"), "URL_TYPE_INVALID_SCHEME", "There is no such attachment.")
    if whole > WHOLE:
        yield Complaint(("embeds",), "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {WHOLE}")


def _name(payload: Mapping[str, Any]) -> Iterator[Complaint]:
    for word in NOT_IN_NAMES:
        if word in str(payload.get("username", "")).lower():
            yield Complaint(("username",), "USERNAME_INVALID_CONTAINS", f'Username cannot contain "{word}"')


def _walk(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Every part with its path, the whole excepted."""
    parts: Iterator[tuple[Any, Any]] = iter(())
    if isinstance(value, Mapping):
        parts = iter(value.items())
    elif isinstance(value, list):
        parts = iter(enumerate(value))
    for name, part in parts:
        yield (*path, str(name)), part
        yield from _walk(part, (*path, str(name)))


def _pattern(path: Path) -> str:
    return ".".join("*" if part.isdigit() else part for part in path)


def _nested(found: Collection[Complaint]) -> dict[str, Any]:
    errors: dict[str, Any] = {}
    for complaint in found:
        place = errors
        for part in complaint.path:
            place = place.setdefault(part, {})
        place.setdefault("_errors", []).append({"code": complaint.code, "message": complaint.message})
    return errors


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
