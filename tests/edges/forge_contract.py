"""What every home of the forge protocol keeps. A test file gives its home as the fixture `home`:

class TestMyForge(ForgeContract):
    @pytest.fixture
    def home(self, tmp_path: Path) -> ForgeHome: ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import pytest

from sisimpur.shared.forge.forge import (
    MAX_BODY,
    MAX_TITLE,
    REVIEW_CONTEXT,
    CheckResult,
    Forge,
    ForgeRefused,
    MergeMethod,
    PullNotReady,
    Verdict,
    key_of,
    marked,
    marker,
    task_of,
)
from sisimpur.shared.repo.git import git, try_git
from tests.killing import finishes, killed_at, points, snippet

NOBODY = "0" * 40
WORDS = 3  # of an effect: branch, number, commit


class ForgeHome(ABC):
    """A forge whose branch `main` holds a README, somebody who pushes to it, and a look from behind."""

    forge: Forge
    repository: Path  # the bare repository behind the forge
    one_account = False  # the author of pull requests is also the reviewer

    @abstractmethod
    def opening(self) -> str:
        """Lines of Python that bind `forge` to this forge in another process."""

    @abstractmethod
    def opened(self) -> Forge:
        """This forge once more, as a process that was started again has it: without memory."""

    @abstractmethod
    def require(self, context: str) -> None:
        """From now on `self.forge` merges into main only with this status."""

    @abstractmethod
    def add_issue(self, title: str, labels: list[str]) -> int: ...

    @abstractmethod
    def says(self, author: str, number: int, text: str) -> None:
        """Somebody who is none of our accounts, or who is: then he typed it by hand."""

    def remarks(self, author: str, number: int, text: str, path: str, line: int) -> bool:
        """At a line of the change; False: this forge has no such remarks."""
        return False

    def environment(self) -> Mapping[str, str]:
        """What another process needs beside our variables."""
        return {}

    def push(self, branch: str, files: Mapping[str, str] | None = None, start: str = "refs/heads/main") -> str:
        """The branch becomes one commit on top of `start`; without `files` one file of its own."""
        return commit(self.repository, branch, files or {f"{branch}.txt": "x\n"}, start)

    def tip(self, branch: str) -> str:
        """The branch's commit; empty if there is none."""
        return try_git(self.repository, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}").text.strip()

    def program(self, call: str, *arguments: str) -> list[str]:
        """Another process that makes one call; `arguments` are its `words`."""
        return snippet(f"import sys\n{self.opening()}\nwords = sys.argv[1:]\n{call}\n", *arguments)

    def repeat(self, call: str, words: Sequence[str]) -> None:
        """The same call, made here."""
        exec(call, {"forge": self.opened(), "words": words})


def commit(repository: Path, branch: str, files: Mapping[str, str], start: str = "") -> str:
    """One commit on top of `start` (empty: a history of its own); `branch` moves to it by force."""
    lines = [f"commit refs/heads/{branch}", "committer A <a@localhost> 1760000000 +0000", "data 5", "work", ""]
    if start:
        lines.append(f"from {git(repository, 'rev-parse', start).decode().strip()}")
    for name, text in files.items():
        lines += [f"M 100644 inline {name}", f"data {len(text.encode())}", text]
    git(repository, "fast-import", "--quiet", "--force", data="\n".join([*lines, ""]).encode())
    return git(repository, "rev-parse", f"refs/heads/{branch}").decode().strip()


@dataclass(frozen=True)
class Effect:
    """A call for the kill tests, as another process makes it with the words branch, number, commit."""

    call: str
    on_a_pull: bool = True
    is_draft: bool = False

    def prepare(self, home: ForgeHome, branch: str) -> tuple[list[str], int]:
        """Its program for a scene of its own, and how long main's history is before it."""
        sha = home.push(branch)
        number = home.forge.ensure_pull(branch, "main", "T", "B", draft=self.is_draft).number if self.on_a_pull else 0
        return home.program(self.call, branch, str(number), sha), length(home)


