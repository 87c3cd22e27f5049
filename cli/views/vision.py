"""A text of VISION.md -> what would be read, guarded, planned and asked of it, without a model. Nothing is changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sisimpur.agents.orchestrator.board.stuck import stuck_tasks, told_once
from sisimpur.agents.orchestrator.planning.plan_files import open_goals
from sisimpur.agents.orchestrator.roadmap.roadmap import Milestone, Pace, RoadmapEntry, next_goals
from sisimpur.agents.orchestrator.roadmap.roadmap_text import day_words, state_words
from sisimpur.agents.orchestrator.vision.goal_ids import doubles, same_again
from sisimpur.agents.orchestrator.vision.issue_goals import is_from_issue, own_change, own_words, with_issues
from sisimpur.agents.orchestrator.vision.named_paths import goal_guards
from sisimpur.agents.orchestrator.vision.reading import Unread, VisionReading, interpreted, standing, unread
from sisimpur.agents.orchestrator.vision.told_guards import holding, lost, wish
from sisimpur.agents.orchestrator.vision.vision_parser import difference, parse, with_unseen
from sisimpur.cli.setup.folders import ROOT
from sisimpur.cli.views.roadmap import laid_out
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.shared.forge.github_check import SetupFinding
from sisimpur.shared.model.errors import TeamError
from sisimpur.shared.model.text import counted, few, one_line
from sisimpur.shared.model.work import Goal, Guard, Priority, Remark, Vision
from sisimpur.shared.system.markdown import outline
from sisimpur.shared.system.paths import Home, read_text

LONGEST = 400  # characters of a line
NO_DAY = "-"  # on which no model has found anything
PUT_OFF, NOWHERE = "put off by you in ROADMAP.md", "its tasks are planned"


def as_written(text: str, before: Vision | None) -> Vision:
    """Return what the grammar reads. Issues are as they were read last."""
    asked = (goal for goal in (before.goals if before else ()) if is_from_issue(goal))
    return with_issues(with_unseen(parse(outline(text), before), text), asked)


@dataclass(frozen=True)
class GoalFate:
    """What becomes of a goal with the next planning. `why`: it is not planned; empty: it is, in this order."""

    goal: Goal
    why: str = ""


def goal_fates(records: Records, vision: Vision) -> list[GoalFate]:
    """Each goal once: first those that would be planned now, the next first; then the others as they stand there."""
    day = records.day()
    wanted = {goal.id: goal for goal in open_goals(records.plans, records.journal, vision, day)}
    _, roadmap = laid_out(records, vision)
    planned = [wanted[id_] for id_ in next_goals(roadmap, day) if id_ in wanted]
    next_, places = {goal.id for goal in planned}, {one.need.id: (week, one) for week, one in roadmap.places}
    today, again = records.plans.plan(day), doubles(vision.goals)
    kept = {goal.id for goal in today.deferred} if today else set()
    left = []
    for goal in (goal for goal in vision.goals if goal.id not in next_):
        week, entry = places.get(goal.id, (None, None))
        why = f"the same as line {again[goal.id].line}; it is planned once" if goal.id in again else ""
        why = why or ("today's plan had no room for it; tomorrow's has" if goal.id in kept else "")
        left.append(GoalFate(goal, why or (_standing(entry, roadmap.pace, week, day) if entry else NOWHERE)))
    return [*map(GoalFate, planned), *left]


def _standing(entry: RoadmapEntry, pace: Pace, week: Milestone | None, day: str) -> str:
    """Why a goal is not planned now: the owner's own word, or how far it is."""
    if entry.yours and not entry.is_done:
        return f"not before {day_words(week.monday, day)}: your word in ROADMAP.md" if week else PUT_OFF
    said = ", ".join(state_words(entry.need, pace))
    return f"done ({said})" if entry.is_done else said or NOWHERE


