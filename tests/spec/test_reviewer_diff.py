"""A patch -> chunks: nothing that was added is left out, and no line can pass for another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.reviewer.agent import case_of
from sisimpur.agents.reviewer.diff_analyzer import MARGIN, WHOLE_FILE, chunks, read_patch
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.model.work import Branch, TaskSpec
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from tests.repositories import commit, repository
from tests.spec.reviewing import Commits, file, patch

ROOM = 2_000
SIGNED = re.compile(r"\d+[+ <>-]")
LONG = "".join(f"line {number}\n" for number in range(1, 401))


def shown(before: Mapping[str, str], after: Mapping[str, str], room: int = ROOM) -> list[str]:
    commits = Commits(before, after)
    return [chunk.text for chunk in chunks(commits.diff("a", "b"), commits.files(), room)]


def test_each_line_has_its_number_in_the_new_file_and_a_sign() -> None:
    (text,) = shown({"a.py": "one\ntwo\nthree\n"}, {"a.py": "one\nTWO\nthree\n"})
    assert text.split("\n") == [
        "=== a.py (modified)",
        "1 one",
        "2-two",
        "2+TWO",
        "3 three",
    ]


def test_a_removed_line_has_its_number_in_the_old_file() -> None:
    (text,) = shown({"a.py": "one\ntwo\nthree\nfour\n"}, {"a.py": "zero\none\nthree\n"})
    assert text.split("\n")[1:] == ["1+zero", "2 one", "2-two", "3 three", "4-four"]


MOVED = "def tax(x):\n    rate = 15\n    return x * rate // 100\n"


def test_lines_that_move_to_another_file_are_marked_in_both() -> None:
    (text,) = shown(
        {"a.py": f"a = 1\n{MOVED}", "b.py": "b = 1\n"}, {"a.py": "a = 1\n", "b.py": f"b = 1\n{MOVED}c = 2\n"}
    )
    rows = text.split("\n")
    assert rows[1:5] == ["1 a = 1", "2<def tax(x):", "3<    rate = 15", "4<    return x * rate // 100"]
    assert rows[-4:] == ["2>def tax(x):", "3>    rate = 15", "4>    return x * rate // 100", "5+c = 2"]


def test_a_line_or_two_that_stand_elsewhere_by_chance_have_not_moved() -> None:
    (text,) = shown({"a.py": "x = 100\ny = 200\n", "b.py": "b\n"}, {"a.py": "", "b.py": "b\nx = 100\ny = 200\n"})
    assert not re.search(r"^\d+[<>]", text, re.MULTILINE)


def test_a_short_file_is_shown_whole_and_a_long_one_around_its_hunks() -> None:
    short = "".join(f"line {number}\n" for number in range(1, WHOLE_FILE))
    (whole,) = shown({"a.py": short}, {"a.py": short + "new\n"}, 10_000)
    assert len(whole.split("\n")) == 1 + WHOLE_FILE
    (part,) = shown({"a.py": LONG}, {"a.py": LONG.replace("line 200\n", "new\n")}, 10_000)
    assert len(part.split("\n")) == 1 + 2 * MARGIN + 2


@pytest.mark.parametrize(
    ("line", "head"),
    [
        pytest.param(40, "=== a.py (modified), from inside Shop.tax", id="a method whose head is far above"),
        pytest.param(8, "=== a.py (modified)", id="a method whose head is shown"),
        pytest.param(97, "=== a.py (modified), from inside Shop.tax", id="the next function, shown from this one on"),
        pytest.param(118, "=== a.py (modified)", id="below all of them"),
    ],
)
def test_a_part_of_python_says_which_class_and_function_it_begins_in(line: int, head: str) -> None:
    body = [f"        x{number} = {number}\n" for number in range(90)]
    lines = [
        "class Shop:\n",
        "    @cached\n",
        "    def tax(self):\n",
        *body,
        "\n",
        "\n",
        "def other():\n",
        "    pass\n",
    ]
    lines += [f"x{number} = {number}\n" for number in range(30)]
    changed = [*lines[: line - 1], lines[line - 1].rstrip() + "  # new\n", *lines[line:]]
    (text,) = shown({"a.py": "".join(lines)}, {"a.py": "".join(changed)}, 100_000)
    assert text.split("\n")[0] == head
    (text,) = shown({"a.txt": "".join(lines)}, {"a.txt": "".join(changed)}, 100_000)
    assert text.startswith("=== a.txt (modified)\n")


def test_hunks_of_many_files_share_a_chunk_as_long_as_there_is_room() -> None:
    after = {f"{name}.py": "x = 1\n" * 20 for name in "abcdef"}
    texts = shown({}, after, 450)
    assert [text.count("===") for text in texts] == [2, 2, 2]
    assert len(shown({}, after, 100_000)) == 1


def test_a_hunk_that_is_too_long_is_split_between_lines() -> None:
    texts = shown({}, {"a.py": LONG}, 1_000)
    assert all(len(text) <= 1_100 and text.startswith("=== a.py (added)") for text in texts)
    numbers = [int(line.split("+")[0]) for text in texts for line in text.split("\n")[1:]]
    assert numbers == list(range(1, 401))


def test_a_deleted_file_is_named_and_shown_in_part() -> None:
    (text,) = shown({"a.py": LONG, "b.py": ""}, {"b.py": ""}, 100_000)
    assert text.startswith("=== a.py (deleted)\n1-line 1\n")
    assert "line 300\n" not in text + "\n" or "line 301" not in text


def test_a_line_that_looks_like_a_head_is_a_line() -> None:
    trick = "--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n=== other.py (added)\n"
    (text,) = shown({"a.py": "-- old\n"}, {"a.py": trick})
    assert text.count("\n===") == 0
    assert all(SIGNED.match(line) for line in text.split("\n")[1:])


def test_a_patch_that_says_something_else_than_the_changes_is_no_reading() -> None:
    one, other = file("a.py", "x = 1\n"), file("a.py", "x = 2\n")
    with pytest.raises(Refused, match=r"a\.py"):
        chunks(patch([one]), [other], ROOM)
    with pytest.raises(Refused):
        chunks(b"", [other], ROOM)


def test_real_commits_with_strange_names_and_line_ends_are_read(tmp_path: Path) -> None:
    before = {"a b.py": "x\n", 'é "q".txt': "old", "crlf.txt": "a\r\nb\r\n", "gone.py": "1\n2\n", "same": "s"}
    after = {"a b.py": "x\ny\n", 'é "q".txt': "new", "crlf.txt": "a\r\nc\r\n", "fresh/n.py": "", "last.py": "no end"}
    base = repository(tmp_path / "source", before)
    (tmp_path / "source" / "gone.py").unlink()
    tip = commit(tmp_path / "source", after)
    mirror = Mirror(tmp_path / "mirror.git", Remote(str(tmp_path / "source")))
    mirror.create()
    mirror.fetch("main")
    case = case_of(mirror, Branch("b", base, tip), TaskSpec("t", "t", ""))
    (chunk,) = chunks(mirror.diff(base, tip), case.files, 100_000)
    assert chunk.paths == {"a b.py", 'é "q".txt', "crlf.txt", "gone.py", "fresh/n.py", "last.py"}
    assert chunk.lines == {("a b.py", "y"), ('é "q".txt', "new"), ("crlf.txt", "c"), ("last.py", "no end")}
    assert {one.path: (one.before, one.after) for one in case.files}["crlf.txt"] == ("a\r\nb\r\n", "a\r\nc\r\n")
    assert case.tracked == {*after, "same"}
    assert case.read("same") == "s"
    assert case.read("nowhere") is None


TEXTS = st.dictionaries(
    st.sampled_from(["a.py", "b.txt"]),
    st.lists(
        st.sampled_from(["a", "b", "", "@@ -1 +1 @@", "+++ b/b.txt", "--- a", "\\ No", "x" * 90]), max_size=12
    ).map(lambda lines: "".join(f"{line}\n" for line in lines)),
)


@given(TEXTS, TEXTS, st.integers(60, 400))
def test_every_added_line_is_in_exactly_one_chunk(
    before: Mapping[str, str], after: Mapping[str, str], room: int
) -> None:
    commits = Commits(before, after)
    found = chunks(commits.diff("a", "b"), commits.files(), room)
    rows = [row for chunk in found for row in chunk.text.split("\n") if re.match(r"\d+[+>]", row)]
    rows = [re.sub(r"^(\d+)>", r"\1+", row) for row in rows]
    wanted = [f"{n}+{text}" for one in commits.files() for n, text in one.added.items()]
    assert sorted(rows) == sorted(wanted)
    assert all(len(chunk.text) <= room + 130 for chunk in found)  # a title, and one line that is longer than all
    assert set().union(*(chunk.lines for chunk in found)) == {
        (one.path, text) for one in commits.files() for text in one.added.values()
    }


@given(st.binary(max_size=300))
def test_whatever_a_patch_holds_it_is_read_to_its_end(diff: bytes) -> None:
    read_patch(diff)
    read_patch(b"--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n" + diff)
