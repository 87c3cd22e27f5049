"""A report, or a note, as a PDF: printed by Chromium, which shapes every script, with the fonts that come with us.

Chromium is no dependency: without it the owner is told. A page holds what strangers wrote: by its policy none of its
scripts runs, and nothing is fetched.
"""

from __future__ import annotations

import os
import tempfile
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from pathlib import Path

from sisimpur.agents.orchestrator.reports.drawn.canvas import BENGALI_FONT
from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.model.text import one_line
from sisimpur.shared.system.markdown import as_html
from sisimpur.shared.system.process import run

PROGRAMS = "/usr/local/bin:/usr/bin:/bin"
LONGEST = 60.0  # seconds
STYLE = """
@page { size: A4; margin: 18mm }
body { font: 10.5pt/1.5 Bengali, sans-serif; color: #20242c; overflow-wrap: anywhere }
h1 { font-size: 16pt } h2 { font-size: 12.5pt; break-after: avoid }
pre, code { font-family: Bengali, monospace; font-size: 9pt } pre { white-space: pre-wrap }
li { margin: 3pt 0 } img { width: 90mm; break-inside: avoid } td, th { border: 1px solid #cdd2da; padding: 2pt 5pt }
"""
FACE = "font-family: Bengali; font-weight: 100 900; unicode-range: U+964-965, U+980-9FF, U+200C-200D"
POLICY = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'"
OPTIONS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-dev-shm-usage"),
    *("--no-pdf-header-footer", "--host-resolver-rules=MAP * ~NOTFOUND"),
)


def pdf(text: str, title: str, pictures: Mapping[str, bytes], search: str = PROGRAMS) -> bytes:
    """`text`: Markdown; `pictures`: PNG files by the names that it has for them; `search`: folders of programs.

    Misconfigured: there is no Chromium. Unavailable: it printed nothing.
    """
    # what a helper of it still writes there may be left behind: that costs no report
    with tempfile.TemporaryDirectory(prefix="sisimpur-pdf-", ignore_cleanup_errors=True) as folder:
        page, printed = Path(folder) / "page.html", Path(folder) / "page.pdf"
        page.write_text(_page(text, title, pictures), "utf-8")
        # Chromium's own sandbox refuses root; what is printed is our page alone, without scripts and without a network.
        as_root = ("--no-sandbox",) if os.geteuid() == 0 else ()
        places = (f"--user-data-dir={folder}/profile", f"--print-to-pdf={printed}", str(page))
        argv, env = ("chromium", *OPTIONS, *as_root, *places), {"PATH": search, "HOME": folder}
        done = run(argv, cwd=Path(folder), env=env, timeout=LONGEST)
        if done.end == "not found":
            raise Misconfigured("a PDF is printed by Chromium, which is not here; type: apt-get install chromium")
        if not (done.ok and printed.is_file()):
            raise Unavailable(f"Chromium printed nothing ({done.end}): {one_line(done.complaint, 200)}")
        return printed.read_bytes()


def _page(text: str, title: str, pictures: Mapping[str, bytes]) -> str:
    font = b64encode(BENGALI_FONT.read_bytes()).decode()
    style = f"@font-face {{ {FACE}; src: url(data:font/woff2;base64,{font}) }}{STYLE}"
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    head = f'<meta charset="utf-8">{policy}<title>{escape(title)}</title><style>{style}</style>'
    body = as_html(text, pictures)
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'
