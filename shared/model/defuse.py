"""Markdown that strangers and models wrote, made harmless for other people's systems.

The words stay readable; what a forge or a chat would act on does not work any more: mentions, closing words, commands,
links and pictures from elsewhere, HTML. Everything is treated alike, also inside of code: where code begins and ends is
a matter of opinion between parsers.
"""

from __future__ import annotations

import re
from collections.abc import Collection

BREAK = "\u200b"  # no width: what stands around it is no longer one word
HIDDEN = re.compile(  # control characters, changes of direction, and letters that only machines see
    "[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
# A blank takes its place: what stood on both sides must not become a new one.
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)

ACTS = (
    (re.compile(r"<(?=[A-Za-z/!?@#:])"), "<" + BREAK),  # HTML, and a chat's <@id>
    (re.compile(r"&(?=#?\w{1,40};)"), "&" + BREAK),  # entities: another way to write @
    (re.compile(r"(?<![A-Za-z0-9_])@(?=\w)"), "@" + BREAK),
    (re.compile(r"#(?=\d)"), "#" + BREAK),  # fixes #1
    (re.compile(r"\b(gh-)(?=\d)", re.IGNORECASE), r"\1" + BREAK),
    (re.compile(r"^([ \t]*)/(?=\w)", re.MULTILINE), r"\1\\/"),  # /merge
    (re.compile(r"\bwww\.", re.IGNORECASE), "www[.]"),
)


def defuse(markdown: str, hosts: Collection[str] = ()) -> str:
    """`hosts`: names of hosts to which https links may stay. Twice is as good as once."""
    text = COMMENT.sub(" ", HIDDEN.sub("", markdown.replace("\r\n", "\n").replace("\r", "\n")))
    listed = rf"(?:{'|'.join(map(re.escape, hosts))})(?=[/)\s]|\Z)" if hosts else "(?!)"
    text = re.sub(rf"\](?=[(:\[])(?!\(https://{listed})", "] ", text)  # no link, no picture, no definition of one
    text = re.sub(rf":(?=//)(?!(?<=\bhttps:)//{listed})", "[:]", text)
    for expression, harmless in ACTS:
        text = expression.sub(harmless, text)
    return text
