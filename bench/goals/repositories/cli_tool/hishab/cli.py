"""All commands. One long file since 1.0; "split it" stands on the list since 1.1.

Each command is two functions: `_NAME_arguments` adds its options, `_NAME` does it and gives the exit code.
"""
import argparse
import json
import sys
from pathlib import Path

from hishab import __version__, config, dates, export, importers, report
from hishab.book import Book, Entry
from hishab.importers.guess import guess
from hishab.tables import table


def _chosen(book, args):
    """The entries that the common filters leave."""
    found = book.entries()
    if getattr(args, "month", None):
        found = [each for each in found if each.month == args.month]
    if getattr(args, "tag", None):
        found = [each for each in found if set(args.tag) & set(each.tags)]
    if getattr(args, "account", None):
        found = [each for each in found if each.account == args.account]
    return found


def _filters(parser):
    parser.add_argument("--month", help="2025-03")
    parser.add_argument("--tag", action="append", help="may be given more than once")
    parser.add_argument("--account")


def _written(rows, head, kind):
    """Rows as a table for people, or for programs."""
    if kind == "json":
        return json.dumps([dict(zip(head, row)) for row in rows], ensure_ascii=False)
    if kind == "csv":
        return "\n".join(",".join(str(cell) for cell in row) for row in [head, *rows])
    return table(head, rows)


# --- add, list, remove ---------------------------------------------------------------------------


def _add_arguments(parser):
    parser.add_argument("amount", type=float)
    parser.add_argument("note", nargs="?", default="")
    parser.add_argument("--tag", action="append", default=[])
    parser.add_argument("--day", default=None)
    parser.add_argument("--account", default="cash")


def _add(book, args):
    book.add(Entry(args.day or dates.today(), args.amount, args.note, args.tag, args.account))
    return 0


def _list_arguments(parser):
    _filters(parser)
    parser.add_argument("--last", type=int, help="only so many")


def _list(book, args):
    found = _chosen(book, args)
    if args.last:
        found = found[-args.last :]
    rows = [[each.day, f"{each.amount:.2f}", each.account, " ".join(each.tags), each.note] for each in found]
    print(table(["day", "taka", "account", "tags", "note"], rows))
    return 0


def _remove_arguments(parser):
    parser.add_argument("number", type=int, help="1 is the first")
    parser.add_argument("--yes", action="store_true")


def _remove(book, args):
    found = book.entries()
    if not 1 <= args.number <= len(found):
        print("hishab: no such entry", file=sys.stderr)
        return 1
    if not args.yes:
        print("hishab: say --yes", file=sys.stderr)
        return 1
    del found[args.number - 1]
    book.replace(found)
    return 0


# --- export, restore, import ---------------------------------------------------------------------


def _export_arguments(parser):
    parser.add_argument("file", help="- for the terminal")
    _filters(parser)


def _export(book, args):
    text = export.to_csv(_chosen(book, args))
    if args.file == "-":
        sys.stdout.write(text)
    else:
        Path(args.file).write_text(text, "utf-8", newline="")
    return 0


def _restore_arguments(parser):
    parser.add_argument("file")


def _restore(book, args):
    for day, account, amount, tags, note in export.from_csv(Path(args.file).read_text("utf-8")):
        book.add(Entry(day, float(amount), note, tags.split(), account))
    return 0


def _import_arguments(parser):
    parser.add_argument("file")
    parser.add_argument("--from", dest="source", choices=importers.names())


def _import(book, args):
    text = Path(args.file).read_text("utf-8")
    known = {(each.day, each.amount, each.note) for each in book.entries()}
    for each in importers.read(args.source or guess(text), text):
        if (each.day, each.amount, each.note) not in known:
            book.add(each)
    return 0


# --- tags --------------------------------------------------------------------------------------


def _tags_arguments(parser):
    _filters(parser)
    parser.add_argument("--least", type=float, default=None, help="only tags with at least so many taka")
    parser.add_argument("--most", type=float, default=None)
    parser.add_argument("--sort", choices=("name", "taka", "count"), default="name")
    parser.add_argument("--reverse", action="store_true")


