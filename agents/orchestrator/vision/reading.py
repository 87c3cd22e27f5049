"""What the model says about the vision, asked once for words that are new, and what of it is believed.

A guard must match files of the target, a question must be about a goal that was asked about, a goal must come from the
prose. What a note names is guarded by code (named_paths); each of its sentences ends as a guard, a question or a wish
that protects nothing: none is lost in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from sisimpur.agents.orchestrator.vision.goal_ids import PROSE, identified, normalised, note_id
from sisimpur.agents.orchestrator.vision.named_paths import NoteFate, TargetPaths, fates, is_named_by, merged_patterns
from sisimpur.shared.llm.prompts import Asker, Prompt, Prompts, quoted
from sisimpur.shared.model.scope import is_plain_path, matches
from sisimpur.shared.model.text import one_line
from sisimpur.shared.model.work import Goal, Guard, Priority, Question, Remark, Run, Vision, VisionChange
from sisimpur.shared.words.meaning import says_no

MAX_PATTERNS = 50  # of all guards together
MAX_FOUND = 20  # goals in prose
LONGEST_QUESTION = 1_200  # a few sentences: whoever answers has to read it to its end
LONGEST_TITLE = 150


# --- the answer ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GuardAnswer:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    line: int
    patterns: list[str]


@dataclass(frozen=True)
class QuestionAnswer:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    goal_id: str
    text: str


@dataclass(frozen=True)
class GoalReading:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    line: int
    title: str
    priority: Priority


@dataclass(frozen=True)
class VisionReading:
    """The whole answer."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    guards: list[GuardAnswer]
    questions: list[QuestionAnswer]
    goals: list[GoalReading]


# --- what was asked about ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unread:
    """The new words of a vision: all that a model is asked about."""

    goals: tuple[Goal, ...] = ()
    notes: tuple[Remark, ...] = ()
    prose: tuple[Remark, ...] = ()
    day: str = field(default="", compare=False)  # on which it is asked

    @property
    def remarks(self) -> tuple[Remark, ...]:
        return self.notes + self.prose


def unread(change: VisionChange, vision: Vision, guards: Iterable[Guard]) -> Unread:
    """New and changed goals, new notes without a known guard, new prose."""
    guarded = {guard.note for guard in guards if guard.is_read}
    return Unread(
        change.new + change.changed,
        tuple(remark for remark in change.fresh if remark in vision.notes and remark.text not in guarded),
        tuple(remark for remark in change.fresh if remark not in vision.notes),
    )


# --- what becomes of it --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Interpretation:
    """All guards that hold now; questions; new goals from prose, with their ids; sentences that protect nothing."""

    guards: tuple[Guard, ...] = ()
    questions: tuple[Question, ...] = ()
    goals: tuple[Goal, ...] = ()
    wishes: tuple[Remark, ...] = ()


def standing(vision: Vision, guards: Iterable[Guard]) -> tuple[Guard, ...]:
    """The known guards whose note is still in the vision, word for word."""
    said = {remark.text for remark in vision.notes + vision.unread}
    return tuple(guard for guard in guards if guard.note in said)


def interpreted(
    answer: VisionReading,
    asked: Unread,
    vision: Vision,
    removed: Sequence[Goal],
    known: Sequence[Guard],
    files: Sequence[str],
) -> Interpretation:
    """What can be believed. `removed`: goals that left the vision; `known`: guards that hold; `files`: the target's.

    Code makes a guard of each name in a note, whatever the answer; what is known stays; the answer may only add.
    """
    target, guards, questions, wishes = TargetPaths(tuple(files)), [], [*_questions(answer, asked.goals)], []
    held = {guard.note: guard for guard in known}
    room = MAX_PATTERNS - sum(len(guard.patterns) for guard in known)
    for remark in (*vision.notes, *vision.unread):
        before = held.get(remark.text, Guard(remark.text, ()))
        good, bad = _patterns(remark, answer, files, room) if remark in asked.remarks else ((), ())
        room -= len(good)
        found = _fates(remark, vision, target, (*before.patterns, *good))
        named = merged_patterns(*(one.patterns for one in found))
        good = tuple(one for one in good if not is_covered(one, (*named, *before.patterns)))
        patterns = merged_patterns(before.patterns, named, good)
        if patterns:
            alone = [one for one in good if one not in (*named, *before.patterns) and not is_named_by(one, remark.text)]
            guards.append(Guard(remark.text, patterns, asked.day if alone else before.unseen))
        lost = [one for one in found if one.fate == "question"]
        if bad or lost:
            questions.append(_lost_no(remark, patterns, bad, lost))
        wishes += [_wish(remark, one) for one in found if one.fate == "wish"]
    found_goals = _found(answer, asked.prose, vision, removed)
    return Interpretation(tuple(_once(guards)), tuple(dict.fromkeys(questions)), found_goals, tuple(wishes))


