"""A report and a note as a PDF, read by another program: `pdftotext`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sisimpur.agents.orchestrator.reports.drawn.chart import Column, day_picture
from sisimpur.agents.orchestrator.reports.drawn.pdf import PROGRAMS, pdf
from sisimpur.shared.model.errors import Misconfigured, Unavailable
from sisimpur.shared.system.process import run
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.stage import Stage
from tests.journey.test_commands import at
from tests.web.browsing import needs

prints = needs()
can_read = pytest.mark.skipif(not shutil.which("pdftotext"), reason="missing: poppler-utils (apt-get)")
BENGALI = "প্রতিষ্ঠানের শ্রেষ্ঠ কর্মী, কৃষ্ণচূড়া, স্বাস্থ্য, জ্ঞান, কি কী কে কৈ কো কৌ"
PAGE = f"""# {BENGALI}

![the day](day.png) ![a stranger's](https://evil.example/x.png) ![a file](file:///etc/passwd)

- **টাকা** for `ক্ষ`, and Ärger — all of it <script>document.title = "run"</script>

| ক | b |
|---|---|
| ১ | ৳ 2 |
"""


def words(file: Path, *more: str) -> str:
    """As they are read, without blanks: a program guesses these by how far letters stand apart."""
    read = run(("pdftotext", *more, str(file), "-"), env={"PATH": PROGRAMS}, timeout=60)
    assert read.ok, read.complaint
    return "".join(read.text.split())


def of(read: str) -> str:
    return "".join(read.split())


@prints
@can_read
def test_every_word_of_a_page_can_be_read_again(tmp_path: Path) -> None:
    png = day_picture("a day", [0.5] * 24, "$5.00", [Column("Done", (("id", BENGALI),))])
    file = tmp_path / "a.pdf"
    file.write_bytes(pdf(PAGE, "a <day>", {"day.png": png}))
    read = words(file)
    for part in (BENGALI, "টাকা for ক্ষ, and Ärger — all of it <script>", "১", "৳ 2", "a stranger's"):
        assert of(part) in read, (part, read)
    told = run(("pdfinfo", str(file)), env={"PATH": PROGRAMS}, timeout=60).text
    assert "a <day>" in told and "A4" in told
    images = run(("pdfimages", "-list", str(file)), env={"PATH": PROGRAMS}, timeout=60).text.splitlines()[2:]
    assert len(images) == 1, "the day's picture, and nothing from elsewhere"
    fonts = run(("pdffonts", str(file)), env={"PATH": PROGRAMS}, timeout=60).text.splitlines()[2:]
    assert fonts and all(" yes " in line for line in fonts), "each font comes with the file"


@prints
@can_read
def test_the_report_of_a_day_is_written_beside_its_file(tmp_path: Path) -> None:
    with ScriptedModel([]) as model:
        home = Stage(tmp_path, model.url).set_up()
        page = home.home.reports / "2026-11-20.md"
        page.write_text(PAGE)
        done = at(home, "report", "2026-11-20", "--pdf")
    assert (done.code, done.text) == (0, f"{page.with_suffix('.pdf')}\n"), done.complaint
    assert of(BENGALI) in words(page.with_suffix(".pdf"))


def test_without_chromium_it_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"apt-get install chromium$"):
        pdf("a", "a", {}, str(tmp_path))


def test_a_program_that_prints_nothing_is_told_as_one(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho no display >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(Unavailable, match=r"Chromium printed nothing .*no display"):
        pdf("a", "a", {}, f"{tmp_path}:/bin")


def test_what_it_leaves_behind_costs_no_page(tmp_path: Path) -> None:
    """A helper of Chromium's with a session of its own still writes into the profile when that is thrown away."""
    program = tmp_path / "chromium"
    program.write_text(
        "#!/bin/sh\n"
        "for one; do case $one in\n"
        "--print-to-pdf=*) echo page > ${one#*=};; --user-data-dir=*) export at=${one#*=}; mkdir -p $at;;\n"
        "esac; done\n"
        "for h in a b c; do\n"
        '    setsid sh -c "n=0; while [ \\$n -lt 30000 ]; do n=\\$((n+1)); : > $at/$h\\$n; done" > /dev/null 2>&1 &\n'
        "done\n"
        "while [ ! -e $at/c50 ]; do :; done\n"
    )
    program.chmod(0o755)
    assert pdf("a", "a", {}, f"{tmp_path}:/usr/bin:/bin") == b"page\n"
