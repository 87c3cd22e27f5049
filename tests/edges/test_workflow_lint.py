"""The workflow linters' door: our own template is clean, planted faults are found, what was not checked is said."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sisimpur.agents.devops.ci.ci_workflow import CiOrder, render
from sisimpur.agents.devops.ci.workflow_lint import Linted, WorkflowFinding, installed, lint_workflow
from sisimpur.shared.sandbox.linter import AUDIT, SCHEMA
from tests.spec.test_ci_workflow import VARIANTS, order

GOOD = render(order())


def program(folder: Path, name: str, script: str) -> Callable[[str], Path | None]:
    """Only this linter is installed, and it is a few lines of shell."""
    place = folder / name
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o700)
    return lambda wanted: place if wanted == name else None


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


# --- with the real linters -----------------------------------------------------------------------------------


def test_the_developers_have_both_linters() -> None:
    assert installed(SCHEMA) and installed(AUDIT)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_variant_of_the_template_is_clean(variant: CiOrder, scratch: Path) -> None:
    assert lint_workflow(render(variant), scratch) == Linted(())


@pytest.mark.parametrize(
    ("was", "becomes", "tool", "said"),
    [
        pytest.param(r"@[0-9a-f]{40} # v[\d.]+", "@v7", AUDIT, "unpinned-uses", id="an action that is not pinned"),
        pytest.param(
            "python -m pytest",
            'echo "${{ github.event.pull_request.title }}"',
            AUDIT,
            "template-injection",
            id="a stranger's words in a command",
        ),
        pytest.param(
            "pull_request:", "pull_request_target:", AUDIT, "dangerous-triggers", id="strangers with our rights"
        ),
        pytest.param(
            "persist-credentials: false", "fetch-depth: 1", AUDIT, "artipacked", id="credentials that are kept"
        ),
        pytest.param("contents: read", "contents: write-all", SCHEMA, "$.permissions", id="an unknown right"),
        pytest.param("permissions:\n  contents: read", "permissions: write-all", AUDIT, "excessive", id="every right"),
        pytest.param("timeout-minutes", "timeout", SCHEMA, "'timeout' was unexpected", id="an unknown key"),
        pytest.param("runs-on: .*", "", SCHEMA, "runs-on", id="a job that runs nowhere"),
        pytest.param("jobs:", "jobs: [", SCHEMA, "is no YAML", id="no YAML at all"),
        pytest.param("jobs:", "jobs: [", AUDIT, "has not read the file", id="no YAML, says the other one too"),
    ],
)
def test_a_planted_fault_is_found(was: str, becomes: str, tool: str, said: str, scratch: Path) -> None:
    broken = re.sub(was, becomes, GOOD)
    assert broken != GOOD
    texts = [finding.text for finding in lint_workflow(broken, scratch).findings if finding.tool == tool]
    assert any(said in text for text in texts), texts


def test_a_finding_names_its_line(scratch: Path) -> None:
    broken = GOOD.replace("persist-credentials: false", "fetch-depth: 1")
    line = 1 + next(number for number, text in enumerate(GOOD.splitlines()) if "uses: actions/checkout" in text)
    assert min(finding.line for finding in lint_workflow(broken, scratch).findings) in (line - 1, line)


def test_a_remark_in_the_file_does_not_silence_a_linter(scratch: Path) -> None:
    broken = re.sub(r"@[0-9a-f]{40} #.*", "@v7 # zizmor: ignore[unpinned-uses]", GOOD)
    assert {finding.tool for finding in lint_workflow(broken, scratch).findings} == {AUDIT}


def test_a_configuration_that_lies_about_does_not_silence_a_linter(scratch: Path) -> None:
    (scratch / "zizmor.yml").write_text("rules:\n  artipacked:\n    disable: true\n")
    broken = GOOD.replace("persist-credentials: false", "fetch-depth: 1")
    assert [finding.tool for finding in lint_workflow(broken, scratch).findings] == [AUDIT, AUDIT]


# --- with others in their place ------------------------------------------------------------------------------


def test_what_is_not_installed_is_said(scratch: Path) -> None:
    assert lint_workflow(GOOD, scratch, lambda _: None) == Linted((), (SCHEMA, AUDIT))


@pytest.mark.parametrize("tool", [SCHEMA, AUDIT])
@pytest.mark.parametrize(
    "script",
    [
        pytest.param("exit 1", id="it fails without a word"),
        pytest.param("echo no json", id="it says something else"),
        pytest.param("echo '[[[['", id="its answer is cut"),
        pytest.param('echo \'{"status": "ok"}\'', id="half of an answer"),
        pytest.param("echo '[7]'", id="an answer of another shape"),
        pytest.param('echo \'{"errors": []}\'; echo "[]" >&2; exit 3', id="nothing found, but a bad end"),
        pytest.param("kill -9 $$", id="it is killed"),
        pytest.param("sleep 60", id="it does not end"),
    ],
)
def test_a_linter_that_did_not_do_its_work_has_found_something(
    tool: str, script: str, tmp_path: Path, scratch: Path
) -> None:
    found = lint_workflow(GOOD, scratch, program(tmp_path, tool, script), seconds=1)
    assert [finding.tool for finding in found.findings] == [tool]
    assert found.missing == tuple({SCHEMA, AUDIT} - {tool})


def test_a_linter_gets_a_clean_environment_and_leaves_nothing(tmp_path: Path, scratch: Path) -> None:
    place = tmp_path / "seen"
    lint_workflow(GOOD, scratch, program(tmp_path, AUDIT, f"pwd > {place}; env >> {place}; echo '[]'"))
    folder, *variables = place.read_text().splitlines()
    assert folder.startswith(str(scratch))
    assert {line.partition("=")[0] for line in variables} <= {"PATH", "HOME", "LC_ALL", "PWD", "OLDPWD", "SHLVL", "_"}
    assert "HOME=/nonexistent" in variables
    assert list(scratch.iterdir()) == []


def test_what_a_linter_says_is_one_bounded_printable_line(tmp_path: Path, scratch: Path) -> None:
    told = '{"errors": [{"path": "$", "message": "\\\\u001b[2J\\\\n' + "x" * 1000 + '"}]}'
    found = lint_workflow(GOOD, scratch, program(tmp_path, SCHEMA, f"printf '%s' '{told}'; exit 1")).findings
    assert found == (WorkflowFinding(SCHEMA, 0, found[0].text),)
    assert found[0].text.isprintable() and len(found[0].text) == 300
