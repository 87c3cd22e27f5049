"""Ideas and unknowns -> notes: what the owner wants looked up is looked up once, before the day is planned."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sisimpur.agents.orchestrator.board.session import AgentRuns
from sisimpur.agents.orchestrator.vision.goal_ids import wordings
from sisimpur.shared.model.errors import Misconfigured, ModelAway, OutOfBudget, Refused, Stumble, TeamError, Unavailable
from sisimpur.shared.model.naming import slug
from sisimpur.shared.model.research import Claim, Findings, Inquiry, Looked, NotRead, Option, WebSource, inquiry
from sisimpur.shared.model.text import counted, harmless
from sisimpur.shared.model.work import Run
from sisimpur.shared.money.ledger_reader import LedgerReader
from sisimpur.shared.money.token_budget import in_dollars
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.store.research_book import ResearchRepository
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.paths import write_text

MOST_TRIES = 3  # days on which a question is tried
LONGEST = 100  # characters of a question in a line


@dataclass(frozen=True)
class Researching:
    """`look_up` asks the Researcher; `questions`: the most that are begun on a day."""

    look_up: Callable[[Run, Inquiry], Findings]
    book: ResearchRepository
    plans: PlanRepository
    runs: AgentRuns
    notes: Notes
    questions: int

    def day(self, day: str) -> list[str]:
        """-> what kept questions from being answered. One that fails keeps no other from being looked up.

        Without a model, or money, all wait; what this day's share does not hold waits for another day.
        """
        accepted, problems = self.plans.accepted(), list[str]()
        if accepted is None:
            return problems
        ideas = tuple(dict.fromkeys(inquiry(idea.text) for idea in accepted.vision.ideas))
        self.book.ask(ideas, day)
        open_goals = {question.goal_id for question in self.plans.asked(wordings(accepted.vision))}
        unknown = (one.inquiry for one in self.book.all() if one.inquiry.goal_id in open_goals)
        asked = (*ideas, *unknown)
        for looked in due(self.book.all(), asked, day, self.questions):
            try:
                self._look_up(day, looked.inquiry)
            except (ModelAway, OutOfBudget) as problem:
                if not (isinstance(problem, OutOfBudget) and problem.of == "task"):
                    self.book.put_off(looked.inquiry)
                    raise
                problems.append(self._failed(looked.inquiry, problem))
            except (Stumble, Unavailable, Refused, Misconfigured) as problem:
                problems.append(self._failed(looked.inquiry, problem))
        return problems

    def _look_up(self, day: str, asked: Inquiry) -> None:
        """The note is written before its end is booked: a kill in between writes the same one again, for nothing."""
        tell = self.runs.session.tell
        tell(f"looking up: {asked.text[:LONGEST]}")
        tries = self.book.begins(asked, day)
        with self.runs.unlocked("researcher", asked.id, tries, day) as run:
            findings = self.look_up(run, asked)
        path = self.notes.write(day, asked, findings, self.book.pages(asked), self._goal(asked))
        self.book.answered(asked, day, name_of(asked), findings)
        self.runs.log(run, "looked up", claims=len(findings.claims), dropped=findings.dropped)
        tell(f"note: {path}")

    def _goal(self, asked: Inquiry) -> str:
        accepted = self.plans.accepted()
        goals = accepted.vision.goals if accepted else ()
        return next((one.title for one in goals if one.id == asked.goal_id), "")

    def _failed(self, asked: Inquiry, problem: TeamError) -> str:
        """A service that is away, or a wrong key, is not the question's fault."""
        why = self.notes.clean(str(problem))
        self.book.failed(asked, why, is_counted=not isinstance(problem, Unavailable | Misconfigured))
        told = f"not looked up: {asked.text[:LONGEST]}: {why}"
        self.runs.session.tell(told)
        return told


