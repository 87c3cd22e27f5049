"""(measure, what was seen, what is left) -> what is next for a goal whose tasks are over: one model call at most."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from sisimpur.shared.llm.prompts import Asker, Prompts, quoted
from sisimpur.shared.model.change import HasPath, usually_holds_keys
from sisimpur.shared.model.errors import Refused, Stumble
from sisimpur.shared.model.text import counted
from sisimpur.shared.model.work import Goal, GoalWord, Measure, MeasureKind, Run, TaskSpec
from sisimpur.shared.store.goal_book import GoalLook

GoalEnd = Literal["look", "done", "plan again", "ask"]

MOST_BY_FIGURE, MOST_BY_WORDS = 2, 1  # plannings more, of a goal that does not hold yet
MOST_TRIES = 3  # to look: somebody or something has ended each


def next_for(looks: Sequence[GoalLook], merged: int, words: Sequence[GoalWord] = ()) -> GoalEnd:
    """What is next when `merged` tasks are all there is. `words`: kept of the goal; what was left keeps it open."""
    last = last_look(looks, merged)
    if last is None:
        return "look"
    if last.verdict == "holds":
        return "done"
    if last.verdict != "not yet":
        return "ask"
    again = len({look.merged for look in looks if look.at_end and look.verdict == "not yet"})
    is_counted = last.figure is not None or any(word.kind == "left" for word in words)
    return "plan again" if again <= (MOST_BY_FIGURE if is_counted else MOST_BY_WORDS) else "ask"


def last_look(looks: Sequence[GoalLook], merged: int, at_end: bool = True) -> GoalLook | None:
    """The last one that came to its end, or was tried too often, when so many tasks were merged."""
    here = [look for look in looks if look.merged == merged and look.at_end is at_end]
    seen = [look for look in here if look.verdict]
    is_tried = sum(look.begun for look in here) >= MOST_TRIES
    return seen[-1] if seen else here[-1] if is_tried else None


def is_measured(looks: Iterable[GoalLook], merged: int) -> bool:
    """Whether its figure was taken, or tried for, since the last of its tasks was merged."""
    return any(look.merged == merged and (look.verdict or look.begun >= MOST_TRIES) for look in looks)


# --- words ---------------------------------------------------------------------------------------------------

UNITS = {MeasureKind.COVERAGE: " %", MeasureKind.TIMING: " ms"}


def figures(measure: Measure, looks: Sequence[GoalLook]) -> str:
    """`coverage of api: 61.2 % -> 74.0 %, wanted at least 80 %`: the first figure and the last."""
    seen = [look.figure for look in looks if look.figure is not None]
    both = dict.fromkeys(_figure(measure, figure) for figure in (*seen[:1], *seen[-1:]))
    if not both:
        why = next((look.text for look in reversed(looks) if look.text), "not measured yet")
        return f"{subject(measure)}: {why}, wanted {_wanted(measure)}"
    return f"{subject(measure)}: {' -> '.join(both)}, wanted {_wanted(measure)}"


def all_of(taken: Sequence[tuple[Measure, float]]) -> str:
    """The figures of one look, if they are several."""
    lines = (f"{subject(measure)}: {_figure(measure, value)}, wanted {_wanted(measure)}" for measure, value in taken)
    return "; ".join(lines) if len(taken) > 1 else ""


def subject(measure: Measure) -> str:
    match measure.kind:
        case MeasureKind.COVERAGE:
            return f"coverage of {'all code' if measure.of == '.' else measure.of}"
        case MeasureKind.FINDINGS:
            tool, _, place = measure.of.partition(" ")
            return f"findings of {tool} in {place or '.'}"
        case MeasureKind.TIMING:
            return f"time of {measure.of}"
    return measure.of


def _wanted(measure: Measure) -> str:
    if measure.kind is MeasureKind.TEST:
        return "that it passes"
    least = [f"at least {_number(measure, measure.at_least)}"] if measure.at_least is not None else []
    most = [f"at most {_number(measure, measure.at_most)}"] if measure.at_most is not None else []
    return " and ".join(least + most)


def _figure(measure: Measure, figure: float) -> str:
    if measure.kind is MeasureKind.TEST:
        return "passes" if measure.holds(figure) else "does not pass"
    return f"{figure:.1f}{UNITS[measure.kind]}" if measure.kind in UNITS else f"{figure:g}"


def _number(measure: Measure, bound: float) -> str:
    return f"{bound:g}{UNITS.get(measure.kind, '')}"


def told(end: GoalEnd, looks: Sequence[GoalLook], measure: Measure | None) -> str:
    """How a goal stands whose tasks are merged, for the plan, the report and the roadmap."""
    last = next((look for look in reversed(looks) if look.at_end and look.verdict), None)
    figure = last.text if last and last.figure is not None else ""
    if measure and any(look.figure is not None for look in looks):
        figure = figures(measure, looks)
    if end == "look":
        return "not yet looked at" + (f" ({figure})" if figure else "")
    if end == "done":
        return f"held: {figure}" if figure else "read once: holds"
    what = figure or (last.text if last else "")
    return f"does not hold yet: {what}" if last and last.verdict == "not yet" else f"nobody can tell: {what}"


def question(looks: Sequence[GoalLook], measure: Measure | None, merged: int) -> str:
    """For the owner, when nothing more is planned for a goal that is not seen to hold."""
    last = last_look(looks, merged)
    why = last.text if last and last.text else "it was looked at three times, and each time something ended us"
    if measure and any(look.figure is not None for look in looks):
        why = figures(measure, looks)
    done = f"{counted(merged, 'task')} merged for it"
    holds = "it does not hold yet" if last and last.verdict == "not yet" else "nobody can tell whether it holds"
    return (
        f"{done}, and {holds}: {why}. Tick it in ROADMAP.md if it is good enough, or reword it to say what is missing."
    )


# --- the one model call at the end of a goal that no figure settles ------------------------------------------


MAX_CHANGES = 24_000  # characters of all differences
MAX_FILES = 24_000  # of all files
LARGEST_FILE = 10_000  # of one of them
MAX_BLOCK = 8_000  # of any other block
OF_A_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)
NAMED = re.compile(r"[\w-][\w./-]*")


@dataclass(frozen=True)
class EndReading:
    verdict: Literal["holds", "not yet", "cannot tell"]
    missing: str


class MergedTree(Protocol):
    """The target's commits: the mirror."""

    def tree(self, sha: str) -> Sequence[HasPath]: ...
    def read(self, sha: str, path: str, limit: int = ...) -> bytes | None: ...
    def diff(self, old: str, new: str, limit: int = ...) -> bytes: ...


