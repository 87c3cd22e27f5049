"""What the local GitHub allows whom, and what must be so before a merge. Decisions about its state; nothing changes."""

from __future__ import annotations

from collections.abc import Iterator

from sisimpur.simulators.github.state import Account, Pull, Repository, Review

# "Checks" does not exist for fine-grained tokens, and nobody should give one "Administration".
NEVER_GIVEN = frozenset({"checks", "administration"})


def token_allows(account: Account, repository: Repository, needs: str) -> bool:
    """`needs` as X-Accepted-GitHub-Permissions names it: alternatives by `;`, each a list by `,`.

    Classic tokens and Apps may do what their account may; fine-grained ones lack what they were not given. What is
    public can be read with any token.
    """
    if account.kind != "fine-grained":
        return True
    return any(
        all(_given(account, repository, one.strip()) for one in alternative.split(","))
        for alternative in needs.split(";")
    )


def _given(account: Account, repository: Repository, permission: str) -> bool:
    name, _, level = permission.partition("=")
    if level == "read" and not repository.private and name != "administration":
        return True
    return not {name, permission} & (account.lacks | NEVER_GIVEN)


def passed(repository: Repository, sha: str) -> set[str]:
    """The names of statuses and check runs of a commit that are "success"."""
    states = {context: status.state for context, status in repository.latest_statuses(sha).items()}
    runs = {run.name: run.conclusion for run in repository.check_runs if run.sha == sha}
    return {name for name, state in [*states.items(), *runs.items()] if state == "success"}


def missing_checks(repository: Repository, pull: Pull) -> list[str]:
    """GitHub's words for each rule that forbids the merge yet."""
    done, found = passed(repository, pull.head_sha), []
    for rule in repository.rules_of(pull.base):
        if rule.context and rule.context not in done:
            found.append(f'Required status check "{rule.context}" is expected.')
        if rule.approvals > _approvals(repository, pull):
            number = rule.approvals
            found.append(f"At least {number} approving review is required by reviewers with write access.")
    return found


def refusal_by_rules(repository: Repository, pull: Pull) -> str:
    """What a merge is refused with; empty: nothing forbids it."""
    missing = missing_checks(repository, pull)
    if not missing:
        return ""
    if any(not rule.classic for rule in repository.rules_of(pull.base)):
        return "Repository rule violations found\n\n" + "\n\n".join(missing)
    return missing[0]


def _approvals(repository: Repository, pull: Pull) -> int:
    """Of those who may write, the newest verdict of each counts."""
    verdicts = {review.author: review.state for review in _verdicts(repository, pull)}
    return sum(state == "APPROVED" for state in verdicts.values())


def _verdicts(repository: Repository, pull: Pull) -> Iterator[Review]:
    for review in repository.reviews:
        is_verdict = review.number == pull.number and review.state in ("APPROVED", "CHANGES_REQUESTED")
        if is_verdict and repository.may_write(review.author):
            yield review
