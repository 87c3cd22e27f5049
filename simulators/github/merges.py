"""Merging in the local GitHub: each refusal in GitHub's words, and a draft that is made ready (GraphQL)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sisimpur.simulators.github.call import Answer, Call, Refusal, Route, not_found
from sisimpur.simulators.github.follow import close
from sisimpur.simulators.github.pulls import pull_of
from sisimpur.simulators.github.rules import refusal_by_rules
from sisimpur.simulators.github.state import Pull

NOT_MERGEABLE = "Pull Request is not mergeable"


def merged(call: Call) -> Answer:
    if not pull_of(call).merge_sha:
        raise not_found()
    return Answer(204)


def merge(call: Call) -> Answer:
    """405 for what a rule or the code forbids, also for a base that moved meanwhile; 409 for another head."""
    pull, method = pull_of(call), call.choice("merge_method", ("merge", "squash", "rebase")) or "merge"
    _check(call, pull, call.text("sha") or pull.head_sha, method)
    tree = call.repository.commits.merge_of(pull.base_sha, pull.head_sha)
    if tree is None:
        raise Refusal(405, NOT_MERGEABLE)
    sha = _written(call, pull, tree, method)
    if not call.repository.commits.advance(pull.base, sha, pull.base_sha):
        raise Refusal(405, "Base branch was modified. Review and try the merge again.")  # 405, not 409
    pull.merge_sha, pull.merged_at, pull.merged_by = sha, call.now, call.account.login
    close(pull, call.now)
    return Answer(200, {"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


def _check(call: Call, pull: Pull, expected: str, method: str) -> None:
    if pull.state != "open":
        raise Refusal(405, NOT_MERGEABLE)
    if pull.draft:
        raise Refusal(405, "Pull Request is still a draft")
    if expected != pull.head_sha:
        raise Refusal(409, "Head branch was modified. Review and try the merge again.")
    if method == "rebase":
        raise Refusal(405, "Rebase merges are not allowed on this repository.")
    if why := refusal_by_rules(call.repository, pull):
        raise Refusal(405, why)


def _written(call: Call, pull: Pull, tree: str, method: str) -> str:
    parents: Sequence[str] = (pull.base_sha, pull.head_sha) if method == "merge" else (pull.base_sha,)
    title = f"Merge pull request #{pull.number} from {call.repository.owner}/{pull.head}"
    if method == "squash":
        title = f"{pull.title} (#{pull.number})"
    message = f"{call.text('commit_title') or title}\n\n{call.text('commit_message') or ''}".strip()
    at = datetime.fromisoformat(call.now)
    return call.repository.commits.write(tree, parents, message, call.account.login, at)


ROUTES = (
    Route("GET", "/pulls/{n}/merge", merged, "contents=read"),
    Route("PUT", "/pulls/{n}/merge", merge, "contents=write", "write"),
)
