"""Whatever goes wrong at GitHub: a call ends in time, in one of the seven errors, and its repetition does it once."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sisimpur.shared.forge.forge import REVIEW_CONTEXT, Forge, ForgeRefused, PullNotReady, RateLimited
from sisimpur.shared.model.errors import ForgeUnavailable, Misconfigured, TeamError
from sisimpur.shared.repo.git import git
from sisimpur.simulators.github.faults import Fault, closed, cut, html, silence
from sisimpur.simulators.github.local_github import LocalGitHub
from tests.edges.github_contract import Contract
from tests.edges.test_github_forge import NOW, GitHubHome

PATIENCE = 20.0  # seconds; with a server that is silent SHORT, so that the tests are
SHORT = 1.0
IN_TIME = 8.0  # seconds for a call that may look once more after its write failed, on a busy machine
RESET = str(int(NOW.timestamp()) + 3600)


# --- what is done --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Write:
    """`done` counts what can be seen of it: 1 is right, 0 is not done, 2 is twice. `where`: its request at GitHub.

    `looks`: after a failure it finds out by itself whether it was done.
    """

    where: str
    call: Callable[[Forge, str, int, str], object]
    done: Callable[[GitHubHome, str, int, str], int]
    on_a_pull: bool = True
    is_draft: bool = False
    looks: bool = False


def comments(home: GitHubHome, number: int) -> int:
    return sum(comment.ours and comment.verdict is None for comment in home.forge.comments(number))


def merges(home: GitHubHome, number: int) -> int:
    titles = git(home.repository, "log", "--first-parent", "--format=%s", "refs/heads/main").decode()
    return titles.count(f"(#{number})\n")


WRITES = {
    "a pull request": Write(
        "POST /repos/{r}/pulls",
        lambda forge, branch, number, sha: forge.ensure_pull(branch, "main", "T", "B", ["agents"]),
        lambda home, branch, number, sha: sum(
            p.head == branch and "agents" in p.labels for p in home.forge.list_pulls(every=True)
        ),
        on_a_pull=False,
        looks=True,
    ),
    "a comment": Write(
        "POST /repos/{r}/issues/{n}/comments",
        lambda forge, branch, number, sha: forge.ensure_comment(number, "plan", "words"),
        lambda home, branch, number, sha: comments(home, number),
    ),
    "a review": Write(
        "POST /repos/{r}/pulls/{n}/reviews",
        lambda forge, branch, number, sha: forge.review(number, "approve", "words", sha),
        lambda home, branch, number, sha: sum(r.verdict == "approve" for r in home.forge.reviews(number)),
    ),
    "a status": Write(
        "POST /repos/{r}/statuses/{sha}",
        lambda forge, branch, number, sha: forge.set_status(sha, "agents/tests", "success"),
        lambda home, branch, number, sha: list(home.forge.checks(sha).items.items()).count(("agents/tests", "success")),
    ),
    "a merge": Write(
        "PUT /repos/{r}/pulls/{n}/merge",
        lambda forge, branch, number, sha: forge.merge(number, sha),
        lambda home, branch, number, sha: merges(home, number),
        looks=True,
    ),
    "a closing": Write(
        "PATCH /repos/{r}/pulls/{n}",
        lambda forge, branch, number, sha: forge.close(number),
        lambda home, branch, number, sha: int(home.forge.get_pull(number).state == "closed"),
    ),
    "a deleted branch": Write(
        "DELETE /repos/{r}/git/refs/{ref}",
        lambda forge, branch, number, sha: forge.delete_branch(branch),
        lambda home, branch, number, sha: int(not home.tip(branch)),
    ),
    "no draft any more": Write(
        "POST /graphql",
        lambda forge, branch, number, sha: forge.ready(number),
        lambda home, branch, number, sha: int(not home.forge.get_pull(number).draft),
        is_draft=True,
        looks=True,
    ),
}


# --- what goes wrong -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outage:
    """`worked`: the work was done before it went wrong. `wait`: seconds until the next call, as the error says."""

    fault: Fault
    error: type[TeamError]
    worked: bool = False
    wait: float = 0.0

    @property
    def patience(self) -> float:
        return SHORT if self.fault.delay else PATIENCE


PRIMARY = {"message": "API rate limit exceeded for user ID 1."}
SECONDARY = {
    "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
}
FORBIDDEN = {"message": "Resource not accessible by personal access token"}
LEFT_NONE = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": RESET}
HERE = html(200)

OUTAGES = {
    "401": Outage(Fault(401, {"message": "Bad credentials"}), Misconfigured),
    "403, a permission": Outage(Fault(403, FORBIDDEN, {"X-Accepted-GitHub-Permissions": "x=write"}), Misconfigured),
    "403, the limit of an hour": Outage(Fault(403, PRIMARY, LEFT_NONE), RateLimited, wait=3601),
    "403, the second limit, with a time": Outage(Fault(403, SECONDARY, {"Retry-After": "7"}), RateLimited, wait=7),
    "403, the second limit": Outage(Fault(403, SECONDARY), RateLimited, wait=60),
    "403 of somebody in between": Outage(html(403), ForgeUnavailable),
    "404": Outage(Fault(404, {"message": "Not Found"}), ForgeRefused),
    "422": Outage(Fault(422, {"message": "Validation Failed", "errors": [{"code": "custom"}]}), ForgeRefused),
    "429, with a time": Outage(Fault(429, SECONDARY, {"Retry-After": "7"}), RateLimited, wait=7),
    "429": Outage(Fault(429, {"message": "Too many requests"}), RateLimited, wait=60),
    "500": Outage(Fault(500), ForgeUnavailable),
    "502 instead of the work": Outage(Fault(502), ForgeUnavailable),
    "502 after the work": Outage(Fault(502), ForgeUnavailable, worked=True),
    "a page instead of the work": Outage(HERE, ForgeUnavailable),
    "a page after the work": Outage(HERE, ForgeUnavailable, worked=True),
    "cut after the work": Outage(cut(), ForgeUnavailable, worked=True),
    "silence instead of the work": Outage(silence(30), ForgeUnavailable),
    "silence after the work": Outage(silence(30), ForgeUnavailable, worked=True),
    "closed instead of the work": Outage(closed(), ForgeUnavailable),
    "closed after the work": Outage(closed(), ForgeUnavailable, worked=True),
}


# --- all of it against all of it -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalGitHub]:
    contract = Contract()
    with LocalGitHub(tmp_path_factory.mktemp("hub"), observe=contract.observe, looks_until_known=0) as hub:
        yield hub
    assert contract.violations == []


NUMBERS = itertools.count(1)


@pytest.fixture
def home(hub: LocalGitHub) -> Iterator[GitHubHome]:
    """A repository of its own for each case; they all share one GitHub."""
    yield GitHubHome(hub, one_account=True, name=f"team/app-{next(NUMBERS)}")
    hub.faults.clear()


def expected(write: str, outage: Outage) -> type[TeamError] | None:
    """None: it finds out by itself that it was done."""
    if outage.worked and WRITES[write].looks:
        return None
    if write == "a merge" and outage.fault.status == 422:
        return PullNotReady  # some rule that we do not know
    return outage.error


@contextmanager
def in_time() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < IN_TIME


@pytest.mark.parametrize("outage", [pytest.param(outage, id=name) for name, outage in OUTAGES.items()])
@pytest.mark.parametrize("name", WRITES)
def test_every_write_ends_in_time_and_its_repetition_does_it_once(home: GitHubHome, name: str, outage: Outage) -> None:
    branch, write = "task", WRITES[name]
    sha = home.push(branch)
    forge = home.opened(patience=outage.patience)
    number = home.forge.ensure_pull(branch, "main", "T", "B", draft=write.is_draft).number if write.on_a_pull else 0
    plant = home.hub.faults.after if outage.worked else home.hub.faults.before
    plant(outage.fault, write.where)
    error = expected(name, outage)
    with in_time():
        if error is None:
            write.call(forge, branch, number, sha)
        else:
            with pytest.raises(error) as caught:
                write.call(forge, branch, number, sha)
            assert_it_helps(caught.value, outage, home)
    assert home.hub.faults.left == 0
    assert write.done(home, branch, number, sha) == int(outage.worked)
    for _ in range(2):
        write.call(home.forge, branch, number, sha)
        assert write.done(home, branch, number, sha) == 1


def assert_it_helps(error: TeamError, outage: Outage, home: GitHubHome) -> None:
    """It says how long to wait, or which permission to add; never the token."""
    if isinstance(error, RateLimited):
        assert error.wait == outage.wait
    if isinstance(error, Misconfigured):
        assert "GITHUB_TOKEN" in str(error)
        assert ("x=write" in str(error)) is (outage.fault.status == 403)
    assert home.team not in str(error)


@pytest.mark.parametrize("outage", [pytest.param(outage, id=name) for name, outage in OUTAGES.items()])
def test_a_review_whose_status_failed_sets_it_with_its_repetition(home: GitHubHome, outage: Outage) -> None:
    sha = home.push("task")
    number = home.forge.ensure_pull("task", "main", "T", "B").number
    plant = home.hub.faults.after if outage.worked else home.hub.faults.before
    plant(outage.fault, "POST /repos/{r}/statuses/{sha}")
    forge = home.opened(patience=outage.patience)
    with in_time(), pytest.raises(outage.error):
        forge.review(number, "approve", "words", sha)
    home.forge.review(number, "approve", "words", sha)
    assert len(home.forge.reviews(number)) == 1
    assert home.forge.checks(sha).items == {REVIEW_CONTEXT: "success"}


# --- reading -------------------------------------------------------------------------------------------------


READS: dict[str, tuple[str, Callable[[Forge], object]]] = {
    "find_pull": ("GET /repos/{r}/pulls", lambda forge: forge.find_pull("reading", "main")),
    "get_pull": ("GET /repos/{r}/pulls/{n}", lambda forge: forge.get_pull(1)),
    "diff": ("GET /repos/{r}/pulls/{n}", lambda forge: forge.diff(1)),
    "remarks": ("GET /repos/{r}/pulls/{n}/comments", lambda forge: forge.comments(1)),
    "checks": ("GET /repos/{r}/commits/{ref}/status", lambda forge: forge.checks("main")),
}


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHubHome]:
    with LocalGitHub(tmp_path_factory.mktemp("hub")) as hub:
        home = GitHubHome(hub, one_account=True)
        home.push("reading")
        home.forge.ensure_pull("reading", "main", "T", "B")
        yield home


@pytest.mark.parametrize(
    "outage", [pytest.param(outage, id=name) for name, outage in OUTAGES.items() if not outage.worked]
)
@pytest.mark.parametrize("name", READS)
def test_every_read_ends_in_time_in_one_of_the_seven_errors(reading: GitHubHome, name: str, outage: Outage) -> None:
    where, call = READS[name]
    reading.hub.faults.clear()
    reading.hub.faults.before(outage.fault, where, times=100)
    is_gone = name == "remarks" and outage.fault.status == 404  # as for an issue
    forge = reading.opened(patience=outage.patience)
    with in_time():
        if is_gone:
            call(forge)
        else:
            with pytest.raises(outage.error):
                call(forge)
    reading.hub.faults.clear()
    call(reading.forge)


@pytest.mark.parametrize("fault", [Fault(502), closed(), silence(30)], ids=["502", "closed", "silence"])
def test_a_read_is_repeated_twice_before_it_fails(reading: GitHubHome, fault: Fault) -> None:
    reading.hub.faults.clear()
    reading.hub.faults.before(fault, "GET /repos/{r}/pulls/{n}", times=2)
    assert reading.opened(patience=6.0).get_pull(1).head == "reading"


@pytest.mark.parametrize("name", WRITES)
def test_a_write_is_never_repeated_by_itself(home: GitHubHome, name: str) -> None:
    branch, write = "task", WRITES[name]
    sha = home.push(branch)
    number = home.forge.ensure_pull(branch, "main", "T", "B", draft=write.is_draft).number if write.on_a_pull else 0
    home.hub.faults.before(Fault(502), write.where, times=5)
    before = len(home.hub.exchanges)
    with pytest.raises(ForgeUnavailable):
        write.call(home.forge, branch, number, sha)
    assert sum(exchange.fault is not None for exchange in home.hub.exchanges[before:]) == 1


# --- a server that never ends --------------------------------------------------------------------------------


@contextmanager
def trickling() -> Iterator[str]:
    """A server that begins its answer and never ends it: no pause is long enough for a socket's timeout."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while not stop.is_set():
                try:
                    line, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=trickle, args=(line,), daemon=True).start()

        def trickle(line: socket.socket) -> None:
            with line:
                line.recv(65536)
                line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                while not stop.wait(0.05):
                    try:
                        line.sendall(b" ")
                    except OSError:
                        return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        stop.set()
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_an_answer_that_never_ends_does_not_hold_us_up(home: GitHubHome) -> None:
    with trickling() as url:
        forge = home.opened(url=url, patience=0.5)
        for _ in range(3):
            with in_time(), pytest.raises(ForgeUnavailable, match="did not answer"):
                forge.whoami()


def test_nobody_at_home_is_said_at_once(home: GitHubHome) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
    with in_time(), pytest.raises(ForgeUnavailable, match="cannot be reached"):
        home.opened(url=url).whoami()


# --- how many calls ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("one_account", [True, False])
def test_a_whole_task_takes_at_most_thirty_calls(tmp_path: Path, one_account: bool) -> None:
    with LocalGitHub(tmp_path / "hub") as hub:
        home = GitHubHome(hub, one_account=one_account)
        sha, forge = home.push("task"), home.forge
        for _ in range(2):
            number = forge.ensure_pull("task", "main", "T", "B", ["agents"], draft=True).number
        forge.ensure_comment(number, "plan", "words")
        forge.diff(number)
        forge.review(number, "approve", "words", sha)
        forge.checks(sha)
        forge.ready(number)
        forge.merge(number, sha)
        forge.delete_branch("task")
        assert len(hub.exchanges) <= 30
        assert home.tip("task") == ""
