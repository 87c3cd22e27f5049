"""DayAccount -> the report as text: the morning's and the evening's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sisimpur.agents.orchestrator.reports.account import DayAccount, GoalAccount, QuestionAccount, TaskAccount
from sisimpur.agents.orchestrator.reports.deploy_text import deployed
from sisimpur.agents.orchestrator.reports.reflection import how_it_goes
from sisimpur.agents.orchestrator.reports.report_words import (
    MOST,
    QUESTION,
    SHORT,
    Dollars,
    answers,
    at_board,
    at_the_cap,
    brief,
    by_the_hour,
    came_of,
    columns,
    fate,
    few,
    headline,
    in_sentences,
    markdown,
    named,
    points,
    raise_cap,
    savings,
    section,
)
from sisimpur.agents.orchestrator.roadmap.roadmap import RoadmapAccount
from sisimpur.shared.model.evidence import UNSEEN_EFFECT
from sisimpur.shared.model.naming import is_upkeep
from sisimpur.shared.model.text import NOTE, TITLE, as_said, bullets, counted
from sisimpur.shared.money.token_budget import in_cents, in_dollars
from sisimpur.shared.notify.notice import Section

EFFECTS = "What changed for your visitors"
TYPED = re.compile(r"\bpython main\.py(?= (?!--home\b))")  # how code that knows no home names the program
NOBODY = "No task was touched and nothing was spent. What was to be done waits as it was."


def evening(account: DayAccount, command: str, picture: str = "") -> str:
    """reports/daily/DAY.md. `command`: how the owner calls the program; `picture`: a file beside the report."""
    title = f"{account.day}: {headline(account)}"
    if account.kind == "missed":
        return markdown(title, NOBODY, _missed(account))
    shown = f"![{picture_words(account)}]({picture})" if picture else ""
    return markdown(title, shown, sections(account, command))


def sections(account: DayAccount, command: str) -> tuple[Section, ...]:
    return (
        *_missed(account),
        *section("Asked", few(asked(account))),
        *section("Shipped", few(shipped(account))),
        *section(EFFECTS, few(effects(account))),
        *section("Noted", few(noted(account))),
        *section("Deployed", few(deployed(account, command))),
        *section("Looked up", few(looked_up(account))),
        *section("Learned", few(learned(account))),
        *section("Failed, and why", few(failed(account, command))),
        *section("Went wrong", few(wrong(account, command))),
        *section("Waits for you", few(waiting(account, command))),
        *section("How it goes", bullets(how_it_goes(account.reflection))),
        *section("Your notes", few(map(as_said, account.guards))),
        *section("Money", "\n\n".join(filter(None, (bullets(money(account, command)), by_the_hour(account))))),
        *section("Board", _board(account)),
        *section("Tomorrow", few(tomorrow(account, command))),
        *section("Not delivered", few(map(as_said, account.unsent))),
        *section("Audit", bullets(audit(account, command))),
    )


def picture_words(account: DayAccount) -> str:
    """For who cannot see it."""
    return f"what was spent of {in_dollars(account.spent.cap)} hour by hour, and the task board of {account.day}"


# --- what was asked, and what came of it ---------------------------------------------------------------------


def asked(account: DayAccount, is_brief: bool = False) -> Iterator[str]:
    """The goals of the vision; those that were done before in one line. `is_brief`: no cost that `shipped` tells."""
    before = [goal for goal in account.goals if goal.is_done_before]
    yield from (_goal(goal, account, is_brief) for goal in account.goals if not goal.is_done_before)
    for task in account.others:
        origin = "proposed by the team" if is_upkeep(task.id) else "without a goal"
        cost = "" if is_brief and task in account.merged else f"; {_cost(task, in_cents if is_brief else in_dollars)}"
        yield f"{origin}: {named(task)}: {fate(task)}{cost}"
    if before:
        yield f"{counted(len(before), 'goal was', 'goals were')} done before this day"


def _goal(goal: GoalAccount, account: DayAccount, is_brief: bool) -> str:
    told = f"**{as_said(goal.title)}** ({goal.priority}): {came_of(goal)}"
    if is_brief:
        is_told = any(task in account.merged for task in goal.tasks)
        return f"{told}; {in_cents(goal.cost)} so far" if goal.cost and not is_told else told
    so_far = f"; {in_dollars(goal.cost)} so far" if goal.cost else ""
    of_day = f", {in_dollars(goal.cost_of_day)} of it on this day" if 0 < goal.cost_of_day != goal.cost else ""
    return f"{told}{so_far}{of_day}"


def shipped(account: DayAccount, dollars: Dollars = in_dollars) -> Iterator[str]:
    yield from (_shipped(task, dollars) for task in account.merged)


def _shipped(task: TaskAccount, dollars: Dollars) -> str:
    facts = [as_said(task.note), _cost(task, dollars)]
    facts += [counted(task.new_tests, "new test")] if task.new_tests else []
    facts += [points(task.coverage)] if task.coverage is not None else []
    return f"{named(task)}: {', '.join(facts)}"


def effects(account: DayAccount) -> Iterator[str]:
    """A sentence for each merged task, as its reviewer read the change."""
    for task in account.merged:
        later = f" (once `{task.into}` lands)" if task.into else ""
        yield f"{named(task)}: {_effect(task)}{later}"


def _effect(task: TaskAccount) -> str:
    known = {"": "nobody has said what changes for them", UNSEEN_EFFECT: "nothing that they notice"}
    return known.get(task.effect) or as_said(task.effect)


def effects_in_short(account: DayAccount) -> Iterator[str]:
    """For a message: what is noticed; the rest is only counted."""
    seen = tuple(task for task in account.merged if task.effect not in ("", UNSEEN_EFFECT))
    yield from effects(replace(account, goals=(), others=seen))
    unseen = [task for task in account.merged if task.effect == UNSEEN_EFFECT]
    unsaid = [task for task in account.merged if not task.effect]
    if unseen:
        yield f"nothing that they notice: {counted(len(unseen), 'change')}"
    if unsaid:
        yield f"not known for {counted(len(unsaid), 'change')}"


def noted(account: DayAccount) -> Iterator[str]:
    """What was said about merged tasks and their goals, once each: nobody had to read it before they merged."""
    said = {word: task for task in reversed(account.merged) for word in task.words}
    for task in account.merged:
        yield from (f"{named(task)}: {as_said(word)}" for word in task.words if said[word] is task)


def _cost(task: TaskAccount, dollars: Dollars) -> str:
    return f"cost {dollars(task.cost)}"


def looked_up(account: DayAccount, most: int = NOTE) -> Iterator[str]:
    """Each question with what is recommended (`most` characters of it), and the note that tells more."""
    for one in account.research:
        yield f"**{as_said(one.question, TITLE)}**: {as_said(one.recommendation, most)} → `{one.note}`"


def learned(account: DayAccount) -> Iterator[str]:
    """What was added to memory, and whether all of it helps; nothing on a day without work."""
    yield from (as_said(line) for line in account.learned)
    if account.lessons_used and account.kind == "worked":
        yield f"lessons helped {account.lessons_passed} of {counted(account.lessons_used, 'time')} so far"


# --- what needs the owner ------------------------------------------------------------------------------------


def failed(account: DayAccount, command: str) -> Iterator[str]:
    """Of this day, each with its reason and the command that answers."""
    for task in account.failed:
        yield f"{named(task)}: {as_said(task.note)} → {retry(task, command, account.board)}"


def wrong(account: DayAccount, command: str) -> Iterator[str]:
    """Phases that had a problem, what stops the spending, what an engine was refused, what nobody touches."""

    def typed(text: str) -> str:
        """Complete what was said by what knows no home."""
        return TYPED.sub(lambda _: command, text)

    for trouble in account.troubles:
        if not any(line.endswith(f": {trouble.text}") for line in account.blocked):  # it is told with its task
            yield f"{trouble.phase}: {as_said(typed(trouble.text))}"
    if account.stopped:
        yield f"nothing is spent: {as_said(account.stopped)}"
    for task in account.tasks:
        if task.refused and task.is_of_the_day:
            yield f"{named(task)}: {as_said('its engine was refused to write ' + ', '.join(task.refused))}"
    yield from (as_said(typed(line)) for line in account.blocked)


def waiting(account: DayAccount, command: str, most: int = NOTE) -> Iterator[str]:
    """Everything that only the owner can answer, with what he types or opens. `most`: characters of a reason."""
    for task in account.asking:
        asks, room = "; ".join(task.asks), max(most, QUESTION)
        noted = f" (noted: {'; '.join(task.words)})" if task.words else ""
        is_told = most > SHORT or len(asks + noted) <= room  # half a remark says nothing
        why = in_sentences(asks + noted * is_told, room)
        yield f"{named(task)}: {why} → {answer(task, command, account.board)}"
    for task in account.given_up:
        yield f"{named(task)} has failed → {retry(task, command, account.board)}"
    for task in account.stuck:
        ways = ", ".join(f"`{command} {way}`" for way in task.ways)
        here = at_board(account.board, "task/", task.id)
        yield f"{named(task)} {as_said(task.stuck, most)} → {here}one of: {ways}"
    for question in account.questions:
        yield question_with_ways(question, command, account.board, most)


def question_with_ways(question: QuestionAccount, command: str, board: str = "", most: int = NOTE) -> str:
    typed = f", or type `{command} answer {question.id} '...'`" if question.id else ""
    here = at_board(board, "#asked-" if question.id else "", question.id)
    return f"{in_sentences(question.text, max(most, QUESTION))} → {here}reword or remove it in VISION.md{typed}"


def answer(task: TaskAccount, command: str, board: str = "") -> str:
    """What the owner opens, writes or types; a comment at the forge can be written on a phone."""
    typed, here = answers(task.id, command), at_board(board, "review/", task.id)
    if not task.pull.startswith(("https://", "http://")):
        return f"{here}type {typed}" if here else typed
    return f"{here}comment `/approve`, `/reject why` or `/retry why` at {task.pull}, or type {typed}"


def retry(task: TaskAccount, command: str, board: str = "") -> str:
    here = at_board(board, "task/", task.id)
    return f"{here}{'type ' * bool(here)}`{command} retry {task.id} --why '...'`, or reword its goal"


# --- money ---------------------------------------------------------------------------------------------------


def capped(account: DayAccount, command: str) -> Iterator[str]:
    """The day's cap has stopped something: what waits for that, and how it goes on today."""
    if account.is_capped and account.raise_to:
        typed = " ".join((command, *raise_cap(account.raise_to)))
        here = at_board(account.board, "money")
        yield f"{at_the_cap(len(account.going_on))}; to go on now, {here}type: `{typed}`"
    elif account.is_capped:
        yield at_the_cap(len(account.going_on), is_today=False)


