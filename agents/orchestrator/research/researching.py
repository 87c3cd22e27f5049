"""Ideas and unknowns -> notes: what the owner wants looked up is looked up once, before the day is planned."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from agents.orchestrator.research.research_note import name_of, note
from agents.orchestrator.team import Desk, Team
from agents.orchestrator.vision.goal_ids import wordings
from shared.model.errors import (
    Misconfigured,
    ModelAway,
    OutOfBudget,
    Refused,
    Stumble,
    TaskCapReached,
    TeamError,
    Unavailable,
)
from shared.model.research import Findings, Inquiry, Looked, NotRead, WebSource, inquiry
from shared.system.fault import fault_point
from shared.system.paths import write_text

MOST_TRIES = 3  # days on which a question is tried
LONGEST = 100  # characters of a question in a line


def research_day(desk: Desk, team: Team, day: str) -> list[str]:
    """-> what kept questions from being answered. One that fails keeps no other from being looked up.

    Without a model, or money, all wait; what this day's share does not hold waits for another day.
    """
    accepted, problems = desk.plans.accepted(), list[str]()
    if accepted is None or team.research is None:
        return problems
    ideas = tuple(dict.fromkeys(inquiry(idea.text) for idea in accepted.vision.ideas))
    desk.research.ask(ideas, day)
    open_goals = {question.goal_id for question in desk.plans.asked(wordings(accepted.vision))}
    asked = (*ideas, *_unknowns(desk.research.all(), open_goals))
    for looked in due(desk.research.all(), asked, day, desk.rules.questions):
        try:
            _look_up(desk, team, day, looked.inquiry)
        except (ModelAway, OutOfBudget) as problem:
            if not isinstance(problem, TaskCapReached):
                desk.research.put_off(looked.inquiry)
                raise
            problems.append(_failed(desk, looked.inquiry, problem))
        except (Stumble, Refused, Misconfigured) as problem:
            problems.append(_failed(desk, looked.inquiry, problem))
    return problems


def _unknowns(known: Sequence[Looked], open_goals: Collection[str]) -> Iterator[Inquiry]:
    """What a planner could not know, as long as the owner has not answered what he was asked about the goal."""
    yield from (one.inquiry for one in known if one.inquiry.goal_id in open_goals)


def due(known: Sequence[Looked], asked: Sequence[Inquiry], day: str, most: int) -> tuple[Looked, ...]:
    """What was cut off today goes on first; `most` are begun on one day, and none on more than MOST_TRIES days."""
    ids = {one.id for one in asked}
    wanted = [one for one in known if one.inquiry.id in ids and not one.answered_on]
    begun = [one for one in wanted if one.tried_on == day and not one.problem]
    fresh = [one for one in wanted if one.tried_on != day and one.tries < MOST_TRIES]
    room = most - sum(one.tried_on == day for one in known)
    return (*begun, *sorted(fresh, key=lambda one: one.tries)[: max(0, room)])


def _look_up(desk: Desk, team: Team, day: str, asked: Inquiry) -> None:
    """The note is written before its end is booked: a kill in between writes the same one again, for nothing."""
    assert team.research
    desk.tell(f"looking up: {asked.text[:LONGEST]}")
    tries = desk.research.begins(asked, day)
    with desk.journal.running("researcher", day, desk.clock, asked.id, tries) as run, desk.chair.left():
        findings = team.research(run, asked)
    slug = name_of(asked)
    write_text(desk.home.research / f"{slug}.md", desk.delivery.clean(_note(desk, day, asked, findings)))
    fault_point("note.written")
    desk.research.answered(asked, day, slug, findings)
    desk.log(run, "looked up", claims=len(findings.claims), dropped=findings.dropped)
    desk.tell(f"note: {desk.home.research / f'{slug}.md'}")


def _note(desk: Desk, day: str, asked: Inquiry, findings: Findings) -> str:
    pages = desk.research.pages(asked)
    sources = [page for page in pages if isinstance(page, WebSource)]
    unread = {page.url: page.why for page in pages if isinstance(page, NotRead)}
    accepted = desk.plans.accepted()
    goals = accepted.vision.goals if accepted else ()
    goal = next((one.title for one in goals if one.id == asked.goal_id), "")
    return note(asked, findings, sources, unread, day, desk.ledger.spent_by(asked.id).used, goal)


def _failed(desk: Desk, asked: Inquiry, problem: TeamError) -> str:
    """A service that is away, or a wrong key, is not the question's fault."""
    why = desk.delivery.clean(str(problem))
    desk.research.failed(asked, why, is_counted=not isinstance(problem, Unavailable | Misconfigured))
    told = f"not looked up: {asked.text[:LONGEST]}: {why}"
    desk.tell(told)
    return told