def _tags_sums(entries):
    """Taka and number of entries by tag."""
    sums, counts = {}, {}
    for each in entries:
        key = " ".join(each.tags) or "(none)"
        sums[key] = sums.get(key, 0.0) + each.amount
        counts[key] = counts.get(key, 0) + 1
    return sums, counts


def _tags(book, args):
    """Prints every tag, with what was spent on it."""
    sums, counts = _tags_sums(_chosen(book, args))
    rows = []
    for key in sums:
        if args.least is not None and sums[key] < args.least:
            continue
        if args.most is not None and sums[key] > args.most:
            continue
        rows.append([key, f"{sums[key]:.2f}", counts[key]])
    if args.sort == "taka":
        rows.sort(key=lambda row: float(row[1]))
    elif args.sort == "count":
        rows.sort(key=lambda row: row[2])
    else:
        rows.sort(key=lambda row: row[0])
    if args.reverse:
        rows.reverse()
    if not rows:
        print("nothing")
        return 0
    print(table(["tag", "taka", "entries"], rows))
    return 0


def _tags_help():
    return "every tag, with what was spent on it"


# --- accounts ----------------------------------------------------------------------------------


def _accounts_arguments(parser):
    _filters(parser)
    parser.add_argument("--least", type=float, default=None, help="only accounts with at least so many taka")
    parser.add_argument("--most", type=float, default=None)
    parser.add_argument("--sort", choices=("name", "taka", "count"), default="name")
    parser.add_argument("--reverse", action="store_true")


def _accounts_sums(entries):
    """Taka and number of entries by account."""
    sums, counts = {}, {}
    for each in entries:
        key = each.account
        sums[key] = sums.get(key, 0.0) + each.amount
        counts[key] = counts.get(key, 0) + 1
    return sums, counts


def _accounts(book, args):
    """Prints accounts."""
    sums, counts = _accounts_sums(_chosen(book, args))
    rows = []
    for key in sums:
        if args.least is not None and sums[key] < args.least:
            continue
        if args.most is not None and sums[key] > args.most:
            continue
        rows.append([key, f"{sums[key]:.2f}", counts[key]])
    if args.sort == "taka":
        rows.sort(key=lambda row: float(row[1]))
    elif args.sort == "count":
        rows.sort(key=lambda row: row[2])
    else:
        rows.sort(key=lambda row: row[0])
    if args.reverse:
        rows.reverse()
    if not rows:
        print("nothing")
        return 0
    print(table(["account", "taka", "entries"], rows))
    return 0


def _accounts_help():
    return "accounts"


# --- notes -------------------------------------------------------------------------------------


def _notes_arguments(parser):
    _filters(parser)
    parser.add_argument("--least", type=float, default=None, help="only notes with at least so many taka")
    parser.add_argument("--most", type=float, default=None)
    parser.add_argument("--sort", choices=("name", "taka", "count"), default="name")
    parser.add_argument("--reverse", action="store_true")


def _notes_sums(entries):
    """Taka and number of entries by note."""
    sums, counts = {}, {}
    for each in entries:
        key = each.note
        sums[key] = sums.get(key, 0.0) + each.amount
        counts[key] = counts.get(key, 0) + 1
    return sums, counts


def _notes(book, args):
    """Prints same notes."""
    sums, counts = _notes_sums(_chosen(book, args))
    rows = []
    for key in sums:
        if args.least is not None and sums[key] < args.least:
            continue
        if args.most is not None and sums[key] > args.most:
            continue
        rows.append([key, f"{sums[key]:.2f}", counts[key]])
    if args.sort == "taka":
        rows.sort(key=lambda row: float(row[1]))
    elif args.sort == "count":
        rows.sort(key=lambda row: row[2])
    else:
        rows.sort(key=lambda row: row[0])
    if args.reverse:
        rows.reverse()
    if not rows:
        print("nothing")
        return 0
    print(table(["note", "taka", "entries"], rows))
    return 0


def _notes_help():
    return "same notes"


# --- days --------------------------------------------------------------------------------------


