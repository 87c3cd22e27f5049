"""A linter of the target's environment says what it says, whatever lies in the repository beside the code."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sisimpur.agents.qa.measuring import Measuring
from sisimpur.agents.qa.runner.suite import RawTestRun
from sisimpur.agents.qa.tools.table import TOOLS
from sisimpur.shared.model.evidence import Figure, SuiteRun
from sisimpur.shared.model.work import Measure, MeasureKind
from sisimpur.shared.system import process
from tests.spec.test_measuring import Tree

WRONG = {"shop/prices.py": "price: int = 'free'\n"}


def found(repository: Path, files: dict[str, str]) -> Figure:
    """What mypy finds in `shop`, run in the repository's folder as in the box of the tests."""
    for path, text in files.items():
        (repository / path).parent.mkdir(exist_ok=True)
        (repository / path).write_text(text, "utf-8")

    def said(line: str) -> RawTestRun:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = process.run(("sh", "-c", line), cwd=repository, env={"PATH": path}, timeout=120)
        return RawTestRun(done.end, done.code, done.seconds, done.text)

    run = SuiteRun("finished", 0)
    measuring = Measuring(Tree(files), "c1", lambda: run, lambda _: run, {}, said)
    return measuring.figure(Measure(MeasureKind.FINDINGS, "mypy shop", at_most=0))


@pytest.mark.parametrize("name", ["mypy.py", "argparse.py", "ast.py", "runpy.py"])
def test_no_module_of_the_repository_takes_the_place_of_the_tool(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, {**WRONG, name: "import sys\nsys.exit(0)\n"}) == Figure(1.0)


def test_no_module_of_the_repository_takes_the_place_of_pip(tmp_path: Path) -> None:
    (tool,) = (tool for tool in TOOLS if tool.name == "pip install --dry-run")
    (tmp_path / "pip.py").write_text("import sys\nsys.exit(0)\n", "utf-8")
    (tmp_path / "requirements.txt").write_text("no such requirement\n", "utf-8")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    line = tool.line(["requirements.txt"])
    done = process.run(("sh", "-c", f"exec 2>&1\n{line}"), cwd=tmp_path, env={"PATH": path}, timeout=120)
    (remark,) = tool.read(done.text)
    assert "requirements.txt: Invalid requirement" in remark.text  # type: ignore[union-attr]
