"""ROADMAP.md: what stands there is what is read there, and what the owner has changed is what he said."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.reports.report_text import roadmap
from sisimpur.agents.orchestrator.roadmap.roadmap import (
    DONE,
    FREE,
    LATER,
    GoalPin,
    Need,
    Pace,
    Roadmap,
    RoadmapAccount,
    applied,
    lay_out,
)
from sisimpur.agents.orchestrator.roadmap.roadmap_file import NOTHING, TOP, Sheet, edits, likeness, read, recognised
from sisimpur.agents.orchestrator.roadmap.roadmap_text import day_words, pace_words, render
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.work import Priority
from sisimpur.shared.money.token_budget import NANO
from sisimpur.shared.system.markdown import outline
from tests.spec.test_roadmap import DAYS, FIVE, NEEDS, PACES, PINS, TODAY, monday, need, weeks

A, B, C, D = (f"g-{letter * 6}" for letter in "abcd")
PACE = Pace(Fraction(1), 310_000_000, 6, 14)
LAID = lay_out(
    [
        Need(A, "Fix the sum", Priority.HIGH, merged=1, open=2, cost=NANO),
        Need(B, "Count the visitors", open=2),
        Need(C, "Tidy up", Priority.LOW, to_come=2),
        Need(D, "Greet", merged=3, cost=930_000_000, done_on="2026-11-18"),
    ],
    [],
    PACE,
    TODAY,
)
TEXT = render(LAID, TODAY)


def sheet(text: str, today: str = TODAY) -> Sheet:
    return read(outline(text), today)


def line_of(goal: str, text: str = TEXT) -> str:
    return next(line for line in text.splitlines() if f"`{goal}`" in line)


def said(text: str, written: str = TEXT) -> dict[str, GoalPin]:
    return {pin.goal: pin for pin in edits(sheet(written), sheet(text))}


def places(text: str) -> list[tuple[str, str, bool, bool]]:
    return [(one.place, one.goal, one.ticked, one.yours) for one in sheet(text).bullets]


# --- what it says --------------------------------------------------------------------------------------------


def test_the_file_has_months_weeks_and_goals_with_how_far_they_are() -> None:
    lines = TEXT.splitlines()
    assert lines[0] == "# Roadmap" and len(lines[2:6]) == 4 and all(lines[2:6]) and not lines[6]
    assert lines[7] == (
        "at most 1 task a day; a task takes about 6 minutes and $0.31, by the last 14 merged; "
        "all of VISION.md probably by 29 November."
    )
    assert lines[9:] == [
        "## November 2026",
        "",
        "### Week of 16 November: 1 of 2 goals done",
        "",
        f"- [x] Greet (MEDIUM): 3 tasks merged, $0.93 `{D}`",
        f"- [ ] Fix the sum (HIGH): 1 of 3 tasks merged, about $0.62 more `{A}`",
        "",
        "### Week of 23 November: 0 of 2 goals done",
        "",
        f"- [ ] Count the visitors (MEDIUM): 0 of 2 tasks merged, about $0.62 more `{B}`",
        f"- [ ] Tidy up (LOW): about 2 tasks, about $0.62 `{C}`",
        "",
        "## Later",
    ]


def test_the_head_says_what_the_owner_can_do_here_and_where_a_goal_ends() -> None:
    head = " ".join(TEXT.splitlines()[2:6])
    assert 'Below Later, or deleted, it means "not for now".' in head
    assert "a goal that you do not want any more ends there: remove it in VISION.md." in head


def test_a_month_stands_once_above_all_its_weeks() -> None:
    pins = [GoalPin(f"g-{number}", monday(number)) for number in range(5)]
    text = render(lay_out([need(pin.goal) for pin in pins], pins, PACE, TODAY), TODAY)
    lines = [line.partition(":")[0] for line in text.splitlines() if line.startswith("##")]
    assert lines == [
        "## November 2026",
        *(f"### Week of {day} November" for day in (16, 23, 30)),
        "## December 2026",
        *(f"### Week of {day} December" for day in (7, 14)),
        "## Later",
    ]


@pytest.mark.parametrize(
    ("pace", "words"),
    [
        (FIVE, "at most 5 tasks a day; a task takes about 6 minutes and $0.0000, by the last 14 merged"),
        (replace(PACE, tasks=Fraction(5, 2)), "at most 2 tasks a day"),
        (replace(PACE, tasks=Fraction(2, 5)), "a task in 3 days"),
        (replace(PACE, merged=0), "by a guess until three are merged"),
    ],
)
def test_the_pace_is_told_with_what_it_rests_on(pace: Pace, words: str) -> None:
    assert words in pace_words(pace)


def test_what_is_put_off_is_no_part_of_all() -> None:
    text = render(lay_out([need("g-1"), need("g-2")], [GoalPin("g-2", LATER)], PACE, TODAY), TODAY)
    assert "all that does not stand below Later probably by 22 November." in text
    assert "## Later\n\n- [ ] Title of g-2 (MEDIUM): about 1 task, about $0.31 `g-2` *yours*\n" in text


def test_without_an_open_goal_there_is_no_end() -> None:
    text = render(Roadmap(PACE), TODAY)
    assert "probably" not in text and text.endswith("by the last 14 merged.\n\n## Later\n")


def test_a_day_of_another_year_is_told_with_it() -> None:
    ends = lay_out([need("a", 60)], [], PACE, TODAY).ends
    assert ends and day_words(ends, TODAY) == "24 January 2027"


def test_what_keeps_a_goal_and_a_tick_of_the_owner_are_told() -> None:
    needs = [need(A, note="a question waits for you"), need(B, done_on=TODAY)]
    text = render(lay_out(needs, [], PACE, TODAY), TODAY)
    assert line_of(A, text).endswith(f"about 1 task, about $0.31, a question waits for you `{A}`")
    assert line_of(B, text).endswith(f"(MEDIUM): ticked by you `{B}`")


# --- reading -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headings", "place"),
    [
        pytest.param("## November 2026\n### Week of 23 November: 1 of 3 goals done", "2026-11-23", id="as we write it"),
        pytest.param("### Week of 23 November", "2026-11-23", id="below no month: the nearest"),
        pytest.param("### Week of 4 January", "2027-01-04", id="the nearest is in the next year"),
        pytest.param("## January 2029\n### Week of 8 january", "2029-01-08", id="of the month's year"),
        pytest.param("## December 2026\n### Week of 4 January", "2027-01-04", id="after the month's year"),
        pytest.param("## week of 25 NOVEMBER, please", "2026-11-23", id="a Wednesday: its Monday"),
        pytest.param("## March 2027", "2027-03-01", id="a month alone: its first Monday"),
        pytest.param("## December 2026", "2026-12-07", id="the month's first Monday"),
        pytest.param("## Later", LATER, id="later"),
        pytest.param("# LATER!", LATER, id="in other letters"),
        pytest.param("## Later or never", "# Later or never", id="another heading"),
        pytest.param("## Week of 31 November", "# Week of 31 November", id="no such day"),
        pytest.param("## November 0000", "# November 0000", id="no such year"),
        pytest.param("# Roadmap", TOP, id="the title"),
        pytest.param("", TOP, id="no heading"),
    ],
)
def test_a_bullet_stands_below_its_heading(headings: str, place: str) -> None:
    (bullet,) = sheet(f"{headings}\n\n- [ ] x `g-1`\n").bullets
    assert (bullet.place, bullet.goal) == (place, "g-1")


@pytest.mark.parametrize(
    ("heading", "place"),
    [
        ("Week of 7 December", "2026-12-07"),
        ("Week of December 7", "2026-12-07"),
        ("week of 7th Dec", "2026-12-07"),
        ("Week of 7. December: soon", "2026-12-07"),
        ("Week of 2026-12-07", "2026-12-07"),
        ("Week of 6 December 2027", "2027-12-06"),
        ("Week of Dec 6, 2027", "2027-12-06"),
        ("Week of 5 July", "2027-07-05"),  # that of this year is over
        ("Week of 5 July 2027", "2027-07-05"),
        ("Week of 5 Apr\u0131l", "2027-04-05"),
        ("Week of 9 November", "2026-11-09"),  # over, and near: so it is meant
    ],
)
def test_a_week_is_read_as_people_write_it(heading: str, place: str) -> None:
    found = sheet(f"# Roadmap\n\n### {heading}\n\n- [ ] Fix the sum `{A}`\n")
    assert [bullet.place for bullet in found.bullets] == [place]


@pytest.mark.parametrize(
    "heading", ["Week of 6 AUGU\u017fT", "Week of 6 Augu\u017ft", "Week of 31 June", "Week 51", "Next week"]
)
def test_what_only_looks_like_a_month_is_none(heading: str) -> None:
    found = sheet(f"# Roadmap\n\n### {heading}\n\n- [ ] Fix the sum `{A}`\n")
    assert found.bullets[0].place.startswith("# ")


def test_what_stands_above_all_weeks_is_wanted_this_week_also_if_nothing_else_is_open() -> None:
    later = render(lay_out([Need(A, "Fix the sum", open=2)], [GoalPin(A, LATER)], PACE, TODAY), TODAY)
    line = line_of(A, later)
    top = later.replace(f"{line}\n", "").replace("# Roadmap\n", f"# Roadmap\n\n{line}\n", 1)
    assert said(top, later)[A].place == monday(0)


@pytest.mark.parametrize(
    ("line", "goal", "ticked", "yours"),
    [
        ("- [ ] Fix (HIGH): more `g-1`", "g-1", False, False),
        ("* [X] Fix `g-1`", "g-1", True, False),
        ("1. Fix `g-1` *yours*", "g-1", False, True),
        ("- [ ] Fix `g-1` yours", "g-1", False, True),
        ("- [ ] *yours* Fix `g-1`", "g-1", False, False),
        ("- [ ] `g-2` and `g-1` *YOURS*", "g-1", False, True),
        ("- [ ] Fix `code` (HIGH)", "", False, False),
    ],
)
def test_a_bullet_is_read(line: str, goal: str, ticked: bool, yours: bool) -> None:
    (bullet,) = sheet(f"## Later\n{line}\n").bullets
    assert (bullet.goal, bullet.ticked, bullet.yours) == (goal, ticked, yours)


@given(NEEDS, PINS, PACES, DAYS)
def test_what_is_written_is_read_and_says_nothing_new(
    needs: list[Need], pins: list[GoalPin], pace: Pace, today: str
) -> None:
    needs = [replace(one, id=f"g-{one.id}") for one in needs]
    roadmap = lay_out(needs, [replace(pin, goal=f"g-{pin.goal}") for pin in pins], pace, today)
    found = sheet(render(roadmap, today), today)
    expected = [(w.monday.isoformat(), e) for w in roadmap.weeks for e in w.entries] + [
        (LATER, e) for e in roadmap.later
    ]
    assert [(one.place, one.goal, one.ticked, one.yours) for one in found.bullets] == [
        (place, entry.need.id, entry.is_done, entry.yours) for place, entry in expected
    ]
    assert edits(found, found) == () and recognised(found, found) == found
    assert render(roadmap, today, recognised(found, found)) == render(roadmap, today)


# --- the owner's words ---------------------------------------------------------------------------------------

FIRST, SECOND = "### Week of 16 November: 1 of 2 goals done\n", "### Week of 23 November: 0 of 2 goals done\n"


def moved(goal: str, below: str, text: str = TEXT, mark: str = "") -> str:
    line = line_of(goal, text)
    return text.replace(f"{line}\n", "").replace(below, f"{below}\n{line}{mark}\n")


def marked(goal: str) -> str:
    return TEXT.replace(f"`{goal}`", f"`{goal}` *yours*")


def swapped(one: str, other: str, text: str = TEXT) -> str:
    first, second = line_of(one, text), line_of(other, text)
    return text.replace(first, "@").replace(second, first).replace("@", second)


def ticked(goal: str) -> str:
    return TEXT.replace(line_of(goal), line_of(goal).replace("[ ]", "[x]"))


def without(goal: str) -> str:
    return TEXT.replace(line_of(goal), "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(TEXT, [], id="nothing"),
        pytest.param(TEXT.replace("- [", "\n* ["), [], id="other bullets and blanks"),
        pytest.param(TEXT.replace("1 of 3 tasks merged", "well under way"), [], id="our own words"),
        pytest.param(moved(C, FIRST), [GoalPin(C, "2026-11-16", 0)], id="to another week"),
        pytest.param(
            f"{TEXT}\n## December 2026\n### Week of 7 December\n{line_of(A)}\n", [GoalPin(A, "2026-12-07")], id="copied"
        ),
        pytest.param(
            without(A) + f"\n### Week of 7 December\n{line_of(A)}\n", [GoalPin(A, "2026-12-07")], id="a new week"
        ),
        pytest.param(moved(A, "## Later\n"), [GoalPin(A, LATER)], id="below Later"),
        pytest.param(without(A), [GoalPin(A, LATER, 4)], id="deleted"),
        pytest.param(without(D), [], id="what is done was deleted"),
        pytest.param(swapped(B, C), [GoalPin(B, "2026-11-23", 1)], id="another order"),
        pytest.param(ticked(A), [GoalPin(A, DONE)], id="ticked"),
        pytest.param(TEXT.replace("[x]", "[ ]"), [GoalPin(D, FREE)], id="not ticked any more"),
        pytest.param(marked(B), [GoalPin(B, "2026-11-23", 0)], id="marked by hand"),
        pytest.param(
            moved(A, "## Someday\n", f"{TEXT}\n## Someday\n\n"), [GoalPin(A, LATER)], id="below another heading"
        ),
        pytest.param(f"{line_of(C)}\n\n{without(C)}", [GoalPin(C, "2026-11-16")], id="above everything: first"),
        pytest.param(TEXT.replace(f" `{A}`", ""), [], id="its id is gone, its title says who it is"),
        pytest.param(without(A).replace("## Later", "## Later\n- fix the SUM"), [GoalPin(A, LATER)], id="typed anew"),
        pytest.param("", [], id="emptied"),
        pytest.param("# Something else\n\n- milk\n", [], id="replaced by something else"),
    ],
)
def test_each_change_has_its_meaning(text: str, words: list[GoalPin]) -> None:
    assert list(said(text).values()) == words


BARE = "".join(line for line in TEXT.splitlines(keepends=True) if not line.startswith("- "))
NO_HEADING = "".join(line for line in BARE.splitlines(keepends=True) if not line.startswith("##"))


@pytest.mark.parametrize("goals", [[A], [A, B]])
@pytest.mark.parametrize("left", ["## November 2026", "### Week of 16 November: 0 of 2 goals done", "## Later"])
def test_where_a_heading_of_ours_is_left_every_bullet_that_is_gone_was_deleted(goals: list[str], left: str) -> None:
    text = render(lay_out(map(need, goals), [], FIVE, TODAY), TODAY)
    bare = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("- "))
    off = {goal: GoalPin(goal, LATER, len(goals)) for goal in goals}
    assert said(bare, text) == off and said(f"{bare}- milk\n", text) == off
    assert said(f"# Roadmap\n\n{left}\n", text) == off


def test_where_none_is_left_the_file_was_emptied() -> None:
    assert set(said(BARE)) == {A, B, C}
    assert said(NO_HEADING) == {} and said(f"{NO_HEADING}\n## 2027\n\n### Week of 7 December\n- milk\n") == {}


def test_two_goals_of_one_title_that_have_both_lost_their_ids_are_both_still_there() -> None:
    twins = [Need(A, "Fix the sum", open=1), Need(B, "Fix the sum", open=1), Need(C, "Tidy up", open=1)]
    text = render(lay_out(twins, [], FIVE, TODAY), TODAY)
    lost = text.replace(f" `{A}`", "").replace(f" `{B}`", "")
    assert lost != text and said(lost, text) == {} and len(recognised(sheet(text), sheet(lost)).goals) == 3


def test_what_is_deleted_below_later_stays_there_as_ours() -> None:
    text = render(lay_out([need(A), need(B, 0)], [], FIVE, TODAY), TODAY)
    assert said(text.replace(line_of(B, text), ""), text) == {}


def test_what_was_his_is_ours_again_without_the_mark() -> None:
    assert said(TEXT, marked(B)) == {B: GoalPin(B, FREE)}
    assert said(moved(B, FIRST), marked(B)) == {B: GoalPin(B, "2026-11-16")}, "but who is moved has his place"


def test_where_somebody_came_those_who_were_his_keep_their_places() -> None:
    assert said(moved(A, SECOND, marked(C)), marked(C)) == {
        A: GoalPin(A, "2026-11-23", 0),
        C: GoalPin(C, "2026-11-23", 2),
    }


ORDER = st.permutations([A, B, C, "g-4", "g-5", "g-6"])


@given(ORDER, st.sets(st.sampled_from([A, B, C, "g-4"])))
def test_the_order_that_the_owner_writes_is_the_one_that_is_laid_out(order: Sequence[str], own: set[str]) -> None:
    needs = [need(id_) for id_ in sorted(order)]
    before = {id_: GoalPin(id_, monday(0), sorted(order).index(id_)) for id_ in own}
    text = render(lay_out(needs, before.values(), FIVE, TODAY), TODAY)
    lines = {id_: line_of(id_, text) for id_ in order}
    head, tail = text.split("\n- ")[0], "\n\n## Later\n"
    edited = "\n".join((head, *(lines[id_] for id_ in order))) + tail
    pins = applied(before, edits(sheet(text), sheet(edited)))
    assert weeks(lay_out(needs, pins.values(), FIVE, TODAY)) == {monday(0): list(order)}
    again = render(lay_out(needs, pins.values(), FIVE, TODAY), TODAY)
    assert edits(sheet(again), sheet(again)) == ()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(TEXT, TEXT, 1.0), (TEXT, "", 0.0), ("", "", 0.0), ("# a\nx\ny", "# a\nx\n\n # b\ny", 4 / 7)],
)
def test_texts_are_like_as_far_as_the_same_stands_below_the_same(one: str, other: str, same: float) -> None:
    assert likeness(one, other) == likeness(other, one) == same


# --- the owner's own -----------------------------------------------------------------------------------------

OWN = f"""\
{TEXT.partition("## November")[0]}
- on top