EFFECTS = {
    "a pull request": Effect("forge.ensure_pull(words[0], 'main', 'T', 'B', ['agents'])", on_a_pull=False),
    "a draft": Effect("forge.ensure_pull(words[0], 'main', 'T', 'B', ['agents'], draft=True)", on_a_pull=False),
    "no draft any more": Effect("forge.ready(int(words[1]))", is_draft=True),
    "a comment": Effect("forge.ensure_comment(int(words[1]), 'plan', 'text')"),
    "a review": Effect("forge.review(int(words[1]), 'approve', 'ok', words[2])"),
    "a merge": Effect("forge.merge(int(words[1]), words[2])"),
    "a merge in our words": Effect("forge.merge(int(words[1]), words[2], message='fix: it\\n\\nTask: 7')"),
    "a merge commit": Effect("forge.merge(int(words[1]), words[2], 'merge')"),
    "a closing": Effect("forge.close(int(words[1]))"),
    "a deleted branch": Effect("forge.delete_branch(words[0])"),
}


def length(home: ForgeHome) -> int:
    return int(git(home.repository, "rev-list", "--count", "--first-parent", "refs/heads/main"))


def outcome(home: ForgeHome, branch: str, before: int) -> list[object]:
    """All that can be seen of a scene, in words that are the same for every branch."""
    seen: list[object] = [bool(home.tip(branch)), length(home) - before]
    for pull in home.forge.list_pulls(every=True):
        if pull.head == branch:
            comments = bodies(home, pull.number)
            reviews = [(r.verdict, r.sha == pull.head_sha) for r in home.forge.reviews(pull.number)]
            checks = dict(home.forge.checks(pull.head_sha).items)
            seen.append((pull.state, pull.title, pull.draft, sorted(pull.labels), comments, reviews, checks))
    return seen


def bodies(home: ForgeHome, number: int) -> list[str]:
    """Of our own comments; reviews are told of by themselves."""
    return [said.body for said in home.forge.comments(number) if said.ours and said.verdict is None]


