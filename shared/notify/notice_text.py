"""A notice's words, made harmless for whichever service shows them. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from sisimpur.shared.model.text import BREAK, defuse
from sisimpur.shared.notify.notice import Notice

LONGEST = 20_000  # characters
CUT = "\n(cut)"


def harmless(markdown: str, hosts: Collection[str]) -> str:
    """Defused again, whoever did it before, and in Discord's own ways: it shows no link under another text."""
    text = markdown.encode("utf-8", "replace").decode()
    text = re.sub(rf"<{BREAK}?(https://[^\s<>]+)>", r"\1", text)
    text = defuse(text, hosts)
    text = re.sub(r"@(?=everyone|here)", "@" + BREAK, text, flags=re.IGNORECASE)  # it pings also within a word
    return re.sub(r"\](?=\()", "] ", text).strip()


def plain(notice: Notice, hosts: Collection[str] = ()) -> str:
    """The notice without its title, as text for services that know no Markdown."""
    text = harmless("\n\n".join(_paragraphs(notice)), hosts)
    return text if len(text) <= LONGEST else text[: LONGEST - len(CUT)] + CUT


def _paragraphs(notice: Notice) -> Iterator[str]:
    if notice.text.strip():
        yield notice.text.strip()
    for section in notice.sections:
        yield f"{' '.join(section.heading.split())}\n{section.text.strip()}"
    if notice.foot:
        yield notice.foot
    if notice.picture:
        yield f"(a picture is in the report: {' '.join(notice.picture.words.split())})"
