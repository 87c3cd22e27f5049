"""A text of VISION.md -> what would be read, guarded, planned and asked of it, without a model. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from sisimpur.agents.orchestrator.planning.plan_files import open_goals
from sisimpur.agents.orchestrator.roadmap.roadmap import next_goals
from sisimpur.agents.orchestrator.vision.issue_goals import is_from_issue, own_change, own_words, with_issues
from sisimpur.agents.orchestrator.vision.reading import Unread, VisionReading, interpreted, standing, unread
from sisimpur.agents.orchestrator.vision.told_guards import lost
from sisimpur.agents.orchestrator.vision.vision_parser import difference, parse, with_unseen
from sisimpur.cli.views.roadmap import laid_out
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.work import Goal, Remark, Vision
from sisimpur.shared.system.markdown import outline


def as_written(text: str, before: Vision | None) -> Vision:
    """Return what the grammar reads. Issues are as they were read last."""
    asked = (goal for goal in (before.goals if before else ()) if is_from_issue(goal))
    return with_issues(with_unseen(parse(outline(text), before), text), asked)


def to_be_planned(records: Records, vision: Vision) -> list[Goal]:
    """List the goals that would be planned now, the next first."""
    wanted = {goal.id: goal for goal in open_goals(records.plans, records.journal, vision, records.day())}
    _, roadmap = laid_out(records, vision)
    return [wanted[id_] for id_ in next_goals(roadmap, records.day()) if id_ in wanted]


def vision_facts(records: Records, text: str) -> dict[str, Any]:
    """Collect it in the form of JSON. `model_asked`: what only a model can read; Refused: it cannot be read at all."""
    accepted = records.plans.accepted()
    before = accepted.vision if accepted else None
    vision = as_written(text, before)
    change, held = difference(before, vision), accepted.guards if accepted else ()
    own, known, files = own_words(vision), standing(vision, held), _files(records)
    found = interpreted(VisionReading([], [], []), Unread(), own, own_change(change).removed, known, files)
    asked = unread(own_change(change), own, known)
    is_new = {goal.id: name for name in ("new", "changed") for goal in getattr(change, name)}
    return {
        "goals": [asdict(goal) | {"change": is_new.get(goal.id, "")} for goal in vision.goals],
        "done": [goal.id for goal in change.done],
        "removed": [_named(goal) for goal in change.removed if goal not in change.done],
        "planned_next": [goal.id for goal in to_be_planned(records, vision)],
        "ideas": _lines(vision.ideas),
        "guards": [{"note": guard.note, "patterns": list(guard.patterns)} for guard in found.guards],
        "lost_guards": list(lost(found.guards, held)),
        "wishes": _lines(found.wishes),
        "questions": [{"goal": one.goal_id, "text": one.text, "evidence": one.evidence} for one in found.questions],
        "model_asked": [*map(_named, asked.goals), *_lines(asked.remarks)],
        "warnings": _lines(vision.warnings),
        "files_known": bool(files),
    }


def _named(goal: Goal) -> dict[str, Any]:
    return {"id": goal.id, "text": goal.title, "line": goal.line}


def _lines(remarks: Iterable[Remark]) -> list[dict[str, Any]]:
    return [asdict(remark) for remark in remarks]


def _files(records: Records) -> Sequence[str]:
    """List the paths of the target as they were fetched last; none: nothing was fetched yet."""
    from sisimpur.shared.repo.mirror import Mirror

    path = records.home.mirror(records.settings.target.name)
    if not path.exists():
        return ()
    mirror = Mirror.at(path)
    try:
        head = mirror.head(records.settings.target.file.branch)
        return [entry.path for entry in mirror.tree(head)] if head else ()
    finally:
        mirror.close()
