"""What the model asked to see, from the repository: once, in bounded length, and only what may be read."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import ClassVar, Literal

from sisimpur.agents.planner.facts.code_index import by_worth, kind
from sisimpur.agents.planner.facts.meanings import Meanings
from sisimpur.agents.planner.facts.source import (
    LONG_FILE,
    SourceTree,
    clean,
    definitions,
    hits,
    lines_of,
    may_be_read,
    numbered,
    parts,
    whole,
)
from sisimpur.shared.model.errors import Misconfigured, Refused, Stumble, Unavailable
from sisimpur.shared.model.evidence import LintFinding, SuiteRun
from sisimpur.shared.model.scope import is_plain_path
from sisimpur.shared.model.text import few, one_line, ranges
from sisimpur.shared.model.work import FindingsOf

ASKS_PER_GOAL, MOST_ASKS = 12, 30  # questions
MOST_TOLD, FOR_EACH_MORE, MOST_IN_ALL = 36_000, 9_000, 63_000  # characters: of one goal, for each more, of all answers
HEADS = 800  # characters of what a text defines for which no room is left
HEAD = re.compile(r"\d+\| *(?:export +)?(?:default +)?(?:async +)?(?:def|class|function|interface|const) \w.*")
LONG_PARTS = 6_000  # characters of a long file
MOST_PLACES = 3  # files that a name stands in, the product's first
MOST_DEFINITIONS, MOST_USES, MOST_HITS, MOST_LOOKED, MOST_ALIKE = 3, 8, 20, 2_000, 5
STANDS_ABOVE, WHERE = "it stands above, all of it", "where it stands:"
LONGEST_ASK, MOST_COMPARED, MOST_REMARKS, MOST_FILES = 200, 10_000, 60, 20
ANY = re.compile("")
LINTER_FILES = ("pyproject.toml", "ruff.toml", ".ruff.toml")


@dataclass(frozen=True)
class FactAsk:
    """Something that the model wants to see before it answers: a file, a definition (`path::Name`), a word, where the
    names stand that a file defines, what a linter finds, or which lines no test runs.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    goal_id: str
    kind: Literal["file", "definition", "search", "uses", "findings", "coverage"]
    what: str


# (path -> text of Python files, and of what configures the linter; options; Python files beside) -> what it finds
Lints = Callable[[Mapping[str, str], Sequence[str], Collection[str]], Sequence[LintFinding]]
Suite = Callable[[], SuiteRun]  # all tests of this commit, run once and kept


@dataclass(frozen=True)
class AskSources:
    """What questions are answered from. `linters`: by name. `suite` None: no tests are run for a question.

    `above`: what the model was shown before it asked; a file that stands there whole takes no room again.
    """

    source: SourceTree
    meanings: Meanings
    linters: Mapping[str, Lints] = field(default_factory=dict)
    suite: Suite | None = None
    above: str = ""


def told(known: AskSources, asks: Sequence[FactAsk], room: int = 0) -> str:
    """One answer after the other, those of each goal in turn. `room`: characters; 0: as many as so many goals have.

    Long ones get what short ones leave; of the rest only what they define is told. Where a definition's name stands
    comes last: nobody can do without the text itself.
    """
    taken = _in_turn(asks)
    goals = len({ask.goal_id for ask in taken})
    room = room or min(MOST_TOLD + FOR_EACH_MORE * (goals - 1), MOST_IN_ALL)
    heads = [f"{ask.kind} {one_line(ask.what, LONGEST_ASK)}:" for ask in taken]
    found = [_answer(known, ask) for ask in taken]
    answers = [STANDS_ABOVE if len(text) > len(STANDS_ABOVE) and text in known.above else text for text in found]
    parted = [text.partition(f"\n{WHERE}\n") for text in answers]
    share, texts = room // max(1, len(taken)), dict[int, str]()
    for place in sorted(range(len(taken)), key=lambda place: len(parted[place][0]) > share):
        text = f"{heads[place]}\n{parted[place][0]}"
        if len(text) > room:
            text = f"{heads[place]} no room is left for its {len(answers[place])} characters"
            more = _defined(answers[place])
            text += more if len(text + more) <= room else ""
            parted[place] = ("", "", "")
        room -= len(text) + 2
        texts[place] = text
    for place, (_, *uses) in enumerate(parted):
        if len(more := "".join(uses)) <= room:
            texts[place] += more
            room -= len(more)
    told_ = [texts[place] for place in range(len(taken))]
    if len({_what(ask) for ask in asks}) > len(taken):
        told_.append(f"only {ASKS_PER_GOAL} of each goal and {MOST_ASKS} in all are answered")
    return "\n\n".join(told_)


