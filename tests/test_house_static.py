"""The yardstick of the house, held against small made-up trees."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from bench import house_static as house
from bench.house_static import Module


def module(path: str, text: str = "") -> Module:
    return Module(path, dedent(text).lstrip("\n"))


# --- reading -------------------------------------------------------------------------------------------------


def test_only_the_product_is_read_and_what_was_built_or_fetched_is_not(tmp_path: Path) -> None:
    for name in ("main.py", "cli/a.py", "web/api/b.py", "simulators/c.py", "tests/d.py", "bench/e.py", "cli/notes.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    for folder in ("web/pages/node_modules", "web/dist", "cli/__pycache__", "cli/.hidden"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "x.py").write_text("")
    assert [m.path for m in house.read_modules(tmp_path)] == ["cli/a.py", "main.py", "web/api/b.py"]
    assert [m.path for m in house.read_modules(tmp_path, house.SIMULATORS)] == ["simulators/c.py"]


@pytest.mark.parametrize(
    ("path", "name", "package"),
    [("main.py", "main", ""), ("cli/app.py", "cli.app", "cli"), ("cli/views/__init__.py", "cli.views", "cli.views")],
)
def test_a_module_is_named_as_it_is_imported(path: str, name: str, package: str) -> None:
    assert (module(path).name, module(path).package) == (name, package)


# --- lines ---------------------------------------------------------------------------------------------------

LINES = '''
    """What it is.

    And more.
    """

    # why
    TEXT = """one
    # no comment

    four"""  # a comment beside


    class A:
        """Its docstring."""

        def f(self) -> int:
            "Another."
            return (
                1  # the number

            )

        x = 1; "no docstring"
    '''


def test_code_is_what_is_neither_blank_nor_a_comment_nor_a_docstring() -> None:
    made = [module("a.py", LINES)]
    assert house.lines(made) == 23
    # TEXT (4), class, def, return (, 1, ), x
    assert house.code_lines(made) == 10


def test_a_docstring_that_begins_with_a_preposition_is_a_fragment() -> None:
    made = [
        module("a.py", '"""Of what is left."""\nclass A:\n    """Whether: it ended."""\n    def f(self): "Ends it."'),
        module("b.py", '"""Offers everything."""'),
    ]
    assert [one.where for one in house.fragments(made)] == ["a.py:1 Of what is left.", "a.py:3 Whether: it ended."]


# --- sizes ---------------------------------------------------------------------------------------------------

FUNCTIONS = """
    @cached
    def plain(a, /, b, *rest, c=1, **more):
        def inner(self, x): ...

    class A:
        async def longest(self, one,
                          two):
            if one:
                return
        @classmethod
        def make(cls): ...
    """


def test_the_longest_function_and_the_most_parameters_have_a_place() -> None:
    made = [module("a.py", FUNCTIONS)]
    assert [(s.value, s.where) for s in house.functions_by_length(made)] == [
        (4, "a.py:6 longest"),
        (2, "a.py:2 plain"),
        (1, "a.py:11 make"),
        (1, "a.py:3 inner"),
    ]
    assert [(s.value, s.where) for s in house.functions_by_parameters(made)] == [
        (5, "a.py:2 plain"),
        (2, "a.py:6 longest"),
        (1, "a.py:3 inner"),
        (0, "a.py:11 make"),
    ]


def test_files_are_measured_by_their_lines() -> None:
    made = [module("a.py", "x = 1\n"), module("b.py", "x\n\n\n")]
    assert [(s.value, s.where) for s in house.files_by_length(made)] == [(3, "b.py"), (1, "a.py")]


def test_a_package_counts_its_modules_without_its_face_and_without_packages_below() -> None:
    made = [module(p) for p in ("main.py", "cli/__init__.py", "cli/a.py", "cli/b.py", "cli/views/c.py")]
    assert [(s.value, s.where) for s in house.packages_by_modules(made)] == [
        (2, "cli"),
        (1, "(root)"),
        (1, "cli.views"),
    ]


def test_a_face_exports_its_list_or_else_all_that_it_binds() -> None:
    def exported(text: str) -> set[str]:
        return house.exports(module("shop/__init__.py", text))

    assert exported("from __future__ import annotations\nimport _ssl\n_own = 1") == set()
    assert exported("import a.b, c as d\nfrom e import f\ng = 1\nh: int = 1\ndef i(): ...\nclass J: ...") == set(
        "adfghiJ"
    )
    assert exported("from a import b, c\n__all__ = ['b']") == {"b"}
    assert exported("from a import b, c\n__all__: tuple[str, ...] = ('c',)") == {"c"}


def test_a_face_of_more_than_five_names_is_wide() -> None:
    made = [
        module("wide/__init__.py", "from .a import b, c, d, e, f, g"),
        module("narrow/__init__.py", "from .a import b, c, d, e, f"),
        module("narrow/module.py", "b = c = d = 1\ne = f = g = h = 1"),
    ]
    assert [(s.value, s.where) for s in house.wide_faces(made)] == [(6, "wide")]


# --- packages that import one another ------------------------------------------------------------------------

SHOP = [
    module("shop/__init__.py", "from shop.till import Till"),
    module("shop/till.py"),
    module("shop/stock/__init__.py"),
    module("shop/stock/shelf.py"),
]

IMPORTS = {
    "a module of it": ("import shop.till", {"shop"}),
    "a name of a module": ("from shop.till import Till", {"shop"}),
    "a name of its face": ("from shop import Till", {"shop"}),
    "the package below through its parent": ("from shop import stock", {"shop.stock"}),
    "a name of the package below": ("from shop.stock import Shelf", {"shop.stock"}),
    "a module of the package below": ("from shop.stock.shelf import Shelf as S", {"shop.stock"}),
    "everything": ("from shop.stock import *", {"shop.stock"}),
    "inside a function": ("def f():\n    from shop import till", {"shop"}),
    "for types only": ("if TYPE_CHECKING:\n    import shop.stock", {"shop.stock"}),
    "one that only begins alike": ("import shops.till, json", set()),
    "its own neighbour": ("import street.door\nfrom street import window\nfrom . import window", set()),
    "two dots": ("from ..shop import till", {"shop"}),
}


@pytest.mark.parametrize("case", IMPORTS)
def test_an_import_belongs_to_the_package_that_holds_the_module(case: str) -> None:
    text, packages = IMPORTS[case]
    own = [module("street/here.py", text), module("street/door.py"), module("street/window.py")]
    assert house.package_graph([*SHOP, *own])["street"] == packages


def test_relative_imports_count_from_the_modules_own_package() -> None:
    made = [*SHOP, module("shop/stock/cellar.py", "from .shelf import a\nfrom .. import till\nfrom ..till import Till")]
    assert house.module_graph(made)["shop.stock.cellar"] == {"shop.stock.shelf", "shop.till"}
    assert house.package_graph(made) == {"shop": set(), "shop.stock": {"shop"}}


def test_a_package_and_one_below_it_can_make_a_cycle() -> None:
    made = [module("a/x.py", "import a.b.y"), module("a/b/y.py", "from a import z"), module("a/z.py")]
    assert house.cycles(house.package_graph(made)) == [("a", "a.b")]
    assert house.cycles(house.module_graph(made)) == []
    assert house.import_lines(made, "a.b", "a") == ["a.b.y -> a.z"]


def test_knots_are_what_can_reach_each_other_the_biggest_first() -> None:
    graph = {"a": "b", "b": "a", "c": "de", "d": "e", "e": "fc", "f": "d", "g": "gac", "h": ""}
    assert house.cycles(graph) == [("c", "d", "e", "f"), ("a", "b")]
    assert house.cycles({"a": "bc", "b": "d", "c": "d", "d": ""}) == []


def test_a_long_chain_of_packages_is_no_cycle() -> None:
    assert house.cycles({str(n): {str(n + 1)} for n in range(400)}) == []


# --- classes -------------------------------------------------------------------------------------------------


def test_a_class_name_is_shared_wherever_its_classes_stand() -> None:
    made = [
        module("a.py", "class Answer: ...\nclass Only: ...\nclass _Own: ..."),
        module("b.py", "class Outer:\n    class Answer: ...\ndef f():\n    class _Own: ..."),
    ]
    assert house.shared_class_names(made) == {
        "Answer": ["a.py:1 Answer", "b.py:2 Answer"],
        "_Own": ["a.py:3 _Own", "b.py:4 _Own"],
    }


ERRORS = [
    module("errors.py", "class Ours(Exception): ...\nclass Away(Ours): ...\nclass Interrupted(KeyboardInterrupt): ..."),
    module("kit/__init__.py", "from errors import Away as Gone"),
]
BASES = {
    "the same module's": ("class Late(Soon): ...\nclass Soon(ValueError): ...", ["Late", "Soon"]),
    "by name": ("from errors import Away\nclass X(Away): ...", ["X"]),
    "by another name": ("from errors import Away as A\nclass X(Base, A): ...", ["X"]),
    "by its module": ("import errors\nclass X(errors.Ours): ...", ["X"]),
    "through a face": ("from kit import Gone\nclass X(Gone): ...", ["X"]),
    "foreign": ("import httpx2\nclass X(httpx2.HTTPError): ...", ["X"]),
    "plain": ("class X: ...\nclass Y(list[int]): ...\nclass Z(Protocol): ...", []),
    "of the same name, but another": ("class Ours: ...\nclass X(Ours): ...", []),
}


@pytest.mark.parametrize("case", BASES)
def test_an_exception_is_what_comes_from_one(case: str) -> None:
    text, names = BASES[case]
    found = house.exceptions([*ERRORS, module("here.py", text)])
    assert sorted(place.split()[1] for place in found if place.startswith("here.py")) == names
    assert [place for place in found if place.startswith("errors.py")] == [
        "errors.py:1 Ours",
        "errors.py:2 Away",
        "errors.py:3 Interrupted",
    ]


def test_dependencies_are_the_lines_of_requirements_in() -> None:
    text = "# why\nPyYAML  # yaml\npydantic>=2,<3\nuvicorn[standard]==1\n\n-r other.in\nzizmor;python_version>'3'\n"
    assert house.dependencies(text) == ["pyyaml", "pydantic", "uvicorn", "zizmor"]
