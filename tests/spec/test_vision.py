"""VISION.md -> Vision -> VisionChange: what the owner writes is read."""

from __future__ import annotations

import contextlib
import random
import re
import string
import time
from dataclasses import replace

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.planning.daily_planner import Beside, goals_to_plan, render
from sisimpur.agents.orchestrator.vision.goal_ids import unwanted
from sisimpur.agents.orchestrator.vision.vision_parser import MAX_GOALS, difference, parse
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.lifecycle import Board
from sisimpur.shared.model.work import DailyPlan, Priority, Remark, Vision
from sisimpur.shared.system.markdown import MAX_CHARACTERS, outline
from sisimpur.shared.words.meaning import SAME_GOAL, likeness
from tests.spec.goal_pairs import DIFFERENT, SAME

MORNING = """\
# Sisimpur Vision — Updated 2026-02-17

## Priority: CRITICAL
- Fix the duplicated code in authentication/views.py
- Fix CSRF_TRUSTED_ORIGINS string concatenation bug in settings.py

## Priority: HIGH
- Migrate from SQLite to PostgreSQL
  - keep the old data
  - no downtime

## Priority: MEDIUM
- Add comprehensive test suite (target 70% coverage)

## Ideas (Research First)
- Evaluate adding Redis for caching exam sessions

## Notes
- Don't touch the n8n webhook integration, it works fine
- Keep supporting Bengali/Bangla language
"""


def read(text: str, previous: Vision | None = None) -> Vision:
    return parse(outline(text), previous)


def titles(vision: Vision) -> list[str]:
    return [goal.title for goal in vision.goals]


def ids(vision: Vision) -> list[str]:
    return [goal.id for goal in vision.goals]


def texts(remarks: tuple[Remark, ...]) -> list[str]:
    return [remark.text for remark in remarks]


# --- what is read --------------------------------------------------------------------------------------------


def test_the_vision_of_the_first_morning_is_read_without_a_model() -> None:
    vision = read(MORNING)
    assert [(goal.priority.value, goal.line) for goal in vision.goals] == [
        ("critical", 4),
        ("critical", 5),
        ("high", 8),
        ("medium", 13),
    ]
    assert vision.goals[2].details == ("keep the old data", "no downtime")
    assert texts(vision.ideas) == ["Evaluate adding Redis for caching exam sessions"]
    assert vision.notes[0] == Remark("Don't touch the n8n webhook integration, it works fine", 19)
    assert vision.unread == vision.warnings == ()
    assert all(re.fullmatch("g-[0-9a-f]{6}", id_) for id_ in ids(vision))


@pytest.mark.parametrize(
    ("heading", "priority"),
    [
        pytest.param("## Priority: HIGH", "high", id="as in the manual"),
        pytest.param("## priority: high", "high", id="small letters"),
        pytest.param("# PRIORITY — Low:", "low", id="another level, another dash"),
        pytest.param("## 🔥 **Priority: CRITICAL** 🔥", "critical", id="emoji and stars"),
        pytest.param("## Priority: medium (this week)", "medium", id="words behind"),
        pytest.param("## High priority", "high", id="the other way round"),
        pytest.param("## LOW", "low", id="only the word"),
        pytest.param("Priority: HIGH\n---", "high", id="underlined heading"),
    ],
)
def test_a_priority_is_recognised_however_it_is_dressed(heading: str, priority: str) -> None:
    vision = read(f"# Vision\n\n{heading}\n- a goal\n")
    assert [(goal.title, goal.priority) for goal in vision.goals] == [("a goal", priority)]
    assert vision.warnings == ()


def test_an_unknown_priority_counts_as_medium_and_is_named_with_its_line() -> None:
    vision = read("# Vision\n\n## Priority: URGENT!!!\n- a goal\n### Login\n- another\n")
    assert vision.goals[0].priority is Priority.MEDIUM
    assert [warning.line for warning in vision.warnings] == [3]
    assert "URGENT" in vision.warnings[0].text
    assert "CRITICAL, HIGH, MEDIUM or LOW" in vision.warnings[0].text


