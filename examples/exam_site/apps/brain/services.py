"""The brain: questions from a text, marks for answers. Pure functions, no database, no Django."""

import random
from dataclasses import dataclass
from decimal import Decimal

from apps.brain.bengali import sentences, words

OPTIONS = 4
BLANK = "_____"
SHORTEST_KEYWORD = 4
WRONG_ANSWER = Decimal("0.25")

# The lowest percentage of each letter grade, the best first.
GRADES = [(80, "A+"), (70, "A"), (60, "A-"), (50, "B"), (40, "C"), (33, "D")]


@dataclass(frozen=True)
class Draft:
    """A multiple-choice question that is not stored yet. `answer` is an index into `options`."""

    text: str
    options: list[str]
    answer: int


@dataclass(frozen=True)
class Score:
    """How an attempt went. A wrong answer costs a quarter of a mark; marks are never negative."""

    right: int
    wrong: int
    skipped: int

    @property
    def total(self):
        return self.right + self.wrong + self.skipped

    @property
    def marks(self):
        return max(Decimal(0), self.right - WRONG_ANSWER * self.wrong)

    @property
    def grade(self):
        percent = 100 * self.marks / self.total if self.total else 0
        return next((letter for lowest, letter in GRADES if percent >= lowest), "F")


def keywords(text):
    """The words worth asking for: long ones, each once, in order."""
    return list(dict.fromkeys(word for word in words(text) if len(word) >= SHORTEST_KEYWORD))


def generate_questions(text, count, seed=0):
    """Up to `count` questions, each a sentence of the text with one word blanked out.

    The same text, count and seed give the same questions. Raises ValueError if the text has too few words.
    """
    pool = keywords(text)
    if len(pool) < OPTIONS:
        raise ValueError(f"The text has {len(pool)} usable words; a question needs {OPTIONS}.")
    rng = random.Random(seed)
    usable = [sentence for sentence in sentences(text) if keywords(sentence)]
    chosen = sorted(rng.sample(range(len(usable)), min(count, len(usable))))
    return [_question(usable[index], pool, rng) for index in chosen]


def _question(sentence, pool, rng):
    """Blank out the longest word and hide it among others of the same text."""
    answer = max(keywords(sentence), key=len)
    others = rng.sample([word for word in pool if word != answer], OPTIONS - 1)
    options = rng.sample([answer, *others], OPTIONS)
    return Draft(sentence.replace(answer, BLANK, 1), options, options.index(answer))


def score_answers(correct, given):
    """Compare the chosen options with the correct ones; None is a skipped question."""
    pairs = list(zip(correct, given, strict=True))
    skipped = sum(chosen is None for _, chosen in pairs)
    right = sum(chosen == answer for answer, chosen in pairs)
    return Score(right, len(pairs) - right - skipped, skipped)