def _days_arguments(parser):
    _filters(parser)
    parser.add_argument("--least", type=float, default=None, help="only days with at least so many taka")
    parser.add_argument("--most", type=float, default=None)
    parser.add_argument("--sort", choices=("name", "taka", "count"), default="name")
    parser.add_argument("--reverse", action="store_true")


def _days_sums(entries):
    """Taka and number of entries by day."""
    sums, counts = {}, {}
    for each in entries:
        key = each.day
        sums[key] = sums.get(key, 0.0) + each.amount
        counts[key] = counts.get(key, 0) + 1
    return sums, counts


def _days(book, args):
    """Prints days."""
    sums, counts = _days_sums(_chosen(book, args))
    rows = []
    for key in sums:
        if args.least is not None and sums[key] < args.least:
            continue
        if args.most is not None and sums[key] > args.most:
            continue
        rows.append([key, f"{sums[key]:.2f}", counts[key]])
    if args.sort == "taka":
        rows.sort(key=lambda row: float(row[1]))
    elif args.sort == "count":
        rows.sort(key=lambda row: row[2])
    else:
        rows.sort(key=lambda row: row[0])
    if args.reverse:
        rows.reverse()
    if not rows:
        print("nothing")
        return 0
    print(table(["day", "taka", "entries"], rows))
    return 0


def _days_help():
    return "days"


# --- months ------------------------------------------------------------------------------------


def _months_arguments(parser):
    _filters(parser)
    parser.add_argument("--least", type=float, default=None, help="only months with at least so many taka")
    parser.add_argument("--most", type=float, default=None)
    parser.add_argument("--sort", choices=("name", "taka", "count"), default="name")
    parser.add_argument("--reverse", action="store_true")


def _months_sums(entries):
    """Taka and number of entries by month."""
    sums, counts = {}, {}
    for each in entries:
        key = each.month
        sums[key] = sums.get(key, 0.0) + each.amount
        counts[key] = counts.get(key, 0) + 1
    return sums, counts


def _months(book, args):
    """Prints months."""
    sums, counts = _months_sums(_chosen(book, args))
    rows = []
    for key in sums:
        if args.least is not None and sums[key] < args.least:
            continue
        if args.most is not None and sums[key] > args.most:
            continue
        rows.append([key, f"{sums[key]:.2f}", counts[key]])
    if args.sort == "taka":
        rows.sort(key=lambda row: float(row[1]))
    elif args.sort == "count":
        rows.sort(key=lambda row: row[2])
    else:
        rows.sort(key=lambda row: row[0])
    if args.reverse:
        rows.reverse()
    if not rows:
        print("nothing")
        return 0
    print(table(["month", "taka", "entries"], rows))
    return 0


def _months_help():
    return "months"


# --- years -------------------------------------------------------------------------------------


def _years_arguments(parser):
    _filters(parser)
    parser.add_argument("--least", type=float, default=None, help="only years with at least so many taka")
    parser.add_argument("--most", type=float, default=None)
    parser.add_argument("--sort", choices=("name", "taka", "count"), default="name")
    parser.add_argument("--reverse", action="store_true")


def _years_sums(entries):
    """Taka and number of entries by year."""
    sums, counts = {}, {}
    for each in entries:
        key = each.day[:4]
        sums[key] = sums.get(key, 0.0) + each.amount
        counts[key] = counts.get(key, 0) + 1
    return sums, counts


def _years(book, args):
    """Prints years."""
    sums, counts = _years_sums(_chosen(book, args))
    rows = []
    for key in sums:
        if args.least is not None and sums[key] < args.least:
            continue
        if args.most is not None and sums[key] > args.most:
            continue
        rows.append([key, f"{sums[key]:.2f}", counts[key]])
    if args.sort == "taka":
        rows.sort(key=lambda row: float(row[1]))
    elif args.sort == "count":
        rows.sort(key=lambda row: row[2])
    else:
        rows.sort(key=lambda row: row[0])
    if args.reverse:
        rows.reverse()
    if not rows:
        print("nothing")
        return 0
    print(table(["year", "taka", "entries"], rows))
    return 0


def _years_help():
    return "years"


# --- weekdays ----------------------------------------------------------------------------------