@pytest.mark.parametrize(
    ("bullets", "expected"),
    [
        pytest.param("- one\n* two\n+ three", ["one", "two", "three"], id="all bullets"),
        pytest.param("1. one\n2) two", ["one", "two"], id="numbered"),
        pytest.param("- [ ] one\n- [ ] two", ["one", "two"], id="open boxes are goals"),
        pytest.param("- [x] one\n- [X] two\n- three", ["three"], id="checked boxes are done"),
        pytest.param(
            "- [x] one\n  - nested\n\n  text of it\n- two", ["two"], id="what is nested in a done one goes along"
        ),
        pytest.param("- [x](https://example.org) one", ["[x](https://example.org) one"], id="a link is no box"),
        pytest.param("- one\n  and more of it", ["one and more of it"], id="continued on the next line"),
        pytest.param("- \n  - one\n  - two", ["one", "two"], id="an empty bullet has no children"),
        pytest.param("- <!-- hidden --> one\n\n<!--\n- two\n-->", ["one"], id="comments are not read"),
        pytest.param("- **one** `two_three` \\_x", ["**one** `two_three` \\_x"], id="the words stay as written"),
        pytest.param("- # one", ["one"], id="a heading inside a bullet is its text"),
        pytest.param(
            "- a\x00b\x1b[31m\u202ec", ["a\ufffdb [31mc"], id="control characters; what nobody sees splits no word"
        ),
        pytest.param("- প্রশ্ন\u200dপত্র বাংলা", ["প্রশ্ন\u200dপত্র বাংলা"], id="Bengali with its joiners"),
    ],
)
def test_bullets_are_goals(bullets: str, expected: list[str]) -> None:
    vision = read(f"## Priority: HIGH\n{bullets}\n")
    assert titles(vision) == expected
    assert vision.warnings == vision.unread == ()


def test_what_is_nested_in_a_bullet_is_its_detail() -> None:
    nested = "\n  text\n  - a\n    - b\n  - [x] done\n    - with it\n  - [ ] c\n\n  d\n\n      e\n      f\n"
    vision = read(f"## Priority: LOW\n- goal\n{nested}")
    assert vision.goals[0].details == ("text", "a", "b", "c", "d", "e", "f")


def test_a_very_long_bullet_loses_nothing() -> None:
    long = "word " * 300
    goal = read(f"## Priority: LOW\n- {long}\n  - detail\n").goals[0]
    assert len(goal.title) <= 200
    assert goal.details == goal.said == (long.strip(), "detail"), "and says nothing twice"


def test_subheadings_keep_their_meaning() -> None:
    """Under Notes they may say what the bullets are about; there "Critical" does not begin goals."""
    vision = read("## Priority: HIGH\n### Login\n- a\n## Notes\n### Don't touch\n- payments\n### Critical\n- backups\n")
    assert vision.goals == (replace(vision.goals[0], title="a", details=("Login",)),)
    assert texts(vision.notes) == ["Don't touch: payments", "Critical: backups"]


