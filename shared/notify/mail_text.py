"""A notice as a mail: plain text, the same as a page, the picture in it, and the report as a PDF. Pure.

What strangers wrote becomes no header, no tag and no link, and nothing in it is fetched from anywhere. The same words
sent again are the same mail, by its Message-ID; those of a day and home answer one another.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from hashlib import sha256
from html import escape

from sisimpur.shared.model.text import one_line
from sisimpur.shared.notify.notice import AGAIN, Notice, Picture
from sisimpur.shared.notify.notice_text import harmless, plain

LONGEST_SUBJECT = 200  # letters
LONGEST_HOST = 40  # letters: one that does not fit into a header's line would be written in another form
PHONE = 360  # pixels
STYLE = "font:16px/1.5 sans-serif;max-width:40em;overflow-wrap:anywhere"
FORM = SMTP.clone(cte_type="7bit")  # what every server takes
MARKS = (  # of Markdown whose <, > and & were escaped
    (re.compile(r"\*\*([^*\n]+)\*\*"), r"<b>\1</b>"),
    (re.compile(r"`([^`\n]+)`"), r"<code>\1</code>"),
    (re.compile(r"\bhttps?://[^\s<>()`*\"']*[\w/]"), r'<a href="\g<0>">\g<0></a>'),
    (re.compile(r"\\(?=[*_~`|\[\]#])"), ""),
    (re.compile(r"\n"), "<br>\n"),
)


@dataclass(frozen=True)
class Letterhead:
    """`home`: what no other home is called."""

    sender: str
    to: tuple[str, ...]
    home: str
    takes_pdf: bool = True


def letter(notice: Notice, head: Letterhead, now: datetime, hosts: Collection[str] = ()) -> EmailMessage:
    """`hosts`: to these, https links stay links."""
    day, _, what = notice.key.partition(":")
    host = head.sender.rpartition("@")[2][-LONGEST_HOST:].lstrip("-.")
    own, thread = (f"<{_digest(head.home, *of)}@{host}>" for of in (_words(notice), (day,)))
    title = f"{day}: {notice.text}".splitlines()[0] if what.partition("#")[0] == "day" else notice.title
    message = EmailMessage(FORM)
    message["From"] = Address("sisimpur agents", addr_spec=head.sender)
    message["To"] = ", ".join(head.to)
    message["Subject"] = harmless(one_line(title, LONGEST_SUBJECT), hosts)
    message["Date"] = now
    message["Message-ID"] = own
    message["In-Reply-To"] = message["References"] = thread
    message["Auto-Submitted"] = "auto-generated"
    words = plain(_with_headings(notice), hosts)
    message.set_content(words)
    message.add_alternative(_page(words, notice.picture, hosts), subtype="html")
    if notice.picture:
        *_, page = message.iter_parts()
        assert isinstance(page, EmailMessage)
        for name, cid, png in (("day", "picture", notice.picture.png), ("dark", "dark", notice.picture.dark)):
            if png:
                page.add_related(png, "image", "png", filename=f"{name}.png", disposition="inline", cid=f"<{cid}>")
    if notice.pdf:
        message.add_attachment(notice.pdf, "application", "pdf", filename=f"{day}.pdf")
    return message


def _words(notice: Notice) -> tuple[str, ...]:
    """All but the picture, which has one bar more when it is drawn again."""
    sections = (part for one in notice.sections for part in (one.heading, one.text))
    return notice.key, notice.title, notice.text.removesuffix(AGAIN).rstrip(), *sections, notice.foot


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def _with_headings(notice: Notice) -> Notice:
    sections = tuple(replace(one, heading=f"**{one.heading}**") for one in notice.sections)
    return replace(notice, text=f"**{one_line(notice.title)}**\n\n{notice.text}", sections=sections, picture=None)


def _page(words: str, picture: Picture | None, hosts: Collection[str]) -> str:
    """`words`: Markdown that was made harmless."""
    text, image = escape(words, quote=False), ""
    for mark, shown in MARKS:
        text = mark.sub(shown, text)
    if picture:
        told = escape(harmless(one_line(picture.words), hosts))
        image = f'<img src="cid:picture" width="{PHONE}" style="max-width:100%;height:auto" alt="{told}">'
        dark = '<source srcset="cid:dark" media="(prefers-color-scheme: dark)">'
        image = f"<br>\n<picture>{dark}{image}</picture>" if picture.dark else f"<br>\n{image}"
    return f'<!doctype html><html><body style="{STYLE}">{text}{image}</body></html>'
