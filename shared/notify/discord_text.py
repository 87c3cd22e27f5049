"""A notice as Discord shows it: one embed within all limits, which pings nobody and hides no link.

Discord counts characters; we count UTF-16 units, of which there are never fewer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from sisimpur.shared.model.text import printable
from sisimpur.shared.notify.notice import Notice, Picture, Section, Tone
from sisimpur.shared.notify.notice_text import harmless

USERNAME = "sisimpur agents"  # neither "discord" nor "clyde" may be part of it
TITLE, DESCRIPTION, HEADING, VALUE, ALTERNATIVE = 256, 4096, 256, 1024, 1024
FIELDS = 25
WHOLE = 6000  # over all texts of a message's embeds
FOOTER, FOOT = 120, 1_500  # kept free for what was left out; the most of a notice's own
MAX_PICTURE = 8_000_000  # bytes; Discord's own limit is 10 MiB for the whole request

NOTHING = "—"  # empty names and values are refused
CUT, FENCE = " (cut)", "```"
HALF = re.compile(r"(?:https?:\S*|`+)\Z")  # a link that lost its end leads elsewhere
COLOURS = {Tone.GOOD: 0x2E9E5B, Tone.PLAIN: 0x5B7C99, Tone.ATTENTION: 0xE0A11B, Tone.BAD: 0xC8372D}


def new_message(notice: Notice, hosts: Collection[str] = ()) -> dict[str, Any]:
    """The body of a POST. `hosts`: to these, https links stay links."""
    return {"username": USERNAME, **changed_message(notice, hosts)}


def changed_message(notice: Notice, hosts: Collection[str] = ()) -> dict[str, Any]:
    """The body of a PATCH: what the message is from now on, its picture included."""
    picture = attachment(notice)
    return {
        "embeds": [_embed(notice, picture, hosts)],
        "allowed_mentions": {"parse": []},
        "attachments": [_described(picture)] if picture else [],
    }


def attachment(notice: Notice) -> Picture | None:
    """The picture as it is sent, under a name that can stand in an address; None: there is none, or it is too large."""
    picture = notice.picture
    png = (picture.dark or picture.png) if picture else b""  # Discord is dark unless its reader changes that
    if picture is None or len(png) > MAX_PICTURE:
        return None
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", picture.name.removesuffix(".png")).strip("-")[:60]
    return Picture(f"{stem or 'picture'}.png", png, picture.words)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def clip(text: str, limit: int) -> str:
    """Cut it to `limit` units. A longer text says that it was cut, outside of its code, and loses a link's half."""
    if units(text) <= limit:
        return text
    room = limit - units(f"\n{FENCE}{CUT}")
    kept = text.encode("utf-16-le")[: 2 * room].decode("utf-16-le", "ignore")
    if not text[len(kept)].isspace():
        kept = HALF.sub("", kept)
    return kept.rstrip() + (f"\n{FENCE}" if kept.count(FENCE) % 2 else "") + CUT


def _embed(notice: Notice, picture: Picture | None, hosts: Collection[str]) -> dict[str, Any]:
    title = _line(notice.title, TITLE, hosts)
    text = clip(harmless(notice.text, hosts), DESCRIPTION)
    foot = clip(harmless(notice.foot, hosts).replace("`", ""), FOOT)  # no Markdown is read there
    fields = list(_fields(notice.sections, WHOLE - FOOTER - units(title) - units(text) - units(foot), hosts))
    embed: dict[str, Any] = {"title": title, "description": text, "color": COLOURS[notice.tone], "fields": fields}
    footer = _footer(len(notice.sections) - len(fields), notice.picture is not None and picture is None)
    if footer := "\n".join(filter(None, (footer, foot))):
        embed["footer"] = {"text": footer}
    if picture:
        embed["image"] = {"url": f"attachment://{picture.name}"}
    return embed


def _fields(sections: Collection[Section], room: int, hosts: Collection[str]) -> Iterator[dict[str, str]]:
    """The first ones, as many as there is room for."""
    for section in list(sections)[:FIELDS]:
        name, value = _line(section.heading, HEADING, hosts), clip(harmless(section.text, hosts), VALUE)
        value = value if _is_seen(value) else NOTHING
        room -= units(name) + units(value)
        if room < 0:
            return
        yield {"name": name, "value": value}


def _footer(dropped: int, without_picture: bool) -> str:
    parts = [f"… and {dropped} more section{'s' * (dropped != 1)} in the report"] if dropped else []
    return " · ".join([*parts, *["the picture is too large for Discord"] * without_picture])


def _line(text: str, limit: int, hosts: Collection[str]) -> str:
    line = clip(harmless(" ".join(printable(text).split()), hosts), limit)
    return line if _is_seen(line) else NOTHING


def _is_seen(text: str) -> bool:
    return any(c.isprintable() and not c.isspace() for c in text)


def _described(picture: Picture) -> dict[str, str]:
    return {"id": "0", "filename": picture.name, "description": _line(picture.words, ALTERNATIVE, ())}
