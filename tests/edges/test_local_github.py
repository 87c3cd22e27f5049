"""The local GitHub: what it knows, what it refuses in which words. All exchanges are held to GitHub's description."""

from __future__ import annotations

import hashlib
import itertools
import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from shared.domain.errors import Misconfigured
from shared.edge.local_github import hub_description, trim_github_contract
from shared.edge.local_github.hub_faults import Fault, closed, cut, html, silence
from shared.edge.local_github.hub_graphql import MUTATION, QUERY
from shared.edge.local_github.local_github import Exchange, LocalGitHub
from tests import repositories
from tests.edges.github_contract import Contract, complaints

NUMBERS = itertools.count(1)
NOT_FOR_THIS_TOKEN = "Resource not accessible by personal access token"
RULES = "Repository rule violations found\n\n"


@dataclass
class World:
    """A repository of its own in the local GitHub, and somebody who pushes to it."""

    hub: LocalGitHub
    name: str  # owner/name
    bare: Path
    folder: Path
    clients: dict[str, httpx2.Client]

    def ask(self, method: str, path: str, body: object = None, login: str = "team", **headers: str) -> httpx2.Response:
        """`path` below the repository, or from the root if it begins with two slashes."""
        if login not in self.clients:
            token = {"authorization": f"token {self.hub.user(login)}"}
            self.clients[login] = httpx2.Client(base_url=self.hub.url, headers=token, timeout=10)
        url = path[1:] if path.startswith("//") else f"/repos/{self.name}{path}"
        content = None if body is None else json.dumps(body).encode()
        return self.clients[login].request(method, url, content=content, headers=headers)

    def get(self, path: str, **headers: str) -> Any:
        answer = self.ask("GET", path, **headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def push(self, branch: str, files: Mapping[str, str] | None = None, base: str = "main") -> str:
        """The branch is one commit on top of another branch -> its sha."""
        head = f"commit refs/heads/{branch}\ncommitter t <t@t> 1 +0000\ndata 4\nwork\nfrom refs/heads/{base}^0\n"
        parts = [head.encode()]
        for name, text in (files or {"a.txt": "x\n"}).items():
            parts.append(f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n".encode())
        argv = ["git", "fast-import", "--quiet", "--force"]
        subprocess.run(argv, input=b"".join(parts), cwd=self.bare, env=repositories.ENVIRONMENT, check=True, timeout=30)
        return self.sha(branch)

    def sha(self, branch: str = "main") -> str:
        return repositories.shell(f"git rev-parse {branch}", self.bare)

    @property
    def work(self) -> Path:
        """A clone with a work tree."""
        place = self.folder / self.name.replace("/", "-")
        if not place.exists():
            repositories.shell(f"git clone -q '{self.bare}' '{place}'", self.folder)
        return place

    def pull(self, branch: str = "task", base: str = "main", **fields: object) -> Any:
        """An open pull request; its branch is made if there is none."""
        if not (self.bare / "refs" / "heads" / branch).exists():
            self.push(branch)
        answer = self.ask("POST", "/pulls", {"title": "T", "head": branch, "base": base, **fields})
        assert answer.status_code == 201, answer.text
        return answer.json()

    def status(self, sha: str, context: str = "agents/review", state: str = "success") -> httpx2.Response:
        return self.ask("POST", f"/statuses/{sha}", {"state": state, "context": context})

    def merge(self, number: int, login: str = "team", **fields: object) -> tuple[int, str]:
        answer = self.ask("PUT", f"/pulls/{number}/merge", fields, login)
        return answer.status_code, answer.json()["message"]

    def ready(self, pull: Any, login: str = "team") -> Any:
        given = {"query": QUERY, "variables": {"input": {"pullRequestId": pull["node_id"]}}}
        return self.ask("POST", "//graphql", given, login).json()


@pytest.fixture(scope="module")
def contract() -> Contract:
    return Contract()


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, contract: Contract) -> Iterator[LocalGitHub]:
    with LocalGitHub(tmp_path_factory.mktemp("hub"), observe=contract.observe) as hub:
        yield hub


@pytest.fixture
def make(hub: LocalGitHub, contract: Contract, tmp_path: Path) -> Iterator[Any]:
    clients: dict[str, httpx2.Client] = {}

    def made(**how: Any) -> World:
        name = f"owner/app-{next(NUMBERS)}"
        bare = hub.repository(name, **how)
        return World(hub, name, bare, tmp_path, clients)

    contract.violations.clear()
    before = contract.judged
    yield made
    for client in clients.values():
        client.close()
    assert contract.violations == []
    assert contract.judged > before
    assert hub.faults.left == 0


@pytest.fixture
def world(make: Any) -> World:
    made: World = make()
    return made


def says(answer: httpx2.Response) -> tuple[int, str]:
    """Status, and the most telling text."""
    body = answer.json()
    errors = [
        e.get("message") or f"{e.get('field')}: {e['code']}" if isinstance(e, dict) else e
        for e in body.get("errors", [])
    ]
    return answer.status_code, errors[0] if errors else body["message"]


# --- who may do what -----------------------------------------------------------------------------------------


def test_nothing_is_answered_without_a_token_or_with_a_wrong_one(world: World) -> None:
    assert says(httpx2.get(f"{world.hub.url}/user")) == (401, "Requires authentication")
    wrong = httpx2.get(f"{world.hub.url}/repos/{world.name}", headers={"authorization": "Bearer nobody's"})
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
def test_texts_have_limits(hub: LocalGitHub, make: Any, contract: Contract, body: Any, why: str) -> None:
    world = make()
    world.push("task")
    status, text = says(world.ask("POST", "/pulls", body))
    assert (status, why in text) == (422, True)
    contract.violations[:] = [v for v in contract.violations if "'title' is a required property" not in v]


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
    ("scene", "answer"),
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
def test_a_merge_is_refused_in_github_s_words(world: World, scene: Any, answer: tuple[int, str]) -> None:
    fields = scene(world)
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
        answer = httpx2.get(answer.links["next"]["url"], headers=world.clients["team"].headers)
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


def test_what_it_does_not_know_it_does_not_guess(world: World, contract: Contract) -> None:
    assert says(world.ask("GET", "/compare/main...main")) == (404, "Not Found")
    assert world.ask("GET", "/issues?creator=team").status_code == 501
    assert world.ask("GET", "/issues?sort=updated").status_code == 501
    assert len(contract.violations) == 2
    contract.violations.clear()


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


# --- faults --------------------------------------------------------------------------------------------------

POST = "POST /repos/{r}/issues/{n}/comments"


def comment(world: World) -> httpx2.Response:
    return world.ask("POST", "/issues/1/comments", {"body": "x"})


@pytest.mark.parametrize(("when", "done"), [("before", 0), ("after", 1)])
@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        (Fault(502), "502 application/json"),
        (Fault(401, {"message": "Bad credentials"}), "401 application/json"),
        (Fault(403, {"message": "secondary rate limit"}, {"Retry-After": "4"}), "403 application/json 4"),
        (Fault(429, {"message": "slow down"}, {"X-RateLimit-Reset": "9"}), "429 application/json"),
        (html(), "502 text/html"),
        (html(200), "200 text/html"),
        (cut(), "cut"),
        (closed(), "closed"),
        (silence(0.2), "closed"),
        (silence(5), "silent"),
    ],
)
def test_a_fault_comes_before_the_work_or_after_it(world: World, when: str, done: int, fault: Fault, seen: str) -> None:
    world.pull()
    (world.hub.faults.before if when == "before" else world.hub.faults.after)(fault, POST)
    assert fate(world) == seen
    assert len(world.get("/issues/1/comments")) == done
    assert comment(world).status_code == 201


