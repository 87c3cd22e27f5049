"""Text of strangers: Markdown made harmless, and one line of whatever somebody wrote."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.text import (
    JOINERS,
    around_unseen,
    as_written,
    defuse,
    harmless,
    one_line,
    own_place,
    printable,
    shown,
    unseen,
    visible,
    with_links,
    with_own_links,
    with_own_words,
)

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
        pytest.param("x [skip ci] [CI skip] [no-ci] [skip]", "x (skip ci) (CI skip) (no-ci) (skip)", id="no checks"),
        pytest.param("***NO_CI*** a", "** NO_CI*** a", id="no checks elsewhere"),
        pytest.param(
            "a\n\nSigned-off-by: A <a@b>\nskip-checks: true\nTask: t\ngoal : g",
            "a\n\nSigned-off-by - A <\u200ba@b>\nskip-checks - true\nTask - t\ngoal - g",
            id="a signature and trailers",
        ),
        pytest.param("[no, ok] see [notes] and [a b] by: me", "[no, ok] see [notes] and [a b] by: me", id="brackets"),
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
    assert not {unicodedata.category(c) for c in line if c not in JOINERS} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not unseen(line)
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


@pytest.mark.parametrize("letter", UNSEEN)
def test_no_character_that_cannot_be_seen_is_left(letter: str) -> None:
    assert one_line(f"a{letter}b").isprintable()
    assert printable(letter, "").isprintable()


def test_what_is_kept_is_named() -> None:
    assert printable("a\tb\nc\0", "?", keep="\n\t") == "a\tb\nc?"


# --- what nobody sees ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "র\u200d্যাব",  # the joiner makes another word
        "ক্\u200cষ",
        "প্রাক্\u200c-",
        "می\u200cخواهم",
        "👨\u200d👩\u200d👧\u200d👦",
        "👩🏽\u200d🚀 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 1\ufe0f\u20e3 ©\ufe0f",
        "葛\U000e0100",
        "a\tb\r\n\x0c",
    ],
)
def test_what_belongs_to_a_word_or_a_picture_stays_letter_by_letter(text: str) -> None:
    assert visible(text) == text == shown(text) and not unseen(text) and not around_unseen(text)


@pytest.mark.parametrize(
    ("text", "left", "owner"),
    [
        ("a\u200db\u200cc", "abc", "a[U+200D]b[U+200C]c"),
        ("র\u200d\u200d্যাব", "র\u200d্যাব", "র\u200d[U+200D]্যাব"),
        ("ব\u200da", "বa", "ব[U+200D]a"),
        ("я\u200dб", "яб", "я[U+200D]б"),
        ("👨\u200dx", "👨x", "👨[U+200D]x"),
        ("👨\u200c👩", "👨👩", "👨[U+200C]👩"),
        ("x\ufe0f😀\ufe0f\ufe01\U000e0101", "x😀\ufe0f", "x[U+FE0F]😀\ufe0f[U+FE01][U+E0101]"),
        ("😀\U000e0101", "😀", "😀[U+E0101]"),
        ("a\u202eb\u2066\u200e\u061c", "ab", "a[U+202E]b[U+2066][U+200E][U+061C]"),
        ("\U000e0041\u200b\u00ad\u2060\ufeff\u3164", "", "[U+E0041][U+200B][U+00AD][U+2060][U+FEFF][U+3164]"),
    ],
)
def test_what_nobody_sees_is_taken_out_and_shown_to_its_owner(text: str, left: str, owner: str) -> None:
    assert (visible(text), shown(text)) == (left, owner)
    assert around_unseen(text) == " ".join(owner.split())


UNSEEN_AND_AROUND = st.text(
    st.sampled_from("a1 র্ষমক👨❤я葛\u200c\u200d\ufe0f\ufe01\u180b\u200b\u202e\U000e0041\U000e0101")
)


@given(UNSEEN_AND_AROUND)
def test_taking_out_twice_is_as_good_as_once_and_takes_no_letter_that_is_seen(text: str) -> None:
    left = visible(text)
    assert visible(left) == left
    assert not unseen(left) and sorted(left + unseen(text)) == sorted(text)
    assert re.sub("[^a1 র্ষমক👨❤я葛]", "", left) == re.sub("[^a1 র্ষমক👨❤я葛]", "", text)
    assert not re.search("[\u200c\u200d]{2}|[a1я ][\u200c\u200d]|^[\u200c\u200d\ufe0f]", left)


OWN_WORDS = (
    "-1 is returned for an empty list",
    "--version prints the version",
    "/healthz answers 200",
    "`total()` and ``a`b``",
    "see [the page](https://example.com/a_b*c) and https://example.com",
    "@alice asked for it in #12",
    "R&amp;D: 1 < 2 > 1",
)


@pytest.mark.parametrize("words", OWN_WORDS)
def test_the_owners_words_stay_letter_by_letter_in_the_owners_own_files(words: str) -> None:
    assert as_written(words) == words
    page = f"# Plan\n\n- goal: {words} (high)\n- {words}: which one?\n"
    assert with_own_words(defuse(page), [words, "", "plan"]) == page


def test_in_the_owners_own_files_nothing_is_fetched_and_no_page_is_shown() -> None:
    assert as_written("<img src=x> ![x](https://a.example)") == "<\u200bimg src=x> !\u200b[x](https://a.example)"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("-1 is returned", "-1 is returned"),
        ("--version prints", "--version prints"),
        ("/healthz answers", "/healthz answers"),
        ("type `rm -rf`", "type 'rm -rf'"),
    ],
)
def test_a_part_of_a_line_keeps_its_words(words: str, told: str) -> None:
    assert harmless(words) == told


# --- links into the owner's own repository -------------------------------------------------------------------

HOME = "https://github.com/you/project"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see [the page](docs/a.md#part)", f"see [the page]({HOME}/blob/main/docs/a.md#part)"),
        ("[x](./README.md) [y](src/)", f"[x]({HOME}/blob/main/README.md) [y]({HOME}/blob/main/src/)"),
        (f"[x]({HOME}/issues/3)", f"[x]({HOME}/issues/3)"),
        (f"look at {HOME} and {HOME}/pull/7", f"look at {HOME} and {HOME}/pull/7"),
        ("[x](../../evil/repo)", "[x] (../../evil/repo)"),
        ("[x](a/%2E%2e/b)", "[x] (a/%2E%2e/b)"),
        ("[x](/etc/x)", "[x] (/etc/x)"),
        ("[x](//evil.example/a)", "[x] (//evil.example/a)"),
        ("[x](javascript:alert)", "[x] (javascript:alert)"),
        (f"[x]({HOME}/../../evil/repo)", "[x] (https[:]//github.com/you/project/../../evil/repo)"),
        (f"[x]({HOME}/a/.%2E/.%2e/%2e./b)", "[x] (https[:]//github.com/you/project/a/.%2E/.%2e/%2e./b)"),
        (f"[x]({HOME}\\..\\..\\evil)", "[x] (https[:]//github.com/you/project\\..\\..\\evil)"),
        (f"[x]({HOME}-evil/a)", "[x] (https[:]//github.com/you/project-evil/a)"),
        ("[x](https://github.com/evil/project)", "[x] (https[:]//github.com/evil/project)"),
    ],
)
def test_links_into_the_own_repository_work_and_no_other(text: str, shown: str) -> None:
    linked = with_links(text, HOME, "main")
    assert defuse(linked, own_place(HOME)) == shown
    assert with_own_links(defuse(linked), HOME) == shown
    assert defuse(shown, own_place(HOME)) == shown, "twice is as once"


@pytest.mark.parametrize("home", ["", "/srv/forge.git", "http://127.0.0.1:8000/you/project"])
def test_a_repository_that_no_browser_finds_has_no_links(home: str) -> None:
    text = "[x](docs/a.md) https://github.com/you/project"
    assert with_links(text, home) == text and own_place(home) == ()
    assert with_own_links(defuse(text), home) == defuse(text)


@pytest.mark.parametrize("text", [f"{HOME}/", "](a/", "](", f"[x]({HOME}/a"])
def test_links_are_looked_for_in_time_that_grows_as_the_text(text: str) -> None:
    begun = time.process_time()
    with_own_links(defuse(with_links(text * (200_000 // len(text)), HOME), own_place(HOME)), HOME)
    assert time.process_time() - begun < 10
