"""What a question to the web takes at most, in tokens and turns. `python -m bench.research`.

The model is scripted and the web recorded; tokens are counted as the scripted model counts them for its bill.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sisimpur.simulators.model.scripted_model import ScriptedModel
from tests.journey.gated import FILES
from tests.journey.looked_up import CLAIM, PAGE, QUOTE, VISION, answers, looks, with_web
from tests.journey.stage import Stage, reads

MOST_TOKENS, MOST_TURNS = 40_000, 5
LONG = 6_000  # characters of a long page: more than is shown of one
WORDS = {
    "English": "A session store in memory is fast and small, and it forgets what it holds. ",
    "Bengali": "মেমরিতে রাখা সেশন দ্রুত এবং ছোট, কিন্তু যন্ত্র বন্ধ হলে সব ভুলে যায়। ",
}
LONG_ANSWER = {**answers(*[CLAIM] * 10, recommendation="Leave them there. " * 80), "times": "any"}


@dataclass(frozen=True)
class Took:
    turns: int
    tokens: int
    answered: bool


def main() -> int:
    """Prints a table; 1 if a goal is missed."""
    greedy = [looks(2 * n + 1, 2 * n + 2, searches=[f"{n} more", f"{n} again"]) for n in range(4)]
    cases: list[tuple[str, Sequence[Mapping[str, Any]], str, int]] = [
        ("one short page, answered at once", [looks(1)], "English", 0),
        ("six long pages, as greedy as it may be", greedy, "English", 6),
        ("six long pages in Bengali, as greedy", greedy, "Bengali", 6),
        ("a model that never answers", [looks(1, searches=[f"{n}"]) for n in range(9)], "English", 6),
    ]
    missed = 0
    for name, steps, language, pages in cases:
        took = looked_up([*steps, LONG_ANSWER], language, pages)
        met = 0 < took.tokens <= MOST_TOKENS and 0 < took.turns <= MOST_TURNS
        missed += not met
        end = "answered" if took.answered else "no answer"
        goal = f"goal {MOST_TOKENS:,} and {MOST_TURNS}: {'met' if met else 'MISSED'}"
        print(f"{name:<42}{took.tokens:>7,} tokens in {took.turns} turns, {end:<10} {goal}")
    return int(bool(missed))


def looked_up(steps: Sequence[Mapping[str, Any]], language: str, pages: int) -> Took:
    """A morning with one question. `pages`: how many long ones are found; 0: the short one."""
    text = f"{QUOTE}. " + WORDS[language] * (LONG // len(WORDS[language]))
    found = [{**PAGE, "url": f"{PAGE['url']}/{n}", "text": text} for n in range(pages)]
    with tempfile.TemporaryDirectory() as folder, ScriptedModel([reads(), *steps]) as model:
        stage = with_web(Stage(Path(folder), model.url).set_up(VISION, FILES), *found)
        stage.run_day(until="research")
        with stage.records() as records:
            (looked,) = records.research.all()
            tokens = records.spending.used_by([looked.inquiry.id])[looked.inquiry.id].tokens
        turns = sum("You are the Researcher" in str(request.body.get("system")) for request in model.requests)
    return Took(turns, tokens, bool(looked.answered_on))


if __name__ == "__main__":
    raise SystemExit(main())
