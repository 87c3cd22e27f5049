from hishab.book import Book, Entry


def test_what_was_added_is_read(book):
    book.add(Entry("2025-05-01", 1.0, "চা", ["food"]))
    assert book.entries()[-1] == Entry("2025-05-01", 1.0, "চা", ["food"])


def test_no_file_is_an_empty_book(tmp_path):
    assert Book(tmp_path / "none").entries() == []