def money(account: DayAccount, command: str) -> Iterator[str]:
    yield from capped(account, command)
    spent = account.spent
    lost = f"; {in_dollars(spent.lost)} of it for calls without an answer, at their worst case" if spent.lost else ""
    held = f"; {in_dollars(spent.reserved)} of it reserved" if spent.reserved else ""
    yield f"this day {in_dollars(spent.used)} of {in_dollars(spent.cap)}{lost}{held}"
    yield from _sums(account, in_dollars, 1)


def money_in_brief(account: DayAccount, command: str) -> Iterator[str]:
    """For a message: what its first line and the tasks that merged do not tell."""
    yield from capped(account, command)
    spent = account.spent
    if spent.lost:
        yield f"{in_cents(spent.lost)} for calls without an answer, at their worst case"
    if spent.reserved:
        yield f"{in_cents(spent.reserved)} reserved"
    yield from _sums(account, in_cents, 2)


def _sums(account: DayAccount, dollars: Dollars, least: int) -> Iterator[str]:
    """`least`: from so many merged tasks on, the mean of them is told."""
    if account.overhead:
        yield f"reading the vision, looking things up and planning {dollars(account.overhead)}"
    if len(account.merged) >= least:
        yield f"per merged task {dollars(account.per_merged)}, over all its attempts"
    yield f"this week {dollars(account.week.used)}"
    yield f"this month {dollars(account.month.used)} of {dollars(account.month.cap)}"
    if saved := savings(account.saved, dollars):
        yield f"in this month, {saved}"


