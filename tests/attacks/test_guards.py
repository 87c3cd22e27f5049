"""Promises 5 and 6: no answer of a model, no language and no spelling takes a guard from the owner.

Each attack succeeded on 2cd3bc6, the commit before. What it said then stands in BEFORE.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.vision.named_paths import TargetPaths, fates, named, sentences
from sisimpur.agents.orchestrator.vision.reading import (
    GuardAnswer,
    Interpretation,
    VisionReading,
    interpreted,
    standing,
    unread,
)
from sisimpur.agents.orchestrator.vision.vision_parser import difference, parse
from sisimpur.shared.model.scope import matches
from sisimpur.shared.model.work import Guard, Remark, Vision
from sisimpur.shared.system.markdown import outline

DAY = "2026-11-24"
PAY = "billing/pay.py"
FILES = (PAY, "billing/tax.py", "README.md", "Makefile", "app.py", "docs/how to pay.md", "web/static/logo.svg")
TARGET = TargetPaths(FILES)

BEFORE = """
"Don't touch billing/pay.py", answer README.md              guards README.md, 0 questions
"Finger weg von billing/pay.py", answer nothing             guards nothing, 0 questions
"billing/pay.py-তে হাত দেবেন না", answer nothing            guards nothing, 0 questions
"পেমেন্টে হাত দেবেন না", answer nothing                     guards nothing, 0 questions
"Donʼt touch the cellar" (U+02BC), answer nothing           guards nothing, 0 questions
"Do(U+200B)n't touch billing/pay.py", answer nothing        guards nothing, 0 questions
"We use Django. Never break the cellar.", answer app.py     guards app.py, 0 questions
"## Don't touch", "- billing/pay.py", answer nothing        guards nothing, 1 question
"guards: billing/pay.py", answer nothing                    guards nothing, 0 questions

