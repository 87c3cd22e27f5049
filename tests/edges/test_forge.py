"""LocalForge keeps the forge's contract, and a few promises of its own; and the words that all homes share."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.trace import counting
from sisimpur.shared.forge.forge import (
    FORGE_PROBLEMS,
    MAX_BODY,
    MAX_TITLE,
    Forge,
    ForgeRefused,
    MergeMethod,
    Pull,
    PullNotReady,
    RateLimited,
    clipped,
    key_of,
    marked,
    marker,
    task_of,
)
from sisimpur.shared.forge.local_forge import LocalForge
from sisimpur.shared.forge.local_forge_book import LocalForgeRepository, readable_uri
from sisimpur.shared.forge.local_forge_git import Commits, create, follow
from sisimpur.shared.model.errors import (
    ForgeUnavailable,
    Misconfigured,
    Refused,
    Stumble,
    TeamError,
    Unavailable,
)
from sisimpur.shared.model.text import one_line
from sisimpur.shared.repo.git import Remote, git
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.process import run
from tests import repositories
from tests.edges.forge_contract import EFFECTS, ForgeContract, ForgeHome, commit, length, together
from tests.killing import finishes, killed_at, points, snippet

NOW = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
OPENING = """
from datetime import UTC, datetime
from pathlib import Path
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.forge.local_forge import LocalForge
forge = LocalForge(Path({path!r}), ManualClock(datetime(2026, 11, 20, 8, 30, tzinfo=UTC)))
"""


class LocalHome(ForgeHome):
    forge: LocalForge

    def __init__(self, path: Path) -> None:
        self.repository = path
        create(path, None, "main")
        commit(path, "main", {"README": "read me\n"})
        self.forge = LocalForge(path, ManualClock(NOW))

    def opened(self) -> LocalForge:
        return LocalForge(self.repository, ManualClock(NOW))

    def opening(self) -> str:
        return OPENING.format(path=str(self.repository))

    def require(self, context: str) -> None:
        self.forge = LocalForge(self.repository, ManualClock(NOW), required=[context])

    def add_issue(self, title: str, labels: list[str]) -> int:
        with self.forge._book.transaction() as db:
            done = db.execute("insert into item (kind, title, body, author) values ('issue', ?, '', 'owner')", (title,))
            self.forge._book.label(db, done.lastrowid or 0, labels)
        return done.lastrowid or 0

    def says(self, author: str, number: int, text: str) -> None:
        key = f"by hand {len(self.forge.comments(number))}"
        with self.forge._book.transaction() as db:
            self.forge._book.comment(db, number, key, author, text, NOW)


@pytest.fixture
def home(tmp_path: Path) -> LocalHome:
    return LocalHome(tmp_path / "a forge.git")


class TestLocalForge(ForgeContract):
    """The contract, with the fixture above."""


def pull_of(home: LocalHome, branch: str) -> tuple[int, str]:
    sha = home.push(branch)
    return home.forge.ensure_pull(branch, "main", "T", "B").number, sha


# --- making one ----------------------------------------------------------------------------------------------


def test_it_keeps_the_protocol(home: LocalHome) -> None:
    forge: Forge = home.forge
    assert forge.whoami() == "sisimpur"


def test_an_empty_one_waits_for_the_first_push(tmp_path: Path) -> None:
    create(tmp_path / "forge.git", None, "trunk")
    assert git(tmp_path / "forge.git", "symbolic-ref", "HEAD") == b"refs/heads/trunk\n"
    assert LocalForge(tmp_path / "forge.git", ManualClock(NOW)).list_pulls(every=True) == []


def test_a_seeded_one_begins_at_the_commit_of_its_source_and_goes_its_own_way(tmp_path: Path) -> None:
    source, path = tmp_path / "source.git", tmp_path / "forge.git"
    git(source, "init", "--quiet", "--bare")
    first = commit(source, "main", {"a": "1\n"})
    create(path, source, "main")
    assert Commits(path).branches() == {"main": first}
    ours = commit(path, "main", {"a": "2\n"}, "refs/heads/main")
    commit(source, "main", {"a": "3\n"}, "refs/heads/main")
    create(path, source, "main")
    assert Commits(path).branches() == {"main": ours}


def test_what_others_push_is_synced_and_nothing_is_tidied_behind_our_back(tmp_path: Path) -> None:
    path = tmp_path / "forge.git"
    create(path, None, "main")
    with counting() as trace:
        create(path, None, "main")
    assert trace.git == 0  # it was set up before
    settings = [
        git(path, "config", "--file", str(path / "config"), name)
        for name in ("core.fsync", "gc.auto", "receive.autogc")
    ]
    assert settings == [b"all\n", b"0\n", b"false\n"]


def test_a_creation_that_was_killed_is_repeated(tmp_path: Path) -> None:
    source = tmp_path / "source.git"
    git(source, "init", "--quiet", "--bare")
    first = commit(source, "main", {"a": "1\n"})

    def program(path: Path) -> list[str]:
        code = "import sys; from pathlib import Path; from sisimpur.shared.forge.local_forge_git import create"
        return snippet(f"{code}; create(Path(sys.argv[1]), Path(sys.argv[2]), 'main')", str(path), str(source))

    for number, _ in enumerate(points(program(tmp_path / "clean.git")), 1):
        path = tmp_path / f"killed-{number}.git"
        killed_at(number, program(path))
        finishes(program(path))
        assert LocalForge(path, ManualClock(NOW)).list_pulls() == []
        assert Commits(path).branches() == {"main": first}


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        pytest.param("/home/me/forge", "file:///home/me/forge", id="plain"),
        pytest.param("/home/আমার দোকান", "file:///home/আমার%20দোকান", id="letters of another alphabet"),
        pytest.param("/home/a\u202eb\n#\udcff", "file:///home/a%E2%80%AEb%0A%23%FF", id="what does not print"),
    ],
)
def test_the_address_of_a_pull_request_reads_as_its_owner_wrote_it(path: str, shown: str) -> None:
    assert readable_uri(Path(path)) == shown


def test_where_nothing_was_made_the_owner_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="no local forge"):
        LocalForge(tmp_path / "nothing.git", ManualClock(NOW))


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        pytest.param(lambda file: file.write_bytes(b"not a database " * 100), ForgeRefused, id="damaged"),
        pytest.param(lambda file: file.mkdir(), ForgeUnavailable, id="cannot be opened"),
    ],
)
def test_a_spoilt_database_is_named(home: LocalHome, spoil: Callable[[Path], object], error: type[TeamError]) -> None:
    home.forge.list_pulls()
    for file in home.repository.glob("forge.db*"):
        file.unlink()
    spoil(home.repository / "forge.db")
    with pytest.raises(error, match=r"forge\.db"):
        LocalForge(home.repository, ManualClock(NOW))


def test_a_book_of_the_first_days_learns_when_something_was_said(home: LocalHome) -> None:
    number, sha = pull_of(home, "task")
    home.forge.ensure_comment(number, "plan", "old")
    home.forge.review(number, "approve", "old", sha)
    with sqlite3.connect(home.repository / "forge.db") as db:
        for table in ("comment", "review"):
            db.execute(f"alter table {table} drop column at")
    db.close()
    forge = home.opened()
    home.opened().ensure_comment(number, "log", "new")
    assert [(said.ours, said.at.year) for said in forge.comments(number)] == [(True, 1970), (True, 1970), (True, 2026)]


# --- plain git from outside ----------------------------------------------------------------------------------


def outside(folder: Path, *arguments: str) -> str:
    """Git as a person types it."""
    who = {f"GIT_{role}_{part}": "a@localhost" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C", **who}
    done = run(["git", "-C", str(folder), *arguments], env=env, timeout=30)
    assert done.ok, done.complaint
    return done.text.strip()


def test_a_clone_shows_the_branches_and_may_push(home: LocalHome, tmp_path: Path) -> None:
    number, sha = pull_of(home, "task")
    outside(tmp_path, "clone", "--quiet", str(home.repository), "work")
    work = tmp_path / "work"
    assert outside(work, "rev-parse", "origin/task") == sha
    outside(work, "checkout", "--quiet", "task")
    outside(work, "commit", "--quiet", "--allow-empty", "-m", "by hand")
    outside(work, "push", "--quiet", "origin", "task")
    assert home.forge.get_pull(number).head_sha == outside(work, "rev-parse", "HEAD")
    merged = home.forge.merge(number, home.forge.get_pull(number).head_sha)
    outside(work, "fetch", "--quiet")
    assert outside(work, "rev-parse", "origin/main") == merged


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(lambda forge, number, sha: forge.close(number), id="closed"),
        pytest.param(lambda forge, number, sha: forge.merge(number, sha), id="merged"),
        pytest.param(lambda forge, number, sha: None, id="open"),
    ],
)
def test_its_commit_can_be_fetched_after_its_branch_is_gone(
    home: LocalHome, tmp_path: Path, end: Callable[[LocalForge, int, str], object]
) -> None:
    number, _ = pull_of(home, "task")
    sha = home.push("task", {"task.txt": "pushed later\n"})
    end(home.forge, number, sha)
    home.forge.delete_branch("task")
    git(home.repository, "gc", "--quiet", "--prune=now")
    outside(tmp_path, "clone", "--quiet", str(home.repository), "work")
    outside(tmp_path / "work", "fetch", "--quiet", "origin", f"refs/pull/{number}/head")
    assert outside(tmp_path / "work", "rev-parse", "FETCH_HEAD") == sha
    assert "pushed later" in home.forge.diff(number)


def test_a_commit_that_was_proposed_is_kept_also_if_nobody_looked_before_its_branch_went(home: LocalHome) -> None:
    number, sha = pull_of(home, "task")
    git(home.repository, "update-ref", "-d", "refs/heads/task")
    git(home.repository, "gc", "--quiet", "--prune=now")
    assert home.forge.get_pull(number).head_sha == sha
    assert "task.txt" in home.forge.diff(number)


def test_a_branch_that_the_owner_deleted_closes_its_pull_request(home: LocalHome) -> None:
    number, sha = pull_of(home, "task")
    git(home.repository, "update-ref", "-d", "refs/heads/task")
    pull = home.forge.get_pull(number)
    assert (pull.state, pull.head_sha) == ("closed", sha)
    home.push("task", {"task.txt": "again\n"})
    assert home.forge.get_pull(number).state == "closed"


def test_what_the_owner_merged_by_hand_is_not_merged_again(home: LocalHome) -> None:
    number, sha = pull_of(home, "task")
    git(home.repository, "update-ref", "refs/heads/main", sha)
    assert home.forge.merge(number, sha) == sha == home.tip("main")
    assert home.forge.get_pull(number).state == "merged"


def test_with_one_account_a_verdict_is_not_formal_but_sets_the_status(home: LocalHome) -> None:
    number, sha = pull_of(home, "task")
    alone = LocalForge(home.repository, ManualClock(NOW), reviewer="sisimpur")
    assert not alone.review(number, "approve", "ok", sha).formal
    assert alone.review(number, "comment", "ok", sha).formal
    assert [review.formal for review in alone.reviews(number)] == [False, True]


def test_a_merge_moves_the_branch_and_keeps_the_pull_request_in_one_step(home: LocalHome) -> None:
    number, _ = pull_of(home, "task")
    sha = home.push("task", {"a": "newer\n"})  # as after a rebase: the commit that was kept is another one
    with counting() as trace:
        home.forge.merge(number, sha)
    assert [verb for verb, _ in trace.calls.elements()].count("update-ref") == 1
    assert git(home.repository, "rev-parse", f"refs/pull/{number}/head").decode().strip() == sha


def test_a_merge_is_dated_by_our_clock(home: LocalHome) -> None:
    number, sha = pull_of(home, "task")
    home.forge.merge(number, sha)
    shown = git(home.repository, "show", "-s", "--format=%cI %an %s", "main").decode().strip()
    assert shown == f"2026-11-20T08:30:00+00:00 sisimpur T (#{number})"


# --- a merge and its enemies ---------------------------------------------------------------------------------


def killed_in_a_merge(home: LocalHome, point: str) -> tuple[int, str]:
    program, _ = EFFECTS["a merge"].prepare(home, "task")
    killed_at(point, program)
    return int(program[-2]), program[-1]


@pytest.mark.parametrize(
    ("point", "state"),
    [
        pytest.param("merge.written", "open", id="only the commit was written"),
        pytest.param("merge.planned", "open", id="only planned"),
        pytest.param("merge.moved", "merged", id="the base has moved"),
        pytest.param("merge.kept", "merged", id="everything but the record"),
    ],
)
def test_after_a_kill_the_next_look_tells_the_truth(home: LocalHome, point: str, state: str) -> None:
    number, _ = killed_in_a_merge(home, point)
    assert home.forge.get_pull(number).state == state
    assert [pull.state for pull in home.forge.list_pulls(every=True)] == [state]
    home.forge.close(number)
    home.forge.delete_branch("task")
    assert home.forge.get_pull(number).state == ("merged" if state == "merged" else "closed")


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda forge, number: forge.close(number), id="close"),
        pytest.param(lambda forge, number: forge.delete_branch("task"), id="delete_branch"),
        pytest.param(lambda forge, number: forge.ensure_pull("task", "main", "T", "B"), id="ensure_pull"),
        pytest.param(lambda forge, number: forge.find_pull("task", "main"), id="find_pull"),
        pytest.param(lambda forge, number: forge.diff(number), id="diff"),
    ],
)
def test_whoever_calls_first_after_a_kill_marks_the_merge(
    home: LocalHome, call: Callable[[LocalForge, int], object]
) -> None:
    number, _ = killed_in_a_merge(home, "merge.moved")
    call(home.forge, number)
    shown = LocalForgeRepository(home.repository / "forge.db", "").pull(number)
    assert (shown.state, shown.merge_sha) == ("merged", home.tip("main"))


def test_a_move_that_outlives_its_dead_starter_is_taken_for_the_merge(home: LocalHome) -> None:
    number, sha = killed_in_a_merge(home, "merge.planned")
    (plan,) = LocalForgeRepository(home.repository / "forge.db", "").open_plans()
    assert home.forge.get_pull(number).state == "open"  # looked too early: it had not happened yet
    before = length(home)
    Commits(home.repository).move("main", plan.merge_sha, plan.base_sha)
    assert home.forge.merge(number, sha) == plan.merge_sha == home.tip("main")
    assert length(home) == before + 1


def test_a_planned_commit_that_was_swept_away_is_planned_anew(home: LocalHome) -> None:
    number, sha = killed_in_a_merge(home, "merge.planned")
    git(home.repository, "prune", "--expire=now")
    assert home.forge.get_pull(number).state == "open"
    assert home.forge.merge(number, sha) == home.tip("main")


def test_the_base_moves_only_from_where_it_was_seen(home: LocalHome) -> None:
    commits, seen = Commits(home.repository), home.tip("main")
    theirs, ours = home.push("main", {"theirs.txt": "t\n"}), home.push("task")
    with pytest.raises(ForgeUnavailable, match="main has moved"):
        commits.move("main", ours, seen)
    assert home.tip("main") == theirs


def test_four_processes_merge_four_pull_requests_each_once(home: LocalHome) -> None:
    pulls = [pull_of(home, f"task-{number}") for number in range(4)]
    before = length(home)
    merged = together(home, [f"print(forge.merge({number}, '{sha}'))" for number, sha in pulls])
    assert len(set(merged)) == 4
    assert length(home) == before + 4
    assert home.forge.list_pulls() == []


def test_the_database_itself_refuses_a_second_open_one(home: LocalHome) -> None:
    book = LocalForgeRepository(home.repository / "forge.db", "")
    pull = Pull(0, "T", "B", "task", "main", home.push("task"), "open", False, frozenset(), "sisimpur", "")
    with pytest.raises(sqlite3.IntegrityError), book.transaction() as db:
        book.add_pull(db, pull)
        book.add_pull(db, pull)
    assert book.pulls(every=True) == []


# --- only what is up to date ---------------------------------------------------------------------------------


def strict(home: LocalHome, clock: ManualClock | None = None) -> LocalForge:
    return LocalForge(home.repository, clock or ManualClock(NOW), up_to_date=True)


@pytest.mark.parametrize("method", ["squash", "merge"])
def test_the_merged_files_are_exactly_the_tested_ones(home: LocalHome, method: MergeMethod) -> None:
    number, sha = pull_of(home, "task")
    merged = strict(home).merge(number, sha, method)
    assert Commits(home.repository).tree_of(merged) == Commits(home.repository).tree_of(sha)
    assert merged == home.tip("main") != sha


def test_what_is_behind_its_base_is_refused_until_it_is_brought_up_to_date(home: LocalHome) -> None:
    number, sha = pull_of(home, "task")
    theirs = home.push("main", {"theirs.txt": "t\n"})
    with pytest.raises(
        PullNotReady,
        match=f"#{number} is behind main; bring it up to date",
        check=lambda error: error.kind == "conflict",
    ):
        strict(home).merge(number, sha)
    assert (home.tip("main"), home.forge.get_pull(number).state) == (theirs, "open")
    again = home.push("task")
    assert strict(home).merge(number, again) == home.tip("main")


class Moving(ManualClock):
    """Somebody pushes to main while we look at the clock: after the base was seen, before it moves."""

    def __init__(self, home: LocalHome) -> None:
        super().__init__(NOW)
        self.home = home
        self.theirs = ""

    def now(self) -> datetime:
        self.theirs = self.theirs or self.home.push("main", {"theirs.txt": "t\n"})
        return super().now()


def test_a_base_that_moves_during_the_merge_is_not_merged_with_untested(home: LocalHome) -> None:
    number, sha = pull_of(home, "task")
    clock = Moving(home)
    forge = strict(home, clock)
    with pytest.raises(ForgeUnavailable, match="main has moved"):
        forge.merge(number, sha)
    assert home.tip("main") == clock.theirs
    with pytest.raises(PullNotReady, match="behind", check=lambda error: error.kind == "conflict"):
        forge.merge(number, sha)
    assert (home.tip("main"), forge.get_pull(number).state) == (clock.theirs, "open")


def test_a_merge_that_was_killed_before_the_base_moved_is_looked_at_anew(home: LocalHome) -> None:
    number, sha = killed_in_a_merge(home, "merge.planned")
    theirs = home.push("main", {"theirs.txt": "t\n"})
    with pytest.raises(PullNotReady, match="behind", check=lambda error: error.kind == "conflict"):
        strict(home).merge(number, sha)
    assert home.tip("main") == theirs


def test_a_merge_that_was_killed_after_the_base_moved_is_found(home: LocalHome) -> None:
    number, sha = killed_in_a_merge(home, "merge.moved")
    merged = home.tip("main")
    home.push("main", {"theirs.txt": "t\n"})
    assert strict(home).merge(number, sha) == merged


# --- following the owner -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Owner:
    """His repository with main, and a forge that follows it."""

    folder: Path
    forge: Path

    @classmethod
    def begin(cls, place: Path) -> Owner:
        owner = cls(place / "his own", place / "a forge.git")
        repositories.repository(owner.folder, {"a": "a\n", "b": "b\n"})
        create(owner.forge, None, "main")
        owner.follow()
        return owner

    def follow(self) -> str:
        """Where the forge's main is then."""
        follow(Commits(self.forge), Remote(str(self.folder)), "main")
        return Commits(self.forge).branches()["main"]

    def commits(self, **files: str) -> str:
        return repositories.commit(self.folder, dict(files))

    def types(self, command: str) -> str:
        return repositories.shell(command, self.folder)

    def merged(self, **files: str) -> str:
        """The team merges a change into the forge's main."""
        forge = LocalForge(self.forge, ManualClock(NOW), up_to_date=True)
        sha = commit(self.forge, "task", files, "refs/heads/main")
        merged = forge.merge(forge.ensure_pull("task", "main", "T", "B").number, sha)
        forge.delete_branch("task")
        return merged

    def seen(self, *names: str) -> list[str]:
        """Those files as the forge's main has them."""
        return [git(self.forge, "show", f"main:{name}").decode() for name in names]


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner.begin(tmp_path)