def ahead(vision: Vision, known: Sequence[Guard], files: Sequence[str]) -> tuple[Guard, ...]:
    """What code guards of the notes that have no guard yet: it holds before a model answers, and if none does."""
    held = {guard.note for guard in known}
    guards = interpreted(VisionReading([], [], []), Unread(), vision, (), standing(vision, known), files).guards
    return tuple(replace(guard, is_read=False) for guard in guards if guard.note not in held)


def _once(guards: Iterable[Guard]) -> Iterator[Guard]:
    """The same words on two lines are one note: its guards are one."""
    by_note: dict[str, Guard] = {}
    for guard in guards:
        same = by_note.get(guard.note, guard)
        by_note[guard.note] = replace(
            same, patterns=merged_patterns(same.patterns, guard.patterns), unseen=same.unseen or guard.unseen
        )
    return iter(by_note.values())


def _fates(remark: Remark, vision: Vision, target: TargetPaths, by_model: Sequence[str]) -> list[NoteFate]:
    """Of prose only what says no: the rest is no note."""
    if remark in vision.notes:
        return fates(remark, target, by_model, remark in vision.guard_lines)
    if not says_no(remark.text):
        return []
    return [one for one in fates(remark, target, by_model) if says_no(one.sentence)]


def _patterns(
    remark: Remark, answer: VisionReading, files: Sequence[str], room: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The patterns of the answer that guard something, and those that cannot be used."""
    said = [
        pattern.strip().removeprefix("./") for a in answer.guards if a.line == remark.line for pattern in a.patterns
    ]
    patterns = tuple(dict.fromkeys(said))
    good = tuple(pattern for pattern in patterns[: max(0, room)] if is_guard(pattern, files))
    return good, tuple(pattern for pattern in patterns if pattern not in good)


def is_covered(pattern: str, others: Iterable[str]) -> bool:
    """Say whether one of these folders holds all that the pattern means: it need not be listed beside it."""
    folders = (other.removesuffix("**").rstrip("/") for other in others if other.endswith(("/", "/**")))
    return any(pattern.strip("/").startswith(f"{folder}/") for folder in folders)


def is_guard(pattern: str, files: Sequence[str]) -> bool:
    """Plain, naming something, covering at least one file, and not simply everything."""
    if not is_plain_path(pattern.strip("/")) or not any(c.isalnum() for c in pattern):
        return False
    covered = sum(1 for path in files if matches(path, (pattern,)))
    return covered > 0 and (covered < len(files) or pattern.strip("/") in files)


def _wish(remark: Remark, found: NoteFate) -> Remark:
    """What it may mean is told beside it each day, with what guards that; it is no question that waits."""
    meant = f' (is {", ".join(found.seen)} meant? then write "guards: {", ".join(found.seen)}")' if found.seen else ""
    return Remark(f"{found.sentence}{meant}", remark.line)


def _lost_no(remark: Remark, held: Sequence[str], patterns: Sequence[str], lost: Sequence[NoteFate]) -> Question:
    sentences = " / ".join(one.sentence for one in lost) or remark.text
    seen = merged_patterns(*(one.seen for one in lost))
    parts = (
        f"not used, they match no file, every file, or are too many: {one_line(', '.join(patterns), 200)}"
        if patterns
        else "",
        f"it names {one_line(', '.join(seen), 200)}" if seen else "",
    )
    return Question(
        note_id(remark),
        f'I found no file that your note means: "{one_line(sentences, 200)}" (in VISION.md). '
        f"It protects nothing {'more ' if held else ''}yet. Name a path in it, e.g. `apps/payments/`.",
        "; ".join(filter(None, parts)),
    )


def _questions(answer: VisionReading, asked: Iterable[Goal]) -> Iterator[Question]:
    """One for each goal that was asked about."""
    open_goals = {goal.id for goal in asked}
    for question in answer.questions:
        text = one_line(question.text, LONGEST_QUESTION)
        if text and question.goal_id in open_goals:
            open_goals.remove(question.goal_id)
            yield Question(question.goal_id, text)


def _found(answer: VisionReading, prose: Iterable[Remark], vision: Vision, removed: Iterable[Goal]) -> tuple[Goal, ...]:
    """Goals in prose. The prose is kept as the first detail: while it stands, the goal stands."""
    sources = {remark.line: remark for remark in prose}
    seen = {normalised(goal.title) for goal in vision.goals} | {()}
    drafts = []
    for found in answer.goals[:MAX_FOUND]:
        title, source = one_line(found.title, LONGEST_TITLE), sources.get(found.line)
        if source and normalised(title) not in seen:
            seen.add(normalised(title))
            drafts.append(Goal("", title, (source.text,), found.priority, source.line))
    gone = [goal for goal in removed if goal.id.startswith(PROSE)]
    return identified(drafts, gone, [goal.id for goal in vision.goals], PROSE)


# --- the question --------------------------------------------------------------------------------------------

MAX_BLOCK = 20_000  # characters of one block of the prompt
LONGEST_LINE = 2_000


def needs_reading(change: VisionChange, vision: Vision, guards: Iterable[Guard]) -> bool:
    """Whether a model has to be asked at all: only about new words."""
    return unread(change, vision, guards) != Unread()


@dataclass(frozen=True)
class Interpreter:
    asker: Asker
    prompts: Prompts

    def read(
        self, run: Run, vision: Vision, change: VisionChange, guards: Sequence[Guard], files: Sequence[str], facts: str
    ) -> Interpretation:
        """Without a model call if nothing is new; what the notes name is guarded in any case.

        `guards` are those known from before, `files` all paths of the target, `facts` what is worth knowing of it.
        """
        known = standing(vision, guards)
        asked = replace(unread(change, vision, known), day=run.day)
        answer = VisionReading([], [], [])
        if asked != Unread():
            prompt = self._prompt(vision, asked, facts)
            answer = self.asker.ask(run, prompt.system, prompt.user, VisionReading)
        result = interpreted(answer, asked, vision, change.removed, known, files)
        return replace(result, questions=(*result.questions, *_too_long(asked.prose)))

    def _prompt(self, vision: Vision, asked: Unread, facts: str) -> Prompt:
        return self.prompts.render(
            "orchestrator/interpret",
            facts=quoted(facts, "facts"),
            goals=_block(_goal_lines(vision, asked), "goals"),
            notes=_block(_numbered(asked.notes), "notes"),
            prose=_block(_numbered(asked.prose), "prose"),
            known=_block(_numbered(note for note in vision.notes if note not in asked.notes), "notes"),
        )


def _goal_lines(vision: Vision, asked: Unread) -> Iterator[str]:
    """The fresh goals first and whole; of the others the titles."""
    for goal in asked.goals:
        title, *details = goal.said
        yield f"{goal.id} (fresh, {goal.priority}) {title}"
        yield from (f"    {detail}" for detail in details)
    yield from (f"{goal.id} ({goal.priority}) {goal.title}" for goal in vision.goals if goal not in asked.goals)


def _numbered(remarks: Iterable[Remark]) -> Iterator[str]:
    return (f"line {remark.line}: {remark.text}" for remark in remarks)


def _block(lines: Iterable[str], label: str) -> str:
    return quoted("\n".join(_fitting(lines)), label)


def _fitting(lines: Iterable[str]) -> list[str]:
    """As many lines as a block has room for."""
    kept: list[str] = []
    room = MAX_BLOCK
    for line in lines:
        room -= min(len(line), LONGEST_LINE) + 1
        if room < 0:
            break
        kept.append(line[:LONGEST_LINE])
    return kept


def _too_long(prose: Sequence[Remark]) -> Iterator[Question]:
    """What did not fit was not read, and the owner is told."""
    read = len(_fitting(_numbered(prose)))
    if read < len(prose):
        yield Question(
            note_id(prose[read]),
            f"VISION.md holds more prose than I read at once ({MAX_BLOCK} characters): nothing was read from "
            f'"{one_line(prose[read].text, 100)}" on. Write wishes as bullets under a priority.',
        )
