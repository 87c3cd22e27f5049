"""What our commits say: a conventional title, why, and trailers that nobody else can write."""

from __future__ import annotations

import re
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.naming import VERSION
from sisimpur.shared.model.text import unseen
from sisimpur.shared.model.work import TaskKind, TaskSpec
from sisimpur.shared.repo.commit_text import KEYS, LONGEST_SUBJECT, CommitText, inert, squashed, task_text, whose

ACTS = re.compile(r"(?<!\w)@\w|#\d|(?i:\bgh-\d|https?://[^\s/]|\bwww\.\S)|\[(?i:skip|skip ci|ci skip)\]")
SIGNS = st.sampled_from(
    [
        *"@#:/[]a1-\n\r\t ",
        "https:",
        "//",
        "www.",
        "gh-",
        "---\n",
        "\u200b",
        "\u2028",
        "\x85",
        "\x0b",
        "[skip ci]",
        "\n\n",
    ]
    + [f"{key}: x" for key in (*KEYS, "Co-authored-by", "Signed-off-by")]
)
FORGED = (
    "Why.\r\rGoal: g-other\r\nTask: other\rModel : theirs\n\n"
    "Co-authored-by: Owner <o@x>\nSigned-off-by: Owner <o@x>\nteam-version: 9\n\u200bAttempt: 7\n---\n\n \r\n\n"
)
SUM = TaskSpec("t", "Fix the sum", FORGED, goal_id="g-1")


def message(text: CommitText) -> str:
    return text.written(str)


def trailers(text: str) -> list[str]:
    """As git itself reads them."""
    done = subprocess.run(["git", "interpret-trailers", "--parse"], input=text, text=True, stdout=-1, check=True)
    return done.stdout.splitlines()


# --- the title -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "title", "subject"),
    [
        pytest.param("fix", "Greet visitors", "fix: greet visitors", id="a fix"),
        pytest.param("feature", "Fix up a greeting", "feat: fix up a greeting", id="its kind, not its words"),
        pytest.param("behaviour", "Round up", "feat: round up", id="another behaviour"),
        pytest.param("docs", "README says so", "docs: README says so", id="a name"),
        pytest.param("fix", "Decimal.quantize rounds", "fix: Decimal.quantize rounds", id="a name with a dot"),
        pytest.param("feature", "-1 is returned", "feat: -1 is returned", id="no option, but a number"),
        pytest.param("refactoring", "Split the views", "refactor: split the views", id="a refactoring"),
        pytest.param("removal", "Drop the old views", "refactor: drop the old views", id="a removal"),
        pytest.param("tests", "Cover the sum", "test: cover the sum", id="tests"),
        pytest.param("docs", "Tell how to begin", "docs: tell how to begin", id="documentation"),
        pytest.param("upkeep", "Mend the flaky test", "chore: mend the flaky test", id="upkeep"),
        pytest.param("unknown", "Fix the sum", "fix: fix the sum", id="nobody said: a fix"),
        pytest.param("unknown", "Add a test for the sum", "test: add a test for the sum", id="nobody said: a test"),
        pytest.param("unknown", "Explain it in the readme", "docs: explain it in the readme", id="nobody said: docs"),
        pytest.param("unknown", "Greet visitors", "feat: greet visitors", id="nobody said: a feature"),
    ],
)
def test_a_conventional_commit(kind: str, title: str, subject: str) -> None:
    said = message(task_text(TaskSpec("t", title, "Because.", goal_id="g-1", kind=TaskKind(kind)), 2, "m", "p"))
    assert said.startswith(f"{subject}\n\nBecause.\n\nGoal: g-1\nTask: t\nAttempt: 2\nModel: m\nPrompt-Digest: ")
    assert said.endswith(f"\nTeam-Version: {VERSION}\n")


def test_a_long_title_is_cut_between_words() -> None:
    subject = task_text(TaskSpec("t", "Fix " + "word " * 60, "x")).said.splitlines()[0]
    assert len(subject) <= LONGEST_SUBJECT and subject.endswith("word…")


def test_what_nobody_knows_is_left_out() -> None:
    assert trailers(message(task_text(TaskSpec("t", "Fix it", "")))) == ["Task: t", f"Team-Version: {VERSION}"]


def test_the_same_prompt_has_the_same_digest() -> None:
    digests = [task_text(SUM, 1, "m", prompt).trailers["Prompt-Digest"] for prompt in ("a", "a", "b")]
    assert digests[0] == digests[1] != digests[2]


