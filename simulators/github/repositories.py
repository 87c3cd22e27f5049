"""Repositories of the local GitHub: their branches, rules, references, labels and files."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

from sisimpur.shared.model.errors import CommandFailed
from sisimpur.simulators.github import commit_views
from sisimpur.simulators.github.call import Answer, Call, Refusal, Route, invalid, not_found
from sisimpur.simulators.github.follow import follow


def read(call: Call) -> Answer:
    return Answer(200, call.view.repository(call.repository, call.account))


# --- branches and references


def branches(call: Call) -> Answer:
    found = sorted(follow(call.repository, call.now).items())
    return call.page([commit_views.branch_in_list(call.view, call.repository, *item) for item in found])


def branch(call: Call) -> Answer:
    name = call.parameters["branch"]
    sha = follow(call.repository, call.now).get(name)
    if sha is None:
        raise not_found("Branch not found")
    return Answer(200, commit_views.branch(call.view, call.repository, name, sha))


def protection(call: Call) -> Answer:
    """Classic protection. Only administrators get this far."""
    contexts = [rule.context for rule in call.repository.rules_of(call.parameters["branch"]) if rule.classic]
    if not contexts:
        raise not_found("Branch not protected")
    return Answer(200, {"required_status_checks": {"contexts": contexts, "checks": [], "strict": False}})


def rules(call: Call) -> Answer:
    return call.page(commit_views.rules(call.repository, call.parameters["branch"]))


def reference(call: Call) -> Answer:
    name = f"refs/{call.parameters['ref']}"
    sha = _references(call).get(name)
    if sha is None:
        raise not_found()
    return Answer(200, commit_views.reference(call.view, call.repository, name, sha))


def create_reference(call: Call) -> Answer:
    name, sha = call.needed("ref"), call.needed("sha")
    if not call.repository.commits.is_reference(name):
        raise Refusal(422, "Reference name must start with 'refs/' and be well-formed")
    if name in _references(call):
        raise Refusal(422, "Reference already exists")
    if not call.repository.commits.has(sha):
        raise Refusal(422, "Object does not exist")
    try:
        call.repository.commits.create(name, sha)
    except CommandFailed:
        raise Refusal(422, "Reference already exists") from None
    return Answer(201, commit_views.reference(call.view, call.repository, name, sha))


def delete_reference(call: Call) -> Answer:
    """A deleted branch closes its pull requests, which keep their last commit."""
    name = f"refs/{call.parameters['ref']}"
    if name not in _references(call):
        raise Refusal(422, "Reference does not exist")
    branch = name.removeprefix("refs/heads/")
    if call.repository.rules_of(branch):
        raise Refusal(422, "Cannot delete this protected branch")
    call.repository.commits.delete(branch)
    follow(call.repository, call.now)
    return Answer(204)


def _references(call: Call) -> Mapping[str, str]:
    return {f"refs/heads/{name}": sha for name, sha in follow(call.repository, call.now).items()}


# --- labels and files


def labels(call: Call) -> Answer:
    return call.page([call.view.label(call.repository, key) for key in call.repository.labels])


def create_label(call: Call) -> Answer:
    name, color = call.needed("name", 50), call.text("color") or "ededed"
    if name.lower() in call.repository.labels:
        raise invalid("Label", "already_exists", field="name")
    if not name.strip() or not re.fullmatch("[0-9a-fA-F]{6}", color):
        raise invalid("Label", "invalid", field="name" if not name.strip() else "color")
    label = call.state.label(call.repository, name)
    label.color, label.description = color, call.text("description", 100)
    return Answer(201, call.view.label(call.repository, name.lower()))


def label(call: Call) -> Answer:
    key = call.parameters["name"].lower()
    if key not in call.repository.labels:
        raise not_found()
    return Answer(200, call.view.label(call.repository, key))


def contents(call: Call) -> Answer:
    """A file, not a folder."""
    path, known = call.parameters["path"], follow(call.repository, call.now)
    ref = call.query.get("ref") or call.repository.commits.default_branch()
    sha = known.get(ref, ref)
    data = call.repository.commits.blob(sha, path) if call.repository.commits.has(sha) else None
    if data is None:
        raise not_found()
    file = call.view.make(
        "content-file",
        type="file",
        encoding="base64",
        size=len(data),
        name=path.rpartition("/")[2],
        path=path,
        content=base64.b64encode(data).decode(),
        sha=call.repository.commits.blob_name(sha, path),
        url=f"{call.view.api(call.repository)}/contents/{path}?ref={ref}",
    )
    return Answer(200, file)


ROUTES = (
    Route("GET", "", read),
    Route("GET", "/branches", branches, "contents=read"),
    Route("GET", "/branches/{branch}/protection", protection, "administration=read", "admin"),
    Route("GET", "/branches/{branch}", branch, "contents=read"),
    Route("GET", "/rules/branches/{branch}", rules),
    Route("GET", "/git/ref/{ref}", reference, "contents=read"),
    Route("POST", "/git/refs", create_reference, "contents=write", "write"),
    Route("DELETE", "/git/refs/{ref}", delete_reference, "contents=write", "write"),
    Route("GET", "/labels", labels, "issues=read;pull_requests=read"),
    Route("POST", "/labels", create_label, "issues=write;pull_requests=write", "write"),
    Route("GET", "/labels/{name}", label, "issues=read;pull_requests=read"),
    Route("GET", "/contents/{path}", contents, "contents=read", knows=("ref",)),
)
