"""The contract of coding engines: the same story for the fake one and for Aider, cold and warm, in real boxes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.coder.engine.aider_runner import AiderEngine
from sisimpur.agents.coder.engine.engine import MOST_BYTES, MOST_MESSAGE, Engine, EngineJob
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.sandbox.box import Box, find_box
from tests.edges.engine_bench import CALC, FILES, FIX, FIXED, TICKET, Bench, bench, block, tree
from tests.edges.fake_engine import FakeEngine
from tests.edges.warm_scene import Warm, warm

AIDER = Path(__file__).parents[2] / ".venv-aider" / "bin" / "python"
Stage = Callable[..., tuple[Bench, Engine]]


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Box:
    return find_box(tmp_path_factory.mktemp("box"))


@pytest.fixture(scope="module")
def warmed(box: Box) -> Iterator[Warm]:
    """Aider is loaded once for all tests of this file."""
    with warm(box, AIDER) as found:
        yield found
        assert found.told == []


@pytest.fixture(params=["fake", *(pytest.param(name, marks=pytest.mark.aider) for name in ("aider", "warm aider"))])
def stage(request: pytest.FixtureRequest, box: Box, tmp_path: Path) -> Iterator[Stage]:
    """Set up with the model's script, it gives the bench and the engine."""
    with contextlib.ExitStack() as stack:

        def set_up(*steps: dict[str, Any]) -> tuple[Bench, Engine]:
            if request.param == "warm aider":
                line: Warm = request.getfixturevalue("warmed")
                return stack.enter_context(line.bench(box, steps)), line.engine
            found = stack.enter_context(bench(box, tmp_path, steps))
            if request.param == "fake":
                return found, FakeEngine(box, found.meter, tmp_path)
            return found, AiderEngine(box, AIDER, found.meter, tmp_path)

        yield set_up


# --- what every engine does ----------------------------------------------------------------------------------


def test_an_edit_and_a_new_file_are_made_with_one_call_that_holds_only_the_ticket(stage: Stage) -> None:
    """The answer and the task mention another file: it is neither sent nor does it cost the edit."""
    new = block("app/more/new.py", "", "NEW = 1\n")
    bench, engine = stage({"text": f"As app/notes.txt says:\n\n{FIX}{new}"})
    job = bench.job(message="Fix the sum, see app/notes.txt.", create=("app/more/new.py",), read=("README.md",))
    run = engine.run(job)
    assert (run.end, run.edited) == ("edited", ("app/calc.py", "app/more/new.py")), run
    changed = {"app/calc.py": FIXED.encode(), "app/more/new.py": b"NEW = 1\n"}
    assert tree(job.folder) == {path: text.encode() for path, text in FILES.items()} | changed
    (call,) = bench.model.requests
    assert call.headers["x-api-key"] == TICKET
    assert "A calculator." in str(call.body)
    assert "nobody's business" not in str(call.body)
    assert "As app/notes.txt says" in run.output


def test_an_answer_without_an_edit_changes_nothing(stage: Stage) -> None:
    bench, engine = stage({"text": "The sum is right as it is."})
    job = bench.job()
    run = engine.run(job)
    assert (run.end, run.edited) == ("no edits", ())
    assert "The sum is right as it is." in run.detail
    assert (job.folder / "app/calc.py").read_text() == CALC


def test_a_refusal_is_told_in_the_words_of_the_meter_and_not_asked_again(stage: Stage) -> None:
    refusal = {"status": 400, "error": {"message": "meter: cap of this task reached: cap $1.00"}}
    bench, engine = stage(refusal, {"text": FIX})
    run = engine.run(bench.job())
    assert (run.end, run.detail) == ("api error", "meter: cap of this task reached: cap $1.00")
    assert len(bench.model.requests) == 1


def test_a_run_ends_at_its_limit(stage: Stage) -> None:
    bench, engine = stage({"text": FIX, "delay": 60})
    run = engine.run(bench.job(seconds=1))
    assert run.end == "timed out"
    assert 1 <= run.seconds < 30  # the answer would take 60


