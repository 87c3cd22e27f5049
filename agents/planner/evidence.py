"""Check of the planner model's evidence: does the code really say that?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.planner.source import SourceTree, hits, lines_of
from agents.planner.task_spec import ClaimedEvidence, GoalReply, GoalVerdict, Proof
from shared.model.text import one_line
from shared.model.work import Goal, Question

NEAR = 3  # lines that a model may miscount
SHORTEST_QUOTE = 4  # letters and digits; less stands everywhere
MAX_EVIDENCE = 8  # pieces that are looked at
ENOUGH = 50  # lines, of which some may lie in files that are not read
LONGEST_TEXT = 500


def question(answer: GoalReply, goal: Goal, source: SourceTree) -> Question | None:
    """Question to the owner about a goal that gets no task; None: it gets tasks.

    "Not so" and "done already" are only passed on as facts if every piece of evidence stands.
    """
    text = one_line(answer.text, LONGEST_TEXT)
    reason = text or "it gives no reason."
    match answer.verdict:
        case GoalVerdict.TASKS:
            return None
        case GoalVerdict.QUESTION:
            return Question(goal.id, text or "The planner needs to know more about this; write it in more detail.")
        case GoalVerdict.PREMISE_FALSE:
            claim = f"The code does not bear this out: {reason} Remove or reword the goal."
        case GoalVerdict.ALREADY_DONE:
            claim = f"This seems to be done already: {reason} Check the goal off, or say what is missing."
    seen = "; ".join(shown(piece) for piece in answer.evidence[:MAX_EVIDENCE])
    if is_borne_out(answer, goal, source):
        return Question(goal.id, claim, seen)
    return Question(goal.id, claim, f"unverified: {seen or 'no evidence was given'}")


def is_borne_out(answer: GoalReply, goal: Goal, source: SourceTree) -> bool:
    """Say whether there is evidence, and every piece of it stands."""
    pieces = answer.evidence[:MAX_EVIDENCE]
    return bool(pieces) and all(stands(piece, goal, source) for piece in pieces)


def shown(piece: ClaimedEvidence) -> str:
    """Describe it in words, e.g. `app/views.py:12: return 1`."""
    path, quote = one_line(piece.path, 150), one_line(piece.quote, 150)
    match piece.kind:
        case Proof.LINE:
            return f"{path}:{piece.line}: {quote}"
        case Proof.NO_FILE:
            return f"there is no {path}"
        case Proof.NO_TEXT:
            return f'no file holds "{quote}"'


def stands(piece: ClaimedEvidence, goal: Goal, source: SourceTree) -> bool:
    """Looks for itself. What is said to be absent must be what the goal speaks of: everything else is absent too."""
    spoken = " ".join((goal.title, *goal.details))
    match piece.kind:
        case Proof.LINE:
            return _quoted_near(lines_of(source, piece.path) or (), piece)
        case Proof.NO_FILE:
            name = piece.path.strip("/")
            is_there = any(path == name or path.endswith(f"/{name}") for path in source.files())
            return bool(name) and name in spoken and not is_there
        case Proof.NO_TEXT:
            found = any(hits(source, text, ENOUGH) for text in (piece.quote, piece.quote.lower()))
            return _says_something(piece.quote) and piece.quote in spoken and not found


def _quoted_near(lines: Sequence[str], piece: ClaimedEvidence) -> bool:
    """Each line of the quote stands, from one blank to the next, at or near the named line."""
    first = max(0, piece.line - 1 - NEAR)
    quoted = [_normal(line) for line in piece.quote.splitlines() if line.strip()]
    near = [_normal(line) for line in lines[first : piece.line + NEAR + len(quoted)]] if piece.line > 0 else []
    return _says_something(piece.quote) and all(any(quote in line for line in near) for quote in quoted)


def _normal(line: str) -> str:
    """Blanks collapsed, without the number that our own listing puts in front."""
    return " ".join(re.sub(r"^\s*\d+\|\s?", "", line).split())


def _says_something(quote: str) -> bool:
    return sum(c.isalnum() for c in quote) >= SHORTEST_QUOTE
