"""A report, or a note, to be printed: Markdown -> PDF, with the fonts that come with us."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from html import escape

from sisimpur.agents.orchestrator.reports.drawn.canvas import BENGALI_FONT
from sisimpur.agents.orchestrator.reports.drawn.pdf import pdf
from sisimpur.shared.system.markdown import as_html

STYLE = """
@page { size: A4; margin: 18mm }
body { font: 10.5pt/1.5 Bengali, sans-serif; color: #20242c; overflow-wrap: anywhere }
h1 { font-size: 16pt } h2 { font-size: 12.5pt; break-after: avoid }
pre, code { font-family: Bengali, monospace; font-size: 9pt } pre { white-space: pre-wrap }
li { margin: 3pt 0 } img { width: 90mm; break-inside: avoid } td, th { border: 1px solid #cdd2da; padding: 2pt 5pt }
"""
FACE = "font-family: Bengali; font-weight: 100 900; unicode-range: U+964-965, U+980-9FF, U+200C-200D"


def paper(text: str, title: str, pictures: Mapping[str, bytes]) -> bytes:
    """A PDF. `pictures`: PNG files by the names that the Markdown has for them. Raises what `pdf` raises."""
    font = b64encode(BENGALI_FONT.read_bytes()).decode()
    face = f"@font-face {{ {FACE}; src: url(data:font/woff2;base64,{font}) }}"
    return pdf(as_html(text, pictures), face + STYLE, escape(title))
