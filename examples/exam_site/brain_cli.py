#!/usr/bin/env python
"""Practice questions from a text file, without the site.

    python brain_cli.py chapter.txt --count 5 --language bn
    cat chapter.txt | python brain_cli.py -
"""

import argparse
import sys
from pathlib import Path

from apps.brain.bengali import localized
from apps.brain.brain_engine import BrainEngine


def read(name):
    """The text of the file; "-" is standard input."""
    return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")


def as_text(number, question, language):
    """A question as it is printed; a star marks the right option."""
    lines = [f"{localized(number, language)}. {question.text}"]
    for index, option in enumerate(question.options):
        lines.append(f"   {'*' if index == question.answer else ' '} {option}")
    return "\n".join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Practice questions from a text file.")
    parser.add_argument("file", help='a text in UTF-8; "-" reads standard input')
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--language", choices=("bn", "en"), default="bn")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same questions")
    args = parser.parse_args(argv)

    engine = BrainEngine(seed=args.seed)
    questions = engine.generate(read(args.file), args.count)
    for number, question in enumerate(questions, start=1):
        print(as_text(number, question, args.language), end="\n\n")


if __name__ == "__main__":
    main()
