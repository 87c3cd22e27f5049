"""Words and boxes on a picture that is read on a phone: places in points, two pixels each, and Bengali shaped right."""

from __future__ import annotations

import io
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sisimpur.shared.model.text import JOINERS

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

Colour = tuple[int, int, int]

SCALE = 2  # pixels of a point
WIDTH = 360  # points: a phone held upright
LONGEST = 200  # letters that are looked at of one line
BENGALI_FONT = Path(__file__).with_name("noto-sans-bengali.woff2")  # knows no Latin letter; its licence lies beside it
BENGALI = "\u0964\u0965\u0980-\u09ff"  # its marks of a sentence's end, too
RUN = re.compile(f"[{BENGALI}][{BENGALI}{JOINERS}]*|[^{BENGALI}]+")
UNKNOWN, KNOWN_AT = "\ue000", 11  # a letter of no font, drawn as a box; the size at which that is looked for
VIRAMA = "\u09cd"  # ties the next letter to the one before


@dataclass(frozen=True)
class Theme:
    paper: Colour
    ink: Colour
    faint: Colour
    frame: Colour
    plenty: Colour  # the bars, below and above four fifths of the cap
    scarce: Colour


LIGHT = Theme((255, 255, 255), (32, 36, 44), (90, 96, 106), (205, 210, 218), (52, 120, 190), (200, 70, 50))
DARK = Theme((30, 32, 38), (234, 236, 241), (164, 170, 181), (70, 75, 86), (98, 168, 238), (244, 124, 104))


class Canvas:
    """`height`: in points, as all places and sizes. A word stands on a line: `y` is that line, not its top."""

    def __init__(self, height: int, theme: Theme) -> None:
        from PIL import Image, ImageDraw, features

        self.theme = theme
        self._image = Image.new("RGB", (WIDTH * SCALE, height * SCALE), theme.paper)
        self._draw = ImageDraw.Draw(self._image)
        self._fonts = dict[tuple[bool, int], "FreeTypeFont"]()
        self._can_shape = features.check("raqm")  # not without the system's libfribidi: unshaped it would be no word

    def box(self, left: int, top: int, right: int, bottom: int, colour: Colour) -> None:
        """All but its last row and column."""
        self._draw.rectangle((left * SCALE, top * SCALE, right * SCALE - 1, bottom * SCALE - 1), colour)

    def words(self, x: float, y: int, text: str, size: int, colour: Colour, room: float = WIDTH) -> None:
        """Cut with a dot-dot-dot where it is longer than `room`."""
        at = x * SCALE
        for run in RUN.findall(self._fitting(text, size, room * SCALE)):
            font = self._font(run, size)
            self._draw.text((at, y * SCALE), run, colour, font, anchor="ls")
            at += font.getlength(run)

    def width(self, text: str, size: int) -> float:
        return self._length(self._drawable(text), size) / SCALE

    def png(self) -> bytes:
        stream = io.BytesIO()
        self._image.save(stream, "PNG")  # a tenth smaller takes three times as long
        return stream.getvalue()

    def _font(self, run: str, size: int) -> FreeTypeFont:
        from PIL import ImageFont

        key = bool(re.match(f"[{BENGALI}]", run)), size
        if key not in self._fonts:
            pixels = size * SCALE
            font = ImageFont.truetype(str(BENGALI_FONT), pixels) if key[0] else ImageFont.load_default(pixels)
            assert isinstance(font, ImageFont.FreeTypeFont)
            self._fonts[key] = font
        return self._fonts[key]

    def _length(self, text: str, size: int) -> float:
        return sum(self._font(run, size).getlength(run) for run in RUN.findall(text))

    def _drawable(self, text: str) -> str:
        """Letters that no font of ours knows as a dot in the middle."""
        return "".join(letter if self._is_known(letter) else "·" for letter in text[:LONGEST])

    def _is_known(self, letter: str) -> bool:
        if letter in JOINERS or re.match(f"[{BENGALI}]", letter):
            return bool(self._can_shape) and unicodedata.category(letter) != "Cn"
        if letter.isascii():
            return letter.isprintable()
        font = self._font(UNKNOWN, KNOWN_AT)
        return letter.isprintable() and bytes(font.getmask(letter)) != bytes(font.getmask(UNKNOWN))

    def _fitting(self, text: str, size: int, room: float) -> str:
        text = self._drawable(text)
        if self._length(text, size) <= room:
            return text
        while text and self._length(f"{text}…", size) > room:
            text = without_last(text)
        return f"{text.rstrip()}…"


def without_last(text: str) -> str:
    """Without the last letter as a reader sees it: with its vowel sign, and with what is tied to it."""
    text, last = text[:-1], text[-1:]
    while text and (unicodedata.category(last).startswith("M") or last in JOINERS or text[-1] in (VIRAMA, *JOINERS)):
        text, last = text[:-1], text[-1]
    return text
