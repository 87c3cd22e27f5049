"""DayAccount -> Notice: the one message of the day, and those that cannot wait. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sisimpur.agents.orchestrator.publishing.gate_text import digest
from sisimpur.agents.orchestrator.reports import report_text
from sisimpur.agents.orchestrator.reports.account import DayAccount, QuestionAccount, TaskAccount
from sisimpur.agents.orchestrator.reports.deploy_text import deployed
from sisimpur.agents.orchestrator.reports.reflection import in_one_line
from sisimpur.agents.orchestrator.reports.report_text import morning_sections
from sisimpur.agents.orchestrator.reports.report_words import (
    MOST,
    SHORT,
    at_board,
    brief,
    few,
    headline,
    in_channel,
    named,
    orders,
    rounded,
    section,
)
from sisimpur.shared.machine.pressure import Tight, forbids
from sisimpur.shared.model.deployment import DeployStage
from sisimpur.shared.model.text import as_said, bullets, counted
from sisimpur.shared.money.token_budget import in_cents
from sisimpur.shared.notify.notice import Notice, Picture, Section, Tone, key_of_day
from sisimpur.shared.store.plan_book import Trouble

LONGEST = 3_000  # characters of a message that has no sections: chats cut what is longer

# --- the message of the day ----------------------------------------------------------------------------------


def morning(today: DayAccount, yesterday: DayAccount | None, command: str) -> Notice:
    """Sent first; the day goes on in the same message."""
    parts = morning_sections(today, yesterday, command, in_cents)
    lead = _lead(today, "the plan follows" if not today.plan.tasks else "planned")
    return Notice(key_of_day(today.day), f"{today.day}: good morning", lead, _tone(today), parts)


def progress(today: DayAccount, command: str) -> Notice:
    """While the team works."""
    return Notice(key_of_day(today.day), f"{today.day}: at work", _lead(today), _tone(today), _parts(today, command))


def evening(account: DayAccount, command: str, png: bytes = b"", dark: bytes = b"") -> Notice:
    """`png`, `dark`: the day's picture, for a light and a dark ground."""
    shown = Picture(f"{account.day}.png", png, report_text.picture_words(account), dark) if png else None
    title = f"{account.day}: the day's report"
    foot = "\n".join(f"Audit: {line}" for line in report_text.audit(account, command))
    told = Notice(key_of_day(account.day), title, _lead(account), _tone(account), _parts(account, command), shown)
    return replace(told, foot=foot)


def _lead(account: DayAccount, *more: str) -> str:
    where = f"The whole report: `reports/daily/{account.day}.md`"
    has_plan = any("approve plan" in task.ways for task in account.stuck)
    ways = ("/answer GOAL your words", *["/approve plan"] * has_plan)
    heard = [in_channel(*orders(), *ways)] if account.heard and account.waiting else []
    return "\n".join((", ".join((headline(account, in_cents), *more)), where, *heard))


def _parts(account: DayAccount, command: str) -> tuple[Section, ...]:
    """What waits for the owner comes first: what does not fit into a message is dropped from its end."""
    text = report_text
    return (
        *section("Waits for you", brief(text.waiting(account, command, SHORT))),
        *section("Went wrong", brief(map(rounded, text.wrong(account, command)))),
        *section("Deployed", brief(deployed(account, command))),
        *section("Shipped", brief(text.shipped(account, in_cents))),
        *section(text.EFFECTS, brief(text.effects_in_short(account))),
        *section("Failed, and why", brief(text.failed(account, command))),
        *section("Looked up", brief(text.looked_up(account, SHORT))),
        *section("Asked", brief(text.asked(account, is_brief=True))),
        *section("Money", bullets(text.money_in_brief(account, command))),
        *section("How it goes", bullets(in_one_line(account.reflection))),
        *section("Tomorrow", brief(text.tomorrow(account, command))),
        *section("Not delivered", brief(map(as_said, account.unsent))),
    )


def _tone(account: DayAccount) -> Tone:
    is_bad = account.failed or account.troubles or account.stopped or account.deployed(DeployStage.STUCK)
    if is_bad or account.kind == "cut off":
        return Tone.BAD
    held = account.deploys_paused or account.deploys_refused
    if account.waiting or held or account.deployed(DeployStage.RETURNED, DeployStage.FAILED):
        return Tone.ATTENTION
    return Tone.GOOD if account.merged or account.deployed(DeployStage.HEALTHY) else Tone.PLAIN


# --- what cannot wait ----------------------------------------------------------------------------------------


