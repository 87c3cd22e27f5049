"""Commits of the local GitHub, and what is said of them: statuses, check runs, workflow runs."""

from __future__ import annotations

import re

from sisimpur.simulators.github import commit_views
from sisimpur.simulators.github.call import Answer, Call, Refusal, Route, invalid
from sisimpur.simulators.github.follow import follow
from sisimpur.simulators.github.state import Run, Status

STATES = ("error", "failure", "pending", "success")
CONCLUSIONS = ("action_required", "cancelled", "failure", "neutral", "success", "skipped", "stale", "timed_out")
RUN_STATES = ("queued", "in_progress", "completed")
MAX_NOTE = 140  # characters
MOST_STATUSES = 1_000  # for each commit and context


def commit_of(call: Call, name: str) -> str:
    """A commit's full name, or a branch, or 422."""
    sha = follow(call.repository, call.now).get(name, name)
    if not re.fullmatch("[0-9a-f]{40}", sha) or not call.repository.commits.has(sha):
        raise Refusal(422, f"No commit found for SHA: {name[:100]}")
    return sha


def read(call: Call) -> Answer:
    return Answer(200, commit_views.commit(call.view, call.repository, commit_of(call, call.parameters["ref"])))


def create(call: Call) -> Answer:
    sha, context = commit_of(call, call.parameters["sha"]), call.text("context", 255) or "default"
    state, note = call.needed("state"), call.text("description")
    if state not in STATES:
        raise invalid("Status", "custom", field="state", message="State is not included in the list")
    if note is not None and len(note) > MAX_NOTE:
        says = f"description is too long (maximum is {MAX_NOTE} characters)"
        raise invalid("Status", "custom", field="description", message=says)
    if sum((given.sha, given.context) == (sha, context) for given in call.repository.statuses) >= MOST_STATUSES:
        says = "This SHA and context has reached the maximum number of statuses."
        raise invalid("Status", "custom", message=says)
    status = Status(
        id=call.state.next_id(),
        sha=sha,
        context=context,
        state=state,
        description=note,
        target_url=call.text("target_url"),
        creator=call.account.login,
        at=call.now,
    )
    call.repository.statuses.append(status)
    return Answer(201, commit_views.status(call.view, call.repository, status))


def combined(call: Call) -> Answer:
    sha = commit_of(call, call.parameters["ref"])
    latest = call.repository.latest_statuses(sha)
    return Answer(200, commit_views.combined(call.view, call.repository, sha, latest, call.page_size()))


def listed(call: Call) -> Answer:
    """All there ever were, the newest first."""
    sha = commit_of(call, call.parameters["ref"])
    found = [given for given in reversed(call.repository.statuses) if given.sha == sha]
    return call.page([commit_views.status(call.view, call.repository, given) for given in found])


# --- runs


def check_runs(call: Call) -> Answer:
    sha = commit_of(call, call.parameters["ref"])
    runs = [run for run in call.repository.check_runs if run.sha == sha]
    shown = call.page([commit_views.check_run(call.view, call.repository, run) for run in runs])
    return Answer(200, {"total_count": len(runs), "check_runs": shown.body}, shown.headers)


def create_check_run(call: Call) -> Answer:
    if call.account.kind != "app":
        raise Refusal(403, "You must authenticate via a GitHub App.")
    run = Run(
        id=call.state.next_id(),
        sha=commit_of(call, call.needed("head_sha")),
        name=call.needed("name"),
        status=call.choice("status", RUN_STATES) or "queued",
        conclusion=call.choice("conclusion", CONCLUSIONS),
        at=call.now,
    )
    call.repository.check_runs.append(run)
    return Answer(201, commit_views.check_run(call.view, call.repository, run))


def workflow_runs(call: Call) -> Answer:
    wanted = call.query.get("head_sha", "")
    runs = [run for run in reversed(call.repository.workflow_runs) if wanted in (run.sha, "")]
    shown = call.page([commit_views.workflow_run(call.view, call.repository, run) for run in runs])
    return Answer(200, {"total_count": len(runs), "workflow_runs": shown.body}, shown.headers)


ROUTES = (
    Route("POST", "/statuses/{sha}", create, "statuses=write", "write"),
    Route("GET", "/commits/{ref}/status", combined, "statuses=read"),
    Route("GET", "/commits/{ref}/statuses", listed, "statuses=read"),
    Route("GET", "/commits/{ref}/check-runs", check_runs, "checks=read"),
    Route("POST", "/check-runs", create_check_run),
    Route("GET", "/commits/{ref}", read, "contents=read"),
    Route("GET", "/actions/runs", workflow_runs, "actions=read", knows=("head_sha",)),
)
