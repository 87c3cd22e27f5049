"""What has no unit tests is checked by its own tools: what counts, what is not asked, what is named as not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.qa.runner.suite import RawTestRun, SuiteOrder
from sisimpur.agents.qa.tools import own_readings, readings
from sisimpur.agents.qa.tools.checking import Toolbox
from sisimpur.agents.qa.tools.readings import ABSENT, read
from sisimpur.agents.qa.tools.table import TOOLS
from sisimpur.shared.model.errors import BrokenSetup, Unavailable
from sisimpur.shared.model.evidence import Evidence, Problem, SuiteRun, ToolRun
from sisimpur.shared.model.work import Branch
from sisimpur.shared.sandbox.bubblewrap import never

# --- a bench that says what a test wants it to ----------------------------------------------------------------

BRANCH = Branch("agent/t1", "base", "change", ("run.sh",))
ASKED = Problem("nothing shows the new behaviour", "no test was added or changed", "write tests")
NOTED = "run.sh:3:5: warning: foo is referenced but not assigned. [SC2154]\n"


@dataclass(frozen=True)
class File:
    path: str


@dataclass
class Files:
    """`before`, `after`: the files of the base and of the change."""

    before: dict[str, str]
    after: dict[str, str]

    def tree(self, sha: str) -> list[File]:
        return [File(path) for path in self._at(sha)]

    def read(self, sha: str, path: str, limit: int = 0) -> bytes | None:
        return self._at(sha)[path].encode()

    def _at(self, sha: str) -> dict[str, str]:
        return self.before if sha == "base" else self.after


Says = Callable[[str, str], tuple[str, int]]  # commit, command -> output, exit code


@dataclass
class TalkingBench:
    says: Says
    quality: str = "full"
    end: str = "exited"
    orders: list[SuiteOrder] = field(default_factory=list)

    def label(self, commit: str) -> str:
        return "a box"

    def run(self, order: SuiteOrder, stop: Callable[[], bool] = never) -> RawTestRun:
        self.orders.append(order)
        output, code = self.says(order.commit, order.command)
        return RawTestRun(self.end, code, 0.1, output)


class Book:
    def __init__(self) -> None:
        self.kept: dict[str, SuiteRun] = {}

    def base_run(self, key: str) -> SuiteRun | None:
        return self.kept.get(key)

    def keep_run(self, key: str, run: SuiteRun) -> None:
        self.kept[key] = run


def shellcheck(base: str, change: str) -> Says:
    """Only shellcheck has something to say."""
    said = {"base": base, "change": change}
    return lambda commit, command: (said[commit], 1 if said[commit] else 0) if "shellcheck" in command else ("", 0)


def checked(says: Says, *problems: Problem, before: str | None = "echo\n", book: Book | None = None) -> Evidence:
    """A change of run.sh."""
    files = Files({"run.sh": before} if before is not None else {}, {"run.sh": "echo\n"})
    box = Toolbox(TalkingBench(says), book or Book(), files, BRANCH, ("run.sh",))
    return box.check(Evidence("change", "", "base", "", "", problems=problems))


def ran(evidence: Evidence, name: str = "shellcheck") -> ToolRun:
    [found] = [run for run in evidence.tools if run.name == name]
    return found


# --- what counts ----------------------------------------------------------------------------------------------


def test_what_a_tool_says_of_the_change_and_not_of_the_base_sends_it_back() -> None:
    [problem] = checked(shellcheck("", NOTED)).problems
    assert (problem.rule, problem.remedy) == ("a tool finds something new", "correct")
    assert problem.text == f"shellcheck says what it does not say of the base: {NOTED.strip()}"


def test_what_it_said_of_the_base_counts_nothing_although_the_line_has_moved() -> None:
    evidence = checked(shellcheck(NOTED, NOTED.replace(":3:5:", ":9:1:")))
    assert evidence.problems == () and ran(evidence) == ToolRun("shellcheck", "ran")


def test_of_a_new_file_all_counts() -> None:
    assert ran(checked(shellcheck("never asked", NOTED), before=None)).new == (NOTED.strip(),)


def test_a_tool_that_fails_on_the_base_shows_nothing() -> None:
    evidence = checked(shellcheck("no such option", NOTED))
    assert evidence.problems == ()
    assert ran(evidence).end == "not run: it does not work on the base: it ends with 1: no such option"


def test_a_tool_that_only_the_change_stops_counts() -> None:
    assert ran(checked(shellcheck("", "cannot read this"))).new == ("it ends with 1: cannot read this",)


def test_a_workflow_and_a_lock_are_the_owners_to_judge() -> None:
    assert {tool.name for tool in TOOLS if tool.remedy == "ask owner"} == {
        *("check-jsonschema", "zizmor", "poetry check --lock", "uv lock --check --offline")
    }


# --- what is run ----------------------------------------------------------------------------------------------


def test_a_base_is_asked_only_where_the_change_says_something_and_only_once() -> None:
    book, asked = Book(), []

    def says(commit: str, command: str) -> tuple[str, int]:
        asked.append((commit, "shellcheck" in command))
        return shellcheck(NOTED, NOTED)(commit, command)

    checked(says, book=book)
    checked(says, book=book)
    assert asked == [("change", False), ("change", True), ("base", True), ("change", False), ("change", True)]


def test_the_change_of_a_file_without_a_tool_starts_nothing() -> None:
    bench = TalkingBench(lambda commit, command: ("", 0))
    files = Files({"app.py": "1"}, {"app.py": "2"})
    branch = Branch("agent/t1", "base", "change", ("app.py",))
    found = Toolbox(bench, Book(), files, branch, ("app.py",)).check(Evidence("change", "", "base", "", ""))
    assert (found.tools, bench.orders) == ((), [])


def test_a_run_that_the_machine_ended_is_made_again() -> None:
    bench = TalkingBench(lambda commit, command: ("", 0), end="machine")
    files = Files({}, {"run.sh": "echo\n"})
    with pytest.raises(Unavailable):
        Toolbox(bench, Book(), files, BRANCH, ("run.sh",)).check(Evidence("change", "", "base", "", ""))


def test_without_an_environment_no_tool_runs_and_that_is_said() -> None:
    class Broken(TalkingBench):
        def label(self, commit: str) -> str:
            raise BrokenSetup("pip says no")

    files = Files({}, {"run.sh": "echo\n"})
    box = Toolbox(Broken(lambda commit, command: ("", 0)), Book(), files, BRANCH, ("run.sh",))
    assert ran(box.check(Evidence("change", "", "base", "", ""))).end.endswith("no environment (pip says no)")


def asked_of_python(name: str, files: dict[str, str], says: Says) -> list[ToolRun]:
    """A change of app.py and its test in a repository with these files."""
    files = {"app.py": "one = 1\n", "tests/test_app.py": "", **files}
    branch = Branch("agent/t1", "base", "change", ("app.py", "tests/test_app.py"))
    box = Toolbox(TalkingBench(says), Book(), Files(files, files), branch, ("app.py",))
    return [run for run in box.check(Evidence("change", "", "base", "", "")).tools if run.name == name]


@pytest.mark.parametrize(
    ("files", "is_asked"),
    [
        ({"pyproject.toml": "[tool.mypy]\nstrict = true\n"}, True),
        ({"pyproject.toml": "[tool.ruff]\n"}, False),
        ({"mypy.ini": ""}, True),
        ({"setup.cfg": "[metadata]\n"}, False),
        ({}, False),
    ],
)
def test_types_are_checked_only_where_the_repository_asks_for_it(files: dict[str, str], is_asked: bool) -> None:
    assert bool(asked_of_python("mypy", files, lambda commit, command: ("", 0))) == is_asked


def test_a_new_error_of_types_counts_and_an_old_one_that_moved_does_not() -> None:
    old = "app.py:{}: error: Missing return statement  [return]\n"
    new = 'app.py:4: error: Item "None" of "int | None" has no attribute "a"  [union-attr]\n'
    note = "app.py:4: note: See the documentation\n"
    place = 'app.py:1: error: Cannot find implementation or library stub for "x"  [import-not-found]\n'
    said = {"base": old.format(2), "change": old.format(3) + new + note + place}

    def says(commit: str, command: str) -> tuple[str, int]:
        return (said[commit], 0) if "types" in command else ("", 0)

    [run] = asked_of_python("mypy", {"mypy.ini": ""}, says)
    assert run == ToolRun("mypy", "ran", (new.strip().replace("  ", " "),))


@pytest.mark.parametrize(
    ("files", "is_asked"),
    [
        ({"pyproject.toml": "[tool.ruff.lint]\nselect = ['E']\n"}, True),
        ({"ruff.toml": ""}, True),
        ({"pyproject.toml": "[tool.mypy]\n"}, False),
    ],
)
def test_ruff_is_asked_only_as_the_repository_configures_it(files: dict[str, str], is_asked: bool) -> None:
    assert bool(asked_of_python("ruff check", files, lambda commit, command: ("", 0))) == is_asked


def test_what_ruff_finds_in_a_changed_test_counts_and_what_it_found_before_does_not() -> None:
    """A line that is too long breaks the project's own checks, wherever it stands."""
    old, new = "app.py:{}:1: F401 `os` imported but unused\n", "tests/test_app.py:5:89: E501 Line too long (89 > 88)\n"
    said = {"base": old.format(1), "change": old.format(3) + new}

    def says(commit: str, command: str) -> tuple[str, int]:
        return (said[commit], 1) if "ruff" in command and "tests/test_app.py" in command else ("", 0)

    [run] = asked_of_python("ruff check", {"ruff.toml": ""}, says)
    assert run == ToolRun("ruff check", "ran", (new.strip(),))


