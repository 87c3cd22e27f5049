"""Words of a goal -> what they mean, in English, Bengali and Bengali with Latin letters: how alike two goals are. Pure.

Order, small words and endings say nothing; names, paths and numbers say most. Who rewords a goal says more or less of
the same; who swaps one word for another means something else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache

from sisimpur.shared.model.text import one_line

SAME_GOAL = 0.6  # at least, of two wordings of one goal
SWAPPED = 6  # words in common for each that may be swapped: in a long goal one is a matter of style

NAME = re.compile(r".*[./_\d].*|.*\w-\w.*")  # a path, a module, an identifier, a version, a number
TARGET = re.compile(r"\d+(?:[.,]\d+)? ?(?:%|per ?cent\b|ms\b|seconds?\b|minutes?\b|lines\b)")
SUFFIXES = (
    "ations",
    "ation",
    "ions",
    "ion",
    "ings",
    "ing",
    "ates",
    "ated",
    "ate",
    "ers",
    "er",
    "ies",
    "ied",
    "ed",
    "es",
    "s",
    "e",
    "y",
)
SHORTEST = 3  # letters of a stem
MOST_NOTES, LONGEST_NOTE = 10, 300  # of the owner, that stand in every task
NO = re.compile(
    r"\b(don'?t|do not|does not|never|no|not|none|nobody|nothing|keep|leave|left (?:alone|as)|avoid|without|"
    r"must stay|stays?|remains?|mustn'?t|shouldn'?t|cannot|can'?t|won'?t|untouched|hands off|off[- ]limits|"
    r"preserve|protect|freeze|frozen|forbidden|prohibited|stop|only|careful\w*|fragile|sacred|hands (?:away|from)|"
    r"ask (?:me|us|first)|before (?:you )?(?:chang|touch|edit|mov|delet)\w*|"
    r"nicht|kein\w*|nie|niemals|finger weg|verboten|korben? na|koro na|kore? na)\b"
    r"|(?<!\w)(?:না|নয়|নয়|নেই|নিষেধ|নিষিদ্ধ|কখনো|কখনোই|বন্ধ)(?!\w)",
    re.IGNORECASE,
)
# Words beside the name of a folder that may keep somebody out of it; elsewhere most of them say nothing of the kind.
KEPT_BACK = re.compile(
    r"\b(?:touch\w*|except\w*|exclud\w*|refrain\w*|refus\w*|beware|skip|ignore|steer clear|out of (?:bounds|scope)|"
    r"untouchable|immutable|locked|sealed|closed|taboo|disallowed|bad idea|permission|approval|sign[- ]?off|"
    r"(?:call|tell|consult) (?:me|us)|belongs? to|owned by|myself|ourselves|my job)\b",
    re.IGNORECASE,
)
# Words that forbid to change a thing, so that a bare word beside them may be its name. They only ever add a guard.
HANDS_OFF = re.compile(
    r"\b(?:don'?t|do not|never|not to|must not|mustn'?t|nobody|no one|may not|should not|shouldn'?t|cannot|can'?t)\b"
    r"(?:\W+\w+){0,3}?\W+(?:touch|change|edit|modify|alter|rewrite|delete|remove|move|rename)\w*"
    r"|\b(?:hands off|off[- ]limits|untouched|leave\b.*\balone|finger weg|nicht (?:an\w+|ver\w+|änder\w+|berühr\w+)|"
    r"in ruhe lassen|unangetastet|haat dio na|hat dio na|dhorben na)\b|হাত (?:দি|দে)|ধরবেন না|বদলা\w* না|স্পর্শ",
    re.IGNORECASE,
)
# What a goal sets apart from its own work. Rather too few words: "must not delete x" may be what it asks for, and
# "don't change" is about a file only where its path follows.
APART = re.compile(
    r"\b(?:don'?t|do not|never|without|(?:must|may|should) not|(?:must|should)n'?t)\b\W+(?:\w+\W+){0,4}?"
    r"touch(?:ing|ed)?\b"
    r"|\b(?:don'?t|do not|never|without)\W+(?:chang(?:e|ing)|modify(?:ing)?|edit(?:ing)?|alter(?:ing)?)\b"
    r"(?=\W+(?:(?:the|any|anything|code|files?|folders?|in|inside|below|of)\W+){0,3}\w[\w-]*+"
    r"(?:/|[.]\w)[\w./-]*+(?!'s))"
    r"|\b(?:hands off|off[- ]limits)\b|\bleave\b.{0,200}?\b(?:alone|untouched)\b|হাত (?:দি|দে)|ধরবেন না|স্পর্শ",
    re.IGNORECASE,
)
_VERBS = ("touch", "change", "modify", "edit", "alter")
BEHIND = (*_VERBS, *(f"{verb.removesuffix('e')}ing" for verb in _VERBS), "off")
CLAUSE, MOST_PARTS = re.compile(r"[^,;।]+[,;।]?"), 20
OWN_WORK = re.compile(  # of a goal, in few words: a clause that is not known to be its work is guarded with the rest
    r"\s*(?:(?:and|then|please|but)\s+)*(?:mend|fix|add|make|speed|change|update|remove|delete|write|show|move|rename|refuse|"
    r"support|allow|improve|refactor|create|implement|handle|raise|validate|sort|replace|extend|simplify|drop|build)\b"
    r"|.*(?:করো|করুন|দাও|দিন|বানাও|সরাও|লেখো|দেখাও|বাড়াও|কমাও)\s*[,;।]?\Z",
    re.IGNORECASE | re.DOTALL,
)
MEANT_BEFORE = re.compile(r"\W*(?:(?:it|them|this|that|these|those)\b)?\W*(?:at all|please|here)?\W*", re.IGNORECASE)
GOES_ON = re.compile(r"\bkeeps? (?:on )?(?:working|running|passing|supporting|compiling|building)\b", re.IGNORECASE)
APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼʹ′＇`´", "'"))
UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")
ENGLISH = """
    the a is are be to of and for with on at by from it its this that these we our you your should must may can
    any every support supporting use using new than when
    """

SILENT = """
    a an and any are as at be been by can could do each every for from had has have how i if in instead into is it its
    let make makes more must my nobody no of on once one's or our over per please set shall should so some than that the
    their them then there they this to turn us want wants we when where which who will with would you your function
    class method file longer under below above least most
    aar ache aro dao diye e ei er hobe hok jabe jeno jonno ke kore koro korte korun ta te theke tar o r
    আছে আর আরো উপর এ এই এর এবং ও কর করতে করা করুন করে করো কে জন্য জন্যে টা টি তে থেকে দাও দিয়ে দিন যেন র সব হবে হোক
    """

# One meaning a line.
GROUPS = """
fix correct repair mend wrong broken thik ঠিক bhul ভুল
remove delete drop erase muche muchhe bad মুছে মুছো বাদ সরাও
add write create need lagbe likho lekho যোগ লাগবে লেখো লিখো বানাও banao
off disable stop not never without bondho na না বন্ধ
on enable chalu চালু
fast faster speed slow quick druto dhire দ্রুত ধীর
upgrade update move bump migrate
mail email e-mail মেইল ইমেইল
test tests টেস্ট porikkha পরীক্ষা
page পেজ পাতা
password পাসওয়ার্ড
login লগইন
list তালিকা talika
user ব্যবহারকারী
student ছাত্র শিক্ষার্থী
show shown display dekhao দেখাও
price dam দাম
photo picture image chobi ছবি
raise reach bring increase barao বাড়াও
unused used use dead
rename call
split separate
error errors failure
"""

NUMBERS = {
    word: str(number)
    for number, words in enumerate(
        ("zero", "one ek এক", "two dui দুই", "three tin তিন", "four char চার", "five panch পাঁচ")
    )
    for word in words.split()
} | {"ten": "10", "dosh": "10", "দশ": "10"}


def says_no(text: str) -> bool:
    """Words that may forbid something. Rather one question too many than a "don't" that nobody heard."""
    return NO.search(_plain(text)) is not None


def forbids_change(text: str) -> bool:
    """Words that forbid to change something that is named beside them."""
    return HANDS_OFF.search(_plain(text)) is not None


def forbidden_parts(text: str) -> Iterator[str]:
    """The parts of a goal's sentence that set something apart ("don't touch x"), letter by letter where that can be."""
    plain = _plain(text)
    words = text if len(text) == len(plain) else plain
    told_from = len(words)  # what stands behind is told already
    for found in APART.finditer(plain):
        said = found[0].casefold()
        if said.startswith("leave") and found.start() < told_from:
            yield words[found.start() : found.end()]
        elif not said.startswith("leave"):
            is_behind = said.endswith(BEHIND) and not MEANT_BEFORE.fullmatch(words, found.end())
            begin = found.start() if is_behind else 0
            if begin < told_from:
                yield from filter(str.strip, _without_work(words, begin, found.start()))
                told_from = begin