@dataclass(frozen=True)
class Notes:
    """The files of what was found. `clean`: the filter for outgoing text."""

    folder: Path
    ledger: LedgerReader
    clean: Callable[[str], str]

    def write(
        self, day: str, asked: Inquiry, findings: Findings, pages: Sequence[WebSource | NotRead], goal: str
    ) -> Path:
        """`goal`: the title of the one that it was asked for; empty: of none."""
        spent = self.ledger.spent_by(asked.id).used
        path = self.folder / f"{name_of(asked)}.md"
        write_text(path, self.clean(note(asked, findings, pages, day, spent, goal)))
        fault_point("note.written")
        return path


def due(known: Sequence[Looked], asked: Sequence[Inquiry], day: str, most: int) -> tuple[Looked, ...]:
    """What was cut off today goes on first; `most` are begun on one day, and none on more than MOST_TRIES days."""
    ids = {one.id for one in asked}
    wanted = [one for one in known if one.inquiry.id in ids and not one.answered_on]
    begun = [one for one in wanted if one.tried_on == day and not one.problem]
    fresh = [one for one in wanted if one.tried_on != day and one.tries < MOST_TRIES]
    room = most - sum(one.tried_on == day for one in known)
    return (*begun, *sorted(fresh, key=lambda one: one.tries)[: max(0, room)])


# --- reports/research/<slug>.md ------------------------------------------------------------------------------


LONG = 1_500  # characters
UNFIT = re.compile(r"[^A-Za-z0-9/:?#@!$&'*+,;=%._~-]")  # ends a link, or is no part of an address


def name_of(inquiry: Inquiry) -> str:
    """Of its note, without the ending; each inquiry has its own."""
    return "-".join(filter(None, (slug(inquiry.text), inquiry.id.removeprefix("r-"))))


def note_path(looked: Looked) -> str:
    """From the home's folder; empty: there is none yet."""
    return f"reports/research/{looked.slug}.md" if looked.slug else ""


def note(
    inquiry: Inquiry, findings: Findings, read: Sequence[WebSource | NotRead], day: str, cost: int, goal: str = ""
) -> str:
    """`read`: the pages that were asked for. `goal`: the title of the goal that it is about."""
    sources = [page for page in read if isinstance(page, WebSource)]
    pages = {source.url: source for source in sources}
    unread = (f"- not read: `{harmless(page.url)}`: {harmless(page.why)}" for page in read if isinstance(page, NotRead))
    about = f"about the goal “{harmless(goal)}”" if goal else "from Ideas in VISION.md"
    parts = (
        f"# {harmless(inquiry.text)}",
        f"Looked up on {day}, {about}; {counted(len(sources), 'page')} read, {in_dollars(cost)}.",
        _section("Recommendation", [harmless(findings.recommendation, LONG), *_doubt(findings)]),
        _section("Options", ["\n".join(_option(option)) for option in findings.options]),
        _section("What it rests on", ["\n".join(_claims(findings.claims, pages))] if findings.claims else []),
        _section("Open", ["\n".join(f"- {harmless(point)}" for point in findings.open_points)]),
        _section("Pages", ["\n".join((*(f"- {_link(source)}" for source in sources), *unread))]),
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


def _link(source: WebSource) -> str:
    """A link of ours to a page that was read: its words are harmless, and its address holds nothing but an address."""
    written = f", written {harmless(source.written)}" if source.written else ""
    title = harmless(source.title, 120).translate({ord(mark): " " for mark in "[]<>"}).strip()
    return f"[{title or harmless(source.url)}](<{address(source.url)}>), read {source.day}{written}"


def address(url: str) -> str:
    """As it can stand in Markdown: what ends a link there is written otherwise."""
    return UNFIT.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), url)


def _taking_up(goal: str) -> str:
    if goal:
        return "Reword the goal in VISION.md so that it says what you decided."
    return (
        "Move the idea below a priority in VISION.md, in the words of what you decided; without that nothing is done."
    )
