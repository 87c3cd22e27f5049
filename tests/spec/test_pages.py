"""The pages for people: short sentences, links that lead somewhere, and an index that has them all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "docs" / "demo-day" / "prompts"  # what models were asked and answered: no prose of ours
PAGES = [*ROOT.glob("*.md"), *(page for page in ROOT.glob("docs/**/*.md") if page.parent != RECORDED)]
MOST = 20  # words in a sentence, on average of a page

ITEM = re.compile(r"([-*>]|\d+\.)\s+")


def paragraphs(text: str) -> Iterator[str]:
    """Prose: code blocks, comments, tables and headings are left out; each item of a list is one of its own."""
    text = re.sub(r"^```.*?^```[^\n]*$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    found: list[str] = []
    for line in map(str.strip, [*text.split("\n"), ""]):
        begins = ITEM.match(line)
        if (not line or line[0] in "|#" or begins) and found:
            yield " ".join(found)
            found = []
        if line and line[0] not in "|#":
            found.append(line[begins.end() :] if begins else line)


def sentences(text: str) -> Iterator[str]:
    for paragraph in paragraphs(text):
        plain = re.sub(r"`[^`]*`", "code", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph))
        for sentence in re.split(r"(?<=[.!?])[\"')*]*\s+(?=[A-Z*\"(\[]|code)", plain):
            if re.search(r"\w", sentence):
                yield sentence


def words(sentence: str) -> int:
    return len(re.findall(r"\S*\w\S*", sentence))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_short_sentences(page: Path) -> None:
    counted = sorted(((words(one), one) for one in sentences(page.read_text("utf-8"))), reverse=True)
    average = sum(count for count, _ in counted) / max(len(counted), 1)
    assert average <= MOST, f"{average:.1f} words on average; the longest: {counted[:3]}"


def test_what_a_sentence_is() -> None:
    text = "# Title\n\nOne two `a b. c`. Three [four five](x.md).\n\n- six\n- seven\n  eight\n\n| a |\n```\ncode\n```\n"
    assert [words(one) for one in sentences(text)] == [3, 3, 1, 2]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```[^\n]*$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in link]
    is_report = page.name == "report.md"  # a day's: its links lead into the home that made it
    assert [link for link in links if not is_report and not (page.parent / link).exists()] == []


def test_the_index_has_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    missing = [
        path.name for path in ROOT.glob("docs/*.md") if path.name != "README.md" and f"({path.name})" not in index
    ]
    assert missing == []


def test_the_first_page_is_short_and_shows_a_day() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 130
    assert re.search(r"^(!\[|<img )", "\n".join(text.splitlines()[:25]), re.MULTILINE)
