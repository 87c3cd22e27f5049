"""The journal: plain text to entries.

    2026-01-05 Rent for January          a day and a title begin an entry
        expenses:rent        500.00      postings are indented: an account, then its amount
        assets:bank                      one amount may be missing: it is what balances the entry
    ; a comment
"""

from dataclasses import dataclass
from datetime import date

from ledger.money import parse, show


class JournalError(ValueError):
    """The text is no journal. The message begins with the line's number."""


@dataclass(frozen=True)
class Posting:
    account: str
    cents: int


@dataclass(frozen=True)
class Entry:
    day: date
    title: str
    postings: tuple[Posting, ...]


def read(text):
    """All entries, in the order of the text. Raises JournalError."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(";")]
    found = []
    for number, line in enumerate(lines, start=1):
        if line[0].isspace():
            if not found:
                raise JournalError(f"line {number}: a posting without an entry")
            found[-1][2].append(_posting(number, line))
        else:
            found.append((*_heading(number, line), []))
    return [Entry(day, title, _balanced(title, postings)) for day, title, postings in found]


def _heading(number, line):
    day, _, title = line.partition(" ")
    try:
        return date.fromisoformat(day), title.strip()
    except ValueError:
        raise JournalError(f"line {number}: not a day: {day}") from None


def _posting(number, line):
    account, *amount = line.split()
    if len(amount) > 1:
        raise JournalError(f"line {number}: more than an account and an amount")
    try:
        return account, parse(amount[0]) if amount else None
    except ValueError as problem:
        raise JournalError(f"line {number}: {problem}") from None


def _balanced(title, postings):
    """Fill in the one missing amount; the sum must be zero."""
    rest = -sum(cents for _, cents in postings if cents is not None)
    missing = [account for account, cents in postings if cents is None]
    if len(missing) > 1 or (rest and not missing):
        raise JournalError(f"{title}: does not balance ({show(rest)} is missing)")
    return tuple(Posting(account, rest if cents is None else cents) for account, cents in postings)
