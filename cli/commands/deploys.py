"""What the owner does about deploys: `deploy`, `rollback`, `pause-deploys`, `resume-deploys`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing

from sisimpur.agents.orchestrator.reports.deploy_text import UNDER_WAY, short
from sisimpur.cli.commands.day import OpenTeam, in_the_foreground, team_opener
from sisimpur.cli.terminal.arguments import DONE, PROBLEM, Arguments
from sisimpur.cli.terminal.printing import command, on_screen, pasteable, plain
from sisimpur.cli.views.daemon_state import daemon_facts, how_it_goes_on
from sisimpur.cli.views.deploys import configured
from sisimpur.cli.wiring.forge import open_code
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.model.deployment import PLACES, Deploy, DeployStage, Place, healthy_at, left_behind
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.model.text import one_line
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.repo.mirror_commits import commits_like
from sisimpur.shared.system import lock
from sisimpur.shared.system.clock import Clock

LONGEST_WHY = 500  # characters
MOST_NAMED = 5
OPEN_TEAM = team_opener("deploys")

# --- deploy, rollback ----------------------------------------------------------------------------------------


def deploy(
    arguments: Arguments,
    environment: Mapping[str, str] = os.environ,
    open_team: OpenTeam = OPEN_TEAM,
    clock: Clock | None = None,
) -> int:
    """Bring one commit to one place now; also one that was sick before, and while deploys are paused."""
    with open_records(arguments.home, environment, clock) as records:
        place = _place(records, arguments.place)
        commit = _commit(records, arguments.commit)
        records.deploys.order(place, commit, records.clock.now())
        return _now(records, place, commit, "deploy", open_team)


def rollback(arguments: Arguments, environment: Mapping[str, str] = os.environ) -> int:
    """Bring back what was healthy before. Pause deploys, else the same would come back with the next merge."""
    with open_records(arguments.home, environment) as records:
        place, back = _ordered_back(records, arguments)
        resume = command(arguments.home, "resume-deploys")
        print(f"deploys are paused, so that nothing new comes to {place}; when that may be, type: {resume}")
        return _now(records, place, back, "rollback", OPEN_TEAM)


def rolled_back(records: Records, arguments: Arguments) -> str:
    """Let the process that is at work do it: an order that nobody carries out now would be carried out days later."""
    if not lock.holder(records.home.lock):
        typed = command(arguments.home, "rollback")
        raise Misconfigured(f"nobody is at work who could do it; start the team, or type: {typed}")
    place, back = _ordered_back(records, arguments)
    return f"{place} goes back to {short(back)}; deploys are paused, so that nothing new comes there"


def _ordered_back(records: Records, arguments: Arguments) -> tuple[Place, str]:
    """Keep the order, and pause deploys. Return where, and to which commit."""
    place = _place(records, arguments.place)
    found = records.deploys.deploys()
    back = before(place, found)
    if not back:
        raise Misconfigured(
            f"nothing was healthy at {place} before what runs there; see: {command(arguments.home, 'deploys')}"
        )
    now, book = records.clock.now(), records.deploys
    book.pause(f"you rolled back {place} to {short(back)}", now)
    if not any(one.place == place and one.stage in (DeployStage.SICK, DeployStage.RETURNING) for one in found):
        book.order(place, back, now)  # else it goes back by itself
    return place, back


def before(place: Place, deploys: Sequence[Deploy]) -> str:
    """Return the newest commit that was healthy there before the one that runs; empty: none. Twice goes back twice."""
    here = [one for one in deploys if one.place == place]
    if here and here[-1].stage in (DeployStage.STARTED, DeployStage.SICK, DeployStage.RETURNING):
        return here[-1].back_to
    unfit = here[-1].commit if here and not healthy_at(place, deploys) else ""  # it is stuck: nobody knows what runs
    return next((commit for commit in reversed(left_behind(place, deploys)) if commit != unfit), "")


def _place(records: Records, typed: str) -> Place:
    """Return the last configured place, unless another was named."""
    places = tuple(configured(records).places)
    if not typed:
        return places[-1]
    found = next((place for place in PLACES if place == typed), None)
    if found not in places or found is None:
        where = f"config/targets/{records.settings.target.name}.yaml"
        raise Misconfigured(f"no {typed} is configured; name one of {', '.join(places)}, or write it into {where}")
    return found


def _commit(records: Records, typed: str) -> str:
    """Return the full id. Only what was merged, so reviewed, is deployed; what was deployed once may be for ever."""
    target = records.settings.target
    repository, branch = records.home.mirror(target.name), target.file.branch
    look = f"git -C {shlex.quote(str(repository))} log --oneline refs/remotes/origin/{branch}"
    begin = typed.strip().lower()
    known = commits_like(repository, begin) or (_has_looked_anew(records) and commits_like(repository, begin))
    if not known:
        raise Misconfigured(f"{on_screen(typed, 80)} is no commit that is known here; see what there is: {look}")
    mirror = Mirror.at(repository)
    deployed, head = {one.commit for one in records.deploys.deploys()}, mirror.head(branch)
    fit = [sha for sha in known if sha in deployed or (head and mirror.is_ancestor(sha, head))]
    if not fit:
        raise Misconfigured(f"{typed} is not on {branch}: only what was merged is deployed; see what there is: {look}")
    if len(fit) > 1:
        raise Misconfigured(f"{typed} fits {', '.join(sorted(fit)[:MOST_NAMED])}; type more of it")
    return fit[0]


def _has_looked_anew(records: Records) -> bool:
    """Fetch what was pushed a moment ago. False if somebody is at work: that process fetches."""
    if lock.holder(records.home.lock):
        return False
    with (
        lock.hold(records.home.lock),
        closing(open_code(records.home, records.settings, records.clock, lambda text: print(plain(text)))) as code,
    ):
        code.sync()
    return True


# --- here, or by the process that is at work -----------------------------------------------------------------


def _now(records: Records, place: Place, commit: str, word: str, open_team: OpenTeam) -> int:
    """Leave it to the process that is at work; else do it here and say what came of it."""
    for one in records.deploys.deploys():
        if not one.is_over:
            under_way = UNDER_WAY[one.stage]
            print(f"first {one.place} {short(one.commit)} is brought to its end ({under_way})")
    if pid := lock.holder(records.home.lock):
        by = (
            "the daemon does it now"
            if daemon_facts(records.db, pid)["state"] == "running"
            else f"run-day (pid {pid}) does it between its tasks"
        )
        see = command(records.home.root, "deploys")
        print(f"{place} {short(commit)}: {by}; see: {see}")
        return DONE
    newest = max((one.number for one in records.deploys.deploys()), default=0)
    try:
        problems = in_the_foreground(records, open_team, lambda team: team.deploy_now())
    except TeamError:
        records.deploys.withdraw(place, commit)  # what failed is not carried out days later
        raise
    deploys = records.deploys.deploys()
    tried = [one for one in deploys if (one.place, one.commit) == (place, commit) and one.number > newest]
    runs = healthy_at(place, deploys)
    if tried[-1].stage is DeployStage.HEALTHY if tried else runs == commit and not records.deploys.orders():
        then = "" if runs == commit else f"; then {short(runs)} was due, and runs there now"
        print(f"{place} {short(commit)}: healthy{then}")
        return DONE
    problems = [*(f"{one.stage}: {one.why}" for one in tried[-1:] if one.why), *problems] or ["it was not begun"]
    told = "; ".join(on_screen(problem) for problem in problems[:MOST_NAMED])
    see = command(records.home.root, "deploys")
    print(f"{word}: {place} {short(commit)}: {pasteable(told, records.home.root)}; see: {see}", file=sys.stderr)
    return PROBLEM


# --- pause-deploys, resume-deploys ---------------------------------------------------------------------------


def pause_deploys(arguments: Arguments) -> int:
    """Pause deploys; if they are paused already, the first reason stays."""
    with open_records(arguments.home) as records:
        print(paused(records, arguments))
    print("what merges is not deployed; what was begun is brought to its end, and what is sick still goes back")
    resume = command(arguments.home, "resume-deploys")
    print(f"your own `deploy` and `rollback` count all the same; to go on, type: {resume}")
    return DONE


def paused(records: Records, arguments: Arguments) -> str:
    configured(records)
    records.deploys.pause(one_line(arguments.why, LONGEST_WHY) or "you asked for it", records.clock.now())
    found = records.deploys.paused()
    return f"deploys are paused since {found.at:%Y-%m-%d %H:%M}: {on_screen(found.why)}" if found else ""


def resume_deploys(arguments: Arguments) -> int:
    """Deploy again: the owner has looked, so what was sick or failed may be tried once more."""
    with open_records(arguments.home) as records:
        print(resumed(records, arguments))
        goes_on = how_it_goes_on(records.db, records.home)
    print("what merges is deployed again, and what was sick or failed may be tried once more")
    print(goes_on)
    return DONE


def resumed(records: Records, _: Arguments) -> str:
    configured(records)
    before = records.deploys.paused()
    records.deploys.resume(records.clock.now())
    return f"deploys were paused: {on_screen(before.why)}" if before else "deploys were not paused"
