"""What `make test` leaves out is there, and is not left out where a change touches it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from sisimpur.cli.commands.check import MEMORY, folder_for_tests
from sisimpur.shared.system.process import run
from tests.left_out import ROOT, LeftOut, left_out, listed
from tests.repositories import repository, shell, write

HUB, TESTS = "simulators/github/api.py", "tests/edges/test_local_github.py"
HUBS, MODELS = (f"{what} is looked at, nothing of the product" for what in ("our local GitHub", "the scripted model"))


CONTRACTS = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "tests").rglob("*_contract.py")))


@pytest.mark.parametrize("row", listed(), ids=lambda row: row.why)
def test_whatever_is_listed_is_there(row: LeftOut) -> None:
    known = [path for path in (ROOT / "tests").rglob("test_*.py") if row.is_touched_by(str(path.relative_to(ROOT)))]
    texts = "\n".join(path.read_text("utf-8") for path in known)
    for pattern in row.tests:
        file, _, name = pattern.partition("[[]")[0].partition("::")
        assert any(str(path.relative_to(ROOT)).startswith(file) for path in known), pattern
        own, _, inherited = name.partition("::")
        assert re.search(rf"^(def|class) {own.replace('*', '.*')}", texts, re.MULTILINE), pattern
        assert not inherited or re.search(rf"^    def {inherited}", CONTRACTS, re.MULTILINE), pattern
    for beginning in row.unless_changed:
        assert (ROOT / beginning).exists(), beginning


def reasons(folder: Path) -> set[str]:
    return {row.why for row in left_out(folder)}


@pytest.mark.parametrize("path", [HUB, TESTS])
def test_what_a_change_touches_is_not_left_out(tmp_path: Path, path: str) -> None:
    repository(tmp_path, {path: "1", "README.md": "1"})
    shell("git checkout -q -b work", tmp_path)
    write(tmp_path, {"README.md": "2"})
    assert HUBS in reasons(tmp_path)
    write(tmp_path, {path: "2"})
    assert HUBS not in reasons(tmp_path) and MODELS in reasons(tmp_path)
    shell("git commit -q -a -m work", tmp_path)
    assert HUBS not in reasons(tmp_path)
    shell("git checkout -q main && git merge -q work", tmp_path)
    assert HUBS in reasons(tmp_path), "it is no change any more"


def test_a_new_file_is_a_change(tmp_path: Path) -> None:
    repository(tmp_path, {"README.md": "1"})
    write(tmp_path, {HUB: "1"})
    assert HUBS not in reasons(tmp_path)


def test_where_git_cannot_say_nothing_is_left_out(tmp_path: Path) -> None:
    assert reasons(tmp_path) == set()


# --- a run ---------------------------------------------------------------------------------------------------


def ended(folder: Path, *words: str) -> str:
    """What a run of pytest says."""
    argv = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--basetemp={folder}/t", *words)
    return run(argv, cwd=ROOT, env={"PATH": "/usr/bin:/bin"}, timeout=120).text


ALONE = ("-p", "tests.conftest", "-c", "/dev/null")  # as if its file lay among the tests, and no setting of ours

SAMPLE = """
import pytest
@pytest.mark.parametrize("number", range(3))
def test_waits(number): pytest.skip("for later")
@pytest.mark.skip(reason="it rains")
def test_out(): ...
def test_in(): ...
"""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_ends_with_what_it_skipped_and_why(tmp_path: Path, workers: str) -> None:
    (tmp_path / "test_sample.py").write_text(SAMPLE)
    said = ended(tmp_path, "-n", workers, *ALONE, str(tmp_path))
    told = [line for line in said.splitlines() if line.startswith("skipped")]
    assert told == ["skipped: 3 x for later", "skipped: 1 x it rains"]


def test_what_is_left_out_is_skipped_with_its_reason_and_only_when_asked_for(tmp_path: Path) -> None:
    test = "tests/spec/test_vision.py::test_two_hundred_reworded_goals_are_matched_in_reasonable_time"
    assert "skipped" not in ended(tmp_path, test)
    if any(one.names(test) for one in left_out()):
        assert "skipped: 1 x left out: it only notices" in ended(tmp_path, "--leave-out", test)


# --- where its folders are -----------------------------------------------------------------------------------


def test_the_folders_of_the_tests_are_in_memory_if_there_is_room_and_gone_afterwards() -> None:
    with folder_for_tests(room=1) as options:
        places = [Path(option.removeprefix("--basetemp=")) for option in options]
        assert all(place.parent.is_dir() and place.is_relative_to(MEMORY) for place in places)
    assert not any(place.parent.exists() for place in places)


def test_a_folder_that_is_no_memory_or_has_no_room_is_not_used(tmp_path: Path) -> None:
    with folder_for_tests(memory=tmp_path, room=1) as no_memory, folder_for_tests(room=2**60) as no_room:
        assert (no_memory, no_room) == ((), ())


WHERE = """
import pytest
from pathlib import Path
def test_here(tmp_path, request): assert tmp_path.is_relative_to(request.config.option.basetemp)
def test_that_kills_has_a_disk(tmp_path): assert tmp_path.parent == Path("/var/tmp")
@pytest.mark.disk
def test_with_a_mark(tmp_path): assert tmp_path.parent == Path("/var/tmp")
"""


def test_whoever_needs_a_disk_has_one_also_when_the_others_are_in_memory(tmp_path: Path) -> None:
    with folder_for_tests(room=1) as options:
        if not options:
            pytest.skip("there is no memory here that is a folder")
        (tmp_path / "test_sample.py").write_text(WHERE)
        assert "3 passed" in ended(tmp_path, *options, *ALONE, str(tmp_path))