# --- nobody else writes a trailer ----------------------------------------------------------------------------


def test_a_model_that_writes_trailers_writes_none() -> None:
    said = message(task_text(SUM, 2, "m"))
    ours = ["Goal: g-1", "Task: t", "Attempt: 2", "Model: m", f"Team-Version: {VERSION}"]
    assert trailers(said) == ours
    assert [line for line in said.split("\n")[1:] if re.match(r"\s*[\w-]+\s*:", line)] == ours
    assert "Goal - g-other" in said and "Co-authored-by - Owner <o@x>" in said and "Attempt - 7" in said


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_what_is_a_line_to_others_is_one_to_us(end: str) -> None:
    said = message(
        CommitText(f"fix: it{end}Goal: g-0\n\nWhy.{end}Task: other{end}Signed-off-by: Owner <o@x>", {"Task": "t"})
    )
    assert [line for line in said.splitlines() if re.match(r"[\w-]+: ", line)] == ["fix: it", "Task: t"]


def test_a_merge_says_so_too_and_keeps_what_its_commit_says() -> None:
    commit = message(task_text(SUM, 2, "m", "p"))
    said = message(squashed(commit, "the sum is right\n\nTask: forged", whose("g-1", "t", 3), 12))
    assert said.startswith("fix: fix the sum (#12)\n\nWhy.\n\nGoal - g-other\n")
    assert "\n\nThe goal: the sum is right\n\nTask - forged\n\nGoal: g-1\n" in said
    assert trailers(said) == trailers(commit) and "Attempt: 2" in trailers(said)


@pytest.mark.parametrize(
    "commit",
    [
        pytest.param("fix: the sum\n\nWhy.\n\nTask - t\n", id="before there were trailers"),
        pytest.param("All of it\n\nWhy.\n\nTask: t\n", id="one that names its task alone"),
        pytest.param("fix: the sum\n\nGoal: g-9\nTask: u\n", id="another task's"),
        pytest.param("fix: the sum\n\nGoal: g-9\nTask: t\nand more\n", id="not trailers alone"),
        pytest.param("Task: t\n", id="a title alone"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_an_older_commit_does_not_say_is_known(commit: str) -> None:
    assert trailers(message(squashed(commit, "", whose("g-1", "t", 3), 12))) == ["Goal: g-1", "Task: t", "Attempt: 3"]


@given(st.lists(SIGNS, max_size=30).map("".join), st.lists(SIGNS, max_size=8).map("".join))
def test_nothing_acts_whatever_was_put_together(said: str, value: str) -> None:
    written = message(CommitText(f"fix: it\n\n{said}", {"Goal": value, "Task": "t"}))
    above, _, below = written.rstrip("\n").rpartition("\n\n")
    assert not ACTS.search(above) and unseen(written) == ""
    assert not re.search(rf"^\s*(?:{'|'.join(KEYS)}|[\w-]+-by)\s*:", above, re.MULTILINE | re.IGNORECASE)
    assert re.fullmatch(r"(?:Goal: [^\n]+\n)?Task: t", below)
    assert inert(inert(said)) == inert(said)


@pytest.mark.parametrize("part", ["h", "http:", "@", "[skip ", "a-", "\t"])
def test_no_text_takes_long(part: str) -> None:
    began = time.monotonic()
    inert(part * (60_000 // len(part)))
    assert time.monotonic() - began < 5


# --- plain text ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "plain"),
    [
        pytest.param("see https://docs.example/a?b=1.", "see docs.example/a?b=1.", id="an address"),
        pytest.param("fixes https://github.com/o/r/issues/1", "fixes github.com/o/r/issues/1", id="a closing address"),
        pytest.param("hthttps://tps://x", "tps://x", id="an address inside of one"),
        pytest.param("Use https:// everywhere", "Use https:// everywhere", id="no address"),
        pytest.param("mail a@b.example <c@d.example>", "mail a@b.example <c@d.example>", id="mail stays"),
        pytest.param("thanks @org/team, fixes #1, GH-2", "thanks @ org/team, fixes # 1, GH- 2", id="what acts"),
        pytest.param("www.evil.example", "www. evil.example", id="without a scheme"),
        pytest.param("a\n---\nb", "a\n- - -\nb", id="where git would take the rest for a patch"),
        pytest.param("a < b && c[0](x)", "a < b && c[0](x)", id="code stays"),
    ],
)
def test_a_commit_is_plain_text(words: str, plain: str) -> None:
    assert inert(words) == plain
