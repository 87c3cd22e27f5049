"""The local GitHub's wire: planted faults, git over HTTP, hostile input, starting and stopping."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sisimpur.shared.model.errors import Misconfigured
from sisimpur.simulators.github.faults import Fault, closed, cut, html, silence
from sisimpur.simulators.github.local_github import LocalGitHub
from tests import repositories
from tests.edges.local_github_scene import Scene, World, client, serving


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
    assert git(world, "git clone -q {url} ../clone && git checkout -q task").returncode == 0
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
def test_a_path_leads_nowhere_else(world: World, path: str) -> None:
    with client(headers={"authorization": f"token {world.hub.user('team')}"}) as caller:
        request = caller.build_request("GET", world.hub.url)
        request.extensions = {**request.extensions, "target": path.replace("{r}", world.name).encode()}
        assert caller.send(request).status_code == 404
    world.contract.violations.clear()  # most of these are no operations


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
def test_a_body_that_is_none_of_github_s_is_refused(world: World, body: bytes, status: int) -> None:
    world.push("task")
    headers = {"authorization": f"token {world.hub.user('team')}"}
    answer = httpx2.post(f"{world.hub.url}/repos/{world.name}/pulls", content=body, headers=headers, verify=False)
    assert answer.status_code == status
    assert answer.json()["message"]
    assert world.get("/pulls") == []
    world.contract.violations.clear()  # that is what the contract is for


@pytest.mark.parametrize("name", ["../x/y", "x", "a/b/c", "a/..", "a/.git", "a/b.git", "a b/c", "", "-a/b"])
def test_a_repository_has_a_plain_name(scene: Scene, name: str) -> None:
    with pytest.raises(Misconfigured, match="OWNER/NAME"):
        scene.hub.repository(name)


def test_rules_are_set_for_what_there_is(scene: Scene) -> None:
    with pytest.raises(Misconfigured, match="no repository 'owner/none' here"):
        scene.hub.require("owner/none", "main", "ci")


# --- starting ------------------------------------------------------------------------------------------------


def test_a_repository_is_a_copy_of_another_s_branches(make: Any, tmp_path: Path) -> None:
    sha = repositories.repository(tmp_path / "start", {"x.py": "1\n"})
    repositories.shell("git checkout -q -b trunk && git branch -D main -q && git branch other", tmp_path / "start")
    world = make(start=tmp_path / "start")
    assert world.get("")["default_branch"] == "trunk"
    assert [branch["name"] for branch in world.get("/branches")] == ["other", "trunk"]
    assert world.get("/branches/trunk")["commit"]["sha"] == sha


def test_it_starts_and_stops_within_a_second(tmp_path: Path) -> None:
    assert min(seconds_of_a_life(tmp_path / str(number)) for number in range(3)) < 1


def seconds_of_a_life(folder: Path) -> float:
    began = time.monotonic()
    with LocalGitHub(folder) as hub:
        hub.repository("o/r")
        token = {"authorization": f"token {hub.user('team')}"}
        assert httpx2.get(f"{hub.url}/user", headers=token, verify=False).status_code == 200
    return time.monotonic() - began


def test_it_stops_at_once_though_callers_wait(tmp_path: Path) -> None:
    with LocalGitHub(tmp_path) as hub, pytest.raises(httpx2.ReadTimeout):
        hub.faults.before(silence(600))
        httpx2.get(f"{hub.url}/user", timeout=0.2, verify=False)


def test_of_four_who_ask_at_once_one_is_served(world: World) -> None:
    world.push("task")
    world.get("/pulls")
    world.hub.faults.after(Fault(delay=0.1), "POST /repos/{r}/pulls", times=4)
    asked = {"title": "T", "head": "task", "base": "main"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: world.ask("POST", "/pulls", asked).status_code, range(4)))
    assert sorted(answers) == [201, 422, 422, 422]


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