At 1678a4d3, of which the first two were told as guards:
"Don't touch STRASSE/x.py", there is straße/x.py            guards nothing, 0 questions
"Don't touch ﬁles.py" (U+FB01), which is there              guards nothing, 0 questions
"Don't touch billing/pаy.py" (U+0430)                       guards nothing, 1 question
"Don't touch docs/../billing//./pay.py"                     guards nothing, 1 question
"""


def vision(text: str) -> Vision:
    return parse(outline(text))


def notes(*lines: str) -> Vision:
    return vision("# V\n## Notes\n" + "".join(f"- {line}\n" for line in lines))


def read(now: Vision, *patterns: str, known: tuple[Guard, ...] = (), line: int = 3) -> Interpretation:
    """What is believed of a model that names these patterns for one line."""
    change = difference(None, now)
    held = standing(now, known)
    said = VisionReading([GuardAnswer(line, list(patterns))], [], [])
    asked = replace(unread(change, now, held), day=DAY)
    return interpreted(said, asked, now, change.removed, held, FILES)


def guarded(found: Interpretation) -> set[str]:
    return {path for path in FILES for one in found.guards if matches(path, one.patterns)}


@pytest.mark.parametrize("answer", [(), ("README.md",), ("**",), ("billing/none.py",)], ids=str)
@pytest.mark.parametrize(
    "note",
    [
        pytest.param("Don't touch billing/pay.py", id="English"),
        pytest.param("Finger weg von billing/pay.py", id="German"),
        pytest.param("Die billing/pay.py-Datei bleibt, wie sie ist", id="a German compound"),
        pytest.param("billing/pay.py-তে হাত দেবেন না", id="Bengali"),
        pytest.param("billing/pay.pyতে হাত দেবেন না", id="Bengali, its ending glued on"),
        pytest.param("ন\u200d billing/pay.py বদলাবেন না", id="Bengali with a joiner"),
        pytest.param("Donʼt touch billing/pay.py", id="U+02BC"),
        pytest.param("Don\u200b't touch bill\u200bing/p\u2060ay.py", id="zero width"),
        pytest.param("Don't touch bill\u200ding/pay.py", id="a joiner between Latin letters"),
        pytest.param("Don't touch billing／pay.py", id="full width"),
        pytest.param("Don't touch billing\\pay.py", id="a backslash"),
        pytest.param("Don't touch **billing/pay.py**.", id="bold, and a full stop"),
        pytest.param("Don't touch `./billing/pay.py`!", id="code"),
        pytest.param("Leave pay.py as it is", id="the file's name"),
        pytest.param("billing.pay stays", id="a module"),
        pytest.param("billing.pay.charge() stays", id="a function of a module"),
        pytest.param("Don't touch billing", id="a bare folder"),
        pytest.param("billing/ bleibt", id="a folder"),
        pytest.param("billing/*.py bleibt", id="a glob"),
        pytest.param("See https://example.com/x/blob/main/billing/pay.py: hands off", id="an address"),
        pytest.param("Don't touch BILLING/Pay.PY:12", id="capitals and a line"),
        pytest.param("Don't touch: billing/tax.py; billing/pay.py", id="a list"),
        pytest.param("Don't touch b\u0456lling/p\u0430y.py", id="letters of another script that look alike"),
        pytest.param("billing/p\u0430y.py-তে হাত দেবেন না", id="Bengali, a letter that looks alike"),
        pytest.param("Don't touch billing\u2215pay.py", id="a sign that looks like a slash"),
        pytest.param("Don't touch BİLLİNG/PAY.PY", id="Turkish capitals"),
        pytest.param("Don't touch docs/../billing//./pay.py", id="a longer way"),
    ],
)
def test_what_a_note_names_is_guarded_whatever_a_model_answers(note: str, answer: tuple[str, ...]) -> None:
    assert PAY in guarded(read(notes(note), *answer))


@pytest.mark.parametrize(
    ("path", "typed"),
    [
        ("straße/x.py", "STRASSE/x.py"),
        ("strasse/x.py", "straße/x.py"),
        ("\ufb01les.py", "\ufb01les.py"),
        ("re\u0301sume\u0301.md", "R\u00c9SUM\u00c9.md"),
        ("p\u0430y/x.py", "pay/x.py"),
    ],
)
def test_what_is_found_by_its_name_is_guarded_by_it(path: str, typed: str) -> None:
    found = named(f"Don't touch {typed}", TargetPaths((*FILES, path)), forbids=True)
    assert matches(path, found.patterns)


@given(st.lists(st.sampled_from(["*", "**", "README.md", "app.py", "../x", "", PAY, "nothing/at/all"])))
def test_a_new_reading_takes_nothing_from_a_held_guard(patterns: list[str]) -> None:
    held = Guard("Don't touch the cellar", ("app.py",))
    found = read(notes(held.note), *patterns, known=(held,))
    assert set(held.patterns) <= {pattern for guard in found.guards for pattern in guard.patterns}


def test_only_the_owners_edit_gives_a_guard_up() -> None:
    held = Guard("Don't touch the cellar", ("app.py",))
    assert read(notes("The cellar is free"), known=(held,)).guards == ()


@settings(max_examples=150, deadline=None)
@given(st.text(min_size=1, max_size=60).filter(lambda text: any(c.isalnum() for c in text)))
def test_each_sentence_of_a_note_ends_as_a_guard_a_question_or_a_wish(text: str) -> None:
    found = fates(Remark(text, 3), TARGET)
    assert [one.sentence for one in found] == list(dict.fromkeys(sentences(text)))
    assert found


@pytest.mark.parametrize(
    "note",
    [
        pytest.param("Don't touch the cellar", id="English"),
        pytest.param("Donʼt touch the cellar", id="U+02BC"),
        pytest.param("Do\u200bn't touch the cellar", id="zero width"),
        pytest.param("Die Zahlungen bitte in Ruhe lassen", id="German"),
        pytest.param("Zahlungen sind tabu", id="German without a word that we know"),
        pytest.param("পেমেন্টে হাত দেবেন না", id="Bengali"),
        pytest.param("পেমেন্ট যেমন আছে তেমন থাকুক", id="Bengali without a word that we know"),
        pytest.param("Payment e haat dio na", id="Bengali in Latin letters"),
        pytest.param("支払いには触らない", id="Japanese"),
        pytest.param("We use Django. Never break the cellar. It is fast.", id="between two others"),
        pytest.param("Don't touch billing/gone.py", id="a file that is not there"),
    ],
)
def test_a_no_that_guards_no_file_is_a_question_in_every_language(note: str) -> None:
    assert read(notes(note)).questions


def test_a_plain_wish_is_shown_as_one_that_protects_nothing() -> None:
    found = read(notes("The site is used by 300 students"))
    assert [wish.text for wish in found.wishes] == ["The site is used by 300 students"]
    assert not found.guards + found.questions


def test_a_second_no_in_the_same_bullet_is_not_covered_by_the_firsts_guard() -> None:
    found = read(notes("Don't touch billing/pay.py. Never break the cellar."))
    assert "cellar" in found.questions[0].text


def test_a_guard_of_a_model_alone_is_marked_until_the_owner_has_seen_it() -> None:
    alone = read(notes("Don't touch the cellar"), "README.md").guards
    assert [one.unseen for one in alone] == [DAY]
    agreed = read(notes("Don't touch the logos"), "web/static/logo.svg").guards
    assert [one.unseen for one in agreed] == [""]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("# V\n## Don't touch\n- billing/pay.py\n", id="a section"),
        pytest.param("# V\n## 🚫 Donʼt touch\nbilling\n", id="a section, U+02BC, plain text"),
        pytest.param("# V\n## Notes\n### Don't touch\n- pay.py\n### Other\n- fast\n", id="below the notes"),
        pytest.param("# V\nguards: app.py, billing/pay.py\n", id="a line"),
        pytest.param("# V\nWe sell cars.\nguards: billing\n", id="a line in a paragraph"),
        pytest.param("# V\n## Priority: HIGH\n- Add a logo\n  - guards: billing/**\n", id="below a goal"),
        pytest.param("# V\n## Constraints\n- guards: pay.py\n", id="a bullet"),
    ],
)
def test_what_stands_below_dont_touch_or_behind_guards_needs_no_model(text: str) -> None:
    assert PAY in guarded(read(vision(text)))


def test_a_guard_line_that_names_nothing_is_a_question_and_what_will_come_is_guarded() -> None:
    found = read(vision("# V\n## Don't touch\n- the cellar\n- billing/new.py\n"))
    assert len(found.questions) == 2
    assert any("billing/new.py" in guard.patterns for guard in found.guards)


@given(st.sampled_from(FILES), st.sampled_from(["{}", "`{}`", "({})", "x {}, y", "{}!", "»{}«", "**{}**", "না {}।"]))
def test_every_file_of_the_target_is_found_wherever_it_stands(path: str, around: str) -> None:
    found = named(around.format(path), TARGET, forbids=False)
    assert matches(path, found.patterns)


@pytest.mark.parametrize(
    ("note", "asked"),
    [
        ("We run sqlite in the web", 0),
        ("The billing is by Stripe, and fast.", 0),
        ("Write the docs in English", 0),
        ("The web must keep running", 0),
        ("Never be slow in the web", 1),
        ("Wir nutzen billing", 1),
        ("billing", 1),
        ("The billing is fragile", 1),
        ("Ask me before you change billing", 1),
        ("Be careful with billing and its tests", 1),
        ("The billing is in billing/gone.py", 1),
        ("Any change to the billing needs my approval", 1),
        ("Please refrain from changing the billing", 1),
        ("Touch the billing and you are fired", 1),
        ("The billing is out of bounds for you", 1),
        ("Changing the billing is a bad idea", 1),
        ("Everything except billing may be changed", 1),
        ("You need permission to work on the billing", 1),
        ("We will rewrite the billing ourselves", 1),
        ("The billing belongs to finance, not to the team", 1),
    ],
)
def test_a_plain_wish_in_which_a_folders_name_stands_is_told_with_the_line_that_guards_it(
    note: str, asked: int
) -> None:
    """Such a note was a question as long as it stood; whatever may forbid something still is one."""
    found = read(notes(note))
    assert (len(found.questions), len(found.wishes), guarded(found)) == (asked, 1 - asked, set())
    assert asked or 'meant? then write "guards: ' in found.wishes[0].text


@pytest.mark.parametrize(
    "inside", ["", " ", "!", "…", ",", "billing/pay.py", "billing/pay.py, …", "README.md", "the old one"]
)
def test_what_stands_in_brackets_takes_no_guard_away(inside: str) -> None:
    """Who writes "billing (billing/pay.py, …)" may mean all of it."""
    assert "billing/" in read(notes(f"Don't touch billing ({inside}), banks depend on it")).guards[0].patterns


@pytest.mark.parametrize("answer", ["billing/**", "billing/pay.py", "billing/*.py"])
def test_what_a_folder_of_the_note_holds_is_not_listed_beside_it(answer: str) -> None:
    [guard] = read(notes("Don't touch billing/"), answer).guards
    assert guard.patterns == ("billing/",)


def test_what_a_model_adds_beyond_the_folder_is_listed() -> None:
    [guard] = read(notes("Don't touch billing/"), "billing/**", "README.md").guards
    assert guard.patterns == ("billing/", "README.md")


@pytest.mark.parametrize(
    ("note", "asked"),
    [
        ("Python 3.9 must keep working.", 0),
        ("Keep supporting Python 3.9 and the old links", 0),
        ("The cellar must keep working and be left alone.", 1),
        ("Never touch the cellar: it must keep working.", 1),
        ("The cellar must keep its doors.", 1),
        ("Keep working on the cellar, not on the roof.", 1),
    ],
)
def test_what_must_keep_working_is_no_path_and_all_else_that_says_no_is_still_asked(note: str, asked: int) -> None:
    """Such a note was a question each day, though no path is meant and each task is told of it."""
    found = read(notes(note))
    assert (len(found.questions), len(found.wishes), found.guards) == (asked, 1 - asked, ())