def fate(world: World) -> str:
    """What a caller sees who waits for half a second."""
    try:
        world.clients["team"].timeout = 0.5
        answer = comment(world)
    except httpx2.ReadTimeout:
        return "silent"
    except httpx2.RemoteProtocolError as error:
        return "cut" if "incomplete" in str(error) or "complete message" in str(error) else "closed"
    finally:
        world.clients["team"].timeout = 10
    kind = answer.headers["content-type"].partition(";")[0]
    return " ".join([str(answer.status_code), kind, answer.headers.get("retry-after", "")]).strip()


def test_an_answer_after_the_work_may_be_the_true_one_but_late_or_cut(world: World) -> None:
    world.pull()
    world.hub.faults.after(Fault(delay=0.2), POST)
    began = time.monotonic()
    assert comment(world).status_code == 201
    assert time.monotonic() - began > 0.2
    world.hub.faults.after(Fault(cut=True), POST)
    assert fate(world) == "cut"


def test_a_fault_meets_what_it_names_so_often_as_it_says(world: World) -> None:
    world.pull()
    world.hub.faults.before(Fault(500), "GET /repos/{owner}/{repo}/pulls/{n}", times=2, skip=1)
    assert world.ask("GET", "/pulls/1/files").status_code == 200
    assert world.ask("PATCH", "/pulls/1", {"title": "N"}).status_code == 200
    assert [world.ask("GET", "/pulls/1").status_code for _ in range(4)] == [200, 500, 500, 200]


