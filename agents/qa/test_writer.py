"""TaskSpec and Evidence -> the order to write the tests that are missing, and nothing else. Pure."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sisimpur.agents.qa.analysis.expressions import Function, module_of
from sisimpur.agents.qa.analysis.touched import SuiteFiles
from sisimpur.agents.qa.coverage_checker import places
from sisimpur.agents.qa.survey.commands import holds_tests
from sisimpur.agents.qa.uncollected import UNITTEST, missing_marks
from sisimpur.shared.llm.prompts import quoted
from sisimpur.shared.model.evidence import EDGE, UNCHANGED, UNSHOWN, Evidence, is_test_file, rules
from sisimpur.shared.model.work import Branch, TaskSpec
from sisimpur.shared.repo.file_parts import view

MOST_CONTEXT = 8  # changed files that are shown
MOST_SAMPLES = 2  # test files that show how tests are written here
MOST_SHOWN = 60_000  # characters of all files that come along; of one the half
LONGEST = 1_500  # characters of one failure
MOST_DIFF = 6_000  # characters of the difference: the changed files come along whole
AROUND = ("urls.py", "models.py")  # of the tested package
HELPING = ("conftest.py", "factories.py", "fixtures.py", "base.py", "helpers.py", "utils.py")  # beside the tests
IDENTIFIER = re.compile(r"[A-Za-z]\w*_\w+|[A-Z][a-z]+[A-Z]\w*")  # that can be nothing but a name of the code
A_PATH = re.compile(r"[\w./-]*\w\.\w+")  # in words
ROOTS, OF_TESTS = ("src", "lib"), ("tests", "test", "testing", "unit")  # folders that name no package
PLAIN_NAMES = re.compile(r"(?:views|models|urls|admin|forms|utils|helpers|tasks|main|app|api|core|base)(?:_|$)")
LIKE_DJANGO = """\
Write them as this repository does: a class on django.test.TestCase (SimpleTestCase where no database is needed), one
method per behaviour, in the style of the test files that come along."""
LIKE_UNITTEST = """\
Write them as this repository does: a class on {base}, one method per behaviour, in the style of the test
files that come along."""
OWN_BASE = re.compile(r"^class \w+\((\w+TestCase)\b", re.MULTILINE)
LIKE_PYTEST = """\
Write them for pytest: plain functions whose names are sentences, parametrized tables, the fixtures that are there."""
ORDER = """\
{turn}
`{command}` runs them.

{style}

- Test what the task asks for, through what the changed code offers to its callers, with its edge cases.
- {aim}
- Where the changed code is pure, write property tests with hypothesis, if this repository has it.
{uncovered}
What was asked for:

{description}

What was changed:

{diff}"""
BLIND = """\
Somebody else makes the change for this task, and you do not see it: what comes along is as it was. Write tests of what
the task asks for, in {path} and nowhere else. They are run on that change; where they disagree, a reviewer reads both.
`{command}` runs them.

{style}

- Test what the words say and no more, with examples of your own: other values, edges, what must stay as it is.
- Use only names that are there, or that the words name. Guess none.
- A file or class of tests that the words name is for who makes the change: it shows you how tests are written here.

What is asked for:

{description}"""
NEW_TURN = "The change for this task is made; its tests are missing. Write them, in {path} and nowhere else."
SAME_TURN = """\
The change for this task is made, and brings tests in {path}. {why}
Correct them there, and nowhere else: keep what else they ask."""
SHOWS_NOTHING = "without the change too, so they show nothing."
RED_TURN = """\
The change for this task is made, and you have written tests for it in {path}. They were sent back:

{why}

