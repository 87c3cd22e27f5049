"""What a page says, however it is written; and what a page does that wants to keep us busy."""

from __future__ import annotations

import json
import sys

import pytest

from sisimpur.agents.researcher.web.web_page import PageText, page_text
from sisimpur.shared.model.errors import Refused
from tests.edges.web_scene import worked

PARAGRAPHS = "".join(
    f"<p>Paragraph {n} of the article tells that the rain in Spain stays mainly in the plain, number {n * 7}.</p>"
    for n in range(8)
)


def html(body: str = PARAGRAPHS, head: str = "<title>A title</title>", charset: str = "utf-8") -> PageText:
    page = f"<!DOCTYPE html><html><head>{head}</head><body><article>{body}</article></body></html>"
    return page_text(page.encode(charset), "text/html", charset)


def test_the_words_of_an_article_are_kept_and_its_surroundings_are_not() -> None:
    body = (
        "<nav><a href='/'>Home</a> <a href='/login'>Log in</a></nav><h2>Install</h2>"
        + PARAGRAPHS
        + "<pre><code>pip install dates\npython -m dates</code></pre><ul><li>first point</li></ul>"
        + "<table><tr><th>Version</th><th>Python</th></tr><tr><td>2.1</td><td>3.11</td></tr></table>"
        + "<p>See <a href='https://evil.example/?q=1'>the manual</a> for more.</p>"
        + "<script>alert('x')</script><style>p { color: red }</style>"
    )
    found = html(body)
    for words in ("Paragraph 3 of the article", "pip install dates", "first point", "2.1", "See the manual for more."):
        assert words in found.text
    for words in ("Log in", "evil.example", "alert", "color"):
        assert words not in found.text


@pytest.mark.parametrize(
    ("head", "written"),
    [
        ('<meta property="article:published_time" content="2026-03-04T23:30:00+05:00">', "2026-03-04"),
        (
            '<script type="application/ld+json">{"@type": "Article", "datePublished": "2025-12-31"}</script>',
            "2025-12-31",
        ),
        ('<meta name="date" content="2026-13-45">', ""),
        ("", ""),
    ],
)
def test_the_day_is_what_the_page_says(head: str, written: str) -> None:
    assert html(head=head).written == written


@pytest.mark.parametrize(
    ("data", "kind", "charset", "says"),
    [
        pytest.param("Grüße".encode(), "text/plain", "", "Grüße", id="nothing is said: UTF-8"),
        pytest.param("Grüße".encode("latin-1"), "text/plain", "ISO-8859-1", "Grüße", id="as the server says"),
        pytest.param(b"it\x92s \x93so\x94", "text/plain", "iso-8859-1", "it’s “so”", id="as the web means Latin-1"),
        pytest.param("Grüße an alle".encode("utf-16"), "text/plain", "", "Grüße an alle", id="as the bytes begin"),
        pytest.param("Grüße".encode("utf-8-sig"), "text/plain", "latin-1", "Grüße", id="the bytes know better"),
        pytest.param("Grüße".encode(), "text/plain", "nonsense", "Grüße", id="no known name"),
        pytest.param("Grüße".encode(), "text/plain", "zlib", "Grüße", id="no encoding of text"),
        pytest.param("Grüße".encode(), "text/plain", "unicode_escape", "Grüße", id="one of Python's own"),
        pytest.param("Grüße".encode(), "text/plain", "-I", "Grüße", id="an option"),
        pytest.param("日本語のテキストです。".encode("shift_jis"), "text/plain", "Shift_JIS", "日本語", id="Japanese"),
        pytest.param(b"# Title\n\nwords", "text/markdown", "", "# Title\n\nwords", id="Markdown"),
    ],
)  # fmt: skip
def test_a_text_is_read_in_its_encoding(data: bytes, kind: str, charset: str, says: str) -> None:
    assert says in page_text(data, kind, charset).text


@pytest.mark.parametrize(
    ("declared", "written", "words"),
    [("iso-8859-2", "iso-8859-2", "Zażółć gęślą jaźń."), ("iso-8859-1", "cp1252", "“It’s so”, he said.")],
)
def test_a_page_may_say_itself_how_it_is_written(declared: str, written: str, words: str) -> None:
    head = f'<html><head><meta charset="{declared}"></head>'
    page = f"{head}<body><article>{PARAGRAPHS}<p>{words}</p></article></body></html>"
    assert words in page_text(page.encode(written), "text/html", "").text


def test_a_page_of_the_stricter_kind_is_read_too() -> None:
    start = '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
    page = f"{start}<head><title>Grüße</title></head><body>{PARAGRAPHS}</body></html>"
    assert page_text(page.encode(), "application/xhtml+xml", "").title == "Grüße"


def test_a_title_is_one_line_and_a_text_is_bounded() -> None:
    found = page_text(b"# Words\n" + b"x" * 500_000, "text/plain", "")
    assert found.title == "Words"
    assert len(found.text) == 200_000
    assert html(head=f"<title>A\n\tlong{'g' * 999}</title>").title == "A long" + "g" * 194


def test_nothing_in_it_controls_a_terminal_or_is_hidden() -> None:
    bad = "\x1b[31m\x07\x00\x85\u202e\u2066\U000e0041\ufeff"
    found = page_text(f"one{bad}\r\ntwo\tthree".encode(), "text/plain", "utf-8")
    assert found.text == "one[31m\n\ntwo\tthree"  # U+0085 ends a line
    assert found.title == "one[31m"
    head = '<script type="application/ld+json">{"@type": "Article", "headline": "a\\ud800b"}</script>'
    json.dumps(html(head=head).title).encode("ascii")
    html(head=head).title.encode()  # half a character cannot be stored


IN_TIME = "no text|within 1 s"  # the second on a machine that is busy, as we ask for


@pytest.mark.parametrize(
    ("page", "why"),
    [
        pytest.param(b"<html></html>", "no text", id="an empty page"),
        pytest.param(b"<html><body>" + b"<div>" * 10_000 + b"deep" + b"</div>" * 10_000, IN_TIME, id="10,000 deep"),
        pytest.param(b"<" * 2_000_000, "no text", id="nothing but begins"),
        pytest.param(
            b"<html><body><p " + b" ".join(b'a%d="x"' % n for n in range(180_000)) + b">text", "within 1 s",
            id="2 MB of attributes",
        ),
        pytest.param(b"<html><body>" + b"<p>y" * 400_000, "within 1 s", id="2 MB of paragraphs"),
    ],
)  # fmt: skip
def test_a_page_that_keeps_a_parser_busy_is_refused_in_time(page: bytes, why: str) -> None:
    before = worked()
    with pytest.raises(Refused, match=why):
        page_text(page, "text/html", "", cpu_seconds=1)
    assert worked() - before < 1.5


def test_a_parser_that_wants_all_the_memory_does_not_get_it() -> None:
    """The limits hold in the process that reads: it is asked itself."""
    from sisimpur.agents.researcher.web.web_page import PROGRAM
    from sisimpur.shared.system.process import run

    code = (
        f"import runpy, resource; ours = runpy.run_path({str(PROGRAM)!r}); ours['_limit'](3)\n"
        "print(*(resource.getrlimit(w)[1] for w in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE)))\n"
        "try: bytearray(2 << 30)\nexcept MemoryError: print('no')"
    )
    done = run((sys.executable, "-I", "-c", code), env={}, timeout=30)
    assert done.text.split() == [str(1 << 30), "3", "0", "no"], done.complaint
