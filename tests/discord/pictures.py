"""Two pictures for the documentation: a message as Discord shows it on a phone, and the day's picture at its width.

`python -m tests.discord.pictures FOLDER HOME`: of what a local webhook kept (simulators/discord), the newest message
with a picture; the home's path is shown as H. Discord's look is imitated, words and their order are not.
"""

from __future__ import annotations

import base64
import html
import io
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
PHONE = 390  # points wide
MOST, COLOURS = 150_000, 48  # bytes, and colours: enough for a page of words
PROGRAM = re.compile(r"python3? /\S+/main\.py")
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: #313338; color: #dbdee1; font: 15px/1.35 sans-serif; }}
main {{ display: flex; gap: 12px; padding: 14px 12px; }}
.face {{ flex: 0 0 36px; height: 36px; border-radius: 50%; background: #5865f2; }}
.who {{ color: #f2f3f5; font-weight: 600; }}
.app {{ background: #5865f2; font-size: 10px; padding: 1px 4px; border-radius: 3px; }}
.embed {{ border-left: 4px solid {colour}; background: #2b2d31; border-radius: 4px; padding: 10px 12px; margin-top: 6px;
  overflow-wrap: anywhere; white-space: pre-wrap; }}
.embed b.title, .embed b.name {{ display: block; color: #f2f3f5; }}
.embed b.name {{ margin-top: 10px; font-size: 14px; }}
code {{ background: #1e1f22; padding: 0 3px; border-radius: 3px; font-size: 13px; }} a {{ color: #00a8fc; }}
img {{ width: 100%; margin-top: 10px; border-radius: 4px; }}
small {{ display: block; margin-top: 8px; color: #949ba4; }}
</style><main><div class="face"></div><div style="min-width:0;flex:1"><span class="who">{who}</span>
<span class="app">APP</span>{embed}</div></main>"""


def page(message: Mapping[str, Any], picture: bytes) -> str:
    """The message as a page; every word of it is one of the payload."""
    (embed,) = message["embeds"]
    fields = "".join(f"<b class='name'>{_shown(one['name'])}</b>{_shown(one['value'])}" for one in embed["fields"])
    foot = f"<small>{_shown(embed['footer']['text'])}</small>" if "footer" in embed else ""
    image = f"<img src='data:image/png;base64,{base64.b64encode(picture).decode()}'>"
    text = f"<b class='title'>{_shown(embed['title'])}</b>{_shown(embed['description'])}{fields}{image}{foot}"
    colour = f"#{embed['color']:06x}"
    return PAGE.format(colour=colour, who=_shown(message["username"]), embed=f"<div class='embed'>{text}</div>")


def _shown(text: str) -> str:
    """Discord's Markdown, as far as our messages have it."""
    found = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
    found = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", found)
    found = re.sub(r"(https?://[^\s<]+)", r"<a>\1</a>", found)
    return re.sub(r"(?m)^- ", "• ", found)


def draw(folder: Path, home: str) -> None:
    from playwright.sync_api import sync_playwright

    image = max(folder.glob("*.png"))
    message = json.loads((folder / f"{image.name.partition('-')[0]}.json").read_text("utf-8").replace(home, "H"))
    message = json.loads(PROGRAM.sub("python main.py", json.dumps(message, ensure_ascii=False)))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium")
        shown = browser.new_page(viewport={"width": PHONE, "height": 844})
        shown.set_content(page(message, image.read_bytes()))
        _kept(shown.locator("main").screenshot(), PICTURES / "discord-day.png")
        source = base64.b64encode(image.read_bytes()).decode()
        shown.set_content(f"<body style='margin:0'><img style='width:100%' src='data:image/png;base64,{source}'>")
        _kept(shown.locator("img").screenshot(), PICTURES / "day-on-a-phone.png")
        browser.close()
    for path in (PICTURES / "discord-day.png", PICTURES / "day-on-a-phone.png"):
        assert path.stat().st_size < MOST, path


def _kept(png: bytes, to: Path) -> None:
    from PIL import Image

    Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS).save(to, optimize=True)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), sys.argv[2])
