"""Balances. An account's name is a path: `expenses:rent` belongs to `expenses`."""

from ledger.dates import month_of


def balances(entries):
    """Cents by account, sorted by name."""
    totals = {}
    for entry in entries:
        for posting in entry.postings:
            totals[posting.account] = totals.get(posting.account, 0) + posting.cents
    return dict(sorted(totals.items()))


def branch(entries, name):
    """The sum of an account and of all below it."""
    return sum(cents for account, cents in balances(entries).items() if account.startswith(name))


def running(entries, account):
    """(day, balance after it) for each entry that touches the account, by day."""
    touched = sorted((e for e in entries if any(p.account == account for p in e.postings)), key=_when)
    return [(entry.day, _sum_of(touched[: index + 1], account)) for index, entry in enumerate(touched)]


def in_month(entries, day):
    """The entries of this day's month."""
    first, last = month_of(day)
    return [entry for entry in entries if first <= entry.day <= last]


def _when(entry):
    return entry.day


def _sum_of(entries, account):
    return sum(posting.cents for entry in entries for posting in entry.postings if posting.account == account)
