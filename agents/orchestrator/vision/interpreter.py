"""(Vision, VisionChange) -> Interpretation. The one model call about the vision, made only for words that are new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sisimpur.agents.orchestrator.vision.goal_ids import note_id
from sisimpur.agents.orchestrator.vision.reading import (
    Interpretation,
    Unread,
    VisionReading,
    interpreted,
    standing,
    unread,
)
from sisimpur.shared.llm.prompts import Asker, Prompt, Prompts, quoted
from sisimpur.shared.model.work import Guard, Question, Remark, Run, Vision, VisionChange

MAX_BLOCK = 20_000  # characters of one block of the prompt
LONGEST_LINE = 2_000


def needs_reading(change: VisionChange, vision: Vision, guards: Iterable[Guard]) -> bool:
    """Whether a model has to be asked at all: only about new words."""
    return unread(change, vision, guards) != Unread()


class Interpreter:
    def __init__(self, asker: Asker, prompts: Prompts) -> None:
        self._asker = asker
        self._prompts = prompts

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
            answer = self._asker.ask(run, prompt.system, prompt.user, VisionReading)
        result = interpreted(answer, asked, vision, change.removed, known, files)
        return replace(result, questions=(*result.questions, *_too_long(asked.prose)))

    def _prompt(self, vision: Vision, asked: Unread, facts: str) -> Prompt:
        return self._prompts.render(
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
        yield f"{goal.id} (fresh, {goal.priority}) {goal.title}"
        yield from (f"    {detail}" for detail in goal.details)
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
            f"VISION.md holds more prose than I read at once ({MAX_BLOCK} characters): nothing from line "
            f"{prose[read].line} on was read. Write wishes as bullets under a priority.",
        )
