"""The day's picture: drawn, and what it shows of an account."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont
from datetime import datetime

from sisimpur.agents.orchestrator.reports.account import DayAccount
from sisimpur.agents.orchestrator.reports.report_words import COLUMNS, HOURS, left_by_hour, on_board
from sisimpur.shared.money.token_budget import in_cents

WIDTH = 800  # pixels
LEFT, TOP, BAR, HEIGHT = 64, 64, 30, 150  # of the chart: where it begins, a bar with its gap, the longest bar
BOTTOM = TOP + HEIGHT
BOARD = BOTTOM + 54  # where the task board begins
GUTTER, CARD, GAP = 8, 58, 6  # between columns; a card, and between cards
MOST_CARDS = 5  # of one column
LONGEST = 100  # letters that are looked at of one line

PAPER, INK, FAINT, FRAME = (255, 255, 255), (32, 36, 44), (96, 102, 112), (205, 210, 218)
PLENTY, SCARCE = (52, 120, 190), (200, 70, 50)  # the bars, above and below a fifth of the cap
GROUND = (244, 246, 249)


@dataclass(frozen=True)
class Column:
    """One heading of the task board; each card has a name and a title."""

    heading: str
    cards: tuple[tuple[str, str], ...] = ()


def day_picture(title: str, left: Sequence[float], cap: str, columns: Sequence[Column]) -> bytes:
    """A PNG, 800 pixels wide. `left`: the share of the cap (0-1) left at the end of each hour that has come."""
    from PIL import Image, ImageDraw

    rows = max((min(len(column.cards), MOST_CARDS) for column in columns), default=0)
    image = Image.new("RGB", (WIDTH, BOARD + 36 + rows * (CARD + GAP) + 26), PAPER)
    draw = ImageDraw.Draw(image)
    draw.text((16, 14), _fitting(title, _font(20), WIDTH - 32), INK, _font(20))
    _chart(draw, left, cap)
    width = (WIDTH - 2 * 16 - GUTTER * (len(columns) - 1)) // max(len(columns), 1)
    for number, column in enumerate(columns):
        _column(draw, column, 16 + number * (width + GUTTER), width)
    stream = io.BytesIO()
    image.save(stream, "PNG")  # a tenth smaller takes three times as long
    return stream.getvalue()


def _chart(draw: ImageDraw, left: Sequence[float], cap: str) -> None:
    """What is left of the cap, hour by hour."""
    small, right = _font(12), LEFT + BAR * HOURS
    draw.line((LEFT, TOP, right, TOP), FRAME)
    for hour, share in enumerate(left[:HOURS]):
        height = round(min(max(share, 0.0), 1.0) * HEIGHT)
        if height:
            box = (LEFT + hour * BAR + 2, BOTTOM - height, LEFT + (hour + 1) * BAR - 3, BOTTOM - 1)
            draw.rectangle(box, PLENTY if share >= 0.2 else SCARCE)
    for hour in range(0, HOURS, 3):
        draw.text((LEFT + hour * BAR + 2, BOTTOM + 4), f"{hour:02d}:00", FAINT, small)
    draw.line((LEFT, BOTTOM, right, BOTTOM), INK)
    draw.text((LEFT - 8, TOP), cap, FAINT, small, anchor="rm")
    draw.text((LEFT - 8, BOTTOM), "$0", FAINT, small, anchor="rm")
    draw.text((LEFT, TOP - 8), "left of the day's cap", FAINT, small, anchor="ls")


def _column(draw: ImageDraw, column: Column, x: int, width: int) -> None:
    draw.text((x, BOARD), _fitting(f"{column.heading} ({len(column.cards)})", _font(14), width), INK, _font(14))
    draw.line((x, BOARD + 22, x + width, BOARD + 22), INK)
    y = BOARD + 30
    for name, title in column.cards[:MOST_CARDS]:
        draw.rectangle((x, y, x + width, y + CARD), GROUND, FRAME)
        draw.text((x + 6, y + 4), _fitting(name, _font(11), width - 12), FAINT, _font(11))
        for number, line in enumerate(_two_lines(title, _font(13), width - 12)):
            draw.text((x + 6, y + 19 + number * 17), line, INK, _font(13))
        y += CARD + GAP
    if len(column.cards) > MOST_CARDS:
        draw.text((x + 6, y), f"and {len(column.cards) - MOST_CARDS} more", FAINT, _font(12))


def _font(size: int) -> FreeTypeFont:
    from PIL import ImageFont

    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


def _drawable(text: str) -> str:
    """Letters that the font does not know as a dot in the middle."""
    return "".join(letter if " " <= letter < "\u0250" and letter.isprintable() else "·" for letter in text)


def _two_lines(text: str, font: FreeTypeFont, width: int) -> tuple[str, ...]:
    """Broken at a blank, the rest is cut."""
    words, first = _drawable(text[: 2 * LONGEST]).split(), ""
    while words and font.getlength(f"{first} {words[0]}".strip()) <= width:
        first = f"{first} {words.pop(0)}".strip()
    if not first:
        return (_fitting(" ".join(words), font, width),) if words else ()
    return (first, _fitting(" ".join(words), font, width)) if words else (first,)


def _fitting(text: str, font: FreeTypeFont, width: int) -> str:
    text = _drawable(text[:LONGEST])
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(f"{text}…") > width:
        text = text[:-1]
    return f"{text}…"


def picture(account: DayAccount, now: datetime) -> bytes:
    """A PNG. Everything that it shows stands in the report's words too; hours after `now` have no bar."""
    spent = account.spent
    title = f"{account.day}: {in_cents(spent.used)} of {in_cents(spent.cap)}, {len(account.merged)} merged"
    come = now.hour + 1 if account.day == now.date().isoformat() else HOURS
    shares = [left / spent.cap if spent.cap else 0.0 for left in left_by_hour(account)[:come]]
    columns = [
        Column(heading, tuple((task.id, task.title) for task in on_board(account, state)))
        for state, heading in COLUMNS.items()
    ]
    return day_picture(title, shares, in_cents(spent.cap), columns)