def test_what_the_owner_commits_comes_in(owner: Owner) -> None:
    for text in ("1\n", "2\n"):
        assert owner.commits(a=text) == owner.follow() == owner.follow()


def test_what_was_merged_here_stays_while_the_owner_does_nothing(owner: Owner) -> None:
    merged = owner.merged(a="ours\n")
    assert owner.follow() == owner.follow() == merged


def test_a_pull_that_is_behind_the_merges_meanwhile_moves_nothing(owner: Owner) -> None:
    owner.merged(a="ours\n")
    owner.types(f"git pull -q --ff-only '{owner.forge}' main")
    merged = owner.merged(a="ours again\n")
    assert owner.follow() == owner.follow() == merged


def test_what_both_did_is_merged_once_and_the_owners_pull_is_a_fast_forward(owner: Owner) -> None:
    ours, theirs = owner.merged(a="ours\n"), owner.commits(b="theirs\n")
    both = owner.follow()
    assert owner.seen("a", "b") == ["ours\n", "theirs\n"]
    shown = git(owner.forge, "show", "-s", "--format=%P|%an|%cn|%s", both).decode().strip()
    assert shown == f"{ours} {theirs}|sisimpur|sisimpur|Merge the owner's main"
    assert owner.follow() == both
    owner.types(f"git pull -q --ff-only '{owner.forge}' main")
    assert owner.types("git rev-parse HEAD") == both == owner.follow()