def asks(day: str, task: TaskAccount, attempt: int, command: str, board: str = "", heard: bool = False) -> Notice:
    """A change waits for the owner. Other reasons are another message, and so is another attempt's change.

    `board`: the address of the owner's board; empty: there is no link to it. `heard`: as in DayAccount.
    """
    key = f"{day}:{task.id}:waiting-{attempt}-{digest(chr(10).join(task.asks))}"
    text = "\n\n".join((named(task), bullets(map(as_said, task.asks)), report_text.answer(task, command, board)))
    text += f"\n\n{in_channel(*orders(task.id))}" if heard else ""
    return Notice(key, f"Waits for you: {as_said(task.title, 150)}", text, Tone.ATTENTION, waits=task.id)


def gave_up(day: str, task: TaskAccount, attempt: int, command: str, board: str = "", heard: bool = False) -> Notice:
    """Again after a retry is another message, also for the same reason."""
    key = f"{day}:{task.id}:failed-{attempt}-{digest(task.note)}"
    text = "\n\n".join((named(task), as_said(task.note, 1_000), report_text.retry(task, command, board)))
    text += f"\n\n{in_channel(orders(task.id)[-1])}" if heard else ""
    return Notice(key, f"Failed: {as_said(task.title, 150)}", text, Tone.BAD, waits=task.id, asks="failed")


def questions(
    day: str, asked: Mapping[str, QuestionAccount], command: str, board: str = "", heard: bool = False
) -> Notice:
    """What was not asked before, in one message. `asked`: by what makes each one question."""
    text = few((report_text.question_with_ways(one, command, board) for one in asked.values()), MOST, LONGEST)
    ids = [one.id for one in asked.values() if one.id]
    goal = ids[0] if len(ids) == 1 else "GOAL"
    text += f"\n\n{in_channel(f'/answer {goal} your words')}" if heard and ids else ""
    title = f"{counted(len(asked), 'question waits', 'questions wait')} for you"
    waits = ", ".join(ids[:3]) + ", …" * (len(ids) > 3) or "VISION.md"
    return Notice(f"{day}:questions:{'-'.join(asked)}", title, text, Tone.ATTENTION, waits=waits, asks="question")


def plan(
    day: str, waiting: Mapping[str, str], forecast: int, command: str, board: str = "", heard: bool = False
) -> Notice:
    """Tasks that begin with the owner's yes: title by what makes it one task. `forecast`: of the whole day's plan."""
    titles = few((as_said(one, 150) for one in waiting.values()), MOST, LONGEST)
    costs = f", probably about {in_cents(forecast)} in all" if forecast else ""
    text = f"{counted(len(waiting), 'task')}{costs}:\n\n{titles}\n\n"
    text += f"{at_board(board, 'plan')}type `{command} approve plan`, or `cancel plan` to drop all of it"
    text += f"\n\n{in_channel('/approve plan')}" if heard else ""
    key = f"{day}:plan:{'-'.join(waiting)}"
    return Notice(key, "A plan waits for you", text, Tone.ATTENTION, waits=counted(len(waiting), "task"), asks="plan")


def phase_failed(day: str, trouble: Trouble) -> Notice:
    key = f"{day}:phase:{trouble.phase}-{digest(trouble.text)}"
    return Notice(key, f"{day}: a problem in {trouble.phase}", as_said(trouble.text, 1_000), Tone.BAD)


def outage(day: str, service: str, verb: str, words: str) -> Notice:
    title = f"{day}: {service} {verb}"
    again = "It is tried again from time to time; nothing is lost."
    text = f"{as_said(words, 1_000)}\n\n{again}" if words else "Work goes on."
    return Notice(f"{day}:outage:{service}", title, text, Tone.ATTENTION if words else Tone.GOOD)


def model_paused(day: str, reason: str) -> Notice:
    return Notice(f"{day}:paused-model:{digest(reason)}", f"{day}: a model is paused", as_said(reason, 1_000), Tone.BAD)


def tight(day: str, found: Tight) -> Notice:
    """One for each day and part."""
    held = "Nothing new is begun before there is more room; what was begun goes on."
    then = held if forbids([found]) else "Work goes on; what runs in boxes comes last."
    text = f"{as_said(found.words)} since {found.since:%H:%M}. {then}"
    return Notice(f"{day}:machine:{day}-{found.part}", f"{day}: the machine is nearly full", text, Tone.ATTENTION)


def cap(day: str, which: str, text: str, is_reached: bool) -> Notice:
    """`which`: what makes it one message: a day's cap is nearly used once, and reached once; a raised one again."""
    title = "A cap is reached" if is_reached else "A cap is nearly used"
    return Notice(
        f"{day}:cap:{which}", f"{day}: {title.lower()}", as_said(text), Tone.BAD if is_reached else Tone.ATTENTION
    )


def cap_reached(account: DayAccount, words: str, command: str) -> Notice:
    """The meter's words, what waits, and what the owner types to go on. Once per day and amount of its cap."""
    found = cap(account.day, f"{account.day}-reached-{account.spent.cap}", words, is_reached=True)
    return replace(found, text="\n\n".join((rounded(found.text), *report_text.capped(account, command))))