def _defined(text: str) -> str:
    """The lines of a text that define something, as many as there is room for: where to look, and how it is called."""
    kept = ""
    for line in HEAD.findall(text):
        if len(kept) + len(line) >= HEADS:
            kept += "\n…"
            break
        kept += f"\n{line}"
    return f"; it defines:{kept}" if kept else ""


def _in_turn(asks: Iterable[FactAsk]) -> list[FactAsk]:
    """The first of each goal, then the second of each; what two goals ask is told once."""
    of: defaultdict[str, list[FactAsk]] = defaultdict(list)
    for ask in dict.fromkeys(asks):
        of[ask.goal_id].append(ask)
    turns = zip_longest(*(same[:ASKS_PER_GOAL] for same in of.values()))
    once: dict[tuple[str, str], FactAsk] = {}
    for ask in (ask for turn in turns for ask in turn if ask):
        once.setdefault(_what(ask), ask)
    return [*once.values()][:MOST_ASKS]


def _what(ask: FactAsk) -> tuple[str, str]:
    return ask.kind, ask.what.strip()


def _answer(known: AskSources, ask: FactAsk) -> str:
    """The answer, or what comes nearest."""
    source, meanings, what = known.source, known.meanings, ask.what.strip()[:LONGEST_ASK]
    if ask.kind == "findings":
        return _findings(known, FindingsOf.read(what))
    if ask.kind == "coverage":
        return _coverage(known, _place(what))
    if ask.kind == "file":
        return _file(source, what)
    if ask.kind == "definition":
        return _definition(source, meanings, what)
    if ask.kind == "uses":
        return _uses(source, meanings, what)
    called = [path for path in source.files() if len(what) > 1 and what in path and is_plain_path(path)][:MOST_USES]
    files = [f"files called so: {', '.join(called)}"] if called else []
    return "\n".join([*files, *_lines_with(source, what, MOST_HITS)]) or f"no line holds it{_alike(meanings, what)}"


def _alike(meanings: Meanings, what: str) -> str:
    names = meanings.alike(what.rpartition("::")[2], MOST_ALIKE)
    return f"; names alike: {', '.join(names)}" if names else ""


def _file(source: SourceTree, what: str) -> str:
    path, problem = _found(source, what)
    if problem:
        return problem
    lines = lines_of(source, path) or ()
    if sum(map(len, lines)) <= LONG_FILE:
        return whole(path, lines)
    return parts(path, lines, dict.fromkeys(range(1, 40), 1.0), LONG_PARTS)


def _found(source: SourceTree, what: str) -> tuple[str, str]:
    """(the file that is meant, why it cannot be shown)."""
    name = what.strip("/").removeprefix("./")
    paths = sorted(path for path in source.files() if is_plain_path(path))
    same = [path for path in paths if path == name] or [path for path in paths if path.endswith(f"/{name}")]
    if len(same) > 1:
        return "", f"several files are called so: {', '.join(same[:MOST_USES])}"
    if not same:
        alike = difflib.get_close_matches(name, paths, 3, 0.7) if len(paths) <= MOST_COMPARED else []
        return "", "there is no such file" + (f"; alike: {', '.join(alike)}" if alike else "")
    if not may_be_read(same[0]):
        return "", "not shown: it usually holds keys"
    return same[0], "" if lines_of(source, same[0]) is not None else "not shown: it is not text, or too large"


def _definition(source: SourceTree, meanings: Meanings, what: str) -> str:
    """Its text, with who uses its name."""
    place, _, name = what.rpartition("::")
    path, problem = _found(source, place) if place else ("", "")
    if problem:
        return problem
    first, last = name.partition(".")[0], name.rpartition(".")[2]
    if not path and "." in name and first in meanings.packages:
        return f"{first} is somebody else's package: its code is not in this repository"
    paths = [path] if path else _defining(source, last)
    shown = [text for path in paths for text in _texts(path, lines_of(source, path) or (), name)][:MOST_DEFINITIONS]
    word = rf"(?<!\w){re.escape(last)}(?!\w)"  # a method is called on something; one of the language's own by nobody
    named = re.compile(rf"(?:\.|\bdef ){word}" if shown and "." in name else word)
    is_called = last and not last.startswith("__")
    endings = {posixpath.splitext(path)[1] for path in paths} if shown and "." in name else set()
    uses = [f"  {line}" for line in _lines_with(source, last, MOST_USES, named, endings)] if is_called else []
    return "\n".join(
        [
            *(shown or [f"no class or function is called so{_alike(meanings, what)}"]),
            *([WHERE, *uses] if uses else []),
        ]
    )


def _uses(source: SourceTree, meanings: Meanings, what: str) -> str:
    """A line for each definition of a file: dead code is that whose name stands nowhere else, or in tests only."""
    path, problem = _found(source, what)
    lines = [f"{each.name} (line {each.line}): {_places(here, found)}" for each, here, found in meanings.uses(path)]
    return problem or "\n".join(lines) or "it defines nothing"


