"""How commits, branches, statuses and runs look in the local GitHub's answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sisimpur.simulators.github.state import Repository, Rule, Run, Status
from sisimpur.simulators.github.views import View

Json = Any


def commit(view: View, repository: Repository, sha: str) -> Json:
    facts, api, web = repository.commits.facts(sha), view.api(repository), view.web(repository)
    who = {"name": facts.author, "email": facts.email, "date": facts.date}
    return view.make(
        "commit",
        sha=sha,
        node_id=f"C_{sha}",
        url=f"{api}/commits/{sha}",
        html_url=f"{web}/commit/{sha}",
        comments_url=f"{api}/commits/{sha}/comments",
        author=None,
        committer=None,
        parents=[{"sha": p, "url": f"{api}/commits/{p}", "html_url": f"{web}/commit/{p}"} for p in facts.parents],
        commit={
            "message": facts.message,
            "author": who,
            "committer": who,
            "comment_count": 0,
            "url": f"{api}/git/commits/{sha}",
            "tree": {"sha": facts.tree, "url": f"{api}/git/trees/{facts.tree}"},
        },
    )


def branch(view: View, repository: Repository, name: str, sha: str) -> Json:
    api, rules = view.api(repository), repository.rules_of(name)
    contexts = [rule.context for rule in rules if rule.context and rule.classic]
    return view.make(
        "branch-with-protection",
        name=name,
        commit=commit(view, repository, sha),
        protected=bool(rules),
        protection={"enabled": bool(contexts), "required_status_checks": {"contexts": contexts, "checks": []}},
        protection_url=f"{api}/branches/{name}/protection",
        _links={"self": f"{api}/branches/{name}", "html": f"{view.web(repository)}/tree/{name}"},
    )


def branch_in_list(view: View, repository: Repository, name: str, sha: str) -> Json:
    short = {"sha": sha, "url": f"{view.api(repository)}/commits/{sha}"}
    return view.make("short-branch", name=name, commit=short, protected=bool(repository.rules_of(name)))


def rules(repository: Repository, branch: str) -> list[Json]:
    """The rulesets of a branch. Classic protection is not among them."""
    seen = [rule for rule in repository.rules_of(branch) if not rule.classic]
    return [_rule(repository, rule) for rule in seen]


def _rule(repository: Repository, rule: Rule) -> Json:
    of = {"ruleset_source_type": "Repository", "ruleset_source": repository.full_name, "ruleset_id": rule.id}
    if rule.context:
        checks = {
            "required_status_checks": [{"context": rule.context}],
            "strict_required_status_checks_policy": False,
        }
        return {"type": "required_status_checks", "parameters": checks, **of}
    reviews = {
        "required_approving_review_count": rule.approvals,
        "dismiss_stale_reviews_on_push": False,
        "require_code_owner_review": False,
        "require_last_push_approval": False,
        "required_review_thread_resolution": False,
    }
    return {"type": "pull_request", "parameters": reviews, **of}


def reference(view: View, repository: Repository, name: str, sha: str) -> Json:
    """Its address says "refs", also when the object was read from `git/ref/…`."""
    api = f"{view.api(repository)}/git"
    target = {"type": "commit", "sha": sha, "url": f"{api}/commits/{sha}"}
    return {"ref": name, "node_id": f"REF_{sha}", "url": f"{api}/{name}", "object": target}


def status(view: View, repository: Repository, given: Status) -> Json:
    return view.make("status", **_status(view, repository, given), creator=view.user(given.creator))


def _status(view: View, repository: Repository, given: Status) -> dict[str, Json]:
    return {
        "id": given.id,
        "node_id": f"SC_{given.id}",
        "context": given.context,
        "state": given.state,
        "description": given.description,
        "target_url": given.target_url,
        "created_at": given.at,
        "updated_at": given.at,
        "url": f"{view.api(repository)}/statuses/{given.sha}",
    }


def combined(view: View, repository: Repository, sha: str, latest: Mapping[str, Status], most: int) -> Json:
    """All statuses of a commit as one; the list is cut to a page of `most`, total_count tells."""
    states = {given.state for given in latest.values()}
    bad, waiting = states & {"failure", "error"}, not states or "pending" in states
    shown = [_status(view, repository, given) for given in list(latest.values())[:most]]
    return view.make(
        "combined-commit-status",
        state="failure" if bad else "pending" if waiting else "success",
        statuses=[view.make("simple-commit-status", **given) for given in shown],
        sha=sha,
        total_count=len(latest),
        repository=view.repository(repository, None, "minimal-repository"),
        commit_url=f"{view.api(repository)}/commits/{sha}",
        url=f"{view.api(repository)}/commits/{sha}/status",
    )


def check_run(view: View, repository: Repository, run: Run) -> Json:
    return view.make(
        "check-run",
        id=run.id,
        node_id=f"CR_{run.id}",
        name=run.name,
        head_sha=run.sha,
        status=run.status,
        conclusion=run.conclusion,
        started_at=run.at,
        completed_at=run.at if run.conclusion else None,
        url=f"{view.api(repository)}/check-runs/{run.id}",
        pull_requests=[],
        check_suite={"id": 1},
        app=None,
        output={"title": None, "summary": None, "text": None, "annotations_count": 0, "annotations_url": ""},
    )


def workflow_run(view: View, repository: Repository, run: Run) -> Json:
    facts = repository.commits.facts(run.sha)
    who = {"name": facts.author, "email": facts.email}
    small = view.repository(repository, None, "minimal-repository")
    return view.make(
        "workflow-run",
        id=run.id,
        node_id=f"WFR_{run.id}",
        name=run.name,
        display_title=run.name,
        event="push",
        head_branch=run.branch or None,
        head_sha=run.sha,
        status=run.status,
        conclusion=run.conclusion,
        run_number=1,
        workflow_id=1,
        path=".github/workflows/ci.yml",
        created_at=run.at,
        updated_at=run.at,
        url=f"{view.api(repository)}/actions/runs/{run.id}",
        html_url=f"{view.web(repository)}/actions/runs/{run.id}",
        repository=small,
        head_repository=small,
        head_commit={
            "id": run.sha,
            "tree_id": facts.tree,
            "message": facts.message,
            "timestamp": facts.date,
            "author": who,
            "committer": who,
        },
        pull_requests=[],
    )