def test_both_go_on_for_days_without_a_pull(owner: Owner) -> None:
    for day in range(3):
        owner.merged(a=f"ours {day}\n")
        owner.commits(b=f"theirs {day}\n", **{f"new{day}": "n\n"})
        both = owner.follow()
        assert owner.follow() == both
        assert owner.seen("a", "b") == [f"ours {day}\n", f"theirs {day}\n"]
    assert git(owner.forge, "rev-list", "--count", "--merges", "main") == b"3\n"


@pytest.mark.parametrize("date", ["1 +0000", "99999999999999 +0000"])
def test_a_merge_survives_the_owners_clock(owner: Owner, date: str) -> None:
    owner.merged(a="ours\n")
    owner.commits(b="theirs\n")
    odd = owner.types("git cat-file commit HEAD").replace("t@t", "t <t@t>").splitlines()
    text = "\n".join(f"{line.rsplit('> ', 1)[0]}> {date}" if line.startswith("committer") else line for line in odd)
    (owner.folder / ".git/odd").write_text(text + "\n")
    owner.types("git reset -q --hard $(git hash-object -t commit -w --literally .git/odd)")
    assert owner.follow() == owner.follow()
    assert owner.seen("a", "b") == ["ours\n", "theirs\n"]


def test_a_conflict_says_what_to_type_and_typing_it_helps(owner: Owner) -> None:
    ours, theirs = owner.merged(a="ours\n"), owner.commits(a="theirs\n")
    for _ in range(2):
        with pytest.raises(PullNotReady, match="conflicts in a; in your repository type: git pull --no-rebase") as told:
            owner.follow()
        assert Commits(owner.forge).branches() == {"main": ours}
    command = str(told.value).split("type: ")[1].split(";")[0]
    owner.types(f"{command} || echo both > a; git commit -qam resolved")
    assert owner.follow() == owner.types("git rev-parse HEAD")
    assert owner.seen("a") == ["both\n"]
    assert theirs != ours


