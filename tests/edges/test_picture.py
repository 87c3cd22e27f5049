"""The picture of a day, looked at pixel by pixel; its words through the eyes of another shaping of the same font."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageDraw, ImageFont, features

from sisimpur.agents.orchestrator.reports.drawn.canvas import (
    BENGALI_FONT,
    DARK,
    LIGHT,
    SCALE,
    WIDTH,
    Canvas,
    Theme,
    without_last,
)
from sisimpur.agents.orchestrator.reports.drawn.chart import (
    BAR,
    BOARD,
    BOTTOM,
    EDGE,
    HEADING,
    HEIGHT,
    LEFT,
    MOST_CARDS,
    ROW,
    TOP,
    Column,
    day_picture,
)

BOARD_OF_ONE = [Column("To do", (("20261120-01", "Fix"),))]
shapes = pytest.mark.skipif(not features.check("raqm"), reason="missing: libfribidi (apt-get install libfribidi0)")


def picture(
    spent: list[float], columns: list[Column] = BOARD_OF_ONE, title: str = "a day", theme: Theme = LIGHT
) -> Image.Image:
    return Image.open(io.BytesIO(day_picture(title, spent, "$5.00", columns, theme))).convert("RGB")


def bar(image: Image.Image, hour: int) -> list[tuple[int, ...]]:
    """The colours in the middle of an hour's bar, from the top of the chart to its foot."""
    x = (LEFT + hour * BAR + BAR // 2) * SCALE
    return [image.getpixel((x, y)) for y in range(TOP * SCALE, BOTTOM * SCALE)]  # type: ignore[misc]


def of_words(text: str, theme: Theme = LIGHT, room: float = WIDTH) -> Image.Image:
    canvas = Canvas(40, theme)
    canvas.words(10, 28, text, 20, theme.ink, room)
    return Image.open(io.BytesIO(canvas.png())).convert("RGB")


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize(
    ("share", "height"),
    [
        pytest.param(1.0, HEIGHT, id="all: as high as the chart"),
        pytest.param(0.5, HEIGHT // 2, id="half"),
        pytest.param(0.8, 67, id="four fifths are still plenty"),
        pytest.param(0.9, 76, id="more is scarce"),
        pytest.param(0.0, 0, id="nothing spent: no bar"),
        pytest.param(7.0, HEIGHT, id="never higher than the chart"),
        pytest.param(-1.0, 0, id="never below it"),
    ],
)
def test_a_bar_is_as_high_as_what_was_spent(share: float, height: int, theme: Theme) -> None:
    found = bar(picture([share] * 24, theme=theme), 5)
    colour = theme.plenty if share <= 0.8 else theme.scarce
    assert len([pixel for pixel in found if pixel == colour]) == height * SCALE
    assert set(found[: len(found) - height * SCALE]) <= {theme.paper}


def test_each_hour_has_its_own_bar() -> None:
    image = picture([0.1] * 8 + [1.0] * 16)
    assert [bar(image, hour)[-1] for hour in range(24)] == [LIGHT.plenty] * 8 + [LIGHT.scarce] * 16


def test_an_hour_that_has_not_come_has_no_bar_but_its_name() -> None:
    some, all_ = picture([0.5] * 9), picture([0.5] * 24)
    assert [LIGHT.plenty in bar(some, hour) for hour in range(24)] == [True] * 9 + [False] * 15
    below = (0, (BOTTOM + 1) * SCALE, WIDTH * SCALE, BOARD * SCALE)
    assert some.crop(below).tobytes() == all_.crop(below).tobytes()


def test_it_is_two_pixels_for_each_point_of_a_phone() -> None:
    """And no word is smaller than 11 points."""
    assert (picture([]).width, WIDTH, SCALE) == (720, 360, 2)


def test_a_heading_without_a_card_takes_no_place() -> None:
    one = [Column("Failed", (("id", "a"),)), Column("Dropped", (("id", "b"),))]
    assert picture([], [Column("To do"), *one, Column("Done")]).tobytes() == picture([], one).tobytes()
    assert picture([], one).height == picture([], one[:1]).height + one[1].height * SCALE


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_words_can_be_told_from_their_ground(theme: Theme) -> None:
    """4.5 to 1 and more (WCAG 1.4.3); a bar 3 to 1."""

    def light(colour: tuple[int, int, int]) -> float:
        parts = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    def contrast(colour: tuple[int, int, int]) -> float:
        low, high = sorted((light(colour), light(theme.paper)))
        return (high + 0.05) / (low + 0.05)

    assert min(contrast(theme.ink), contrast(theme.faint)) >= 4.5
    assert min(contrast(theme.plenty), contrast(theme.scarce)) >= 3
    assert of_words("WWW", theme).getpixel((0, 0)) == theme.paper
    assert theme.ink in of_words("WWW", theme).get_flattened_data()


def test_a_full_board_counts_what_does_not_fit() -> None:
    few, many = (picture([1.0] * 24, [Column("To do", (("id", "title"),) * number)] * 5) for number in (6, 50))
    assert few.size == many.size
    assert few.tobytes() != many.tobytes()


def test_the_same_values_give_the_same_bytes() -> None:
    assert day_picture("t", [0.5] * 24, "$1", BOARD_OF_ONE) == day_picture("t", [0.5] * 24, "$1", BOARD_OF_ONE)


@pytest.mark.parametrize(
    "title",
    ["", " ", "x" * 5_000, "word " * 900, "বাংলা ভাষা", "\n\t\0\u202e\U0001f600", "ÄÖÜ é", "W" * 30, "\u200d", "\u09cd"],
)
def test_any_title_can_be_drawn_and_the_file_stays_small(title: str) -> None:
    png = day_picture(title, [0.3] * 24, title[:20], [Column(title, ((title, title),) * 9)] * 6)
    image = Image.open(io.BytesIO(png))
    assert (image.format, image.width, len(png) <= 250_000) == ("PNG", WIDTH * SCALE, True)


@pytest.mark.parametrize("letter", ["W", "ক্ষ"])
def test_words_stay_inside_of_their_line(letter: str) -> None:
    """At the edge, and between a title and its name, there is paper, however long both are."""
    cards = ((("id" * 40, letter * 200),) * MOST_CARDS,)
    image = picture([], [Column("To do", *cards)])
    taken, rows = WIDTH / 3, range((BOARD + HEADING) * SCALE, (BOARD + HEADING + MOST_CARDS * ROW - 4) * SCALE)
    for x in (WIDTH - 2, int(WIDTH - EDGE - taken - 3)):
        assert {image.getpixel((x * SCALE, y)) for y in rows} == {LIGHT.paper}


# --- Bengali ---------------------------------------------------------------------------------------------------


@shapes
@pytest.mark.parametrize(
    ("joined", "apart"),
    [
        pytest.param("ক্ষ", "ক্\u200cষ", id="a conjunct of its own form"),
        pytest.param("স্বাস্থ্য", "স্\u200cবাস্\u200cথ্\u200cয", id="three in one word"),
    ],
)
def test_a_conjunct_is_drawn_as_one_letter(joined: str, apart: str) -> None:
    """Another form than its parts side by side, which no font that only puts letters in a row would draw."""
    whole, parts = of_words(joined), of_words(apart)
    assert whole.tobytes() != parts.tobytes()
    assert Canvas(1, LIGHT).width(joined, 20) < Canvas(1, LIGHT).width(apart, 20)


@shapes
def test_bengali_is_what_the_font_shapes_for_its_language() -> None:
    text, font = "প্রতিষ্ঠানের শ্রেষ্ঠ", ImageFont.truetype(BENGALI_FONT, 20 * SCALE, layout_engine=ImageFont.Layout.RAQM)
    first, second = text.split()
    expected = Image.new("RGB", (WIDTH * SCALE, 40 * SCALE), LIGHT.paper)
    draw, at = ImageDraw.Draw(expected), 10.0 * SCALE
    draw.text((at, 28 * SCALE), first, LIGHT.ink, font, anchor="ls", language="bn")
    at += font.getlength(first) + ImageFont.load_default(20 * SCALE).getlength(" ")
    draw.text((at, 28 * SCALE), second, LIGHT.ink, font, anchor="ls", language="bn")
    assert ImageChops.difference(of_words(text), expected).getbbox() is None


@pytest.mark.parametrize("letter", ["Ä", "😀", "中", "\u202e", "\u09ba", *([] if features.check("raqm") else ["ক"])])
def test_a_letter_that_no_font_of_ours_knows_is_a_dot(letter: str) -> None:
    assert of_words(f"a{letter}b").tobytes() == of_words("a·b").tobytes()


@shapes
@given(st.text(st.sampled_from("কষসি\u09cd\u200d\u200cা রa"), min_size=1, max_size=12), st.floats(0, 120))
def test_a_cut_falls_between_letters(text: str, room: float) -> None:
    """Neither a sign without its letter nor a letter without what is tied to it is left."""
    left = without_last(text)
    assert text.startswith(left) and len(left) < len(text)
    rest = text[len(left) :]
    assert not left or (rest[0] not in "\u09cd\u200d\u200cিা" and left[-1] not in "\u09cd\u200d\u200c")
    canvas = Canvas(30, LIGHT)
    canvas.words(0, 20, text, 13, LIGHT.ink, room)
    assert Image.open(io.BytesIO(canvas.png())).size == (WIDTH * SCALE, 60)


def test_the_font_comes_with_its_licence() -> None:
    licence = BENGALI_FONT.with_name("noto-sans-bengali-OFL.txt").read_text("utf-8")
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
    pages = Path(__file__).parents[2] / "web" / "pages"
    assert (pages / "src" / "fonts" / BENGALI_FONT.name).resolve() == BENGALI_FONT.resolve()
