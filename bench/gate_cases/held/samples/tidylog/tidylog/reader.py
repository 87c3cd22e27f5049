"""Lines to records."""

import gzip
import re
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) (DEBUG|INFO|WARNING|ERROR) ([\w.]+): (.*)")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@dataclass(frozen=True)
class Record:
    when: datetime
    level: str
    name: str
    message: str


def parse_time(text):
    """A time in UTC."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def records(lines):
    """One for each line with a time; what follows it without one belongs to its message."""
    current = None
    for line in lines:
        match = LINE.match(line.rstrip("\n"))
        if match:
            if current:
                yield current
            when, level, name, message = match.groups()
            current = Record(parse_time(when), level, name, message)
        elif current:
            current = replace(current, message=current.message + "\n" + line.rstrip("\n"))
    if current:
        yield current


def read_file(path):
    """All records of a file; .gz is unpacked."""
    path = Path(path)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as stream:
        return list(records(stream))
