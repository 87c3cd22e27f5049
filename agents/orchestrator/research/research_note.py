"""Findings -> reports/research/<slug>.md: what is recommended, what it rests on, and how it is taken up. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from sisimpur.shared.model.naming import slug
from sisimpur.shared.model.research import Claim, Findings, Inquiry, Looked, NotRead, Option, WebSource
from sisimpur.shared.model.text import counted, harmless
from sisimpur.shared.money.token_budget import in_dollars

LONG = 1_500  # characters
UNFIT = re.compile(r"[^A-Za-z0-9/:?#@!$&'*+,;=%._~-]")  # ends a link, or is no part of an address


def name_of(inquiry: Inquiry) -> str:
    """Of its note, without the ending; each inquiry has its own."""
    return "-".join(filter(None, (slug(inquiry.text), inquiry.id.removeprefix("r-"))))


def note_path(looked: Looked) -> str:
    """From the home's folder; empty: there is none yet."""
    return f"reports/research/{looked.slug}.md" if looked.slug else ""


def note(
    inquiry: Inquiry,
    findings: Findings,
    read: Sequence[WebSource | NotRead],
    day: str,
    cost: int,
    goal: str = "",
) -> str:
    """`read`: the pages that were asked for. `goal`: the title of the goal that it is about."""
    sources = [page for page in read if isinstance(page, WebSource)]
    pages = {source.url: source for source in sources}
    unread = {page.url: page.why for page in read if isinstance(page, NotRead)}
    about = f"about the goal “{harmless(goal)}”" if goal else "from Ideas in VISION.md"
    parts = (
        f"# {harmless(inquiry.text)}",
        f"Looked up on {day}, {about}; {counted(len(sources), 'page')} read, {in_dollars(cost)}.",
        _section("Recommendation", [harmless(findings.recommendation, LONG), *_doubt(findings)]),
        _section("Options", ["\n".join(_option(option)) for option in findings.options]),
        _section("What it rests on", ["\n".join(_claims(findings.claims, pages))] if findings.claims else []),
        _section("Open", ["\n".join(f"- {harmless(point)}" for point in findings.open_points)]),
        _section("Pages", ["\n".join((*_pages(sources), *_unread(unread)))]),
        _section("To take it up", [_taking_up(goal)] if findings.options else []),
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def _section(title: str, texts: Sequence[str]) -> str:
    body = "\n\n".join(filter(None, texts))
    return f"## {title}\n\n{body}" if body else ""


def _doubt(findings: Findings) -> Iterator[str]:
    if not findings.claims:
        yield "*An opinion: no page that was read holds it up.*"
    if findings.dropped:
        left_out = counted(findings.dropped, "claim was", "claims were")
        yield f"*{left_out} left out: the words do not stand in the page that was named for them.*"


def _option(option: Option) -> Iterator[str]:
    yield f"**{harmless(option.name)}** (effort: {option.effort})"
    yield ""
    yield from (f"- for: {harmless(line)}" for line in option.pros)
    yield from (f"- against: {harmless(line)}" for line in option.cons)


def _claims(claims: Sequence[Claim], pages: Mapping[str, WebSource]) -> Iterator[str]:
    for number, claim in enumerate(claims, 1):
        yield f"{number}. {harmless(claim.text)}"
        yield f"   > {harmless(claim.quote, LONG)}"
        yield ""
        yield f"   {_link(pages[claim.url])}"


def _pages(sources: Sequence[WebSource]) -> Iterator[str]:
    yield from (f"- {_link(source)}" for source in sources)


def _unread(unread: Mapping[str, str]) -> Iterator[str]:
    yield from (f"- not read: `{harmless(url)}`: {harmless(why)}" for url, why in unread.items())


def _link(source: WebSource) -> str:
    """A link of ours to a page that was read: its words are harmless, and its address holds nothing but an address."""
    written = f", written {harmless(source.written)}" if source.written else ""
    return f"[{_words(source)}](<{address(source.url)}>), read {source.day}{written}"


def _words(source: WebSource) -> str:
    return harmless(source.title, 120).translate({ord(mark): " " for mark in "[]<>"}).strip() or harmless(source.url)


def address(url: str) -> str:
    """As it can stand in Markdown: what ends a link there is written otherwise."""
    return UNFIT.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), url)


def _taking_up(goal: str) -> str:
    if goal:
        return "Reword the goal in VISION.md so that it says what you decided."
    return (
        "Move the idea below a priority in VISION.md, in the words of what you decided; without that nothing is done."
    )
