from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser):
    parser.addoption("--accept", action="store_true", help="write the golden files anew")


@pytest.fixture
def golden(request):
    """Compares a text with tests/golden/<name>.txt."""

    def check(name, text):
        path = GOLDEN / f"{name}.txt"
        if request.config.getoption("--accept"):
            path.write_text(text + "\n", "utf-8")
        assert path.read_text("utf-8") == text + "\n"

    return check
