"""Names that are ours: task ids, branches, references of attempts, places. No title reaches git as it is."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from sisimpur.shared.model.errors import Refused

Place = Literal["staging", "production"]  # where the target runs
PLACES: tuple[Place, ...] = ("staging", "production")  # in this order

VERSION = "0.2.0"  # of this program, as in pyproject.toml
BRANCHES = "agent/"
WHO = "sisimpur-agents <agents@localhost>"  # of the commits that no coder made
LONGEST_SLUG = 40
TASK_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
UPKEEP_TASK = re.compile(r"[0-9]{8}-u[1-9][0-9]*")  # nobody asked for it; the ledger knows it by the same pattern
LANDING_TASK = re.compile(r"[0-9]{8}-l[1-9][0-9]*")
WINDOWS_DEVICES = {"con", "prn", "aux", "nul"} | {f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)}

# Scripts whose letters Unicode names by their sound; those of the first hold an `a` that a sign takes away.
INHERENT_A = {"BENGALI", "DEVANAGARI", "GUJARATI", "GURMUKHI", "KANNADA", "MALAYALAM", "ORIYA", "TAMIL", "TELUGU"}
OTHERS_BY_SOUND = {"CYRILLIC", "HANGUL", "HIRAGANA", "KATAKANA"}
SIGNS = {"virama": "", "anusvara": "n", "bindi": "n", "visarga": "h"} | dict.fromkeys(
    ("candrabindu", "nukta", "mark", "sign", "danda", "dot"), ""
)
DOUBLED = re.compile(r"([a-z])\1")  # ssa, aa: which of several alike
VOWEL_OF_A_NAME = re.compile(r"(?<=[^aeiouy])[ae]$|^e(?=[lmnrsf]$)")  # de, ka, em


def is_task_id(text: str) -> bool:
    """1 to 80 of `a-z 0-9 . _ -`, fit for a file name on every system and for a part of a git reference."""
    return TASK_ID.fullmatch(text) is not None and _is_reference(text) and text.split(".")[0] not in WINDOWS_DEVICES


def upkeep_task(day: str, number: int) -> str:
    """The id of the `number`-th task (from 1) that the team proposes on a day: 20261120-u1."""
    return f"{day.replace('-', '')}-u{number}"


def is_upkeep(task_id: str) -> bool:
    """A task that nobody asked for. Those of plans end with digits alone, so no id is both."""
    return UPKEEP_TASK.fullmatch(task_id) is not None


def landing_task(day: str, number: int) -> str:
    """The id of the `number`-th task (from 1) of a day that brings a goal's branch home: 20261120-l1."""
    return f"{day.replace('-', '')}-l{number}"


def is_landing(task_id: str) -> bool:
    """A task whose change was made by others: all that is on a goal's branch."""
    return LANDING_TASK.fullmatch(task_id) is not None


def goal_branch(goal_id: str, number: int) -> str:
    """`agent/goal-<id>`: the `number`-th (from 1) that a goal has, one after the other; Refused as in branch_name()."""
    return f"{BRANCHES}goal-{_checked(goal_id)}{f'-{number}' if number > 1 else ''}"


def slug(title: str) -> str:
    """Up to 40 of `a-z 0-9 -` that remind of the title, cut between words; empty if none of it can be written so."""
    plain = latin(title if title.isascii() else _by_sound(title)).lower()
    words = "-".join(re.findall("[a-z0-9]+", plain))
    if len(words) > LONGEST_SLUG:
        words = words[: LONGEST_SLUG + 1].rpartition("-")[0] or words[:LONGEST_SLUG]
    return words


def latin(text: str) -> str:
    """Leave Latin letters without their accents, and nothing else."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def _by_sound(title: str) -> str:
    """Spell what Unicode names by its sound: a reminder of the words, no romanization by the book."""
    found = ""
    for letter in unicodedata.normalize("NFC", title):
        script, *words = unicodedata.name(letter, "?").partition(" WITH ")[0].split()
        sound = DOUBLED.sub(r"\1", words[-1].lower()) if words else ""
        if script not in INHERENT_A and script not in OTHERS_BY_SOUND:
            found += letter
        elif (digit := unicodedata.digit(letter, None)) is not None:
            found += str(digit)
        elif "VOWEL" in words or "VIRAMA" in words:
            found = found.removesuffix("a") + SIGNS.get(sound, sound)
        else:
            found += SIGNS.get(sound, VOWEL_OF_A_NAME.sub("", sound) if script == "CYRILLIC" else sound)
    return found


def branch_name(task_id: str, title: str) -> str:
    """`agent/<id>-<slug>`; Refused if the id is not one of ours."""
    return BRANCHES + "-".join(filter(None, (_checked(task_id), slug(title))))


def is_agent_branch(name: str) -> bool:
    """One that branch_name() can have made: the only branches that we push to."""
    rest = name.removeprefix(BRANCHES)
    return rest != name and re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,120}", rest) is not None and _is_reference(rest)


def attempt_ref(task_id: str, attempt: int) -> str:
    """`refs/attempts/<id>.a<n>`: where an attempt's commit stands in our mirror."""
    return f"refs/attempts/{_checked(task_id)}.a{attempt}"


def fits(id_: str, typed: str) -> bool:
    """Tell whether an id begins so, or its last part is this: `20261120-01` is `01` and `1`, `g-1f3a2b` is `1f3a2b`.

    Up to three digits are a number of the day, never the beginning of a year.
    """
    last = id_.rpartition("-")[2]
    begins = id_.startswith(typed) and (len(typed) > 3 or not typed.isdigit())
    return bool(typed) and (begins or typed in (last, last.lstrip("0")) or id_.endswith(f"-{typed}"))


def _is_reference(part: str) -> bool:
    return ".." not in part and not part.endswith((".", ".lock"))


def _checked(task_id: str) -> str:
    if not is_task_id(task_id):
        raise Refused(f"not a task id: {task_id[:80]!r}; use small letters, digits, - _ and . (at most 80)")
    return task_id


# --- names of others -----------------------------------------------------------------------------------------


def package_name(name: str) -> str:
    """`Some_Name` and `some-name` are one package."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_windows_own(path: str) -> bool:
    """Whether Windows takes no such path: a device of its own, an end that it drops, a sign that means more there."""
    return any(
        part.partition(".")[0].lower() in WINDOWS_DEVICES or part.endswith((".", " ")) or set(part) & set('<>:"|?*\\')
        for part in path.split("/")
    )