def test_faults_that_no_longer_matter_are_taken_back(world: World) -> None:
    world.hub.faults.before(Fault(500))
    world.hub.faults.before(Fault(500), "DELETE")
    world.hub.faults.clear()
    assert world.ask("GET", "").status_code == 200


# --- git over HTTP -------------------------------------------------------------------------------------------


def git(world: World, command: str, login: str = "team", token: str = "") -> subprocess.CompletedProcess[str]:
    """Plain git with a token as its password; {url} is the repository's."""
    with_token = f"http://x-access-token:{token or world.hub.user(login)}@"
    url = f"{world.hub.url}/{world.name}.git".replace("http://", with_token)
    environment = {**repositories.ENVIRONMENT, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    argv = ["sh", "-c", command.replace("{url}", url)]
    return subprocess.run(argv, cwd=world.work, env=environment, capture_output=True, text=True, timeout=30)


def test_a_clone_and_a_push_go_over_http_with_the_token_as_password(make: Any) -> None:
    world = make(private=True)
    world.pull()
    assert git(world, "git clone -q {url} ../clone").returncode == 0
    sha = repositories.commit(world.work, {"big.txt": "x" * 3_000_000})
    pushed = git(world, "git push -q {url} HEAD:refs/heads/task")
    assert (pushed.returncode, pushed.stderr) == (0, "")
    assert world.get("/pulls/1")["head"]["sha"] == sha


@pytest.mark.parametrize(
    ("login", "token", "push", "why"),
    [
        ("team", "wrong", False, "Authentication failed"),
        ("stranger", "", False, "not found"),
        ("reader", "", True, "403"),
        ("no-contents", "", True, "403"),
        ("no-contents", "", False, "403"),
    ],
)
def test_git_without_the_right_token_is_refused(make: Any, login: str, token: str, push: bool, why: str) -> None:
    world = make(private=True, readers=("reader",), writers=("team", "no-contents"))
    world.hub.user("no-contents", lacks={"contents"})
    done = git(world, "git push {url} HEAD:refs/heads/x" if push else "git ls-remote {url}", login, token)
    assert (done.returncode, why in done.stderr) == (128, True), done.stderr
    assert world.ask("GET", "/branches").json()[0]["name"] == "main"


def test_a_token_without_workflows_cannot_push_one(make: Any) -> None:
    world = make(writers=("careful", "team"))
    world.hub.user("careful", lacks={"workflows"})
    repositories.commit(world.work, {"a.txt": "fine\n"})
    assert git(world, "git push -q {url} HEAD:refs/heads/fine", "careful").returncode == 0
    repositories.commit(world.work, {".github/workflows/ci.yml": "on: push\n"})
    refused = git(world, "git push {url} HEAD:refs/heads/task", "careful")
    assert (refused.returncode, "without `workflows` permission" in refused.stderr) == (1, True)
    assert git(world, "git push -q {url} HEAD:refs/heads/task").returncode == 0
    assert git(world, "git push -q {url} :task", "careful").returncode == 0
    assert len(world.get("/branches")) == 2


def test_a_branch_that_git_deletes_closes_its_pull_request_for_good(world: World) -> None:
    world.pull()
    for refs in (":task", "origin/task:refs/heads/task"):  # gone for a moment only
        assert git(world, f"git push -q {{url}} {refs}").returncode == 0
    assert world.get("/pulls/1")["state"] == "closed"


def test_who_pushed_a_merge_is_who_merged(world: World) -> None:
    world.pull()
    assert git(world, "git push -q {url} origin/task:main", "owner").returncode == 0
    assert world.get("/pulls/1")["merged_by"]["login"] == "owner"


def test_references_of_pull_requests_are_not_pushed_to(world: World) -> None:
    world.pull()
    assert "refs/pull/1/head" in git(world, "git ls-remote {url}").stdout
    assert git(world, "git push {url} HEAD:refs/pull/1/head").returncode == 1


def test_faults_meet_git_too(world: World) -> None:
    world.hub.faults.after(Fault(502), "POST /{r}.git/git-receive-pack")
    world.push("task")
    assert git(world, "git push {url} HEAD:refs/heads/lost").returncode != 0
    assert [branch["name"] for branch in world.get("/branches")] == ["lost", "main", "task"]


# --- hostile input -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/repos/%2e%2e/%2e%2e/pulls",
        "/repos/owner/../../x",
        "/owner/..%2f..%2fx.git/info/refs?service=git-upload-pack",
        "/../owner.git/info/refs?service=git-upload-pack",
        "/%00.git/info/refs",
        "/users/%00",
        "/repos/{r}/contents/..%2f..%2fHEAD",
        "/repos/{r}/contents/%2fetc%2fpasswd",
        "/repos/{r}/contents/a%00b",
        "/repos/{r}/git/ref/heads/..%2f..%2fconfig",
        "/repos/{r}/issues/99999999999999999999",
        "/repos/{r}/issues/-1",
        "/repos/{r}/labels/%ff%fe",
    ],
)
def test_a_path_leads_nowhere_else(world: World, path: str, contract: Contract) -> None:
    with httpx2.Client(headers={"authorization": f"token {world.hub.user('team')}"}) as client:
        request = client.build_request("GET", world.hub.url)
        request.extensions = {**request.extensions, "target": path.replace("{r}", world.name).encode()}
        assert client.send(request).status_code == 404
    contract.violations.clear()  # most of these are no operations


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b'{"title": "\\ud800", "head": "task", "base": "main"}', 400),
        (b"[" * 100_000, 400),
        (b"\xff\xfe", 400),
        (b"[]", 422),
        (b'"text"', 422),
        (b'{"title": 1, "head": "task", "base": "main"}', 422),
        (b'{"title": "T", "head": "task", "base": "main", "draft": "yes"}', 422),
        (b'{"title": "T", "head": ["task"], "base": "main"}', 422),
        (b" " * 1_000_001, 413),
    ],
)
def test_a_body_that_is_none_of_github_s_is_refused(world: World, body: bytes, status: int, contract: Contract) -> None:
    world.push("task")
    headers = {"authorization": f"token {world.hub.user('team')}"}
    answer = httpx2.post(f"{world.hub.url}/repos/{world.name}/pulls", content=body, headers=headers)
    assert answer.status_code == status
    assert answer.json()["message"]
    assert world.get("/pulls") == []
    contract.violations.clear()  # that is what the contract is for