AMENDED = "echo other > b; git commit -qa --amend -m other"
TAKEN_BACK = "git reset -q --hard HEAD~1"
BEGUN_ANEW = "git checkout -q --orphan new; git commit -qm new; git branch -M new main"
REWRITTEN = [
    pytest.param(AMENDED, id="amended"),
    pytest.param(TAKEN_BACK, id="taken back"),
    pytest.param(BEGUN_ANEW, id="begun anew"),
]


@pytest.mark.parametrize("rewrite", REWRITTEN)
def test_what_the_owner_rewrites_is_followed_if_nothing_was_merged_on_top(owner: Owner, rewrite: str) -> None:
    owner.commits(b="secret\n")
    owner.follow()
    owner.types(rewrite)
    assert owner.follow() == owner.types("git rev-parse HEAD") == owner.follow()
    owner.merged(a="ours\n")
    owner.commits(c="c\n")
    owner.follow()
    assert owner.seen("a", "c") == ["ours\n", "c\n"]


@pytest.mark.parametrize("rewrite", REWRITTEN)
def test_what_was_merged_on_top_is_neither_dropped_nor_does_it_bring_back(owner: Owner, rewrite: str) -> None:
    owner.commits(b="secret\n")
    owner.follow()
    merged = owner.merged(a="ours\n")
    owner.types(rewrite)
    for _ in range(2):
        with pytest.raises(PullNotReady, match="commits were taken back there that ours are on top of") as told:
            owner.follow()
        assert Commits(owner.forge).branches() == {"main": merged}
    owner.types(str(told.value).split("type there: ")[1].split(")")[0])
    assert owner.follow() == owner.types("git rev-parse HEAD") != merged
    owner.commits(c="c\n")
    assert owner.follow() == owner.types("git rev-parse HEAD")