## November 2026

### Week of 9 November

* [ ] buy milk
  and bread
  - skimmed
  1. twice

### Week of 23 November: 0 of 2 goals done

{line_of(B)}
  - ask Bob
- [x] a party
{line_of(C)}

A word of mine.

## Later

- `{A}` is what I mean `g-ffffff`

## Someday

- the moon
"""


def test_what_is_the_owners_own_stays_where_it_is() -> None:
    written = sheet(TEXT)
    text = render(LAID, TODAY, recognised(written, sheet(OWN)))
    assert "\n- on top\n\n## November" in text
    assert (
        "### Week of 9 November: no goal\n\n- [ ] buy milk and bread\n  - skimmed\n  - twice\n\n### Week of 16" in text
    )
    assert f"`{B}`\n  - ask Bob\n- [x] a party\n- [ ] Tidy up" in text and f"`{C}`\n- A word of mine.\n" in text
    assert f"## Later\n\n- '{A}' is what I mean 'g-ffffff'\n\n## Someday\n\n- the moon\n" in text
    again = recognised(sheet(text), sheet(text))
    assert render(LAID, TODAY, again) == text and edits(sheet(text), sheet(text)) == ()
    assert [one.text for one in again.own][:3] == ["on top", "[ ] buy milk and bread", "[x] a party"]


CODE = ["# Later", "## Later", "- [x] y", "1. z", "2) z", "---", "> q", "```", "~~~~", "<!-- x", "<div>", "* * *", "+"]


def test_a_block_of_code_becomes_bullets_and_nothing_else() -> None:
    block = "\n".join(("`````", *CODE, "`````"))
    found = recognised(sheet(TEXT), sheet(TEXT.replace(SECOND, f"{SECOND}\n{block}\n\n")))
    assert [one.text for one in found.own] == CODE
    text = render(LAID, TODAY, found)
    again = recognised(sheet(TEXT), sheet(text))
    assert [one for one in places(text) if one[1]] == places(TEXT)
    assert [one.place for one in again.own] == ["2026-11-23"] * len(CODE) and render(LAID, TODAY, again) == text


def test_what_stood_there_before_we_ever_wrote_is_kept() -> None:
    text = render(LAID, TODAY, recognised(NOTHING, sheet("# My plan\n\n- milk\n\n## 2027\n\n- grow\n")))
    assert "\n- milk\n" in text and text.endswith("## 2027\n\n- grow\n")


TEXTS = st.text(st.sampled_from("-*+#>`~<![]()x1.: |=_\\\n\tab\u200b\"'&@"), max_size=30)


@given(st.lists(TEXTS, max_size=4), st.integers(0, 3))
def test_no_own_line_of_the_owner_changes_what_stands_around_it(own: list[str], where: int) -> None:
    parts = TEXT.split("\n\n### ")
    at = min(where, len(parts) - 1)
    bullets = "\n".join(f"- {' '.join(text.split())}" for text in own)
    edited = "\n\n### ".join((*parts[:at], f"{parts[at]}\n{bullets}", *parts[at + 1 :]))
    try:
        found = recognised(sheet(TEXT), sheet(edited))
    except Refused:  # what cannot be read is told, and not rewritten
        return
    text = render(LAID, TODAY, found)
    assert [one for one in places(text) if one[1]] == places(TEXT)
    assert len(recognised(sheet(TEXT), sheet(text)).own) == len(found.own)
    assert render(LAID, TODAY, recognised(sheet(TEXT), sheet(text))) == text


# --- titles are data -----------------------------------------------------------------------------------------

HOSTILE = [
    f"x `{B}` *yours*",
    "x\n- [x] forged `g-ffffff`",
    "[x] done",
    "<!-- hidden",
    "--> `g-ffffff`",
    "```",
    "# Later\n## Later",
    "<div>",
    "&#96;g-ffffff&#96;",
    "x (HIGH): 1 of 1 tasks merged",
    "@everyone fixes #1 [a](http://evil.example)",
    "\u202e\u2028## Later",
    "",
]


def title_of(text: str) -> Callable[[], Roadmap]:
    return lambda: lay_out([need(A, title=text), need(B, title=text)], [], FIVE, TODAY)


@pytest.mark.parametrize("title", HOSTILE)
def test_no_title_breaks_the_file_or_forges_anything(title: str) -> None:
    text = render(title_of(title)(), TODAY)
    assert places(text) == [(monday(0), A, False, False), (monday(0), B, False, False)]
    assert len(text.splitlines()) == len(render(title_of("x")(), TODAY).splitlines())
    assert edits(sheet(text), sheet(text)) == ()
    assert not re.search(r"<div|!\[", text), "all else is the owner's own words, in the owner's own file"


@given(st.text(max_size=60))
def test_no_text_at_all_does(title: str) -> None:
    text = render(title_of(title)(), TODAY)
    assert places(text) == [(monday(0), A, False, False), (monday(0), B, False, False)]


# --- in the report -------------------------------------------------------------------------------------------


def test_the_morning_tells_the_milestone_what_is_next_and_what_nothing_is_made_of() -> None:
    told = list(
        roadmap(RoadmapAccount("16 November", 1, 3, ("Fix", "Count"), "29 November", "a pace", 2, ("buy `milk`",), ""))
    )
    assert told == [
        "week of 16 November: 1 of 3 goals done",
        "next: Fix, Count",
        "all of it probably by 29 November, but for 2 goals below Later; a pace",
        "“buy 'milk'” in ROADMAP.md is no goal: only VISION.md says what is wanted",
    ]
    assert list(roadmap(RoadmapAccount(problem="ROADMAP.md: is no text"))) == ["ROADMAP.md: is no text"]
    assert list(roadmap(RoadmapAccount("16 November"))) == []