def test_a_note_keeps_what_is_nested_in_it() -> None:
    vision = read(
        "## Notes\n- Don't touch:\n  - payments\n  - n8n\n- Careful\n  - with dates\n\nFree text is a note too.\n"
    )
    assert texts(vision.notes) == ["Don't touch: payments; n8n", "Careful: with dates", "Free text is a note too."]


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        pytest.param("We want to be faster.\n", ["We want to be faster."], id="no heading at all"),
        pytest.param("- faster\n- cheaper\n", ["faster", "cheaper"], id="bullets before any heading"),
        pytest.param("# Vision\nBe fast.\n", ["Be fast."], id="below the title"),
        pytest.param("# Vision\n## Background\nIt is slow.\n", ["Background: It is slow."], id="an unknown heading"),
        pytest.param("## Priority: LOW\nSoon, please.\n- goal\n", ["Soon, please."], id="between goals"),
        pytest.param("## Notes\n- a\n## Later\n- b\n", ["Later: b"], id="an unknown heading ends the section"),
        pytest.param("> quoted\n", ["quoted"], id="a quotation"),
        pytest.param("[x]: https://example.org\n", ["[x]: https://example.org"], id="the address of a link"),
        pytest.param("```\ncode\n```\n", ["code"], id="code"),
        pytest.param("| a | b |\n|---|---|\n", ["| a | b | |---|---|"], id="a table"),
    ],
)
def test_what_the_grammar_cannot_read_is_kept_for_a_model(text: str, unread: list[str]) -> None:
    vision = read(text)
    assert texts(vision.unread) == unread
    assert "goal" in titles(vision) or not vision.goals


# --- hostile text --------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.text(max_size=2_000) | st.text(alphabet="#-*>`~ \n\t[]x1.Pab:<!&", max_size=300))
@example("```\n- a")
@example("- " * 40 + "a")
@example("## Priority: HIGH\n- \ud800")
def test_any_text_is_read_or_refused_and_reading_twice_changes_nothing(text: str) -> None:
    try:
        first = read(text)
    except Refused:
        return
    again = read(text, first)
    assert again == first
    assert difference(first, again).is_empty
    assert len(set(ids(first))) == len(first.goals)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("a" * (MAX_CHARACTERS + 1), str(MAX_CHARACTERS), id="too long"),
        pytest.param("- " * 30 + "a", "20 levels", id="bullets too deep"),
        pytest.param("> " * 30 + "a", "20 levels", id="quotations too deep"),
        pytest.param("a\n\n```\n## Priority: HIGH\n- a", "line 3: a code block", id="a code block without end"),
        pytest.param("<!-- \n## Priority: HIGH\n- a", "line 1: a comment", id="a comment without end"),
        pytest.param("## Priority: HIGH\n" + "- a\n" * (MAX_GOALS + 1), str(MAX_GOALS), id="too many goals"),
    ],
)
def test_what_would_swallow_goals_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        read(text)


@pytest.mark.parametrize(
    "piece", ["[", "- a\n", "* * * a\n", "> ", "`", "<!-- -->", "a\n", "1. 1. a\n", "\t- ", "<a\n"]
)
def test_no_text_takes_long(piece: str) -> None:
    began = time.process_time()
    with_limit = (piece * MAX_CHARACTERS)[: MAX_CHARACTERS - 10] + "\n"
    with contextlib.suppress(Refused):
        outline(with_limit)
    assert time.process_time() - began < 5


GREEK = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")
WORDS = st.sampled_from(GREEK)
PIECES = st.builds(
    lambda lead, words: lead + " ".join(words),
    st.sampled_from(["# ", "## Notes ", "## Priority: low ", "- ", "  - ", "    ", "> ", "1. ", "", "* [ ] ", "\n"]),
    st.lists(WORDS, min_size=1, max_size=4),
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=12))
def test_no_word_is_lost_on_the_way_to_the_outline(pieces: list[str]) -> None:
    text = "\n".join(pieces)
    said = " ".join(line.text for line in outline(text))
    assert [word for word in re.findall(r"\w+", said) if word in GREEK] == [
        word for word in re.findall(r"\w+", text) if word in GREEK
    ]


# --- ids and the difference ----------------------------------------------------------------------------------


def test_line_ends_do_not_matter() -> None:
    assert read(MORNING) == read(MORNING.replace("\n", "\r\n")) == read(MORNING.replace("\n", "\r"))


def test_an_unchanged_vision_is_no_difference() -> None:
    vision = read(MORNING)
    change = difference(vision, read(MORNING, vision))
    assert change.is_empty
    assert change.unchanged == vision.goals
    assert change.fresh == ()