def test_histories_without_a_common_commit_are_the_owners_to_join(tmp_path: Path) -> None:
    owner = Owner(tmp_path / "his own", tmp_path / "a forge.git")
    repositories.repository(owner.folder, {"a": "a\n"})
    create(owner.forge, None, "main")
    ours = commit(owner.forge, "main", {"x": "x\n"})
    with pytest.raises(PullNotReady, match="git push --force"):
        owner.follow()
    assert Commits(owner.forge).branches() == {"main": ours}


FOLLOW = """
    import sys
    from pathlib import Path
    from sisimpur.shared.forge.local_forge_git import Commits, follow
    from sisimpur.shared.repo.git import Remote

    follow(Commits(Path(sys.argv[1])), Remote(sys.argv[2]), "main")
"""


def both_went_on(place: Path) -> tuple[Owner, list[str]]:
    """The scene of a merge, and the program that makes it."""
    owner = Owner.begin(place)
    owner.merged(a="ours\n")
    owner.commits(b="theirs\n")
    return owner, snippet(FOLLOW, str(owner.forge), str(owner.folder))


def test_following_is_killed_anywhere_and_repeated_and_merges_once(tmp_path: Path) -> None:
    _, program = both_went_on(tmp_path / "clean")
    passed = points(program)
    assert passed == ["follow.written", "forge.followed"]
    for number, name in enumerate(passed, 1):
        owner, program = both_went_on(tmp_path / name)
        killed_at(number, program)
        both = owner.follow()
        assert owner.follow() == both
        assert git(owner.forge, "rev-list", "--count", "--merges", "main") == b"1\n"
        assert owner.seen("a", "b") == ["ours\n", "theirs\n"]