# --- where things stand --------------------------------------------------------------------------------------


def _board(account: DayAccount) -> str:
    groups = columns(account).items()
    return bullets(f"{heading} ({len(tasks)}): {_titles(tasks)}" for heading, tasks in groups if tasks)


def _titles(tasks: Sequence[TaskAccount]) -> str:
    rest = f", and {len(tasks) - 5} more" if len(tasks) > 5 else ""
    return ", ".join(f"{as_said(task.title, 60)} (`{task.id}`)" for task in tasks[:5]) + rest


def tomorrow(account: DayAccount, command: str) -> Iterator[str]:
    """What goes on by itself, and what else is to be done. What broke the reading or the plan is mended first."""
    going_on, broken = account.going_on, [one.phase for one in account.troubles if one.phase in ("morning", "planning")]
    if broken:
        yield f"mend what went wrong in {' and '.join(broken)}, then type `{command} run-day`"
    yield from (f"goes on: {named(task)}" for task in going_on[:5])
    if len(going_on) > 5:
        yield f"and {len(going_on) - 5} more tasks"
    yield from (f"does not go on: {named(task)} {as_said(task.held_up, NOTE)}" for task in account.held_up[:5])
    again = [goal.title for goal in account.goals if goal.is_again and goal.title not in account.deferred]
    yield from (f"to be planned: {as_said(title)}" for title in account.deferred)
    yield from (f"to be planned again: {as_said(title)}" for title in again)
    if not (going_on or account.deferred or again or broken):
        others = "answer what waits, or " if account.waiting else ""
        move = ", or move one in ROADMAP.md" if any(goal.placed for goal in account.goals) else ""
        yield f"nothing goes on by itself: {others}write new goals into VISION.md{move}"


