"""The day's picture, to be read on a phone: what was spent by the hour, and where the tasks stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sisimpur.agents.orchestrator.reports.drawn.canvas import LIGHT, WIDTH, Canvas, Theme

HOURS = 24
EDGE = 12  # points, as all that follows: at both sides of the picture
LEFT, TOP, BAR, HEIGHT = 52, 58, 12, 84  # of the chart: where it begins, a bar with its gap, the longest bar
BOTTOM = TOP + HEIGHT
BOARD = BOTTOM + 30  # where the task board begins
HEADING, ROW, AFTER = 28, 21, 8  # a group's heading, a card, and between groups
MOST_CARDS = 5  # of one group
SCARCE = 0.8  # of the cap


@dataclass(frozen=True)
class Column:
    """One heading of the task board; each card has a name and a title."""

    heading: str
    cards: tuple[tuple[str, str], ...] = ()

    @property
    def height(self) -> int:
        return HEADING + ROW * min(len(self.cards), MOST_CARDS + 1) + AFTER


def day_picture(title: str, spent: Sequence[float], cap: str, board: Sequence[Column], theme: Theme = LIGHT) -> bytes:
    """A PNG, 720 pixels wide. `spent`: the share of the cap (0-1) spent by the end of each hour that has come.

    A heading without a card is not drawn.
    """
    shown = [column for column in board if column.cards]
    canvas = Canvas(BOARD + sum(column.height for column in shown), theme)
    canvas.words(EDGE, 26, title, 15, theme.ink, WIDTH - 2 * EDGE)
    _chart(canvas, spent, cap)
    top = BOARD
    for column in shown:
        _column(canvas, column, top)
        top += column.height
    return canvas.png()


def _chart(canvas: Canvas, spent: Sequence[float], cap: str) -> None:
    """What was spent of the cap, hour by hour."""
    theme, right = canvas.theme, LEFT + BAR * HOURS
    canvas.box(LEFT, TOP - 1, right, TOP, theme.frame)
    for hour, share in enumerate(spent[:HOURS]):
        height, x = round(min(max(share, 0.0), 1.0) * HEIGHT), LEFT + hour * BAR
        if height:
            canvas.box(x + 1, BOTTOM - height, x + BAR - 1, BOTTOM, theme.plenty if share <= SCARCE else theme.scarce)
    for hour in range(0, HOURS, 6):
        canvas.words(LEFT + hour * BAR, BOTTOM + 15, f"{hour:02d}:00", 11, theme.faint)
    canvas.box(LEFT, BOTTOM, right, BOTTOM + 1, theme.ink)
    for words, y in ((cap, TOP + 4), ("$0", BOTTOM + 2)):
        canvas.words(LEFT - 6 - canvas.width(words, 11), y, words, 11, theme.faint, LEFT - 6)
    canvas.words(LEFT, TOP - 7, "spent of the day's cap", 11, theme.faint)


def _column(canvas: Canvas, column: Column, top: int) -> None:
    theme = canvas.theme
    canvas.words(EDGE, top + 14, f"{column.heading} ({len(column.cards)})", 14, theme.ink, WIDTH - 2 * EDGE)
    canvas.box(EDGE, top + 20, WIDTH - EDGE, top + 21, theme.frame)
    y = top + HEADING + 10
    for name, title in column.cards[:MOST_CARDS]:
        taken = min(canvas.width(name, 11), WIDTH / 3)
        canvas.words(EDGE, y, title, 13, theme.ink, WIDTH - 2 * EDGE - taken - 8)
        canvas.words(WIDTH - EDGE - taken, y, name, 11, theme.faint, taken)
        y += ROW
    if len(column.cards) > MOST_CARDS:
        canvas.words(EDGE, y, f"and {len(column.cards) - MOST_CARDS} more", 12, theme.faint)
