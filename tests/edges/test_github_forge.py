"""GitHubForge keeps the forge's contract, with one account and with two, and a few promises of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sisimpur.shared.forge.forge import (
    FORGE_PROBLEMS,
    REVIEW_CONTEXT,
    CheckResult,
    Forge,
    ForgeRefused,
    PullNotReady,
    RateLimited,
    key_of,
    marker,
)
from sisimpur.shared.forge.github_answers import GitHubAnswer
from sisimpur.shared.forge.github_client import MOST_KEPT, AnswerCache, GitHubAccess
from sisimpur.shared.forge.github_forge import GitHubForge
from sisimpur.shared.forge.github_values import WIP
from sisimpur.shared.model.errors import ForgeUnavailable, Misconfigured, TeamError
from sisimpur.shared.repo.git import git
from sisimpur.shared.system.clock import ManualClock
from sisimpur.simulators.github.faults import Fault
from sisimpur.simulators.github.local_github import LocalGitHub
from tests.edges.forge_contract import EFFECTS, NOBODY, Effect, ForgeContract, ForgeHome, commit
from tests.edges.github_contract import Contract

NOW = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
NAME = "team/app"
OPENING = """
import os
from datetime import UTC, datetime
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.forge.github_client import GitHubAccess
from sisimpur.shared.forge.github_forge import GitHubForge
forge = GitHubForge(
    {name!r}, os.environ["TOKEN_OF_TEAM"], ManualClock(datetime(2026, 11, 20, 8, 30, tzinfo=UTC)),
    reviewer_token=os.environ["TOKEN_OF_REVIEWER"], access=GitHubAccess({url!r}, 20.0, 0.0),
)
"""


class GitHubHome(ForgeHome):
    forge: GitHubForge

    def __init__(self, hub: LocalGitHub, one_account: bool, *, private: bool = False, name: str = NAME) -> None:
        self.hub = hub
        self.name = name
        self.one_account = one_account
        self.repository = hub.repository(name, writers=("team", "reviewer"), private=private)
        commit(self.repository, "main", {"README": "read me\n"})
        self.team, self.reviewer = hub.user("team"), "" if one_account else hub.user("reviewer")
        self.forge = self.opened()

    def opened(self, reviewer_token: str | None = None, **given: Any) -> GitHubForge:
        access = replace(GitHubAccess(self.hub.url, 20.0, 0.0), **given)
        second = self.reviewer if reviewer_token is None else reviewer_token
        return GitHubForge(self.name, self.team, ManualClock(NOW), reviewer_token=second, access=access)

    def opening(self) -> str:
        return OPENING.format(name=self.name, url=self.hub.url)

    def environment(self) -> Mapping[str, str]:
        return {"TOKEN_OF_TEAM": self.team, "TOKEN_OF_REVIEWER": self.reviewer}

    def require(self, context: str) -> None:
        self.hub.require(self.name, "main", context)

    def add_issue(self, title: str, labels: list[str]) -> int:
        return int(self.asks("team", "POST", "/issues", {"title": title, "labels": labels})["number"])

    def says(self, author: str, number: int, text: str) -> None:
        self.asks(author, "POST", f"/issues/{number}/comments", {"body": text})

    def remarks(self, author: str, number: int, text: str, path: str, line: int) -> bool:
        remark = {"path": path, "line": line, "body": text}
        self.asks(author, "POST", f"/pulls/{number}/reviews", {"event": "COMMENT", "comments": [remark]})
        return True

    def asks(self, login: str, verb: str, path: str, body: Any = None) -> Any:
        """What somebody does there without us."""
        head = {"Authorization": f"Bearer {self.hub.user(login)}"}
        answer = httpx2.request(
            verb, f"{self.hub.url}/repos/{self.name}{path}", json=body, headers=head, trust_env=False, verify=False
        )
        assert answer.is_success, answer.text
        return answer.json()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[LocalGitHub]:
    contract = Contract()
    with LocalGitHub(tmp_path / "hub", observe=contract.observe) as hub:
        yield hub
    assert contract.violations == []


class TestGitHubWithOneAccount(ForgeContract):
    @pytest.fixture
    def home(self, hub: LocalGitHub) -> GitHubHome:
        return GitHubHome(hub, one_account=True)


class TestGitHubWithTwoAccounts(ForgeContract):
    @pytest.fixture
    def home(self, hub: LocalGitHub) -> GitHubHome:
        return GitHubHome(hub, one_account=False)

    @pytest.mark.parametrize("effect", [EFFECTS["a review"]])  # nothing else needs the second account
    def test_killed_anywhere_and_repeated_is_like_never_killed(self, home: ForgeHome, effect: Effect) -> None:
        super().test_killed_anywhere_and_repeated_is_like_never_killed(home, effect)

    def test_killed_again_in_the_repetition_is_one_merge(self, home: ForgeHome) -> None:
        pytest.skip("as with one account")


@pytest.fixture
def home(hub: LocalGitHub) -> GitHubHome:
    return GitHubHome(hub, one_account=True)


def pull_of(home: GitHubHome, branch: str = "task") -> tuple[int, str]:
    sha = home.push(branch)
    return home.forge.ensure_pull(branch, "main", "T", "B", ["agents"]).number, sha


def asked(home: GitHubHome) -> list[tuple[str, int]]:
    """Every request so far, and how it was answered."""
    return [(f"{exchange.method} {exchange.route}", exchange.status) for exchange in home.hub.exchanges]


# --- who we are ----------------------------------------------------------------------------------------------


def test_it_keeps_the_protocol_and_asks_nothing_before_the_first_call(home: GitHubHome) -> None:
    forge: Forge = home.forge
    assert asked(home) == []
    assert (forge.whoami(), forge.whoami()) == ("team", "team")
    assert asked(home) == [("GET /user", 200)]


@pytest.mark.parametrize(
    ("repository", "token", "url", "says"),
    [
        pytest.param("app", "t", "https://api.github.com", "OWNER/NAME", id="no owner"),
        pytest.param("team/..", "t", "https://api.github.com", "OWNER/NAME", id="a path that leads elsewhere"),
        pytest.param("team/app", "", "https://api.github.com", "GITHUB_TOKEN", id="no token"),
        pytest.param("team/app", "s3cret\nX: y", "https://api.github.com", "GITHUB_TOKEN", id="a token of two lines"),
        pytest.param("team/app", "t", "http://example.org", "https://YOUR-HOST", id="without encryption"),
        pytest.param("team/app", "t", "https://us:pw@example.org", "https://YOUR-HOST", id="a password in the address"),
    ],
)
def test_what_cannot_be_right_is_said_before_anything_is_sent(repository: str, token: str, url: str, says: str) -> None:
    with pytest.raises(Misconfigured, match=says) as told:
        GitHubForge(repository, token, ManualClock(NOW), access=GitHubAccess(url))
    assert "s3cret" not in str(told.value)


def test_a_token_is_in_no_representation_and_in_no_error(home: GitHubHome) -> None:
    assert home.team not in repr(vars(home.forge))
    echo = {"message": f"who sent Bearer {home.team}?", "errors": [f"{home.team[::-1]}"]}
    for status in (401, 403, 404, 409, 422):
        home.hub.faults.before(Fault(status, echo), "PATCH /repos/{r}/pulls/{n}")
    number, _ = pull_of(home)
    for _ in range(5):
        with pytest.raises(FORGE_PROBLEMS) as caught:
            home.forge.close(number)
        assert home.team not in str(caught.value)
        assert home.team[::-1] not in str(caught.value)
    home.hub.faults.before(Fault(200, {"errors": [{"message": home.team}]}), "POST /graphql")
    home.push("draft")
    draft = home.forge.ensure_pull("draft", "main", "T", "B", draft=True).number
    with pytest.raises(ForgeRefused) as refused:
        home.forge.ready(draft)
    assert home.team not in str(refused.value)


def test_a_long_refusal_is_one_short_line(home: GitHubHome) -> None:
    number, _ = pull_of(home)
    home.hub.faults.before(Fault(422, {"message": "no\n" * 5000}), "PATCH /repos/{r}/pulls/{n}")
    with pytest.raises(ForgeRefused) as caught:
        home.forge.close(number)
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)


def test_a_missing_permission_is_named_as_github_names_it(hub: LocalGitHub) -> None:
    home = GitHubHome(hub, one_account=True)
    _, sha = pull_of(home)
    hub.user("team", lacks={"statuses"})
    with pytest.raises(Misconfigured, match=r"GITHUB_TOKEN may not do POST .*statuses=write"):
        home.forge.set_status(sha, "agents/tests", "success")


def test_the_second_account_needs_no_right_to_set_statuses(hub: LocalGitHub) -> None:
    home = GitHubHome(hub, one_account=False)
    number, sha = pull_of(home)
    hub.user("reviewer", lacks={"statuses", "contents"})
    assert home.forge.review(number, "approve", "ok", sha).formal
    assert home.forge.checks(sha).items == {REVIEW_CONTEXT: "success"}


def test_two_tokens_of_one_account_are_one_account(hub: LocalGitHub) -> None:
    home = GitHubHome(hub, one_account=True)
    number, sha = pull_of(home)
    assert not home.opened(reviewer_token=home.team).review(number, "approve", "ok", sha).formal


def test_a_repository_that_has_moved_is_the_owners_to_correct(home: GitHubHome) -> None:
    number, _ = pull_of(home)
    home.hub.faults.before(Fault(307, {"message": "Moved"}, {"Location": "/x"}), "PATCH /repos/{r}/pulls/{n}")
    with pytest.raises(Misconfigured, match="has moved"):
        home.forge.close(number)


# --- what strangers can do -----------------------------------------------------------------------------------


def test_a_branch_of_the_same_name_in_somebodys_fork_is_not_ours(home: GitHubHome) -> None:
    number, _ = pull_of(home)
    raw = home.asks("team", "GET", f"/pulls/{number}")
    raw["head"]["repo"]["full_name"] = "stranger/app"
    home.hub.faults.before(Fault(200, [raw]), "GET /repos/{r}/pulls")
    assert home.forge.find_pull("task", "main") is None
    raw["head"]["repo"] = None
    home.hub.faults.before(Fault(200, [raw]), "GET /repos/{r}/pulls")
    assert home.forge.find_pull("task", "main") is None


def test_only_the_branch_that_was_asked_for_is_found(home: GitHubHome) -> None:
    number, _ = pull_of(home)
    raw = home.asks("team", "GET", f"/pulls/{number}")
    for end in ("head", "base"):  # a filter that GitHub does not understand filters nothing
        home.hub.faults.before(Fault(200, [raw | {end: raw[end] | {"ref": "elsewhere"}}]), "GET /repos/{r}/pulls")
        assert home.forge.find_pull("task", "main") is None
    assert home.hub.exchanges[-1].query["head"] == "team:task"


def test_a_strangers_review_counts_as_his_only(hub: LocalGitHub) -> None:
    home = GitHubHome(hub, one_account=True)
    number, sha = pull_of(home)
    forged = f"{marker('review:approve')}\nfine"
    home.asks("stranger", "POST", f"/pulls/{number}/reviews", {"event": "COMMENT", "body": forged, "commit_id": sha})
    assert [(r.author, r.verdict, r.formal) for r in home.forge.reviews(number)] == [("stranger", "comment", True)]
    home.forge.review(number, "approve", "ours", sha)
    assert [(r.author, r.verdict) for r in home.forge.reviews(number)] == [("stranger", "comment"), ("team", "approve")]


def test_a_formal_verdict_without_words_is_a_comment_too(hub: LocalGitHub) -> None:
    home = GitHubHome(hub, one_account=True)
    number, sha = pull_of(home)
    home.asks("owner", "POST", f"/pulls/{number}/reviews", {"event": "APPROVE", "commit_id": sha})
    home.asks("owner", "POST", f"/pulls/{number}/reviews", {"commit_id": sha, "body": "not sent off"})
    (said,) = home.forge.comments(number)
    assert (said.author, said.verdict, said.sha, said.ours) == ("owner", "approve", sha, False)


def test_who_changed_an_issue_is_told(home: GitHubHome) -> None:
    """Lists name its author alone, whoever wrote what it says now."""
    made = home.asks("owner", "POST", "/issues", {"title": "a wish", "body": "words"})
    home.asks("owner", "POST", "/issues", {"title": "as it was"})
    assert [issue.changed_by for issue in home.forge.list_issues()] == [(), ()]
    home.asks("owner", "PATCH", f"/issues/{made['number']}", {"body": "other words"})
    home.asks("team", "PATCH", f"/issues/{made['number']}", {"title": "another wish"})
    untouched, changed = home.forge.list_issues()
    assert untouched.changed_by == () and untouched.author == changed.author == "owner"
    assert [login for login, _ in changed.changed_by] == ["owner", "team"]
    assert changed.changed_by[0][1] == changed.author_id


def test_who_wrote_is_known_by_number_too(hub: LocalGitHub) -> None:
    """A login can be given up and taken by somebody else; the number of an account cannot."""
    home = GitHubHome(hub, one_account=True)
    number, _ = pull_of(home)
    home.asks("owner", "POST", f"/issues/{number}/comments", {"body": "words"})
    home.asks("owner", "POST", f"/pulls/{number}/reviews", {"event": "APPROVE"})
    home.asks("owner", "POST", "/issues", {"title": "a wish"})
    (issue,) = home.forge.list_issues()
    assert issue.author_id > 0
    assert [said.author_id for said in home.forge.comments(number)] == [issue.author_id] * 2


@pytest.mark.parametrize("results", [["failure", "success"], ["success", "failure"]])
def test_who_takes_the_name_of_a_check_cannot_hide_that_it_failed(home: GitHubHome, results: list[str]) -> None:
    sha = home.push("task")
    home.hub.user("team", kind="classic")
    for result in results:
        home.hub.check_run(NAME, sha, REVIEW_CONTEXT, result)
    home.forge.set_status(sha, REVIEW_CONTEXT, "success")
    items = home.forge.checks(sha).items
    assert items == {f"{REVIEW_CONTEXT} (run)": "failure", REVIEW_CONTEXT: "success"}, "a run is never ours"


@pytest.mark.parametrize("name", ["..", "../../..", "a/../b", "/a", "a//b", ""])
def test_a_name_that_leads_elsewhere_is_never_a_path(home: GitHubHome, name: str) -> None:
    with pytest.raises(ForgeRefused, match="no name of a branch"):
        home.forge.delete_branch(name)
    assert asked(home) == []


def test_a_branch_with_odd_letters_is_deleted_and_nothing_else(home: GitHubHome) -> None:
    for name in ("a%2Fb", "ä#b", "a&b=c"):
        git(home.repository, "update-ref", f"refs/heads/{name}", "refs/heads/main")
        home.forge.delete_branch(name)
        assert home.tip(name) == ""
    assert home.tip("main")


# --- drafts where there are none -----------------------------------------------------------------------------


@pytest.fixture
def private(hub: LocalGitHub) -> GitHubHome:
    """A private repository of the free plan."""
    return GitHubHome(hub, one_account=True, private=True)


def test_where_there_are_no_drafts_a_label_stands_for_it(private: GitHubHome) -> None:
    sha = private.push("task")
    pull = private.forge.ensure_pull("task", "main", "T", "B", ["agents"], draft=True)
    assert (pull.draft, sorted(pull.labels)) == (True, ["agents", WIP])
    with pytest.raises(PullNotReady, match="draft", check=lambda error: error.kind == "blocked"):
        private.forge.merge(pull.number, sha)
    for _ in range(2):
        private.forge.ready(pull.number)
    shown = private.forge.ensure_pull("task", "main", "T", "B", ["agents"], draft=True)
    assert (shown.draft, sorted(shown.labels)) == (False, ["agents"])
    assert private.forge.merge(pull.number, sha) == private.tip("main")


def test_a_label_that_was_lost_on_the_way_is_set_with_the_repetition(private: GitHubHome) -> None:
    private.push("task")
    private.hub.faults.before(Fault(502), "POST /repos/{r}/issues/{n}/labels")
    with pytest.raises(ForgeUnavailable):
        private.forge.ensure_pull("task", "main", "T", "B", ["agents"], draft=True)
    pull = private.forge.ensure_pull("task", "main", "T", "B", ["agents"], draft=True)
    assert pull.draft
    assert [p.draft for p in private.forge.list_pulls()] == [True]


@pytest.mark.parametrize(
    ("errors", "raised"),
    [
        ([{"type": "FORBIDDEN", "message": "You may not"}], Misconfigured),
        ([{"message": "Resource not accessible by personal access token"}], Misconfigured),
        ([{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}], RateLimited),
        ([{"type": "NOT_FOUND", "message": "Could not resolve to a node"}], ForgeRefused),
        ([{"type": "UNPROCESSABLE", "message": "Pull request is closed"}], ForgeRefused),
        ([{"message": "Something went wrong while executing your query."}], ForgeUnavailable),
        ("nonsense", ForgeRefused),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_graphql_says_no_with_a_yes(home: GitHubHome, errors: Any, raised: type[TeamError]) -> None:
    home.push("task")
    number = home.forge.ensure_pull("task", "main", "T", "B", draft=True).number
    home.hub.faults.before(Fault(200, {"data": None, "errors": errors}), "POST /graphql")
    with pytest.raises(raised):
        home.forge.ready(number)
    home.forge.ready(number)
    assert not home.forge.get_pull(number).draft


# --- checks --------------------------------------------------------------------------------------------------


def test_where_check_runs_may_not_be_read_actions_tell(private: GitHubHome) -> None:
    sha = private.push("task")
    private.hub.workflow_run(NAME, sha, "ci", "failure")
    private.hub.workflow_run(NAME, sha, "lint", None)
    private.forge.set_status(sha, "agents/tests", "success")
    checks = private.forge.checks(sha)
    assert checks.items == {"ci": "failure", "lint": "pending", "agents/tests": "success"}
    assert checks.complete


def test_what_could_not_be_read_is_said(private: GitHubHome) -> None:
    sha = private.push("task")
    private.hub.user("team", lacks={"actions"})
    private.forge.set_status(sha, "agents/tests", "success")
    assert not private.forge.checks(sha).complete


@pytest.mark.parametrize(
    ("conclusion", "result"),
    [
        ("success", "success"),
        ("neutral", "success"),
        ("skipped", "success"),
        ("cancelled", "failure"),
        (None, "pending"),
    ],
)
def test_check_runs_are_checks(home: GitHubHome, conclusion: str | None, result: CheckResult) -> None:
    sha = home.push("task")
    home.hub.user("team", kind="classic")
    home.hub.check_run(NAME, sha, "ci", conclusion)
    assert home.forge.checks(sha).items == {"ci": result}


def test_a_workflow_that_never_began_a_job_is_a_check(home: GitHubHome) -> None:
    sha = home.push("task")
    home.hub.check_run(NAME, sha, "ci", "success")
    home.hub.workflow_run(NAME, sha, "lint", "failure")
    assert home.forge.checks(sha).items == {"ci": "success", "lint": "failure"}


def test_a_check_that_is_run_again_counts_as_it_ended_then(home: GitHubHome) -> None:
    sha = home.push("task")
    home.hub.check_run(NAME, sha, "ci", "failure")
    home.hub.check_run(NAME, sha, "ci", None, again=True)
    assert home.forge.checks(sha).items == {"ci": "pending"}
    home.hub.check_run(NAME, sha, "ci", "success", again=True)
    assert home.forge.checks(sha).items == {"ci": "success"}


def test_more_statuses_than_a_page_are_not_complete(home: GitHubHome) -> None:
    sha = home.push("task")
    home.forge.set_status(sha, "agents/tests", "success")
    assert home.forge.checks(sha).complete
    cut = home.asks("team", "GET", f"/commits/{sha}/status") | {"total_count": 101}
    home.hub.faults.before(Fault(200, cut), "GET /repos/{r}/commits/{ref}/status")
    assert not home.forge.checks(sha).complete


# --- what did not change -------------------------------------------------------------------------------------


POLLED: dict[str, Callable[[Forge, int, str], object]] = {
    "list_pulls": lambda forge, number, sha: forge.list_pulls(),
    "list_issues": lambda forge, number, sha: forge.list_issues(),
    "comments": lambda forge, number, sha: forge.comments(number),
    "checks": lambda forge, number, sha: forge.checks(sha),
    "find_pull": lambda forge, number, sha: forge.find_pull("task", "main"),
}


@pytest.mark.parametrize("name", POLLED)
def test_what_did_not_change_comes_from_memory(home: GitHubHome, name: str) -> None:
    number, sha = pull_of(home)
    home.hub.user("team", kind="classic")
    first = POLLED[name](home.forge, number, sha)
    before = len(asked(home))
    assert POLLED[name](home.forge, number, sha) == first
    assert {status for _, status in asked(home)[before:]} == {304}
    home.says("stranger", number, "news")
    home.add_issue("news", [])
    home.asks("team", "POST", f"/statuses/{sha}", {"state": "failure", "context": "news"})
    home.forge.ensure_pull("task", "main", "T2", "B")
    assert POLLED[name](home.forge, number, sha) == POLLED[name](home.opened(), number, sha) != first


def test_a_list_of_several_pages_is_read_to_its_end(home: GitHubHome) -> None:
    number, _ = pull_of(home)
    for word in ("one", "two"):
        home.says("stranger", number, word)
    one, two = home.asks("team", "GET", f"/issues/{number}/comments")
    begun = len(asked(home))
    for page, link in (([one], '<https://x/?page=2>; rel="next", <https://x/?page=2>; rel="last"'), ([two], "")):
        home.hub.faults.before(Fault(200, page, {"Link": link}), "GET /repos/{r}/issues/{n}/comments")
    assert [said.body for said in home.forge.comments(number)] == ["one", "two"]
    pages = [e.query["page"] for e in home.hub.exchanges[begun:] if e.route.endswith("/issues/{n}/comments")]
    assert pages == ["1", "2"]


def test_memory_has_an_end() -> None:
    kept = AnswerCache()
    for number in range(5):
        kept.keep(str(number), GitHubAnswer(200, {"etag": "x"}, "x" * (MOST_KEPT // 3)))
        assert kept.get("0") is not None  # asked for, so that it stays
    assert [kept.get(str(number)) is not None for number in range(5)] == [True, False, False, True, True]
    kept.keep("untagged", GitHubAnswer(200, {}, "x"))
    kept.keep("an error", GitHubAnswer(404, {"etag": "x"}, "x"))
    assert (kept.get("untagged"), kept.get("an error")) == (None, None)


# --- merging -------------------------------------------------------------------------------------------------

MERGE = "PUT /repos/{r}/pulls/{n}/merge"


@pytest.mark.parametrize(
    ("status", "message", "raised"),
    [
        (405, "Base branch was modified. Review and try the merge again.", ForgeUnavailable),
        (405, 'Required status check "x" is expected.', PullNotReady),
        (405, 'Repository rule violations found\n\nRequired status check "x" is expected.\n\n', PullNotReady),
        (405, "Changes must be made through the merge queue", PullNotReady),
        (405, "Pull Request is not mergeable", PullNotReady),
        (422, "Validation Failed", PullNotReady),
        (409, "Head branch was modified. Review and try the merge again.", ForgeUnavailable),
        (403, "Resource not accessible by personal access token", Misconfigured),
        (404, "Not Found", ForgeRefused),
    ],
)
def test_a_refused_merge_says_what_to_do(home: GitHubHome, status: int, message: str, raised: type[TeamError]) -> None:
    number, sha = pull_of(home)
    home.hub.faults.before(Fault(status, {"message": message}), MERGE)
    with pytest.raises(raised):
        home.forge.merge(number, sha)
    assert home.forge.merge(number, sha) == home.tip("main")


def test_a_branch_that_is_behind_where_that_counts_is_a_conflict(home: GitHubHome) -> None:
    number, sha = pull_of(home)
    raw = home.asks("team", "GET", f"/pulls/{number}") | {"mergeable": True, "mergeable_state": "behind"}
    home.hub.faults.before(Fault(405, {"message": "Pull Request is not mergeable"}), MERGE)
    home.hub.faults.before(Fault(200, raw), "GET /repos/{r}/pulls/{n}", times=2)
    with pytest.raises(PullNotReady, check=lambda error: error.kind == "conflict"):
        home.forge.merge(number, sha)


def test_a_push_that_the_pull_request_does_not_show_yet_is_no_foreign_push(home: GitHubHome) -> None:
    number, old = pull_of(home)
    late = home.asks("team", "GET", f"/pulls/{number}")
    new = home.push("task", {"task.txt": "y\n"})
    for call in (lambda: home.forge.merge(number, new), lambda: home.forge.review(number, "approve", "ok", new)):
        home.hub.faults.before(Fault(200, late), "GET /repos/{r}/pulls/{n}")
        with pytest.raises(ForgeUnavailable, match="does not show yet"):
            call()
    home.hub.faults.before(Fault(200, late), "GET /repos/{r}/pulls/{n}")
    with pytest.raises(PullNotReady, check=lambda error: error.kind == "moved"):
        home.forge.merge(number, NOBODY)
    assert old != new


def test_what_somebody_else_just_merged_is_merged(home: GitHubHome) -> None:
    number, sha = pull_of(home)
    before = home.asks("team", "GET", f"/pulls/{number}")
    merged = home.forge.merge(number, sha)
    home.hub.faults.before(Fault(200, before), "GET /repos/{r}/pulls/{n}")
    assert home.forge.merge(number, sha) == merged == home.tip("main")


# --- branches ------------------------------------------------------------------------------------------------

DELETE = "DELETE /repos/{r}/git/refs/{ref}"


def test_a_protected_branch_is_not_taken_for_a_missing_one(home: GitHubHome) -> None:
    home.push("task")
    for fault in (Fault(422, {"message": "Cannot delete this protected branch"}), Fault(404, {"message": "Not Found"})):
        home.hub.faults.before(fault, DELETE)
        with pytest.raises(ForgeRefused):
            home.forge.delete_branch("task")
    home.hub.faults.before(Fault(404, {"message": "Not Found"}), DELETE)
    home.forge.delete_branch("never-there")


# --- several threads -----------------------------------------------------------------------------------------


def test_threads_that_share_a_forge_take_turns(home: GitHubHome) -> None:
    home.hub.faults.before(Fault(200, [], delay=0.2), "GET /repos/{r}/issues", times=4)
    began = time.monotonic()
    with ThreadPoolExecutor(4) as pool:  # PyGithub would mix up their requests
        assert list(pool.map(lambda _: home.forge.list_issues(), range(4))) == [[]] * 4
    assert time.monotonic() - began >= 0.8


def test_threads_may_share_one_forge(home: GitHubHome) -> None:
    number, _ = pull_of(home)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: home.forge.ensure_comment(number, f"key-{n}", f"words {n}"), range(12)))
    said = {key_of(comment.body): comment.body for comment in home.forge.comments(number)}
    assert {key: body.partition("\n")[2] for key, body in said.items()} == {f"key-{n}": f"words {n}" for n in range(12)}


def test_writes_keep_the_distance_that_github_asks_for(home: GitHubHome) -> None:
    sha, forge = home.push("task"), home.opened(seconds_between=0.3)
    began = time.monotonic()
    for _ in range(3):
        forge.set_status(sha, "agents/tests", "success")
    assert time.monotonic() - began >= 0.6


# --- doctor --------------------------------------------------------------------------------------------------


def findings(forge: GitHubForge) -> dict[str, tuple[bool, str]]:
    return {finding.name: (finding.ok, finding.detail) for finding in forge.check()}


def test_all_is_well(hub: LocalGitHub) -> None:
    home = GitHubHome(hub, one_account=False)
    home.require(REVIEW_CONTEXT)
    found = findings(home.forge)
    assert [name for name, (ok, _) in found.items() if not ok] == []
    assert list(found) == ["account", "repository", "permissions", "workflows", "branch", "reviewer"]
    assert "belongs to team" in found["account"][1]
    assert "belongs to reviewer" in found["reviewer"][1]


def test_asking_what_may_be_done_does_nothing(hub: LocalGitHub) -> None:
    home = GitHubHome(hub, one_account=False)
    before = git(home.repository, "for-each-ref")
    home.forge.check()
    assert git(home.repository, "for-each-ref") == before
    assert home.forge.list_pulls(every=True) == []
    done = [what for what, status in asked(home) if not what.startswith("GET") and status < 400]
    assert done == []


@pytest.mark.parametrize(
    ("lacks", "named"),
    [
        ({"contents=write"}, "Contents: write"),
        ({"pull_requests=write"}, "Pull requests: write"),
        ({"statuses=write"}, "Commit statuses: write"),
        ({"actions"}, "Actions: read"),
        ({"issues", "pull_requests"}, "Pull requests: write, Issues: read"),
    ],
)
def test_a_missing_permission_is_found_before_the_day_begins(private: GitHubHome, lacks: set[str], named: str) -> None:
    private.hub.user("team", lacks=lacks)
    ok, detail = findings(private.forge)["permissions"]
    assert not ok
    assert f"lacks {named};" in detail
    assert "https://github.com/settings/personal-access-tokens" in detail


@pytest.mark.parametrize(
    ("where", "fault", "name"),
    [
        pytest.param("DELETE", Fault(502, "<html>"), "permissions", id="GitHub is away"),
        pytest.param("POST /repos/{r}/pulls", Fault(429, {"message": "rate limit"}), "permissions", id="a limit"),
        pytest.param("GET /repos/{r}/issues", Fault(200, "<html>"), "permissions", id="half an answer"),
    ],
)
def test_what_could_not_be_asked_is_not_said_to_be_well(home: GitHubHome, where: str, fault: Fault, name: str) -> None:
    home.hub.faults.before(fault, where=where, times=9)
    ok, detail = findings(home.forge)[name]
    assert not ok
    assert "could not be found out" in detail and "lacks" not in detail


def test_a_scope_that_could_not_be_asked_for_is_no_end_of_the_questions(home: GitHubHome) -> None:
    home.hub.faults.before(Fault(close=True), where="GET /user", times=9, skip=1)  # whose it is was said
    found = findings(home.opened())
    assert found["workflows"][0] is False
    assert "reviewer" in found


def test_a_repository_that_is_not_there_ends_the_questions(home: GitHubHome) -> None:
    forge = GitHubForge(
        "team/nothing", home.team, ManualClock(NOW), access=GitHubAccess(home.hub.url, seconds_between=0.0)
    )
    assert [(f.name, f.ok) for f in forge.check()] == [("account", True), ("account", False)]
    assert "there is no repository team/nothing" in forge.check()[-1].detail


def test_a_bad_token_ends_the_questions(home: GitHubHome) -> None:
    (found,) = GitHubForge(
        NAME, "nobodys", ManualClock(NOW), access=GitHubAccess(home.hub.url, seconds_between=0.0)
    ).check()
    assert not found.ok
    assert "config/.env as GITHUB_TOKEN" in found.detail


def test_a_status_that_is_not_required_is_said_with_the_place_to_click(home: GitHubHome) -> None:
    ok, detail = findings(home.forge)["branch"]
    assert not ok
    assert f"https://github.com/{NAME}/settings/rules" in detail


def test_classic_protection_counts_as_well(home: GitHubHome) -> None:
    home.hub.require(NAME, "main", REVIEW_CONTEXT, classic=True)
    assert findings(home.forge)["branch"][0]


def test_a_rule_that_cannot_be_seen_is_no_failure_but_said(home: GitHubHome) -> None:
    home.hub.faults.before(Fault(403, {"message": "Upgrade to GitHub Pro"}), "GET /repos/{r}/rules/branches/{branch}")
    ok, detail = findings(home.forge)["branch"]
    assert ok
    assert "cannot be seen" in detail


def test_a_token_that_may_change_workflows_is_warned_of(home: GitHubHome) -> None:
    home.hub.user("team", kind="classic")
    ok, detail = findings(home.forge)["workflows"]
    assert not ok
    assert "scope `workflow`" in detail


def test_a_reviewer_who_does_not_count_is_said(hub: LocalGitHub) -> None:
    home = GitHubHome(hub, one_account=True)
    assert findings(home.forge)["reviewer"] == (True, findings(home.forge)["reviewer"][1])
    same = findings(home.opened(reviewer_token=home.team))["reviewer"]
    assert same[0] is False
    assert "another account" in same[1]
    stranger = findings(home.opened(reviewer_token=hub.user("stranger")))["reviewer"]
    assert stranger[0] is False
    assert "no write access" in stranger[1]


def test_who_may_not_push_is_told_where_to_give_it(hub: LocalGitHub) -> None:
    home = GitHubHome(hub, one_account=True)
    forge = GitHubForge(NAME, hub.user("stranger"), ManualClock(NOW), access=GitHubAccess(hub.url, seconds_between=0.0))
    ok, detail = findings(forge)["repository"]
    assert not ok
    assert f"stranger may not push to {home.name}" in detail


@pytest.mark.parametrize(
    ("api", "address"),
    [
        ("https://api.github.com", "https://github.com/you/project"),
        ("https://code.example/api/v3", "https://code.example/you/project"),
    ],
)
def test_its_pages_are_where_a_browser_finds_them(api: str, address: str) -> None:
    assert GitHubForge("you/project", "t0ken", ManualClock(NOW), access=GitHubAccess(api)).address == address