def _weekdays_arguments(parser):
    _filters(parser)
    parser.add_argument("--least", type=float, default=None, help="only weekdays with at least so many taka")
    parser.add_argument("--most", type=float, default=None)
    parser.add_argument("--sort", choices=("name", "taka", "count"), default="name")
    parser.add_argument("--reverse", action="store_true")


def _weekdays_sums(entries):
    """Taka and number of entries by weekday."""
    sums, counts = {}, {}
    for each in entries:
        key = __import__("datetime").date.fromisoformat(each.day).strftime("%a")
        sums[key] = sums.get(key, 0.0) + each.amount
        counts[key] = counts.get(key, 0) + 1
    return sums, counts


def _weekdays(book, args):
    """Prints days of the week."""
    sums, counts = _weekdays_sums(_chosen(book, args))
    rows = []
    for key in sums:
        if args.least is not None and sums[key] < args.least:
            continue
        if args.most is not None and sums[key] > args.most:
            continue
        rows.append([key, f"{sums[key]:.2f}", counts[key]])
    if args.sort == "taka":
        rows.sort(key=lambda row: float(row[1]))
    elif args.sort == "count":
        rows.sort(key=lambda row: row[2])
    else:
        rows.sort(key=lambda row: row[0])
    if args.reverse:
        rows.reverse()
    if not rows:
        print("nothing")
        return 0
    print(table(["weekday", "taka", "entries"], rows))
    return 0


def _weekdays_help():
    return "days of the week"


# --- sizes -------------------------------------------------------------------------------------


def _sizes_arguments(parser):
    _filters(parser)
    parser.add_argument("--least", type=float, default=None, help="only sizes with at least so many taka")
    parser.add_argument("--most", type=float, default=None)
    parser.add_argument("--sort", choices=("name", "taka", "count"), default="name")
    parser.add_argument("--reverse", action="store_true")


def _sizes_sums(entries):
    """Taka and number of entries by size."""
    sums, counts = {}, {}
    for each in entries:
        key = "large" if abs(each.amount) >= 5000 else "small"
        sums[key] = sums.get(key, 0.0) + each.amount
        counts[key] = counts.get(key, 0) + 1
    return sums, counts


def _sizes(book, args):
    """Prints small and large."""
    sums, counts = _sizes_sums(_chosen(book, args))
    rows = []
    for key in sums:
        if args.least is not None and sums[key] < args.least:
            continue
        if args.most is not None and sums[key] > args.most:
            continue
        rows.append([key, f"{sums[key]:.2f}", counts[key]])
    if args.sort == "taka":
        rows.sort(key=lambda row: float(row[1]))
    elif args.sort == "count":
        rows.sort(key=lambda row: row[2])
    else:
        rows.sort(key=lambda row: row[0])
    if args.reverse:
        rows.reverse()
    if not rows:
        print("nothing")
        return 0
    print(table(["size", "taka", "entries"], rows))
    return 0


def _sizes_help():
    return "small and large"


# --- initials ----------------------------------------------------------------------------------


def _initials_arguments(parser):
    _filters(parser)
    parser.add_argument("--least", type=float, default=None, help="only initials with at least so many taka")
    parser.add_argument("--most", type=float, default=None)
    parser.add_argument("--sort", choices=("name", "taka", "count"), default="name")
    parser.add_argument("--reverse", action="store_true")


def _initials_sums(entries):
    """Taka and number of entries by initial."""
    sums, counts = {}, {}
    for each in entries:
        key = each.note[:1].upper()
        sums[key] = sums.get(key, 0.0) + each.amount
        counts[key] = counts.get(key, 0) + 1
    return sums, counts


def _initials(book, args):
    """Prints first letters of notes (Nadim wanted it)."""
    sums, counts = _initials_sums(_chosen(book, args))
    rows = []
    for key in sums:
        if args.least is not None and sums[key] < args.least:
            continue
        if args.most is not None and sums[key] > args.most:
            continue
        rows.append([key, f"{sums[key]:.2f}", counts[key]])
    if args.sort == "taka":
        rows.sort(key=lambda row: float(row[1]))
    elif args.sort == "count":
        rows.sort(key=lambda row: row[2])
    else:
        rows.sort(key=lambda row: row[0])
    if args.reverse:
        rows.reverse()
    if not rows:
        print("nothing")
        return 0
    print(table(["initial", "taka", "entries"], rows))
    return 0


