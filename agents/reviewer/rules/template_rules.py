"""Templates and scripts: what becomes HTML or code without being escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.reviewer.rules.case import Case, ChangedFile
from shared.model.review import Finding, Severity

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


def findings(case: Case) -> Iterator[Finding]:
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
