"""The reader's changes: from what a goal knows to SEARCH/REPLACE blocks on the files that a prompt shows. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from bench.goals.goals import Edit, Files, Goal, each

MARGINS = (2, 8, 1, 0, 1_000_000)  # lines around a change that make its SEARCH unique
LEFT_OUT = "\n⋮"  # begins a line that stands for what is not shown of a long file


class Unseen(Exception):
    """A file that has to be changed is not shown, or not as it would have to be. The text is its path."""


def steps(changes: Sequence[Files], parts: Sequence[int]) -> list[tuple[str, Edit]]:
    """The edits of some tasks, in order."""
    return [(path, edit) for part in parts for path, edit in each(changes[part : part + 1])]


def rewritten(shown: Mapping[str, str], edits: Sequence[tuple[str, Edit]], creatable: Sequence[str]) -> dict[str, str]:
    """Path -> its new text. Raises `Unseen`. What is changed already stays as it is."""
    texts: dict[str, str] = {}
    for path, edit in edits:
        before = texts.get(path, shown.get(path))
        if before is None and (edit.whole is None or path not in creatable):
            raise Unseen(path)
        texts[path] = _after(path, before or "", edit)
    return texts


def _after(path: str, text: str, edit: Edit) -> str:
    if edit.whole is not None:
        return edit.whole
    find, put = edit.find or "", edit.put or ""
    if find in put and put in text:
        return text
    if text.count(find) == 1:
        return text.replace(find, put)
    if (put and put in text) or (not put and find not in text):
        return text
    raise Unseen(path)


def original(goal: Goal, path: str, before: Sequence[Files] = ()) -> str:
    """A file as it is in the repository, with the edits of earlier tasks."""
    file = goal.tree / path
    text = file.read_text("utf-8") if file.exists() else ""
    for where, edit in each(before):
        if where == path:
            text = _after(path, text, edit)
    return text


def without_the_wrong(goal: Goal, shown: Mapping[str, str], parts: Sequence[int]) -> dict[str, str]:
    """The files as shown; those that hold exactly the wrong change, as they were before it."""
    wrong = steps(goal.distractor.edits, parts)
    found = dict(shown)
    for path in dict.fromkeys(path for path, _ in wrong):
        before = original(goal, path)
        if path in shown and before and _is(before, [one for one in wrong if one[0] == path], shown[path]):
            found[path] = before
    return found


def _is(before: str, edits: Sequence[tuple[str, Edit]], shown: str) -> bool:
    try:
        return rewritten({edits[0][0]: before}, edits, ())[edits[0][0]] == shown
    except Unseen:
        return False


# --- as an engine reads it -----------------------------------------------------------------------------------


def blocks(path: str, old: str, new: str, fence: tuple[str, str]) -> str:
    """SEARCH/REPLACE blocks that make `new` of `old`; empty: nothing is to be changed."""
    if old == new:
        return ""
    fits = (pairs for margin in MARGINS if _leads_to(pairs := _pairs(old, new, margin), old, new))
    pairs = next(fits, [])
    return "\n".join(
        f"{path}\n{fence[0]}\n<<<<<<< SEARCH\n{find}=======\n{put}>>>>>>> REPLACE\n{fence[1]}\n" for find, put in pairs
    )


def _pairs(old: str, new: str, margin: int) -> list[tuple[str, str]]:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    groups = difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(margin)
    return [
        ("".join(before[group[0][1] : group[-1][2]]), "".join(after[group[0][3] : group[-1][4]])) for group in groups
    ]


def _leads_to(pairs: Sequence[tuple[str, str]], old: str, new: str) -> bool:
    text = old
    for find, put in pairs:
        if old and (not find or text.count(find) != 1 or LEFT_OUT in f"\n{find}"):
            return False
        text = text.replace(find, put, 1) if find else put
    return text == new
