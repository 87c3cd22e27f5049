"""What the owner decides on: the commit, why it waits, what tests and review said of it; and what it changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sisimpur.agents.orchestrator.board.review_facts import protected_paths
from sisimpur.agents.orchestrator.publishing import gate_text, owner_text
from sisimpur.cli.terminal.printing import plain_block
from sisimpur.cli.views.show import at_the_gates
from sisimpur.cli.wiring.parts import listed_paths
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.evidence import Evidence, Reviewed
from sisimpur.shared.model.lifecycle import State
from sisimpur.web.api.reading.beside import goal_words, planners_words

if TYPE_CHECKING:
    from sisimpur.shared.repo.mirror import Mirror

PAGE = 5_000  # lines of a difference


def review_facts(records: Records, id_: str, state: State) -> dict[str, Any]:
    """Collect it in the form of JSON. `commit` empty: nothing was tested yet."""
    evidence, reviewed = records.gates.newest(id_)
    parked = records.gates.parked(id_) if state is State.IN_REVIEW else None
    waits = parked is not None and not records.gates.is_approved(parked)
    commit, known = evidence.commit if evidence else "", records.journal.task(id_)
    return {
        "id": id_,
        "goal_words": goal_words(records, known.goal_id) if known else "",
        "said": planners_words(records, known.goal_id, id_) if known else [],
        "state": state.value,
        "commit": commit,
        "base": evidence.base if evidence else "",
        "waits": waits,
        "since": parked.at.isoformat() if parked and parked.at else "",
        "reasons": list(parked.reasons) if parked else [],
        "change": parked.subject if parked else "",
        "told": at_the_gates(records, id_, state),
        "evidence": _evidence(evidence),
        "verdict": _verdict(reviewed, commit),
    }


def is_guarded(records: Records, id_: str) -> bool:
    """Tell whether what waits there touches what the notes in VISION.md guard, or nobody knows whether it does."""
    parked = records.gates.parked(id_)
    return parked is not None and (
        not parked.terms or any(name == "your notes" and said for name, said in parked.terms)
    )


def is_protected(records: Records, id_: str) -> bool:
    """Tell whether what waits there touches a protected path, or what the notes guard, or nobody knows whether it does.

    Its commit is looked at: what the owner was asked about may be another thing.
    """
    evidence, _ = records.gates.newest(id_)
    if records.gates.parked(id_) is None:
        return False
    if evidence is None or is_guarded(records, id_):
        return True
    with _mirror(records) as mirror:
        base = mirror.parent(evidence.commit)
        changes = mirror.changed(base, evidence.commit)
        return bool(protected_paths(mirror, base, changes, listed_paths(records.settings.target.file)))


def _evidence(found: Evidence | None) -> dict[str, Any]:
    """`standing`: passed, failed, not run."""
    if found is None:
        return {"standing": "not run"}
    standing = "failed" if found.is_red else "passed" if found.command else "not run"
    shown_by = owner_text.before_and_after(found)
    told = {"summary": gate_text.summary(found), "shown_by": shown_by, "not_seen": owner_text.unseen(found)}
    return {"standing": standing, **told, **asdict(found)}


def _verdict(reviewed: Reviewed | None, commit: str) -> dict[str, Any]:
    """`standing`: approved, changes requested, escalated, none, or that it is about another commit."""
    if reviewed is None:
        return {"standing": "none", "findings": []}
    verdict = reviewed.verdict
    return {
        "standing": verdict.kind if reviewed.commit == commit else "of another commit",
        "kind": verdict.kind,
        "commit": reviewed.commit,
        "summary": gate_text.verdict_line(verdict),
        "word": reviewed.word,
        "findings": [asdict(one) for one in verdict.findings],
    }


def difference(records: Records, id_: str, begin: int) -> dict[str, Any]:
    """Return lines of the change of exactly the commit that was tested, its tests first. `next`: where to read on.

    Letters that nobody sees are shown as `[U+202E]`.
    """
    evidence, _ = records.gates.newest(id_)
    if evidence is None:
        return {"commit": "", "base": "", "begin": 0, "lines": [], "next": None}
    with _mirror(records) as mirror:
        patch = mirror.diff(evidence.base, evidence.commit).decode("utf-8", "replace")
    lines = plain_block(owner_text.tests_first(patch)).split("\n")
    following = begin + PAGE if len(lines) > begin + PAGE else None
    found = {"lines": lines[begin : begin + PAGE], "next": following}
    return {"commit": evidence.commit, "base": evidence.base, "begin": begin, **found}


@contextmanager
def _mirror(records: Records) -> Iterator[Mirror]:
    from sisimpur.shared.repo.mirror import Mirror

    with closing(Mirror.at(records.home.mirror(records.settings.target.name))) as mirror:
        yield mirror