def test_the_first_vision_is_all_new() -> None:
    vision = read(MORNING)
    change = difference(None, vision)
    assert change.new == vision.goals
    assert change.remarks_changed
    assert change.fresh == vision.notes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("Migrate from SQLite to PostgreSQL", "Move from SQLite to PostgreSQL", id="other words"),
        pytest.param("Migrate from SQLite to PostgreSQL", "migrate from SQLite to PostgreSQL!", id="only dress"),
        pytest.param("  - no downtime", "  - at most one hour of downtime", id="a detail"),
        pytest.param("target 70% coverage", "target 80% coverage", id="a number"),
        pytest.param("- Fix the duplicated", "- 🔥 FIX the duplicated", id="an emoji"),
    ],
)
def test_a_reworded_goal_keeps_its_id_and_is_changed(old: str, new: str) -> None:
    before = read(MORNING)
    after = read(MORNING.replace(old, new), before)
    change = difference(before, after)
    assert ids(after) == ids(before)
    assert len(change.changed) == 1
    assert not change.new + change.removed


def test_a_goal_about_something_else_is_another_one() -> None:
    before = read(MORNING)
    after = read(MORNING.replace("Migrate from SQLite to PostgreSQL", "Migrate from SQLite to MySQL"), before)
    change = difference(before, after)
    assert len(change.new) == len(change.removed) == 1 and not change.changed


def test_rewording_is_told_from_another_wish_on_sixty_pairs() -> None:
    """Nine of ten at least, of what is one goal and of what only looks like one; no two pairs decide for each other."""
    found = [likeness(*pair) >= SAME_GOAL for pair in SAME]
    wrong = [likeness(*pair) >= SAME_GOAL for pair in DIFFERENT]
    assert sum(found) >= 0.9 * len(SAME) and sum(wrong) <= 0.1 * len(DIFFERENT)
    assert [likeness(*pair) for pair in SAME] == [likeness(*reversed(pair)) for pair in SAME]


def test_a_goal_moved_to_another_priority_and_reworded_is_the_same_goal() -> None:
    before = read("## Priority: HIGH\n- Add Gunicorn as WSGI server in Docker\n## Priority: LOW\n- Something else\n")
    after = read("## Priority: LOW\n- Something else\n- Add Gunicorn as the WSGI server in Docker\n", before)
    change = difference(before, after)
    assert [goal.id for goal in change.changed] == [before.goals[0].id]
    assert not change.new + change.removed


@pytest.mark.parametrize(
    ("longer", "is_same"),
    [
        pytest.param("Make it faster: an exam of 50 questions in 300 ms", True, id="a question answered"),
        pytest.param("Make the coffee for an exam of 50 questions in less than 300 ms", False, id="something else"),
    ],
)
def test_who_says_more_of_a_goal_means_the_same(longer: str, is_same: bool) -> None:
    before = read("## Priority: HIGH\n- Make it faster\n")
    after = read(f"## Priority: HIGH\n- {longer}\n", before)
    assert (ids(after) == ids(before)) is is_same


def test_another_goal_is_new_and_the_old_one_removed() -> None:
    before = read("## Priority: HIGH\n- Migrate from SQLite to PostgreSQL\n")
    after = read("## Priority: HIGH\n- Write a privacy policy\n", before)
    change = difference(before, after)
    assert (change.new, change.removed) == (after.goals, before.goals)


@pytest.mark.parametrize("box", ["[x]", "[X]"])
def test_a_goal_that_is_checked_off_is_done_and_no_longer_wanted(box: str) -> None:
    before = read("## Priority: HIGH\n- one goal\n- another\n")
    text = f"## Priority: HIGH\n- {box} one goal\n- another\n- {box} never known\n"
    after = read(text, before)
    (done,) = after.done
    assert done.id == before.goals[0].id and done.id not in ids(after)
    assert difference(before, after).done == (before.goals[0],)
    assert unwanted(done.id, "", after) == "you have ticked its goal off in VISION.md: it is done"
    assert read(text, after).done == after.done, "as long as it stands there"


