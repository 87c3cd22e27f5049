"""(Index, a goal's words) -> the files that one would open before planning it, the most telling first. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from posixpath import basename, dirname, splitext

from sisimpur.agents.planner.facts.code_index import (
    ENDING,
    IDENTIFIER,
    CodeIndex,
    Kind,
    kind,
    stems,
)
from sisimpur.agents.planner.facts.loan_words import BENGALI, heard
from sisimpur.agents.planner.facts.meanings import DefinedAt, Meanings, module_name
from sisimpur.shared.model.scope import matches

NAMED_FILES = 12
FEW_FILES = 4
NAMED_DEFINERS = 2  # files of the product that define a name: then its name means them
FOLDER_FILES = 15  # a folder of more is no name for its files
HOPS, PASSED_ON = 2, 0.45  # of what a file is worth, to those that it uses, and that use it
TELLS: Mapping[Kind, float] = {
    "code": 1.0,
    "tests": 0.8,
    "pages": 0.4,
    "prose": 0.4,
    "looks": 0.3,
    "dull": 0.2,
}
MEANT = 1.0  # a file that defines what the words mean is worth so much more; the one that speaks most of them: 1
LEAST = 0.08  # of the best; less says nothing

SHORTEST_LITERAL = 3
QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”")  # of any length: each mark has its own partner
ROUTE = re.compile(r"(?<![\w.<])/[\w@+.-]+(?:/[\w@+.-]*)*")
PATH = re.compile(r"(?<![\w.])\.[a-z]\w+|[\w@.+-]*(?:/[\w@.+-]+)+/?|\w[\w.+-]*\.\w{1,6}\b|\b[A-Z]\w+file\b")
FOLDER = re.compile(r"[\w@.-]+/(?![\w@])")
CAPITALS = re.compile(r"\b[A-Z]{4,}\b")
COMMAND = re.compile(r"`[\w./-]+ ([a-z][\w-]*)[^`\n]*`")  # `beet modify -a …`: the second word is what is done
LONG_WORD = re.compile(r"\b\w{12,}\b")
DOTTED = re.compile(r"\b\w+(?:\.\w+)+")
KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (  # words, and the files that one opens when they are said
    ("image container docker compose root", ("Dockerfile*", "*compose*.y*ml", "*entrypoint*")),
    ("ci workflow workflows pipeline actions", ("/.github/workflows/*.y*ml", ".gitlab-ci.yml")),
    (
        "dependency dependencies package pip lock version",
        ("pyproject.toml", "requirements*.txt", "setup.*", "package.json"),
    ),
    ("coverage test tests pytest", ("pytest.ini", "tox.ini", "setup.cfg", "conftest.py")),
    ("settings setting", ("settings.py", "settings", "config.py")),
)
COMMON = frozenset(
    re.findall(
        "[a-z]+",
        """about add after again against all allow already also always and another any anybody are away because been
        before being below between both but can cannot change check class clean could course create does done each
        ever every everything existing false files first fix following for from function get goes had has have here
        how implement import improve into instead its just know like long look looks make makes many means more most
        much must need never new nobody none not nothing now one only other our out over own please project proper
        properly put really remove replace return right said same say says see set should show since some still such
        support take target test tests than that the their them then there these they thing things think this those
        through time too true under until update use used uses using very want was way well were what when where
        which while who whole will with without work would write writes wrong year years yes yet you your""",
    )
)


@dataclass(frozen=True)
class Relevance:
    """Relevance of files to one goal. `named`: by the goal itself, small ones first; `worth`: of all that matter."""

    named: tuple[str, ...]
    worth: Mapping[str, float]
    telling: frozenset[str]  # stems of its words
    names: frozenset[str]  # identifiers that it says, as written
    meant: Mapping[DefinedAt, float]  # definitions that its words mean, by how much
    literal: tuple[str, ...] = ()  # texts that it quotes, and addresses
    called: frozenset[str] = frozenset()  # names that it says and that can be nothing but names of the code
    defining: frozenset[str] = frozenset()  # the few files that define these

    @property
    def ranked(self) -> tuple[str, ...]:
        """The named files, then the others by what they are worth."""
        others = sorted(self.worth, key=lambda path: (-self.worth[path], path))
        return tuple(dict.fromkeys((*self.named, *others)))


def relevance(index: CodeIndex, meanings: Meanings, text: str) -> Relevance:
    if BENGALI.search(text):
        text = "\n".join((text, *heard(text, index.sounds)))
    named = tuple(dict.fromkeys(named_in(text, index)))[:NAMED_FILES]
    named = tuple(sorted(named, key=lambda path: index.files[path].size if path in index.files else 0))
    plain = _without_folders(text, index)
    telling = frozenset(word for word in telling_words(plain))
    own = {path: index.score(file, telling) * TELLS[kind(path)] for path, file in index.files.items()}
    top = max(own.values(), default=0.0) or 1.0
    worth = {path: value / top for path, value in own.items() if value > 0}
    meant = meanings.meant(plain)
    for path, value in _best(meant).items():
        worth[path] = worth.get(path, 0.0) + MEANT * value * TELLS[kind(path)]
    literal = tuple(dict.fromkeys(literals(text)))
    told = {*_of_kind(text, index), *_holding(text, index), *_saying(literal, index), *_called_so(telling, index)}
    doing = dict(_doing(text, index))
    defining = frozenset(_defining(text, index))
    said = {*named, *defining, *(path for paths in doing.values() for path in paths)}
    for path in {*said, *told}:
        worth[path] = worth.get(path, 0.0) + (1.0 if path in said else 0.5)
    for hop in range(HOPS):
        worth = _passed_on(index, worth, PASSED_ON / (1 + hop))
    least = LEAST * max(worth.values(), default=0.0)
    kept = {path: value for path, value in worth.items() if value >= least and path in index.files}
    names = frozenset(word for word in re.findall(r"\w+", text) if len(word) > 2 and word.lower() not in COMMON)
    called = frozenset(name for name in names if is_a_name(name, text)) | doing.keys()
    return Relevance(named, kept, telling, names, meant, literal, called, defining)


def _without_folders(text: str, index: CodeIndex) -> str:
    """Files that it names by their paths, by their own names: words of the folders speak of all that lies there."""
    return PATH.sub(lambda said: basename(said[0]) if index.at_end(said[0].strip("/")) else said[0], text)


def _best(meant: Mapping[DefinedAt, float]) -> dict[str, float]:
    """Of each file what its best definition is worth."""
    found: dict[str, float] = {}
    for place, value in meant.items():
        found[place.path] = max(value, found.get(place.path, 0.0))
    return found


def telling_words(text: str) -> Iterator[str]:
    for word in re.findall(r"[^\W\d]\w*", text):
        if len(word) > 2 and word.lower() not in COMMON:
            yield from stems(word)


def named_in(text: str, index: CodeIndex) -> Iterator[str]:
    """The files that a text names: by a path or its end, a folder, a module, or a name that one file defines."""
    for name in dict.fromkeys((*PATH.findall(text), *FOLDER.findall(text))):
        end = name.strip("/").removeprefix("./")
        if found := index.at_end(end):
            yield from found[:4]
        else:
            yield from _in_folder(end, index)
    for dotted in dict.fromkeys(name for name in DOTTED.findall(text) if not ENDING.search(name)):
        yield from _of_module(dotted, index)[:2]
    for word in dict.fromkeys(CAPITALS.findall(text)):
        yield from (path for path in index.paths if splitext(basename(path))[0] == word and "/" not in path)
    for word in dict.fromkeys((*LONG_WORD.findall(text), *_commands(text))):  # `sendallreports`: a job is called so
        called = [path for path in index.files if module_name(path) == word and kind(path) == "code"]
        yield from called if len(called) <= NAMED_DEFINERS else ()


def _defining(text: str, index: CodeIndex) -> Iterator[str]:
    """The files that define a name of the code that the text says, if they are few."""
    for word in dict.fromkeys(re.findall(r"\w+", text)):
        if is_a_name(word, text):
            product = [path for path in index.definers.get(word, ()) if kind(path) == "code"]
            yield from product if len(product) <= NAMED_DEFINERS else ()


def _commands(text: str) -> Sequence[str]:
    """The words of command lines that say what is done: `modify` of `beet modify -a artists=x`."""
    return list(dict.fromkeys(word.replace("-", "_") for word in COMMAND.findall(text)))


def _doing(text: str, index: CodeIndex) -> Iterator[tuple[str, Sequence[str]]]:
    """Names of the product that begin with the word of a command, as `modify_items`, and the few files of each."""
    for word in _commands(text):
        found = {
            name: [path for path in paths if kind(path) == "code"]
            for name, paths in index.definers.items()
            if name == word or name.startswith(f"{word}_")
        }
        if len({path for paths in found.values() for path in paths}) <= FEW_FILES:
            yield from ((name, paths) for name, paths in found.items() if paths)


def _of_module(dotted: str, index: CodeIndex) -> Sequence[str]:
    """`shop.models.Order` is of that module. `broker.task` may be said of any broker: `broker.py` has to offer the
    name itself, or nobody has it, since it may be a name to be.
    """
    head, _, name = dotted.rpartition(".")
    found = index.module(dotted) or index.module(head)
    if "." in head or name not in index.definers:
        return found
    inner = dotted.replace(".", "/")
    return [path for path in found if name in index.files[path].offered or splitext(path)[0].endswith(inner)]


def is_a_name(word: str, text: str) -> bool:
    """Whether a text says this word as a name: by its form, in quotes, or as a call."""
    return bool(IDENTIFIER.search(word)) or f"`{word}" in text or f"{word}(" in text


def named_folders(text: str, index: CodeIndex) -> Iterator[str]:
    """The folders that a text names by their path or the end of it, however many files they hold."""
    said = {name.strip("/").removeprefix("./") for name in (*PATH.findall(text), *FOLDER.findall(text))}
    for folder in {dirname(path) for path in index.paths}:
        yield from (folder for name in said if folder == name or folder.endswith(f"/{name}"))


def _in_folder(folder: str, index: CodeIndex) -> Iterator[str]:
    inside = [path for path in index.paths if dirname(path) == folder or dirname(path).endswith(f"/{folder}")]
    if folder and len(inside) <= FOLDER_FILES:
        yield from (path for path in inside if path in index.files and kind(path) != "dull")


def _holding(text: str, index: CodeIndex) -> Iterator[str]:
    """Few files hold an identifier that the goal says: they are what it is about."""
    for word in set(re.findall(r"\w+", text)):
        found = index.holders.get(word, ()) if len(word) > 4 else ()
        yield from found if len(found) <= FEW_FILES else ()


def literals(text: str) -> Iterator[str]:
    """What stands in the code letter by letter: quoted texts, and addresses without what may follow in a pattern."""
    yield from (said for found in QUOTED.findall(text) if len(said := "".join(found)) > SHORTEST_LITERAL)
    for route in ROUTE.findall(text):
        if len(bare := ENDING.sub("", route).rstrip("/.,")) > SHORTEST_LITERAL:
            yield bare


def _saying(literal: Sequence[str], index: CodeIndex) -> Iterator[str]:
    """The files of the product that hold such a text, if they are few: a page, or what answers at an address."""
    for said in literal:
        found = [path for path, file in index.files.items() if kind(path) in ("code", "pages") and said in file.text]
        yield from found if len(found) <= FEW_FILES else ()


def _called_so(telling: Collection[str], index: CodeIndex) -> Iterator[str]:
    """Pages whose name is made of words that the goal says, most of them: `_facet_results.html`."""
    for path in index.files:
        if kind(path) == "pages" and is_called_so(path, telling):
            yield path


def is_called_so(path: str, telling: Collection[str]) -> bool:
    named = set(stems(splitext(basename(path))[0]))
    return bool(named) and 2 * len(named & set(telling)) >= len(named)


def _of_kind(text: str, index: CodeIndex) -> Iterator[str]:
    said = set(re.findall(r"\w+", text.lower()))
    for told, patterns in KINDS:
        if said & set(told.split()):
            yield from [path for path in index.files if matches(path, patterns)][:4]


def _passed_on(index: CodeIndex, worth: Mapping[str, float], share: float) -> dict[str, float]:
    """Each file gives a share of its worth to those beside it; one that has many beside it says less of each."""
    given: dict[str, float] = {}
    for path, value in worth.items():
        beside = {*index.links.get(path, ()), *index.users.get(path, ())}
        for other in beside:
            gift = share * value / sqrt(max(1.0, len(beside) / 4)) * TELLS[kind(other)]
            given[other] = max(given.get(other, 0.0), gift)
    return {path: worth.get(path, 0.0) + given.get(path, 0.0) for path in {*worth, *given}}
