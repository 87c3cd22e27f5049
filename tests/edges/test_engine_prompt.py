"""What a model is sent through Aider, cold and warm: the same for each attempt, our own words, nothing said twice."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.coder.engine.aider_runner import AiderEngine
from sisimpur.agents.coder.engine.engine import Engine, EngineJob
from sisimpur.shared.sandbox.box import Box, find_box
from tests.edges.engine_bench import CALC, Bench, bench, block
from tests.edges.warm_scene import Warm, warm

AIDER = Path(__file__).parents[2] / ".venv-aider" / "bin" / "python"
MANY = {f"app/{name}.py": f"{name.upper()} = '{name}'\n" for name in ("calc", "abacus", "zoo", "sums", "more", "terms")}
SAYS = {"text": "It is right as it is.", "times": "any"}
Sends = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.aider


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return find_box(tmp_path_factory.mktemp("box"))


@pytest.fixture(scope="module")
def warmed(box: Box) -> Iterator[Warm]:
    with warm(box, AIDER) as found:
        yield found


@pytest.fixture(params=["cold", "warm"])
def stage(request: pytest.FixtureRequest, box: Box, tmp_path: Path) -> Iterator[tuple[Bench, Engine]]:
    with contextlib.ExitStack() as stack:
        if request.param == "warm":
            line: Warm = request.getfixturevalue("warmed")
            yield stack.enter_context(line.bench(box, [SAYS])), line.engine
        else:
            found = stack.enter_context(bench(box, tmp_path, [SAYS]))
            yield found, AiderEngine(box, AIDER, found.meter, tmp_path)


def sent(bench: Bench, engine: Engine, files: Mapping[str, str], **given: Any) -> str:
    """The whole request, as one text in the order in which a vendor reads it."""
    engine.run(replace(job(bench, files), **given))
    body = bench.model.requests[-1].body
    return json.dumps([body["system"], body["messages"]], ensure_ascii=False)


def job(bench: Bench, files: Mapping[str, str]) -> EngineJob:
    read, edit = ("app/zoo.py", "app/abacus.py", "app/terms.py"), ("app/sums.py", "app/calc.py", "app/more.py")
    return bench.job(folder=bench.folder(files), edit=edit, read=read, marks=True)


def test_two_attempts_send_the_same_up_to_what_has_changed(stage: tuple[Bench, Engine]) -> None:
    """Each attempt has a folder of its own; a vendor finds in its cache only what begins with the same bytes."""
    first, again = sent(*stage, MANY), sent(*stage, MANY)
    assert first == again
    places = [first.index(f"{name.upper()} = ") for name in ("zoo", "abacus", "terms", "sums", "calc", "more")]
    assert places == sorted(places), "what is only read comes first, and all as it was given"
    corrected = sent(*stage, {**MANY, "app/more.py": "MORE = 'other'\n"}, message="Correct it.")
    assert corrected[: places[-1]] == first[: places[-1]]


def test_aider_speaks_of_no_chat_and_no_person(stage: tuple[Bench, Engine]) -> None:
    """Nobody adds files, answers questions or says "go ahead"; and each rule is sent once."""
    said = sent(*stage, MANY)
    rules = "# *SEARCH/REPLACE block* rules", "Do what they ask, but no more", "first match"
    assert [said.count(rule) for rule in rules] == [1, 1, 1]
    text = said.lower()
    for dead_end in ("the chat", "ask them to", "ask questions", "wait for their", "go ahead", "the user has added"):
        assert dead_end not in text, dead_end
    only_new = sent(*stage, MANY, edit=(), create=("app/new.py",)).lower()
    assert "not sharing any files" not in only_new


def test_a_long_file_is_shown_by_its_parts_and_edited_as_a_whole(stage: tuple[Bench, Engine]) -> None:
    bench, engine = stage
    long = CALC + "".join(f"\n\ndef f{number}():\n    return {number}\n" for number in range(500))
    shown = CALC + "\n⋮ lines 3-2002 are not shown\n"
    bench.model.play([{"text": block("app/calc.py", "    return 499\n", "    return -1\n")}])
    one = bench.job(folder=bench.folder({"app/calc.py": long}), views={"app/calc.py": shown})
    run = engine.run(one)
    assert run.edited == ("app/calc.py",), run
    assert (one.folder / "app/calc.py").read_text() == long.replace("return 499", "return -1")
    body = str(bench.model.requests[-1].body)
    assert "⋮ lines 3-2002" in body and "def f7()" not in body


def test_all_that_the_model_said_comes_back(stage: tuple[Bench, Engine]) -> None:
    """A line of ours in the first reply counts, too, when an edit had to be repeated."""
    bench, engine = stage
    wrong, right = (
        block("app/calc.py", old, "CALC = 'sum'\n") for old in ("CALC = 'is not there'\n", MANY["app/calc.py"])
    )
    bench.model.play([{"text": f"DELETE app/sums.py::f\n\n{wrong}"}, {"text": right}])
    run = engine.run(job(bench, MANY))
    assert run.end == "edited" and "DELETE app/sums.py::f" in run.reply and "REPLACE" in run.reply
