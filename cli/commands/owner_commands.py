"""What the owner does: `init`; answers to tasks; `raise-cap`, `write-off` and `resume` for money."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sisimpur.agents.orchestrator.inbox.answers import LONGEST_ANSWER, Move, OwnerAnswers
from sisimpur.cli.terminal.arguments import CHECKOUT, Arguments
from sisimpur.cli.terminal.printing import command, pasteable, plain
from sisimpur.cli.views.daemon_state import how_it_goes_on
from sisimpur.cli.wiring.records import Records, find, open_records
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.naming import fits
from sisimpur.shared.model.text import one_line
from sisimpur.shared.money.ledger import OwnerAdjustments
from sisimpur.shared.money.token_budget import cents, dollars
from sisimpur.shared.store.database import Database
from sisimpur.shared.store.plan_book import PlanRepository
from sisimpur.shared.system.clock import Clock, SystemClock, machine_zone
from sisimpur.shared.system.paths import Home, create_text, read_text, write_text

if TYPE_CHECKING:
    from sisimpur.shared.repo.git import Remote

CONFIG = ("agents.yaml", "policy.yaml", "schedules.yaml", "board.yaml", ".env.example")
VISION = """# Vision

## Priority: CRITICAL

## Priority: HIGH

## Priority: MEDIUM

## Ideas (Research First)

## Notes
"""
PROGRESS = """# Progress