def _initials_help():
    return "first letters of notes (Nadim wanted it)"


# --- kinds -------------------------------------------------------------------------------------


def _kinds_arguments(parser):
    _filters(parser)
    parser.add_argument("--least", type=float, default=None, help="only kinds with at least so many taka")
    parser.add_argument("--most", type=float, default=None)
    parser.add_argument("--sort", choices=("name", "taka", "count"), default="name")
    parser.add_argument("--reverse", action="store_true")


def _kinds_sums(entries):
    """Taka and number of entries by kind."""
    sums, counts = {}, {}
    for each in entries:
        key = "income" if each.amount < 0 else "spending"
        sums[key] = sums.get(key, 0.0) + each.amount
        counts[key] = counts.get(key, 0) + 1
    return sums, counts


def _kinds(book, args):
    """Prints income and spending."""
    sums, counts = _kinds_sums(_chosen(book, args))
    rows = []
    for key in sums:
        if args.least is not None and sums[key] < args.least:
            continue
        if args.most is not None and sums[key] > args.most:
            continue
        rows.append([key, f"{sums[key]:.2f}", counts[key]])
    if args.sort == "taka":
        rows.sort(key=lambda row: float(row[1]))
    elif args.sort == "count":
        rows.sort(key=lambda row: row[2])
    else:
        rows.sort(key=lambda row: row[0])
    if args.reverse:
        rows.reverse()
    if not rows:
        print("nothing")
        return 0
    print(table(["kind", "taka", "entries"], rows))
    return 0


def _kinds_help():
    return "income and spending"


# --- looking for mistakes ------------------------------------------------------------------------


def _check_arguments(parser):
    _filters(parser)
    parser.add_argument("--count", action="store_true", help="only how many")
    parser.add_argument("--fail", action="store_true", help="exit 1 if there are any")


def _check(book, args):
    """Shows entries a day that is none."""
    found = []
    for number, each in enumerate(_chosen(book, args), start=1):
        if not each.day[:4].isdigit():
            found.append((number, each))
    if args.count:
        print(len(found))
    else:
        for number, each in found:
            print(f"{number:>5}  {each.day}  {each.amount:>10.2f}  {each.note}")
    return 1 if found and args.fail else 0


def _untagged_arguments(parser):
    _filters(parser)
    parser.add_argument("--count", action="store_true", help="only how many")
    parser.add_argument("--fail", action="store_true", help="exit 1 if there are any")


def _untagged(book, args):
    """Shows entries without a tag."""
    found = []
    for number, each in enumerate(_chosen(book, args), start=1):
        if not each.tags:
            found.append((number, each))
    if args.count:
        print(len(found))
    else:
        for number, each in found:
            print(f"{number:>5}  {each.day}  {each.amount:>10.2f}  {each.note}")
    return 1 if found and args.fail else 0


def _zero_arguments(parser):
    _filters(parser)
    parser.add_argument("--count", action="store_true", help="only how many")
    parser.add_argument("--fail", action="store_true", help="exit 1 if there are any")


def _zero(book, args):
    """Shows entries of nothing."""
    found = []
    for number, each in enumerate(_chosen(book, args), start=1):
        if each.amount == 0:
            found.append((number, each))
    if args.count:
        print(len(found))
    else:
        for number, each in found:
            print(f"{number:>5}  {each.day}  {each.amount:>10.2f}  {each.note}")
    return 1 if found and args.fail else 0


def _future_arguments(parser):
    _filters(parser)
    parser.add_argument("--count", action="store_true", help="only how many")
    parser.add_argument("--fail", action="store_true", help="exit 1 if there are any")


def _future(book, args):
    """Shows entries of a day to come."""
    found = []
    for number, each in enumerate(_chosen(book, args), start=1):
        if each.day > dates.today():
            found.append((number, each))
    if args.count:
        print(len(found))
    else:
        for number, each in found:
            print(f"{number:>5}  {each.day}  {each.amount:>10.2f}  {each.note}")
    return 1 if found and args.fail else 0


