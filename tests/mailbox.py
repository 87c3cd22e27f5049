"""A service for notices without a server: a folder with one file per message, which outlives whoever wrote to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.notify.notice import Notice


@dataclass
class Mailbox:
    """`before` is raised instead of the work, one after the other; `after` once it is done: its answer is lost."""

    folder: Path
    keeps_ids: bool = True
    name: str = "Mailbox"
    before: list[TeamError] = field(default_factory=list)
    after: list[TeamError] = field(default_factory=list)
    tries: int = 0
    evening_only: bool = False
    takes_pdf: bool = False

    def wants(self, notice: Notice, is_whole: bool) -> bool:
        return is_whole or not self.evening_only

    def send(self, notice: Notice, sent: str = "") -> str:
        self.tries += 1
        if self.before:
            raise self.before.pop(0)
        self.folder.mkdir(exist_ok=True)
        id_ = sent or str(len(list(self.folder.iterdir())) + 1)
        words = {
            "key": notice.key,
            "title": notice.title,
            "text": notice.text,
            "tone": notice.tone.value,
            "foot": notice.foot,
        }
        sections = {section.heading: section.text for section in notice.sections}
        png = len(notice.picture.png) if notice.picture else 0
        (self.folder / id_).write_text(json.dumps({**words, "sections": sections, "png": png}))
        if self.after:
            raise self.after.pop(0)
        return id_ if self.keeps_ids else ""

    def messages(self) -> Iterator[dict[str, Any]]:
        """As they stand now, in the order in which they were first sent."""
        files = sorted(self.folder.iterdir(), key=lambda path: int(path.name)) if self.folder.exists() else []
        yield from (json.loads(path.read_text()) for path in files)

    def told(self) -> list[str]:
        return [message["key"] for message in self.messages()]

    def of(self, ending: str) -> dict[str, Any]:
        """The one message whose key ends so."""
        (found,) = [message for message in self.messages() if message["key"].endswith(ending)]
        return found