@pytest.mark.parametrize(
    ("heading", "priority", "told"),
    [
        ("Prioriy: HIGH", Priority.HIGH, '"Prioriy: HIGH" is read as "priority"; mend it there'),
        ("Piority: low", Priority.LOW, '"Piority: low" is read as "priority"; mend it there'),
        ("HIGH prority", Priority.HIGH, '"HIGH prority" is read as "priority"; mend it there'),
        ("Priority: HIHG", Priority.HIGH, '"Priority: HIHG" is read as HIGH; mend it there'),
        ("Proirity: critcal", Priority.CRITICAL, '"Proirity: critcal" is read as CRITICAL; mend it there'),
    ],
)
def test_a_slip_in_a_heading_is_read_and_told(heading: str, priority: Priority, told: str) -> None:
    vision = read(f"# Vision\n\n## {heading}\n- one goal\n")
    assert [(goal.title, goal.priority) for goal in vision.goals] == [("one goal", priority)]
    assert texts(vision.warnings) == [told]


def test_a_slip_in_another_heading_is_read_too() -> None:
    vision = read("# Vision\n\n## Nots\n- Keep it small\n\n## Idaes\n- nothing\n\n## Ides\n- Redis\n")
    assert (texts(vision.notes), texts(vision.ideas)) == (["Keep it small"], ["Redis"])
    assert texts(vision.unread) == ["Idaes: nothing"], "and what is like nothing is for a model to read"


@pytest.mark.parametrize("heading", ["Prior art", "Ideal state", "Noted by Bob", "Notable", "High hopes"])
def test_other_headings_are_no_slips(heading: str) -> None:
    vision = read(f"# Vision\n\n## {heading}\n- one\n")
    assert (vision.goals, vision.ideas, vision.notes, vision.warnings) == ((), (), (), ())


def test_a_goal_that_is_checked_off_is_removed() -> None:
    before = read("## Priority: HIGH\n- [ ] one goal\n- [ ] another wish\n")
    change = difference(before, read("## Priority: HIGH\n- [x] one goal\n- [ ] another wish\n", before))
    assert titles(Vision(goals=change.removed)) == ["one goal"]
    assert not change.new + change.changed


def test_goals_with_the_same_text_have_ids_of_their_own_that_stay() -> None:
    text = "## Priority: HIGH\n- Fix it\n- Fix it\n## Priority: LOW\n- Fix it\n"
    first = read(text)
    assert len(set(ids(first))) == 3
    assert read(text, first) == first
    fewer = read("## Priority: HIGH\n- Fix it\n## Priority: LOW\n- Fix it\n", first)
    change = difference(first, fewer)
    assert len(change.removed) == 1
    assert not change.new + change.changed


def test_of_two_goals_with_one_title_each_keeps_its_id_when_they_change_places() -> None:
    one, other = "- Fix it\n  - the first way\n", "- Fix it!\n  - the second way\n"
    first = read(f"## Priority: HIGH\n{one}## Priority: LOW\n{other}")
    after = read(f"## Priority: HIGH\n{other.replace('!', '')}## Priority: LOW\n{one.replace('it', 'it?')}", first)
    assert ids(after) == ids(first)[::-1]


def test_goals_without_words_are_goals_too() -> None:
    first = read("## Priority: HIGH\n- 🔥\n- ???\n")
    assert len(set(ids(first))) == 2
    assert ids(read("## Priority: LOW\n- ???\n  - more\n- 🔥\n", first)) == ids(first)[::-1]
    assert len(difference(first, read("## Priority: HIGH\n- 🔥\n- !!!\n", first)).removed) == 1


