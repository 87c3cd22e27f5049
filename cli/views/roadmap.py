"""`roadmap`: which goal is probably done in which week, at what pace, and what the owner moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sisimpur.agents.orchestrator.roadmap.roadmap import ENOUGH, LATER, Milestone, Pace, Roadmap, RoadmapEntry
from sisimpur.agents.orchestrator.roadmap.roadmap_needs import Sources, room
from sisimpur.agents.orchestrator.roadmap.roadmap_text import pace_line, state_words, week_line
from sisimpur.agents.orchestrator.roadmap.roadmapping import RoadmapOnDisk, looked_at, seen
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import command, print_json, print_line
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.work import Vision
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.token_budget import as_dollars

BAR = 20  # characters of a full bar
TYPICAL_PROMPT = 20_000  # tokens: the price band of a guess


def roadmap(arguments: Arguments) -> int:
    """Print it as it would be written now; changes in ROADMAP.md count, and nothing is written."""
    with open_records(arguments.home, looking=True) as records:
        day, accepted = records.day(), records.plans.accepted()
        vision = accepted.vision if accepted else Vision()
        found, laid = laid_out(records, vision)
    if arguments.json:
        return print_json(roadmap_facts(laid, found))
    if not any(laid.entries):
        print(
            f"no goal read yet; write one in VISION.md, then: {command(arguments.home, 'run-day', '--until morning')}"
        )
    else:
        print_line(pace_line(laid, day), 4)
    for week in laid.weeks:
        print()
        print_line(_heading(week), 4)
        for entry in week.entries:
            print_line(_line(entry, laid.pace), 6)
    if laid.later:
        print("\nLater:")
        for entry in laid.later:
            print_line(_line(entry, laid.pace), 6)
    for line in _remarks(found):
        print()
        print_line(line, 4)
    return 0


def laid_out(records: Records, vision: Vision) -> tuple[RoadmapOnDisk, Roadmap]:
    found = seen(records.home.roadmap, records.roadmap, records.day())
    return found, looked_at(_sources(records), vision, records.day(), found.changes)


def _sources(records: Records) -> Sources:
    settings, policy = records.settings, records.settings.policy
    is_known = len(records.journal.merged_last(ENOUGH)) == ENOUGH  # what tasks cost: to load all prices takes long
    per_token = (0, 0) if is_known else _per_token(records)
    minutes = settings.schedules.phases.work_minutes * policy.capacity.parallel
    day = room(policy.capacity.tasks_per_day, policy.budget.day, minutes, per_token)
    return Sources(records.plans, records.journal, records.spending, records.roadmap, day, records.goal_books)


def _per_token(records: Records) -> tuple[int, int]:
    """Return the coder's price, sent and received, in nano-dollars."""
    agents = records.settings.agents
    rates = Pricing(agents.prices).rates(agents.coder.model, TYPICAL_PROMPT, records.clock.now())
    return rates.input, rates.output


# --- for people ----------------------------------------------------------------------------------------------


def _heading(week: Milestone) -> str:
    bar = f"  [{_bar(week)}] room taken: {week.load} of {week.room} tasks" if week.load or week.room else ""
    over = ", more than there is room for" if week.load > week.room else ""
    return f"{week_line(week)}{bar}{over}"


def _bar(week: Milestone) -> str:
    """Draw the load of a week: at least one mark if there is anything to do."""
    full = min(BAR, -(-week.load * BAR // week.room)) if week.room else BAR
    return "#" * full + "." * (BAR - full)


def _line(entry: RoadmapEntry, pace: Pace) -> str:
    need, mark = entry.need, "; yours" if entry.yours else ""
    box = "x" if entry.is_done else " "
    return f"  [{box}] {need.id}  {need.title} ({need.priority}): {', '.join(state_words(need, pace))}{mark}"


def _remarks(found: RoadmapOnDisk) -> Iterator[str]:
    if found.problem:
        yield found.problem
    for bullet in found.kept.own:
        yield f"your own line in ROADMAP.md, of which nothing is made: {bullet.text}"


# --- for scripts ---------------------------------------------------------------------------------------------


def roadmap_facts(roadmap: Roadmap, found: RoadmapOnDisk) -> dict[str, Any]:
    """Return it in the form of `--json`."""
    pace, ends = roadmap.pace, roadmap.ends
    return {
        "pace": {
            "tasks_per_day": round(float(pace.tasks), 2),
            "cost_per_task": as_dollars(pace.cost),
            "minutes_per_task": pace.minutes,
            "merged": pace.merged,
        },
        "ends": ends.isoformat() if ends else None,
        "weeks": [
            {
                "monday": week.monday.isoformat(),
                "load": week.load,
                "room": week.room,
                "goals": [_goal(one) for one in week.entries],
            }
            for week in roadmap.weeks
        ],
        LATER: [_goal(one) for one in roadmap.later],
        "own": [bullet.text for bullet in found.kept.own],
        "problem": found.problem,
    }


def _goal(entry: RoadmapEntry) -> dict[str, Any]:
    need = entry.need
    return {
        "id": need.id,
        "title": need.title,
        "priority": need.priority.value,
        "yours": entry.yours,
        "done": need.done_on or None,
        "merged": need.merged,
        "open": need.open,
        "to_come": need.to_come,
        "cost": as_dollars(need.cost),
        "note": need.note,
    }
