"""The text format."""

from datetime import date

import pytest

from ledger.journal import JournalError, read

RENT = """\
2026-01-05 Rent for January
    expenses:rent        500.00
    assets:bank         -500.00
"""


def test_an_entry_has_a_day_a_title_and_postings():
    [entry] = read(RENT)
    assert (entry.day, entry.title) == (date(2026, 1, 5), "Rent for January")
    assert [(posting.account, posting.cents) for posting in entry.postings] == [
        ("expenses:rent", 50000),
        ("assets:bank", -50000),
    ]


def test_one_amount_may_be_missing():
    [entry] = read("2026-01-05 Rent\n  expenses:rent 500\n  assets:bank\n")
    assert entry.postings[1].cents == -50000


def test_comments_and_empty_lines_are_left_out():
    assert len(read(f"; 2026\n\n{RENT}\n; the end\n{RENT}")) == 2


def test_an_entry_that_does_not_balance_is_refused():
    with pytest.raises(JournalError, match="does not balance"):
        read("2026-01-05 Rent\n  expenses:rent 500\n  assets:bank -499\n")


def test_two_missing_amounts_are_refused():
    with pytest.raises(JournalError, match="does not balance"):
        read("2026-01-05 Rent\n  expenses:rent\n  assets:bank\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5.1.2026 Rent\n", "line 1: not a day"),
        ("  assets:bank 5\n", "line 1: a posting without an entry"),
        ("2026-01-05 Rent\n  assets:bank 5 EUR\n", "line 2: more than an account"),
        ("2026-01-05 Rent\n  assets:bank five\n", "line 2: not an amount"),
    ],
)
def test_a_broken_line_is_named(text, message):
    with pytest.raises(JournalError, match=message):
        read(text)


def test_an_empty_text_has_no_entries():
    assert read("\n") == []