def test_four_processes_that_follow_at_once_merge_once(tmp_path: Path) -> None:
    owner, program = both_went_on(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(finishes, [program] * 4))
    assert git(owner.forge, "rev-list", "--count", "--merges", "main") == b"1\n"


def test_the_branch_follows_only_from_where_it_was_seen(owner: Owner) -> None:
    commits, seen = Commits(owner.forge), owner.follow()
    ours, theirs = owner.merged(a="ours\n"), owner.commits(b="theirs\n")
    git(owner.forge, "fetch", "-q", str(owner.folder), "main", remote=Remote(str(owner.folder)))
    both = commits.merge(ours, theirs, "M", "sisimpur")
    for expected in (seen, None):
        with pytest.raises(ForgeUnavailable, match="main has moved"):
            commits.move("main", both, expected, {"refs/taken/main": theirs})
    assert (commits.branches()["main"], commits.followed("main")[1]) == (ours, seen)
    commits.move("main", both, ours, {"refs/taken/main": theirs})
    assert (commits.branches()["main"], commits.followed("main")[1]) == (both, theirs)


# --- speed ---------------------------------------------------------------------------------------------------


def test_five_hundred_pull_requests_are_listed_in_less_than_a_third_of_a_second(home: LocalHome) -> None:
    main, names = home.tip("main"), [f"task-{number}" for number in range(500)]
    git(
        home.repository,
        "update-ref",
        "--stdin",
        data="".join(f"create refs/heads/{n} {main}\n" for n in names).encode(),
    )
    book = LocalForgeRepository(home.repository / "forge.db", "")
    with book.transaction() as db:
        for name in names:
            pull = Pull(0, "T", "B" * 1000, name, "main", main, "open", False, frozenset(), "sisimpur", "")
            book.label(db, book.add_pull(db, pull), ["agents", "x"])
    began = time.process_time()
    assert len(home.forge.list_pulls(every=True)) == 500
    assert time.process_time() - began < 0.3


