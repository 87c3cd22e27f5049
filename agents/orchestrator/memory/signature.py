"""What kind of failure is it? The text of an error -> its signature: the line that tells, without what varies. Pure.

Numbers, times, addresses, ids, folders and values are gone. What stays: the exception's class and message, a linter's
code and words, names in quotes, and a file by its last name. A comparison of mere values tells nothing.
"""

from __future__ import annotations

import re

LONGEST = 200
MOST_READ = 20_000  # characters, from the end: what happened stands there
LONGEST_LINE = 2_000
GAP = "…"  # in place of a value

HIDDEN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
PREFIX = re.compile(  # what stands before the words: a place, a time, a level, who says it
    r"\s+|E\s+|[>+-]\s+|#\d+\s+|[\w.-]{1,60}\s*\|\s+|##\[error\]"
    r"|\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?:?\s+|\[\d+[\d/:.,\w -]*\]\s+|\d+\.\d+\s+"
    r"|(?:ERROR|CRITICAL)(?: \[[\w.]+\])?:?\s+(?=(?:\w{1,60}\.){0,10}[A-Z]\w{0,60}(?:Error|Exception)\b)"
    r"|(?:FAILED|ERROR) \S+ - |\[?(?:INFO|WARNING|ERROR|CRITICAL|FATAL)(?:/[\w-]+)?\]:?\s+"
    r"|[^\s:'\"]{1,300}:\d+(?::\d+)?:?\s+"
)
MODULE = re.compile(r"(?:\w{1,60}\.){1,10}(?=[A-Z]\w{0,80}(?::|$))")
WORD = re.compile(r"[^\s'\"`<>()\[\]{},;=|]+")
URL = re.compile(r"[A-Za-z][A-Za-z+]*://.*")
ID = re.compile(r"\b(?:0x[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*\d)[0-9a-f]{7,64})\b", re.I)
NUMBER = re.compile(r"(\b[A-Z]{1,4}\d{2,5}\b)|[+-]?\d+(?:[.,:-]?\d+)*")  # a linter's code says what it is about
SCRATCH = re.compile(r"\btmp\w{4,}")
QUOTED = re.compile(r"(?<!\w)(['\"`])(?!\1)(.{1,300}?)\1(?!\w)")
NAME = re.compile(r"[A-Za-z_][\w.-]{0,60}")
OBJECT = re.compile(r"<([\w.]{1,60})[\s:][^<>]{1,400}>")
LIST = re.compile(rf"([(\[{{])((?:[^\[\](){{}}]|[(\[{{]{GAP}[)\]}}])*)([)\]}}])")
SEVERAL = frozenset(f",'\"<:{GAP}")
COMPARED = re.compile(r"AssertionError\b|assert\b")
MERE_VALUES = re.compile(r"(?:AssertionError:?\s*)?(?:assert\b)?(?:[^\w]|\b(?:0|not|in|is|None|True|False)\b)*")

EXCEPTION = re.compile(r"[A-Z]\w*(?:Error|Exception|Warning)\b|[A-Z][a-z]\w*[A-Z]\w*(?=: )")
DEFECT = re.compile(r"\S+:\d+(?::\d+)?:? (?:error:|fatal|[A-Z]{1,4}\d{2,5} )|[^\s:]+: \([a-z]+\.[EW]\d{3}\)")
SAID = re.compile(r"(?:fatal|CONFLICT|! \[\w+|remote: error|npm ERR!|panic|[A-Z]\w*Error)\b", re.I)
ERROR = re.compile(r"(?:ERROR|Error|error|CRITICAL|FATAL|CommandError)\b")
CODE = re.compile(r"[A-Z]{1,4}\d{2,5} \S")
TELLS = re.compile(
    r"\b(?:error|fail(?:ed|s|ure)?|fatal|cannot|can't|could not|unable|denied|refused|invalid|missing|not found|no such"
    r"|timed out|timeout|killed|unexpected|unhealthy|not healthy|forbidden|conflict\w*|exceeded|out of memory|warning"
    r"|unclosed|exited with|unsupported|undefined|panic|rejected)\b",
    re.I,
)
SUMS_UP = re.compile(
    r"=+ |Traceback \(|-+$|hint:|Found \d+ |\d+ (?:failed|passed|errors?)\b|FAILED \(|(?:FAIL|ERROR): test"
    r"|error: failed to push|.*\bdid not complete successfully|.*\bexit(?:ed with)? (?:code|status)|make: \*\*\*"
    r"|.*System check identified|Automatic merge failed|During handling|The above exception|File \""
)


def signature(text: str) -> str:
    """At most 200 characters; empty: nothing tells. The signature of a signature is itself."""
    kind, before = _kind(text), text
    while kind != before:  # each round is shorter or as long, so this ends
        kind, before = _kind(kind), kind
    return kind


def _kind(text: str) -> str:
    """Of the lines that tell most the last one: what was raised in the end, what the program gave up with."""
    lines = [line[:LONGEST_LINE] for line in HIDDEN.sub("", text[-MOST_READ:]).splitlines()]
    ranked = [(rank, number) for number, line in enumerate(lines) if (rank := _rank(line))]
    return _normalised(lines[max(ranked)[1]]) if ranked else ""


def _rank(line: str) -> int:
    """How much it tells; 0: nothing."""
    words = _bare(line)
    if SUMS_UP.match(line.strip()) or SUMS_UP.match(words) or not words or _is_mere_values(words):
        return 0
    if EXCEPTION.match(words):
        return _rank_of_exception(line, words)
    if DEFECT.match(line.strip()) or CODE.match(words):
        return 5
    if COMPARED.match(words) or SAID.match(words):
        return 4
    return 3 if ERROR.match(words) else 1 if TELLS.search(words) else 0


def _rank_of_exception(line: str, words: str) -> int:
    """The whole message, rather than pytest's short one; a class without a message tells little."""
    if ": " not in words:
        return 2
    return 4 if line.startswith(("FAILED ", "ERROR ")) else 6


def _is_mere_values(words: str) -> bool:
    return bool(COMPARED.match(words)) and bool(MERE_VALUES.fullmatch(_without_values(words)))


def _normalised(line: str) -> str:
    return _without_values(_bare(line))[:LONGEST].rstrip()


def _bare(line: str) -> str:
    """Without what stands before the words, and without the module of a class."""
    return MODULE.sub("", _unplaced(line), count=1) if MODULE.match(_unplaced(line)) else _unplaced(line)


def _unplaced(line: str) -> str:
    while found := PREFIX.match(line):
        line = line[found.end() :]
    return line.rstrip()


def _without_values(words: str) -> str:
    """None of these makes the text longer."""
    kept = "" if COMPARED.match(words) else r"\g<0>"
    text = LIST.sub(_listed, WORD.sub(lambda hit: _word(hit[0]), words))
    text = QUOTED.sub(lambda hit: f"{hit[1]}{hit[2] if kept and NAME.fullmatch(hit[2]) else GAP}{hit[1]}", text)
    return " ".join(OBJECT.sub(r"<\1>", text).split())


def _listed(hit: re.Match[str]) -> str:
    return f"{hit[1]}{GAP}{hit[3]}" if SEVERAL & {*hit[2]} else hit[0]


def _word(word: str) -> str:
    if URL.match(word):
        return "URL"
    if name := re.split(r"[/\\]", word.rstrip("/\\:"))[-1]:
        word = name + ":" * word.endswith(":")
    return NUMBER.sub(lambda hit: hit[1] or "0", SCRATCH.sub("tmp", ID.sub("0", word)))