@pytest.mark.parametrize("name", ["../x/y", "x", "a/b/c", "a/..", "a/.git", "a/b.git", "a b/c", "", "-a/b"])
def test_a_repository_has_a_plain_name(hub: LocalGitHub, name: str) -> None:
    with pytest.raises(Misconfigured, match="OWNER/NAME"):
        hub.repository(name)


def test_rules_are_set_for_what_there_is(hub: LocalGitHub) -> None:
    with pytest.raises(Misconfigured, match="no repository 'owner/none' here"):
        hub.require("owner/none", "main", "ci")


# --- starting ------------------------------------------------------------------------------------------------


def test_a_repository_is_a_copy_of_another_s_branches(make: Any, tmp_path: Path) -> None:
    sha = repositories.repository(tmp_path / "start", {"x.py": "1\n"})
    repositories.shell("git checkout -q -b trunk && git branch -D main -q && git branch other", tmp_path / "start")
    world = make(start=tmp_path / "start")
    assert world.get("")["default_branch"] == "trunk"
    assert [branch["name"] for branch in world.get("/branches")] == ["other", "trunk"]
    assert world.get("/branches/trunk")["commit"]["sha"] == sha


def test_it_starts_and_stops_within_a_second(tmp_path: Path) -> None:
    began = time.monotonic()
    with LocalGitHub(tmp_path) as hub:
        hub.repository("o/r")
        assert httpx2.get(f"{hub.url}/user", headers={"authorization": f"token {hub.user('team')}"}).status_code == 200
    assert time.monotonic() - began < 1.5


def test_it_listens_on_this_machine_alone_and_says_when_the_port_is_taken(tmp_path: Path) -> None:
    with LocalGitHub(tmp_path) as hub:
        assert hub.url.startswith("http://127.0.0.1:")
        with pytest.raises(Misconfigured, match="cannot be used"):
            LocalGitHub(tmp_path, port=int(hub.url.rpartition(":")[2]))


