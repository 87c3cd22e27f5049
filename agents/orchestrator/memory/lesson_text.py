"""What happened -> Lesson, and which lessons fit what is about to be done. Pure; texts are as somebody wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sisimpur.agents.orchestrator.memory.lesson import Learner, Lesson, Situation, for_prompt, signature
from sisimpur.shared.model.evidence import (
    MOST_KEYWORDS,
    NO_EVIDENCE,
    ChangesRequested,
    Evidence,
    Finding,
    Reviewed,
    Severity,
    rules,
)
from sisimpur.shared.model.text import one_line
from sisimpur.shared.words.synonyms import telling

WINDOW = timedelta(days=30)  # in which a finding has to come back
ENOUGH_TASKS = 2  # that it comes back in
ENOUGH_WORDS = 2  # that a lesson shares with a task
MOST_KINDS, MOST_WORDS = 5, 60
LONGEST_LINE = 300  # in a prompt, with its provenance
LONGEST_TITLE, LONGEST_WHAT = 100, 200
ROLLED_BACK = "it was merged, deployed and rolled back: "
MACHINE = re.compile(  # what a machine says that has no room
    r"No space left on device|Disk quota exceeded|Cannot allocate memory|Too many open files|Read-only file system"
    r"|Input/output error"
)
FILE = re.compile(r"[\w./-]*\w\.[a-z]{1,5}\b")
# Every second title has one of these.
WEAK = """
add added change clean correct create error fail failed fails failing fix handle implement improve instead keep move
page refactor remove rename replace set show support task test tests update use using work write wrong
"""


@dataclass(frozen=True)
class TaskSetback:
    """A try that was sent back, or came to nothing. `kinds`: signatures of what was seen; `what`: in one line.

    `keywords`: the reviewer's, if one has read it.
    """

    what: str
    kinds: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


def teaches(setback: TaskSetback, times: int, is_mended: bool) -> bool:
    """Whether a failure says something of the change. `times` that the task came to it; `is_mended`: by another change.

    What passed as it was (a flaky test, a busy machine) teaches nothing, nor does a machine without room. Tests that
    come to no end were perhaps killed: that counts only if it came again.
    """
    if not is_mended or any(MACHINE.search(text) for text in (setback.what, *setback.kinds)):
        return False
    return times > 1 or set(setback.rules) != {NO_EVIDENCE}


@dataclass(frozen=True)
class ReviewComplaint:
    """A finding for which a task was sent back, the day of that, and the keywords of that review."""

    task: str
    day: str
    finding: Finding
    keywords: tuple[str, ...] = ()


# --- what was seen -------------------------------------------------------------------------------------------


def setback(note: str, evidence: Evidence | None, reviewed: Reviewed | None) -> TaskSetback | None:
    """Of a try that did not pass. None: nothing was wrong with it, only tests were missing."""
    if evidence and evidence.is_red:
        problems = evidence.needing("correct")
        texts = [failure.text for failure in evidence.failures] + [evidence.output]
        kinds = tuple(dict.fromkeys(filter(None, map(signature, texts))))[:MOST_KINDS]
        return TaskSetback(kinds[0] if kinds else _first_line(problems[0].text), kinds, rules(problems))
    if reviewed and isinstance(reviewed.verdict, ChangesRequested):
        found = [finding for finding in reviewed.verdict.findings if finding.severity is not Severity.LOW]
        named = tuple(dict.fromkeys(finding.rule for finding in found))
        kinds = tuple(dict.fromkeys(map(kind_of, found)))[:MOST_KINDS]
        what = f"{found[0].rule}: {found[0].text}" if found else _first_line(note)
        return TaskSetback(what, kinds, named, reviewed.keywords)
    if not note or (evidence and evidence.needing("write tests") and reviewed is None):
        return None
    kinds = tuple(filter(None, (signature(_seen_there(note)),)))
    return TaskSetback(_first_line(note), kinds, keywords=reviewed.keywords if reviewed else ())


@dataclass(frozen=True)
class SeenOfTry:
    """Signatures of what was seen of a try, by who looked; None: nobody has looked, or not to the end."""

    own: frozenset[str] | None = None  # what it came to before there was a commit
    tests: frozenset[str] | None = None
    review: frozenset[str] | None = None

    @property
    def came(self) -> frozenset[str]:
        return (self.own or frozenset()) | (self.tests or frozenset()) | (self.review or frozenset())

    def avoided(self, before: Iterable[SeenOfTry]) -> frozenset[str]:
        """What earlier tries of the task came to, and whoever saw it then has looked for in vain this time."""
        earlier = list(before)
        looked = (
            (self.own, [one.own for one in earlier]),
            (self.tests, [one.tests for one in earlier]),
            (self.review, [one.review for one in earlier]),
        )
        expected = (kinds for now, then in looked if now is not None for kinds in then if kinds)
        return frozenset().union(*expected) - self.came


def seen_of(note: str, evidence: Evidence | None, reviewed: Reviewed | None) -> SeenOfTry:
    """`note`: of a try that led to no commit. A run of tests without an end may hide what would have come."""
    if note:
        return SeenOfTry(own=frozenset(filter(None, (signature(_seen_there(note)),))))
    tests = review = None
    if evidence and not evidence.output:
        tests = frozenset(filter(None, (signature(one.text) for one in evidence.failures)))
    if reviewed:
        review = frozenset(kind_of(one) for one in reviewed.verdict.findings if one.severity is not Severity.LOW)
    return SeenOfTry(frozenset(), tests, review)


def sick(place: str, why: str) -> str:
    """The note of a task that was rolled back."""
    return f"{ROLLED_BACK}{place}: {why}"


def _seen_there(note: str) -> str:
    return note.removeprefix(ROLLED_BACK).partition(": ")[2] if note.startswith(ROLLED_BACK) else note


def kind_of(finding: Finding) -> str:
    """A finding's signature: which rule, and whose."""
    return f"{finding.rule} ({finding.source})"


