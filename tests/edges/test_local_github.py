"""The local GitHub: what it knows, what it refuses in which words. All exchanges are held to GitHub's description."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sisimpur.simulators.github.graphql import MUTATION
from tests import repositories
from tests.edges.local_github_scene import Scene, World, says, serving

NOT_FOR_THIS_TOKEN = "Resource not accessible by personal access token"
RULES = "Repository rule violations found\n\n"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with serving(tmp_path_factory.mktemp("hub")) as scene:
        yield scene


@pytest.fixture
def make(scene: Scene, tmp_path: Path) -> Iterator[Any]:
    with scene.watched(tmp_path) as make:
        yield make


@pytest.fixture
def world(make: Any) -> World:
    made: World = make()
    return made


# --- who may do what -----------------------------------------------------------------------------------------


def test_nothing_is_answered_without_a_token_or_with_a_wrong_one(world: World) -> None:
    assert says(httpx2.get(f"{world.hub.url}/user", verify=False)) == (401, "Requires authentication")
    wrong = httpx2.get(
        f"{world.hub.url}/repos/{world.name}", headers={"authorization": "Bearer nobody's"}, verify=False
    )
    assert says(wrong) == (401, "Bad credentials")


def test_a_token_knows_whose_it_is_and_what_he_may_do_here(world: World) -> None:
    assert world.get("//user")["login"] == "team"
    assert world.get("")["permissions"]["push"]
    assert not world.ask("GET", "", login="stranger").json()["permissions"]["push"]
    assert world.ask("GET", "", login="owner").json()["permissions"]["admin"]


def test_a_private_repository_is_not_there_for_strangers(make: Any) -> None:
    world = make(private=True, readers=("reader",))
    assert says(world.ask("GET", "", login="stranger")) == (404, "Not Found")
    assert world.ask("GET", "", login="reader").status_code == 200


WRITES = [
    ("POST", "/pulls", {"title": "T", "head": "task", "base": "main"}),
    ("PATCH", "/pulls/1", {"title": "T"}),
    ("PUT", "/pulls/1/merge", {}),
    ("POST", "/issues/1/labels", ["x"]),
    ("POST", "/labels", {"name": "x"}),
    ("POST", "/git/refs", {"ref": "refs/heads/x", "sha": "0" * 40}),
    ("DELETE", "/git/refs/heads/task", None),
    ("POST", f"/statuses/{'0' * 40}", {"state": "success"}),
]


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_who_may_only_read_changes_nothing(world: World, method: str, path: str, body: object) -> None:
    world.pull()
    refused = world.ask(method, path, body, login="stranger")
    assert says(refused) == (403, NOT_FOR_THIS_TOKEN)
    assert "=write" in refused.headers["x-accepted-github-permissions"]


def test_a_classic_token_of_a_reader_is_refused_in_other_words(world: World) -> None:
    world.pull()
    world.hub.user("classic", kind="classic")
    assert says(world.ask("PUT", "/pulls/1/merge", {}, "classic")) == (403, "Must have admin rights to Repository.")


@pytest.mark.parametrize(
    ("lacks", "method", "path", "body"),
    [
        ("statuses", "POST", "/statuses/{sha}", {"state": "success"}),
        ("pull_requests", "POST", "/pulls", {"title": "T", "head": "task", "base": "main"}),
        ("contents", "PUT", "/pulls/1/merge", {}),
        ("contents=write", "DELETE", "/git/refs/heads/task", None),
        ("issues", "POST", "/issues", {"title": "T"}),
    ],
)
def test_a_missing_permission_is_named(make: Any, lacks: str, method: str, path: str, body: object) -> None:
    login = f"lacks-{lacks.replace('=', '-')}"
    world = make(writers=("team", login))
    world.hub.user(login, lacks={lacks})
    sha = world.push("task")
    refused = world.ask(method, path.replace("{sha}", sha), body, login)
    assert says(refused) == (403, NOT_FOR_THIS_TOKEN)
    assert lacks.partition("=")[0] in refused.headers["x-accepted-github-permissions"]
    assert world.ask("GET", "/pulls", login=login).status_code == 200  # what is public can be read


def test_a_permission_can_be_taken_away_later(make: Any) -> None:
    world = make(writers=("later",))
    world.push("task")
    sha = world.sha()
    assert world.ask("POST", f"/statuses/{sha}", {"state": "success"}, "later").status_code == 201
    world.hub.user("later", lacks={"statuses"})
    assert world.ask("POST", f"/statuses/{sha}", {"state": "success"}, "later").status_code == 403


def test_a_fine_grained_token_reads_check_runs_only_of_what_is_public(make: Any) -> None:
    public, private = make(), make(private=True)
    sha = public.sha()
    public.hub.check_run(public.name, sha, "ci")
    assert [run["name"] for run in public.get(f"/commits/{sha}/check-runs")["check_runs"]] == ["ci"]
    hidden = f"/commits/{private.sha()}/check-runs"
    assert says(private.ask("GET", hidden)) == (403, NOT_FOR_THIS_TOKEN)
    private.hub.user("owner", kind="classic")
    assert private.ask("GET", hidden, login="owner").status_code == 200
    private.hub.user("owner", kind="fine-grained")


def test_only_an_app_writes_check_runs(make: Any) -> None:
    world = make(writers=("bot", "team"))
    run = {"name": "ci", "head_sha": world.sha(), "status": "completed", "conclusion": "success"}
    assert says(world.ask("POST", "/check-runs", run)) == (403, "You must authenticate via a GitHub App.")
    world.hub.user("bot", kind="app")
    assert world.ask("POST", "/check-runs", run, "bot").status_code == 201


def test_only_classic_tokens_show_their_scopes(world: World) -> None:
    world.hub.user("classic", kind="classic")
    assert world.ask("GET", "", login="classic").headers["x-oauth-scopes"] == "repo, workflow"
    assert "x-oauth-scopes" not in world.ask("GET", "").headers


# --- pull requests -------------------------------------------------------------------------------------------


def test_a_pull_request_shows_its_commit_its_files_and_its_size(world: World) -> None:
    sha = world.push("task", {"a.txt": "x\n\n \n", "b/ä.bin": "\0\1"})
    pull = world.pull()
    assert (pull["number"], pull["state"], pull["head"]["sha"], pull["base"]["ref"]) == (1, "open", sha, "main")
    assert (pull["changed_files"], pull["additions"], pull["commits"]) == (2, 3, 1)
    assert [file["filename"] for file in world.get("/pulls/1/files")] == ["a.txt", "b/ä.bin"]
    assert [commit["sha"] for commit in world.get("/pulls/1/commits")] == [sha]


def test_a_diff_is_git_s_to_the_last_blank(world: World) -> None:
    world.push("task", {"a.txt": "x\n\n \n"})
    world.pull()
    answer = world.ask("GET", "/pulls/1", accept="application/vnd.github.diff")
    assert answer.text.startswith("diff --git a/a.txt b/a.txt")
    assert answer.text.endswith("+x\n+\n+ \n")


def test_a_diff_that_is_too_large_is_refused(world: World) -> None:
    world.push("task", {"a.txt": "x\n" * 20_001})
    world.pull()
    answer = world.ask("GET", "/pulls/1", accept="application/vnd.github.diff")
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (406, "too_large")


@pytest.mark.parametrize(
    ("head", "base", "why"),
    [
        pytest.param("task", "main", "A pull request already exists for owner:task.", id="a second one"),
        pytest.param("owner:task", "main", "A pull request already exists for owner:task.", id="with its owner"),
        pytest.param("same", "main", "No commits between main and same", id="nothing to merge"),
        pytest.param("none", "main", "head: invalid", id="unknown head"),
        pytest.param("task", "none", "base: invalid", id="unknown base"),
        pytest.param("task~1", "main", "head: invalid", id="git's own grammar is no branch"),
    ],
)
def test_a_pull_request_that_makes_no_sense_is_refused(world: World, head: str, base: str, why: str) -> None:
    world.pull()
    repositories.shell("git branch same main", world.bare)
    assert says(world.ask("POST", "/pulls", {"title": "T", "head": head, "base": base})) == (422, why)
    assert len(world.get("/pulls?state=all")) == 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"head": "task", "base": "main"}, "title\" wasn't supplied"),
        ({"title": "x" * 257, "head": "task", "base": "main"}, "title is too long"),
        ({"title": "T", "body": "x" * 65_537, "head": "task", "base": "main"}, "body is too long"),
    ],
)
def test_texts_have_limits(make: Any, body: Any, why: str) -> None:
    world = make()
    world.push("task")
    status, text = says(world.ask("POST", "/pulls", body))
    assert (status, why in text) == (422, True)
    world.contract.violations[:] = [v for v in world.contract.violations if "'title' is a required property" not in v]


def test_a_head_filter_without_an_owner_does_nothing(world: World) -> None:
    world.pull("one")
    world.pull("two")
    assert [p["number"] for p in world.get("/pulls?head=owner:one")] == [1]
    assert [p["number"] for p in world.get("/pulls?head=one")] == [2, 1]
    assert world.get("/pulls?base=other") == []


def test_whether_it_merges_is_unknown_at_first_and_again_after_every_move(world: World) -> None:
    pull = world.pull()
    assert pull["mergeable"] is None
    assert (world.get("/pulls/1")["mergeable"], world.get("/pulls/1")["mergeable_state"]) == (True, "clean")
    world.push("task", {"a.txt": "y\n"})
    assert [world.get("/pulls/1")["mergeable"] for _ in range(2)] == [None, True]
    world.push("main", {"a.txt": "z\n"})
    assert [world.get("/pulls/1")["mergeable"] for _ in range(2)] == [None, False]
    assert world.get("/pulls/1")["mergeable_state"] == "dirty"


def test_an_open_one_follows_its_branch_and_a_closed_one_keeps_its_commit(world: World) -> None:
    world.pull()
    second = world.push("task", {"a.txt": "y\n"})
    assert world.get("/pulls/1")["head"]["sha"] == second
    assert world.ask("PATCH", "/pulls/1", {"state": "closed"}).json()["state"] == "closed"
    world.push("task", {"a.txt": "z\n"})
    assert world.get("/pulls/1")["head"]["sha"] == second


def test_a_deleted_branch_closes_its_pull_request(world: World) -> None:
    sha = world.pull()["head"]["sha"]
    assert world.ask("DELETE", "/git/refs/heads/task").status_code == 204
    closed_one = world.get("/pulls/1")
    assert (closed_one["state"], closed_one["merged"], closed_one["head"]["sha"]) == ("closed", False, sha)
    assert repositories.shell("git rev-parse refs/pull/1/head", world.bare) == sha
    assert says(world.ask("DELETE", "/git/refs/heads/task")) == (422, "Reference does not exist")


def test_one_that_somebody_pushed_to_its_base_counts_as_merged(world: World) -> None:
    sha = world.pull()["head"]["sha"]
    repositories.shell("git branch -f main task", world.bare)
    after = world.get("/pulls/1")
    assert (after["state"], after["merged"], after["merge_commit_sha"]) == ("closed", True, sha)


def test_one_whose_work_was_pushed_away_is_closed_not_merged(world: World) -> None:
    world.pull()
    repositories.shell("git branch -f task main", world.bare)
    after = world.get("/pulls/1")
    assert (after["state"], after["merged"]) == ("closed", False)


def test_a_closed_one_is_opened_again_only_while_that_is_possible(world: World) -> None:
    world.pull()
    closing = {"state": "closed"}
    world.ask("PATCH", "/pulls/1", closing)
    assert world.ask("PATCH", "/pulls/1", {"state": "open"}).json()["state"] == "open"
    world.ask("PATCH", "/pulls/1", closing)
    world.pull()
    status, why = says(world.ask("PATCH", "/pulls/1", {"state": "open"}))
    assert (status, "already an open pull request" in why) == (422, True)
    world.ask("PATCH", "/pulls/2", closing)
    world.ask("DELETE", "/git/refs/heads/task")
    assert "has been deleted" in says(world.ask("PATCH", "/pulls/1", {"state": "open"}))[1]


def test_title_body_and_base_can_be_changed(world: World) -> None:
    world.pull(body="old")
    repositories.shell("git branch other main", world.bare)
    after = world.ask("PATCH", "/pulls/1", {"title": "N", "base": "other"}).json()
    assert (after["title"], after["body"], after["base"]["ref"]) == ("N", "old", "other")
    assert says(world.ask("PATCH", "/pulls/1", {"base": "none"})) == (422, "base: invalid")
    assert says(world.ask("PATCH", "/pulls/1", {"base": "task"})) == (422, "No commits between task and task")
    assert world.get("/pulls/1")["base"]["ref"] == "other"


def test_a_draft_is_made_ready_by_graphql_and_once_more_without_harm(world: World) -> None:
    pull = world.pull(draft=True)
    assert pull["draft"]
    for _ in range(2):
        assert world.ready(pull)["data"][MUTATION]["pullRequest"] == {"isDraft": False}
    assert not world.get("/pulls/1")["draft"]


def test_graphql_refuses_with_200(world: World, make: Any) -> None:
    pull = world.pull(draft=True)
    assert world.ready({"node_id": "PR_0"})["errors"][0]["type"] == "NOT_FOUND"
    assert world.ready(pull, "stranger")["errors"][0]["type"] == "FORBIDDEN"
    assert world.get("/pulls/1")["draft"]


def test_private_repositories_of_the_free_plan_have_no_drafts(make: Any) -> None:
    world = make(private=True)
    world.push("task")
    refused = world.ask("POST", "/pulls", {"title": "T", "head": "task", "base": "main", "draft": True})
    assert says(refused) == (422, "Draft pull requests are not supported in this repository.")
    assert world.get("/pulls") == []


# --- reviews -------------------------------------------------------------------------------------------------


def review(world: World, login: str, **fields: object) -> httpx2.Response:
    return world.ask("POST", "/pulls/1/reviews", fields, login)


@pytest.mark.parametrize(("event", "what"), [("APPROVE", "approve"), ("REQUEST_CHANGES", "request changes on")])
def test_nobody_gives_a_verdict_on_his_own_pull_request(world: World, event: str, what: str) -> None:
    world.pull()
    assert says(review(world, "team", event=event, body="x")) == (422, f"Can not {what} your own pull request")
    assert review(world, "team", event="COMMENT", body="x").json()["state"] == "COMMENTED"
    assert review(world, "second", event=event, body="x").status_code == 200


def test_a_review_names_the_commit_that_was_read(world: World) -> None:
    first = world.pull()["head"]["sha"]
    second = world.push("task", {"b.txt": "y\n"}, base="task")
    given = [review(world, "second", event="APPROVE", commit_id=sha).json()["commit_id"] for sha in (first, second)]
    assert given == [first, second] == [r["commit_id"] for r in world.get("/pulls/1/reviews")]
    assert review(world, "second", event="APPROVE", commit_id="0" * 40).status_code == 422


def test_an_empty_review_is_refused(world: World) -> None:
    world.pull()
    assert review(world, "second", event="COMMENT").status_code == 422
    assert says(review(world, "second", event="REQUEST_CHANGES")) == (422, "Body can't be blank")
    assert review(world, "second", event="APPROVE").status_code == 200


def test_remarks_at_lines_belong_to_a_review_and_grow_old(world: World) -> None:
    world.pull()
    remark = {"path": "a.txt", "line": 1, "body": "why?"}
    assert review(world, "second", event="COMMENT", comments=[{**remark, "path": "none"}]).status_code == 422
    given = review(world, "second", event="COMMENT", comments=[remark]).json()
    (made,) = world.get("/pulls/1/comments")
    assert (made["path"], made["line"], made["pull_request_review_id"]) == ("a.txt", 1, given["id"])
    world.push("task", {"a.txt": "y\n"})
    assert "line" not in world.get("/pulls/1/comments")[0]


def test_a_pending_review_is_seen_by_its_author_alone(world: World) -> None:
    world.pull()
    review(world, "second", body="later")
    assert world.get("/pulls/1/reviews") == []
    assert world.ask("GET", "/pulls/1/reviews", login="second").json()[0]["state"] == "PENDING"


# --- merging -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "parents"), [("squash", 1), ("merge", 2)])
def test_a_merge_takes_exactly_the_named_commit(world: World, method: str, parents: int) -> None:
    sha = world.pull()["head"]["sha"]
    assert world.merge(1, sha=sha, merge_method=method) == (200, "Pull Request successfully merged")
    after = world.get("/pulls/1")
    assert (after["merged"], after["merge_commit_sha"], after["merged_by"]["login"]) == (True, world.sha(), "team")
    assert len(world.get(f"/commits/{world.sha()}")["parents"]) == parents
    assert repositories.shell("git show main:a.txt", world.bare) == "x"
    assert world.ask("GET", "/pulls/1/merge").status_code == 204


def test_before_that_it_is_not_merged(world: World) -> None:
    world.pull()
    assert says(world.ask("GET", "/pulls/1/merge")) == (404, "Not Found")


def test_the_merge_commit_says_what_it_was_given(world: World) -> None:
    world.pull()
    world.merge(1, merge_method="squash", commit_title="Why", commit_message="Because")
    assert repositories.shell("git log -1 --format=%B main", world.bare) == "Why\n\nBecause"


def head_moved(world: World) -> dict[str, object]:
    world.pull()
    return {"sha": world.sha()}


def conflict(world: World) -> dict[str, object]:
    world.push("task")
    world.push("main", {"a.txt": "other\n"})
    world.pull()
    return {}


def merged_already(world: World) -> dict[str, object]:
    world.pull()
    world.merge(1)
    return {}


def closed_already(world: World) -> dict[str, object]:
    world.pull()
    world.ask("PATCH", "/pulls/1", {"state": "closed"})
    return {}


def draft(world: World) -> dict[str, object]:
    world.pull(draft=True)
    return {}


def by_rebase(world: World) -> dict[str, object]:
    world.pull()
    return {"merge_method": "rebase"}


def ruleset(world: World) -> dict[str, object]:
    world.hub.require(world.name, "main", "agents/review")
    world.hub.require(world.name, "main", "ci")
    world.status(world.pull()["head"]["sha"], "agents/review", "failure")
    return {}


def protection(world: World) -> dict[str, object]:
    world.hub.require(world.name, "main", "agents/review", classic=True)
    world.pull()
    return {}


def approvals(world: World) -> dict[str, object]:
    world.hub.require_approvals(world.name, "main")
    world.pull()
    review(world, "stranger", event="APPROVE")
    return {}


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (head_moved, (409, "Head branch was modified. Review and try the merge again.")),
        (conflict, (405, "Pull Request is not mergeable")),
        (merged_already, (405, "Pull Request is not mergeable")),
        (closed_already, (405, "Pull Request is not mergeable")),
        (draft, (405, "Pull Request is still a draft")),
        (by_rebase, (405, "Rebase merges are not allowed on this repository.")),
        (
            ruleset,
            (
                405,
                f'{RULES}Required status check "agents/review" is expected.\n\nRequired status check "ci" is expected.',
            ),
        ),
        (protection, (405, 'Required status check "agents/review" is expected.')),
        (approvals, (405, f"{RULES}At least 1 approving review is required by reviewers with write access.")),
    ],
)
def test_a_merge_is_refused_in_github_s_words(world: World, given: Any, answer: tuple[int, str]) -> None:
    fields = given(world)
    before = world.sha()
    assert world.merge(1, **fields) == answer
    assert world.sha() == before


def test_a_required_status_counts_for_its_commit_alone(world: World) -> None:
    world.hub.require(world.name, "main", "agents/review")
    old = world.pull()["head"]["sha"]
    world.status(old)
    new = world.push("task", {"a.txt": "not reviewed\n"})
    assert world.merge(1, sha=new)[0] == 405
    assert world.get("/pulls/1")["mergeable_state"] in ("unknown", "blocked")
    world.status(new)
    assert world.merge(1, sha=new)[0] == 200


def test_approvals_of_writers_count_the_newest_of_each(make: Any) -> None:
    world = make(writers=("team", "second"))
    world.hub.require_approvals(world.name, "main")
    world.pull()
    review(world, "second", event="APPROVE")
    review(world, "second", event="REQUEST_CHANGES", body="no")
    assert world.merge(1)[0] == 405
    review(world, "second", event="APPROVE")
    assert world.merge(1)[0] == 200


def test_rulesets_can_be_read_and_classic_protection_cannot(make: Any) -> None:
    world = make()
    world.hub.require(world.name, "main", "agents/review")
    world.hub.require_approvals(world.name, "main", 2)
    world.hub.require(world.name, "main", "old", classic=True)
    checks, reviews = world.get("/rules/branches/main")
    assert checks["parameters"]["required_status_checks"] == [{"context": "agents/review"}]
    assert reviews["parameters"]["required_approving_review_count"] == 2
    assert says(world.ask("GET", "/branches/main/protection")) == (403, NOT_FOR_THIS_TOKEN)
    assert world.get("/branches/main")["protected"]
    assert world.get("/rules/branches/other") == []
    world.hub.user("owner", kind="classic")
    seen = world.ask("GET", "/branches/main/protection", login="owner").json()
    assert seen["required_status_checks"]["contexts"] == ["old"]
    world.hub.user("owner", kind="fine-grained")


# --- issues, comments, labels --------------------------------------------------------------------------------


def test_pull_requests_are_among_the_issues(world: World) -> None:
    world.ask("POST", "/issues", {"title": "bug", "labels": ["todo"]})
    world.pull()
    assert [("pull_request" in issue, issue["number"]) for issue in world.get("/issues")] == [(True, 2), (False, 1)]
    assert [issue["number"] for issue in world.get("/issues?labels=todo")] == [1]
    assert says(world.ask("GET", "/pulls/1")) == (404, "Not Found")


def test_an_issue_is_closed_and_opened_again(world: World) -> None:
    world.ask("POST", "/issues", {"title": "bug"})
    assert world.ask("PATCH", "/issues/1", {"state": "closed"}).json()["state_reason"] == "completed"
    assert world.get("/issues") == []
    assert world.ask("PATCH", "/issues/1", {"state": "open", "title": "N"}).json()["title"] == "N"
    assert world.ask("PATCH", "/issues/1", {"title": "S"}, "stranger").status_code == 403


def test_closing_a_pull_request_as_an_issue_closes_it(world: World) -> None:
    world.pull()
    world.ask("PATCH", "/issues/1", {"state": "closed"})
    assert world.get("/pulls") == []


def test_what_strangers_say_is_told_from_what_members_say(world: World) -> None:
    world.pull()
    for login in ("stranger", "team", "owner"):
        assert world.ask("POST", "/issues/1/comments", {"body": f"by {login}"}, login).status_code == 201
    said = [(c["user"]["login"], c["author_association"]) for c in world.get("/issues/1/comments")]
    assert said == [("stranger", "NONE"), ("team", "COLLABORATOR"), ("owner", "OWNER")]


def test_a_comment_is_edited_by_its_author_and_by_members_alone(world: World) -> None:
    world.pull()
    ours = world.ask("POST", "/issues/1/comments", {"body": "old"}).json()["id"]
    assert world.ask("PATCH", f"/issues/comments/{ours}", {"body": "evil"}, "stranger").status_code == 403
    assert world.ask("PATCH", f"/issues/comments/{ours}", {"body": "new"}).json()["body"] == "new"
    assert [c["body"] for c in world.get("/issues/1/comments")] == ["new"]
    assert world.ask("POST", "/issues/1/comments", {"body": "x" * 65_537}).status_code == 422
    assert world.ask("POST", "/issues/1/comments", {"body": " "}).status_code == 422


def test_comments_can_be_asked_for_since_a_moment(world: World) -> None:
    world.pull()
    world.ask("POST", "/issues/1/comments", {"body": "x"})
    assert len(world.get("/issues/1/comments?since=2020-01-01T00:00:00Z")) == 1
    assert world.get("/issues/1/comments?since=2999-01-01T00:00:00Z") == []


def test_labels_are_made_as_they_are_needed_whatever_their_case(world: World) -> None:
    world.pull()
    world.ask("POST", "/issues/1/labels", {"labels": ["Agents"]})
    world.ask("POST", "/issues/1/labels", ["agents", "p/1"])
    assert [label["name"] for label in world.get("/issues/1/labels")] == ["Agents", "p/1"]
    assert [label["name"] for label in world.get("/pulls/1")["labels"]] == ["Agents", "p/1"]
    assert world.ask("DELETE", "/issues/1/labels/p%2F1").status_code == 200
    assert says(world.ask("DELETE", "/issues/1/labels/p%2F1")) == (404, "Label does not exist")
    assert [label["name"] for label in world.ask("PUT", "/issues/1/labels", {"labels": ["z"]}).json()] == ["z"]


def test_a_label_has_a_colour_and_is_made_once(world: World) -> None:
    label = {"name": "agents:wip", "color": "00ff00", "description": "at work"}
    assert world.ask("POST", "/labels", label).status_code == 201
    assert says(world.ask("POST", "/labels", {**label, "name": "AGENTS:wip"})) == (422, "name: already_exists")
    assert world.ask("POST", "/labels", {"name": "x", "color": "green"}).status_code == 422
    assert world.get("/labels/agents:wip")["color"] == "00ff00"
    assert says(world.ask("GET", "/labels/none")) == (404, "Not Found")


def test_labels_of_who_may_not_write_are_dropped_without_a_word(world: World) -> None:
    assert world.ask("POST", "/issues", {"title": "T", "labels": ["goal"]}, "stranger").json()["labels"] == []


# --- commits and what is said of them ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("states", "all_together"),
    [
        ([], "pending"),
        ([("a", "success")], "success"),
        ([("a", "success"), ("b", "pending")], "pending"),
        ([("a", "error"), ("b", "pending")], "failure"),
        ([("a", "failure"), ("a", "success")], "success"),
    ],
)
def test_the_newest_status_of_each_name_counts(world: World, states: list[tuple[str, str]], all_together: str) -> None:
    sha = world.sha()
    for context, state in states:
        assert world.status(sha, context, state).status_code == 201
    combined = world.get(f"/commits/{sha}/status")
    assert (combined["state"], combined["total_count"]) == (all_together, len({context for context, _ in states}))
    assert len(world.get(f"/commits/{sha}/statuses")) == len(states)


def test_the_combined_status_is_cut_to_a_page_and_says_so(world: World) -> None:
    sha = world.sha()
    for number in range(31):
        world.status(sha, f"check-{number}")
    combined = world.get("/commits/main/status")
    assert (len(combined["statuses"]), combined["total_count"]) == (30, 31)
    assert len(world.get("/commits/main/status?per_page=100")["statuses"]) == 31


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"state": "success", "description": "x" * 141}, "description is too long (maximum is 140 characters)"),
        ({"state": "success", "context": "\0"}, "context: invalid"),
    ],
)
def test_a_status_that_github_refuses_is_refused(world: World, body: object, why: str) -> None:
    assert says(world.ask("POST", f"/statuses/{world.sha()}", body)) == (422, why)


@pytest.mark.parametrize(
    "path", ["/commits/{}", "/commits/{}/status", "/commits/{}/statuses", "/commits/{}/check-runs"]
)
@pytest.mark.parametrize("name", ["f" * 40, "main~1", "--all"])
def test_an_unknown_commit_is_422(world: World, path: str, name: str) -> None:
    assert says(world.ask("GET", path.format(name))) == (422, f"No commit found for SHA: {name}")


def test_workflow_runs_are_found_by_commit(world: World) -> None:
    sha = world.push("task")
    world.hub.workflow_run(world.name, sha, "CI", "failure")
    world.hub.workflow_run(world.name, sha, "Nightly", None)
    world.hub.workflow_run(world.name, world.sha(), "CI")
    runs = world.get(f"/actions/runs?head_sha={sha}")
    found = [(run["name"], run["status"], run["conclusion"]) for run in runs["workflow_runs"]]
    assert found == [("Nightly", "in_progress", None), ("CI", "completed", "failure")]
    assert runs["total_count"] == 2


def test_a_green_check_run_satisfies_a_rule_too(world: World) -> None:
    world.hub.require(world.name, "main", "ci")
    sha = world.pull()["head"]["sha"]
    world.hub.check_run(world.name, sha, "ci")
    assert world.merge(1)[0] == 200


def test_branches_are_made_found_and_deleted(world: World) -> None:
    new = {"ref": "refs/heads/agent/t1-x", "sha": world.sha()}
    assert world.ask("POST", "/git/refs", new).status_code == 201
    assert says(world.ask("POST", "/git/refs", new)) == (422, "Reference already exists")
    assert says(world.ask("POST", "/git/refs", {**new, "ref": "refs/heads/agent"})) == (422, "Reference already exists")
    assert says(world.ask("POST", "/git/refs", {**new, "ref": "refs/heads/z", "sha": "f" * 40}))[1].startswith("Object")
    assert world.get("/git/ref/heads/agent/t1-x")["object"]["sha"] == world.sha()
    assert world.get("/git/ref/heads/agent%2Ft1-x")["ref"] == "refs/heads/agent/t1-x"
    assert [branch["name"] for branch in world.get("/branches")] == ["agent/t1-x", "main"]
    assert world.ask("DELETE", "/git/refs/heads/agent/t1-x").status_code == 204
    assert says(world.ask("GET", "/branches/agent/t1-x")) == (404, "Branch not found")


def test_a_branch_with_rules_is_not_deleted(world: World) -> None:
    world.hub.require(world.name, "main", "ci")
    assert says(world.ask("DELETE", "/git/refs/heads/main")) == (422, "Cannot delete this protected branch")


def test_a_file_is_read_at_a_commit(world: World) -> None:
    world.push("task", {"d/ü.txt": "x"})
    assert world.get("/contents/d/%C3%BC.txt?ref=task")["size"] == 1
    assert says(world.ask("GET", "/contents/d/%C3%BC.txt")) == (404, "Not Found")


# --- what every answer has -----------------------------------------------------------------------------------


def test_a_list_is_walked_by_its_links(world: World) -> None:
    for number in range(5):
        world.ask("POST", "/issues", {"title": f"issue {number}"})
    seen, answer = [], world.ask("GET", "/issues?per_page=2")
    while True:
        seen += [issue["number"] for issue in answer.json()]
        if "next" not in answer.links:
            break
        answer = httpx2.get(answer.links["next"]["url"], headers=world.clients["team"].headers, verify=False)
    assert seen == [5, 4, 3, 2, 1]
    assert set(answer.links) == {"prev", "first"}
    assert [issue["number"] for issue in world.get("/issues?direction=asc&sort=created&per_page=1")] == [1]


def test_who_has_the_answer_already_is_told_so(world: World) -> None:
    world.pull()
    first = world.ask("GET", "/pulls")
    again = world.ask("GET", "/pulls", **{"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    world.ask("PATCH", "/pulls/1", {"title": "N"})
    assert world.ask("GET", "/pulls", **{"if-none-match": first.headers["etag"]}).status_code == 200


def test_every_answer_counts_the_calls_of_its_account(world: World) -> None:
    used = [int(world.ask("GET", path).headers["x-ratelimit-used"]) for path in ("", "/pulls/99", "//rate_limit")]
    assert used[1:] == [used[0] + 1] * 2
    assert world.get("//rate_limit")["rate"]["remaining"] == 5_000 - used[1]


def test_what_it_does_not_know_it_does_not_guess(world: World) -> None:
    assert says(world.ask("GET", "/compare/main...main")) == (404, "Not Found")
    assert world.ask("GET", "/issues?creator=team").status_code == 501
    assert world.ask("GET", "/issues?sort=updated").status_code == 501
    assert len(world.contract.violations) == 2
    world.contract.violations.clear()


def test_what_was_asked_is_remembered_without_the_token(world: World) -> None:
    before = len(world.hub.exchanges)
    world.pull()
    world.merge(1)
    told = world.hub.exchanges[before:]
    assert [(e.method, e.route, e.login, e.status) for e in told] == [
        ("POST", "/repos/{r}/pulls", "team", 201),
        ("PUT", "/repos/{r}/pulls/{n}/merge", "team", 200),
    ]
    assert world.hub.user("team") not in repr([(e, e.headers, e.answer) for e in told])


# --- a client that knows GitHub ------------------------------------------------------------------------------


def test_pygithub_works_a_whole_task_without_noticing(make: Any) -> None:
    import github

    world = make(writers=("team", "second"))
    sha = world.push("agent/t1-x")
    before = len(world.hub.exchanges)

    def account(login: str) -> github.Github:
        auth = github.Auth.Token(world.hub.user(login))
        pauses: dict[str, Any] = {"seconds_between_requests": None, "seconds_between_writes": None}
        return github.Github(auth=auth, base_url=world.hub.url, per_page=100, retry=None, **pauses)

    with account("team") as team, account("second") as second:
        repository = team.get_repo(world.name)
        assert (team.get_user().login, repository.permissions.push) == ("team", True)
        pull = repository.create_pull("main", "agent/t1-x", title="T", body="B", draft=True)
        assert [p.number for p in repository.get_pulls(head="owner:agent/t1-x", base="main")] == [1]
        with pytest.raises(github.GithubException) as refused:
            repository.create_pull("main", "agent/t1-x", title="T", body="B")
        assert refused.value.status == 422
        pull.edit(title="T2", body="B2")
        pull.add_to_labels("agents", "p/1")
        made = pull.create_issue_comment("one")
        made.edit("two")
        assert [c.body for c in pull.get_issue_comments()] == ["two"]
        assert pull.mark_ready_for_review()["pullRequest"] == {"isDraft": False}
        reviewing = second.get_repo(world.name).get_pull(1)
        commit = second.get_repo(world.name).get_commit(sha)
        remarks: Any = [{"path": "a.txt", "line": 1, "body": "why?"}]
        reviewing.create_review(commit=commit, body="ok", event="APPROVE", comments=remarks)
        assert [(r.user.login, r.state) for r in pull.get_reviews()] == [("second", "APPROVED")]
        assert [(c.path, c.line) for c in pull.get_review_comments()] == [("a.txt", 1)]
        commit.create_status("success", context="agents/review", description="read")
        assert repository.get_commit(sha).get_combined_status().state == "success"
        assert [*repository.get_commit(sha).get_check_runs(), *repository.get_workflow_runs(head_sha=sha)] == []
        assert [f.filename for f in pull.get_files()] == ["a.txt"]
        assert [i.number for i in repository.get_issues(labels=["agents"])] == [1]
        assert (pull.update(), pull.update(), pull.mergeable) == (True, False, True)
        assert pull.merge(sha=sha, merge_method="squash").sha == world.sha()
        team.requester.requestJsonAndCheck("DELETE", f"/repos/{world.name}/git/refs/heads/agent/t1-x")
        assert repository.get_pull(1).merged
        assert repository.get_rate_limit().rate.limit == 5_000 if hasattr(repository, "get_rate_limit") else True
    assert len(world.hub.exchanges) - before > 25
