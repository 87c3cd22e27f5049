"""Checks of GitHub before a day is begun: whose tokens, what they may do, what guards the branch.

A fine-grained token does not show its permissions. So each is tried with something that GitHub refuses in any case,
because it names what cannot exist: whoever lacks the permission hears that first (403), everybody else hears the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sisimpur.shared.forge.forge import FORGE_PROBLEMS, REVIEW_CONTEXT, ForgeRefused
from sisimpur.shared.forge.github_answers import TOKENS
from sisimpur.shared.forge.github_client import GitHubClient, branch_path
from sisimpur.shared.forge.github_values import BranchRule, GitHubRepository, GuardedBranch
from sisimpur.shared.model.errors import Misconfigured, TeamError

NOWHERE = "agents/doctor-asks-what-it-may-do"  # a branch that nobody has
NOTHING = "0" * 40  # a commit that nobody has

# what is needed -> how it is tried
NEEDED: Mapping[str, tuple[str, str, Mapping[str, Any] | None]] = {
    "Contents: write": ("DELETE", f"/git/refs/heads/{NOWHERE}", None),
    "Pull requests: write": ("POST", "/pulls", {"title": "asking", "head": NOWHERE, "base": NOWHERE}),
    "Commit statuses: write": ("POST", f"/statuses/{NOTHING}", {"state": "pending", "context": REVIEW_CONTEXT}),
    "Issues: read": ("GET", "/issues", None),
    "Actions: read": ("GET", "/actions/runs", None),
}


@dataclass(frozen=True)
class SetupFinding:
    """One line for the owner; `ok` is False if he has to do something, which `detail` then says."""

    name: str
    ok: bool
    detail: str


def findings(team: GitHubClient, second: GitHubClient | None, branch: str = "") -> Iterator[SetupFinding]:
    """`second`: the reviewer's token; `branch`: empty is the default one. Never raises what a forge may raise."""
    try:
        login = team.login()
        yield SetupFinding("account", True, f"GITHUB_TOKEN belongs to {login}")
        repository = team.read(GitHubRepository, "")
    except FORGE_PROBLEMS as problem:
        yield SetupFinding("account", False, _of_repository(team.repository, problem))
        return
    seen = _repository(repository, login)
    yield seen
    if not seen.ok:
        return
    yield from _permissions(team)
    yield _workflows(team)
    yield _guard(team, branch or repository.default_branch)
    yield _reviewer(second, login)


def _of_repository(name: str, problem: TeamError) -> str:
    if isinstance(problem, ForgeRefused) and problem.status == 404:
        return f"there is no repository {name}, or the token may not see it: give it access at {TOKENS}"
    return str(problem)


def _repository(found: GitHubRepository, login: str) -> SetupFinding:
    if found.archived:
        return SetupFinding("repository", False, f"{found.full_name} is archived, nothing can be written; unarchive it")
    if not found.permissions.get("push"):
        where = f"https://github.com/{found.full_name}/settings/access"
        return SetupFinding(
            "repository", False, f"{login} may not push to {found.full_name}; give write access at {where}"
        )
    kind = "private" if found.private else "public"
    return SetupFinding(
        "repository", True, f"{found.full_name} ({kind}), branch {found.default_branch}; {login} may push"
    )


def _permissions(team: GitHubClient) -> Iterator[SetupFinding]:
    try:
        missing = [name for name, tried in NEEDED.items() if not _may(team, *tried)]
    except FORGE_PROBLEMS as problem:
        yield SetupFinding(
            "permissions", False, f"what the token may do could not be found out: {problem}; try again later"
        )
        return
    if missing:
        where = f"{TOKENS} > the token > Repository permissions"
        yield SetupFinding("permissions", False, f"GITHUB_TOKEN lacks {', '.join(missing)}; add at {where}")
    else:
        yield SetupFinding("permissions", True, ", ".join(NEEDED))


def _may(team: GitHubClient, verb: str, path: str, body: Mapping[str, Any] | None) -> bool:
    """Try whether GitHub looks at it: what is tried cannot succeed, except for reading. Else nobody knows."""
    try:
        team.write(verb, path, body)
    except Misconfigured:
        return False
    except ForgeRefused:
        pass
    return True


def _workflows(team: GitHubClient) -> SetupFinding:
    try:
        scopes = team.scopes()
    except FORGE_PROBLEMS as problem:
        return SetupFinding("workflows", False, str(problem))
    if scopes is None:
        return SetupFinding("workflows", True, "a fine-grained token; it should not have Workflows or Administration")
    if "workflow" in scopes.replace(" ", "").split(","):
        text = (
            f"the token may change what runs in Actions; take the scope `workflow` away, or make a new one at {TOKENS}"
        )
        return SetupFinding("workflows", False, text)
    return SetupFinding(
        "workflows", True, f"a classic token ({scopes}) for all your repositories; better: one for this one"
    )


def _guard(team: GitHubClient, branch: str) -> SetupFinding:
    where = f"https://github.com/{team.repository}/settings/rules > New branch ruleset > Require status checks to pass"
    try:
        required, is_strict = required_checks(team, branch)
    except (Misconfigured, ForgeRefused) as problem:
        return SetupFinding(
            "branch", True, f"whether {REVIEW_CONTEXT} is required on {branch} cannot be seen ({problem})"
        )
    except FORGE_PROBLEMS as problem:
        return SetupFinding("branch", False, str(problem))
    if REVIEW_CONTEXT not in required:
        text = f"GitHub itself does not require {REVIEW_CONTEXT} on {branch}: others may merge what nobody reviewed"
        return SetupFinding("branch", False, f"{text}; add it at {where}")
    if not is_strict:
        text = f"GitHub requires {REVIEW_CONTEXT} on {branch}, but merges what is behind {branch} as well"
        return SetupFinding("branch", True, f"{text}; better: tick `Require branches to be up to date` at {where}")
    return SetupFinding("branch", True, f"GitHub requires {REVIEW_CONTEXT} and up-to-date branches on {branch}")


def required_checks(team: GitHubClient, branch: str) -> tuple[set[str], bool]:
    """The statuses that a merge into the branch needs, by rulesets and by classic protection; and up to date?"""
    path = branch_path(branch)
    rules = team.pages(BranchRule, f"/rules/branches/{path}")
    checks = [rule.parameters for rule in rules if rule.type == "required_status_checks" and rule.parameters]
    required = {check.context for found in checks for check in found.required_status_checks}
    is_strict = any(found.strict_required_status_checks_policy for found in checks)
    classic = team.read(GuardedBranch, f"/branches/{path}").protection.required_status_checks
    if classic is None:
        return required, is_strict
    return required | set(classic.contexts), is_strict or bool(classic.strict)


def _reviewer(second: GitHubClient | None, login: str) -> SetupFinding:
    if second is None:
        text = "no GITHUB_REVIEWER_TOKEN: verdicts are comments and the status, not formal reviews"
        return SetupFinding("reviewer", True, text)
    try:
        other, repository = second.login(), second.read(GitHubRepository, "")
    except FORGE_PROBLEMS as problem:
        return SetupFinding("reviewer", False, _of_repository(second.repository, problem))
    if other == login:
        text = f"GITHUB_REVIEWER_TOKEN belongs to {login} too; GitHub takes verdicts only from another account"
        return SetupFinding("reviewer", False, text)
    if not repository.permissions.get("push"):
        text = f"{other} has no write access to {repository.full_name}: its approvals do not count; give it there"
        return SetupFinding("reviewer", False, text)
    return SetupFinding("reviewer", True, f"GITHUB_REVIEWER_TOKEN belongs to {other}, whose reviews count")
