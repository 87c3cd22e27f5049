"""The system's own pull request: a workflow for the target, which only the owner merges."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from sisimpur.agents.devops.ci.workflow_lint import Linted, WorkflowFinding
from sisimpur.cli.commands.ci import BRANCH, PULL, PUSH, WorkflowProposal, propose_ci
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.wiring.forge import open_code
from sisimpur.shared.forge.forge import REVIEW_CONTEXT, task_of
from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.system import lock
from sisimpur.shared.system.outgoing import Outgoing
from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.gated import FILES, GOOD, VISION, Coder, fix, suite
from tests.journey.stage import APPROVES, CODES, GIT, Stage, git, plans, reads
from tests.killing import EVERY_POINT, finishes, killed_at, points

PATH = ".github/workflows/ci.yml"
AT_LEAST = 18  # points where the command can be killed; fewer: somebody has removed some
STEP = 1 if EVERY_POINT else 12  # `make crash` kills at every one of them
# As GitHub says it of a token without that right.
NO_RIGHT = f"refusing to allow a Personal Access Token to create or update workflow `{PATH}` without `workflow` scope"
REFUSES = f"""#!{sys.executable}
import sys
def read():
    size = int(sys.stdin.buffer.read(4), 16)
    return sys.stdin.buffer.read(size - 4) if size else b""
def write(text=""):
    sys.stdout.write(f"{{len(text) + 4:04x}}{{text}}" if text else "0000")
    sys.stdout.flush()