def test_a_run_that_is_stopped_hangs_up_on_the_model(stage: Stage) -> None:
    bench, engine = stage({"text": FIX, "delay": 60})
    job = bench.job()
    run = engine.run(job, stop=lambda: bool(bench.model.requests))
    assert (run.end, run.edited) == ("stopped", ())
    bench.model.stop()
    assert [call.gone for call in bench.model.requests] == [True]
    assert (job.folder / "app/calc.py").read_text() == CALC


# --- what no engine is given ---------------------------------------------------------------------------------


def with_link(job: EngineJob) -> EngineJob:
    (job.folder / "link.py").symlink_to("app/calc.py")
    (job.folder / "far").symlink_to("/etc")
    return job


def with_git(job: EngineJob) -> EngineJob:
    (job.folder / ".git").write_text("gitdir: /somewhere")
    return job


def with_file(path: str, data: bytes) -> Callable[[EngineJob], EngineJob]:
    def changed(job: EngineJob) -> EngineJob:
        (job.folder / path).write_bytes(data)
        return replace(job, edit=(path,))

    return changed


def naming(**changes: Any) -> Callable[[EngineJob], EngineJob]:
    return lambda job: replace(with_link(job), **changes)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        pytest.param(naming(message=" \n"), "no text", id="an empty task: Aider would wait for one"),
        pytest.param(naming(message="x" * (MOST_MESSAGE + 1)), str(MOST_MESSAGE), id="an endless task"),
        pytest.param(naming(edit=()), "name at least one", id="nothing may be written: the call would be for nothing"),
        pytest.param(naming(edit=("app/gone.py",)), "app/gone.py", id="no such file: Aider would create it empty"),
        pytest.param(naming(edit=("app",)), "is not a plain file", id="a folder"),
        pytest.param(naming(edit=("../x",)), "not a path inside", id="a path that leaves the folder"),
        pytest.param(naming(edit=("/etc/passwd",)), "not a path inside", id="an absolute path"),
        pytest.param(naming(edit=("--yes",)), "not a path inside", id="an option"),
        pytest.param(naming(read=(".git/config",)), "not a path inside", id="git's own files"),
        pytest.param(naming(create=("../*",)), "not a path inside", id="a pattern that leaves the folder"),
        pytest.param(naming(edit=("link.py",)), "symbolic link", id="a link"),
        pytest.param(naming(read=("far/passwd",)), "symbolic link", id="a file behind a link"),
        pytest.param(with_git, "has a .git", id="a folder that is a repository: its .git may be ours"),
        pytest.param(with_file("big.txt", b"x" * (1 << 21)), "the limit is", id="a file that is too large"),
        pytest.param(with_file("latin.txt", b"caf\xe9\n"), "byte 3", id="not UTF-8: Aider drops it and asks in vain"),
        pytest.param(with_file("data.bin", b"a\0b"), "NUL", id="not text"),
    ],
)
def test_what_no_engine_can_do_well_is_refused_before_anything_runs(
    box: Box, tmp_path: Path, spoil: Callable[[EngineJob], EngineJob], reason: str
) -> None:
    with bench(box, tmp_path, [{"text": FIX}]) as found:
        for engine in (FakeEngine(box, found.meter, tmp_path), AiderEngine(box, AIDER, found.meter, tmp_path)):
            with pytest.raises(Refused, match=reason):
                engine.run(spoil(found.job()))
        assert found.model.requests == []


def test_the_files_of_a_task_have_a_limit_together(box: Box, tmp_path: Path) -> None:
    with bench(box, tmp_path, [{"text": FIX}]) as found:
        files = {f"{number}.txt": "x" * 1_000_000 for number in range(3)}
        job = found.job(folder=found.folder(files), edit=tuple(files))
        with pytest.raises(Refused, match=str(MOST_BYTES)):
            FakeEngine(box, found.meter, tmp_path).run(job)