def _long_arguments(parser):
    _filters(parser)
    parser.add_argument("--count", action="store_true", help="only how many")
    parser.add_argument("--fail", action="store_true", help="exit 1 if there are any")


def _long(book, args):
    """Shows entries with a long note."""
    found = []
    for number, each in enumerate(_chosen(book, args), start=1):
        if len(each.note) > 80:
            found.append((number, each))
    if args.count:
        print(len(found))
    else:
        for number, each in found:
            print(f"{number:>5}  {each.day}  {each.amount:>10.2f}  {each.note}")
    return 1 if found and args.fail else 0


def _loud_arguments(parser):
    _filters(parser)
    parser.add_argument("--count", action="store_true", help="only how many")
    parser.add_argument("--fail", action="store_true", help="exit 1 if there are any")


def _loud(book, args):
    """Shows entries in capitals."""
    found = []
    for number, each in enumerate(_chosen(book, args), start=1):
        if each.note.isupper():
            found.append((number, each))
    if args.count:
        print(len(found))
    else:
        for number, each in found:
            print(f"{number:>5}  {each.day}  {each.amount:>10.2f}  {each.note}")
    return 1 if found and args.fail else 0


def _income_arguments(parser):
    _filters(parser)
    parser.add_argument("--count", action="store_true", help="only how many")
    parser.add_argument("--fail", action="store_true", help="exit 1 if there are any")


def _income(book, args):
    """Shows entries of income."""
    found = []
    for number, each in enumerate(_chosen(book, args), start=1):
        if each.amount < 0:
            found.append((number, each))
    if args.count:
        print(len(found))
    else:
        for number, each in found:
            print(f"{number:>5}  {each.day}  {each.amount:>10.2f}  {each.note}")
    return 1 if found and args.fail else 0


# --- report, balance, budget ---------------------------------------------------------------------


def _report_arguments(parser):
    _filters(parser)
    parser.add_argument("--by", choices=("tag", "month"), default="tag")
    # 2.2: asked for twice, and then nobody told the README
    parser.add_argument("--format", choices=("table", "csv", "json"), default="table", help="csv and json: for programs")


def _report(book, args):
    sums = (report.by_month if args.by == "month" else report.by_tag)(_chosen(book, args))
    print(_written([[key, f"{value:.2f}"] for key, value in sums.items()], [args.by, "taka"], args.format))
    return 0


def _balance_arguments(parser):
    parser.add_argument("--account")


def _balance(book, args):
    sums, _ = _accounts_sums(_chosen(book, args))
    print(table(["account", "taka"], [[key, f"{-value:.2f}"] for key, value in sorted(sums.items())]))
    return 0


def _budget_arguments(parser):
    parser.add_argument("--month", default=None)
    parser.add_argument("--ini", default=None)


def _budget(book, args):
    args.month = args.month or dates.today()[:7]
    over = report.over_budget(_chosen(book, args), config.budgets(config.read(args.ini)))
    for tag, taka in over.items():
        print(f"{tag}: {taka:.2f} too much")
    return 0


# --- all -----------------------------------------------------------------------------------------

COMMANDS = [
    "add",
    "list",
    "remove",
    "export",
    "restore",
    "import",
    "tags",
    "accounts",
    "notes",
    "days",
    "months",
    "years",
    "weekdays",
    "sizes",
    "initials",
    "kinds",
    "check",
    "untagged",
    "zero",
    "future",
    "long",
    "loud",
    "income",
    "report",
    "balance",
    "budget",
]


def parser():
    made = argparse.ArgumentParser(prog="hishab")
    made.add_argument("--version", action="version", version=__version__)
    made.add_argument("--book", default="~/.hishab/book.jsonl")
    under = made.add_subparsers(dest="command", required=True)
    for name in COMMANDS:
        one = under.add_parser(name, help=globals()[f"_{name}"].__doc__)
        globals()[f"_{name}_arguments"](one)
    return made


def main(argv=None):
    args = parser().parse_args(argv)
    return globals()[f"_{args.command}"](Book(args.book), args)


if __name__ == "__main__":
    sys.exit(main())
