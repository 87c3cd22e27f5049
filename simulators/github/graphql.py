"""The GraphQL that the local GitHub knows: a draft becomes ready, when a text was edited last, who changed an issue.

REST has no way to do the first, and does not tell the others.

GraphQL answers 200 also when it refuses; what went wrong stands under `errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sisimpur.simulators.github.call import Answer
from sisimpur.simulators.github.rules import token_allows
from sisimpur.simulators.github.state import Account, Pull, Repository, State

Json = Any
Told = Callable[[State, Repository], Iterator[tuple[str, Json]]]
MUTATION = "markPullRequestReadyForReview"
QUERY = (
    "mutation Mutation($input: MarkPullRequestReadyForReviewInput!) "
    "{ markPullRequestReadyForReview(input: $input) { clientMutationId pullRequest { isDraft } } }"
)
ACTOR = "{ login ... on User { databaseId } }"
CHANGES = (
    "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Issue { lastEditedAt editor "
    f"{ACTOR} timelineItems(last: 1, itemTypes: [RENAMED_TITLE_EVENT]) "
    f"{{ nodes {{ ... on RenamedTitleEvent {{ actor {ACTOR} }} }} }} }} }} }}"
)
NODES = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Comment { lastEditedAt } } }"


def answer(state: State, account: Account, body: Json) -> Answer:
    query, given = " ".join(_query(body).split()), _input(body)
    if query == NODES:
        return _nodes(state, account, body["variables"].get("ids"), _edits)
    if query == CHANGES:
        return _nodes(state, account, body["variables"].get("ids"), _changes)
    if query != QUERY:
        known = f"{QUERY}; {NODES}; {CHANGES}"
        return Answer(200, {"errors": [{"message": f"The local GitHub knows only these queries: {known}"}]})
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


def _nodes(state: State, account: Account, ids: Json, told: Told) -> Answer:
    """In the order of the ids; nobody learns of what he may not read."""
    known = {
        node: facts
        for repository in state.repositories.values()
        if repository.may_read(account.login)
        for node, facts in told(state, repository)
    }
    if missing := [one for one in ids if one not in known]:
        says = f"Could not resolve to a node with the global id of '{missing[0][:100]}'"
        error = {"type": "NOT_FOUND", "path": ["nodes", ids.index(missing[0])], "message": says}
        return Answer(200, {"data": {"nodes": [None for _ in ids]}, "errors": [error]})
    return Answer(200, {"data": {"nodes": [known[one] for one in ids]}})


def _edits(_: State, repository: Repository) -> Iterator[tuple[str, Json]]:
    yield from ((f"PRR_{review.id}", {"lastEditedAt": review.edited_at}) for review in repository.reviews)
    yield from ((f"PRRC_{remark.id}", {"lastEditedAt": remark.edited_at}) for remark in repository.remarks)
    for comment in repository.comments:
        edited = comment.updated_at if comment.updated_at != comment.created_at else None
        yield f"IC_{comment.id}", {"lastEditedAt": edited}


def _changes(state: State, repository: Repository) -> Iterator[tuple[str, Json]]:
    def actor(login: str) -> Json:
        return {"login": login, "databaseId": state.account(login).id}

    for issue in repository.issues.values():
        renamed = [{"actor": actor(issue.renamed_by)}] if issue.renamed_by else []
        at, editor = issue.edited_by or (None, "")
        told = {"lastEditedAt": at, "editor": actor(editor) if at else None, "timelineItems": {"nodes": renamed}}
        yield f"I_{issue.id}", told


def _find(state: State, account: Account, node: str) -> tuple[Repository | None, Pull | None]:
    for repository in state.repositories.values():
        for pull in repository.pulls:
            if f"PR_{pull.id}" == node and repository.may_read(account.login):
                return repository, pull
    return None, None


def _refusal(kind: str, message: str) -> Answer:
    error = {"type": kind, "path": [MUTATION], "locations": [{"line": 1, "column": 68}], "message": message}
    return Answer(200, {"data": {MUTATION: None}, "errors": [error]})
