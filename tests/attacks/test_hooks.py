"""Promise 4: what starts by itself in the tests' environment, and nobody has named, is shown to the owner.

Before the listing a `.pth` file that a set-up had put there was in use without a word.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sisimpur.agents.qa.runner.environment_build import Builder, Setup
from sisimpur.agents.qa.runner.environment_store import undeclared
from sisimpur.agents.qa.runner.suite import GATE
from sisimpur.cli.app import main
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.box import find_box, hand_over
from tests.edges.test_environment import digest
from tests.journey.stage import Stage

NAMED = "Django==5.2\nmy_Helper>=1\n"


def built(root: Path, files: dict[str, str], records: dict[str, dict[str, str]]) -> tuple[str, ...]:
    """An environment as a set-up has left it. `records`: distribution -> the files that it has brought."""
    site = root / "place/env/lib/python3.11/site-packages"
    for dist, brought in records.items():
        rows = [f"{path},sha256={digest(text)},{len(text)}\n" for path, text in brought.items()]
        brought = {**brought, f"{dist}-1.0.dist-info/RECORD": "".join(rows)}
        for path, text in brought.items():
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            (site / path).write_text(text)
    site.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    (root / "scratch").mkdir()
    box = find_box(root / "scratch")
    hand_over(root / "place")
    root.chmod(0o755)
    builder = Builder(box, Mirror(root / "mirror.git", Remote(str(root))), Setup("demo", Path(sys.executable)))
    return undeclared(builder.hooks(root / "place"), NAMED)


PTH = {"litellm_init.pth": "import os; os.environ['KEY']\n"}


@pytest.mark.parametrize(
    ("files", "records", "told"),
    [
        pytest.param(PTH, {}, "litellm_init.pth, which no package declares as it is", id="nobody's"),
        pytest.param(
            {}, {"litellm": PTH}, "litellm_init.pth of litellm, which no file of yours names", id="a stranger's"
        ),
        pytest.param(
            PTH, {"django": {"litellm_init.pth": "x\n"}}, "litellm_init.pth, which no package", id="changed since"
        ),
        pytest.param({"sitecustomize.py": ""}, {}, "sitecustomize.py, which no package", id="sitecustomize"),
        pytest.param({"usercustomize/__init__.py": ""}, {}, "usercustomize, which no package", id="usercustomize"),
        pytest.param({"any/conftest.py": ""}, {}, "any/conftest.py, which no package", id="a conftest"),
        pytest.param(
            {},
            {"evil": {"evil-1.0.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n"}},
            "a plugin of pytest of evil, which no file of yours names",
            id="a plugin of pytest",
        ),
        pytest.param({"sisimpur_gate.pth": "import os\n"}, {}, "sisimpur_gate.pth, which no package", id="as if ours"),
    ],
)
def test_a_start_that_nobody_has_named_is_told(
    tmp_path: Path, files: dict[str, str], records: dict[str, dict[str, str]], told: str
) -> None:
    assert [line[: len(told)] for line in built(tmp_path, files, records)] == [told]


def test_what_the_owners_files_name_and_what_is_ours_is_nothing_to_tell(tmp_path: Path) -> None:
    plugin = "[pytest11]\na = b\n"
    records = {
        "my_helper": {"helper.pth": "x\n", "my_helper-1.0.dist-info/entry_points.txt": plugin},
        "setuptools": {"distutils-precedence.pth": "import os\n"},
        "django": {"django/conftest.py": ""},
    }
    assert built(tmp_path, {"sisimpur_gate.pth": f"{GATE}\n"}, records) == ()


def test_status_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = Stage(tmp_path, "http://127.0.0.1:9").set_up().home
    (home.environments / "abc").mkdir(parents=True)
    (home.environments / "abc/hooks").write_text("evil.pth, which no package declares as it is\n")
    assert main(["--home", str(home.root), "status"]) == 0
    assert "evil.pth, which no package declares" in capsys.readouterr().out