@dataclass(frozen=True)
class GoalWork:
    """What was done for a goal. `changes`: (before, after) of each merge; `unmeasured`: why no figure tells."""

    goal: Goal
    tasks: Sequence[TaskSpec]
    changes: Sequence[tuple[str, str]]
    words: Sequence[GoalWord]
    unmeasured: str = ""


@dataclass(frozen=True)
class GoalEvaluator:
    asker: Asker
    prompts: Prompts

    def read(self, run: Run, work: GoalWork, tree: MergedTree, commit: str) -> EndReading:
        """Ask once, about the tree of this commit. Errors are those of the asker."""
        prompt = self.prompts.render(
            "orchestrator/goal_end",
            goal=_block((work.goal.title, *(f"- {detail}" for detail in work.goal.details)), "goal"),
            tasks=_block(map(_task, work.tasks), "tasks"),
            words=_block(_words(work), "words"),
            changes=quoted(_changes(work, tree), "changes"),
            files=_files(work, tree, commit) or quoted("", "files"),
        )
        return self.asker.ask(run, prompt.system, prompt.user, EndReading)


def _block(lines: Iterable[str], label: str) -> str:
    return quoted("\n".join(lines)[:MAX_BLOCK], label)


def _task(task: TaskSpec) -> str:
    return "\n".join((f"{task.id}: {task.title}", *(f"  - {line}" for line in task.acceptance)))


def _words(work: GoalWork) -> Iterable[str]:
    if work.unmeasured:
        yield f"could not be measured: {work.unmeasured}"
    yield from (f"{word.kind}{f' ({word.task})' if word.task else ''}: {word.text}" for word in work.words)


def _changes(work: GoalWork, tree: MergedTree) -> str:
    """Each change has the same share of the room; what is cut says so."""
    share = MAX_CHANGES // max(1, len(work.changes))
    return "\n".join(_cut(_difference(tree, *ends), share) for ends in work.changes)


def _difference(tree: MergedTree, before: str, after: str) -> str:
    try:
        patch = tree.diff(before, after).decode("utf-8", "replace")
    except (Refused, Stumble) as problem:  # not here any more, or too large
        return f"({problem})"
    return "".join(part for part in OF_A_FILE.split(patch) if not usually_holds_keys(_path(part)))


def _path(part: str) -> str:
    """The path of one file's part of a patch."""
    return re.split(r' "?b/', part.partition("\n")[0])[-1].rstrip('"')


def _files(work: GoalWork, tree: MergedTree, commit: str) -> str:
    """The files that the goal and its tasks name, small ones first and whole; none can speak as another one."""
    there = {entry.path for entry in tree.tree(commit) if not usually_holds_keys(entry.path)}
    said = NAMED.findall("\n".join((work.goal.title, *work.goal.details)))
    named = [*said, *(path for task in work.tasks for path in (*task.files, *task.new_files, *task.context))]
    texts = {path: _text(tree, commit, path) for path in dict.fromkeys(named) if path in there}
    shown, room = [], MAX_FILES
    for path, text in sorted(texts.items(), key=lambda one: (len(one[1]), one[0])):
        part = _cut(text, min(LARGEST_FILE, room))
        shown.append(f"{path}:\n{quoted(part, 'file')}")
        room -= len(part)
        if room <= 0:
            break
    return "\n\n".join(shown)


def _text(tree: MergedTree, commit: str, path: str) -> str:
    try:
        return (tree.read(commit, path) or b"").decode("utf-8", "replace")
    except Refused as problem:
        return f"({problem})"


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[:room]}\n(cut: {len(text) - room} more characters)"
