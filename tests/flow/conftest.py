"""What every test of this shelf has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.flow.memory_git import DISK


@pytest.fixture(autouse=True)
def clean_disk() -> Iterator[None]:
    """Nobody finds what another test has left in memory."""
    yield
    DISK.clear()