def _findings(known: AskSources, asked: FindingsOf) -> str:
    lints = known.linters.get(asked.tool)
    if lints is None:
        return f"{asked.tool!r} is not asked here; that is {', '.join(known.linters) or 'nothing'}"
    if asked.refused:
        return f"{asked.refused!r} is no option that may be asked with"
    place = _place(asked.place)
    code = [path for path in known.source.files() if path.endswith(".py") and _is_below(path, place)]
    theirs = [path for path in known.source.files() if path.rpartition("/")[2] in LINTER_FILES]
    texts = {path: "\n".join(lines) + "\n" for path in code + theirs if (lines := lines_of(known.source, path))}
    try:
        beside = [path for path in known.source.files() if path.endswith(".py") and path not in texts]
        found = lints(texts, asked.options, beside) if code else ()
    except (Misconfigured, Stumble, Unavailable) as problem:
        return str(problem)
    shown = [f"{one.path}:{one.line}: {clean(f'{one.code} {one.text}')}" for one in found[:MOST_REMARKS]]
    more = Counter(one.path for one in found[MOST_REMARKS:])
    rest = [f"and {len(found) - len(shown)} more: {few([f'{path} {n}' for path, n in more.items()], MOST_FILES)}"]
    heads = f"{len(found)} in {len({one.path for one in found})} of {len(code)} files"
    return "\n".join([heads, *shown, *(rest if more else [])])


def _coverage(known: AskSources, place: str) -> str:
    """A line for each file, what lacks most first: how much of it tests run, and which lines none runs."""
    if known.suite is None:
        return "no tests are run for a question"
    try:
        run = known.suite()
    except (Misconfigured, Refused, Stumble, Unavailable) as problem:
        return str(problem)
    if not run.is_whole or run.covered is None:
        return "no lines were counted" if run.is_whole else f"the tests came to no end: {run.end}"
    missed = {path: run.uncovered.get(path, ()) for path in run.executable if _is_below(path, place)}
    lines = [
        f"{path}: tests run {every - len(none)} of {every} lines ({100 * (every - len(none)) / every:.1f} %)"
        + (f"; none runs {ranges(none)}" if none else "")
        for path, none in sorted(missed.items(), key=lambda one: (-len(one[1]), one[0]))
        if (every := run.executable[path])
    ]
    return few(lines, MOST_FILES, "\n") or f"there is no code of {place!r} that tests can be counted for"


def _place(what: str) -> str:
    return what.strip("`'\"/.").removeprefix("./")


def _is_below(path: str, place: str) -> bool:
    return place in ("", path) or path.startswith(f"{place}/")


def _places(here: int, found: Mapping[str, int]) -> str:
    most = sorted(found, key=lambda path: (kind(path) == "tests", kind(path) == "prose", path))
    told = [f"{path} {found[path]}" for path in most[:MOST_PLACES]]
    more = [f"and {len(most) - MOST_PLACES} more files"] if len(most) > MOST_PLACES else []
    return ", ".join([*([f"{here} more here"] if here else []), *told, *more]) or "its name stands nowhere else"


def _defining(source: SourceTree, name: str) -> Iterable[str]:
    found = [hit.path for word in ("def", "class", "function", "const") for hit in hits(source, f"{word} {name}", 20)]
    return dict.fromkeys(path for path in found if is_plain_path(path)) if name else ()


def _texts(path: str, lines: Sequence[str], name: str) -> Iterator[str]:
    for each in definitions(lines):
        if each.name == name or each.name.endswith(f".{name}") or name.endswith(f".{each.name}"):
            last = min(each.last, each.first + 150)
            yield "\n".join([f"{path}:", *numbered(lines, range(each.first, last + 1))])


def _lines_with(
    source: SourceTree, what: str, most: int, named: re.Pattern[str] = ANY, endings: Collection[str] = ()
) -> Iterator[str]:
    """The first lines that hold it, code before tests before prose, and how many more stand where.

    `endings`: of files that may mean it: no other language calls a method. None: all.
    """
    looked = hits(source, what, MOST_LOOKED) if len(what) > 1 else ()
    meant = (hit for hit in looked if not endings or posixpath.splitext(hit.path)[1] in endings)
    found = sorted((hit for hit in meant if is_plain_path(hit.path) and named.search(hit.text)), key=by_worth)
    yield from (f"{hit.path}:{hit.line}: {clean(hit.text.strip())}" for hit in found[:most])
    if more := Counter(hit.path for hit in found[most:]):
        many = f"{'at least ' if len(looked) >= MOST_LOOKED else ''}{more.total()}"
        each = [f"{path} {n}" for path, n in more.items()]  # of very many no list is read, and it takes others' room
        yield f"and {many} more" + (f": {', '.join(each)}" if len(each) <= MOST_FILES else f", in {len(each)} files")