def audit(account: DayAccount, command: str) -> Iterator[str]:
    """What proves later that nothing of the record up to here was changed."""
    if head := account.head:
        typed = f"`{command} audit verify --head {head.hash[:12]}`"
        yield f"head `{head.hash}` of {counted(head.rows, 'row')}; whether they are still there tells {typed}"


def _missed(account: DayAccount) -> tuple[Section, ...]:
    """The days before on which nobody was there."""
    if not account.missed:
        return ()
    days = account.missed if len(account.missed) <= 7 else (account.missed[0], "…", account.missed[-1])
    text = f"{counted(len(account.missed), 'day')} without work before this one: {', '.join(days)}"
    return (Section("Missed", text),)


def morning(today: DayAccount, yesterday: DayAccount | None, command: str) -> str:
    """reports/daily/DAY.md until the evening. `yesterday`: the last day with work, if there was one."""
    return markdown(f"Good morning: {today.day}", "", morning_sections(today, yesterday, command))


def morning_sections(
    today: DayAccount, yesterday: DayAccount | None, command: str, dollars: Dollars = in_dollars
) -> tuple[Section, ...]:
    """Until the day is planned the plan is missing."""
    before = section(yesterday.day, brief(_yesterday(yesterday, command, dollars))) if yesterday else ()
    return (
        *section("Missed", ", ".join(today.missed[-7:]) if today.missed else ""),
        *before,
        *section("Deployed", brief(_deployed(today, yesterday, command))),
        *section("Waits for you", brief(waiting(today, command, SHORT))),
        *section("Your notes", brief(map(as_said, today.guards))),
        *section("Went wrong today", brief(wrong(today, command))),
        *section("Plan for today", brief(_plan(today, dollars))),
        *section("Roadmap", brief(roadmap(today.roadmap))),
        *section("Looked up", brief(looked_up(today, SHORT))),
        *section("Not delivered", brief(map(as_said, today.unsent))),
    )


def _yesterday(account: DayAccount, command: str, dollars: Dollars) -> Iterator[str]:
    """Merged, tests, coverage, blocked, spent. Numbers only: the evening's report has the rest."""
    yield headline(account, dollars)
    yield from (f"merged {named(task)}" for task in account.merged[: MOST // 2])
    tests = sum(task.new_tests for task in account.merged)
    changes = [task.coverage for task in account.merged if task.coverage is not None]
    facts = [counted(tests, "test") + " added"] if tests else []
    facts += [points(sum(changes))] if changes else []
    if facts:
        yield ", ".join(facts)
    yield from (f"failed {line}" for line in failed(account, command))
    yield from (f"blocked: {line}" for line in wrong(account, command))


def _deployed(today: DayAccount, yesterday: DayAccount | None, command: str) -> Iterator[str]:
    """What is deployed goes on all night: since the last report. Each once; what is paused is so now."""
    older = yesterday.deploys if yesterday else ()
    new = {one.deploy.number for one in today.deploys}
    before = tuple(one for one in older if one.deploy.number not in new)
    yield from deployed(replace(today, deploys=(*before, *today.deploys)), command)


def _plan(today: DayAccount, dollars: Dollars) -> Iterator[str]:
    if today.plan.tasks:
        few = counted(len(today.plan.tasks), "task")
        yield f"{few}, probably about {dollars(today.plan.forecast)} of {dollars(today.spent.cap)}"
    yield from (as_said(title) for title in today.plan.tasks)
    yield from (f"left for another day: {as_said(title)}" for title in today.deferred)
    yield from (f"upkeep: {as_said(line)}" for line in today.plan.upkeep)


def roadmap(account: RoadmapAccount) -> Iterator[str]:
    """This week's milestone, what is next, the end; what the owner has to know of his file."""
    if account.problem:
        yield as_said(account.problem)
    if account.goals:
        yield f"week of {account.week}: {account.done} of {counted(account.goals, 'goal')} done"
    if account.next:
        yield f"next: {', '.join(as_said(title, SHORT) for title in account.next)}"
    if account.ends:
        later = f", but for {counted(account.later, 'goal')} below Later" if account.later else ""
        yield f"all of it probably by {account.ends}{later}; {account.pace}"
    for text in account.own:
        yield f"“{as_said(text, SHORT)}” in ROADMAP.md is no goal: only VISION.md says what is wanted"