while read(): pass
write("version=1"); write()
names = []
while line := read(): names.append(line.split()[-1].decode())
for name in names: write(f"ng {{name}} REASON")
write()
"""


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([reads(), plans(fix()), CODES, APPROVES]) as model:
        yield model


@pytest.fixture
def stage(tmp_path: Path, model: ScriptedModel) -> Stage:
    return Stage(tmp_path, model.url, Coder(GOOD), suite).set_up(VISION, FILES)


def typed(stage: Stage, code: int = 0) -> str:
    with redirect_stdout(StringIO()) as out:
        assert propose_ci(Arguments("propose-ci", stage.home.root), {}) == code
    return out.getvalue()


def commits(stage: Stage, **files: str) -> None:
    """The owner adds workflows to his repository: `ci_yml` is ci.yml."""
    site = stage.root / "site"
    for name, text in files.items():
        path = site / ".github" / "workflows" / name.replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(site, "add", ".")
    git(site, "commit", "-q", "-m", "workflows")


def proposed(stage: Stage) -> Any:
    """The one pull request, which is open, belongs to no task, and adds one file."""
    (pull,) = stage.pulls()
    assert (pull.state, pull.head, pull.base, pull.labels) == ("open", BRANCH, "main", frozenset({"agents"}))
    assert task_of(pull, pull.author) == ""
    assert stage.forge("diff", "--name-status", f"main...{BRANCH}") == f"A\t{PATH}"
    return pull


def branches(stage: Stage) -> list[str]:
    return stage.forge("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").splitlines()


def booked(stage: Stage) -> dict[str, str]:
    with stage.records() as records:
        return {key: records.journal.outcome_of(key) for key in (PUSH, PULL)}


# --- it is proposed ------------------------------------------------------------------------------------------


def test_one_pull_request_adds_the_workflow_and_says_what_it_runs(stage: Stage) -> None:
    said = typed(stage)
    pull = proposed(stage)
    assert f"pull request #{pull.number}" in said and "you merge it yourself" in said
    assert "python -m pytest" in pull.body and "belongs to no task" in pull.body
    found = yaml.safe_load(stage.forge("show", f"{BRANCH}:{PATH}"))
    assert list(found["jobs"]) == ["lint", "test"]
    assert found["jobs"]["test"]["steps"][-1]["run"] == "python -m pytest"
    assert "warning" not in said
    assert list(stage.home.work.iterdir()) == list(stage.home.temporary.iterdir()) == []


def test_what_the_target_file_says_is_what_runs(stage: Stage) -> None:
    with (stage.home.targets / "site.yaml").open("a") as file:
        file.write('setup: "./install --all"\ntest: "make test"\nminutes: 30\n')
    typed(stage)
    job = yaml.safe_load(stage.forge("show", f"{BRANCH}:{PATH}"))["jobs"]["test"]
    assert [step["run"].splitlines()[0] for step in job["steps"][2:]] == ["./install --all", "make test"]
    assert job["timeout-minutes"] == 65


def test_typed_again_it_names_the_same_pull_request(stage: Stage) -> None:
    said, there = typed(stage), stage.pulls()
    assert typed(stage) == said
    assert stage.pulls() == there


def test_a_later_change_of_the_settings_does_not_make_the_text_speak_of_another_file(stage: Stage) -> None:
    typed(stage)
    before = proposed(stage)
    with (stage.home.targets / "site.yaml").open("a") as file:
        file.write('test: "make test"\n')
    typed(stage)
    assert proposed(stage) == before


def test_a_whole_day_leaves_it_alone(stage: Stage) -> None:
    typed(stage)
    before = proposed(stage)
    assert stage.run_day() == []
    ours, task = sorted(stage.pulls(), key=lambda pull: pull.number)
    assert task.state == "merged"
    assert ours == before
    with stage.records() as records:
        forge = records.forge()
        assert forge
        assert (list(forge.reviews(ours.number)), list(forge.comments(ours.number))) == ([], [])
        assert forge.checks(ours.head_sha).items == {}
    assert BRANCH in branches(stage)
    assert stage.forge("ls-tree", "-r", "--name-only", "main", ".github") == ""


def test_while_a_day_is_at_work_nothing_is_proposed(stage: Stage) -> None:
    with lock.hold(stage.home.lock), pytest.raises(Misconfigured, match="already at work"):
        typed(stage)
    assert stage.pulls() == []


# --- the owner has his say -----------------------------------------------------------------------------------


def test_what_the_owner_merged_is_there(stage: Stage) -> None:
    pull_it = typed(stage).splitlines()[1].partition("type: git ")[2]
    git(stage.root / "site", *pull_it.split())
    assert typed(stage) == f"main has {PATH}, which runs on pull requests; nothing to do\n"


def test_what_was_merged_and_removed_since_is_not_proposed_again(stage: Stage) -> None:
    typed(stage)
    with stage.records() as records:
        forge = records.forge()
        assert forge
        head = proposed(stage).head_sha
        forge.set_status(head, REVIEW_CONTEXT, "success")
        forge.merge(1, head)
    site = stage.root / "site"
    git(site, "pull", "-q", "--no-rebase", str(stage.home.forge("site")), "main")
    git(site, "rm", "-q", PATH)
    git(site, "commit", "-q", "-m", "no workflow, please")
    for _ in range(2):
        assert f"it was merged, and its workflow is gone since; restore {PATH} if you miss it" in typed(stage)
    assert [pull.state for pull in stage.pulls()] == ["merged"]


def test_what_the_owner_closed_is_not_opened_again(stage: Stage) -> None:
    typed(stage)
    with stage.records() as records:
        forge = records.forge()
        assert forge
        forge.close(1)
        forge.delete_branch(BRANCH)
    for _ in range(2):
        assert "you closed it; it is not opened again" in typed(stage)
    assert [pull.state for pull in stage.pulls()] == ["closed"]
    assert branches(stage) == ["main"]


def test_a_repository_with_such_a_workflow_is_left_alone(stage: Stage) -> None:
    commits(stage, deploy_yml="on: push\n", tests_yaml="on: [pull_request]\n")
    assert typed(stage) == "main has .github/workflows/tests.yaml, which runs on pull requests; nothing to do\n"
    assert (stage.pulls(), branches(stage)) == ([], ["main"])


def test_a_file_of_the_owner_s_is_never_replaced(stage: Stage) -> None:
    commits(stage, ci_yml="on: push\n")
    with pytest.raises(Misconfigured, match=r"add `pull_request:` to its `on:`"):
        typed(stage)
    assert (stage.pulls(), branches(stage)) == ([], ["main"])


def test_another_workflow_does_not_stop_it(stage: Stage) -> None:
    commits(stage, deploy_yml="on: push\n")
    typed(stage)
    proposed(stage)


def test_a_branch_of_somebody_else_is_not_taken_over(stage: Stage) -> None:
    site = stage.root / "site"
    with stage.records() as records:
        open_code(stage.home, records.settings, records.clock, print).sync()
    git(site, "commit", "-q", "--allow-empty", "-m", "mine")
    git(site, "push", "-q", str(stage.home.forge("site")), f"HEAD:refs/heads/{BRANCH}")
    with pytest.raises(Refused, match="not ours"):
        typed(stage)
    assert stage.pulls() == []


# --- faults --------------------------------------------------------------------------------------------------


def proposal(stage: Stage, linted: Linted) -> tuple[int, list[str]]:
    said: list[str] = []
    with stage.records() as records:
        code = open_code(stage.home, records.settings, records.clock, said.append)
        return WorkflowProposal(records, code, Outgoing({}), said.append, lambda text, folder: linted).make(), said


def test_a_finding_stops_it_before_anything_is_pushed(stage: Stage) -> None:
    code, said = proposal(stage, Linted((WorkflowFinding("zizmor", 7, "unpinned-uses"),)))
    assert (code, said) == (1, ["zizmor: line 7: unpinned-uses"])
    assert (stage.pulls(), branches(stage)) == ([], ["main"])


def test_a_linter_that_is_missing_is_said_and_does_not_stop_it(stage: Stage) -> None:
    code, said = proposal(stage, Linted((), ("zizmor",)))
    assert code == 0
    assert said[0] == "warning: zizmor is not installed, so the workflow was not checked by it"
    proposed(stage)


def test_a_command_that_github_would_change_is_refused(stage: Stage) -> None:
    with (stage.home.targets / "site.yaml").open("a") as file:
        file.write('test: "echo ${{ github.head_ref }}"\n')
    with pytest.raises(Misconfigured, match="`test:` holds"):
        typed(stage)
    assert branches(stage) == ["main"]


def takes_no(stage: Stage, reason: str) -> Path:
    """The forge refuses our branch in these words -> what makes it do so."""
    with stage.records() as records:
        open_code(stage.home, records.settings, records.clock, print).sync()
    hook = stage.home.forge("site") / "hooks" / "proc-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(REFUSES.replace("REASON", reason))
    hook.chmod(0o700)
    stage.forge("config", "receive.procReceiveRefs", f"refs/heads/{BRANCH}")
    return hook


def test_where_the_token_may_not_write_workflows_the_owner_gets_the_file_and_the_words(
    stage: Stage, tmp_path: Path
) -> None:
    takes_no(stage, NO_RIGHT)
    said = typed(stage)
    assert said.count("\n") == 1 and "the token may not write workflows, and it should not" in said
    assert (stage.pulls(), branches(stage)) == ([], ["main"])
    by_hand = said.partition("type: ")[2].replace(" && git push", "")
    finishes(["sh", "-c", f"cd {stage.root / 'site'} && {by_hand}"], GIT)
    assert f"main has {PATH}" in typed(stage)
    assert (stage.root / "site" / PATH).read_text() == (stage.home.root / "reports" / "ci.yml").read_text()


@pytest.mark.parametrize("moved", ["the settings", "the branch"])
def test_with_the_right_given_later_it_is_proposed_as_things_are_then(stage: Stage, moved: str) -> None:
    hook = takes_no(stage, NO_RIGHT)
    typed(stage)
    hook.unlink()
    stage.forge("config", "--unset", "receive.procReceiveRefs")
    if moved == "the settings":
        with (stage.home.targets / "site.yaml").open("a") as file:
            file.write('test: "make test"\n')
    else:
        stage.owner_commits({"app.py": "X = 1\n"})
    typed(stage)
    proposed(stage)
    assert ("make test" in stage.forge("show", f"{BRANCH}:{PATH}")) is (moved == "the settings")
    assert stage.forge("show", f"{BRANCH}:app.py") == stage.forge("show", "main:app.py")
    assert stage.forge("rev-list", "--count", f"main..{BRANCH}") == "1"


def test_another_refusal_is_shown_as_it_is(stage: Stage) -> None:
    takes_no(stage, "protected branch")
    with pytest.raises(Refused, match="protected branch"):
        typed(stage)
    assert not (stage.home.root / "reports" / "ci.yml").exists()


# --- kills ---------------------------------------------------------------------------------------------------


def test_what_the_owner_closed_while_we_were_dead_is_not_opened_again(stage: Stage) -> None:
    killed_at("pr.created", [sys.executable, "main.py", "--home", str(stage.home.root), "propose-ci"])
    with stage.records() as records:
        forge = records.forge()
        assert forge
        forge.close(1)
    assert "you closed it" in typed(stage)
    assert [pull.state for pull in stage.pulls()] == ["closed"]


@pytest.mark.slow
def test_a_kill_at_any_point_ends_in_one_pull_request(tmp_path: Path, model: ScriptedModel) -> None:
    places = (tmp_path / str(number) for number in itertools.count())

    def fresh() -> tuple[Stage, list[str]]:
        place = next(places)
        place.mkdir()
        stage = Stage(place, model.url, Coder(GOOD), suite).set_up(VISION, FILES)
        return stage, [sys.executable, "main.py", "--home", str(stage.home.root), "propose-ci"]

    for number in range(STEP, len(points(fresh()[1], at_least=AT_LEAST)) + 1, STEP):
        stage, argv = fresh()
        passed = killed_at(number, argv)
        if number // STEP % 2:  # meanwhile the owner goes on
            stage.owner_commits({"app.py": "X = 1\n"})
        finishes(argv)
        pull, outcomes = proposed(stage), booked(stage)
        assert branches(stage) == [BRANCH, "main"], passed[-1]
        assert outcomes == {PUSH: pull.head_sha, PULL: str(pull.number)}, passed[-1]
        assert list(stage.home.work.iterdir()) == [], passed[-1]