def vision_facts(records: Records, text: str, files: Sequence[str] = ()) -> dict[str, Any]:
    """Collect it in the form of JSON. `model_asked`: what only a model can read; Refused: it cannot be read at all.

    `files`: the target's, if somebody has just looked; else as they were fetched last.
    """
    accepted = records.plans.accepted()
    before = accepted.vision if accepted else None
    vision = as_written(text, before)
    change, held = difference(before, vision), accepted.guards if accepted else ()
    own, known, files = own_words(vision), standing(vision, held), files or _files(records)
    found = interpreted(VisionReading([], [], []), Unread(), own, own_change(change).removed, known, files)
    asked = unread(own_change(change), own, known)
    is_new = {goal.id: name for name in ("new", "changed") for goal in getattr(change, name)}
    return {
        "goals": [asdict(goal) | {"change": is_new.get(goal.id, "")} for goal in vision.goals],
        "done": [goal.id for goal in change.done],
        "removed": [_named(goal) for goal in change.removed if goal not in change.done],
        "planned_next": [one.goal.id for one in goal_fates(records, vision) if not one.why],
        "ideas": _lines(vision.ideas),
        "notes": _lines(vision.notes),
        "prose": _lines(vision.unread),
        "guards": [
            {"note": guard.note, "patterns": list(guard.patterns)}
            for guard in (*found.guards, *goal_guards(vision.goals, files))
        ],
        "lost_guards": list(lost(found.guards, held)),
        "wishes": _lines(found.wishes),
        "questions": [{"goal": one.goal_id, "text": one.text, "evidence": one.evidence} for one in found.questions],
        "model_asked": [*map(_named, asked.goals), *_lines(asked.remarks)],
        "warnings": _lines((*vision.warnings, *same_again(vision.goals))),
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


# --- for who has not paid yet ---------------------------------------------------------------------------------

MOST_SAID = 5  # of a kind, in one line


def vision_findings(home: Home, files: Sequence[str]) -> Iterator[SetupFinding]:
    """What is known of VISION.md, and of the tasks that lie there, before the first call that costs anything.

    `files`: the target's; none: it could not be looked at.
    """
    try:
        text = read_text(home.vision)
        with open_records(home.root, looking=True) as records:
            facts = vision_facts(records, text, files)
            seen = records.snapshot()
    except FileNotFoundError:
        yield SetupFinding("vision", False, f"{home.vision} is missing; write your goals there")
        return
    except TeamError as problem:
        yield SetupFinding("vision", False, str(problem))
        return
    yield _read(home, text, facts)
    for name, line in vision_lines(facts):
        yield SetupFinding(name, True, line)
    for one in told_once(stuck_tasks(seen)):
        yield SetupFinding("stuck", True, f"{one.task} {one.words}; to go on, type: python main.py {one.ways[0]}")
    if seen.unreadable:
        yield SetupFinding("tasks", False, few(seen.unreadable, MOST_SAID, "; "))


def _read(home: Home, text: str, facts: Mapping[str, Any]) -> SetupFinding:
    if not (facts["goals"] or facts["ideas"] or facts["model_asked"] or facts["done"]):
        how = 'below a heading like "## Priority: HIGH", each as a line that begins with "- "'
        return SetupFinding("vision", False, f"{home.vision} holds no goal yet; write one {how}")
    levels = Counter(goal["priority"].upper() for goal in facts["goals"])
    each = ", ".join(f"{levels[level.upper()]} {level.upper()}" for level in Priority if levels[level.upper()])
    parts = [f"{counted(len(facts['goals']), 'goal')}{f' ({each})' if each else ''}"]
    parts += [counted(len(facts[name]), word) for name, word in (("ideas", "idea"), ("notes", "note")) if facts[name]]
    examples = sorted((ROOT / "examples").glob("**/VISION.md"))
    like = next((str(path.relative_to(ROOT)) for path in examples if read_text(path) == text), "")
    told = f"; word for word the example's, {like}: its goals are not yours" if like else ""
    return SetupFinding("vision", True, f"{', '.join(parts)} read, without a model{told}")


def vision_lines(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(what it is about, a line) for each thing in a vision that its owner may have meant otherwise."""
    yield from _of_notes(facts)
    yield from (("VISION.md", f"line {one['line']}: {one['text']}") for one in facts["warnings"])
    if prose := facts["prose"]:
        lines = [f"line {one['line']} ({one_line(one['text'], 60)})" for one in prose]
        text = f"no goal, no note: {few(lines, MOST_SAID)}; a model is asked once whether a goal is meant"
        yield "VISION.md", text


def _of_notes(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What each note protects, as far as its words name files: that is seen only where the files are known."""
    if not facts["files_known"]:
        if facts["notes"]:
            yield (
                "notes",
                f"{counted(len(facts['notes']), 'note')}; what they protect is told by: python main.py doctor",
            )
        return
    guards = [Guard(one["note"], tuple(one["patterns"])) for one in facts["guards"]]
    yield from (("guard", line) for line in holding(guards, guards, NO_DAY))
    yield from (("no guard", wish(Remark(**one))) for one in facts["wishes"])
    yield from (("no guard", line) for line in facts["lost_guards"])
    for one in facts["questions"]:
        seen = f" ({one['evidence']})" if one["evidence"] else ""
        yield "question", one_line(f"{one['text']}{seen}", LONGEST)
