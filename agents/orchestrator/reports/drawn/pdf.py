"""A page as a PDF: printed by Chromium, which shapes every script. It is no dependency: without it the owner is told.

A page holds what strangers wrote: by its policy none of its scripts runs, and nothing is fetched.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.model.text import one_line
from sisimpur.shared.system.process import run

PROGRAMS = "/usr/local/bin:/usr/bin:/bin"
LONGEST = 60.0  # seconds
POLICY = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'"
OPTIONS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-dev-shm-usage"),
    *("--no-pdf-header-footer", "--host-resolver-rules=MAP * ~NOTFOUND"),
)


def pdf(body: str, style: str, title: str, search: str = PROGRAMS) -> bytes:
    """`body`: HTML; `style`: CSS; `title`: as HTML; `search`: where programs are looked for.

    Misconfigured: there is no Chromium. Unavailable: it printed nothing.
    """
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    head = f'<meta charset="utf-8">{policy}<title>{title}</title><style>{style}</style>'
    with tempfile.TemporaryDirectory(prefix="sisimpur-pdf-") as folder:
        page, printed = Path(folder) / "page.html", Path(folder) / "page.pdf"
        page.write_text(f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>', "utf-8")
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
