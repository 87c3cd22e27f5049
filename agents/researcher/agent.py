"""Question -> Findings. Searches, reads, asks a model what to look for next, a few turns long; then code checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, get_args

from sisimpur.shared.llm.prompts import Asker, Prompt, Prompts, quoted
from sisimpur.shared.model.errors import Stumble
from sisimpur.shared.model.research import Claim, Effort, Findings, Inquiry, Option, SearchHit, WebSource, supported
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Run

MOST_RESULTS, MOST_LATER = 8, 4  # of the first search, and of each later one
LONGEST_URL = 200  # characters that are shown of an address
ROOM = 20_000  # bytes of all pages: those of a turn share three fifths of what is left, so that later ones have some,
LEAST = 1_000  # and each has at least this much
LONGEST_QUESTION, LONGEST_PROJECT = 2_000, 1_500  # characters
LAST = "This is the last turn: answer now with what you have."
GO_ON = "Look further, or answer."


class WebLibrary(Protocol):
    """The web, for one question: what was found and read once is there for nothing."""

    def search(self, query: str) -> Sequence[SearchHit]: ...

    def read(self, hit: SearchHit) -> WebSource | str:
        """The page, or why it cannot be used."""


@dataclass(frozen=True)
class ResearchBounds:
    """Bounds of one try at a question. `tokens`: sent and received, of all its turns."""

    turns: int = 5
    tokens: int = 40_000


@dataclass
class _Question:
    """Question with all that was shown.

    What was shown once stays as it is: each turn adds a leaf, and the prompt grows at its end.
    """

    inquiry: Inquiry
    library: WebLibrary

    def __post_init__(self) -> None:
        self.asked: list[str] = []
        self.results: list[SearchHit] = []
        self.sources: list[WebSource] = []
        self.unread: dict[str, str] = {}
        self.leaves: list[str] = []
        self._lines: list[str] = []  # of the leaf that is being written, as its pages
        self._pages: list[WebSource] = []
        self._room = ROOM

    def search(self, query: str) -> None:
        if query in self.asked:
            return
        known = {hit.url for hit in self.results}
        new = [hit for hit in self.library.search(query) if hit.url not in known]
        shown = new[: MOST_LATER if self.asked else MOST_RESULTS]
        self.asked.append(query)
        self._lines.append(f"searched: {query}")
        for number, hit in enumerate(shown, len(self.results) + 1):
            self._lines.append(f"{number}. {one_line(hit.title, 120)} <{one_line(hit.url, LONGEST_URL)}>")
            self._lines.append(f"   {one_line(hit.excerpt, 250)}")
        self.results += shown

    def read(self, number: int) -> None:
        hit = self.results[number - 1]
        if hit.url in self.unread or any(source.url == hit.url for source in self.sources):
            return
        match self.library.read(hit):
            case WebSource() as source:
                self.sources.append(source)
                self._pages.append(source)
            case str() as why:
                self.unread[hit.url] = why
                self._lines.append(f"{number}. cannot be read: {why}")

    def turn_over(self) -> None:
        """Make the next leaf of what was found and read since the last one."""
        self.leaves.append("\n\n".join((*self._found(), *self._read())))
        self._lines, self._pages = [], []

    def _found(self) -> Iterator[str]:
        if self._lines:
            yield quoted("\n".join(self._lines), "results")

    def _read(self) -> Iterator[str]:
        """The pages of this turn share its room; a page's number is its own, not that of the result."""
        share = max(LEAST, self._room * 3 // 5 // max(1, len(self._pages)))
        self._room = max(0, self._room - share * len(self._pages))
        for number, source in enumerate(self._pages, len(self.sources) - len(self._pages) + 1):
            written = f", written {source.written}" if source.written else ""
            shown = passages(source.text, (self.inquiry.text, *self.asked), share)
            yield quoted(f"{one_line(source.url, LONGEST_URL)} (read {source.day}{written})\n{shown}", f"page {number}")


@dataclass(frozen=True)
class Researcher:
    """`tokens_of`: what a question has taken so far. `goes_on`: whether there is usually a turn after this one."""

    asker: Asker
    prompts: Prompts
    tokens_of: Callable[[str], int]
    bounds: ResearchBounds
    goes_on: Callable[[int], bool] = lambda _: True

    def research(self, run: Run, inquiry: Inquiry, project: str, library: WebLibrary) -> Findings:
        """`run.task` is the inquiry's id. `project`: what it is asked for. Errors: the asker's and the library's."""
        question, before = _Question(inquiry, library), self.tokens_of(run.task)
        kept: tuple[int, ...] = ()
        question.search(inquiry.text)
        question.turn_over()
        for turn in range(1, self.bounds.turns + 1):
            taken = self.tokens_of(run.task) - before  # there is room for one turn more if each takes a third
            is_last = turn == self.bounds.turns or taken > self.bounds.tokens // 3
            prompt = self._prompt(question, project, is_last)
            if not is_last and self.goes_on(turn):
                end = prompt.user.rstrip().rindex("\n")
                kept = (*kept, end) if end > max(kept, default=0) else kept  # a turn may have brought nothing new
            reply = self.asker.ask(run, prompt.system, prompt.user, ResearchReply, kept)
            if reply.recommendation.strip():
                return settled(reply, question.sources)
            if is_last or not self._looked_further(reply, question):
                break
            question.turn_over()
        raise Stumble(f"no answer after {turn} turns")

    def _looked_further(self, reply: ResearchReply, question: _Question) -> bool:
        """Say whether it asked for anything at all."""
        there = dict.fromkeys(number for number in reply.read if 0 < number <= len(question.results))
        said = dict.fromkeys(filter(None, (one_line(query, LONGEST_QUERY) for query in reply.searches)))
        numbers, asked = [*there][:MOST_PAGES], [*said][:MOST_SEARCHES]
        for number in numbers:
            question.read(number)
        for query in asked:
            question.search(query)
        return bool(numbers or asked)

    def _prompt(self, question: _Question, project: str, is_last: bool) -> Prompt:
        return self.prompts.render(
            "researcher/research",
            question=quoted(question.inquiry.text[:LONGEST_QUESTION], "question"),
            project=quoted(project[:LONGEST_PROJECT], "project"),
            leaves="\n\n".join(filter(None, question.leaves)),
            turn=f"Pages read so far: {len(question.sources) or '(none yet)'}. {LAST if is_last else GO_ON}",
        )


# --- the model's answer, checked by code, and the passages that it is shown ----------------------------------


MOST_SEARCHES, MOST_PAGES = 2, 3  # per turn
LONGEST_QUERY = 200  # characters
MOST_OPTIONS, MOST_CLAIMS, MOST_POINTS = 5, 10, 4
LONGEST_TEXT, LONGEST_LINE, LONGEST_QUOTE = 1_500, 300, 600


@dataclass(frozen=True)
class OptionReply:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    name: str
    pros: list[str]
    cons: list[str]
    effort: str


@dataclass(frozen=True)
class ClaimReply:
    """`source`: the number of a page that was shown."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    text: str
    source: int
    quote: str


@dataclass(frozen=True)
class ResearchReply:
    """Look further, or answer."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    searches: list[str] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    recommendation: str = ""
    options: list[OptionReply] = field(default_factory=list)
    claims: list[ClaimReply] = field(default_factory=list)
    open_points: list[str] = field(default_factory=list)


def settled(reply: ResearchReply, sources: Sequence[WebSource]) -> Findings:
    """Findings that may be told: claims only with a quote that stands in the page that they name."""
    claims = [_claim(claim, sources) for claim in reply.claims[:MOST_CLAIMS]]
    kept = supported([claim for claim in claims if claim], {source.url: source for source in sources})
    points = (one_line(point, LONGEST_LINE) for point in reply.open_points[:MOST_POINTS])
    return Findings(
        recommendation=one_line(reply.recommendation, LONGEST_TEXT),
        options=tuple(filter(None, map(_option, reply.options[:MOST_OPTIONS]))),
        claims=tuple(dict.fromkeys(kept)),
        open_points=tuple(filter(None, points)),
        dropped=len(reply.claims) - len(kept),
    )


def _claim(reply: ClaimReply, sources: Sequence[WebSource]) -> Claim | None:
    if not 0 < reply.source <= len(sources):
        return None
    text, quote = one_line(reply.text, LONGEST_LINE), one_line(reply.quote, LONGEST_QUOTE)
    return Claim(text, sources[reply.source - 1].url, quote) if text else None


def _option(reply: OptionReply) -> Option | None:
    name = one_line(reply.name, LONGEST_LINE)
    effort: Effort = next((one for one in get_args(Effort) if one == reply.effort.strip().lower()), "unknown")
    return Option(name, _lines(reply.pros), _lines(reply.cons), effort) if name else None


def _lines(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(filter(None, (one_line(text, LONGEST_LINE) for text in texts[:4])))


# --- passages of a page --------------------------------------------------------------------------------------

LONGEST = 900  # characters of one passage
GAP = "[…]"
COMMON = re.compile("and|are|but|can|for|from|has|have|how|not|should|that|the|this|use|was|what|when|with|you")


def passages(text: str, about: Sequence[str], room: int) -> str:
    """Return at most `room` bytes of the text, word for word, with a mark where something was left out.

    Bytes tell tokens better than characters do: a letter of Bengali is three of them, and about a token.
    """
    pieces = list(_pieces(text))
    words = frozenset(word for line in about for word in _words(line))
    ranked = sorted(range(len(pieces)), key=lambda place: (-len(words & set(_words(pieces[place]))), place))
    chosen: set[int] = set()
    for place in ranked:
        if (size := len(f"{pieces[place]}\n{GAP}\n".encode())) <= room:
            chosen.add(place)
            room -= size
    return "\n".join(_joined(pieces, sorted(chosen)))


def _pieces(text: str) -> Iterator[str]:
    """Lines; a long one in parts that end between words."""
    for line in filter(None, (" ".join(line.split()) for line in text.splitlines())):
        rest = line
        while len(rest) > LONGEST:
            cut = rest.rfind(" ", 1, LONGEST)
            cut = cut if cut > 0 else LONGEST
            yield rest[:cut]
            rest = rest[cut:].lstrip()
        yield rest


def _joined(pieces: Sequence[str], chosen: Sequence[int]) -> Iterator[str]:
    last = -1
    for place in chosen:
        if place != last + 1:
            yield GAP
        yield pieces[place]
        last = place
    if chosen and last < len(pieces) - 1:
        yield GAP


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w{3,}", text.casefold()) if not COMMON.fullmatch(word)]
