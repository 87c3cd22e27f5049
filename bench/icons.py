"""Draws the icons of the installed page anew: `python -m bench.icons`. They are web/pages/src/board.svg as pixels."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from PIL import Image, ImageDraw

PAGES = Path(__file__).parents[1] / "web" / "pages"
PUBLIC = PAGES / "public"
SMOOTH = 8  # times as large as it is kept
SAFE = 0.8  # of a maskable icon a phone may cut away all but this circle


def drawn(size: int, is_maskable: bool = False) -> Image.Image:
    """The icon, so many pixels wide; a maskable one has its colour up to the edge, and its lines in the middle."""
    square, lines = ElementTree.fromstring((PAGES / "src" / "board.svg").read_text())
    found, wide = square.attrib, size * SMOOTH
    unit = wide / int(found["width"])
    image = Image.new("RGB" if is_maskable else "RGBA", (wide, wide), found["fill"] if is_maskable else (0, 0, 0, 0))
    pen = ImageDraw.Draw(image)
    if not is_maskable:
        pen.rounded_rectangle((0, 0, wide - 1, wide - 1), float(found["rx"]) * unit, found["fill"])
    scale = unit * (SAFE if is_maskable else 1)
    edge = (wide - scale * int(found["width"])) / 2
    half = float(lines.attrib["stroke-width"]) / 2
    for x, y, long in re.findall(r"M(\d+) (\d+)h(\d+)", lines.attrib["d"]):
        corners = (int(x), int(y) - half, int(x) + int(long), int(y) + half)
        pen.rectangle([edge + scale * one for one in corners], lines.attrib["stroke"])
    return image.resize((size, size), Image.Resampling.LANCZOS)


def icons() -> dict[str, Image.Image]:
    """Name of the file -> what belongs there."""
    return {
        "icon-192.png": drawn(192),
        "icon-512.png": drawn(512),
        "icon-maskable-512.png": drawn(512, is_maskable=True),
    }


if __name__ == "__main__":
    for name, image in icons().items():
        image.save(PUBLIC / name, optimize=True)