# --- lessons -------------------------------------------------------------------------------------------------
# `keywords`: the reviewer's. They come first, then the words that code finds.


def mended(title: str, seen: TaskSetback, files: Sequence[str], changed: Sequence[str], origin: str) -> Lesson:
    """Its task was merged later. `files`: what is other in the merged change than in that try; `changed`: all of it."""
    by = f" A change of {', '.join(files[:5])} mended it." if files else ""
    text = f"{_named(title)} first came to: {seen.what[:LONGEST_WHAT]}.{by}"
    kind = seen.kinds[0] if seen.kinds else ""
    words = (*seen.keywords, *seen.rules[:3], *title_words(title))
    return Lesson(0, "coder", text, kind, words, tuple(changed), origin)


def comes_back(complaints: Sequence[ReviewComplaint], day: str, told: Sequence[str] = ()) -> Iterator[Lesson]:
    """What several tasks were sent back for within WINDOW, one of them on this day: once for each rule.

    `told`: texts of lessons; a rule that one of them is about is left out.
    """
    found: dict[str, list[ReviewComplaint]] = {}
    for one in sorted(complaints, key=lambda one: (one.day, one.task)):
        if is_of_late(one.day, day) and one.finding.severity is not Severity.LOW:
            found.setdefault(kind_of(one.finding), []).append(one)
    for kind, ones in found.items():
        first = ones[0].finding
        is_told = any(text.startswith(begins(first.rule)) for text in told)
        if ones[-1].day == day and len({one.task for one in ones}) >= ENOUGH_TASKS and not is_told:
            files = tuple(dict.fromkeys(one.finding.path for one in ones))
            named = tuple(dict.fromkeys(word for one in ones for word in one.keywords))[:MOST_KEYWORDS]
            text, words = f"{begins(first.rule)} {first.text}", (*named, first.rule, *title_words(first.text))
            yield Lesson(0, "coder", text, kind, words, files, ones[-1].task)


def is_of_late(sent: str, day: str) -> bool:
    return (date.fromisoformat(day) - WINDOW).isoformat() < sent <= day


def begins(rule: str) -> str:
    """So that the same rule is told once, whatever its sentence is."""
    return f"The reviewer sends changes back for “{rule}”:"


def rejected(agent: Learner, title: str, why: str, origin: str, keywords: Sequence[str] = ()) -> Lesson:
    text = f"The owner did not want {_named(title)}: {one_line(why, LONGEST_WHAT)}"
    return Lesson(0, agent, text, "", (*keywords, *title_words(title), *title_words(why)), (), origin)


def gave_up(title: str, files: Sequence[str], why: str, origin: str, keywords: Sequence[str] = ()) -> Lesson:
    where = f" ({', '.join(files[:5])})" if files else ""
    text = f"{_named(title)}{where} used up its attempts: {one_line(why, LONGEST_WHAT)}"
    return Lesson(0, "planner", text, "", (*keywords, *title_words(title)), tuple(files), origin)


def rolled_back(title: str, note: str, files: Sequence[str], origin: str, keywords: Sequence[str] = ()) -> Lesson:
    text = f"{_named(title)}: {one_line(note, LONGEST_WHAT)}"
    words = (*keywords, *title_words(title))
    return Lesson(0, "coder", text, signature(_seen_there(note)), words, tuple(files), origin)


def title_words(title: str) -> tuple[str, ...]:
    """Those that tell something; files have a list of their own."""
    return tuple(word for word in telling(FILE.sub(" ", title), MOST_WORDS) if word not in _WEAK)


# --- which fit -----------------------------------------------------------------------------------------------


def fits(lesson: Lesson, situation: Situation) -> bool:
    """The lower bound: the same failure, two words that tell something, or one of them about the same file."""
    if lesson.signature and lesson.signature == situation.signature:
        return True
    shared = {*title_words(" ".join(lesson.keywords))} & {*title_words(situation.text)}
    return len(shared) >= ENOUGH_WORDS - bool({*lesson.files} & {*situation.files})


def chosen(found: Iterable[tuple[Lesson, Situation]], task: str, most: int) -> tuple[Lesson, ...]:
    """Of those that were found, the best first; what a task itself has taught its findings say already."""
    fitting = [one for one, situation in found if fits(one, situation)]
    return for_prompt([one for one in fitting if not task or taught_by(one) != task])[:most]


def taught_by(lesson: Lesson) -> str:
    """The task; empty: nobody knows."""
    return lesson.origin.rpartition(".a")[0] or lesson.origin


def named_files(text: str) -> tuple[str, ...]:
    """What looks like a file in a text."""
    return tuple(dict.fromkeys(FILE.findall(text)))


def line(lesson: Lesson) -> str:
    """For a prompt: what, since when, and from where."""
    source = f" (learned on {lesson.learned} from {taught_by(lesson) or 'nobody knows where'})"
    return f"{one_line(lesson.text, LONGEST_LINE - len(source))}{source}"


def _named(title: str) -> str:
    return f"“{one_line(title, LONGEST_TITLE)}”"


def _first_line(text: str) -> str:
    return one_line(next((line for line in text.splitlines() if line.strip()), ""), LONGEST_WHAT)


_WEAK = frozenset(WEAK.split())
