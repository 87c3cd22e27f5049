"""Tables: aligned for people, CSV for spreadsheets."""

from ledger.accounts import balances
from ledger.money import show


def trial_balance(entries):
    """All balances, names to the left, amounts to the right, a line and their sum at the end."""
    rows = [(account, show(cents)) for account, cents in balances(entries).items()]
    rows.append(("total", show(sum(balances(entries).values()))))
    wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{name:<{wide[0]}}  {amount:>{wide[1]}}" for name, amount in rows]
    return "\n".join([*lines[:-1], "-" * len(lines[0]), lines[-1]])


def as_csv(entries):
    """One row for each posting: day, title, account, amount with a dot."""
    rows = ["day,title,account,amount"]
    for entry in entries:
        for posting in entry.postings:
            rows.append(f"{entry.day},{_field(entry.title)},{_field(posting.account)},{posting.cents / 100:.2f}")
    return "\n".join(rows) + "\n"


def _field(text):
    """A text in quotes if it needs them."""
    if "," in text or '"' in text:
        return '"' + text.replace('"', '""') + '"'
    return text
