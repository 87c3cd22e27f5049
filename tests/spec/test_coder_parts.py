"""What a model is shown of long files, and what it may ask of us in a line of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from sisimpur.agents.coder.engine.engine import EngineJob
from sisimpur.agents.coder.showing import (
    LONG_TO_READ,
    PartOrder,
    keep_form,
    orders,
    part_of,
    rearranged,
    with_views,
    words_of,
)
from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.model.work import Correction, ModelChoice, TaskSpec
from sisimpur.shared.repo.file_parts import LEAST_GAP, LEFT_OUT, LONG, MOST, view

FILLER = "    x = 1  # a line that nobody asks about, and that only makes this long\n"


def function(name: str, body: str = FILLER * 12, within: str = "") -> str:
    return f"{within}def {name}(a, b):\n{body}{within}    return '{name} ends here'\n\n\n"


LONG_FILE = (
    "import os\n\nRATE = 3\n\n\n"
    + "".join(function(f"other_{number}") for number in range(40))
    + function("before_it", "    pass\n")
    + function("net_price")
    + function("after_it", "    pass\n")
    + "class Invoice:\n    '''What is owed.'''\n\n"
    + "".join(function(f"part_{number}", FILLER.replace("    ", "        ", 1) * 4, "    ") for number in range(20))
    + "".join(function(f"last_{number}") for number in range(40))
)


def shown(words: str, text: str = LONG_FILE) -> str:
    return view("app/sums.py", text, words)


@pytest.mark.parametrize("text", ["", "x = 1\n", "x" * LONG])
def test_a_short_file_is_shown_whole(text: str) -> None:
    assert shown("net_price", text) == ""


def test_what_the_task_names_is_shown_letter_by_letter_with_its_neighbours() -> None:
    found = shown("Round what net_price returns.")
    assert function("net_price") in found
    assert "def before_it" in found and "def after_it" in found and "RATE = 3" in found
    assert "other_7 ends here" not in found
    assert len(found) < MOST + LONG / 2 < len(LONG_FILE)


def test_all_else_is_told_by_its_lines_and_its_first_line() -> None:
    number = LONG_FILE[: LONG_FILE.index("def other_7(")].count("\n") + 1
    assert f"⋮   {number}-{number + 13}: other_7: def other_7(a, b):" in shown("net_price")
    assert "Invoice.part_3: def part_3(a, b):" in shown("net_price")


def test_what_is_shown_is_the_file_without_what_is_left_out() -> None:
    lines = [line for line in shown("net_price").splitlines() if not line.startswith("⋮")]
    left = iter(LONG_FILE.splitlines())
    assert all(line in left for line in lines), "each line is in the file, in its order"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        pytest.param("`Invoice.part_7` forgets a line", "part_7 ends here", id="a method"),
        pytest.param("see app/sums.py:{at}, it is wrong", "last_9 ends here", id="a line that is named"),
        pytest.param("sums.py, line {at} is wrong", "last_9 ends here", id="the same in words"),
        pytest.param("What is now: lines 3, 5 and {at} are wrong", "last_9 ends here", id="of several"),
        pytest.param("The last 9 of them is wrong", "last_9 ends here", id="its name as it is said"),
        pytest.param("It says `'other_3 ends here'` there", "other_3 ends here", id="what is quoted"),
    ],
)
def test_other_ways_to_name_a_part(words: str, part: str) -> None:
    at = LONG_FILE[: LONG_FILE.index("'last_9")].count("\n") + 1
    assert part in shown(words.format(at=at))
    assert part not in shown("net_price")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("In docs/page.rst, line {at} is wrong", id="of another file"),
        pytest.param("app/sums.py forgets it: see web/sums.py (lines 3-5 and {at})", id="of its namesake"),
        pytest.param("net_price (line {at}) forgets it", id="of a definition that has moved since"),
        pytest.param("app/sums.py, `Invoice.part_7`, lines {at}-{at}: it is wrong", id="of a method that has"),
    ],
)
def test_lines_of_another_file_or_of_yesterday_are_not_shown(words: str) -> None:
    """Before, each long file of a task showed the lines that were said of any of them."""
    at = LONG_FILE[: LONG_FILE.index("'last_9")].count("\n") + 1
    assert "last_9 ends here" not in shown(words.format(at=at))


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("In docs/page.rst it is right, in app/sums.py line {at} is wrong", id="its own, named last"),
        pytest.param("In docs/page.rst it is right.\nLine 3 is, line {at} is not", id="in a paragraph of its own"),
        pytest.param("docs/page.rst says so, sums.py (line {at}) does not", id="by its last name"),
        pytest.param("`last_9`, line {at}, is wrong", id="where the name still stands"),
    ],
)
def test_lines_of_this_file_are_shown_whatever_else_is_named(words: str) -> None:
    at = LONG_FILE[: LONG_FILE.index("'last_9")].count("\n") + 1
    assert "last_9 ends here" in shown(words.format(at=at))


@pytest.mark.parametrize("named", ["", "part_7", "line {at}"])
def test_a_long_class_whose_part_is_named_too_is_shown_by_its_head(named: str) -> None:
    """A class of tests is named to say where the new one goes, and took the room of all that matters."""
    methods = (function(f"part_{number}", FILLER * 4, "    ") for number in range(60))
    text = "import os\n\n\nclass AllTests:\n    rate = 3\n\n" + "".join(methods) + function("last") * 12
    at = text[: text.index("'part_7 ends")].count("\n") + 1
    part = shown(f"class AllTests, next to {named}".format(at=at), text)
    assert "class AllTests:\n    rate = 3\n" in part
    assert ("part_50 ends here" in part) == (named == "") and ("part_7 ends here" in part)


def test_to_say_that_a_few_lines_are_left_out_takes_more_room_than_these() -> None:
    text = LONG_FILE.replace("def before_it", "ONE = 1\nTWO = 2\nTHREE = 3\n\n\ndef before_it")
    gaps = re.findall(rf"{LEFT_OUT} lines (\d+)-(\d+) are", shown("net_price, part_7 and part_9", text))
    assert len(gaps) > 2 and min(int(last) - int(first) for first, last in gaps) >= LEAST_GAP - 1


def test_a_name_is_not_said_by_the_end_of_another_word() -> None:
    assert "other_9 ends here" not in shown("mother 9 is wrong in net_price")


def test_of_a_long_test_file_the_end_is_shown_where_new_tests_go() -> None:
    assert "last_39 ends here" in view("tests/test_sums.py", LONG_FILE, "net_price") and LONG_FILE.endswith("\n")
    assert "last_39 ends here" not in shown("net_price")


def test_where_a_named_function_is_used_is_shown_too() -> None:
    text = LONG_FILE + function("uses", "    return net_price(1, 2)\n")
    assert "return net_price(1, 2)" in shown("Rename net_price", text)


def test_a_helper_that_everything_calls_does_not_bring_its_callers() -> None:
    """A task named `_get_rw_check_for_user`, which 20 views of a file call: 24,000 characters for seven functions."""
    calls = "".join(function(f"view_{number}", "    check = _load_it(a)\n" + FILLER) for number in range(12))
    found = shown("Change net_price. Wrap `_load_it` in the tests.", LONG_FILE + function("_load_it") + calls)
    assert function("net_price") in found and function("_load_it") in found
    assert "view_5 ends here" not in found


def test_of_many_named_parts_the_first_bring_their_neighbours() -> None:
    found = shown("Change other_2, other_6, other_10, other_14, other_18 and other_22.")
    assert all(f"other_{number} ends here" in found for number in (2, 6, 10, 14, 18, 22))
    assert "other_7 ends here" in found and "other_21 ends here" not in found


def test_a_correction_is_shown_what_the_last_change_has_touched() -> None:
    at = LONG_FILE[: LONG_FILE.index("'last_20")].count("\n") + 1
    patch = f"--- a/app/sums.py\n+++ b/app/sums.py\n@@ -{at},2 +{at},3 @@ def last_20(a, b):\n".encode()
    words = words_of(TaskSpec("t", "Fix it", "It is wrong."), Correction("c", "One test fails."), patch)
    assert "last_20 ends here" in shown(words)


def test_a_long_page_is_shown_around_what_is_named() -> None:
    page = "".join(
        f"<p class='line-{number}'>a long page has many lines like this one</p>\n" for number in range(2_000)
    )
    found = shown("The paragraph `class='line-1500'` is empty", page)
    assert "line-1500'" in found and "line-1495'" in found and "line-1000'" not in found


# --- what it asks for ----------------------------------------------------------------------------------------

EDIT = "a.py\n```python\n<<<<<<< SEARCH\nDELETE FILE b.py\n=======\nDELETE a.py::f\n>>>>>>> REPLACE\n```\n"


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        pytest.param("DELETE a.py::f", ["a.py::f"], id="a name"),
        pytest.param("So:\n\n- `DELETE a/b.py:10-80`\n", ["a/b.py:10-80"], id="lines, as models write them"),
        pytest.param(f"{EDIT}DELETE c.py::C.m\n", ["c.py::C.m"], id="what stands in an edit is code"),
        pytest.param("DELETE FROM users;\nDELETE it all\nDelete a.py::f", [], id="other words"),
        pytest.param("DELETE a.py::f\nDELETE a.py::f", ["a.py::f"], id="said twice"),
    ],
)
def test_an_order_is_a_line_of_its_own(reply: str, found: list[str]) -> None:
    assert [str(one) for one in orders(reply, "DELETE")] == found
    assert orders(reply, "SHOW") == ()


CODE = """import os


