"""VISION.md -> the accepted vision: read, compared to the last one, and interpreted where the grammar cannot read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from agents.orchestrator.team import Desk, Team
from agents.orchestrator.vision.goal_ids import wordings
from agents.orchestrator.vision.interpreter import needs_reading
from agents.orchestrator.vision.issue_goals import (
    goals_in,
    is_from_issue,
    number_of,
    own_change,
    own_words,
    with_issues,
)
from agents.orchestrator.vision.reading import Interpretation, standing
from agents.orchestrator.vision.vision_parser import difference, parse, with_found
from shared.forge.forge import ForgeError
from shared.model.errors import Misconfigured, Stumble
from shared.model.work import Goal, Guard, Run, Vision, VisionChange
from shared.store.plan_book import Accepted
from shared.system.markdown import outline
from shared.system.paths import read_text

MOST_READINGS = 12  # by a model, per day: an owner who edits all day, or answers that are never any good


def read_vision(desk: Desk, team: Team, day: str) -> None:
    """The same text as last time costs nothing. Whatever goes wrong, the last accepted vision stays."""
    text, before = _text(desk), desk.plans.accepted()
    asked = _asked(desk, before)
    digest = hashlib.sha256(f"{text}{asked or ''}".encode()).hexdigest()
    if before and before.digest == digest:
        desk.tell("VISION.md is unchanged")
        return
    vision = with_issues(parse(outline(text), before.vision if before else None), asked)
    change = difference(before.vision if before else None, vision)
    desk.tell(_summary(change) or f"VISION.md has no goal yet; write a bullet below a priority in {desk.home.vision}")
    _accept(desk, team, day, digest, vision, change, before)


def _accept(
    desk: Desk, team: Team, day: str, digest: str, vision: Vision, change: VisionChange, before: Accepted | None
) -> None:
    with desk.journal.running("orchestrator", day, desk.clock) as run:
        guards = before.guards if before else ()
        found = _interpretation(desk, team, run, own_words(vision), own_change(change), guards)
    whole = with_found(vision, found.goals)
    desk.plans.accept(day, Accepted(digest, whole, found.guards), found.questions, wordings(whole))
    desk.log(run, "vision accepted", new=len(change.new), changed=len(change.changed), removed=len(change.removed))


def _interpretation(
    desk: Desk, team: Team, run: Run, vision: Vision, change: VisionChange, guards: tuple[Guard, ...]
) -> Interpretation:
    """The repository is only looked at when there is something to read."""
    if not needs_reading(change, vision, guards):
        return Interpretation(standing(vision, guards))
    commit = team.sync()
    texts = [remark.text for remark in change.fresh] + [goal.title for goal in change.new + change.changed]
    files = [entry.path for entry in desk.mirror.tree(commit)]
    facts = team.overview(commit, texts)
    if desk.plans.book_reading(run.day) > MOST_READINGS:
        raise Stumble(
            f"a model has read VISION.md {MOST_READINGS} times today; what has changed since waits for tomorrow"
        )
    with desk.chair.left():
        return team.reader.read(run, vision, change, guards, files, facts)


def _asked(desk: Desk, before: Accepted | None) -> tuple[Goal, ...]:
    """What issues ask for. While the forge does not answer, what they asked for last time."""
    rules, goals = desk.rules.inbox, before.vision.goals if before else ()
    if not rules.takes_issues:
        return ()
    known = tuple(goal for goal in goals if is_from_issue(goal))
    try:
        return goals_in(desk.delivery.forge.list_issues(rules.label or None), rules, {goal.id for goal in known})
    except ForgeError as problem:  # what VISION.md says counts all the same
        desk.tell(f"issues were not read: {problem}")
        return known


def _text(desk: Desk) -> str:
    try:
        return read_text(desk.home.vision)
    except FileNotFoundError:
        raise Misconfigured(f"{desk.home.vision} is missing; write your goals there") from None


def _summary(change: VisionChange) -> str:
    counts = {"new": change.new, "changed": change.changed, "removed": change.removed, "unchanged": change.unchanged}
    said = ", ".join(f"{len(goals)} {name}{_issues_of(goals)}" for name, goals in counts.items() if goals)
    return f"VISION.md: {said}" if said else ""


def _issues_of(goals: Sequence[Goal]) -> str:
    numbers = [f"#{number_of(goal.id)}" for goal in goals if is_from_issue(goal)]
    return f" (issue {', '.join(numbers)})" if numbers else ""
