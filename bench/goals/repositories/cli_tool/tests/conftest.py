import pytest

from hishab.book import Book, Entry


@pytest.fixture
def book(tmp_path):
    made = Book(tmp_path / "book.jsonl")
    made.add(Entry("2025-03-01", 120.0, "rickshaw", ["travel"]))
    made.add(Entry("2025-03-02", 900.5, "bazar", ["food"]))
    made.add(Entry("2025-04-01", -50000.0, "salary", []))
    return made


@pytest.fixture
def hishab(book, capsys):
    """Runs a command on the book and gives what it printed."""
    from hishab.cli import main

    def run(*argv):
        assert main(["--book", str(book.path), *argv]) == 0
        return capsys.readouterr().out

    return run
