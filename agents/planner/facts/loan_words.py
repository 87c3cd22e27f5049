"""Words in Bengali letters -> words of the code that mean the same, or sound the same (রেসিপি: recipe). Pure.

Half of the words of a goal in Bengali are English ones. Their consonants are compared, and roughly: g, j and z are one
sound, b and v another. Vowels are written in many ways, and count for nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from sisimpur.shared.words import meaning

BENGALI = re.compile("[\u0980-\u09ff\u200c\u200d]+")
LEAST_SOUNDS, MOST_ALIKE = 3, 5  # fewer consonants mean nothing; more words of the code that sound so, too
ENDINGS = re.compile("(?:গুলো|গুলি|টা|টি|দের|রা)?(?:ের|ে|তে|কে|র|য়)?[ওই]?$")
ACTS = frozenset(("fix", "remove", "add", "off", "on", "fast", "raise"))  # what is to be done, not with what
NO_SOUND = re.compile("\u09cd\u09af|\u09af\u09bc|[\u09be-\u09cc\u200c\u200d]")  # ্য and য় carry a vowel alone
JOINED = re.compile("(.)\u09cd\\1")
CONSONANTS = {
    letter: sound
    for letters, sound in (
        ("কখ", "K"), ("গঘজঝয", "G"), ("চছ", "C"), ("টঠতথৎ", "T"), ("ডঢদধ", "D"), ("নণঙংঞ", "N"), ("পফ", "P"),
        ("বভ", "B"), ("ম", "M"), ("র", "R"), ("ল", "L"), ("শষস", "S"),
    )
    for letter in letters
}  # fmt: skip
SPELT = tuple(
    (re.compile(letters), sound)
    for letters, sound in (
        ("tion|[cs]ian|sion", "SN"), ("ture", "CR"), ("sch", "SK"), ("t?ch", "C"), ("sh", "S"), ("ph|f", "P"),
        ("th", "T"), ("ck|qu?", "K"), ("x", "KS"), ("gh(?=t|$)", ""), ("dg(?=[eiy])|[gjz]", "G"), ("^wr", "R"),
        ("^kn", "N"), ("nG(?=s?$)", "N"), ("c(?=[eiy])|s", "S"), ("[ck]", "K"), ("[bv]", "B"), ("([dlmnprt])", ""),
    )
)  # fmt: skip
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]{2,}(?![a-z])")


def by_sound(names: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """The words that names are made of, by how they sound."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for word in dict.fromkeys(part.lower() for name in names for part in PART.findall(name)):
        for sound in _sounds(word):
            found[sound][word] = None
    return {sound: tuple(words) for sound, words in found.items() if len(sound) >= LEAST_SOUNDS}


def heard(text: str, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The words of the code that a text says in Bengali letters, and English ones that mean the same."""
    found: dict[str, None] = {}
    for word in dict.fromkeys(BENGALI.findall(unicodedata.normalize("NFC", text))):
        stems = dict.fromkeys((word, *(word[: ending.start()] for ending in ENDINGS.finditer(word))))
        same = sorted({form for stem in stems for form in meaning.same(stem) if form.isascii()})
        means = same if ACTS.isdisjoint(same) else []
        sounds = (known.get(_sound(stem), ()) for stem in stems)
        alike = next((words for words in sounds if words), ())
        found |= dict.fromkeys((*means, *(alike if len(alike) <= MOST_ALIKE else ())))
    return tuple(found)


def _sound(word: str) -> str:
    """Of a word in Bengali letters."""
    plain = JOINED.sub(r"\1", NO_SOUND.sub("", word.replace("ড়", "র").replace("ঢ়", "র")))
    return "".join(CONSONANTS.get(letter, "") for letter in plain)


def _sounds(word: str) -> Iterator[str]:
    """Of an English word; an s between vowels may be a z."""
    plain = re.sub(r"([a-z])\1", r"\1", word.replace("gg", "G"))
    for spelling in dict.fromkeys((plain, re.sub("(?<=[aeiou])s(?=[aeiou])", "z", plain))):
        said = spelling
        for letters, sound in SPELT:
            said = letters.sub(sound or (lambda found: found[0].upper() if found.groups() else ""), said)
        yield re.sub("[^A-Z]", "", re.sub(r"([A-Z])\1", r"\1", said))