# --- no unit test of what has a tool --------------------------------------------------------------------------


def test_nobody_is_asked_to_write_unit_tests_of_a_shell_script_that_its_tools_have_seen() -> None:
    assert checked(shellcheck("", ""), ASKED).problems == ()


def test_where_a_tool_is_missing_the_owner_judges_instead() -> None:
    evidence = checked(lambda commit, command: ("", ABSENT if "shellcheck" in command else 0), ASKED)
    assert ran(evidence).end == "not run: it is not installed"
    [problem] = evidence.problems
    assert problem.remedy == "ask owner" and "shellcheck not run: it is not installed" in problem.text


def test_beside_code_tests_are_asked_for_as_ever() -> None:
    files = Files({"app.py": "1"}, {"run.sh": "echo\n", "app.py": "2"})
    branch = Branch("agent/t1", "base", "change", ("run.sh", "app.py"))
    box = Toolbox(TalkingBench(shellcheck("", "")), Book(), files, branch, ("run.sh", "app.py"))
    assert box.check(Evidence("change", "", "base", "", "", problems=(ASKED,))).problems == (ASKED,)


# --- how an answer is read ------------------------------------------------------------------------------------


@given(st.text(), st.integers(0, 255))
def test_no_output_raises_and_every_remark_is_one_short_line(output: str, code: int) -> None:
    for tool in TOOLS:
        for remark in read(tool.read, f"== {output}\n== f\nERROR: {output}", "exited", code).remarks:
            assert remark.text.isprintable() and len(remark.text) <= 300


