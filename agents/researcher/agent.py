"""Question -> Findings. Searches, reads, asks a model what to look for next, a few turns long; then code checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from agents.researcher.answer import Reply, one_line, queries, settled, wanted
from agents.researcher.passages import passages
from shared.domain.errors import Stumble
from shared.domain.research import Findings, Hit, Inquiry, Source
from shared.domain.work import Run
from shared.edge.prompts import Prompts, quoted

T = TypeVar("T")

MOST_RESULTS = 20  # shown: the newest, under the numbers that they have
LONGEST_URL = 200  # characters that are shown of an address
ROOM = 20_000  # bytes of all pages in one prompt
LONGEST_QUESTION, LONGEST_PROJECT = 2_000, 1_500  # characters
LAST = "This is the last turn: answer now with what you have."


class Asker(Protocol):
    """Whoever answers a prompt in the form that is asked for."""

    def ask(self, run: Run, system: str, user: str, answer: type[T]) -> T: ...


class Library(Protocol):
    """The web, for one question: what was found and read once is there for nothing."""

    def search(self, query: str) -> Sequence[Hit]: ...

    def read(self, hit: Hit) -> Source | str:
        """The page, or why it cannot be used."""
        ...


@dataclass(frozen=True)
class Bounds:
    """Of one try at a question. `tokens`: sent and received, of all its turns."""

    turns: int = 5
    tokens: int = 40_000


@dataclass
class _Desk:
    """What lies there: results by number, the pages that were read, and what could not be."""

    inquiry: Inquiry
    library: Library

    def __post_init__(self) -> None:
        self.asked: list[str] = []
        self.results: list[Hit] = []
        self.sources: list[Source] = []
        self.unread: dict[str, str] = {}

    def search(self, query: str) -> None:
        if query in self.asked:
            return
        self.asked.append(query)
        known = {hit.url for hit in self.results}
        self.results += [hit for hit in self.library.search(query) if hit.url not in known]

    def read(self, number: int) -> None:
        hit = self.results[number - 1]
        if hit.url in self.unread or any(source.url == hit.url for source in self.sources):
            return
        match self.library.read(hit):
            case Source() as source:
                self.sources.append(source)
            case str() as why:
                self.unread[hit.url] = why


class Researcher:
    """`tokens_of`: what a question has taken so far."""

    def __init__(self, asker: Asker, prompts: Prompts, tokens_of: Callable[[str], int], bounds: Bounds) -> None:
        self._asker = asker
        self._prompts = prompts
        self._tokens_of = tokens_of
        self._bounds = bounds

    def research(self, run: Run, inquiry: Inquiry, project: str, library: Library) -> Findings:
        """`run.task` is the inquiry's id. `project`: what it is asked for. Errors: the asker's and the library's."""
        desk, before = _Desk(inquiry, library), self._tokens_of(run.task)
        desk.search(inquiry.text)
        for turn in range(1, self._bounds.turns + 1):
            is_last = turn == self._bounds.turns or not self._has_room(self._tokens_of(run.task) - before)
            reply = self._ask(run, desk, project, is_last)
            if reply.answers:
                return settled(reply, desk.sources)
            if is_last or not self._looked_further(reply, desk):
                break
        raise Stumble(f"no answer after {turn} turns")

    def _has_room(self, tokens: int) -> bool:
        """For this turn and one more, if each takes a third of what there is. `tokens`: of this try so far."""
        return tokens <= self._bounds.tokens // 3

    def _looked_further(self, reply: Reply, desk: _Desk) -> bool:
        """Whether it asked for anything at all."""
        numbers, asked = wanted(reply, len(desk.results)), queries(reply)
        for number in numbers:
            desk.read(number)
        for query in asked:
            desk.search(query)
        return bool(numbers or asked)

    def _ask(self, run: Run, desk: _Desk, project: str, is_last: bool) -> Reply:
        prompt = self._prompts.render(
            "researcher/research",
            question=quoted(desk.inquiry.text[:LONGEST_QUESTION], "question"),
            project=quoted(project[:LONGEST_PROJECT], "project"),
            found=quoted("\n".join(_found(desk)), "results"),
            pages="\n\n".join(_pages(desk)) or "(none yet)",
            turn=LAST if is_last else "",
        )
        return self._asker.ask(run, prompt.system, prompt.user, Reply)


def _found(desk: _Desk) -> Iterator[str]:
    yield from (f"searched: {query}" for query in desk.asked)
    first = max(0, len(desk.results) - MOST_RESULTS)
    for number, hit in enumerate(desk.results[first:], first + 1):
        mark = f" (cannot be read: {desk.unread[hit.url]})" if hit.url in desk.unread else ""
        yield f"{number}. {one_line(hit.title, 120)} <{one_line(hit.url, LONGEST_URL)}>{mark}"
        yield f"   {one_line(hit.excerpt, 250)}"


def _pages(desk: _Desk) -> Iterator[str]:
    """Each has its share of the room; its number is that of the page, not of the result."""
    about = (desk.inquiry.text, *desk.asked)
    for number, source in enumerate(desk.sources, 1):
        written = f", written {source.written}" if source.written else ""
        shown = passages(source.text, about, ROOM // len(desk.sources))
        yield quoted(f"{one_line(source.url, LONGEST_URL)} (read {source.day}{written})\n{shown}", f"page {number}")
