"""A question of the owner's is looked up once, before the day is planned; what strangers wrote changes nothing else."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sisimpur.cli.app import main
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.gated import FILES, GOOD, Coder, fix, suite
from tests.journey.looked_up import ADDRESS, ASKED, NOTE, QUESTION, QUOTE, VISION, answers, looks, with_web
from tests.journey.stage import APPROVES, CODES, Stage, plans, reads
from tests.killing import EVERY_POINT, finishes, killed_at, occurrences, points
from tests.mailbox import Mailbox
from tests.web.browsing import CHROMIUM

SCRIPT = [reads(), plans(fix()), CODES, APPROVES]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([*SCRIPT, looks(1), answers()]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return Stage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, FILES)


def of(model: ScriptedModel, agent: str) -> list[str]:
    """What that agent's model was sent."""
    return [json.dumps(r.body) for r in model.requests if f"You are the {agent}" in json.dumps(r.body.get("system"))]


def shown(stage: Stage, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(["--home", str(stage.home.root), *words]) == 0
    return capsys.readouterr().out


# --- a day ---------------------------------------------------------------------------------------------------


def test_a_question_becomes_a_note_and_the_report_says_so(
    stage: Stage, model: ScriptedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.services.append(Mailbox(stage.root / "box"))
    assert with_web(stage).run_day() == []
    note = (stage.home.root / NOTE).read_text()
    assert "Leave them in the database." in note and f"> {QUOTE}" in note and f"](<{ADDRESS}>)" in note
    assert f"→ `{NOTE}`" in (stage.home.reports / "2026-11-20.md").read_text()
    assert f"- {QUESTION} → `{NOTE}`" in stage.home.daily_plan.read_text()
    messages = list(Mailbox(stage.root / "box").messages())
    assert "Leave them in the database." in json.dumps(messages)
    (row,) = json.loads(shown(stage, capsys, "research", "--json"))
    assert row["claims"] == 1 and row["note"] == NOTE and float(row["cost"]) > 0
    text = shown(stage, capsys, "research")
    assert QUESTION in text and NOTE in text
    assert "search/recorded" in shown(stage, capsys, "budget")
    assert main(["--home", str(stage.home.root), "research", "--pdf", "nothing"]) == 1
    assert "no notes have a name that ends with nothing" in capsys.readouterr().err
    if CHROMIUM:
        printed = (stage.home.root / NOTE).with_suffix(".pdf")
        assert shown(stage, capsys, "research", "--pdf", Path(NOTE).stem[-6:]) == f"{printed}\n"
        assert printed.read_bytes().startswith(b"%PDF-")


# --- text of strangers ---------------------------------------------------------------------------------------


def test_a_key_of_ours_never_leaves_in_a_search(stage: Stage, model: ScriptedModel) -> None:
    key = "sk-the-real-key-of-the-owner"
    model.play([*SCRIPT, looks(1, searches=[f"is {key} valid"]), answers()])
    with_web(stage).run_day()
    with stage.records() as records:
        queries = [row["query"] for row in records.db.rows("select query from searches")]
    assert len(queries) == 2 and not any(key in query for query in queries)


# --- kills ---------------------------------------------------------------------------------------------------


OURS = ("inquiry.", "search.", "ticket.", "page.", "note.", "reply.", "run.")


def place(root: Path, number: int, model: ScriptedModel) -> tuple[Stage, list[str]]:
    further = looks(1, searches=["sessions after a restart"])
    before_a_page = {"times": "any", "when": {"user": r"\(none yet\)"}}  # what a kill cut off is asked again
    model.play([*SCRIPT, {**further, **before_a_page}, answers()])
    model.requests.clear()
    folder = root / str(number)
    folder.mkdir()
    stage = with_web(Stage(folder, model.url, Coder(GOOD), suite).set_up(VISION, FILES))
    return stage, [sys.executable, "-m", "tests.journey.one_day", str(folder), model.url]


@pytest.mark.slow
def test_a_kill_at_any_point_of_looking_up_leads_to_one_note_and_pays_for_nothing_twice(
    tmp_path: Path, model: ScriptedModel
) -> None:
    numbers = itertools.count()
    stage, argv = place(tmp_path, next(numbers), model)
    passed = points(argv)
    begin, end = passed.index("inquiry.asked"), passed.index("inquiry.answered")
    mine = [point for point in occurrences(passed)[begin : end + 1] if point.startswith(OURS)]
    assert len(mine) > 12
    for point in mine if EVERY_POINT else mine[::5]:
        stage, argv = place(tmp_path, next(numbers), model)
        died = killed_at(point, argv)[-1]
        finishes(argv)
        check(stage, model, died)


def check(stage: Stage, model: ScriptedModel, died: str) -> None:
    assert (stage.home.root / NOTE).read_text().count(QUOTE) == 1, died
    sent = len(of(model, "Researcher"))
    assert 2 <= sent <= 2 + (died in ("reply.understood", "ask.ticket")), died
    with stage.records() as records:
        (looked,) = records.research.all()
        assert (looked.tries, looked.answered_on) == (1, "2026-11-20"), died
        rows: list[Any] = records.db.rows("select state from calls where model = 'search/recorded'")
        again, lost = died in ("search.booked", "search.answered"), died.startswith("search.")
        assert sorted(row["state"] for row in rows) == ["lost"] * lost + ["settled"] * (2 - lost + again), died
        assert records.spending.totals("2026-11-20", 0).used >= model.billed
    assert ASKED.id == looked.inquiry.id