def _without_work(text: str, begin: int, sign: int) -> Sequence[str]:
    """From `begin` on, without clauses that begin, or in Bengali end, with what is to be done. `sign`: what forbids."""
    parts, at = list[str](), begin
    for clause in CLAUSE.finditer(text, begin):
        is_other = not clause.start() <= sign < clause.end()
        if is_other and OWN_WORK.match(clause[0]) and not says_no(clause[0]):
            parts.append(text[at : clause.start()])
            at = clause.end()
    parts.append(text[at:])
    return parts if len(parts) <= MOST_PARTS else [text[begin:]]  # rather too much than a long look


def keeps_back(text: str) -> bool:
    """Words that may keep somebody out of a folder that is named beside them."""
    return KEPT_BACK.search(_plain(text)) is not None


def reads_as_english(text: str) -> bool:
    """Whether we can tell what a sentence does not say: Latin letters, and one of English's small words."""
    plain = _plain(text)
    words = re.findall(r"[a-z]+", plain.casefold())
    return all(c.isascii() for c in plain if c.isalpha()) and not {*ENGLISH.split()}.isdisjoint(words)


def is_plain_wish(text: str) -> bool:
    """English that we can read, and that says no "no"."""
    return reads_as_english(text) and not says_no(text)


def says_how_it_works(text: str) -> bool:
    """English that says no "no" but that something must go on working: no path is meant, and each task is."""
    return reads_as_english(text) and not says_no(GOES_ON.sub("", _plain(text)))


