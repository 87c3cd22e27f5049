"""Cost of the planner's look at a repository of 50,000 files, and length of its prompt. `python -m bench.planner_look`.

A token is four bytes, as the scripted model counts; the system prompt is counted too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.pipeline import used
from bench.trace import ROOT
from sisimpur.agents.planner.facts.codebase_analyzer import CodebaseAnalyzer
from sisimpur.agents.planner.facts.source import SourceSnapshot
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from tests.repositories import shell

FILES = 50_000
GOAL_SECONDS, GOAL_TOKENS = 5.0, 12_000
GOALS = (
    "Let the total of an invoice be rounded to cents",
    "mod_7.py in pkg_012: name_7 takes a second argument",
    "Report how long an import takes",
)
LINES = 'def name_{n}(value):\n    """Counts {word}."""\n    return helper_{n}(value) + {n}\n\n\n' * 8
WORDS = ("invoices", "totals", "imports", "cents", "reports", "arguments", "users", "rooms")


def main(words: Sequence[str] | None = None) -> int:
    """Print both figures; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.planner_look")
    parser.add_argument("--files", type=int, default=FILES)
    seconds, tokens = looked(parser.parse_args(words).files)
    print(f"{seconds:6.1f} s CPU     goal {GOAL_SECONDS:.0f}: {'met' if seconds <= GOAL_SECONDS else 'MISSED'}")
    print(f"{tokens:6,} tokens    goal {GOAL_TOKENS:,}: {'met' if tokens <= GOAL_TOKENS else 'MISSED'}")
    return int(seconds > GOAL_SECONDS or tokens > GOAL_TOKENS)


def looked(files: int) -> tuple[float, int]:
    """CPU seconds, git's among them, and tokens of the longest group of goals."""
    with tempfile.TemporaryDirectory() as folder:
        mirror, commit = built(Path(folder), files)
        before = used()
        found = CodebaseAnalyzer().grouped(SourceSnapshot(mirror, commit), GOALS)
        mirror.close()
        seconds = used() - before
    longest = max(len(group.text.encode()) for group in found.groups)
    rules = sum(path.stat().st_size for path in (ROOT / "agents" / "planner" / "prompts").glob("*.md"))
    return seconds, (rules + len(found.general.encode()) + longest) // 4


def built(folder: Path, files: int) -> tuple[Mirror, str]:
    """A monorepo: packages of a hundred modules each, half of them beside scripts and pages."""
    source = folder / "source"
    source.mkdir()
    shell("git init -q -b main .", source)
    stream = [b"commit refs/heads/main\ncommitter t <t@t> 1 +0000\ndata 1\nx\n"]
    for number in range(files):
        ending = ("py", "py", "js", "html", "json")[number % 5]
        path = f"part_{number // 2_000:02}/pkg_{number // 100:03}/mod_{number % 100}.{ending}"
        text = LINES.replace("{n}", str(number % 997)).replace("{word}", WORDS[number % len(WORDS)]).encode()
        stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(text), text))
    (folder / "stream").write_bytes(b"".join(stream))
    shell("git fast-import --quiet < ../stream", source)
    mirror = Mirror(folder / "mirror.git", Remote(str(source)))
    mirror.create()
    return mirror, mirror.fetch("main")


if __name__ == "__main__":
    sys.exit(main())
