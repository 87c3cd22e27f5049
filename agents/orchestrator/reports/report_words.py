"""The small words of reports: titles of strangers made as_said, amounts, counts, commands. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from sisimpur.shared.model.lifecycle import Event, State
from sisimpur.shared.model.text import TITLE, as_said, bullets, counted, harmless, literal
from sisimpur.shared.money.token_budget import amount, dollars, in_cents, in_dollars

if TYPE_CHECKING:  # `status` and `budget` say some of these words, and load no account of a day
    from sisimpur.agents.orchestrator.reports.account import DayAccount, GoalAccount, TaskAccount
    from sisimpur.shared.money.savings import Saved
    from sisimpur.shared.notify.notice import Section

Dollars = Callable[[int], str]  # nano-dollars, as they are told
EXACT = re.compile(r"\$([0-9]{1,7}\.[0-9]{3,9})(?![0-9])")
HOURS = 24
BAR = 40  # characters of a full bar
DROPPED = "Dropped"  # lies in the folder of what failed, and has not: somebody did not want it any more
SHORT = 100  # characters of a reason in a message, and on the morning's screen: it was told in one of its own
QUESTION = 300  # of a question: it has to be read to be answered
MOST, ROOM = 8, 950  # lines and characters of one section there: chats cut what is longer; the report has it all

COLUMNS = {
    State.BACKLOG: "To do",
    State.IN_PROGRESS: "In progress",
    State.IN_REVIEW: "At the gates",
    State.COMPLETED: "Done",
    State.FAILED: "Failed",
}


def in_sentences(text: str, most: int) -> str:
    """Harmless words, whole, or as many whole sentences of them as there is room for."""
    line = harmless(text, len(text) + most)
    if len(line) <= most:
        return literal(line)
    end = max(line.rfind(mark, 0, most) for mark in (". ", "? ", "! ", "; "))
    return f"{as_said(line[: end + 1])} […]" if end > most // 4 else as_said(text, most)


def named(task: TaskAccount) -> str:
    return f"**{as_said(task.title, TITLE)}** (`{task.id}`)"


def at_board(board: str, page: str, id_: str = "") -> str:
    """The first of the ways to answer: a page of the owner's board; empty: messages carry no link to it."""
    is_plain = re.fullmatch("[A-Za-z0-9._-]*", id_)  # of another name no address is made
    return f"open {board}/{page}{id_} or " if board and is_plain else ""


def answers(task: str, command: str) -> str:
    """What the owner can type about a change that waits for him."""
    return f"`{command} approve {task}`, or `reject` or `retry` with `--why '...'`"


def in_channel(*words: str) -> str:
    """What the owner can write in his channel, where a bot of his listens: one line for all that waits there."""
    told = ", ".join(f"`{one}`" for one in words)
    return f"In your Discord channel you can answer, with a message of its own: {told}"


def orders(task: str = "ID") -> tuple[str, ...]:
    """About a change that waits."""
    return f"/approve {task}", f"/reject {task} why", f"/retry {task} what to do differently"


def savings(saved: Saved, said: Dollars = in_dollars) -> str:
    """A loss is told as one; empty: there is neither."""
    by = {"prompt caching": saved.caching, "the cheaper model on easy tasks": saved.routing}
    told = (
        f"{name} {'saved' if nano > 0 else 'cost'} {said(abs(nano))}{'' if nano > 0 else ' more than it saved'}"
        for name, nano in by.items()
        if nano
    )
    return "; ".join(told)


def rounded(text: str) -> str:
    """The exact amounts of the meter's words, in cents."""
    return EXACT.sub(lambda found: in_cents(dollars(found[1])), text)


def at_the_cap(waiting: int, is_today: bool = True) -> str:
    """A day's cap has stopped a call; `waiting`: tasks that go on when there is money again."""
    stopped = "today's cap is reached" if is_today else "the cap of this day was reached"
    until = "tomorrow" if is_today else "the next day"
    return f"{stopped}; {counted(waiting, 'task waits', 'tasks wait')} for {until}" if waiting else stopped


def raise_cap(to: int) -> tuple[str, str]:
    """What the owner types, after the program's name, to go on today."""
    return "raise-cap", amount(to)


def points(change: float) -> str:
    """A change of coverage."""
    return f"coverage {change:+.1f} points"


def few(lines: Iterable[str], most: int = 30, room: int = 20_000) -> str:
    """Bullets, at most so many and in so many characters; a number says how many more there are. None is cut."""
    found, taken = list(lines), list[str]()
    for line in found[:most]:
        room -= len(bullets([line])) + bool(taken)
        if room < 0:
            break
        taken.append(line)
    rest = len(found) - len(taken)
    return bullets([*taken, *([f"and {rest} more"] if rest else [])])


def brief(lines: Iterable[str]) -> str:
    """What fits into a message, and on one screen."""
    return few(lines, MOST, ROOM)


