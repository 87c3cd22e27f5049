"""The day that `make demo` shows: the real Aider, a real sandbox, a scripted model."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.edge.process import Finished, run
from tests.journey.stage import git

ROOT = Path(__file__).parents[2]
STAND_INS = (  # what stands for the outside world: the model, GitHub, Discord
    "shared/edge/scripted/",
    "shared/edge/local_github/",
    "shared/edge/notify/local_webhook",
)
BUGS = {  # file -> what stands there as long as the bug does
    "apps/authentication/views.py": r"(?s)def sign_in.*def sign_in",
    "core/settings.py": r'"https://sisimpur\.example"\n',
    "brain_cli.py": r"from apps\.brain\.brain_engine import",
}


def main_py(*words: str) -> Finished:
    return run((sys.executable, str(ROOT / "main.py"), *words), env={"PATH": "/usr/bin:/bin"}, timeout=300)


@pytest.mark.aider
@pytest.mark.slow
def test_the_demo_merges_corrects_and_asks_and_says_what_is_scripted(tmp_path: Path) -> None:
    done = main_py("--home", str(tmp_path), "demo")
    assert done.ok, done.text + done.complaint
    assert f"home: {tmp_path / 'home'}\n" in done.text
    assert "everything is real but the model" in done.text
    home = ("--home", str(tmp_path / "home"))
    pulls = json.loads(main_py(*home, "prs", "--json").text)
    ends = sorted((pull["state"], pull["base"], bool(pull["task"])) for pull in pulls)  # two are worked on at once
    assert ends == [("merged", "main", True), ("merged", "main", True), ("open", "main", True)]
    assert done.text.count("sent back to the coder") == 1
    status = json.loads(main_py(*home, "status", "--json").text)
    assert ["core/settings.py" in line for line in status["waits_for_you"]] == [True]
    forge = tmp_path / "home" / ".state" / "forge" / "exam_site.git"
    for pull in pulls:
        assert pull["branch"].startswith(f"agent/{pull['task']}-")
        before = f"{pull['head']}^"
        changed = git(forge, "diff", "--name-only", before, pull["head"]).split()
        (mended,) = (name for name in changed if name in BUGS)
        assert re.search(BUGS[mended], git(forge, "show", f"{before}:{mended}"))
        assert not re.search(BUGS[mended], git(forge, "show", f"{pull['head']}:{mended}"))
        assert bool(re.search(BUGS[mended], git(forge, "show", f"main:{mended}"))) is (pull["state"] == "open")
    (today,) = json.loads(main_py(*home, "budget", "--json").text)
    assert set(today) >= {"day", "cap", "spent", "reserved", "lost"}
    assert re.fullmatch(r"0\.\d{9}", today["spent"]) and today["spent"] > "0.0"
    assert (today["reserved"], today["lost"]) == ("0.000000000", "0.000000000")


def test_nothing_in_the_pipeline_knows_of_a_demo() -> None:
    for path, text in sources():
        if not path.startswith(STAND_INS[0]):  # the other stand-ins serve any day on trial
            assert not re.search(r"\bdemo\b|exam_site", text), path


def test_nothing_in_the_pipeline_knows_of_a_stand_in() -> None:
    for path, text in sources():
        if not path.startswith(STAND_INS):
            assert not re.search(r"scripted|local_github|local_webhook", text), path


def test_every_stand_in_is_there() -> None:
    assert {name for name in STAND_INS if any(path.startswith(name) for path, _ in sources())} == set(STAND_INS)


def sources() -> Iterator[tuple[str, str]]:
    """Where it stands, and its text in small letters."""
    for folder in ("agents", "shared"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8").lower()