def test_compose_says_one_thing_of_a_file_and_a_secret_that_is_not_given_is_no_fault() -> None:
    said = "== a.yml\nThe compose file is invalid because:\nservices.web: unsupported option: 'imag'\n"
    found = read(readings.compose, said + "== b.yml\nrequired variable KEY is missing a value\n", "exited", 0)
    assert [remark.text for remark in found.remarks] == ["a.yml: services.web: unsupported option: 'imag'"]
    assert found.unable == "b.yml: required variable KEY is missing a value"


def test_hadolint_says_what_is_wrong_and_not_what_is_a_matter_of_style() -> None:
    said = (
        "Dockerfile:1 DL3006 warning: Always tag the version of an image explicitly\n"
        "Dockerfile:2 DL3015 info: Avoid additional packages\n"
        "Dockerfile:3:1 unexpected 'F' expecting '#', ADD\n"
    )
    found = read(readings.hadolint, said, "exited", 0).remarks
    assert [remark.key for remark in found] == ["Dockerfile DL3006", "Dockerfile 'F' expecting '#', ADD"]


def test_of_a_tool_that_only_fails_the_line_is_told_that_names_the_error() -> None:
    said = "Using CPython\nerror: No solution found\n  cause: attrs was not found\nhint: the network was disabled\n"
    [remark] = read(readings.nothing, said, "exited", 1).remarks
    assert remark.text == "it ends with 1: error: No solution found"