No day has been run yet. Each day writes this page anew.
"""
CURRENCY = re.compile(r"^(?:US)?\$\s*|\s*(?:\$|USD|dollars?)$", re.IGNORECASE)
COMMA = re.compile(r",(?=\d{1,2}$)")  # 7,50; what 1,000 means nobody knows
LONGEST_WHY = 500  # characters


# --- init ----------------------------------------------------------------------------------------------------


def init(arguments: Arguments) -> int:
    from sisimpur.cli.commands.doctor import first_to_mend

    home = Home(arguments.home)
    is_new = not (home.config / "schedules.yaml").exists()
    print(make_home(home, arguments.target, arguments.branch))
    if is_new and (zone := machine_zone(os.environ)) != "UTC":
        print(take_zone(home, zone))
    print(f"home: {home.root}")
    if problem := first_to_mend(home):
        print(plain(f"doctor will find first: {pasteable(problem, home.root)}"))
    print(f"next: write your goals into {home.vision}, your key into {home.config / '.env'}, then type:")
    print(f"  {command(home.root, 'doctor')}")
    print(f"  {command(home.root, 'run-day')}    (one day, now)")
    print(f"  {command(home.root, 'start')}    (every day, at the times in config/schedules.yaml)")
    return 0


def take_zone(home: Home, zone: str) -> str:
    """Let the days be those of this time zone; return a line about it."""
    schedule = home.config / "schedules.yaml"
    write_text(schedule, read_text(schedule).replace("time_zone: UTC", f"time_zone: {zone}", 1))
    return f"time zone: {zone}, as this machine has it (time_zone in {schedule})"


def make_home(home: Home, target: str, branch: str = "") -> str:
    """Make the home, or complete it; what the owner has written stays. Return lines about its target."""
    from sisimpur.shared.config.settings import read_secrets
    from sisimpur.shared.repo.git import Remote

    url = _address(target)
    if url.startswith("/") and Path(url) in (home.root.resolve(), *home.root.resolve().parents):
        raise Misconfigured(f"the home {home.root} lies inside the target; choose a --home outside of {url}")
    found = _found_branch(home, url, branch, "") if url.startswith("/") else ""  # else nothing half-made is left
    try:
        home.make()
        _copy_defaults(home)
    except OSError as error:
        raise Misconfigured(f"{home.root} cannot be made ({error.strerror}); choose another --home") from None
    token = read_secrets(home).get("GITHUB_TOKEN")
    found = found or _found_branch(home, url, branch, token)
    name = re.sub(r"[^a-z0-9_-]+", "-", Path(url).name.removesuffix(".git").lower()).strip("-_")[:40] or "target"
    told = _write_target(home, name, Remote(url, token or None), found)
    if home.database.exists():
        PlanRepository(Database(home.database)).name_target(url, SystemClock().now())
    return "\n".join((f"target: {name} ({url}, branch {found})", *(f"  {plain(line)}" for line in told)))


def _found_branch(home: Home, url: str, branch: str, token: str) -> str:
    """Return the branch to work from. The home is there already: a token has a place to be written to."""
    from sisimpur.shared.repo.git import Remote
    from sisimpur.shared.repo.mirror import Mirror, default_branch

    remote = Remote(url, token or None)
    try:
        found = branch or default_branch(Path("/"), remote)
    except Misconfigured as problem:
        again = command(home.root, "init", "--target", shlex.quote(url))
        where = f" (it is {home.config / '.env'})" if "config/.env" in str(problem) else ""
        raise Misconfigured(f"{problem}{where}, then type: {again}") from None
    if branch and Mirror(Path("/"), remote).remote_head(branch) is None:
        raise Misconfigured(f"{url} has no branch {branch}; name another with --branch")
    return found


def _copy_defaults(home: Home) -> None:
    for name in CONFIG:
        if not (home.config / name).exists():
            shutil.copyfile(CHECKOUT / "config" / name, home.config / name)
    for page, text in ((home.vision, VISION), (home.progress, PROGRESS)):
        if not page.exists():
            create_text(page, text, home.temporary)


def _address(target: str) -> str:
    """Make a path absolute; Remote judges everything else."""
    path = Path(target).expanduser()
    if path.is_dir():
        if not any((path / name).exists() for name in (".git", "HEAD")):
            at = f"git -C {shlex.quote(str(path.resolve()))}"
            begin = f"{at} init -b main && {at} add -A && {at} commit -m 'First commit'"
            raise Misconfigured(f"{path} is a folder without git; make it a repository with a first commit: {begin}")
        return str(path.resolve())
    if target.startswith(("/", "./", "../", "~")):
        raise Misconfigured(f"there is no repository at {target}; give the path or the https address of one")
    return target


def _write_target(home: Home, name: str, remote: Remote, branch: str) -> list[str]:
    """Write the file if there is none; return what of the target the owner reads at once."""
    from sisimpur.cli.views.target import proposed

    path = home.targets / f"{name}.yaml"
    others = [other.name for other in home.targets.glob("*.yaml") if other.name not in ("example.yaml", path.name)]
    if others:
        raise Misconfigured(f"this home already works on {others[0]}; use another --home for each target")
    if path.exists():
        return []
    repo = json.dumps(remote.url, ensure_ascii=False)
    text = f'repo: {repo}\nbranch: {json.dumps(branch)}\nallow: ["**"]\nprotected: []\n'
    found, told = proposed(home, remote, branch)
    create_text(path, text + found, home.temporary)
    return told


# --- approve, reject, retry, cancel, unblock, retest ---------------------------------------------------------


Order = Callable[[Records, Arguments], str]  # what was typed, or pressed -> what came of it


def _carried_out(arguments: Arguments, order: Order) -> int:
    with open_records(arguments.home) as records:
        print(f"{order(records, arguments)}; {how_it_goes_on(records.db, records.home)}")
    return 0


def retry(arguments: Arguments) -> int:
    """Move the file back to backlog: "again, with fresh attempts"; `--why` reaches the coder."""
    return _carried_out(arguments, moved)


def reject(arguments: Arguments) -> int:
    """Close its pull request; the reason is kept for the coder, should the owner retry it."""
    return _carried_out(arguments, moved)


def cancel(arguments: Arguments) -> int:
    return _carried_out(arguments, moved)


def done(arguments: Arguments) -> int:
    """Move the file to completed: the owner did it without the team; its pull request is closed."""
    return _carried_out(arguments, moved)


def approve(arguments: Arguments) -> int:
    return _carried_out(arguments, approved)


def approved(records: Records, arguments: Arguments) -> str:
    """Approve exactly the change that waits: a later one, or the same changed by another base, asks anew.

    `plan`: let all tasks begin whose plan waits; what is planned later asks anew.
    With `--over` one finding is settled, and nothing else is approved. With a `commit` only that one is.
    """
    if arguments.id == "plan" and not arguments.over:
        return plain(records.plan_answers.approve(_why(arguments.why), arguments.commit))
    id_, state = find(records.store, arguments.id, () if arguments.over else (State.IN_REVIEW,))
    if arguments.over:
        finding = _answers(records).approve_over(id_, state, arguments.over, arguments.why)
        return plain(f"{id_}: over {finding.rule} at {finding.path}:{finding.line}, in later commits, too")
    _answers(records).approve(id_, state, arguments.why, arguments.commit)
    return f"{id_}: approved"


def unblock(arguments: Arguments) -> int:
    return _carried_out(arguments, unblocked)


def unblocked(records: Records, arguments: Arguments) -> str:
    """Let a task begin without those that it waits for; kept as the owner's word."""
    id_, _ = find(records.store, arguments.id, (State.BACKLOG,))
    return f"{id_}: {records.plan_answers.unblock(id_, _why(arguments.why))}"


def retest(arguments: Arguments) -> int:
    return _carried_out(arguments, retested)


def retested(records: Records, arguments: Arguments) -> str:
    """Run the tests of a change again; no model is asked."""
    id_, state = find(records.store, arguments.id, (State.IN_REVIEW,))
    _answers(records).retest(id_, state)
    return f"{id_}: its tests are run again"


