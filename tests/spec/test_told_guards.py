"""What the owner reads of a guard."""

from __future__ import annotations

import pytest

from sisimpur.agents.orchestrator.vision.told_guards import holding
from sisimpur.shared.model.work import Guard


@pytest.mark.parametrize(
    ("note", "behind"),
    [
        ("Don't touch lang, except en-US.json", "except"),
        ("Do not change anything other than billing/pay.py", "other than"),
        ("billing/pay.py ছাড়া আর কিছুতে হাত দেবে না", "ছাড়া"),
        ("Don't touch the exceptions in billing/pay.py", ""),
    ],
)
def test_a_guard_whose_note_makes_an_exception_says_that_it_is_guarded_too(note: str, behind: str) -> None:
    (line,) = holding([Guard(note, ("billing/pay.py",))], [Guard(note, ("billing/pay.py",))], "2026-11-27")
    said = f"; what stands behind `{behind}` is guarded, too: no word takes a guard away" if behind else ""
    assert line == f"{note} → `billing/pay.py`{said}"
