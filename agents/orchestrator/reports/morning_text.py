"""DayAccount of yesterday -> the morning's page: yesterday in one screen, then today's plan and questions. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agents.orchestrator.reports.account import DayAccount
from agents.orchestrator.reports.deploy_text import deployed
from agents.orchestrator.reports.report_text import failed, looked_up, waiting, wrong
from agents.orchestrator.reports.report_words import MOST, SHORT, brief, headline, markdown, named, points, section
from agents.orchestrator.roadmap.roadmap import RoadmapAccount
from shared.model.text import counted, harmless
from shared.money.token_budget import in_dollars
from shared.notify.notice import Section


def morning(today: DayAccount, yesterday: DayAccount | None, command: str) -> str:
    """reports/daily/DAY.md until the evening. `yesterday`: the last day with work, if there was one."""
    return markdown(f"Good morning: {today.day}", "", sections(today, yesterday, command))


def sections(today: DayAccount, yesterday: DayAccount | None, command: str) -> tuple[Section, ...]:
    """Until the day is planned the plan is missing."""
    before = section(yesterday.day, brief(_yesterday(yesterday, command))) if yesterday else ()
    return (
        *section("Missed", ", ".join(today.missed[-7:]) if today.missed else ""),
        *before,
        *section("Deployed", brief(_deployed(today, yesterday, command))),
        *section("Waits for you", brief(waiting(today, command, SHORT))),
        *section("Went wrong today", brief(wrong(today))),
        *section("Plan for today", brief(_plan(today))),
        *section("Roadmap", brief(roadmap(today.roadmap))),
        *section("Looked up", brief(looked_up(today, SHORT))),
        *section("Not delivered", brief(map(harmless, today.unsent))),
    )


def _yesterday(account: DayAccount, command: str) -> Iterator[str]:
    """Merged, tests, coverage, blocked, spent. Numbers only: the evening's report has the rest."""
    yield headline(account)
    yield from (f"merged {named(task)}" for task in account.merged[: MOST // 2])
    tests = sum(task.new_tests for task in account.merged)
    changes = [task.coverage for task in account.merged if task.coverage is not None]
    facts = [counted(tests, "test") + " added"] if tests else []
    facts += [points(sum(changes))] if changes else []
    if facts:
        yield ", ".join(facts)
    yield from (f"failed {line}" for line in failed(account, command))
    yield from (f"blocked: {line}" for line in wrong(account))


def _deployed(today: DayAccount, yesterday: DayAccount | None, command: str) -> Iterator[str]:
    """What is deployed goes on all night: since the last report. Each once; what is paused is so now."""
    older = yesterday.deploys if yesterday else ()
    new = {one.deploy.number for one in today.deploys}
    before = tuple(one for one in older if one.deploy.number not in new)
    yield from deployed(replace(today, deploys=(*before, *today.deploys)), command)


def _plan(today: DayAccount) -> Iterator[str]:
    if today.plan.tasks:
        few = counted(len(today.plan.tasks), "task")
        yield f"{few}, probably about {in_dollars(today.plan.forecast)} of {in_dollars(today.spent.cap)}"
    yield from (harmless(title) for title in today.plan.tasks)
    yield from (f"left for another day: {harmless(title)}" for title in today.deferred)
    yield from (f"upkeep: {harmless(line)}" for line in today.plan.upkeep)


def roadmap(account: RoadmapAccount) -> Iterator[str]:
    """This week's milestone, what is next, the end; what the owner has to know of his file."""
    if account.problem:
        yield harmless(account.problem)
    if account.goals:
        yield f"week of {account.week}: {account.done} of {counted(account.goals, 'goal')} done"
    if account.next:
        yield f"next: {', '.join(harmless(title, SHORT) for title in account.next)}"
    if account.ends:
        later = f", but for {counted(account.later, 'goal')} below Later" if account.later else ""
        yield f"all of it probably by {account.ends}{later}; {account.pace}"
    for text in account.own:
        yield f"“{harmless(text, SHORT)}” in ROADMAP.md is no goal: only VISION.md says what is wanted"