def section(heading: str, text: str) -> tuple[Section, ...]:
    """None for nothing to say."""
    from sisimpur.shared.notify.notice import Section

    return (Section(heading, text),) if text else ()


def markdown(title: str, lead: str, sections: Iterable[Section]) -> str:
    parts = [f"# {title}", lead, *(f"## {one.heading}\n\n{one.text}" for one in sections)]
    return "\n\n".join(part for part in parts if part) + "\n"


def columns(account: DayAccount) -> dict[str, tuple[TaskAccount, ...]]:
    """The board by its headings. What ended on another day does not stand there, unless it waits for the owner."""
    shown = [task for task in account.tasks if task.is_open or task.is_of_the_day or task.failed]
    found = {heading: tuple(task for task in shown if task.state is state) for state, heading in COLUMNS.items()}
    failed = COLUMNS[State.FAILED]
    dropped = tuple(task for task in found[failed] if not task.failed)
    return found | {failed: tuple(task for task in found[failed] if task.failed), DROPPED: dropped}


def spent_by_hour(account: DayAccount) -> list[int]:
    """What is spent of the day's cap by the end of each hour, in nano-dollars; never beyond the cap."""
    used = (sum(one.amount for one in account.course if one.minute < 60 * (hour + 1)) for hour in range(HOURS))
    return [min(amount, account.spent.cap) for amount in used]


# --- what came of it -----------------------------------------------------------------------------------------


def fate(task: TaskAccount) -> str:
    """Where a task stands, in a word or two."""
    if task.asks or task.stuck:
        return "waits for you"
    words = {
        Event.MERGED: "merged",
        Event.EXHAUSTED: "failed",
        Event.GIVEN_BACK: "given back to the planner",
        Event.DONE_BY_OWNER: "done by you",
        Event.CANCELLED: "cancelled by you",
        Event.GOAL_REMOVED: "dropped",
        Event.DELETED: "deleted by you",
    }
    known = words.get(task.ended, "") if task.ended else ""
    return known or COLUMNS.get(task.state, "gone").lower()


def came_of(goal: GoalAccount) -> str:
    """What became of a goal."""
    told = [fate(task) for task in goal.tasks]
    words = [f"{told.count(word)} {word}" if len(told) > 1 else word for word in dict.fromkeys(told)]
    words += ["a question for you"] if goal.is_asked_about else []
    words += ["for another day"] if goal.is_deferred else []
    words += [goal.placed] if goal.placed else []
    words += [f"on {goal.grows_on}"] if goal.grows_on else []
    words += [as_said(goal.told)] if goal.told else []
    return ", ".join(words) or "not planned yet"


def headline(account: DayAccount, said: Dollars = in_dollars) -> str:
    """The day in one line: what a reader of nothing else should know."""
    from sisimpur.shared.model.deployment import DeployStage

    if account.kind == "missed":
        return "nobody was at work: the machine, or the team, was off"
    growing, failed, asked = sum(bool(one.into) for one in account.merged), len(account.failed), account.waiting
    merged = len(account.merged) - growing
    stuck, deployed = account.deployed(DeployStage.STUCK), account.deployed(DeployStage.HEALTHY)
    words = ["a deploy needs you"] if stuck else []
    words += [f"{merged} merged"] if merged else []
    words += [f"{growing} merged into a goal's own branch"] if growing else []
    words += [f"{counted(deployed, 'deploy')}"] if deployed else []
    words += [f"{back} rolled back"] if (back := account.deployed(DeployStage.RETURNED)) else []
    words += [f"{failed} failed"] if failed else []
    words += [f"{counted(asked, 'thing')} {'waits' if asked == 1 else 'wait'} for you"] if asked else []
    words += [f"{counted(len(account.troubles), 'phase')} had a problem"] if account.troubles else []
    words += ["cut off before its evening"] if account.kind == "cut off" else []
    if account.kind == "idle":
        words = ["nothing to do", *words]
    return ", ".join([*(words or ["at work"]), f"{said(account.spent.used)} of {said(account.spent.cap)} spent"])


def by_the_hour(account: DayAccount) -> str:
    """What was spent of the cap after the last spending of each hour that had one."""
    cap, spent = account.spent.cap, spent_by_hour(account)
    if not account.course or not cap:
        return ""
    last = {spending.minute // 60: spending.minute % 60 for spending in account.course}
    rows = [("before", 0), *((f"{hour:02d}:{minute:02d}", spent[hour]) for hour, minute in last.items())]
    lines = [f"{when:<6} {in_dollars(amount):>9} {_bar(amount, cap)}" for when, amount in rows]
    return "\n".join(("Spent of the day's cap:", "", "```", *lines, "```"))


def _bar(amount: int, cap: int) -> str:
    full = amount * BAR // cap
    return "#" * full + "." * (BAR - full)