def test_the_database_waits_for_the_disk(home: LocalHome) -> None:
    book = LocalForgeRepository(home.repository / "forge.db", "")
    assert [tuple(row) for row in book.rows("pragma synchronous")] == [(2,)]
    with sqlite3.connect(home.repository / "forge.db") as db:
        assert db.execute("pragma journal_mode").fetchone() == ("wal",)
    db.close()


# --- words ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "what_happens_next"),
    [
        (PullNotReady("x", "moved"), TeamError),
        (PullNotReady("x", "blocked"), TeamError),
        (PullNotReady("x", "conflict"), TeamError),
        (ForgeRefused("x"), Refused),
        (RateLimited(60), Stumble),
        (ForgeUnavailable("x"), Unavailable),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_errors_are_named_by_what_happens_next(error: TeamError, what_happens_next: type[TeamError]) -> None:
    assert isinstance(error, FORGE_PROBLEMS)
    assert isinstance(error, what_happens_next)


def test_a_rate_limit_says_how_long() -> None:
    assert RateLimited(61.5).wait == 61.5
    assert "62 s" in str(RateLimited(61.5))


@given(st.text(st.characters(), max_size=300))
def test_no_text_can_forge_or_hide_a_marker(text: str) -> None:
    for hostile in (text, marker("other") + text, f"\n{marker('other')}{text}"):
        body = marked("7-x:pr", hostile)
        assert key_of(body) == "7-x:pr"
        assert body.count(marker("x")[:17]) == 1


@given(st.text(st.characters(), max_size=60), st.integers(min_value=20, max_value=40))
def test_clipped_text_fits_and_can_be_written(text: str, limit: int) -> None:
    for fitted in (clipped(text, limit), one_line(text, limit)):
        assert len(fitted) <= limit
        assert "\0" not in fitted.encode().decode()
    assert one_line(text, limit).isprintable()


def test_short_text_stays_as_it_is() -> None:
    assert clipped("  a\n\n b \n") == "  a\n\n b \n"
    assert one_line("Añade «x»") == "Añade «x»"
    assert len(one_line("x" * 1000, MAX_TITLE)) == MAX_TITLE
    assert len(marked("k", "x" * 100_000)) == MAX_BODY


@pytest.mark.parametrize("key", ["", "a b", "a-->", "-a", "a\n", "x" * 201])
def test_a_key_that_could_break_out_of_its_marker_is_refused(key: str) -> None:
    with pytest.raises(ForgeRefused, match="not a key"):
        marker(key)


@pytest.mark.parametrize(
    ("body", "author", "task"),
    [
        pytest.param(marked("7-x:pr", "B"), "us", "7-x", id="ours"),
        pytest.param(marked("7-x:pr", "B"), "stranger", "", id="a stranger copied it"),
        pytest.param(f"B {marker('7-x:pr')}", "us", "", id="not at the start"),
        pytest.param(marked("7-x:plan", "B"), "us", "", id="marks something else"),
        pytest.param("B", "us", "", id="no marker"),
    ],
)
def test_a_task_is_believed_only_in_our_own_marker(body: str, author: str, task: str) -> None:
    pull = Pull(1, "T", body, "task", "main", "0" * 40, "open", False, frozenset(), author, "")
    assert task_of(pull, "us") == task