def test_the_commits_outlive_the_server(tmp_path: Path) -> None:
    with LocalGitHub(tmp_path) as hub:
        sha = repositories.shell("git rev-parse main", hub.repository("o/r"))
    with LocalGitHub(tmp_path) as hub:
        assert repositories.shell("git rev-parse main", hub.repository("o/r")) == sha


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


# --- the contract itself -------------------------------------------------------------------------------------

GOOD = Exchange(
    method="POST",
    path="/repos/o/r/pulls",
    route="/repos/{r}/pulls",
    query={},
    body={"title": "T", "head": "x", "base": "main", "draft": False},
    login="team",
    status=422,
    headers={},
    answer={"message": "Validation Failed", "documentation_url": "d", "errors": [{"resource": "R", "code": "c"}]},
)
READ = replace(GOOD, method="GET", query={"state": "open", "per_page": "5"}, body=None, status=200, answer=[])


def test_the_contract_takes_what_github_takes() -> None:
    assert complaints(GOOD) == complaints(READ) == []


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        pytest.param(replace(GOOD, method="PUT"), "no such operation", id="verb"),
        pytest.param(replace(GOOD, path="/repos/o/r/pull"), "no such operation", id="path"),
        pytest.param(replace(GOOD, path="/repos/o/r/git/ref/heads/x", method="DELETE"), "no such", id="ref for refs"),
        pytest.param(replace(READ, query={"status": "open"}), "query status: unknown", id="query name"),
        pytest.param(replace(READ, query={"state": "opened"}), "query state", id="query value"),
        pytest.param(replace(READ, query={"per_page": "many"}), "query per_page", id="query type"),
        pytest.param(replace(READ, body={"x": 1}), "body: none expected", id="a body for a GET"),
        pytest.param(replace(GOOD, body=None), "body: required", id="no body"),
        pytest.param(replace(GOOD, body={**GOOD.body, "titel": "T"}), "body titel: unknown", id="body key"),
        pytest.param(replace(GOOD, body={**GOOD.body, "draft": "no"}), "body draft", id="body type"),
        pytest.param(replace(GOOD, body={"title": "T", "head": "x"}), "'base' is a required", id="body key left out"),
        pytest.param(replace(GOOD, status=418), "status 418 is not described", id="status"),
        pytest.param(replace(GOOD, status=404, answer={"message": "Gone"}), "status 404", id="unknown refusal"),
        pytest.param(replace(READ, answer=[{"number": 1}]), "required property", id="answer lacks fields"),
        pytest.param(replace(READ, answer={}), "is not of type 'array'", id="answer type"),
        pytest.param(replace(READ, answer="<html>"), "text instead of JSON", id="answer is a page"),
        pytest.param(
            replace(GOOD, path="/graphql", body={"query": "query { viewer }", "variables": {"input": {}}}),
            "pullRequestId", id="another GraphQL query",
        ),
    ],
)  # fmt: skip
def test_the_contract_notices_what_is_wrong(wrong: Exchange, says: str) -> None:
    assert says in " ".join(complaints(wrong))


def test_every_field_that_github_requires_is_missed_if_it_is_left_out(world: World) -> None:
    world.pull()
    kept = [e for e in world.hub.exchanges if e.route == "/repos/{r}/pulls" and e.status == 201][-1]
    required = hub_description.read()["components"]["schemas"]["pull-request"]["required"]
    missed = [name for name in required if complaints(replace(kept, answer=without(kept.answer, name)))]
    assert len(missed) == len(required) > 30


def without(answer: Any, name: str) -> Any:
    return {key: value for key, value in answer.items() if key != name}


def test_what_a_fault_said_is_not_github_s_word_but_the_question_was_ours() -> None:
    assert complaints(replace(GOOD, status=502, answer="<html>", worked=False)) == []
    assert complaints(replace(GOOD, method="PUT", worked=False)) != []


def test_the_description_is_the_one_that_its_readme_names() -> None:
    text = hub_description.FILE.read_text("utf-8")
    readme = hub_description.FILE.with_name("README.md").read_text("utf-8")
    assert hashlib.sha256(text.encode()).hexdigest() in readme
    again = json.loads(text)
    assert json.dumps(trim_github_contract.trimmed(again), separators=(",", ":"), sort_keys=True) != ""