def test_a_text_that_comes_back_gets_an_id_that_nobody_else_has() -> None:
    """The reworded goal still has the id that was once made from the old text."""
    first = read("## Priority: HIGH\n- Add a dark mode\n")
    reworded = read("## Priority: HIGH\n- Add a dark mode toggle\n", first)
    both = read("## Priority: HIGH\n- Add a dark mode toggle\n- Add a dark mode\n", reworded)
    assert ids(both)[0] == ids(first)[0]
    assert len(set(ids(both))) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("- Keep supporting Bengali", "- Keep supporting Hindi", id="a note"),
        pytest.param("- Evaluate adding Redis", "- Evaluate adding Valkey", id="an idea"),
        pytest.param("# Sisimpur Vision — Updated 2026-02-17\n", "# Vision\nProse.\n", id="prose"),
    ],
)
def test_a_changed_remark_is_a_difference(old: str, new: str) -> None:
    before = read(MORNING)
    change = difference(before, read(MORNING.replace(old, new), before))
    assert change.remarks_changed
    assert not change.is_empty
    assert not change.new + change.changed + change.removed


@st.composite
def sections(draw: st.DrawFn) -> list[str]:
    """Sections with goals, some of them doubled."""
    bullets = st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), max_size=5)
    heads = st.sampled_from(["Priority: HIGH", "Priority: LOW", "Ideas", "Notes", "Other"])
    return [f"## {head}\n" + "".join(f"- {b}\n" for b in draw(bullets)) for head in draw(st.lists(heads, max_size=5))]


@settings(deadline=None)
@given(sections(), st.randoms(use_true_random=False))
def test_the_order_of_sections_changes_nothing(parts: list[str], chance: random.Random) -> None:
    before = read("# Vision\n" + "".join(parts))
    shuffled = chance.sample(parts, len(parts))
    change = difference(before, read("# Vision\n" + "".join(shuffled), before))
    assert change.is_empty
    assert {goal.id for goal in change.unchanged} == set(ids(before))


TITLES = st.lists(st.text(string.ascii_lowercase, min_size=6, max_size=8), min_size=3, max_size=9, unique=True)


@settings(deadline=None)
@given(TITLES, st.data())
def test_a_goal_with_one_word_more_keeps_its_id(words: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(words)))
    others = "- Translate the whole manual\n- Buy a domain\n"
    before = read(f"## Priority: HIGH\n- {' '.join(words)}\n{others}")
    assume(len({*before.goals}) == 3)
    words.insert(place, "REWORDED")
    after = read(f"## Priority: LOW\n{others}- {' '.join(words)}\n", before)
    goal = next(goal for goal in after.goals if "REWORDED" in goal.title)
    assert goal.id == before.goals[0].id
    assert goal in difference(before, after).changed


def test_two_hundred_reworded_goals_are_matched_in_reasonable_time() -> None:
    chance = random.Random(1)
    words = [f"word{number}" for number in range(80)]
    goals = [chance.sample(words, 10) for _ in range(MAX_GOALS)]
    before = read("## Priority: HIGH\n" + "".join(f"- {' '.join(goal)}\n" for goal in goals))
    began = time.process_time()
    after = read("## Priority: HIGH\n" + "".join(f"- {' '.join(goal[:-1])} other\n" for goal in goals), before)
    assert time.process_time() - began < 5
    assert ids(after) == ids(before)


def test_goals_that_differ_only_in_how_letters_are_written_are_planned_once() -> None:
    vision = read("## Priority: HIGH\n- Caf\u00e9 page\n- Cafe\u0301 page\n- Caf\u200b\u00e9 page\n- Cafe page\n")
    assert len(set(ids(vision))) == 4, "each keeps its own id"
    assert [goal.line for goal in goals_to_plan(vision, (), (), ())] == [2, 5]
    page = render(DailyPlan("2026-11-20"), vision, Board(()), Beside((), 0))
    assert 'VISION.md, line 3: "Cafe\u0301 page" is the same as line 2; it is planned once' in page
    assert page.count("is the same as") == 2