def answer(arguments: Arguments) -> int:
    return _carried_out(arguments, answered)


def answered(records: Records, arguments: Arguments) -> str:
    """Answer the questions of a goal, or try a task again with these words."""
    text = one_line(arguments.text, LONGEST_ANSWER)
    if not text:
        raise Misconfigured("say what you answer: answer ID TEXT")
    asked = [one for one in records.questions() if fits(one.goal_id, arguments.id)]
    goals = {one.goal_id for one in asked}
    if arguments.id in goals:
        goals = {arguments.id}
    if not goals:
        return moved(records, replace(arguments, command="retry", why=text))
    if len(goals) > 1:
        raise Misconfigured(f"{arguments.id!r} fits {', '.join(sorted(goals)[:5])}; type more of the id")
    return records.goal_answers.answer(goals.pop(), text)


def _found(records: Records, id_: str) -> tuple[str, State]:
    """One that has no file any more is found by its whole id."""
    if not records.store.find(id_) and records.journal.task(id_):
        return id_, State.GONE
    return find(records.store, id_)


def _answers(records: Records) -> OwnerAnswers:
    return OwnerAnswers(records.store, records.gates, records.clock, records.journal)


def moved(records: Records, arguments: Arguments) -> str:
    """Do as the command says: `retry`, `reject`, `cancel` or `done`. `cancel plan`: all tasks whose plan waits."""
    if (arguments.command, arguments.id) == ("cancel", "plan") and not records.store.find("plan"):
        return plain(records.plan_answers.drop(_why(arguments.why), arguments.commit))
    word = cast(Move, arguments.command)
    id_, source = _found(records, arguments.id)
    answers = _answers(records)
    if word == "retry" and not arguments.again:
        answers.require_again(id_, source)
    target = answers.move(id_, source, word, arguments.why)
    told = "your words wait for the coder" if target is source else f"{source} -> {target}"
    if word == "cancel" and target is not State.FAILED:
        told += ", as it was before its retry"
    return f"{id_}: {told}"


# --- raise-cap, write-off, resume ----------------------------------------------------------------------------


def raise_cap(arguments: Arguments, clock: Clock | None = None) -> int:
    with open_records(arguments.home, clock=clock) as records:
        print(f"{cap_raised(records, arguments)}\n{how_it_goes_on(records.db, records.home)}")
    return 0


def cap_raised(records: Records, arguments: Arguments) -> str:
    """Let today cost up to this much. A team that is at work sees it at its next call."""
    to, why, policy = amount_of(arguments.amount), _why(arguments.why), records.settings.policy.budget.caps
    day = OwnerAdjustments(records.db).raise_cap(to, policy, why, records.clock.now())
    told = f"{day} may cost up to {_used(records, day, records.spending.cap_of(day, policy.day))}"
    return (
        f"{told}\nits month: {_used(records, day[:7], policy.month)}; the day after, ${cents(policy.day)} count again"
    )


def write_off(arguments: Arguments) -> int:
    """Correct the cost of a lost call, never to more than is booked; the reason is kept."""
    amount, why = amount_of(arguments.amount), _why(arguments.why)
    if not why:
        raise Misconfigured("say how you know that it was not billed: --why TEXT")
    with open_records(arguments.home) as records:
        booked = OwnerAdjustments(records.db).write_off(arguments.call, amount, why, records.clock.now())
    now = "as before" if amount == booked else f"before: ${cents(booked)}"
    print(f"call {arguments.call}: booked at ${cents(amount)} ({now})")
    return 0


def resume(arguments: Arguments, clock: Clock | None = None) -> int:
    """Lift a spending halt, or believe a date that jumped: the owner has looked at it."""
    with open_records(arguments.home, clock=clock) as records:
        now, reason = records.clock.now(), "; ".join(records.spending.stops())
        records.ledger.resume()
        records.ledger.confirm_clock(now)
        records.plans.forget_days_after(records.day())
    print(f"was stopped: {plain(reason)}" if reason else "nothing was stopped")
    print(f"it is {now:%Y-%m-%d %H:%M}; money may be spent, below the caps")
    return 0


def amount_of(typed: str) -> int:
    """Nano-dollars, as people write dollars. Misconfigured: it is no amount."""
    try:
        return dollars(COMMA.sub(".", CURRENCY.sub("", typed.strip())))
    except ValueError as problem:
        lost = "; to a shell $7 is nothing: write 7.50" if typed[:1] == "." else ""
        raise Misconfigured(f"{problem}{lost}") from None


def _why(typed: str) -> str:
    return one_line(typed, LONGEST_WHY)


def _used(records: Records, period: str, cap: int) -> str:
    return f"${cents(cap)} (${cents(records.spending.totals(period, cap).used)} used so far)"
