"""How pull requests, their files and their reviews look in the local GitHub's answers."""

from __future__ import annotations

from typing import Any

from sisimpur.simulators.github.commits import ChangedFile
from sisimpur.simulators.github.rules import missing_checks
from sisimpur.simulators.github.state import Pull, Remark, Repository, Review, State
from sisimpur.simulators.github.views import View, comment_count

Json = Any


def in_list(view: View, repository: Repository, pull: Pull) -> Json:
    return view.make("pull-request-simple", **_known(view, repository, pull))


def whole(view: View, repository: Repository, pull: Pull, state: State) -> Json:
    """With what lists leave out; "mergeable" is found out meanwhile."""
    details = _details(view, repository, pull, _mergeable(repository, pull, state))
    return view.make("pull-request", **_known(view, repository, pull), **details)


def _known(view: View, repository: Repository, pull: Pull) -> dict[str, Json]:
    api, web = view.api(repository), f"{view.web(repository)}/pull/{pull.number}"
    return {
        "id": pull.id,
        "node_id": f"PR_{pull.id}",
        "number": pull.number,
        "state": pull.state,
        "title": pull.title,
        "body": pull.body,
        "user": view.user(pull.author),
        "labels": view.labels(repository, pull),
        "draft": pull.draft,
        "merged_at": pull.merged_at,
        "closed_at": pull.closed_at,
        "created_at": pull.created_at,
        "updated_at": pull.updated_at,
        "merge_commit_sha": pull.merge_sha,
        "head": _side(view, repository, pull.head, pull.head_sha),
        "base": _side(view, repository, pull.base, pull.base_sha),
        "author_association": view.association(repository, pull.author),
        "auto_merge": None,
        "url": f"{api}/pulls/{pull.number}",
        "issue_url": f"{api}/issues/{pull.number}",
        "html_url": web,
        "diff_url": f"{web}.diff",
        "patch_url": f"{web}.patch",
        "_links": _links(api, web, pull),
    }


def _links(api: str, web: str, pull: Pull) -> Json:
    tails = {
        "self": f"{api}/pulls/{pull.number}",
        "html": web,
        "issue": f"{api}/issues/{pull.number}",
        "comments": f"{api}/issues/{pull.number}/comments",
        "review_comments": f"{api}/pulls/{pull.number}/comments",
        "review_comment": f"{api}/pulls/comments{{/number}}",
        "commits": f"{api}/pulls/{pull.number}/commits",
        "statuses": f"{api}/statuses/{pull.head_sha}",
    }
    return {name: {"href": address} for name, address in tails.items()}


def _side(view: View, repository: Repository, branch: str, sha: str) -> Json:
    return {
        "label": f"{repository.owner}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": view.user(repository.owner),
        "repo": view.repository(repository, None, "repository"),
    }


def _mergeable(repository: Repository, pull: Pull, state: State) -> bool | None:
    """GitHub works it out in the background: null for a while after the head or the base moved."""
    if pull.looked != (pull.head_sha, pull.base_sha):
        pull.looked, pull.looks = (pull.head_sha, pull.base_sha), 0
    pull.looks += 1
    if pull.state != "open" or pull.looks <= state.looks_until_known:
        return None
    return repository.commits.merge_of(pull.base_sha, pull.head_sha) is not None


def _details(view: View, repository: Repository, pull: Pull, mergeable: bool | None) -> dict[str, Json]:
    files = repository.commits.changed(pull.base_sha, pull.head_sha)
    return {
        "merged": bool(pull.merge_sha),
        "merged_by": view.user(pull.merged_by) if pull.merged_by else None,
        "mergeable": mergeable,
        "mergeable_state": _mergeable_state(repository, pull, mergeable),
        "rebaseable": None,
        "comments": comment_count(repository, pull),
        "review_comments": sum(remark.number == pull.number for remark in repository.remarks),
        "maintainer_can_modify": False,
        "commits": len(repository.commits.between(pull.base_sha, pull.head_sha)),
        "additions": sum(file.added for file in files),
        "deletions": sum(file.deleted for file in files),
        "changed_files": len(files),
    }


def _mergeable_state(repository: Repository, pull: Pull, mergeable: bool | None) -> str:
    if mergeable is None:
        return "unknown"
    if not mergeable:
        return "dirty"
    if pull.draft:
        return "draft"
    return "blocked" if missing_checks(repository, pull) else "clean"


def file(view: View, repository: Repository, pull: Pull, changed: ChangedFile) -> Json:
    return view.make(
        "diff-entry",
        sha=changed.blob,
        filename=changed.path,
        status=changed.status,
        additions=changed.added,
        deletions=changed.deleted,
        changes=changed.added + changed.deleted,
        patch=changed.patch,
        contents_url=f"{view.api(repository)}/contents/{changed.path}?ref={pull.head_sha}",
    )


def review(view: View, repository: Repository, given: Review) -> Json:
    api, web = f"{view.api(repository)}/pulls/{given.number}", f"{view.web(repository)}/pull/{given.number}"
    html = f"{web}#pullrequestreview-{given.id}"
    return view.make(
        "pull-request-review",
        id=given.id,
        node_id=f"PRR_{given.id}",
        user=view.user(given.author),
        body=given.body,
        state=given.state,
        commit_id=given.commit,
        submitted_at=given.at,
        author_association=view.association(repository, given.author),
        html_url=html,
        pull_request_url=api,
        _links={"html": {"href": html}, "pull_request": {"href": api}},
    )


def remark(view: View, repository: Repository, pull: Pull, made: Remark) -> Json:
    """One at a commit that is no longer the head is outdated: it has no line."""
    api, web = f"{view.api(repository)}/pulls", f"{view.web(repository)}/pull/{made.number}#discussion_r{made.id}"
    here = f"{api}/comments/{made.id}"
    return view.make(
        "pull-request-review-comment",
        id=made.id,
        node_id=f"PRRC_{made.id}",
        pull_request_review_id=made.review,
        user=view.user(made.author),
        body=made.body,
        path=made.path,
        original_line=made.line or 1,
        side="RIGHT",
        diff_hunk="",
        commit_id=pull.head_sha,
        original_commit_id=made.commit,
        created_at=made.at,
        updated_at=made.edited_at or made.at,
        author_association=view.association(repository, made.author),
        url=here,
        html_url=web,
        pull_request_url=f"{api}/{made.number}",
        _links={
            "self": {"href": here},
            "html": {"href": web},
            "pull_request": {"href": f"{api}/{made.number}"},
        },
        **({"line": made.line} if made.commit == pull.head_sha else {}),
    )
