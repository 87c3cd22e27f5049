"""`propose-ci`: one pull request of the system's own that gives the target a workflow. The owner merges it.

It belongs to no task, so no gate ever looks at it. What is done at the forge is asked about first and booked as two
intents: however often the command is typed or killed, there is one branch and one pull request.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sisimpur.agents.devops.ci.ci_workflow import (
    FOLDER,
    LABELS,
    PATH,
    TITLE,
    CiOrder,
    TeamTests,
    body,
    order_for,
    render,
    runs_on_pulls,
)
from sisimpur.agents.devops.ci.workflow_lint import Linted, lint_workflow
from sisimpur.agents.qa.survey.roots import TOOLS_OF_ROOTS
from sisimpur.agents.qa.survey.target_survey import survey_at
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import plain
from sisimpur.cli.wiring.forge import TargetCode, open_code
from sisimpur.cli.wiring.records import Records, open_records
from sisimpur.cli.wiring.team import AUTHOR
from sisimpur.cli.wiring.workshop import roots_of
from sisimpur.shared.forge.forge import Pull, marked
from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.model.naming import VERSION
from sisimpur.shared.model.scope import Scope
from sisimpur.shared.model.text import defuse
from sisimpur.shared.repo.commit_text import CommitText
from sisimpur.shared.repo.committer import Committed, Committer
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.system import lock
from sisimpur.shared.system.outgoing import Outgoing
from sisimpur.shared.system.paths import remove_folder, write_text

BRANCH = "agent/ci-workflow"
ATTEMPTS = "refs/attempts/_ci-workflow.a"  # no task's id begins with _
PUSH, PULL = "ci:push", "ci:pr"  # our intents
MARK = "ci:workflow"  # not `<task>:pr`: it is no task's
NO_RIGHT = re.compile(r"without `?workflows?`? (scope|permission)")
SAID = f"{TITLE}\n\nProposed by `python main.py propose-ci`; the owner merges it himself."
MESSAGE = CommitText(SAID, {"Team-Version": VERSION})
STANDS = {
    "open": f"it adds {PATH}; you merge it yourself, nobody else does",
    "closed": "you closed it; it is not opened again",
    "merged": f"it was merged, and its workflow is gone since; restore {PATH} if you miss it",
}


def propose_ci(arguments: Arguments, environment: Mapping[str, str] = os.environ) -> int:
    """Return 1 if the workflow that we wrote has a fault: then nothing was pushed."""
    with open_records(arguments.home, environment) as records, lock.hold(records.home.lock):
        outgoing = Outgoing(records.settings.secrets.to_hide)

        def print_line(text: str) -> None:
            print(plain(outgoing.clean(text)), flush=True)

        with closing(open_code(records.home, records.settings, records.clock, print_line)) as code:
            return WorkflowProposal(records, code, outgoing, print_line).make()


@dataclass(frozen=True)
class WorkflowProposal:
    """`print_line` gets lines for the owner; `lint` gets the workflow and a folder of ours to work in."""

    records: Records
    code: TargetCode
    outgoing: Outgoing
    print_line: Callable[[str], None]
    lint: Callable[[str, Path], Linted] = lint_workflow

    def make(self) -> int:
        """Propose the workflow. It can be repeated at any point: what is there already is found, not made again."""
        into, head = self.records.settings.target.file.branch, self.code.sync()
        if there := _workflow_at(self.code.mirror, head):
            self.print_line(f"{into} has {there}, which runs on pull requests; nothing to do")
            return 0
        found = self.code.forge.find_pull(BRANCH, into)
        if found and (found.state != "open" or self.records.journal.outcome_of(PULL)):
            self._say_where(found)
            return 0
        order = _order(self.records, self.code.mirror, head)
        text = render(order)
        if self._has_faults(text):
            return 1
        if self._push(head, text):
            self._say_where(self._pull(order))
        return 0

    def _has_faults(self, text: str) -> bool:
        linted = self.lint(text, self.records.home.temporary)
        for tool in linted.missing:
            self.print_line(f"warning: {tool} is not installed, so the workflow was not checked by it")
        for finding in linted.findings:
            self.print_line(f"{finding.tool}: line {finding.line}: {finding.text}")
        return bool(linted.findings)

    def _push(self, head: str, text: str) -> bool:
        """Create the branch. False: the token may not write workflows, and the file lies in the home for the owner."""
        journal, mirror = self.records.journal, self.code.mirror
        journal.intend(PUSH, "push", "", BRANCH, self.records.clock.now())
        ours, sha = _standing(mirror), mirror.remote_head(BRANCH)
        if sha is not None and sha not in ours:
            raise Refused(f"{BRANCH} is there already, and not ours; remove that branch, or add {PATH} by hand")
        if sha is None:
            sha = self._commit(head, text, ours)
            try:
                mirror.push(sha, BRANCH)
            except Refused as refusal:
                if not NO_RIGHT.search(str(refusal)):
                    raise
                self._leave_to_the_owner(text)
                return False
        journal.achieved(PUSH, sha)
        return True

    def _commit(self, head: str, text: str, standing: list[str]) -> str:
        """Reuse the newest commit in our mirror if it has the same text and the same parent; else make the next one."""
        mirror, home = self.code.mirror, self.records.home
        folder = home.work / "ci-workflow"
        remove_folder(folder)
        newest = standing[-1] if standing else ""
        if newest and mirror.parent(newest) == head and mirror.read(newest, PATH) == text.encode():
            return newest
        mirror.check_out(head, folder)
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        write_text(folder / PATH, text)
        committer = Committer(mirror, self.outgoing, AUTHOR)
        ref, scope = f"{ATTEMPTS}{len(standing) + 1}", Scope(new_files=(PATH,), allow=(PATH,))
        made = committer.commit(folder, base=head, ref=ref, text=MESSAGE, scope=scope, now=self.records.clock.now())
        remove_folder(folder)
        if not isinstance(made, Committed):
            raise Misconfigured(f"a .gitignore of the repository covers {PATH}; change that, or add the file by hand")
        return made.sha

    def _pull(self, order: CiOrder) -> Pull:
        journal = self.records.journal
        journal.intend(PULL, "pull request", "", BRANCH, self.records.clock.now())
        text = marked(MARK, defuse(self.outgoing.clean(body(order))))
        pull = self.code.forge.ensure_pull(BRANCH, order.branch, TITLE, text, LABELS)
        journal.achieved(PULL, str(pull.number))
        return pull

    def _say_where(self, pull: Pull) -> None:
        self.print_line(f"pull request #{pull.number} ({pull.url}): {STANDS[pull.state]}")
        remote = self.code.mirror.remote
        if pull.state == "open" and remote.is_local:
            self.print_line(f"in your repository type: git pull --no-rebase {shlex.quote(remote.url)} {BRANCH}")

    def _leave_to_the_owner(self, text: str) -> None:
        place = self.records.home.root / "reports" / "ci.yml"
        place.parent.mkdir(exist_ok=True)
        write_text(place, text)
        steps = (
            f"mkdir -p {FOLDER} && cp {shlex.quote(str(place))} {PATH} && git add {PATH}"
            f" && git commit -m {shlex.quote(TITLE)} && git push"
        )
        self.print_line(f"the token may not write workflows, and it should not; in your repository type: {steps}")


# --- what is there -------------------------------------------------------------------------------------------


def _workflow_at(mirror: Mirror, commit: str) -> str:
    """Return the first workflow that runs on pull requests; empty: none. Misconfigured: our file's name is taken."""
    paths = [entry.path for entry in mirror.tree(commit)]
    for path in (path for path in paths if path.startswith(FOLDER) and path.endswith((".yml", ".yaml"))):
        if runs_on_pulls((mirror.read(commit, path) or b"").decode("utf-8", "replace")):
            return path
    if PATH in paths:
        raise Misconfigured(f"{PATH} is there, but does not run on pull requests; add `pull_request:` to its `on:`")
    return ""


def _standing(mirror: Mirror) -> list[str]:
    """Return the commits that were made for this before, oldest first."""
    found: list[str] = []
    while sha := mirror.attempt(f"{ATTEMPTS}{len(found) + 1}"):
        found.append(sha)
    return found


def _order(records: Records, mirror: Mirror, commit: str) -> CiOrder:
    """Collect what the team itself installs and runs for this commit."""
    target = records.settings.target.file
    survey = survey_at(mirror, commit, asked=roots_of(target))
    team = TeamTests(
        setup=target.setup.strip() or "\n".join((survey.setup, *([TOOLS_OF_ROOTS] if survey.roots else []))),
        test=survey.test(target.test),
        python=_version(target.python),
        minutes=math.ceil(2 * target.minutes) + 5,  # the set-up and the tests, each as long as it may take here
    )
    return order_for(set(survey.paths), survey.read("pyproject.toml"), target.branch, team)


def _version(python: str) -> str:
    """Return the version of the interpreter that runs the tests, by its file's name; else our own."""
    named = re.fullmatch(r"python(3\.\d+)", Path(python).resolve().name) if python else None
    return named[1] if named else f"{sys.version_info.major}.{sys.version_info.minor}"