class ForgeContract:
    # --- pull requests ---------------------------------------------------------------------------------------

    def test_a_pull_request_says_what_it_is(self, home: ForgeHome) -> None:
        sha = home.push("task")
        made = home.forge.ensure_pull("task", "main", "T", "B", ["agents"])
        pull = home.forge.get_pull(made.number)
        assert (pull.title, pull.body, pull.head, pull.base, pull.head_sha) == ("T", "B", "task", "main", sha)
        assert (pull.state, pull.draft, pull.author) == ("open", False, home.forge.whoami())
        assert pull.labels == {"agents"}
        assert str(pull.number) in pull.url
        assert pull.merge_sha is None

    def test_a_second_ensure_brings_the_same_one_up_to_date(self, home: ForgeHome) -> None:
        home.push("task")
        first = home.forge.ensure_pull("task", "main", "T", "B", ["agents"])
        again = home.forge.ensure_pull("task", "main", "T2", "B2", ["x"])
        assert (again.number, again.title, again.body) == (first.number, "T2", "B2")
        assert again.labels == {"agents", "x"}
        assert [pull.number for pull in home.forge.list_pulls()] == [first.number]

    def test_it_is_found_by_head_and_base(self, home: ForgeHome) -> None:
        home.push("task")
        home.push("other-base", start="refs/heads/main")
        made = home.forge.ensure_pull("task", "main", "T", "B")
        found = home.forge.find_pull("task", "main")
        assert found
        assert found.number == made.number
        assert home.forge.find_pull("task", "other-base") is None
        assert home.forge.find_pull("another", "main") is None

    def test_a_closed_one_is_found_so_that_nobody_makes_it_again(self, home: ForgeHome) -> None:
        home.push("task")
        made = home.forge.ensure_pull("task", "main", "T", "B")
        home.forge.close(made.number)
        found = home.forge.find_pull("task", "main")
        assert found
        assert (found.number, found.state) == (made.number, "closed")

    def test_an_open_one_is_found_before_a_closed_one(self, home: ForgeHome) -> None:
        home.push("task")
        old = home.forge.ensure_pull("task", "main", "T", "B", ["old"])
        home.forge.close(old.number)
        home.forge.close(old.number)
        new = home.forge.ensure_pull("task", "main", "T", "B", ["new"])
        assert new.number != old.number
        assert new.labels == {"new"}
        found = home.forge.find_pull("task", "main")
        assert found
        assert found.number == new.number
        assert home.forge.get_pull(old.number).state == "closed"

    def test_lists_show_the_newest_first_and_the_closed_only_on_request(self, home: ForgeHome) -> None:
        numbers = []
        for branch in ("one", "two", "three"):
            home.push(branch)
            numbers.append(home.forge.ensure_pull(branch, "main", "T", "B").number)
        one, two, three = numbers
        home.forge.close(one)
        assert [pull.number for pull in home.forge.list_pulls()] == [three, two]
        assert [pull.number for pull in home.forge.list_pulls(every=True)] == [three, two, one]
        assert [pull.state for pull in home.forge.list_pulls(every=True)] == ["open", "open", "closed"]
        home.forge.close(two)
        for ended, shown in ((0, [three]), (1, [three, two]), (2, [three, two, one])):
            assert [pull.number for pull in home.forge.list_pulls(every=True, ended=ended)] == shown

    def test_an_open_one_follows_its_branch(self, home: ForgeHome) -> None:
        home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        sha = home.push("task", {"task.txt": "y\n"})
        assert home.forge.get_pull(number).head_sha == sha
        assert [pull.head_sha for pull in home.forge.list_pulls()] == [sha]

    def test_a_closed_one_keeps_its_last_commit(self, home: ForgeHome) -> None:
        sha = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        home.forge.close(number)
        home.push("task", {"task.txt": "y\n"})
        assert home.forge.get_pull(number).head_sha == sha

    @pytest.mark.parametrize(
        ("head", "base", "title"),
        [
            pytest.param("no-such-branch", "main", "T", id="unknown head"),
            pytest.param("task", "no-such-branch", "T", id="unknown base"),
            pytest.param("same", "main", "T", id="no commits between them"),
            pytest.param("stranger", "main", "T", id="no history in common"),
            pytest.param("task", "main", "", id="no title"),
        ],
    )
    def test_nonsense_is_refused_and_leaves_nothing(self, home: ForgeHome, head: str, base: str, title: str) -> None:
        home.push("task")
        git(home.repository, "branch", "same", "main")
        commit(home.repository, "stranger", {"a": "b\n"})
        with pytest.raises(ForgeRefused):
            home.forge.ensure_pull(head, base, title, "B")
        assert home.forge.list_pulls(every=True) == []

    def test_unknown_numbers_and_commits_are_refused(self, home: ForgeHome) -> None:
        forge = home.forge
        for call in (
            lambda: forge.get_pull(99),
            lambda: forge.diff(99),
            lambda: forge.reviews(99),
            lambda: forge.comments(99),
            lambda: forge.ready(99),
            lambda: forge.ensure_comment(99, "plan", "B"),
            lambda: forge.review(99, "approve", "B", NOBODY),
            lambda: forge.merge(99, NOBODY),
            lambda: forge.close(99),
            lambda: forge.set_status(NOBODY, "check", "success"),
        ):
            with pytest.raises(ForgeRefused):
                call()

    def test_text_from_a_model_is_made_fit(self, home: ForgeHome) -> None:
        home.push("task")
        pull = home.forge.ensure_pull("task", "main", "Two\nlines \ud800" + "x" * 300, "B\ud800\0" + "y" * 70_000)
        assert pull.title.startswith("Two lines ")
        assert len(pull.title) == MAX_TITLE
        assert len(pull.body) == MAX_BODY
        assert pull.body.endswith("*(cut)*")
        assert "\0" not in pull.body

    def test_the_marker_in_its_body_names_the_task(self, home: ForgeHome) -> None:
        home.push("task")
        body = marked("7-add-x:pr", f"Adds x. {marker('8:pr')}")
        home.forge.ensure_pull("task", "main", "T", body)
        (pull,) = home.forge.list_pulls()
        assert task_of(pull, home.forge.whoami()) == "7-add-x"

    # --- words about it --------------------------------------------------------------------------------------

    def test_one_comment_for_each_key(self, home: ForgeHome) -> None:
        home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        for text in ("one", "one", f"two {marker('log')}"):
            home.forge.ensure_comment(number, "plan", text)
        home.forge.ensure_comment(number, "log", "y" * 70_000)
        plan, log = sorted(bodies(home, number), key=len)
        assert (key_of(plan), key_of(log)) == ("plan", "log")
        assert "two" in plan
        assert marker("log") not in plan
        assert len(log) == MAX_BODY

    def test_comments_show_what_everybody_said_and_which_of_it_is_ours(self, home: ForgeHome) -> None:
        sha = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        us = home.forge.whoami()
        home.forge.ensure_comment(number, "plan", "ours")
        home.says("stranger", number, "a question")
        home.says("stranger", number, f"{marker('plan')}\na copy of our mark")
        home.says(us, number, "typed by hand, under our account")
        home.forge.ensure_comment(number, "plan", "ours, edited")
        given = home.forge.review(number, "request_changes", "not yet", sha)
        said = home.forge.comments(number)
        assert [(c.author, c.ours, c.verdict) for c in said] == [
            (us, True, None),
            ("stranger", False, None),
            ("stranger", False, None),
            (us, False, None),
            (given.author, True, "request_changes"),
        ]
        words = ["ours, edited", "a question", "a copy of our mark", "typed by hand", "not yet"]
        assert all(word in comment.body for word, comment in zip(words, said, strict=True))
        assert said[-1].sha == sha
        assert [comment.at for comment in said] == sorted(comment.at for comment in said)
        assert all(comment.at.tzinfo for comment in said)

    def test_a_copy_of_our_mark_does_not_keep_us_from_speaking(self, home: ForgeHome) -> None:
        home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        home.says("stranger", number, f"{marker('plan')}\nnot ours")
        home.forge.ensure_comment(number, "plan", "ours")
        assert [(c.author, "not ours" in c.body) for c in home.forge.comments(number)] == [
            ("stranger", True),
            (home.forge.whoami(), False),
        ]

    def test_a_comment_keeps_its_id_when_it_is_edited(self, home: ForgeHome) -> None:
        home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        home.forge.ensure_comment(number, "plan", "one")
        home.says("stranger", number, "same words")
        home.says("stranger", number, "same words")
        before = [comment.id for comment in home.forge.comments(number)]
        home.forge.ensure_comment(number, "plan", "two")
        assert [comment.id for comment in home.forge.comments(number)] == before
        assert len(set(before)) == 3

    def test_a_remark_at_a_line_says_where(self, home: ForgeHome) -> None:
        sha = home.push("task", {"a.txt": "one\ntwo\n"})
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        if not home.remarks("stranger", number, "why two?", "a.txt", 2):
            pytest.skip("this forge has no remarks at lines")
        (remark,) = (comment for comment in home.forge.comments(number) if comment.path)
        assert (remark.author, remark.body, remark.path, remark.line) == ("stranger", "why two?", "a.txt", 2)
        assert (remark.sha, remark.ours) == (sha, False)

    def test_issues_have_comments_too(self, home: ForgeHome) -> None:
        issue = home.add_issue("bug", [])
        home.says("stranger", issue, "me too")
        home.forge.ensure_comment(issue, "answer", "seen")
        assert [(c.author, c.ours) for c in home.forge.comments(issue)] == [
            ("stranger", False),
            (home.forge.whoami(), True),
        ]

    def test_the_diff_is_what_git_says_to_the_last_blank(self, home: ForgeHome) -> None:
        home.push("task", {"a.txt": "x\n\n \n"})
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        home.push("main", {"later.txt": "not of this branch\n"})
        diff = home.forge.diff(number)
        assert diff.startswith("diff --git a/a.txt b/a.txt")
        assert diff.endswith("+x\n+\n+ \n")
        assert "later" not in diff

    @pytest.mark.parametrize("method", ["squash", "merge"])
    def test_the_diff_stays_after_the_merge(self, home: ForgeHome, method: MergeMethod) -> None:
        sha = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        before = home.forge.diff(number)
        home.forge.merge(number, sha, method)
        home.forge.delete_branch("task")
        assert home.forge.diff(number) == before != ""

    @pytest.mark.parametrize(
        ("verdict", "state"),
        [("approve", "success"), ("request_changes", "failure"), ("comment", "pending")],
    )
    def test_a_verdict_becomes_a_status_of_the_commit_that_was_read(
        self, home: ForgeHome, verdict: Verdict, state: CheckResult
    ) -> None:
        sha = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        review = home.forge.review(number, verdict, "words", sha)
        assert (review.verdict, review.sha) == (verdict, sha)
        assert review.formal is (verdict == "comment" or not home.one_account)
        assert home.forge.checks(sha).items[REVIEW_CONTEXT] == state

    def test_a_repeated_review_is_one_review(self, home: ForgeHome) -> None:
        sha = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        verdicts: tuple[Verdict, ...] = ("request_changes", "request_changes", "approve", "approve")
        for verdict, text in zip(verdicts, ("words", "later", "words", "later"), strict=True):
            home.forge.review(number, verdict, text, sha)
        reviews = home.forge.reviews(number)
        assert [(r.verdict, r.sha) for r in reviews] == [("request_changes", sha), ("approve", sha)]
        assert all("words" in r.body for r in reviews)
        assert set(home.forge.checks(sha).items.values()) == {"success"}

    def test_a_review_of_a_commit_that_is_not_the_head_is_no_review(self, home: ForgeHome) -> None:
        old = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        home.push("task", {"task.txt": "y\n"})
        with pytest.raises(PullNotReady, check=lambda error: error.kind == "moved"):
            home.forge.review(number, "approve", "ok", old)
        assert home.forge.reviews(number) == []
        assert home.forge.checks(old).items == {}

    def test_what_goes_into_another_branch_than_is_meant_is_not_merged(self, home: ForgeHome) -> None:
        sha = home.push("task")
        home.push("production")
        number = home.forge.ensure_pull("task", "production", "T", "B").number
        with pytest.raises(PullNotReady, match="production", check=lambda error: error.kind == "blocked"):
            home.forge.merge(number, sha, into="main")
        assert home.forge.get_pull(number).state == "open"
        assert home.forge.merge(number, sha, into="production")

    def test_what_a_branch_requires_is_told(self, home: ForgeHome) -> None:
        assert home.forge.required("main") == frozenset()
        home.require("ci")
        assert home.forge.required("main") == {"ci"}

    def test_the_newest_word_of_each_check_is_told(self, home: ForgeHome) -> None:
        sha, results = home.push("task"), get_args(CheckResult)
        assert home.forge.checks(sha).items == {}
        for number, result in enumerate(results):
            home.forge.set_status(sha, f"check-{number}", "pending")
            home.forge.set_status(sha, f"check-{number}", result, "n" * 200)
        checks = home.forge.checks(sha)
        assert checks.complete
        assert checks.items == {f"check-{number}": result for number, result in enumerate(results)}

    def test_issues_are_not_pull_requests(self, home: ForgeHome) -> None:
        bug, other = home.add_issue("bug", ["todo"]), home.add_issue("other", [])
        home.push("task")
        pull = home.forge.ensure_pull("task", "main", "T", "B", ["todo"]).number
        assert [issue.number for issue in home.forge.list_issues()] == [other, bug]
        (issue,) = home.forge.list_issues("todo")
        assert (issue.number, issue.title) == (bug, "bug")
        assert issue.labels == {"todo"}
        assert [p.number for p in home.forge.list_pulls()] == [pull]
        with pytest.raises(ForgeRefused):
            home.forge.get_pull(bug)

    # --- merge -----------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("method", ["squash", "merge"])
    def test_exactly_the_named_commit_is_merged_and_only_once(self, home: ForgeHome, method: MergeMethod) -> None:
        old = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        new = home.push("task", {"task.txt": "y\n"})
        before = length(home)
        with pytest.raises(PullNotReady, check=lambda error: error.kind == "moved"):
            home.forge.merge(number, old, method)
        merged = home.forge.merge(number, new, method)
        assert home.forge.merge(number, new, method) == merged == home.tip("main")
        with pytest.raises(PullNotReady, check=lambda error: error.kind == "moved"):
            home.forge.merge(number, old, method)
        assert length(home) == before + 1
        assert git(home.repository, "show", "main:task.txt") == b"y\n"
        parents = git(home.repository, "show", "-s", "--format=%P", "main").split()
        assert (new.encode() in parents) is (method == "merge")

    @pytest.mark.parametrize("method", ["squash", "merge"])
    def test_a_merge_says_what_it_is_told_to_say(self, home: ForgeHome, method: MergeMethod) -> None:
        sha = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        message = f"fix: the sum (#{number})\n\nWhy.\n\n- one\n\nGoal: g-1\nTask: 7\n"
        merged = home.forge.merge(number, sha, method, message=message + "\0\ud800\n\n")
        said = git(home.repository, "show", "-s", "--format=%B", merged).decode()
        assert said.strip() == message + "?"
        assert home.forge.merge(number, sha, method, message="another") == merged == home.tip("main")

    def test_a_merge_that_is_told_nothing_says_the_title(self, home: ForgeHome) -> None:
        sha = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        home.forge.merge(number, sha)
        assert git(home.repository, "show", "-s", "--format=%B", "main").decode().strip() == f"T (#{number})"

    def test_a_merged_one_stays_as_it_was(self, home: ForgeHome) -> None:
        sha = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        merged = home.forge.merge(number, sha)
        home.forge.close(number)
        home.forge.delete_branch("task")
        home.push("task", {"task.txt": "z\n"})
        pull = home.forge.get_pull(number)
        assert (pull.state, pull.merge_sha, pull.head_sha) == ("merged", merged, sha)
        assert home.forge.merge(number, sha) == merged

    def test_a_required_status_blocks_until_it_is_there(self, home: ForgeHome) -> None:
        sha = home.push("task")
        home.require(REVIEW_CONTEXT)
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        with pytest.raises(PullNotReady, match=REVIEW_CONTEXT, check=lambda error: error.kind == "blocked"):
            home.forge.merge(number, sha)
        home.forge.review(number, "request_changes", "no", sha)
        with pytest.raises(PullNotReady, match=REVIEW_CONTEXT, check=lambda error: error.kind == "blocked"):
            home.forge.merge(number, sha)
        home.forge.review(number, "approve", "ok", sha)
        assert home.forge.merge(number, sha) == home.tip("main")

    def test_a_status_does_not_carry_over_to_the_next_push(self, home: ForgeHome) -> None:
        old = home.push("task")
        home.require(REVIEW_CONTEXT)
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        home.forge.review(number, "approve", "ok", old)
        new = home.push("task", {"task.txt": "not reviewed\n"})
        with pytest.raises(PullNotReady, check=lambda error: error.kind == "blocked"):
            home.forge.merge(number, new)

    def test_a_conflict_is_told_from_a_rule(self, home: ForgeHome) -> None:
        one, two = home.push("one", {"a": "1\n"}), home.push("two", {"a": "2\n"})
        first = home.forge.ensure_pull("one", "main", "T", "B").number
        second = home.forge.ensure_pull("two", "main", "T", "B").number
        home.forge.merge(first, one)
        before = home.tip("main")
        with pytest.raises(PullNotReady, check=lambda error: error.kind == "conflict"):
            home.forge.merge(second, two)
        assert (home.tip("main"), home.forge.get_pull(second).state) == (before, "open")

    def test_a_base_that_moved_is_merged_with(self, home: ForgeHome) -> None:
        sha = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        home.push("main", {"theirs.txt": "t\n"})
        home.forge.merge(number, sha)
        names = git(home.repository, "ls-tree", "--name-only", "main").split()
        assert {b"task.txt", b"theirs.txt"} <= set(names)

    def test_a_draft_is_not_merged(self, home: ForgeHome) -> None:
        sha = home.push("task")
        pull = home.forge.ensure_pull("task", "main", "T", "B", draft=True)
        assert pull.draft
        with pytest.raises(PullNotReady, check=lambda error: error.kind == "blocked"):
            home.forge.merge(pull.number, sha)

    def test_a_draft_that_is_ready_is_merged(self, home: ForgeHome) -> None:
        sha = home.push("task")
        pull = home.forge.ensure_pull("task", "main", "T", "B", ["agents"], draft=True)
        with pytest.raises(PullNotReady, check=lambda error: error.kind == "blocked"):
            home.forge.merge(pull.number, sha)
        for _ in range(2):
            home.forge.ready(pull.number)
        home.forge.ensure_pull("task", "main", "T", "B", ["agents"], draft=True)  # counts when it is made
        shown = home.forge.get_pull(pull.number)
        assert not shown.draft
        assert sorted(shown.labels) == ["agents"]
        assert home.forge.merge(pull.number, sha) == home.tip("main")

    def test_ready_changes_nothing_where_there_is_no_draft(self, home: ForgeHome) -> None:
        home.push("task")
        made = home.forge.ensure_pull("task", "main", "T", "B", ["agents"])
        home.forge.ready(made.number)
        pull = home.forge.get_pull(made.number)
        assert (pull.state, pull.draft, pull.title, sorted(pull.labels)) == ("open", False, "T", ["agents"])

    def test_the_default_branch_is_not_deleted(self, home: ForgeHome) -> None:
        with pytest.raises(ForgeRefused, match="default branch"):
            home.forge.delete_branch("main")
        assert home.tip("main")

    def test_a_closed_one_is_not_merged(self, home: ForgeHome) -> None:
        sha = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        home.forge.close(number)
        with pytest.raises(PullNotReady, check=lambda error: error.kind == "blocked"):
            home.forge.merge(number, sha)

    def test_deleting_a_branch_closes_its_pull_request(self, home: ForgeHome) -> None:
        sha = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        for name in ("task", "task", "never-there", "no..name"):
            home.forge.delete_branch(name)
        assert home.tip("task") == ""
        pull = home.forge.get_pull(number)
        assert (pull.state, pull.head_sha) == ("closed", sha)

    # --- several at once, and kills --------------------------------------------------------------------------

    def test_four_processes_at_once_make_one_pull_request(self, home: ForgeHome) -> None:
        home.push("task")
        print_number = "print(forge.ensure_pull('task', 'main', 'T', 'B').number)"
        assert len(set(together(home, [print_number] * 4))) == 1
        assert len(home.forge.list_pulls(every=True)) == 1

    def test_four_processes_at_once_merge_once(self, home: ForgeHome) -> None:
        sha = home.push("task")
        number = home.forge.ensure_pull("task", "main", "T", "B").number
        before = length(home)
        assert set(together(home, [f"print(forge.merge({number}, '{sha}'))"] * 4)) == {home.tip("main")}
        assert length(home) == before + 1

    @pytest.mark.parametrize("effect", [pytest.param(effect, id=name) for name, effect in EFFECTS.items()])
    def test_killed_anywhere_and_repeated_is_like_never_killed(self, home: ForgeHome, effect: Effect) -> None:
        program, before = effect.prepare(home, "clean")
        passed = points(program, home.environment())
        wanted = outcome(home, "clean", before)
        for number, name in enumerate(passed, 1):
            branch = f"killed-{number}"
            program, before = effect.prepare(home, branch)
            killed_at(number, program, home.environment())
            for _ in range(2):
                home.repeat(effect.call, program[-WORDS:])
            assert outcome(home, branch, before) == wanted, f"after a kill at {name}"

    def test_killed_again_in_the_repetition_is_one_merge(self, home: ForgeHome) -> None:
        effect = EFFECTS["a merge"]
        program, before = effect.prepare(home, "clean")
        passed = points(program, home.environment())
        wanted = outcome(home, "clean", before)
        for first in range(1, len(passed) + 1):
            program, _ = effect.prepare(home, f"counted-{first}")
            killed_at(first, program, home.environment())
            for second in range(1, len(points(program, home.environment(), at_least=0)) + 1):
                branch = f"killed-{first}-{second}"
                program, before = effect.prepare(home, branch)
                killed_at(first, program, home.environment())
                killed_at(second, program, home.environment())
                home.repeat(effect.call, program[-WORDS:])
                assert outcome(home, branch, before) == wanted, f"after kills at {first} and {second}"


def together(home: ForgeHome, calls: list[str]) -> list[str]:
    """What each process prints."""
    with ThreadPoolExecutor(len(calls)) as pool:
        done = pool.map(lambda call: finishes(home.program(call), home.environment()), calls)
        return [finished.text.strip() for finished in done]
