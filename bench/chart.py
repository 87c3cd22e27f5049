"""A chart of lines as SVG: what grows with what. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 820, 340
LEFT, TOP, RIGHT, BOTTOM = 56, 44, 520, 290  # of the plot; the legend stands beside it
COLOURS = ("#3478be", "#c84632", "#2f8f5b", "#8a5bb5", "#c98a1b", "#5f6670")
INK, FAINT, GRID = "#20242c", "#606670", "#dfe3e9"
STEPS = (1, 2, 5, 10)  # of the scale, times a power of ten


@dataclass(frozen=True)
class Chart:
    """`lines`: name -> a figure for each of `along`. `goal`: a dashed line, 0: none."""

    title: str
    along: Sequence[int]
    across: str  # what `along` counts
    lines: Mapping[str, Sequence[float]]
    goal: float = 0

    @property
    def top(self) -> float:
        """Of the scale: a round number above every figure."""
        largest = max(self.goal, *(figure for line in self.lines.values() for figure in line))
        power = 10.0 ** math.floor(math.log10(largest))
        return next(step * power for step in STEPS if step * power >= largest)

    def x(self, place: int) -> float:
        """Each of `along` as far from the next as it is larger by a factor."""
        first, last = math.log(self.along[0]), math.log(self.along[-1])
        return LEFT + 16 + (math.log(place) - first) / (last - first) * (RIGHT - LEFT - 32)

    def y(self, figure: float) -> float:
        return BOTTOM - figure / self.top * (BOTTOM - TOP)


def svg(chart: Chart) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(16, 24, chart.title, INK, size=15),
        *_scale(chart),
        *(part for number, name in enumerate(chart.lines) for part in _line(chart, name, number)),
        "</svg>",
    ]
    return "\n".join([*parts, ""])


def _scale(chart: Chart) -> list[str]:
    levels = [chart.top * part / 5 for part in range(6)]
    parts = []
    for level in levels:
        parts.append(_stroke([(LEFT, chart.y(level)), (RIGHT, chart.y(level))], GRID))
        parts.append(_text(LEFT - 8, chart.y(level) + 4, f"{level:,.3g}", FAINT, "end"))
    for place in chart.along:
        parts.append(_text(chart.x(place), BOTTOM + 18, f"{place:,}", FAINT, "middle"))
    parts.append(_text((LEFT + RIGHT) / 2, BOTTOM + 38, chart.across, FAINT, "middle"))
    if chart.goal:
        parts.append(_stroke([(LEFT, chart.y(chart.goal)), (RIGHT, chart.y(chart.goal))], FAINT, "6 4"))
        parts.append(_text(RIGHT + 8, chart.y(chart.goal) + 4, f"target {chart.goal:g}", FAINT))
    return parts


def _line(chart: Chart, name: str, number: int) -> list[str]:
    colour, figures = COLOURS[number % len(COLOURS)], chart.lines[name]
    points = [(chart.x(place), chart.y(figure)) for place, figure in zip(chart.along, figures, strict=True)]
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    told = ", ".join(f"{figure:.3g}" for figure in figures)
    return [_stroke(points, colour), *dots, _text(RIGHT + 90, TOP + 12 + 22 * number, f"{name}: {told}", colour)]


def _stroke(points: Sequence[tuple[float, float]], colour: str, dashes: str = "") -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dashed}/>'


def _text(x: float, y: float, words: str, colour: str, anchor: str = "start", size: int = 12) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text {place} fill="{colour}">{escape(words)}</text>'
