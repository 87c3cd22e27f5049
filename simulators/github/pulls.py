"""Pull requests of the local GitHub: listed, made, changed, read."""

from __future__ import annotations

from sisimpur.shared.forge.forge import ForgeRefused
from sisimpur.simulators.github import commit_views, pull_views
from sisimpur.simulators.github.call import MAX_TITLE, Answer, Call, Refusal, Route, invalid, not_found
from sisimpur.simulators.github.follow import close, follow
from sisimpur.simulators.github.state import Pull

MOST_LINES = 20_000  # of a diff
READ, WRITE = "pull_requests=read", "pull_requests=write"


def pull_of(call: Call) -> Pull:
    """The one that the path names, up to date, or 404."""
    follow(call.repository, call.now)
    pull = call.repository.issues.get(call.number)
    if not isinstance(pull, Pull):
        raise not_found()
    return pull


def whole(call: Call, pull: Pull, status: int = 200) -> Answer:
    return Answer(status, pull_views.whole(call.view, call.repository, pull, call.state))


def listed(call: Call) -> Answer:
    follow(call.repository, call.now)
    state, base, head = (call.query.get(name, "") for name in ("state", "base", "head"))
    found = [
        pull
        for pull in call.repository.pulls
        if (state or "open") in (pull.state, "all") and base in (pull.base, "") and _is_from(call, pull, head)
    ]
    return call.page([pull_views.in_list(call.view, call.repository, pull) for pull in call.in_order(found)])


def _is_from(call: Call, pull: Pull, head: str) -> bool:
    """A head without "owner:" does not filter at all, as on GitHub."""
    return ":" not in head or f"{call.repository.owner}:{pull.head}".lower() == head.lower()


def create(call: Call) -> Answer:
    title, body = call.needed("title", MAX_TITLE), call.text("body")
    head, base, draft = call.needed("head").rpartition(":")[2], call.needed("base"), call.flag("draft")
    branches = follow(call.repository, call.now)
    if head not in branches:
        raise invalid("PullRequest", "invalid", field="head")
    if base not in branches:
        raise invalid("PullRequest", "invalid", field="base")
    _check_new(call, head, base, branches[head], branches[base])
    if draft and call.repository.private:  # private repositories of the free plan, which these are
        raise Refusal(422, "Draft pull requests are not supported in this repository.")
    pull = Pull(
        id=call.state.next_id(),
        number=len(call.repository.issues) + 1,
        title=title,
        body=body,
        author=call.account.login,
        created_at=call.now,
        updated_at=call.now,
        head=head,
        base=base,
        head_sha=branches[head],
        base_sha=branches[base],
        draft=draft,
    )
    call.repository.issues[pull.number] = pull
    call.repository.commits.keep(pull.number, pull.head_sha)
    return whole(call, pull, 201)


def _check_new(call: Call, head: str, base: str, head_sha: str, base_sha: str) -> None:
    if _open_one(call, head, base):
        says = f"A pull request already exists for {call.repository.owner}:{head}."
        raise invalid("PullRequest", "custom", message=says)
    if not call.repository.commits.are_related(base_sha, head_sha):
        says = f"The {head} branch has no history in common with {base}"
        raise invalid("PullRequest", "custom", message=says)
    if call.repository.commits.holds(base_sha, head_sha):
        raise invalid("PullRequest", "custom", message=f"No commits between {base} and {head}")


def _open_one(call: Call, head: str, base: str) -> Pull | None:
    return next((p for p in call.repository.pulls if (p.state, p.head, p.base) == ("open", head, base)), None)


def read(call: Call) -> Answer:
    pull = pull_of(call)
    if "diff" not in call.accept:
        return whole(call, pull)
    text = _diff(call, pull)
    return Answer(200, text, {"content-type": "application/vnd.github.diff; charset=utf-8"})


def _diff(call: Call, pull: Pull) -> str:
    try:
        text = call.repository.commits.diff(pull.base_sha, pull.head_sha)
    except ForgeRefused:
        text = ""
    if text.count("\n") > MOST_LINES or not text:
        says = f"Sorry, the diff exceeded the maximum number of lines ({MOST_LINES})"
        raise Refusal(406, says, [{"resource": "PullRequest", "field": "diff", "code": "too_large"}])
    return text


def update(call: Call) -> Answer:
    pull = pull_of(call)
    title, body, base = call.text("title", MAX_TITLE), call.text("body"), call.text("base")
    state = call.choice("state", ("open", "closed"))
    if base is not None and base != pull.base:
        _check_base(call, pull, base)
    if state is not None:
        change_state(call, pull, state)
    pull.title = pull.title if title is None else title
    pull.body = pull.body if body is None else body
    pull.base = pull.base if base is None else base
    pull.updated_at = call.now
    follow(call.repository, call.now)
    return whole(call, pull)


def _check_base(call: Call, pull: Pull, base: str) -> None:
    branches = call.repository.commits.branches()
    if base not in branches:
        raise invalid("PullRequest", "invalid", field="base")
    _check_new(call, pull.head, base, pull.head_sha, branches[base])


def change_state(call: Call, pull: Pull, state: str) -> None:
    """Closed, or opened again if that is still possible."""
    if state == "closed" and pull.state == "open":
        close(pull, call.now)
    if state == "open" and pull.state == "closed":
        _check_reopening(call, pull)
        pull.state, pull.closed_at = "open", None
        follow(call.repository, call.now)


def _check_reopening(call: Call, pull: Pull) -> None:
    why = ""
    if pull.merge_sha:
        why = "The pull request is merged."
    elif pull.head not in call.repository.commits.branches():
        why = f"The {pull.head} branch has been deleted."
    elif _open_one(call, pull.head, pull.base):
        why = f"There is already an open pull request from {pull.head} to {pull.base}."
    if why:
        raise invalid("PullRequest", "custom", field="state", message=f"state cannot be changed. {why}")


def files(call: Call) -> Answer:
    pull = pull_of(call)
    changed = call.repository.commits.changed(pull.base_sha, pull.head_sha)
    return call.page([pull_views.file(call.view, call.repository, pull, one) for one in changed])


def commits(call: Call) -> Answer:
    pull = pull_of(call)
    shas = call.repository.commits.between(pull.base_sha, pull.head_sha)
    return call.page([commit_views.commit(call.view, call.repository, sha) for sha in shas])


ROUTES = (
    Route("GET", "/pulls", listed, READ, knows=("state", "base", "head", "sort", "direction")),
    Route("POST", "/pulls", create, WRITE, "write"),
    Route("GET", "/pulls/{n}", read, READ),
    Route("PATCH", "/pulls/{n}", update, WRITE, "write"),
    Route("GET", "/pulls/{n}/files", files, READ),
    Route("GET", "/pulls/{n}/commits", commits, READ),
)
