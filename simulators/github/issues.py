"""Issues of the local GitHub, pull requests among them: their comments and labels."""

from __future__ import annotations

from sisimpur.simulators.github.call import MAX_TITLE, Answer, Call, Refusal, Route, invalid, not_found
from sisimpur.simulators.github.follow import follow
from sisimpur.simulators.github.pulls import change_state
from sisimpur.simulators.github.state import Comment, Issue, Pull

READ, WRITE = "issues=read;pull_requests=read", "issues=write;pull_requests=write"
REASONS = ("completed", "reopened", "not_planned", "duplicate")


def issue_of(call: Call) -> Issue:
    """The one that the path names, or 404."""
    follow(call.repository, call.now)
    issue = call.repository.issues.get(call.number)
    if issue is None:
        raise not_found()
    return issue


def listed(call: Call) -> Answer:
    follow(call.repository, call.now)
    state, since = call.query.get("state", "open"), call.query.get("since", "")
    wanted = {name.strip().lower() for name in call.query.get("labels", "").split(",") if name.strip()}
    found = [
        issue
        for issue in call.repository.issues.values()
        if state in (issue.state, "all") and wanted <= set(issue.labels) and issue.updated_at >= since
    ]
    return call.page([call.view.issue(call.repository, issue) for issue in call.in_order(found)])


def create(call: Call) -> Answer:
    """Who may not write gets no labels, and is not told."""
    names = call.names() if call.repository.may_write(call.account.login) else []
    issue = Issue(
        id=call.state.next_id(),
        number=len(call.repository.issues) + 1,
        title=call.needed("title", MAX_TITLE),
        body=call.text("body"),
        author=call.account.login,
        created_at=call.now,
        updated_at=call.now,
    )
    call.repository.issues[issue.number] = issue
    _put(call, issue, names)
    return Answer(201, call.view.issue(call.repository, issue))


def read(call: Call) -> Answer:
    return Answer(200, call.view.issue(call.repository, issue_of(call)))


def update(call: Call) -> Answer:
    issue, login = issue_of(call), call.account.login
    if login != issue.author and not call.repository.may_write(login):
        raise Refusal(403, "Must have admin rights to Repository.")
    title, body = call.text("title", MAX_TITLE), call.text("body")
    state, reason = call.choice("state", ("open", "closed")), call.choice("state_reason", REASONS)
    if state is not None:
        _change_state(call, issue, state, reason)
    if title is not None and title != issue.title:
        issue.title, issue.renamed_by = title, login
    if body is not None and body != issue.body:
        issue.body, issue.edited_by = body, (call.now, login)
    issue.updated_at = call.now
    return Answer(200, call.view.issue(call.repository, issue))


def _change_state(call: Call, issue: Issue, state: str, reason: str | None) -> None:
    if isinstance(issue, Pull):
        change_state(call, issue, state)
        return
    issue.state, issue.closed_at = state, call.now if state == "closed" else None
    issue.state_reason = reason or ("completed" if state == "closed" else "reopened")


# --- comments


def comments(call: Call) -> Answer:
    """The oldest first; `since` counts the last edit."""
    issue, since = issue_of(call), call.query.get("since", "")
    found = [c for c in call.repository.comments if c.number == issue.number and c.updated_at >= since]
    return call.page([call.view.comment(call.repository, comment) for comment in found])


def comment(call: Call) -> Answer:
    issue, body = issue_of(call), call.needed("body")
    if not body.strip():
        raise invalid("IssueComment", "custom", field="body", message="body can't be blank")
    made = Comment(
        id=call.state.next_id(),
        number=issue.number,
        author=call.account.login,
        body=body,
        created_at=call.now,
        updated_at=call.now,
    )
    call.repository.comments.append(made)
    issue.updated_at = call.now
    return Answer(201, call.view.comment(call.repository, made))


def edit_comment(call: Call) -> Answer:
    found = next((c for c in call.repository.comments if c.id == call.number), None)
    if found is None:
        raise not_found()
    if call.account.login != found.author and not call.repository.may_write(call.account.login):
        raise Refusal(403, "Must have admin rights to Repository.")
    found.body, found.updated_at = call.needed("body"), call.now
    return Answer(200, call.view.comment(call.repository, found))


# --- labels


def labels(call: Call) -> Answer:
    return call.page(call.view.labels(call.repository, issue_of(call)))


def add_labels(call: Call) -> Answer:
    issue = issue_of(call)
    _put(call, issue, call.names())
    return Answer(200, call.view.labels(call.repository, issue))


def set_labels(call: Call) -> Answer:
    issue, names = issue_of(call), call.names()
    issue.labels.clear()
    _put(call, issue, names)
    return Answer(200, call.view.labels(call.repository, issue))


def remove_label(call: Call) -> Answer:
    issue, key = issue_of(call), call.parameters["name"].lower()
    if key not in issue.labels:
        raise not_found("Label does not exist")
    issue.labels.remove(key)
    return Answer(200, call.view.labels(call.repository, issue))


def _put(call: Call, issue: Issue, names: list[str]) -> None:
    for name in names:
        call.state.label(call.repository, name)
        if name.lower() not in issue.labels:
            issue.labels.append(name.lower())


ROUTES = (
    Route("GET", "/issues", listed, READ, knows=("state", "labels", "since", "sort", "direction")),
    Route("POST", "/issues", create, "issues=write"),
    Route("GET", "/issues/{n}", read, READ),
    Route("PATCH", "/issues/{n}", update, WRITE),
    Route("GET", "/issues/{n}/comments", comments, READ, knows=("since",)),
    Route("POST", "/issues/{n}/comments", comment, WRITE),
    Route("PATCH", "/issues/comments/{n}", edit_comment, WRITE),
    Route("GET", "/issues/{n}/labels", labels, READ),
    Route("POST", "/issues/{n}/labels", add_labels, WRITE, "write"),
    Route("PUT", "/issues/{n}/labels", set_labels, WRITE, "write"),
    Route("DELETE", "/issues/{n}/labels/{name}", remove_label, WRITE, "write"),
)
