"""Text of strangers: Markdown made harmless, and one line of whatever somebody wrote."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.text import defuse, one_line, printable

HOSTS = ("github.com",)
ACTS = re.compile(
    r"(?<!\w)@\w|#\d|(?i:\bgh-\d)|<[A-Za-z/!?@#]|\]\(|\]:|&#?\w+;|^[ \t]*/\w|[\u202a-\u202e]", re.MULTILINE
)
SIGNS = st.sampled_from([*"@#<>/![]():&;\\-1a\n \r", "https:", "//", "<!--", "-->", "gh-", "\u200b", "\u202e", "fixes"])


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        pytest.param("hi @everyone", "hi @\u200beveryone", id="everyone"),
        pytest.param("@org/team", "@\u200borg/team", id="a team"),
        pytest.param("mail me: a@b.example", "mail me: a@b.example", id="an address stays"),
        pytest.param("fixes #1", "fixes #\u200b1", id="closing words"),
        pytest.param("closes o/r#22", "closes o/r#\u200b22", id="closing elsewhere"),
        pytest.param("Resolves GH-3", "Resolves GH-\u200b3", id="closing, the old way"),
        pytest.param("/merge", "\\/merge", id="a command"),
        pytest.param("and/or 1/2", "and/or 1/2", id="a slash in a word stays"),
        pytest.param("a <!-- say yes --> b", "a   b", id="a comment"),
        pytest.param("a <!-- say yes", "a  ", id="a comment without an end"),
        pytest.param("<img src=x>", "<\u200bimg src=x>", id="HTML"),
        pytest.param("<@123> <@&4> <#5>", "<\u200b@\u200b123> <\u200b@&4> <\u200b#\u200b5>", id="a chat's mentions"),
        pytest.param("1 < 2 > 1", "1 < 2 > 1", id="smaller and greater stay"),
        pytest.param("&#64;everyone", "&\u200b#\u200b64;everyone", id="an entity"),
        pytest.param("R&D; a & b", "R&\u200bD; a & b", id="an ampersand stays"),
        pytest.param("![x](https://evil.example/p.png)", "![x] (https[:]//evil.example/p.png)", id="a picture"),
        pytest.param("[x](//evil.example)", "[x] (//evil.example)", id="a link without a scheme"),
        pytest.param("[x](javascript:alert(1))", "[x] (javascript:alert(1))", id="a link that is a program"),
        pytest.param("[x]: https://evil.example", "[x] : https[:]//evil.example", id="a link's definition"),
        pytest.param("see https://evil.example/a", "see https[:]//evil.example/a", id="a bare address"),
        pytest.param("www.evil.example", "www[.]evil.example", id="an address without a scheme"),
        pytest.param("[x](https://github.com/a)", "[x](https://github.com/a)", id="a listed host"),
        pytest.param("https://github.com/a", "https://github.com/a", id="a bare address of a listed host"),
        pytest.param(
            "https://github.com.evil.example", "https[:]//github.com.evil.example", id="a host that begins so"
        ),
        pytest.param("https://github.com@evil.example", "https[:]//github.com@evil.example", id="a user named so"),
        pytest.param("http://github.com/a", "http[:]//github.com/a", id="a listed host without encryption"),
        pytest.param("\u202eabc\u200b\x07\U000e0041", "abc", id="what people cannot see"),
        pytest.param("- [ ] a\n- [x] b\n\n| a |\n", "- [ ] a\n- [x] b\n\n| a |\n", id="ordinary Markdown stays"),
    ],
)
def test_what_acts_is_made_harmless_and_the_rest_stays(text: str, harmless: str) -> None:
    assert defuse(text, HOSTS) == harmless


@given(st.lists(SIGNS, max_size=40).map("".join))
def test_nothing_that_acts_is_left_however_it_was_put_together(text: str) -> None:
    safe = defuse(text)
    assert not ACTS.search(safe)
    assert "://" not in safe


@given(st.lists(SIGNS, max_size=40).map("".join))
def test_twice_is_as_good_as_once(text: str) -> None:
    assert defuse(defuse(text, HOSTS), HOSTS) == defuse(text, HOSTS)


@pytest.mark.parametrize("text", ["<!--", "](", "\n", " ", "@a", "https://", "&#1;", "<!-- -->"])
def test_a_long_text_does_not_take_long(text: str) -> None:
    began = time.process_time()
    defuse(text * (500_000 // len(text)), HOSTS)
    assert time.process_time() - began < 1


# --- one line ------------------------------------------------------------------------------------------------

UNSEEN = (
    "\0",
    "\x07",
    "\x1b[31m",
    "\x85",
    "\u2028",
    "\u202e",
    "\u2066",
    "\u200b",
    "\u200d",
    "\u2060",
    "\ufeff",
    "\ud83d",
)
LINES = st.lists(st.sampled_from([*UNSEEN, "\r\n", "\t", " ", "word", "…", "ß", "\U0001f600"]) | st.text()).map("".join)


@given(LINES, st.integers(1, 400))
def test_whatever_was_written_it_is_one_bounded_line_of_what_can_be_seen(text: str, longest: int) -> None:
    line = one_line(text, longest)
    assert len(line) <= longest
    assert len(line.splitlines()) <= 1
    assert not {unicodedata.category(c) for c in line} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert one_line(line, longest) == line
    line.encode()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param(" a \r\n\t b ", "a b", id="one blank between two words"),
        pytest.param("Añ «x» 😀", "Añ «x» 😀", id="what can be seen stays"),
        pytest.param("pass\u200bword", "pass word", id="two words do not become one"),
        pytest.param("\x1b[2Jgone", "[2Jgone", id="a screen is not cleared"),
        pytest.param("\u202egnp.exe", "gnp.exe", id="letters keep their order"),
        pytest.param("0123456789", "0123456789", id="as long as it may be"),
        pytest.param("0123456789a", "012345678…", id="a long one says that it was cut"),
        pytest.param("01234567 9a", "01234567…", id="no blank before the end"),
    ],
)
def test_one_line_reads(text: str, line: str) -> None:
    assert one_line(text, 10) == line


@pytest.mark.parametrize("unseen", UNSEEN)
def test_no_character_that_cannot_be_seen_is_left(unseen: str) -> None:
    assert one_line(f"a{unseen}b").isprintable()
    assert printable(unseen, "").isprintable()


def test_what_is_kept_is_named() -> None:
    assert printable("a\tb\nc\0", "?", keep="\n\t") == "a\tb\nc?"
