"""YAML as we read it: what is refused, and how it is named."""

from __future__ import annotations

import time

import pytest

from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.system.strict_yaml import parse

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b]\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(BOMB, "f.yaml:1: anchors and aliases are not read; write the value out", id="alias bomb"),
        pytest.param("x: !!python/object/apply:os.system ['id']", "f.yaml:1: the tag", id="code in a tag"),
        pytest.param("x: !!int '3'", "f.yaml:1: the tag", id="a harmless tag too"),
        pytest.param("a: 1\nb: 2\na: 3\n", "f.yaml:3: the key 'a' stands twice", id="duplicate key"),
        pytest.param("a:\n  b: 1\n  b: 2\n", "f.yaml:3: the key 'b' stands twice", id="duplicate key, deeper"),
        pytest.param("[" * 20_000, "f.yaml:1: more than 20 levels", id="20,000 brackets"),
        pytest.param("- x\n" * 60_000, "f.yaml:20000: more than 20000 values", id="60,000 entries"),
        pytest.param("x" * 300_000, "f.yaml: more than 262144 bytes", id="too long"),
        pytest.param("a: 1\n---\nb: 2\n", "f.yaml:2: a second document begins here; one is read", id="two documents"),
        pytest.param("a: [1, 2\n", "f.yaml:2: not valid YAML", id="not closed"),
        pytest.param("a: \0", "f.yaml: holds a NUL byte", id="NUL"),
        pytest.param("? [a]\n: 1", "f.yaml:1: a key must be a plain text", id="a list as key"),
    ],
)
def test_refused_in_one_line_that_names_file_line_and_reason(text: str, reason: str) -> None:
    began = time.monotonic()
    with pytest.raises(Refused) as refusal:
        parse(text, "f.yaml")
    assert str(refusal.value).startswith(reason)
    assert "\n" not in str(refusal.value)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("07:00", "07:00", id="a time stays a text"),
        pytest.param("2026-11-20", "2026-11-20", id="a date stays a text"),
        pytest.param("no", "no", id="no is the country, not false"),
        pytest.param("true", True, id="true"),
        pytest.param("12", 12, id="integer"),
        pytest.param("1.50", 1.5, id="decimal"),
        pytest.param(".nan", ".nan", id="nan is no number"),
        pytest.param("1e9", "1e9", id="nor is an exponent"),
        pytest.param("'12'", "12", id="a quoted number is a text"),
        pytest.param("0123", "0123", id="no octal"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_what_a_plain_value_means(text: str, value: object) -> None:
    assert parse(f"x: {text}", "f.yaml").value == {"x": value}


def test_lines_count_from_where_the_text_begins() -> None:
    with pytest.raises(Refused, match=r"t\.md:8: the key 'a' stands twice"):
        parse("a: 1\na: 2\n", "t.md", first_line=7)


def test_a_wrong_value_is_named_by_file_line_and_key() -> None:
    document = parse("x:\n  z: 1\ny:\n  z: many\n", "f.yaml")
    with pytest.raises(Misconfigured, match=r"^f\.yaml:4: y\.z: write a whole number$"):
        document.as_type(dict[str, dict[str, int]])
