"""The picture of a day, looked at pixel by pixel."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from sisimpur.agents.orchestrator.reports.picture import (
    BAR,
    BOARD,
    BOTTOM,
    GROUND,
    HEIGHT,
    INK,
    LEFT,
    PAPER,
    PLENTY,
    SCARCE,
    TOP,
    WIDTH,
    Column,
    day_picture,
)

COLUMNS = [Column(name) for name in ("To do", "In progress", "At the gates", "Done", "Failed")]


def picture(left: list[float], columns: list[Column] = COLUMNS, title: str = "a day") -> Image.Image:
    return Image.open(io.BytesIO(day_picture(title, left, "$5.00", columns))).convert("RGB")


def bar(image: Image.Image, hour: int) -> list[tuple[int, ...]]:
    """The colours in the middle of an hour's bar, from the top of the chart to its foot."""
    x = LEFT + hour * BAR + BAR // 2
    return [image.getpixel((x, y)) for y in range(TOP + 1, BOTTOM)]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("share", "height", "colour"),
    [
        pytest.param(1.0, HEIGHT - 1, PLENTY, id="full: as high as the chart"),
        pytest.param(0.5, HEIGHT // 2, PLENTY, id="half"),
        pytest.param(0.2, HEIGHT // 5, PLENTY, id="a fifth is still plenty"),
        pytest.param(0.1, HEIGHT // 10, SCARCE, id="less is scarce"),
        pytest.param(0.0, 0, None, id="nothing left: no bar"),
        pytest.param(7.0, HEIGHT - 1, PLENTY, id="never higher than the chart"),
        pytest.param(-1.0, 0, None, id="never below it"),
    ],
)
def test_a_bar_is_as_high_as_what_is_left(share: float, height: int, colour: tuple[int, int, int] | None) -> None:
    found = bar(picture([share] * 24), 5)
    assert len([pixel for pixel in found if pixel == colour]) == height
    assert set(found[: len(found) - height]) <= {PAPER}


def test_each_hour_has_its_own_bar() -> None:
    image = picture([1.0] * 8 + [0.1] * 16)
    assert [bar(image, hour)[-1] for hour in range(24)] == [PLENTY] * 8 + [SCARCE] * 16


def test_an_hour_that_has_not_come_has_no_bar_but_its_name() -> None:
    some, all_ = picture([1.0] * 9), picture([1.0] * 24)
    assert [PLENTY in bar(some, hour) for hour in range(24)] == [True] * 9 + [False] * 15
    names = [image.crop((0, BOTTOM + 1, WIDTH, BOARD)).tobytes() for image in (some, all_)]
    assert names[0] == names[1]


def test_a_card_stands_in_its_column_and_nowhere_else() -> None:
    columns = [
        Column(column.heading, (("20261120-01", "Fix"),) if number == 2 else ())
        for number, column in enumerate(COLUMNS)
    ]
    image = picture([1.0] * 24, columns)
    width = (WIDTH - 32 - 4 * 8) // 5
    insides = [image.getpixel((16 + n * (width + 8) + width - 4, BOARD + 34)) for n in range(5)]
    assert insides == [PAPER, PAPER, GROUND, PAPER, PAPER]


def test_dark_words_stand_on_a_light_ground() -> None:
    image = picture([0.0] * 24, title="WWWW")
    title = image.crop((0, 0, WIDTH, 44))
    assert min(low for low, _ in title.getextrema()) <= min(INK) + 10  # type: ignore[misc]
    assert title.getpixel((WIDTH - 1, 0)) == PAPER


def test_a_full_board_counts_what_does_not_fit() -> None:
    few, many = (picture([1.0] * 24, [Column("To do", (("id", "title"),) * number)] * 5) for number in (5, 50))
    assert few.size == many.size
    assert few.tobytes() != many.tobytes()


def test_the_same_values_give_the_same_bytes() -> None:
    assert day_picture("t", [0.5] * 24, "$1", COLUMNS) == day_picture("t", [0.5] * 24, "$1", COLUMNS)


@pytest.mark.parametrize(
    "title", ["", " ", "x" * 5_000, "word " * 900, "বাংলা ভাষা", "\n\t\0\u202e\U0001f600", "ÄÖÜ é", "W" * 30]
)
def test_any_title_can_be_drawn_and_the_file_stays_small(title: str) -> None:
    png = day_picture(title, [0.3] * 24, title[:20], [Column(title, ((title, title),) * 9)] * 5)
    image = Image.open(io.BytesIO(png))
    assert (image.format, image.width, len(png) <= 100_000) == ("PNG", WIDTH, True)


def test_words_stay_inside_of_their_card() -> None:
    """Between two columns there is paper, however long a title is."""
    image = picture([1.0] * 24, [Column("To do", (("id" * 40, "W" * 200), ("id", "WW " * 90)))] * 5)
    width = (WIDTH - 32 - 4 * 8) // 5
    gutter = [image.getpixel((16 + width + 4, y)) for y in range(BOARD + 26, BOARD + 26 + 120)]
    assert set(gutter) == {PAPER}
