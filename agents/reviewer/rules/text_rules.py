"""Findings about lines of text: hidden characters, secrets, left-overs, sizes, and HTML that nobody escapes."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from sisimpur.agents.reviewer.rules.case import Case, ChangedFile
from sisimpur.shared.model.change import usually_holds_keys
from sisimpur.shared.model.evidence import Finding, Severity
from sisimpur.shared.model.naming import is_windows_own
from sisimpur.shared.model.scope import is_plain_path, matches
from sisimpur.shared.model.text import another_coding, unseen
from sisimpur.shared.system.outgoing import Outgoing

MOST_FILES, MOST_LINES = 60, 3_000  # of one review
LONGEST_CODE, LONGEST_LINE = 500, 2_000  # characters of a line of code, of any line
CODE = (".py", ".html", ".js", ".jsx", ".ts", ".tsx", ".css", ".sh", ".toml", ".cfg", ".ini", ".yml", ".yaml")

# Control characters but for the tab, and ends of lines that only some programs see.
HIDDEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
FAR_RIGHT = re.compile(r"\S[ \t]{80,}\S|^[ \t]{150,}\S")
WORD = re.compile(r"[^\W\d]\w*")
FOREIGN = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "FULLWIDTH", "MATHEMATICAL")

KEY_WORDS = r"(?:passw(?:or)?d|passphrase|secret|token|api_?key|private_?key|access_?key|credential)"
ASSIGNED = re.compile(
    rf"(?i)(?<![\w.-])([\w.-]*{KEY_WORDS}[\w-]*)[\"']?\]?\s*(?::\s*str\s*=|[:=])\s*[bru]{{0,2}}([\"']?)([^\s\"',;]+)"
)
PLACEHOLDER = re.compile(r"[<${%(\[]|x{4,}|\.\.\.|changeme|example|placeholder|your[_-]", re.IGNORECASE)
TODO = re.compile(r"(?:#|//|/\*|<!--|\{#).*\b(?:TODO|FIXME|XXX|HACK)\b")


def findings(case: Case, outgoing: Outgoing) -> Iterator[Finding]:
    yield from _sizes(case)
    for file in case.files:
        yield from _path(file, case, outgoing)
        yield from _secrets(file, outgoing)
        yield from _hidden(file)
    yield from of_lines(case)


def of_lines(case: Case) -> Iterator[Finding]:
    """Find what a line says, wherever it stands."""
    for file in case.files:
        yield from _left_over(file)
    yield from _template_findings(case)


def _sizes(case: Case) -> Iterator[Finding]:
    lines = sum(len(file.added) for file in case.files)
    if case.files and (len(case.files) > MOST_FILES or lines > MOST_LINES):
        text = f"{len(case.files)} files and {lines} added lines: more than a review can judge; split the task"
        yield case.files[0].finding(0, Severity.MEDIUM, "too big", text)


# --- paths ---------------------------------------------------------------------------------------------------


def _path(file: ChangedFile, case: Case, outgoing: Outgoing) -> Iterator[Finding]:
    change = file.change
    if guard := matches(file.path, case.guards):
        yield file.finding(0, Severity.HIGH, "guarded path", f"the owner guards {guard}; leave this file as it was")
    if outgoing.find(file.path):
        yield file.finding(0, Severity.HIGH, "secret", "the file's name holds a secret; rename it")
    reasons = {
        "a link": change.is_link,
        "a file that becomes executable": change.becomes_executable,
        "binary, not UTF-8, or too large to be read": change.binary or (file.after is None and _has_text(file)),
        "a file that usually holds keys": usually_holds_keys(file.path),
        "a name that is not plain text": not is_plain_path(file.path),
    }
    for reason in (reason for reason, holds in reasons.items() if holds):
        yield file.finding(0, Severity.MEDIUM, "unusual file", f"{reason}: no review can judge it")
    if change.kind == "added" and (why := _elsewhere(file.path, case.tracked)):
        yield file.finding(0, Severity.LOW, "name", f"{why}: it cannot be checked out there")


def _elsewhere(path: str, tracked: frozenset[str]) -> str:
    """Why Windows or macOS cannot keep a new file; empty: they can."""
    if is_windows_own(path):
        return "Windows takes no such name"
    folded = path.casefold()
    same = sorted(other for other in tracked if other != path and other.casefold() == folded)
    return f"on Windows and macOS this is the same file as {same[0]}" if same else ""


def _has_text(file: ChangedFile) -> bool:
    return file.change.kind != "deleted" and not file.change.is_link


# --- secrets -------------------------------------------------------------------------------------------------


def _secrets(file: ChangedFile, outgoing: Outgoing) -> Iterator[Finding]:
    """The value is in no finding: neither in the text nor in the quote."""
    numbers = list(file.added)
    for hit in outgoing.find_in_change("\n".join(file.added.values())):
        yield _secret(file, numbers[hit.line - 1], f"this looks like a {hit.name}{hit.how_to_allow}")
    if not file.is_test:
        for number, text in file.added.items():
            if len(text) <= LONGEST_LINE and (name := _assigned(file, text)):
                yield _secret(file, number, f"{name} is set to what looks like a real value")


def _secret(file: ChangedFile, line: int, what: str) -> Finding:
    text = f"{what}; take it out, let it come from the environment, and consider it known to others"
    return Finding(file.path, line, Severity.HIGH, "rule", "secret", text)


def _assigned(file: ChangedFile, text: str) -> str | None:
    """The name that is set to something random."""
    for name, quote, value in ASSIGNED.findall(text):
        written_out = quote or not file.path.endswith((".py", ".js", ".ts", ".html", ".md"))
        if written_out and is_random(value):
            return str(name)[-40:]
    return None


def is_random(value: str) -> bool:
    """Say whether nobody chose these characters for their meaning."""
    if len(value) < 12 or PLACEHOLDER.search(value) or "://" in value or value.startswith(("/", "./")):
        return False
    digits = sum(c.isdigit() for c in value)
    counts = Counter(value).values()
    bits = -sum(n / len(value) * math.log2(n / len(value)) for n in counts)
    return digits >= 2 and digits < len(value) and bits >= 3.0


# --- what the eye does not see -------------------------------------------------------------------------------


def _hidden(file: ChangedFile) -> Iterator[Finding]:
    code = file.path.endswith(CODE)
    if file.is_python and file.after and re.search(r"\r(?!\n)", file.after):
        yield file.finding(0, Severity.HIGH, "hidden text", "a lone carriage return, which hides what stands before it")
    if file.after and (coded := another_coding(file.after)) and (file.is_python or "python" in file.lines[0]):
        what = f"Python reads this file as {coded[1][:40]}, and so another text than is to be seen; write it in UTF-8"
        yield file.finding(coded[0], Severity.HIGH, "hidden text", what)
    for number, text in file.added.items():
        if reason := _hides(text, number):
            yield file.finding(number, Severity.HIGH, "hidden text", reason)
        if code and FAR_RIGHT.search(text[:10_000]):
            yield file.finding(number, Severity.HIGH, "hidden text", "code far to the right, where nobody looks")
        if code and len(text) > LONGEST_CODE:
            what = f"a line of {len(text)} characters; break it, so that it can be read"
            yield file.finding(number, Severity.HIGH, "long line", what)
        elif len(text) > LONGEST_LINE:
            what = f"a line of {len(text)} characters: no review can judge it"
            yield file.finding(number, Severity.MEDIUM, "unreadable line", what)
    if file.tree:
        names = {name for node in file.tree.nodes for name in _names(node)}
        yield from _look_alikes(file, names)


def _hides(text: str, number: int) -> str | None:
    text = text.removeprefix("\ufeff") if number == 1 else text
    control = HIDDEN.search(text)
    if found := unseen(text) or (control and control[0]):
        return f"it holds the invisible character U+{ord(found[0]):04X}; remove it or write it as an escape"
    return None


def _names(node: object) -> Iterator[str]:
    for field in ("id", "attr", "name", "arg", "asname"):
        if isinstance(name := getattr(node, field, None), str):
            yield name


def _look_alikes(file: ChangedFile, names: set[str]) -> Iterator[Finding]:
    """Python reads some letters as others, and the eye reads Cyrillic ones as Latin ones."""
    for number, text in file.added.items():
        if text.isascii():
            continue
        for word in WORD.findall(text):
            if _mixes(word) and unicodedata.normalize("NFKC", word) in names:
                what = "a name with letters that look like others; write it in one alphabet"
                yield file.finding(number, Severity.HIGH, "hidden text", what)
                break


def _mixes(word: str) -> bool:
    foreign = [letter for letter in word if unicodedata.name(letter, "").startswith(FOREIGN)]
    mixed = any(letter.isascii() and letter.isalpha() for letter in word)
    return bool(foreign) and (mixed or unicodedata.normalize("NFKC", word).isascii() or len(word) < 3)


# --- left-overs ----------------------------------------------------------------------------------------------


def _left_over(file: ChangedFile) -> Iterator[Finding]:
    for number, text in file.added.items():
        if TODO.search(text[:LONGEST_LINE]):
            yield file.finding(number, Severity.LOW, "todo", "a remark about work that is left; do it, or plan it")
        if file.path.endswith((".js", ".ts", ".html")) and re.search(
            r"\bdebugger;|\bconsole\.log\(", text[:LONGEST_LINE]
        ):
            rank = Severity.MEDIUM if "debugger;" in text else Severity.LOW
            yield file.finding(number, rank, "debugging", "left over from debugging; remove it")


# --- templates and scripts -----------------------------------------------------------------------------------

TEMPLATES = (".html", ".htm", ".djhtml", ".jinja", ".jinja2", ".j2")
SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs")

IN_TEMPLATES = (
    (re.compile(r"\{\{[^}]*\|\s*safe(?:seq)?\b"), "|safe on a value: whatever it holds becomes HTML"),
    (re.compile(r"\{%-?\s*autoescape\s+(?:off|false)"), "autoescape off: all that follows becomes HTML"),
)
IN_SCRIPTS = (
    (re.compile(r"(?<![\w.$])eval\s*\(|\bnew\s+Function\s*\("), Severity.MEDIUM, "runs text as code"),
    (
        re.compile(r"\.(?:inner|outer)HTML\s*\+?=(?!=)|document\.write\s*\("),
        Severity.LOW,
        "writes HTML; use textContent",
    ),
    (re.compile(r"dangerouslySetInnerHTML"), Severity.MEDIUM, "writes HTML that nobody escaped"),
)
VALUE = re.compile(r"\{\{(?![^}]*\|\s*escapejs)[^}]*\}\}")
SCRIPT_TAG = re.compile(r"<(/?)script\b[^>]*>", re.IGNORECASE)


def _template_findings(case: Case) -> Iterator[Finding]:
    for file in case.files:
        if file.path.endswith(TEMPLATES):
            yield from _template(file)
        if file.path.endswith((*TEMPLATES, *SCRIPTS)) and not file.is_test:
            yield from _script(file)


def _template(file: ChangedFile) -> Iterator[Finding]:
    for number, text in file.added.items():
        for shape, what in IN_TEMPLATES:
            if shape.search(text[:2000]):
                yield file.finding(number, Severity.MEDIUM, "unescaped HTML", f"{what}; escape it, or clean it first")
    for number in _inside_scripts(file):
        if number in file.added and VALUE.search(file.added[number][:2000]):
            text = "a value inside of a script; use json_script or |escapejs"
            yield file.finding(number, Severity.LOW, "value in a script", text)


def _inside_scripts(file: ChangedFile) -> Iterator[int]:
    inside = False
    for number, text in enumerate(file.lines, 1):
        tags = [tag[1] for tag in SCRIPT_TAG.finditer(text[:2000])]
        if inside or "" in tags:
            yield number
        inside = tags[-1] == "" if tags else inside


def _script(file: ChangedFile) -> Iterator[Finding]:
    for number, text in file.added.items():
        for shape, rank, what in IN_SCRIPTS:
            if shape.search(text[:2000]):
                yield file.finding(number, rank, "unescaped HTML" if "HTML" in what else "dangerous call", what)