Find out whether the test is wrong or the changed code. A wrong test is corrected there, and nowhere else. If the code
is wrong, leave the test as it is, and say why in one sentence that begins: the code is wrong, because"""
STANDS = "Keep what else they ask."
RUNS_IT = "They run the changed lines that no test runs, and assert what these do."
SHOWS_IT = "At least one test must fail without the change."
ON_EDGE = """\
At least one test stands on the very edge where the changed code decides, or leaves out what has a default, and asserts
  what the task asks for there, whatever the code does now: {gap}."""
KEEPS_IT = """\
The change is to alter nothing that a caller sees. Pin down what the code did before: every test must pass with the
  change and without it. Now {gap}."""

Read = Callable[[str], str]  # a path of the commit -> its text


@dataclass(frozen=True)
class Site:
    """Site of the tests: the change, and the repository around it. `paths`: all files of the commit.

    `lines`: the changed ones of each changed file that is there; `brought`: its test files whose new tests ran.
    `planned`: files that other open tasks are to create; `own`: such orders led to these.
    """

    paths: Collection[str]
    lines: Mapping[str, Collection[int]]
    brought: Collection[str]
    diff: str
    read: Read
    planned: Collection[str] = ()
    own: Collection[str] = ()


def order(task: TaskSpec, branch: Branch, evidence: Evidence, site: Site) -> TaskSpec:
    """The order is for the coding engine: it creates one file and edits none, or corrects what shows nothing."""
    asked = rules(evidence.needing("write tests"))
    again = tuple(sorted(site.own) or sorted(site.brought)[:MOST_SAMPLES] if site.own or UNSHOWN in asked else ())
    only = () if again else _only(evidence.command, site.paths, _named(task, site.paths))
    tested = _tested(branch.changed, evidence, site)
    definition, paths = _definition(tested, evidence, site), {*site.paths, *site.planned}
    new = () if again or only else (new_file(tested, definition, paths, evidence.command),)
    path = ", ".join(again or only or new)
    samples = [one for one in samples_of(path, site.paths, _named(task, site.paths)) if one not in again]
    around = [*samples, *_around(tested, path, site.paths)]
    aim, held = _aim(evidence, asked)
    description = ORDER.format(
        turn=_turn(evidence, again).format(path=path, why=_why(evidence, again, site)),
        command=evidence.command,
        style=_style(site.read(samples[0]) if samples else site.read(again[0]) if again else "", evidence.command),
        aim=aim,
        uncovered=f"- No test runs these changed lines: {places(evidence.uncovered)}.\n" if evidence.uncovered else "",
        description=task.description,
        diff=quoted(_shown(site.diff), "change"),
    )
    return replace(
        task,
        title=f"Tests for: {task.title}",
        description=description,
        files=again or only,
        new_files=new,
        context=tuple(_fitting([*_code(branch.changed, site, again), *around], site.read, task)),
        acceptance=(*task.acceptance, f"{path} holds tests that pass, {held}"),
    )


def blind_order(task: TaskSpec, command: str, paths: Collection[str], read: Read) -> TaskSpec | None:
    """The order to test what the words say, for who does not see the change. None: there is nothing to test.

    `read`: of the base; `paths`: of the base and of the change.
    """
    tested = next((one for one in task.files if one.endswith(".py") and not is_test_file(one) and read(one)), "")
    if not tested or _only(command, paths):
        return None
    path = new_file(tested, "as_asked", {*paths, *task.new_files}, command, _own_folder(task))
    there = {one: text for one in paths if (text := read(one))}
    samples = samples_of(path, there, _named(task, paths), _telling(task, there))
    around = [*(one for one in (*task.files, *task.context) if one in there and not is_test_file(one)), *samples]
    style = _style(read(samples[0]) if samples else "", command)
    return replace(
        task,
        title=f"Tests for: {task.title}",
        description=BLIND.format(path=path, command=command, style=style, description=task.description),
        files=(),
        new_files=(path,),
        context=tuple(_fitting([*around, *filter(read, _around(tested, path, paths))], read, task)),
    )


def _turn(evidence: Evidence, again: Collection[str]) -> str:
    return NEW_TURN if not again else RED_TURN if evidence.is_red else SAME_TURN


def _why(evidence: Evidence, again: Collection[str], site: Site) -> str:
    """Why tests that are there are corrected: what is wrong with them, or which show nothing."""
    if evidence.is_red:
        found = [f"{one.rule}: {one.text}" for one in evidence.needing("correct")]
        found += [
            f"{one.test} at {one.where or 'an unknown place'}\n{one.text[-LONGEST:]}" for one in evidence.failures
        ]
        return quoted("\n\n".join(found)[:MOST_DIFF], "tests")
    files = SuiteFiles(site.paths)
    if lacking := [one for one in evidence.needing("write tests") if one.rule == UNSHOWN and one.tests]:
        return f"{lacking[0].text}."
    idle = [one for one in evidence.new_tests if one not in evidence.proving and files.file(one) in again]
    return (
        f"{', '.join(idle)} {'pass' if idle[1:] else 'passes'} {SHOWS_NOTHING}"
        if idle
        else f"They pass {SHOWS_NOTHING}"
    )


def _aim(evidence: Evidence, asked: Collection[str]) -> tuple[str, str]:
    """What the tests have to do, and how the task is known to be done."""
    if evidence.is_red:
        return STANDS, "unless the changed code is wrong"
    gap = "; ".join(one.text for one in evidence.needing("write tests"))
    if UNCHANGED in asked:
        return KEEPS_IT.format(gap=gap), "with the change and without it"
    if EDGE in asked:
        return ON_EDGE.format(gap=gap), "and stand on each edge"
    return (SHOWS_IT, "and fail without the change") if UNSHOWN in asked else (RUNS_IT, "and run the changed lines")


def _style(sample: str, command: str) -> str:
    """As the nearest tests are written, and never otherwise than their runner collects them."""
    if own := OWN_BASE.search(sample):
        return LIKE_UNITTEST.format(base=own[1])
    if "django.test" in sample or "manage.py test" in command:
        return LIKE_DJANGO
    is_unittest = UNITTEST.search(command) or ("unittest" in sample and "pytest" not in sample)
    return LIKE_UNITTEST.format(base="unittest.TestCase") if is_unittest else LIKE_PYTEST


# --- what is tested ------------------------------------------------------------------------------------------


def _tested(changed: Iterable[str], evidence: Evidence, site: Site) -> str:
    """The changed module that the gap names, with most lines that no test runs, or most changed ones; empty: none."""
    there = [path for path in changed if path in site.lines and not is_test_file(path)]
    gap = {*A_PATH.findall("\n".join(one.text for one in evidence.needing("write tests")))}
    asked = {
        path: (path.endswith(".py"), path in gap, len(evidence.uncovered.get(path, ())), len(site.lines[path]))
        for path in there
    }
    return max(there, key=asked.__getitem__, default="")


def _definition(tested: str, evidence: Evidence, site: Site) -> str:
    """The first definition that holds a line which no test runs, or else a changed one; empty: none does."""
    lines = evidence.uncovered.get(tested) or site.lines.get(tested, ())
    body = module_of(site.read(tested)).body if tested.endswith(".py") else ()
    for node in body:
        if isinstance(node, Function | ast.ClassDef) and any(node.lineno <= n <= (node.end_lineno or 0) for n in lines):
            return node.name
    return ""


def _code(changed: Iterable[str], site: Site, again: Collection[str]) -> list[str]:
    return [one for one in changed if one in site.paths and one not in again][:MOST_CONTEXT]


def _shown(diff: str) -> str:
    """Of the difference the changes of old files of the product: new ones come along whole."""
    parts = re.split(r"^(?=diff --git )", diff, flags=re.MULTILINE)
    named = ((re.match(r"diff --git a/(.+) b/\1\n", part), part) for part in parts)
    told = "".join(part for name, part in named if name and not is_test_file(name[1]) and "\nnew file mode" not in part)
    cut = "\n… the rest stands in the files" if len(told) > MOST_DIFF else ""
    return told[:MOST_DIFF] + cut if told else "only new files, which come along"


def _only(command: str, paths: Collection[str], meant: Collection[str] = ()) -> tuple[str, ...]:
    """The file of tests that a command names, of several one that is `meant`; empty: it runs others, too."""
    words = command.replace("'", " ").replace('"', " ").split()
    named = [one for word in words for one in (word.partition("::")[0], f"{word.replace('.', '/')}.py") if one in paths]
    tests = [one for one in named if holds_tests(one)] if named and holds_tests(named[-1]) else []
    return tuple(([one for one in tests if one in meant] or tests)[-1:])


# --- where its tests are -------------------------------------------------------------------------------------


def _own_folder(task: TaskSpec) -> str | None:
    """Where the task's own tests are; None: it names none."""
    return next((one.rpartition("/")[0] for one in (*task.files, *task.new_files) if holds_tests(one)), None)