def kept_notes(notes: Iterable[str], guarded: Collection[str]) -> str:
    """The owner's notes that may forbid something and that no guard enforces: who writes and reviews must know them.

    `guarded`: the notes that guards were made of. The end of a task's text; empty: there are none.
    """
    kept = (note for note in notes if note not in guarded and not is_plain_wish(note))
    lines = [f"- {line}" for line in (one_line(note, LONGEST_NOTE) for note in kept) if line]
    return "\n".join(["\n\nThe owner's notes, which hold for every task:", *lines[:MOST_NOTES]]) if lines else ""


def _plain(text: str) -> str:
    """One spelling of each apostrophe, and nothing that only machines see."""
    return UNSEEN.sub("", unicodedata.normalize("NFKC", text.translate(APOSTROPHES)))


def same(word: str) -> tuple[str, ...]:
    """Words that mean the same, in all its languages; none is known: nothing."""
    group = _groups().get(word) or _groups().get(_stem(word))
    return tuple(form for form, first in _groups().items() if group and first == group)


def likeness(one: str, other: str) -> float:
    """0 to 1; from SAME_GOAL on they mean the same."""
    first, second = meanings(one), meanings(other)
    common = first & second
    if not common:
        return 0.0
    mine, theirs = first - second, second - first
    alike = 2 * len(common) / (len(first) + len(second))
    swapped = min(len(mine), len(theirs))
    named = any(map(_is_name, mine)) and any(map(_is_name, theirs))
    weight = sum(2 if _is_name(word) else 1 for word in common)
    is_same = not named and weight >= min(2, len(first), len(second)) and swapped <= len(common) // SWAPPED
    return max(SAME_GOAL, alike) if is_same else min(alike, SAME_GOAL) / 2


@lru_cache(5_000)  # each goal is compared with each
def meanings(text: str) -> frozenset[str]:
    """What is left of a text when small words and endings are gone; all of its words if nothing is.

    A target that is raised is a wish reworded: how much of it is wanted is not what it is about.
    """
    counted = " ".join(NUMBERS.get(word, word) for word in unicodedata.normalize("NFKC", text).casefold().split())
    folded = TARGET.sub(" target ", _in_digits(counted))
    words = [word.strip("-._/") for word in _tokens(folded)]
    telling = frozenset(_meaning(word) for word in words if word and word not in _silent())
    return telling or frozenset(filter(None, words)) or frozenset(text.split())


def _tokens(text: str) -> list[str]:
    """Runs of letters with their marks (Bengali needs them), digits, and what joins the parts of a name."""
    return "".join(c if unicodedata.category(c)[0] in "LMN" or c in "-./_" else " " for c in text).split()


def _in_digits(text: str) -> str:
    """Digits of any script as ours."""
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def _is_name(word: str) -> bool:
    return NAME.fullmatch(word) is not None


@cache
def _silent() -> frozenset[str]:
    return frozenset(SILENT.split())


@cache
def _groups() -> dict[str, str]:
    lines = [line.split() for line in GROUPS.split("\n") if line]
    return {form: line[0] for line in lines for word in line for form in (word, _stem(word))}


def _meaning(word: str) -> str:
    known = _groups()
    stem = word if _is_name(word) else _stem(word)
    return known.get(word) or known.get(stem) or stem


def _stem(word: str) -> str:
    for ending in SUFFIXES:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST:
            stem = word.removesuffix(ending)
            return stem[:-1] if stem[-1] == stem[-2] and len(stem) > SHORTEST else stem
    return word