@cache
def f():
    return 1


def g():
    return 2


class C:
    def m(self):
        return 3
"""


@pytest.mark.parametrize(
    ("order", "left"),
    [
        pytest.param(
            "DELETE a.py::f", CODE.replace("@cache\ndef f():\n    return 1\n\n\n", ""), id="a function, decorated"
        ),
        pytest.param("DELETE a.py:9-10", CODE.replace("def g():\n    return 2\n\n\n", ""), id="lines"),
        pytest.param("DELETE FILE a.py", None, id="the file"),
        pytest.param("DELETE a.py::f\nDELETE a.py::C", "import os\n\n\ndef g():\n    return 2\n\n\n", id="two"),
    ],
)
def test_what_is_to_go_goes(order: str, left: str | None) -> None:
    assert rearranged(orders(order, "DELETE"), {"a.py": CODE}, {"a.py": CODE}) == {"a.py": left}


def test_lines_are_those_that_the_model_saw() -> None:
    now = "import sys\n" + CODE
    assert rearranged(orders("DELETE a.py:9-10", "DELETE"), {"a.py": CODE}, {"a.py": now}) == {
        "a.py": now.replace("def g():\n    return 2\n\n\n", "")
    }


@pytest.mark.parametrize(
    ("order", "why"),
    [
        pytest.param("DELETE other.py::f", "the task does not name it", id="a file that is not the task's"),
        pytest.param("DELETE a.py::nothing", "there is no a.py::nothing", id="no such name"),
        pytest.param("DELETE a.py:90-95", "there is no a.py:90-95", id="no such lines"),
        pytest.param("DELETE a.py::C.m", "no Python any more", id="an empty class would be left"),
        pytest.param("DELETE a.py:6-6", "no Python any more", id="half of a function"),
    ],
)
def test_what_cannot_go_is_refused(order: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        rearranged(orders(order, "DELETE"), {"a.py": CODE}, {"a.py": CODE})


def test_a_part_is_shown_as_it_is_or_the_names_that_there_are() -> None:
    assert part_of(PartOrder("SHOW", "a.py", "f"), CODE) == "⋮ lines 4-6\n@cache\ndef f():\n    return 1\n"
    assert part_of(PartOrder("SHOW", "a.py", "", 9, 900), CODE).splitlines()[1] == "def g():"
    with pytest.raises(Refused, match=r"there is no a.py::h; the file has f, g, C, C.m"):
        part_of(PartOrder("SHOW", "a.py", "h"), CODE)


@pytest.mark.parametrize(
    ("line", "path"), [("SHOW shop/urls.py", "shop/urls.py"), ("`SHOW Makefile.in`", "Makefile.in")]
)
def test_a_whole_file_may_be_asked_for_and_only_shown(line: str, path: str) -> None:
    assert orders(line, "SHOW") == (PartOrder("SHOW", path),)
    assert part_of(PartOrder("SHOW", path), "a = 1\nb = 2\n") == "⋮ lines 1-2\na = 1\nb = 2\n"
    assert orders(line.replace("SHOW", "DELETE"), "DELETE") == () and orders("SHOW me the rest", "SHOW") == ()


# --- files and replies that were built to do harm ------------------------------------------------------------

CODE_IN_EDITS = [
    pytest.param("<<<<< SEARCH\nx\n=====\nDELETE FILE a.py\n>>>>> REPLACE\n", id="an edit with short signs"),
    pytest.param("<<<<<<< SEARCH\nx\n=======\n>>>>>>> theirs\nDELETE FILE a.py\n>>>>>>> REPLACE\n", id="signs of git"),
    pytest.param(
        "<<<<<<< SEARCH\nx\n=======\ny\x0c>>>>>>> REPLACE\nDELETE FILE a.py\n>>>>>>> REPLACE", id="form feeds"
    ),
]


@pytest.mark.parametrize("reply", CODE_IN_EDITS)
def test_what_the_engine_reads_as_an_edit_holds_no_orders(reply: str) -> None:
    assert orders(f"a.py\n```python\n{reply}```\n", "DELETE") == ()


def test_lines_end_where_python_says_and_not_at_other_signs() -> None:
    odd = 'TITLE = "a\u2028b\x85c"\n\x0c\n'
    code = f"{odd}def one():\n    return 1\n\n\ndef two():\n    return 2\n"
    left = {"a.py": f"{odd}def one():\n    return 1\n\n\n"}
    assert rearranged(orders("DELETE a.py::two", "DELETE"), {"a.py": code}, {"a.py": code}) == left
    assert rearranged(orders("DELETE a.py:7-8", "DELETE"), {"a.py": code}, {"a.py": code}) == left
    assert part_of(PartOrder("SHOW", "a.py", "two"), code) == "⋮ lines 7-8\ndef two():\n    return 2\n"


MANY = "".join(f"def f{number}(): pass\n" for number in range(20_000))
HUGE = [
    pytest.param("x=" + "1," * 200_000, "x", id="one long line"),
    pytest.param(MANY, " ".join(["a.py:1-900"] * 400), id="many lines that are named"),
    pytest.param(MANY, " ".join(f"f{number}" for number in range(0, 20_000, 3)), id="many names"),
    pytest.param("fn aa\nx\n" * 60_000, "x `aa`", id="many definitions of one name"),
    pytest.param(MANY, " ".join(f"`quote{number}`" for number in range(9_000)), id="many quotes"),
]


@pytest.mark.parametrize(("text", "words"), HUGE)
def test_of_whatever_is_long_a_bounded_part_is_shown(text: str, words: str) -> None:
    assert len(view("a.py", text, words)) < 100_000


# --- moving --------------------------------------------------------------------------------------------------

MOVED = "import os\n\n\ndef f():\n    return os.sep\n\n\nclass C:\n    def m(self):\n        return f()\n"


def moved(reply: str, there: str = "") -> dict[str, str | None]:
    files = {"a.py": MOVED, "b.py": there}
    return rearranged(orders(reply, "DELETE", "MOVE"), files, files)


def test_what_moves_is_taken_out_and_added_at_the_end_letter_by_letter() -> None:
    left = {"a.py": MOVED.replace("def f():\n    return os.sep\n\n\n", "")}
    assert moved("MOVE a.py::f TO b.py") == left | {"b.py": "def f():\n    return os.sep\n"}
    assert moved("- `MOVE a.py:4-5 TO b.py`", "import os\n") == left | {
        "b.py": "import os\n\n\ndef f():\n    return os.sep\n"
    }


def test_all_that_moves_stands_in_the_order_of_the_lines_that_say_so() -> None:
    left = moved("MOVE a.py::C TO b.py\nMOVE a.py::f TO b.py")
    assert left["b.py"] == "class C:\n    def m(self):\n        return f()\n\n\ndef f():\n    return os.sep\n"
    assert left["a.py"] == "import os\n\n\n"


def test_what_was_moved_may_leave_nothing_and_the_file_goes() -> None:
    assert moved("MOVE a.py::f TO b.py\nDELETE FILE a.py")["a.py"] is None


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        pytest.param("MOVE a.py::f TO c.py", "the task does not name that file", id="a file that is not the task's"),
        pytest.param("MOVE a.py::f TO ../b.py", "the task does not name that file", id="out of the folder"),
        pytest.param("MOVE a.py::C.m TO b.py", "it is a method", id="a method"),
        pytest.param("MOVE a.py::none TO b.py", "there is no a.py::none", id="no such name"),
        pytest.param("MOVE b.py::f TO a.py", "nothing can be taken out of b.py", id="out of an empty file"),
        pytest.param("MOVE a.py:5-5 TO b.py", "no Python any more", id="half of a function"),
    ],
)
def test_what_cannot_be_moved_says_why(reply: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        moved(reply)


@pytest.mark.parametrize("line", ["MOVE a.py::f", "MOVE FILE a.py TO b.py", "DELETE a.py::f TO b.py", "MOVE on TO it"])
def test_what_is_no_move_is_only_words(line: str) -> None:
    assert orders(line, "DELETE", "MOVE", "SHOW") == ()


def test_of_what_is_only_read_the_named_part_is_shown_and_of_what_is_edited_all(tmp_path: Path) -> None:
    text = "".join(function(f"other_{number}") for number in range(8)) + function("net_price")
    text += "".join(function(f"last_{number}") for number in range(8))
    assert LONG_TO_READ < len(text) < LONG
    for name in ("read.py", "edit.py"):
        (tmp_path / name).write_text(text)
    job = EngineJob(tmp_path, "m", ("edit.py",), (), ("read.py",), "t", ModelChoice("m"))
    (path,) = (found := with_views(job, "Round what net_price returns.").views)
    assert path == "read.py" and function("net_price") in found[path] and len(found[path]) < len(text) * 0.8
    assert not with_views(job, "Round the price.").views, "where nothing is named, all of it may matter"


# --- the form that a file had -----------------------------------------------------------------------------------


def tidied(files: Mapping[str, str], _configuration: Mapping[str, str]) -> Mapping[str, str]:
    """A formatter to which the blanks around a sign matter."""
    return {path: text.replace("  ", " ") for path, text in files.items() if "(:" not in text}


@pytest.mark.parametrize(
    ("before", "now", "left"),
    [
        pytest.param({"a.py": "a = 1\n"}, {"a.py": "a  = 2\n"}, {"a.py": "a = 2\n"}, id="as it was"),
        pytest.param({"a.py": "a  = 1\n"}, {"a.py": "a  = 2\n"}, {"a.py": "a  = 2\n"}, id="it was not"),
        pytest.param({"a.py": "a = 1\n"}, {"a.py": "def f(:\n  1"}, {"a.py": "def f(:\n  1"}, id="it cannot be read"),
        pytest.param(
            {"a.py": "a = 1\n", "c.py": "c  = 1\n", "n.md": "a\n"},
            {"a.py": "a  = 2\n", "b.py": "b  = 1\n", "c.py": "c  = 1\n", "n.md": "a  b\n"},
            {"a.py": "a = 2\n", "b.py": "b = 1\n", "c.py": "c  = 1\n", "n.md": "a  b\n"},
            id="a new file beside it; what did not change, and no prose",
        ),
        pytest.param(
            {"a.py": "a = 1\n", "c.py": "c  = 1\n"},
            {"a.py": "a  = 2\n", "b.py": "b  = 1\n", "c.py": "c  = 2\n"},
            {"a.py": "a = 2\n", "b.py": "b  = 1\n", "c.py": "c  = 2\n"},
            id="nobody knows of a new file beside one that was not",
        ),
        pytest.param({}, {"b.py": "b  = 1\n"}, {"b.py": "b  = 1\n"}, id="nor of one alone"),
    ],
)
def test_a_file_keeps_the_form_that_it_had(
    tmp_path: Path, before: dict[str, str], now: dict[str, str], left: dict[str, str]
) -> None:
    for path, text in {**now, "ruff.toml": ""}.items():
        (tmp_path / path).write_text(text or "line-length = 100\n")
    create = tuple(path for path in now if path not in before)
    keep_form(EngineJob(tmp_path, "", tuple(before), create, (), "", ModelChoice("m")), before, tidied)
    assert {path: (tmp_path / path).read_text() for path in now} == left


@pytest.mark.parametrize(
    ("path", "text", "is_formatted"),
    [
        ("pyproject.toml", "[tool.ruff]\n", True),
        ("pyproject.toml", "[tool.black]\nline-length = 88\n", True),
        ("pyproject.toml", "[tool.pytest.ini_options]\n", False),
        (".pre-commit-config.yaml", "- id: ruff-format\n", True),
        (".pre-commit-config.yaml", "- id: mypy\n", False),
        (".ruff.toml", "line-length = 100\n", True),
    ],
)
def test_only_a_repository_that_names_a_formatter_has_a_form(
    tmp_path: Path, path: str, text: str, is_formatted: bool
) -> None:
    (tmp_path / path).write_text(text)
    (tmp_path / "a.py").write_text("a  = 2\n")
    keep_form(EngineJob(tmp_path, "", ("a.py",), (), (), "", ModelChoice("m")), {"a.py": "a = 1\n"}, tidied)
    assert (tmp_path / "a.py").read_text() == ("a = 2\n" if is_formatted else "a  = 2\n")


def test_without_a_formatter_a_file_stays_as_it_is(tmp_path: Path) -> None:
    def missing(_files: Mapping[str, str], _configuration: Mapping[str, str]) -> Mapping[str, str]:
        raise Misconfigured("there is no ruff")

    (tmp_path / "a.py").write_text("a  = 2\n")
    (tmp_path / "ruff.toml").write_text("line-length = 100\n")
    keep_form(EngineJob(tmp_path, "", ("a.py",), (), (), "", ModelChoice("m")), {"a.py": "a = 1\n"}, missing)
    assert (tmp_path / "a.py").read_text() == "a  = 2\n"
