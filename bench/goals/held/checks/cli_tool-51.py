# mypy: ignore-errors
"""Whatever number a command shows, with any filter, remove takes exactly that entry away."""

import os
import sys

TREE = sys.argv[1]
sys.path.insert(0, TREE)
os.chdir(TREE)


def no(why):
    print(why)
    sys.exit(1)


import contextlib
import io
import tempfile
from pathlib import Path

from hishab.book import Book, Entry
from hishab.cli import main

ENTRIES = [
    Entry("2025-03-01", 120.0, "rickshaw", ["travel"]),
    Entry("2025-03-02", 0.0, "NOTHING", []),
    Entry("x025-03-03", 0.0, "LOUD " * 20, ["food"], "bkash"),
    Entry("2025-04-01", -50.0, "salary", [], "bkash"),
    Entry("2999-04-02", -5.0, "TO COME", ["food"]),
    Entry("2025-04-03", 0.0, "ZERO " * 20, ["travel"], "bkash"),
    Entry("x025-04-04", -7.0, "SOLD", [], "bkash"),
    Entry("2999-04-05", 0.0, "l" * 90, ["travel"], "bkash"),
]
BY = {
    "check": lambda each: not each.day[:4].isdigit(),
    "untagged": lambda each: not each.tags,
    "zero": lambda each: each.amount == 0,
    "future": lambda each: each.day > "2990",
    "long": lambda each: len(each.note) > 80,
    "loud": lambda each: each.note.isupper(),
    "income": lambda each: each.amount < 0,
}
FILTERS = {
    (): lambda each: True,
    ("--month", "2025-04"): lambda each: each.day.startswith("2025-04"),
    ("--month", "2999-04"): lambda each: each.day.startswith("2999-04"),
    ("--month", "x025-04"): lambda each: each.day.startswith("x025-04"),
    ("--account", "bkash"): lambda each: each.account == "bkash",
    ("--tag", "travel"): lambda each: "travel" in each.tags,
}


def run(book, *argv):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = main(["--book", str(book.path), *argv])
    return code, out.getvalue()


with tempfile.TemporaryDirectory() as place:
    book = Book(Path(place) / "book.jsonl")
    for number, gone in enumerate(ENTRIES, start=1):
        book.replace(ENTRIES)
        run(book, "remove", str(number), "--yes")
        if book.entries() != [each for each in ENTRIES if each is not gone]:
            no(f"remove {number} does not take away entry {number} of the book")
    book.replace(ENTRIES)
    for wrong in ("0", str(len(ENTRIES) + 1)):
        if run(book, "remove", wrong, "--yes")[0] == 0 or book.entries() != ENTRIES:
            no(f"remove {wrong} does not say that there is no such entry")
    for name, is_wanted in BY.items():
        for words, is_left in FILTERS.items():
            wanted = [n for n, each in enumerate(ENTRIES, start=1) if is_wanted(each) and is_left(each)]
            _, said = run(book, name, *words)
            shown = [int(line.split()[0]) for line in said.splitlines()]
            if shown != wanted:
                no(f"{name} {' '.join(words)} shows the numbers {shown}, in the book they are {wanted}")
            if run(book, name, "--count", *words)[1].strip() != str(len(wanted)):
                no(f"{name} --count has changed")
            if run(book, name, "--fail", *words)[0] != (1 if wanted else 0):
                no(f"{name} --fail has changed")
