"""A value of a settings file is changed where it stands; all else of the file stays as it was written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.config.reference import FILES, ON_PAGES, setting_rows
from sisimpur.shared.config.setting_edit import Value, changed
from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.system.strict_yaml import parse

SHIPPED = {name: (Path(__file__).parents[2] / name).read_text() for name in ON_PAGES}
KEYS = [(name, row.key) for name in ON_PAGES for row in setting_rows(FILES[name]) if row.form]
BLOCK = "# first\na: 1 # one\nb:\n  c: 2\n  # below c\n  d:\n    - x\n    - {y: 1}\n\n# last\n"
VALUES = st.one_of(st.booleans(), st.integers(-(10**9), 10**9), st.none(), st.text(max_size=20))


def at(text: str, key: str) -> object:
    found = parse(text, "x").value
    for step in key.split("."):
        found = found[step]
    return found


@pytest.mark.parametrize(("name", "key"), KEYS)
@pytest.mark.parametrize("value", [3, 0.5, False, "off", "07:30", "null", "1", "a: b", 'say "no" # now', ""])
def test_each_setting_of_the_files_as_they_ship_is_changed_and_nothing_else(name: str, key: str, value: Value) -> None:
    before = SHIPPED[name]
    after = changed(before, name, {key: value})
    assert at(after, key) == value and type(at(after, key)) is type(value)
    comments = [line for line in before.splitlines() if line.startswith("#")]
    assert [line for line in after.splitlines() if line.startswith("#")] == comments
    assert changed(after, name, {key: value}) == after, "said twice it is the same"


@pytest.mark.parametrize(
    ("text", "key", "wanted"),
    [
        (BLOCK, "a", BLOCK.replace("a: 1", "a: 7")),
        (BLOCK, "b.c", BLOCK.replace("c: 2", "c: 7")),
        (BLOCK, "b.e", BLOCK.replace("- {y: 1}\n", "- {y: 1}\n  e: 7\n")),
        (BLOCK, "f.g", BLOCK.replace("- {y: 1}\n", "- {y: 1}\nf: {g: 7}\n")),
        ("a: {}", "a.b", "a: {b: 7}"),
        ("a: {b: 1,}", "a.c", "a: {b: 1, c: 7,}"),
        ("a:\nb: 1", "a", "a: 7\nb: 1"),
        ("a: {b: , c: 1}", "a.b", "a: {b: 7 , c: 1}"),
        ("a: 'it''s' # it", "a", "a: 7 # it"),
        ("a: 1\r\nb: 2\r\n", "b", "a: 1\r\nb: 7\r\n"),
        ("ঘ: 1\na: 'ঘ'", "a", "ঘ: 1\na: 7"),
    ],
)
def test_it_is_put_where_a_person_would_put_it(text: str, key: str, wanted: str) -> None:
    assert changed(text, "x", {key: 7}) == wanted


@pytest.mark.parametrize(
    ("text", "key"), [("", "a"), ("# only words", "a"), ("a: [1]", "a"), ("a: 1", "a.b"), ("a:", "a.b")]
)
def test_what_only_a_person_changes_well_is_left_to_him(text: str, key: str) -> None:
    with pytest.raises(Misconfigured):
        changed(text, "x", {key: 7})


@pytest.mark.parametrize("text", ["a: &x 1\nb: *x", "a: !!python/none 1", "a: 1\na: 2", "a: {", "a: 1\n---\nb: 1"])
def test_what_is_not_read_is_not_changed(text: str) -> None:
    with pytest.raises(Refused):
        changed(text, "x", {"a": 7})


@given(value=VALUES, key=st.sampled_from(["a", "b.c", "b.e", "f.g"]))
def test_whatever_is_written_is_read_or_refused(value: Value, key: str) -> None:
    """A text that would be a key of its own, a comment or a second document stays a text."""
    try:
        after = changed(BLOCK, "x", {key: value})
    except (Refused, Misconfigured):
        return  # it holds what nobody sees
    assert at(after, key) == value and at(after, "a") == (value if key == "a" else 1)
