"""What Bengali text needs and English does not."""

import re

DIGITS = str.maketrans("0123456789", "০১২৩৪৫৬৭৮৯")

# The vowel signs of Bengali are no letters to \w, so its whole block is named.
WORD = re.compile(r"[\w\u0980-\u09ff]+")

# A Bengali sentence ends with a danda.
SENTENCE_END = re.compile(r"(?<=[.?!।])\s+")


def localized(number, language):
    """The number as a reader of this language writes it: 42 is ৪২ in Bengali."""
    return str(number).translate(DIGITS) if language == "bn" else str(number)


def words(text):
    """The words of a text, in order."""
    return WORD.findall(text)


def sentences(text):
    """The sentences of a text, in order, each with its closing mark."""
    return [part.strip() for part in SENTENCE_END.split(text) if part.strip()]
