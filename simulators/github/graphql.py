"""The one GraphQL mutation that the local GitHub knows: a draft becomes ready for review. REST has no way to do it.

GraphQL answers 200 also when it refuses; what went wrong stands under `errors`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sisimpur.simulators.github.call import Answer
from sisimpur.simulators.github.rules import token_allows
from sisimpur.simulators.github.state import Account, Pull, Repository, State

Json = Any
MUTATION = "markPullRequestReadyForReview"
QUERY = (
    "mutation Mutation($input: MarkPullRequestReadyForReviewInput!) "
    "{ markPullRequestReadyForReview(input: $input) { clientMutationId pullRequest { isDraft } } }"
)


def answer(state: State, account: Account, body: Json) -> Answer:
    query, given = _query(body), _input(body)
    if " ".join(query.split()) != QUERY:
        return Answer(200, {"errors": [{"message": f"The local GitHub knows only this query: {QUERY}"}]})
    node = given.get("pullRequestId")
    if not isinstance(node, str):
        says = "Variable $input of type MarkPullRequestReadyForReviewInput! was provided invalid value"
        return Answer(200, {"errors": [{"message": f"{says} for pullRequestId"}]})
    repository, pull = _find(state, account, node)
    if repository is None or pull is None:
        return _refusal("NOT_FOUND", f"Could not resolve to a node with the global id of '{node[:100]}'")
    if not token_allows(account, repository, "pull_requests=write") or not repository.may_write(account.login):
        return _refusal("FORBIDDEN", "Resource not accessible by personal access token")
    pull.draft = False  # one that was none already is no error
    done = {"clientMutationId": given.get("clientMutationId"), "pullRequest": {"isDraft": False}}
    return Answer(200, {"data": {MUTATION: done}})


def _query(body: Json) -> str:
    query = body.get("query") if isinstance(body, dict) else None
    return query if isinstance(query, str) else ""


def _input(body: Json) -> Mapping[str, Json]:
    variables = body.get("variables") if isinstance(body, dict) else None
    given = variables.get("input") if isinstance(variables, dict) else None
    return given if isinstance(given, dict) else {}


def _find(state: State, account: Account, node: str) -> tuple[Repository | None, Pull | None]:
    for repository in state.repositories.values():
        for pull in repository.pulls:
            if f"PR_{pull.id}" == node and repository.may_read(account.login):
                return repository, pull
    return None, None


def _refusal(kind: str, message: str) -> Answer:
    error = {"type": kind, "path": [MUTATION], "locations": [{"line": 1, "column": 68}], "message": message}
    return Answer(200, {"data": {MUTATION: None}, "errors": [error]})
