"""The order to write missing tests, and the faults that are planted to try them."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sisimpur.agents.qa.test_writer import MOST_SHOWN, Site, blind_order, new_file, order, samples_of
from sisimpur.agents.qa.unheld.mutants import MOST, FaultsTried, Mutant, mutants
from sisimpur.shared.model.evidence import EDGE, UNCHANGED, UNSHOWN, Evidence, Failure, Problem
from sisimpur.shared.model.scope import is_plain_path
from sisimpur.shared.model.work import Branch, TaskSpec
from sisimpur.shared.repo.file_parts import view

TASK = TaskSpec("t7", "Round the total", "Prices are {rounded}.", files=("shop/prices.py",), guards=("secret/",))
BRANCH = Branch("agent/t7", "b", "c", ("shop/prices.py", "shop/gone.py"))
TREE = ("shop/prices.py", "tests/test_a.py", "tests/test_b.py", "tests/conftest.py", "docs/test_x.py")
SHOWS_NOTHING = Problem(UNSHOWN, "nothing shows what the change does", "write tests")
EVIDENCE = Evidence(
    *("c", "t", "b", "python -m pytest", "box"), uncovered={"shop/prices.py": (4, 5)}, problems=(SHOWS_NOTHING,)
)
PRICES = "RATE = 1\n\n\ndef total(prices):\n    return sum(prices)\n"
PYTEST, DJANGO = "python -m pytest", "python manage.py test"
LIKE_PYTEST, LIKE_DJANGO = "def test_a():\n    assert 1\n", "from django.test import TestCase\n"
DIFF = """\
diff --git a/shop/prices.py b/shop/prices.py
index 1..2 100644
-    return 0
+    return sum(prices)
diff --git a/shop/new.py b/shop/new.py
new file mode 100644
+NEW = 1
diff --git a/tests/test_b.py b/tests/test_b.py
+def test_new(): ...
"""


def site(*more: str, tree: tuple[str, ...] = TREE, brought: tuple[str, ...] = (), **texts: str) -> Site:
    """`texts`: of test files, by their stem."""

    def read(path: str) -> str:
        return (
            PRICES if path == "shop/prices.py" else texts.get(path.rpartition("/")[2].removesuffix(".py"), LIKE_PYTEST)
        )

    return Site((*tree, *more), {"shop/prices.py": (4, 5)}, brought, DIFF, read)


def ordered(found: Site, evidence: Evidence = EVIDENCE) -> TaskSpec:
    return order(TASK, BRANCH, evidence, found)


# --- the order -----------------------------------------------------------------------------------------------


def test_one_new_file_is_ordered_named_by_what_is_tested_and_nothing_may_be_edited() -> None:
    told = ordered(site())
    assert (told.files, told.new_files) == ((), ("tests/test_prices.py",))
    assert (told.id, told.guards) == (TASK.id, TASK.guards)


def test_the_order_says_what_is_missing_what_was_asked_for_what_was_changed_and_how_tests_run() -> None:
    text = ordered(site()).description
    for words in ("tests/test_prices.py", "shop/prices.py:4-5", "Prices are {rounded}.", PYTEST):
        assert words in text
    for words in ("hypothesis", "fail without the change", "nowhere else", "-    return 0\n+    return sum(prices)"):
        assert words in text
    assert "NEW = 1" not in text and "test_new" not in text, "new files come along whole, tests are no change"


def test_what_stands_around_the_tested_module_comes_along_to_be_read() -> None:
    around = ("shop/urls.py", "shop/models.py", "conftest.py", "tests/factories.py", "other/models.py", "shop/views.py")
    told = ordered(site(*around)).context
    assert told[:3] == ("shop/prices.py", "tests/test_a.py", "tests/test_b.py"), "the change, and two examples"
    assert set(told[3:]) == {"tests/conftest.py", "conftest.py", "tests/factories.py", "shop/urls.py", "shop/models.py"}


def test_a_file_that_is_too_long_leaves_its_place_to_others() -> None:
    told = ordered(site(test_a="x = 1\n" * 10_000)).context
    assert told == ("shop/prices.py", "tests/test_b.py", "tests/conftest.py")


def test_tests_of_the_change_that_show_nothing_are_corrected_where_they_are() -> None:
    told = ordered(site(brought=("tests/test_b.py",)))
    assert (told.files, told.new_files) == (("tests/test_b.py",), ())
    assert "tests/test_b.py" not in told.context
    assert "Correct them there" in told.description


def test_what_was_written_for_such_an_order_is_corrected_where_it_is_and_told_why() -> None:
    mute = replace(EVIDENCE, new_tests=("tests/test_x.py::test_mute", "tests/test_b.py::test_old"))
    own = replace(site("tests/test_x.py", brought=("tests/test_b.py", "tests/test_x.py")), own=("tests/test_x.py",))
    told = ordered(own, mute)
    assert (told.files, told.new_files) == (("tests/test_x.py",), ())
    assert "tests/test_x.py::test_mute passes without the change too, so they show nothing" in told.description
    assert "shop/prices.py:4-5" in told.description, "what they do not run"
    assert "test_old" not in told.description


def test_a_red_test_is_sent_back_with_its_failure_and_two_ways_out() -> None:
    problem = Problem("a new test fails", "tests/test_x.py::test_a is new and fails", "correct")
    failure = Failure("tests/test_x.py::test_a", "tests/test_x.py:3", "AssertionError: {1} is not 2")
    red = replace(EVIDENCE, problems=(problem,), failures=(failure,))
    told = ordered(replace(site("tests/test_x.py"), own=("tests/test_x.py",)), red)
    for words in (problem.text, failure.text, "the code is wrong, because", "A wrong test is corrected there"):
        assert words in told.description
    assert told.files == ("tests/test_x.py",)


def test_what_a_change_is_not_to_alter_is_pinned_down_in_a_file_of_its_own() -> None:
    keeps = replace(EVIDENCE, problems=(Problem(UNCHANGED, "no test runs shop/prices.py:4", "write tests"),))
    told = ordered(site(brought=("tests/test_b.py",)), keeps)
    assert told.new_files == ("tests/test_prices.py",)
    assert "Now no test runs shop/prices.py:4." in told.description


def test_on_an_edge_that_no_test_stands_on_the_task_decides_and_not_the_code() -> None:
    lines = ("no test notices if line 5 of shop/prices.py is another: < became <=",)
    told = ordered(site(), replace(EVIDENCE, problems=(Problem(EDGE, lines[0], "write tests"),), unheld=lines))
    assert told.new_files == ("tests/test_prices.py",) and told.acceptance[-1].endswith("and stand on each edge")
    assert f"whatever the code does now: {lines[0]}." in told.description


def test_the_new_file_is_named_by_the_module_that_the_gap_names() -> None:
    changed = replace(BRANCH, changed=("shop/args.py", "shop/prices.py"))
    there = replace(site("shop/args.py"), lines={"shop/args.py": range(1, 9), "shop/prices.py": (5,)})
    for rule, gap in ((EDGE, "if line 5 of shop/prices.py is another"), (UNCHANGED, "no test runs shop/prices.py:5")):
        found = replace(EVIDENCE, uncovered={}, problems=(Problem(rule, gap, "write tests"),))
        assert order(TASK, changed, found, there).new_files == ("tests/test_prices.py",)
    nothing = replace(EVIDENCE, uncovered={}, problems=(SHOWS_NOTHING,))
    assert order(TASK, changed, nothing, there).new_files == ("tests/test_args.py",)


def test_where_coverage_falls_the_lines_are_asked_for_and_good_tests_stay_as_they_are() -> None:
    falls = replace(EVIDENCE, problems=(Problem("coverage drops", "coverage falls", "write tests"),))
    told = ordered(site(brought=("tests/test_b.py",)), falls)
    assert told.new_files == ("tests/test_prices.py",)
    assert "run the changed lines that no test runs" in told.description


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LIKE_PYTEST, "plain functions"),
        (LIKE_DJANGO, "django.test.TestCase"),
        ("import unittest\n", "unittest.TestCase"),
        ("from hc.test import BaseTestCase\nclass PayTestCase(BaseTestCase):\n", "a class on BaseTestCase,"),
        ("import unittest\nclass PayTest(unittest.TestCase):\n", "unittest.TestCase"),
    ],
)
def test_the_style_is_that_of_the_nearest_test(text: str, words: str) -> None:
    assert words in ordered(site(test_a=text)).description


@pytest.mark.parametrize(
    ("command", "words"),
    [("python manage.py test", "django.test.TestCase"), ("python -m unittest", "unittest.TestCase")],
)
def test_no_test_is_ordered_in_a_style_that_the_runner_does_not_collect(command: str, words: str) -> None:
    there = {"shop/prices.py": PRICES, "tests/__init__.py": "#", "tests/test_a.py": LIKE_PYTEST}
    found = blind_order(TASK, command, list(there), lambda path: there.get(path, ""))
    assert found is not None and words in found.description


def test_without_any_test_the_style_is_pytest_s() -> None:
    assert "plain functions" in ordered(site(tree=("shop/prices.py",))).description


@pytest.mark.parametrize(
    ("tested", "paths", "command", "path"),
    [
        pytest.param("shop/prices.py", TREE, PYTEST, "tests/test_prices.py", id="where most tests are"),
        pytest.param(
            *("shop/prices.py", ("shop/tests/test_a.py", *TREE), PYTEST, "shop/tests/test_prices.py"),
            id="in the package's own folder",
        ),
        pytest.param("shop/prices.py", ("shop/tests.py", *TREE), PYTEST, "shop/test_prices.py", id="beside tests.py"),
        pytest.param(
            *("src/app/shop/prices.py", ("tests/app/shop/test_a.py", "tests/app/test_b.py", *TREE), PYTEST),
            "tests/app/shop/test_prices.py",
            id="in a mirrored folder",
        ),
        pytest.param(
            *("shop/prices.py", ("tests/e2e/test_a.py", "tests/e2e/test_b.py", "tests/test_c.py"), PYTEST),
            "tests/test_prices.py",
            id="not with tests of another kind, though they are more",
        ),
        pytest.param("prices.py", ("test_a.py",), PYTEST, "test_prices.py", id="at the top"),
        pytest.param("shop/prices.py", ("shop/prices.py",), PYTEST, "tests/test_prices.py", id="there is none yet"),
        pytest.param(
            *("shop/prices.py", ("shop/__init__.py", "cart/tests/test_a.py", "cart/tests/__init__.py"), DJANGO),
            "shop/test_prices.py",
            id="others have theirs in their own packages",
        ),
        pytest.param(
            *("shop/prices.py", ("manage.py", "shop/__init__.py", "shop/tests/test_a.py"), DJANGO),
            "shop/test_prices.py",
            id="Django: not into a folder that is no package, where nothing would be run",
        ),
        pytest.param(
            *("shop/prices.py", (*TREE, "tests/test_prices.py"), PYTEST, "tests/test_prices_total.py"),
            id="the name is taken: with the definition",
        ),
        pytest.param(
            *("shop/prices.py", (*TREE, "tests/test_prices.py", "tests/test_prices_total.py"), PYTEST),
            "tests/test_prices_2.py",
            id="that is taken too",
        ),
        pytest.param(
            *("shop/prices.py", (*TREE, "docs/test_prices.py"), PYTEST, "tests/test_prices_total.py"),
            id="another folder has it, and neither is a package",
        ),
        pytest.param(
            *("shop/prices.py", (*TREE, "tests/__init__.py", "docs/test_prices.py"), PYTEST, "tests/test_prices.py"),
            id="another folder has it, and ours is a package",
        ),
        pytest.param("shop/views.py", TREE, PYTEST, "tests/test_shop_views.py", id="a plain name says whose"),
        pytest.param(
            *("shop/views.py", ("shop/tests/test_a.py",), PYTEST, "shop/tests/test_views.py"), id="there it is known"
        ),
        pytest.param("shop/__init__.py", TREE, PYTEST, "tests/test_shop.py", id="a package"),
        pytest.param("", TREE, PYTEST, "tests/test_change.py", id="nothing is there any more"),
    ],
)
def test_the_new_file_lies_where_the_package_keeps_its_tests_and_is_named_by_what_is_tested(
    tested: str, paths: tuple[str, ...], command: str, path: str
) -> None:
    assert new_file(tested, "Total", paths, command) == path


@pytest.mark.parametrize(
    ("files", "words", "path"),
    [
        (("tests/test_a.py",), "", "tests/test_a.py"),
        ((), "As tests/test_a.py says.", "tests/test_a.py"),
        ((), "", "tests/test_b.py"),
        (("shop/prices.py",), "", "tests/test_b.py"),
    ],
)
def test_where_a_command_names_files_alone_tests_go_into_the_one_that_the_task_names(
    files: tuple[str, ...], words: str, path: str
) -> None:
    """beets: tests for moving songs were ordered in test_importfeeds.py, the last of the command."""
    task = replace(TASK, files=files, description=words)
    evidence = replace(EVIDENCE, command="python -m pytest tests/test_a.py tests/test_b.py")
    assert order(task, BRANCH, evidence, site()).files == (path,)


def test_the_samples_lie_beside_the_new_file() -> None:
    assert samples_of("tests/test_x.py", TREE) == ["tests/test_a.py", "tests/test_b.py"]
    assert samples_of("shop/test_x.py", ("shop/tests.py", *TREE))[0] == "shop/tests.py"
    assert samples_of("tests/test_x.py", ("shop/prices.py",)) == []


def test_the_samples_are_those_that_the_task_names_before_others() -> None:
    tree = ("tests/test_a.py", "tests/test_b.py", "tests/test_rows.py", "tests/test_utils.py")
    assert samples_of("tests/test_x.py", tree, ("shop/rows.py", "tests/test_rows.py"))[0] == "tests/test_rows.py"
    assert samples_of("tests/test_rows.py", tree, ("tests/test_rows.py",)) == ["tests/test_a.py", "tests/test_b.py"]


@given(st.text(), st.text())
def test_no_name_of_a_file_or_a_definition_leads_to_a_strange_path(stem: str, definition: str) -> None:
    path = new_file(f"shop/{stem}.py", definition, (*TREE, "tests/test_change.py"), PYTEST)
    assert is_plain_path(path) and path.startswith("tests/test_") and path.endswith(".py")


# --- planted faults ------------------------------------------------------------------------------------------


def whats(text: str, lines: range | None = None) -> list[str]:
    changed = lines or range(1, text.count("\n") + 2)
    return [mutant.what for mutant in mutants([("a.py", text, changed)], most=100)]


def sources(text: str) -> list[str]:
    return [mutant.source.decode() for mutant in mutants([("a.py", text, range(1, 100))], most=100)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x = a == b", "x = ((a) != (b))"),
        ("x = a < b", "x = ((a) >= (b))"),
        ("x = a in b", "x = ((a) not in (b))"),
        ("x = a is None", "x = ((a) is not (None))"),
        ("x = a + b", "x = ((a) - (b))"),
        ("x = a - b", "x = ((a) + (b))"),
        ("x = a and b", "x = ((a) or (b))"),
        ("x = a or b", "x = ((a) and (b))"),
        ("x = not a", "x = bool((a))"),
        ("x = 0", "x = 1"),
        ("x = 7", "x = 0"),
        ("x = True", "x = False"),
        ("x = 'ü'", 'x = ""'),
        ("def f():\n    return 'ü' + g(\n        x)", "def f():\n    return None"),
        ("def f():\n    g(x)", "def f():\n    pass"),
    ],
)
def test_a_fault_is_planted(text: str, fault: str) -> None:
    assert fault in sources(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('"""A text."""', id="a docstring"),
        pytest.param("def f(x: 'int') -> 'str': ...", id="annotations"),
        pytest.param("@route('/')\ndef f(): ...", id="decorators"),
        pytest.param("raise ValueError('message')", id="messages of errors"),
        pytest.param("log.info(x)", id="the log"),
        pytest.param("def f():\n    return None", id="returns None already"),
        pytest.param("x = None", id="None"),
        pytest.param("def f(:", id="no Python"),
        pytest.param("\0", id="no text"),
        pytest.param("import a", id="an import"),
        pytest.param("x = 1\ry = a == b", id="line ends of another age"),
    ],
)
def test_no_fault_is_planted_where_no_test_looks(text: str) -> None:
    assert whats(text) == []


TWENTY = "".join(f"def f{number}(x):\n    return x + {number + 2}\n\n" for number in range(20))


def test_only_changed_lines_get_faults() -> None:
    assert {mutant.line for mutant in mutants([("a.py", TWENTY, [2, 8])])} == {2, 8}


def test_at_most_twelve_are_planted_spread_over_the_lines_and_always_the_same() -> None:
    found = mutants([("a.py", TWENTY, range(1, 61))])
    assert len(found) == MOST == len({mutant.line for mutant in found})
    assert found[0].line == 2 and found[-1].line > 50
    assert found == mutants([("a.py", TWENTY, range(1, 61))])


def test_few_lines_get_several_faults_each() -> None:
    assert [mutant.what for mutant in mutants([("a.py", TWENTY, [2])])] == [
        *("returns None", "arithmetic became -", "2 became 0")
    ]


def test_a_fault_is_named_with_its_place() -> None:
    assert str(Mutant("a.py", 3, "== became !=", b"")) == "a.py:3 == became !="


# --- small faults ---------------------------------------------------------------------------------------------


def slips(text: str) -> list[Mutant]:
    return list(mutants([("a.py", text, range(1, 100))], most=100, are_small=True))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x = a < b", "x = ((a) <= (b))"),
        ("x = a >= b", "x = ((a) > (b))"),
        ("x = 0 < a < b", "x = ((0) < (a) <= (b))"),
        ("x = a == b", "x = ((a) != (b))"),
        ("x = 7", "x = 8"),
        ("def f(x=True): ...", "def f(x=False): ..."),
        ("def f(x='all'): ...", 'def f(x=""): ...'),
        ("if a:\n    b()", "if (not (a)):\n    b()"),
        ("if a:\n    raise B", "if a:\n    pass"),
        ("x += a", "pass"),
        ("self.x = a", "pass"),
        ("def f():\n    return g(x)", "def f():\n    return None"),
        ("try:\n    a()\nexcept (B, C):\n    pass", "try:\n    a()\nexcept (C, ):\n    pass"),
        ("with suppress(B, C):\n    a()", "with suppress(B, ):\n    a()"),
        ("x = a[b:c]", "x = a[b:((c) + 1)]"),
    ],
)
def test_a_small_fault_is_a_slip_of_one_sign_value_or_statement(text: str, fault: str) -> None:
    assert fault in [mutant.source.decode() for mutant in slips(text)]


@pytest.mark.parametrize("text", ["x = 'said'", "f('said')", "if TYPE_CHECKING:\n    import a", "x = f'{a:3}'"])
def test_what_is_said_and_what_is_only_typed_is_no_place_for_a_slip(text: str) -> None:
    assert [mutant for mutant in slips(text) if mutant.what != "a call was dropped"] == []


def test_signs_and_values_come_before_whole_statements() -> None:
    assert [one.what for one in slips("def f(x):\n    return x < 3")] == ["< became <=", "3 became 4", "returns None"]


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        pytest.param("x = a if a > b else b", 0, id="the larger of two"),
        pytest.param("if a > b:\n    a = b", 0, id="not more than"),
        pytest.param("x = a if a > b else c", 1, id="another value"),
        pytest.param("if a > b:\n    a = b + 1", 1, id="more is done"),
        pytest.param("if 0 < a <= b:\n    c()", 2, id="a chain"),
        pytest.param("x = a == b", 0, id="no order"),
        pytest.param("def f(a, b=3, *, c=True, d='all'): ...", 3, id="defaults of parameters"),
        pytest.param("f(3, c=True)", 0, id="what is given"),
        pytest.param("f('--all', default=True)", 1, id="the default of an option"),
        pytest.param("try:\n    a()\nexcept (B, C):\n    b()", 2, id="two errors that are caught"),
        pytest.param("try:\n    a()\nexcept B:\n    b()", 0, id="the only one"),
    ],
)
def test_an_edge_is_where_a_comparison_decides_or_a_default_holds(text: str, edges: int) -> None:
    assert sum(one.is_edge for one in slips(text)) == edges


WIDER = "try:\n    a()\nexcept (B, C):\n    pass\nwith suppress(B, C):\n    a()\n"


@pytest.mark.parametrize(
    ("then", "new"),
    [
        ("", ["B", "C", "B", "C"]),
        (WIDER, []),
        (WIDER.replace("(B, C)", "B").replace("suppressB", "suppress(B)"), ["C", "C"]),
        (WIDER.replace("except (B, C)", "except (B, D)").replace("suppress(B, C)", "suppress(C)"), ["B", "B"]),
    ],
)
def test_only_an_error_that_was_not_caught_there_has_to_be_tested(then: str, new: list[str]) -> None:
    """`except (B, D)` is another handler, but `suppress(C)` caught C before."""
    found = mutants([("a.py", WIDER, range(1, 100))], most=100, are_small=True, before={"a.py": then})
    assert [one.what.split()[0] for one in found if "passed on" in one.what] == new


ALIVE = (
    Mutant("a.py", 9, "< became <=", b"", is_edge=True),
    Mutant("a.py", 9, "3 became 4", b""),
    Mutant("a.py", 2, "x", b""),
)


def test_edges_are_asked_first() -> None:
    text = TWENTY + "def last(x):\n    return x < 3\n"
    found = mutants([("a.py", text, range(1, 100))], are_small=True)
    assert len(found) == MOST and [one.is_edge for one in found] == [True] + [False] * (MOST - 1)


def test_lines_that_no_test_holds_are_told_with_what_they_might_say_and_not_all() -> None:
    tried = FaultsTried(5, ALIVE)
    assert tried.told == "2 of 5 small faults in changed lines are noticed"
    assert tried.unheld == (
        "no test notices if line 2 of a.py is another: x",
        "no test notices if line 9 of a.py is another: < became <=, 3 became 4",
    )
    many = FaultsTried(40, tuple(Mutant("a.py", line, "x", b"") for line in range(40)), ("tests/test_a.py",))
    assert len(many.unheld) == 6 and many.unheld[-1] == "35 more changed lines are held by no test"
    assert many.unheld[0] == "none of tests/test_a.py notices if line 0 of a.py is another: x"
    assert many.told.endswith("as far as tests/test_a.py can tell") and FaultsTried().told == ""


def test_only_an_edge_asks_for_a_test() -> None:
    found = FaultsTried(5, ALIVE).untested_edge
    assert found and (found.rule, found.remedy) == (EDGE, "write tests")
    assert found.text == "no test notices if line 9 of a.py is another: < became <="
    assert FaultsTried(5, ALIVE[1:]).untested_edge is None


SOME = st.sampled_from(
    [
        "x = a == b",
        "if a < b and not c:\n    d()",
        "for i in 3, 4:\n    i += 1",
        "x = f'{a + 1}' 'b'",
        "x = [1, 'ä']",
        "y = '''\nß\n''' + z",
    ]
)


@settings(deadline=None)
@given(st.lists(SOME, min_size=1, max_size=8))
def test_every_faulty_file_is_python_and_differs_in_one_place(parts: list[str]) -> None:
    text = "\n".join(parts)
    for mutant in (*mutants([("a.py", text, range(1, 1000))], most=50), *slips(text)):
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(text))


@given(st.text())
def test_no_text_makes_it_raise(text: str) -> None:
    mutants([("a.py", text, range(100))])
    slips(text)


# --- from the words alone ------------------------------------------------------------------------------------


def test_who_tests_from_the_words_alone_is_shown_nothing_of_the_change() -> None:
    there = {"shop/prices.py": PRICES, "tests/test_a.py": LIKE_PYTEST}
    task = replace(TASK, new_files=("tests/test_prices.py",))
    found = blind_order(task, PYTEST, [*TREE, "shop/new.py"], lambda path: there.get(path, ""))
    assert found is not None and (found.files, found.new_files) == ((), ("tests/test_prices_as_asked.py",))
    assert found.context == ("shop/prices.py", "tests/test_a.py"), "what was, and how tests are written"
    assert "Prices are {rounded}." in found.description and "you do not see it" in found.description


@pytest.mark.parametrize(
    ("files", "new_files", "path"),
    [
        ((), ("tests/plugins/test_prices.py",), "tests/plugins/test_prices_as_asked.py"),
        (("tests/plugins/test_b.py",), (), "tests/plugins/test_prices.py"),
        ((), ("test_prices.py",), "test_prices_as_asked.py"),
        ((), (), "tests/samples/shop/test_prices.py"),
    ],
)
def test_who_tests_from_the_words_alone_writes_beside_the_tests_of_the_task(
    files: tuple[str, ...], new_files: tuple[str, ...], path: str
) -> None:
    """beets: a test of beetsplug/duplicates.py was ordered in test/rsrc/beetsplug, among what tests read."""
    there = {"shop/prices.py": PRICES, "tests/plugins/test_b.py": LIKE_PYTEST, "tests/samples/shop/test.py": "1"}
    task = replace(TASK, files=("shop/prices.py", *files), new_files=new_files)
    found = blind_order(task, PYTEST, there, lambda path: there.get(path, ""))
    assert found is not None and found.new_files == (path,)


def test_a_long_file_of_tests_that_the_words_name_is_the_sample_since_it_is_shown_in_parts() -> None:
    method = "    def test_{}(self):\n        self.assertEqual(rounded({}), 'a word or two to make it longer')\n\n"
    classes = (f"class {name}Tests(TestCase):\n" + method.format(name, 1) * 500 for name in ("CSV", "JSON"))
    ods = "class ODSTests(TestCase):\n" + method.format("ods", 1)
    there = {
        "shop/prices.py": PRICES,
        "tests/test_a.py": LIKE_PYTEST,
        "tests/test_shop.py": "import shop\n\n\n" + "\n\n".join((*classes, ods)),
    }
    assert len(there["tests/test_shop.py"]) > MOST_SHOWN
    words = "Tests in test_shop.py, class ODSTests: build a sheet."
    found = blind_order(replace(TASK, description=words), PYTEST, there, lambda path: there.get(path, ""))
    assert found is not None and found.context == ("shop/prices.py", "tests/test_shop.py", "tests/test_a.py")
    shown = view("tests/test_shop.py", there["tests/test_shop.py"], found.description)
    assert "import shop" in shown and ods.strip() in shown and len(shown) < MOST_SHOWN // 2


def test_the_samples_speak_of_what_the_task_says_and_what_it_only_reads_comes_along() -> None:
    there = {
        "shop/prices.py": PRICES,
        "shop/source.py": "class Source: ...\n",
        "tests/test_a.py": LIKE_PYTEST,
        "tests/tills/test_tills.py": "def test_a():\n    round_up(in_cents(1))\n",
        "tests/tills/test_less.py": "def test_a():\n    round_up(1)\n",
    }
    task = replace(TASK, description="round_up keeps what in_cents gives.", context=("shop/source.py", "shop/gone.py"))
    found = blind_order(task, PYTEST, there, lambda path: there.get(path, ""))
    assert found is not None
    assert found.context == ("shop/prices.py", "shop/source.py", "tests/tills/test_tills.py", "tests/test_a.py")


@pytest.mark.parametrize(
    ("task", "command"),
    [
        pytest.param(replace(TASK, files=("docs/use.md",)), PYTEST, id="no code"),
        pytest.param(replace(TASK, files=("shop/new.py",)), PYTEST, id="code that is not there yet"),
        pytest.param(TASK, "python -m pytest tests/test_a.py", id="a command that runs one file"),
    ],
)
def test_where_nothing_can_be_tested_so_nothing_is_ordered(task: TaskSpec, command: str) -> None:
    assert blind_order(task, command, TREE, lambda path: PRICES if path == "shop/prices.py" else "") is None
