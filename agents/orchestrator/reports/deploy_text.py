"""Deploys in words: a line of a report each, and the message that tells of its end. Pure.

What is wrong was said by programs: it is cleaned, one line, and bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from sisimpur.agents.orchestrator.reports.report_words import at_board
from sisimpur.shared.model.deployment import Deploy, DeployStage
from sisimpur.shared.model.text import NOTE, TITLE, as_said, begin_and_end, bullets, harmless, literal
from sisimpur.shared.notify.notice import Notice, Tone

if TYPE_CHECKING:  # `deploys` says some of these words, and loads no account of a day
    from sisimpur.agents.orchestrator.reports.account import DayAccount, DeployAccount, Live

SAID = 900  # characters of a reason in a message of its own
SHORT_SHA = 8

UNDER_WAY = {
    DeployStage.PLANNED: "being built",
    DeployStage.BUILT: "built; its data is saved first",
    DeployStage.SAVED: "being started",
    DeployStage.STARTED: "started, and watched",
    DeployStage.SICK: "sick; what was healthy before comes back",
    DeployStage.RETURNING: "sick; what was healthy before is started again",
}


# --- lines of a report ---------------------------------------------------------------------------------------


def deployed(account: DayAccount, command: str, day: str = "") -> Iterator[str]:
    """`day`: that of the page, if it tells of another one: times without a date are of its day."""
    for one in account.deploys:
        yield line(one, day or account.day)
    if account.deploys_refused:
        yield cut(account.deploys_refused)
    elif account.deploys and account.deploys_as:
        yield f"what was merged ran {account.deploys_as}"
    yield from paused(account, command)


def paused(account: DayAccount, command: str) -> Iterator[str]:
    if account.deploys_paused:
        here = at_board(account.board, "team")
        yield f"nothing new is deployed: {cut(account.deploys_paused)} → {here}`{command} resume-deploys`"


def line(one: DeployAccount, day: str) -> str:
    deploy = one.deploy
    return f"{deploy.place} {short(deploy.commit)}{_whose(one)}: {how_it_went(one, day)}"


def _whose(one: DeployAccount) -> str:
    if one.task:
        return f" (**{as_said(one.title or one.task, TITLE)}**, `{one.task}`)"
    return _called(one.title)


def _called(subject: str) -> str:
    return f" ({as_said(subject, TITLE)})" if subject else ""


def how_it_went(one: DeployAccount, day: str) -> str:
    deploy = one.deploy
    why, back = cut(deploy.why), short(deploy.back_to)
    match deploy.stage:
        case DeployStage.HEALTHY:
            return f"healthy since {clock(deploy.ended_at, day)}"
        case DeployStage.RETURNED:
            return "; ".join((f"sick: {why}", f"rolled back to {back}", *_follows(one)))
        case DeployStage.FAILED:
            return f"never ran: {why}; {_runs_on(one)}"
        case DeployStage.OVERRULED:
            return f"not watched to its end: {why}"
        case DeployStage.STUCK:
            return "; ".join((f"{deploy.place} may be down: {why}", *_follows(one)))
        case under_way:
            since = f" since {clock(deploy.begun_at, day)}" if deploy.begun_at else ""
            return f"{UNDER_WAY[under_way]}{since}"


def _follows(one: DeployAccount) -> Iterator[str]:
    if one.deploy.reverts:
        yield f"taken back by #{one.deploy.reverts}"
    if one.is_again:
        yield "its task is tried again"


def _runs_on(one: DeployAccount) -> str:
    if one.unwatched:
        return f"{short(one.unwatched)} runs there still, and nobody watched it to its end"
    back = one.deploy.back_to
    return f"{short(back)} runs on" if back else "nothing ran there before"


# --- the message ---------------------------------------------------------------------------------------------


def is_told(deploy: Deploy, last: str) -> bool:
    """One that is well on its way is no news before it is at the `last` place; what the owner ordered always is."""
    return deploy.is_over and (deploy.stage is not DeployStage.HEALTHY or deploy.asked or deploy.place == last)


def message(one: DeployAccount, running: str, why_paused: str, command: str, board: str = "") -> Notice:
    """`running`: the commit that runs there now; empty: none does. The same deploy is always the same message.

    `board`: the address of the owner's board; empty: there is no link to it.
    """
    deploy = one.deploy
    title, tone, parts = _told(one, running, command)
    if why_paused:
        ways = f"{at_board(board, 'team')}type: `{command} resume-deploys`"
        parts = [*parts, f"Nothing new is deployed by itself: {cut(why_paused)}. To go on, {ways}"]
    day = deploy.ended_at.date().isoformat() if deploy.ended_at else ""
    return Notice(f"{day}:deploy-{deploy.number}", title, "\n\n".join(part for part in parts if part), tone)


def _told(one: DeployAccount, running: str, command: str) -> tuple[str, Tone, list[str]]:
    deploy, what = one.deploy, f"{short(one.deploy.commit)}{_whose(one)}"
    why = cut(deploy.why, SAID)
    match deploy.stage:
        case DeployStage.HEALTHY:
            return _live(one), Tone.GOOD, [f"{what} is healthy there."]
        case DeployStage.RETURNED:
            title = f"Rolled back at {deploy.place}: {_name(one)}"
            now = " ".join((_now(deploy, running), *map(_ahead, one.ahead)))
            return title, Tone.BAD, [f"{what} was sick: {why}", now, _next(one, command)]
        case DeployStage.FAILED:
            title = f"Not deployed to {deploy.place}: {_name(one)}"
            return title, Tone.ATTENTION, [f"{what} never ran: {why}", _untouched(one)]
        case DeployStage.OVERRULED:
            return (
                f"Replaced at {deploy.place}: {_name(one)}",
                Tone.PLAIN,
                [f"{what} was not watched to its end: {why}"],
            )
    title = f"{deploy.place.capitalize()} may be down"
    return title, Tone.BAD, [f"**{title}.** {what}: {why}", _left(deploy, running), _by_hand(deploy, command)]


def _name(one: DeployAccount) -> str:
    return as_said(one.title, 150) or short(one.deploy.commit)


def _live(one: DeployAccount) -> str:
    deploy = one.deploy
    if deploy.asked and one.was_live:
        what = f"{short(deploy.commit)}{_called(one.title)}"
        return f"{deploy.place.capitalize()} runs {what} again, as you asked"
    return f"Live at {deploy.place}: {_name(one)}"


def _ahead(live: Live) -> str:
    runs = f": {short(live.commit)}{_called(live.subject)} runs on there" if live.commit else ""
    return f"{live.place.capitalize()} was not touched{runs}."


def _untouched(one: DeployAccount) -> str:
    if one.unwatched:
        return f"{_runs_on(one)}."
    return f"{_runs_on(one)}: it was not touched." if one.deploy.back_to else ""


def _now(deploy: Deploy, running: str) -> str:
    if running == deploy.back_to:
        return f"{short(running)}, which was healthy before, runs there again and is healthy."
    there = f"{short(running)} runs there now" if running else "Nothing runs there now"
    return f"It was rolled back to {short(deploy.back_to)}, which was healthy; but since then: {there}. Look there."


def _next(one: DeployAccount, command: str) -> str:
    deploy = one.deploy
    if deploy.asked:
        return "You ordered it, so its change stays on the branch."
    if not one.task:
        return "It is no change of ours, so nobody takes it back but you: commit what mends it."
    told = []
    if deploy.reverts:
        told.append(
            f"Pull request #{deploy.reverts} takes it back. If it is still open, merge it or close it:"
            " until then nothing new is deployed."
        )
    if one.is_again:
        told.append(f"Its task is tried again, with what was seen: `{command} show {one.task}`")
    return bullets(told)


def _left(deploy: Deploy, running: str) -> str:
    told = [f"{short(running)} runs there; nobody knows that it is healthy" if running else "nothing runs there"]
    if deploy.backup:
        of_place = harmless("/".join(deploy.backup.split("/")[-2:]))  # its folder and the file
        told.append(f"what was saved before it lies in `.state/backups/{of_place}`")
    return bullets(told)


def _by_hand(deploy: Deploy, command: str) -> str:
    other = deploy.back_to or "COMMIT"
    return f"Look there, then type: `{command} deploy --place {deploy.place} --commit {other[:12]}`"


# --- small words ---------------------------------------------------------------------------------------------


def cut(why: str, most: int = NOTE) -> str:
    """One harmless line; of a long one its begin and its end. Never nothing."""
    return literal(begin_and_end(harmless(why, max(len(why) * 2, 1)), most)) or "nobody knows why"


def short(commit: str) -> str:
    return harmless(commit[:SHORT_SHA]) or "nothing"


def clock(when: datetime | None, day: str) -> str:
    """The time of day; with its date, if that is another one."""
    if when is None:
        return "?"
    return f"{when:%H:%M}" if when.date().isoformat() == day else f"{when:%Y-%m-%d %H:%M}"