DOCKERFILE = """\
# syntax=docker/dockerfile:1
ARG VERSION=3.13
FROM python:$VERSION AS built
COPY --chown=app pyproject.toml src/ ./
RUN pip install \\
    # what is meant to stay
    -r requirements.txt
COPY <<EOF /etc/motd
COPYING is no instruction here
EOF
COPY --from=built /env /env
COPY ["entry point.sh", "/"]
ADD https://example.org/a.tar.gz *.cfg /srv/
CMD ["python"]
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DOCKERFILE, ["Dockerfile:12: entry point.sh is not in the repository"]),
        ("FORM python\n", ["Dockerfile:1: FORM is no instruction", "Dockerfile: there is no FROM"]),
        ("RUN true\nFROM python\n", ["Dockerfile:1: RUN stands before the first FROM"]),
        (
            "FROM python\ncopy . /srv\nCOPY deploy/gone.txt ../x /srv/\n",
            ["Dockerfile:3: deploy/gone.txt is not in the repository"],
        ),
        ("FROM python\nRUN a \\\n", []),
    ],
)
def test_a_dockerfile_is_read_without_an_engine(text: str, said: list[str]) -> None:
    found = own_readings.dockerfile("Dockerfile", text, {"pyproject.toml", "src/a.py", "Dockerfile"})
    assert [remark.text for remark in found] == said  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("compose.yml", "services:\n  web:\n    build: .\n    depends_on: [db]\n  db:\n    image: postgres\n", []),
        (
            "compose.yml",
            "services:\n  web:\n    ports: ['80']\n    depends_on: [db]\n",
            [
                "compose.yml: the service web has neither `image:` nor `build:`",
                "compose.yml: web depends on db, which is no service",
            ],
        ),
        ("compose.override.yml", "services:\n  web:\n    ports: ['80']\n", []),
        ("compose.yml", "service:\n  web: {}\n", ["compose.yml: there is no `services:`"]),
        ("compose.yml", "services: [\n", ["compose.yml:2: not valid YAML (did not find expected node content)"]),
    ],
)
def test_a_compose_file_is_read_without_an_engine(path: str, text: str, said: list[str]) -> None:
    assert [remark.text for remark in own_readings.compose(path, text, ())] == said  # type: ignore[union-attr]


def test_a_compose_file_that_we_cannot_read_is_named() -> None:
    [told] = own_readings.compose("compose.yml", "x-a: &a\n  image: b\nservices:\n  web: *a\n", ())
    assert isinstance(told, str) and "anchors and aliases" in told


# --- files that were built to do harm -------------------------------------------------------------------------


def own_says(path: str, text: str, *others: str) -> Evidence:
    """Of a change that brings a file which is read by ourselves."""
    files = Files({}, dict.fromkeys((path, *others), text))
    branch = Branch("agent/t1", "base", "change", (path,))
    box = Toolbox(TalkingBench(lambda *_: ("", ABSENT)), Book(), files, branch, (path,))
    return box.check(Evidence("change", "", "base", "", ""))


@pytest.mark.parametrize(
    "needed", ["5", "true", "web", "[{a: b}]", "[[a]]", "{web: {condition: x}}", "[1, null]", '"\\0"']
)
def test_no_compose_file_raises(needed: str) -> None:
    text = f"services:\n  web:\n    image: x\n    depends_on: {needed}\n"
    assert ran(own_says("compose.yml", text), "our reading of compose files").end.startswith("ran")


def test_no_dockerfile_raises_or_takes_long() -> None:
    deep = own_says("Dockerfile", f"FROM a\nCOPY {'[' * 100_000}\n")
    assert ran(deep, "our reading of Dockerfiles") == ToolRun("our reading of Dockerfiles", "ran")
    names = " ".join(f"s{number}" for number in range(50_000))
    wide = own_says("Dockerfile", f"FROM a\nCOPY {names} to\n", *(f"p/{number}" for number in range(5_000)))
    found = ran(wide, "our reading of Dockerfiles")
    assert len(found.new) == readings.MOST
    assert found.end == f"ran; not seen: it says more than {readings.MOST} things"
