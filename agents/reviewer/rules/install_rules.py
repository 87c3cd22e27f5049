"""What documentation tells people to install: each name and address is somebody's code, as a dependency is. Pure.

A name is known that the target itself has, depends on, or told people to install before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch

from sisimpur.agents.reviewer.rules.case import Case, ChangedFile
from sisimpur.agents.reviewer.rules.dependency_rules import RULE, close_to_well_known, declared, required
from sisimpur.shared.model.evidence import Finding, Severity
from sisimpur.shared.model.naming import package_name

TEXTS = ("*.md", "*.markdown", "*.mdx", "*.rst", "*.adoc", "*.txt", "*.html", "README*", "INSTALL*")
PROJECTS = ("pyproject.toml", "package.json", "Pipfile", "setup.cfg", "setup.py")
LISTS = ("requirements*.txt", "requirements*.in", "constraints*.txt")
NAMED = re.compile(r"""^[\s{,]*["']?name["']?\s*[=:]\s*["']?([\w.@/-]+)""", re.MULTILINE)
MOST_READ = 40  # project files
LONGEST = 2_000  # characters of a command
COMMAND = re.compile(
    r"(?:\bpip[\d.]*|\bpipx|\bpoetry|\bconda|\bmamba|\bnpm|\bpnpm|\byarn|\bbun|\bcargo|\bgem|\bgo)"
    r"(?: +-[-\w]+)* +(?:install|add|inject|i|get)\b(?P<rest>[^\n]*)"
    r"|\buv(?: +(?:pip|tool))? +(?:install|add)\b(?P<uv>[^\n]*)"
    r"|(?:\bnpx|\buvx|\bbunx|\bpipx +run|\bnpm +exec|\b(?:pnpm|yarn) +dlx)\b(?P<one>[^\n]*)"
)
ADDRESS = re.compile(
    r"(?:--(?:extra-)?(?:default-)?index(?:-url)?|--find-links|--registry|--trusted-host|--channel"
    r"|\b(?:PIP|UV)_\w*(?:INDEX|LINKS)\w*|\b(?:extra-)?index-url|\bregistry)[ =:]+[\"']?(?P<address>[^\s\"'`)]+)"
)
FETCHED = re.compile(
    r"\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+(?:-\w+\s+)*)?(?:env\s+)?(?:\S*/)?(?:(?:ba|z|da|k)?sh|python[\d.]*|node|perl|ruby)\b"
    r"|\b(?:ba|z)?sh\b[^\n]*(?:<\(|\$\()\s*(?:curl|wget)\b|\b(?:iex|invoke-expression)\b|\|\s*iex\b",
    re.IGNORECASE,
)
VALUED = re.compile(
    r"-(?:r|c|e|t|f|i|n)|--(?:requirement|constraint|editable|target|find-links|registry|channel|name|python|group|extra"
    r"|(?:extra-|default-)?index(?:-url)?|trusted-host|prefix|path)"
)
ELSEWHERE = re.compile(r"^[\w.+-]*(?:git\+|://)|@\s*(?:git\+|https?:)", re.IGNORECASE)
PACKAGE = re.compile(r"(?P<name>@?[A-Za-z0-9][\w.-]*(?:/[\w./-]+)?)(?:\[[\w,. -]*\])?(?:@[\w.^~-]+|[=<>!~].*)?$")
OWN, FILES = (".", "/", "~", "$", "{", "%"), (".whl", ".tar.gz", ".zip", ".txt")
TOOLS = frozenset({"pip", "setuptools", "wheel", "uv", "pipx", "poetry", "virtualenv", "npm", "pnpm", "yarn"})
PROSE = re.compile(  # what follows the words `pip install` in a sentence
    r"(?:a|again|all|also|and|any|are|as|at|be|before|but|by|can|commands?|directly|do|does|each|everything|fails|first|for"
    r"|from|has|if|in|instead|into|is|it|its|may|must|needs|now|of|on|once|only|or|our|packages?|runs|so|that|the|them"
    r"|then|there|these|this|to|too|until|when|which|will|with|works|would|you|your)[.,:]?",
    re.IGNORECASE,
)
OPENED = re.compile(r"^[\s>*$#%+.\d-]*(?:sudo |RUN |python[\d.]* -m |[A-Z_]+=\S+ )*$")  # before a command of its own


def findings(case: Case) -> Iterator[Finding]:
    files = [file for file in case.files if file.after is not None and _is_text(file.path)]
    known: frozenset[str] | None = None
    before = "\n".join(file.before or "" for file in case.files)
    for file in files:
        for number, line in _commands(file):
            yield from _addresses(file, number, line, before)
            for name in _asked(line):
                known = _known(case, before) if known is None else known
                if ELSEWHERE.search(name):
                    if name not in before:
                        yield _finding(file, number, "tells people to install from somewhere else than the index")
                elif package_name(name) not in known:
                    twin = close_to_well_known(name)
                    warning = f"; it is one letter away from {twin}: is that what is meant?" if twin else ""
                    yield _finding(file, number, f"tells people to install {name[:60]}, which is new here{warning}")


def _is_text(path: str) -> bool:
    name = path.rpartition("/")[2]
    return any(fnmatch(name, one) for one in TEXTS) and not any(fnmatch(name, one) for one in LISTS)


def _finding(file: ChangedFile, line: int, text: str) -> Finding:
    return file.finding(line, Severity.MEDIUM, RULE, text)


def _commands(file: ChangedFile) -> Iterator[tuple[int, str]]:
    """Each added line, with those that it goes on in; one that goes on from an older line is read with that."""
    number, lines = 1, file.lines
    while number <= len(lines):
        first, text = number, lines[number - 1]
        while text.endswith("\\") and number < len(lines):
            text = f"{text[:-1]} {lines[number].strip()}"
            number += 1
        number += 1
        if added := file.first_added(first, number - 1):
            yield added, text[:LONGEST]


def _addresses(file: ChangedFile, number: int, line: str, before: str) -> Iterator[Finding]:
    for found in ADDRESS.finditer(line):
        if found["address"] not in before:
            yield _finding(file, number, "names an index of packages that is new here")
    if FETCHED.search(line) and " ".join(line.split()) not in " ".join(before.split()):
        yield _finding(file, number, "tells people to run what an address answers")


def _asked(line: str) -> Iterator[str]:
    """What commands of a line install: names as they are written, without versions, and addresses."""
    for found in COMMAND.finditer(line):
        head, rest = line[: found.start()], found["rest"] or found["uv"] or found["one"] or ""
        is_quoted = head.count("`") % 2 == 1
        words = re.split(r"`|&&|\|\||[;|]| #" if is_quoted else r"&&|\|\||[;|`]| #", rest, maxsplit=1)[0].split()
        most = 1 if found["one"] or not (is_quoted or OPENED.match(head)) else len(words)
        yield from list(_names(words))[:most]


def _names(words: list[str]) -> Iterator[str]:
    is_value = False
    for word in words:
        bare = word.strip("\"'()<>").rstrip(".,:!?") if not word.startswith(".") else word
        if is_value:
            is_value = False
        elif word.startswith("-"):
            is_value = bool(VALUED.fullmatch(word))
        elif PROSE.fullmatch(word):
            return
        elif ELSEWHERE.search(bare):
            yield bare
        elif not bare.startswith(OWN) and not bare.endswith(FILES) and (found := PACKAGE.match(bare)):
            yield found["name"]


def _known(case: Case, before: str) -> frozenset[str]:
    """Names of the target: its own, what it depends on, and what its texts said before."""
    names = set(TOOLS)
    paths = sorted(path for path in case.tracked if _declares(path))[:MOST_READ]
    for path in paths:
        text = case.read(path) or ""
        names |= declared(path, text) | required(text) if not path.endswith(".py") else set()
        names |= {*map(package_name, NAMED.findall(text))}
    for line in before.replace("\\\n", " ").splitlines():
        names |= {package_name(name) for name in _asked(line)}
    return frozenset(names)


def _declares(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name in PROJECTS or any(fnmatch(name, one) for one in LISTS) or path.startswith("requirements/")
