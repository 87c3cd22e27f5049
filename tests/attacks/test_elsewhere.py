"""Promise 6: what the owner approved is this change at this place.

At 1678a4d3 both changes below had one digest: an approval of the first held for the second, which a coder may write
when the first could not be merged.
"""

from __future__ import annotations

from pathlib import Path

from sisimpur.agents.orchestrator.board.review_facts import subject_of
from tests.repositories import repository, shell

ALLOWED = """
    def allowed(self, user):
        log(user)
        count(user)
        note(user)
        if user.is_admin:
            return True
        note(user)
        count(user)
        return False
"""
TWICE = f"class Sample:{ALLOWED}\n\nclass Bank:{ALLOWED}"
ASKS = "if user.is_admin:"


def changed(folder: Path, text: str) -> str:
    (folder / "a.py").write_text(text)
    return subject_of(shell("git diff", folder).encode())


def test_the_same_lines_in_another_class_are_another_change(tmp_path: Path) -> None:
    repository(tmp_path / "site", {"a.py": TWICE})
    before, _, behind = TWICE.rpartition(ASKS)
    sample = changed(tmp_path / "site", TWICE.replace(ASKS, "if True:", 1))
    bank = changed(tmp_path / "site", f"{before}if True:{behind}")
    assert sample != bank


def test_the_same_change_on_another_base_is_the_same(tmp_path: Path) -> None:
    repository(tmp_path / "one", {"a.py": TWICE})
    repository(tmp_path / "other", {"a.py": f"import os\n\nLINES = 1\n\n\n{TWICE}"})
    one = changed(tmp_path / "one", TWICE.replace(ASKS, "if True:", 1))
    assert one == changed(tmp_path / "other", f"import os\n\nLINES = 1\n\n\n{TWICE.replace(ASKS, 'if True:', 1)}")
