"""Door to Markdown. The only module that knows a Markdown library.

A text becomes an outline: headings, bullets and plain text in the order of the lines, the words as they were written.
HTML comments are the owner's way to hide something: they are not read.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.text import printable, visible
from sisimpur.shared.model.work import MarkdownLine

MAX_CHARACTERS = 100_000
MOST_KEPT = 8  # outlines that are remembered: a day looks at the same few files again and again
MAX_NESTING = 20  # as in CommonMark; a bullet in a bullet costs two
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@lru_cache(MOST_KEPT)
def outline(text: str) -> tuple[MarkdownLine, ...]:
    """The lines that say something, or Refused: too long, nested too deep, a comment or a code block without end."""
    if len(text) > MAX_CHARACTERS:
        raise Refused(f"{len(text)} characters of Markdown; the limit is {MAX_CHARACTERS}")
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    parser.disable("reference")  # `[x]: done` is a checkbox here, not the address of a link
    parser.core.ruler.disable(["inline", "text_join"])  # words stay as they are
    return tuple(_lines(parser.parse(text + "\n")))  # so that every line has its end


def as_html(text: str, pictures: Mapping[str, bytes]) -> str:
    """The body of a page. No tag of the text's own is one, and it fetches nothing: a picture is one of `pictures`, PNG
    files by what the text calls them, or its words.
    """
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING, "html": False}).enable("table")
    tokens = parser.parse(text)
    for token in (child for one in tokens for child in one.children or () if child.type == "image"):
        if png := pictures.get(str(token.attrs["src"])):
            token.attrs["src"] = f"data:image/png;base64,{b64encode(png).decode()}"
        else:
            token.type, token.tag = "text", ""
    return str(parser.renderer.render(tokens, parser.options, {}))


def _lines(tokens: list[Token]) -> Iterator[MarkdownLine]:
    heading, items, quotes, item_is_new = 0, 0, 0, False
    for token in tokens:
        items += {"list_item_open": 1, "list_item_close": -1}.get(token.type, 0)
        quotes += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if token.type in ("list_item_open", "blockquote_open") and token.level >= MAX_NESTING - 1:
            raise Refused(  # the parser leaves out, without a word, what lies deeper
                f"line {_number(token)}: nested deeper than {MAX_NESTING} levels of Markdown; write it flatter"
            )
        if token.type.startswith("list_item"):
            item_is_new = token.type == "list_item_open"
        if token.type == "heading_open":
            heading = 0 if items or quotes else int(token.tag[1])
        for number, text in _pieces(token):
            if heading:
                yield MarkdownLine("heading", heading, text, number)
            elif item_is_new:
                yield MarkdownLine("bullet", items - 1, text, number)
            else:
                yield MarkdownLine("text", items, text, number)
            item_is_new = False
        if token.type == "heading_close":
            heading = 0


def _pieces(token: Token) -> Iterator[tuple[int, str]]:
    """Split what a token says, with line numbers: a paragraph is one piece, code is one per line."""
    first = _number(token)
    if token.type == "inline":
        pieces = [(first, COMMENT.sub(" ", token.content))]
    elif token.type == "html_block":
        pieces = list(enumerate(_without_comments(token).split("\n"), first))
    elif token.type in ("fence", "code_block"):
        pieces = list(enumerate(token.content.split("\n"), first + _check_closed(token)))
    else:
        return
    for number, piece in pieces:
        if text := " ".join(printable(visible(piece)).split()):  # as its reader sees it: no unseen letter splits a word
            yield number, text


def _without_comments(token: Token) -> str:
    """Line ends inside comments stay, for the numbers of the lines that follow."""
    text = COMMENT.sub(lambda found: "\n" * found.group().count("\n"), token.content)
    if "<!--" in text:
        raise Refused(f"line {_number(token)}: a comment <!-- is never closed; close it with -->")
    return text


def _check_closed(token: Token) -> bool:
    """True for a block between fences. One without end would swallow everything that follows it."""
    if token.type == "fence" and token.map and token.map[1] - token.map[0] != token.content.count("\n") + 2:
        raise Refused(f"line {_number(token)}: a code block {token.markup} is never closed; close it")
    return token.type == "fence"


def _number(token: Token) -> int:
    return token.map[0] + 1 if token.map else 1
