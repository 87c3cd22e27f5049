# mypy: ignore-errors
"""cli.py is short, the copies went nowhere else, and every command prints and helps as it did."""

import os
import sys

TREE = sys.argv[1]
sys.path.insert(0, TREE)
os.chdir(TREE)


def no(why):
    print(why)
    sys.exit(1)


import argparse
import contextlib
import io
import tempfile
from datetime import date
from pathlib import Path

os.environ["COLUMNS"] = "200"
source = Path("hishab/cli.py").read_text().splitlines()
if len(source) >= 480:
    no(f"cli.py has {len(source)} lines")
every = [line for path in Path("hishab").rglob("*.py") for line in path.read_text().splitlines()]
if len(every) > 750:
    no(f"the package has {len(every)} lines: the copies are elsewhere")
if any(len(line) > 125 or line.count(";") > 1 or "exec(" in line for line in source):
    no("the lines are short in number only")

from hishab.book import Book, Entry
from hishab.cli import main, parser
from hishab.tables import table

HELPS = {
    "add": None,
    "list": None,
    "remove": None,
    "export": None,
    "restore": None,
    "import": None,
    "tags": "Prints every tag, with what was spent on it.",
    "accounts": "Prints accounts.",
    "notes": "Prints same notes.",
    "days": "Prints days.",
    "months": "Prints months.",
    "years": "Prints years.",
    "weekdays": "Prints days of the week.",
    "sizes": "Prints small and large.",
    "initials": "Prints first letters of notes (Nadim wanted it).",
    "kinds": "Prints income and spending.",
    "check": "Shows entries a day that is none.",
    "untagged": "Shows entries without a tag.",
    "zero": "Shows entries of nothing.",
    "future": "Shows entries of a day to come.",
    "long": "Shows entries with a long note.",
    "loud": "Shows entries in capitals.",
    "income": "Shows entries of income.",
    "report": None,
    "balance": None,
    "budget": None,
}
made = parser()
(under,) = [each for each in made._actions if isinstance(each, argparse._SubParsersAction)]
if list(under.choices) != list(HELPS):
    no("the commands are others")
helps = {each.dest: each.help for each in under._choices_actions}
for name, text in HELPS.items():
    if (helps.get(name) or None) != text:
        no(f"the help of {name} is {helps.get(name)!r}")
BY = {
    "tags": ("tag", lambda each: " ".join(each.tags) or "(none)"),
    "accounts": ("account", lambda each: each.account),
    "notes": ("note", lambda each: each.note),
    "days": ("day", lambda each: each.day),
    "months": ("month", lambda each: each.day[:7]),
    "years": ("year", lambda each: each.day[:4]),
    "weekdays": ("weekday", lambda each: date.fromisoformat(each.day).strftime("%a")),
    "sizes": ("size", lambda each: "large" if abs(each.amount) >= 5000 else "small"),
    "initials": ("initial", lambda each: each.note[:1].upper()),
    "kinds": ("kind", lambda each: "income" if each.amount < 0 else "spending"),
}
ENTRIES = [
    Entry("2025-03-01", 120.0, "rickshaw", ["travel"]),
    Entry("2025-03-02", 900.5, "bazar", ["food", "home"]),
    Entry("2025-03-02", 0.0, "Rickshaw", [], "bkash"),
    Entry("2024-12-31", 5000.0, "", ["home"], "bkash"),
    Entry("2025-04-01", -50000.0, "salary", []),
    Entry("2025-04-02", 120.0, "rickshaw", ["travel"], "bank"),
]


def run(place, *argv):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(["--book", place, *argv])
    if code:
        no(f"{argv[0]} ends with {code}")
    return out.getvalue()


def wanted(name, entries, least, most, sort, reverse):
    head, key = BY[name]
    sums, counts = {}, {}
    for each in entries:
        sums[key(each)] = sums.get(key(each), 0.0) + each.amount
        counts[key(each)] = counts.get(key(each), 0) + 1
    rows = [
        [k, f"{s:.2f}", counts[k]]
        for k, s in sums.items()
        if (least is None or s >= least) and (most is None or s <= most)
    ]
    rows.sort(key={"name": lambda row: row[0], "taka": lambda row: float(row[1]), "count": lambda row: row[2]}[sort])
    if reverse:
        rows.reverse()
    return table([head, "taka", "entries"], rows) + "\n" if rows else "nothing\n"


with tempfile.TemporaryDirectory() as folder:
    place = str(Path(folder) / "book.jsonl")
    Book(place).replace(ENTRIES)
    for name in BY:
        options = under.choices[name].format_help()
        if f"only {name} with at least so many taka" not in options or "may be given more than once" not in options:
            no(f"the options of {name} have another help")
        for least, most in ((None, None), (0.0, None), (None, 0.0), (121.0, 5000.0), (1e9, None)):
            for sort in ("name", "taka", "count"):
                for reverse in (False, True):
                    for month in (None, "2025-03"):
                        left = [each for each in ENTRIES if not month or each.month == month]
                        words = [f"--sort={sort}", *(["--reverse"] if reverse else [])]
                        words += [f"--month={month}"] if month else []
                        words += [f"--least={least}"] if least is not None else []
                        words += [f"--most={most}"] if most is not None else []
                        said = run(place, name, *words)
                        if said != wanted(name, left, least, most, sort, reverse):
                            no(f"{name} {' '.join(words)} prints something else")
    balance = [["bank", "-120.00"], ["bkash", "-5000.00"], ["cash", "48979.50"]]
    if run(place, "balance") != table(["account", "taka"], balance) + "\n":
        no("balance prints something else")