def new_file(tested: str, definition: str, paths: Collection[str], command: str, folder: str | None = None) -> str:
    """`tests/test_<module>.py`, where its package keeps its tests; if that is taken, named by the definition too."""
    folder = _folder(tested, paths, command) if folder is None else folder
    package, _, stem = tested.rpartition(".")[0].rpartition("/")
    stem = package.rpartition("/")[2] if stem == "__init__" else stem
    is_own = package.rpartition("/")[2] in folder.split("/")
    if PLAIN_NAMES.match(stem) and package and not is_own:
        stem = f"{package.rpartition('/')[2]}_{stem}"
    name = _word(stem) or "change"
    tried = (name, f"{name}_{_word(definition)}".rstrip("_"), *(f"{name}_{n}" for n in range(2, 1000)))
    prefix = f"{folder}/" if folder else ""
    taken = set(paths)
    if f"{prefix}__init__.py" not in taken:  # to pytest two modules of one name are one
        taken |= {f"{prefix}{one.rpartition('/')[2]}" for one in paths}
    return next(path for path in (f"{prefix}test_{one}.py" for one in tried) if path not in taken)


def _word(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower()[:60].removeprefix("test_")


def samples_of(
    path: str, paths: Collection[str], named: Collection[str] = (), telling: Collection[str] = ()
) -> list[str]:
    """The test files whose style is to be followed: `named` by the task, `telling` of what it says, beside the new one,
    or the next best.
    """
    folder = path.partition(", ")[0].rpartition("/")[0]
    tests = [one for one in sorted(paths) if holds_tests(one) and one not in path.split(", ")]

    def fits(one: str) -> tuple[bool, bool, int]:
        return one not in named, one not in telling, -_alike(one.rpartition("/")[0], folder)

    return sorted(tests, key=fits)[:MOST_SAMPLES]


def _telling(task: TaskSpec, texts: Mapping[str, str]) -> Sequence[str]:
    """The test files that hold most of the names that the task says, if they hold two of them."""
    said = {*IDENTIFIER.findall(_words(task))}
    held = {path: len(said.intersection(IDENTIFIER.findall(texts[path]))) for path in texts if holds_tests(path)}
    return sorted((path for path in held if held[path] > 1), key=lambda path: (-held[path], path))[:MOST_SAMPLES]


def _words(task: TaskSpec) -> str:
    return "\n".join((task.title, task.description, *task.acceptance))


def _named(task: TaskSpec, paths: Iterable[str]) -> list[str]:
    """The files that the task may change, and those that its words name, by path or by a name that no other has."""
    words, every = {*A_PATH.findall(_words(task))}, list(paths)
    names = Counter(path.rpartition("/")[2] for path in every)
    alone = (path for path in every if names[path.rpartition("/")[2]] == 1 and path.rpartition("/")[2] in words)
    return [*task.files, *(path for path in every if path in words), *alone]


def _alike(one: str, other: str) -> int:
    """Folders that both paths begin with; the same folder is the most alike."""
    pairs = list(zip(one.split("/"), other.split("/"), strict=False))
    return next((number for number, (a, b) in enumerate(pairs) if a != b), len(pairs)) + 100 * (one == other)


def _folder(tested: str, paths: Collection[str], command: str) -> str:
    """Folder of the tested package's tests, in its own folder or mirrored; else that of most tests."""
    kept = Counter(path.rpartition("/")[0] for path in sorted(paths) if holds_tests(path))
    is_unittest = UNITTEST.search(command) is not None
    able = {one: n for one, n in kept.items() if not (is_unittest and missing_marks(f"{one}/x.py".lstrip("/"), paths))}
    package = tested.rpartition("/")[0]
    named = {*package.split("/")} - {"", *ROOTS}

    def fits(folder: str) -> tuple[int, int, int]:
        parts = {*folder.split("/")} - {"", *ROOTS, *OF_TESTS}
        return len(parts & named), -len(parts - named), able[folder]

    best = max(able, key=fits, default=None)
    if best is not None and (fits(best)[0] or not fits(best)[1]):
        return best
    if (kept or is_unittest) and package and f"{package}/__init__.py" in paths:
        return package  # others keep theirs in their own folders
    return best if best is not None else "tests"


def _around(tested: str, path: str, paths: Collection[str]) -> Iterator[str]:
    """What tests of this module need to know: its package's addresses and models, fixtures and helpers of tests."""
    folders = path.partition(", ")[0].split("/")[:-1]
    above = ["".join(f"{part}/" for part in folders[:size]) for size in range(len(folders), -1, -1)]
    package = f"{tested.rpartition('/')[0]}/".lstrip("/")
    wanted = (
        *(f"{folder}conftest.py" for folder in above),
        *(f"{above[0]}{name}" for name in HELPING),
        *(f"{package}{name}" for name in AROUND),
    )
    yield from dict.fromkeys(one for one in wanted if one in paths)


def _fitting(found: Iterable[str], read: Read, task: TaskSpec) -> Iterator[str]:
    """As many as fit together; one that is too long leaves its place to the next.

    Of a long file that the task names only the parts are shown that its words mean: they count, and no more.
    """
    room, every = MOST_SHOWN, list(dict.fromkeys(found))
    named = _named(task, every)
    for path in every:
        text = read(path)
        size = len((path in named and view(path, text, _words(task))) or text)
        if size <= min(room, MOST_SHOWN // 2):
            room -= size
            yield path
