"""`report`: the page of a day, on the screen."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from sisimpur.cli.terminal.arguments import DONE, Arguments
from sisimpur.cli.terminal.pdf_file import write_pdf
from sisimpur.cli.terminal.printing import command, plain, print_json, print_line
from sisimpur.cli.wiring.records import open_records, require_home
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system.paths import Home, read_text

DAY = re.compile(r"\d{4}-\d\d-\d\d")
MARK = re.compile(r"\\(?=[!-/:-@\[-`{-~])")  # keeps a page of Markdown from acting on words; a screen needs none
BULLET = 2  # columns


def report(arguments: Arguments) -> int:
    """Print the newest page, or that of a day. `--json`: an object with `day`, `file` and `text`, as it is written.

    `--pdf`: it becomes a file, and its name is printed.
    """
    home = Home(arguments.home)
    require_home(home, looking=True)
    day = _day(arguments, home)
    file = home.reports / f"{day}.md"
    if arguments.pdf:
        return write_pdf(file)
    text = read_text(file)
    if arguments.json:
        return print_json({"day": day, "file": str(file), "text": text})
    for line in text.splitlines():
        print_line(MARK.sub("", line), BULLET)
    return DONE


def _day(arguments: Arguments, home: Home) -> str:
    """Misconfigured: there is no page of that day."""
    days = sorted(path.stem for path in home.reports.glob("*.md") if DAY.fullmatch(path.stem))
    if not days:
        begin = command(arguments.home, "run-day")
        raise Misconfigured(f"no day has a report yet; the first comes with the morning of a day: {begin}")
    day = _named(arguments) if arguments.day else days[-1]
    if day not in days:
        raise Misconfigured(f"{plain(day)} has no report; the newest are of {', '.join(days[-3:])}")
    return day


def _named(arguments: Arguments) -> str:
    """Translate `today` and `yesterday`, as the team's clock has them."""
    back = {"today": 0, "yesterday": 1}.get(arguments.day)
    if back is None:
        return arguments.day
    with open_records(arguments.home, looking=True) as records:
        today = datetime.fromisoformat(records.day()).replace(tzinfo=UTC)
    return f"{today - timedelta(days=back):%Y-%m-%d}"
