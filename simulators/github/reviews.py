"""Reviews in the local GitHub: nobody gives a verdict on his own pull request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sisimpur.simulators.github import pull_views
from sisimpur.simulators.github.call import Answer, Call, Refusal, Route, unprocessable
from sisimpur.simulators.github.pulls import READ, WRITE, pull_of
from sisimpur.simulators.github.state import Pull, Remark, Review

STATES = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED", None: "PENDING"}
VERDICTS = {"APPROVE": "approve", "REQUEST_CHANGES": "request changes on"}


def listed(call: Call) -> Answer:
    """A pending one is seen by who began it."""
    pull, login = pull_of(call), call.account.login
    found = [r for r in call.repository.reviews if r.number == pull.number and _is_seen(r, login)]
    return call.page([pull_views.review(call.view, call.repository, review) for review in found])


def _is_seen(review: Review, login: str) -> bool:
    return review.state != "PENDING" or review.author == login


def create(call: Call) -> Answer:
    pull, event = pull_of(call), call.choice("event", ("APPROVE", "REQUEST_CHANGES", "COMMENT"))
    text, remarks = call.text("body") or "", call.items("comments")
    commit = call.text("commit_id") or pull.head_sha
    if call.account.login == pull.author and event in VERDICTS:
        raise unprocessable(f"Can not {VERDICTS[event]} your own pull request")
    if event == "REQUEST_CHANGES" and not text and not remarks:
        raise unprocessable("Body can't be blank")
    if event == "COMMENT" and not text and not remarks:
        raise unprocessable("Could not create review: body is required")
    if commit not in call.repository.commits.between(pull.base_sha, pull.head_sha):
        raise unprocessable("Commit is not part of the pull request")
    review = Review(
        id=call.state.next_id(),
        number=pull.number,
        author=call.account.login,
        body=text,
        state=STATES[event],
        commit=commit,
        at=call.now,
    )
    made = [_remark(call, pull, review, given) for given in remarks]
    call.repository.reviews.append(review)
    call.repository.remarks.extend(made)
    return Answer(200, pull_views.review(call.view, call.repository, review))  # 200, not 201


def _remark(call: Call, pull: Pull, review: Review, given: Any) -> Remark:
    if not isinstance(given, Mapping) or not all(isinstance(given.get(name), str) for name in ("path", "body")):
        raise Refusal(422, "Invalid request.\n\nEach of 'comments' needs a path and a body.")
    changed = {file.path for file in call.repository.commits.changed(pull.base_sha, pull.head_sha)}
    line = given.get("line", given.get("position"))
    if given["path"] not in changed:
        raise unprocessable("Path could not be resolved")
    if not isinstance(line, int) or line < 1:
        raise unprocessable("Line could not be resolved")
    return Remark(
        id=call.state.next_id(),
        number=pull.number,
        review=review.id,
        author=review.author,
        body=given["body"],
        path=given["path"],
        line=line,
        commit=review.commit,
        at=call.now,
    )


def remarks(call: Call) -> Answer:
    pull = pull_of(call)
    shown = [r for r in call.repository.remarks if r.number == pull.number]
    return call.page([pull_views.remark(call.view, call.repository, pull, remark) for remark in shown])


ROUTES = (
    Route("GET", "/pulls/{n}/reviews", listed, READ),
    Route("POST", "/pulls/{n}/reviews", create, WRITE),
    Route("GET", "/pulls/{n}/comments", remarks, READ),
)
