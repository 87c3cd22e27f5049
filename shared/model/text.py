"""Text that people, programs and models wrote, made fit for a title, a table, a screen or somebody else's system. Pure.

Markdown is defused: the words stay readable; what a forge or a chat would act on does not work any more: mentions,
closing words, commands, links and pictures from elsewhere, HTML. Everything is treated alike, also inside of code:
where code begins and ends is a matter of opinion between parsers.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress

TITLE, NOTE = 120, 400  # characters that are shown of a title, and of what was said of a task
BEGIN = 120  # of a long reason; the rest is its end, where programs say what was wrong
AROUND = 80  # characters around what nobody sees


# --- what nobody sees ----------------------------------------------------------------------------------------

# Letters without width or ink: breaks, changes of direction, fillers, tags; joiners and variants that stand alone.
JOINERS, VARIANTS = "\u200c\u200d", "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
UNSEEN = (
    f"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164{JOINERS}"
    f"{VARIANTS}\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
RUN = re.compile(f"[{UNSEEN}]+")
# What stands beside them is looked at only where one was found: these are compiled then.
VARIANT = f"[{VARIANTS}]"
# Arabic, Syriac, Indic, Tibetan, Burmese, Khmer, Mongolian and their kin: a joiner there makes another word.
JOINED = (
    "[\u0620-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1900-\u1c4f\u1cd0-\u1cff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00010aff\U00011000-\U00011fff\U0001e900-\U0001e95f]"
)
HAN = "[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
PICTURE = "[\u2190-\u21ff\u2300-\u2bff\U0001f000-\U0001faff]"  # emoji, their skin and hair
SIGN = "[0-9#*\u00a9\u00ae\u203c\u2049\u2122\u2139\u3030\u303d\u3297\u3299]"  # with a variant: an emoji


def visible(text: str, instead: Callable[[str], str] = lambda _: "") -> str:
    """The text without letters that nobody sees: bytes can be written with them, and words turned round.

    What belongs to a word or a picture stays, letter by letter: a joiner inside Bengali, Indic or Arabic, or between
    emoji; one variant of a sign. `instead`: what is put in the place of one that does not. Twice is as good as once.
    """
    return text if text.isascii() else RUN.sub(lambda run: "".join(_left(run, instead)), text)


def unseen(text: str) -> str:
    """The letters that visible() takes out, in order."""
    runs = () if text.isascii() else RUN.finditer(text)
    return "".join(letter for run in runs for letter, gone in zip(run[0], _taken(run), strict=True) if gone)


def shown(text: str) -> str:
    """The text for its owner: `[U+E0041]` for each letter that nobody sees."""
    return visible(text, lambda letter: f"[U+{ord(letter):04X}]")


def around_unseen(text: str) -> str:
    """The first of these places, shown, in one line; empty: there is none."""
    text = text.removeprefix("\ufeff")  # a file's first mark is no letter
    at = next((run.start() for run in RUN.finditer(text) if any(_taken(run))), -1) if not text.isascii() else -1
    return one_line(shown(text[max(0, at - AROUND // 4) : at + AROUND]), AROUND) if at >= 0 else ""


def _taken(run: re.Match[str]) -> list[bool]:
    """Of each letter of a run whether it belongs to nothing."""
    before, after = run.string[: run.start()][-1:], run.string[run.end() :][:1]
    may_vary = any(re.match(kind, before) for kind in (PICTURE, SIGN, HAN, JOINED))
    may_join = bool(re.match(JOINED, before)) and (bool(re.match(JOINED, after)) or not after.isalnum())
    may_tie = bool(re.match(PICTURE, before)) and bool(re.match(PICTURE, after))
    taken: list[bool] = []
    for letter in run[0]:
        if re.match(VARIANT, letter):
            fits, may_vary = may_vary and (letter < "\U000e0100" or bool(re.match(HAN, before))), False
        else:
            fits = letter in JOINERS and (may_join or (may_tie and letter == JOINERS[1]))
            may_join, may_tie = may_join and not fits, may_tie and not fits
        taken.append(not fits)
    return taken


def _left(run: re.Match[str], instead: Callable[[str], str]) -> Iterator[str]:
    return (instead(letter) if gone else letter for letter, gone in zip(run[0], _taken(run), strict=True))


def one_line(text: str, longest: int = 300, end: str = "…") -> str:
    """One printable line of at most `longest` characters (at least 1). `end`: of one that was cut; "" for data.

    Line ends, control characters, halves of characters and what nobody sees become one blank: what stood on both sides
    of them must not become a new word.
    """
    return visible(shortened(" ".join(printable(text).split()), longest, end))  # half an emoji ends in a joiner


def printable(text: str, instead: str = " ", keep: str = "") -> str:
    """Each character that cannot be shown is replaced: no text can move the cursor, ring, or recolour a screen."""
    if text.isascii() and text.isprintable():
        return text
    text, keep = visible(text, lambda _: instead), keep + JOINERS
    return text if text.isprintable() else "".join(c if c.isprintable() or c in keep else instead for c in text)


def shortened(line: str, longest: int, end: str = "…") -> str:
    """Return at most `longest` characters (at least 1); a longer line is cut and ends in `end`."""
    return line if len(line) <= longest else line[: longest - len(end)].rstrip() + end


def signal_of(code: int) -> str:
    """Name the signal that ended a program, by its negative code or as a shell says it; empty: none did."""
    with suppress(ValueError):
        return signal.Signals(-code if code < 0 else code - 128).name
    return ""


def begin_and_end(line: str, most: int) -> str:
    """A line's begin and its end: programs say last what was wrong."""
    return line if len(line) <= most else f"{line[:BEGIN]} … {line[-(most - BEGIN - 3) :]}"


def ranges(numbers: Iterable[int]) -> str:
    """`3-9, 12`: each number, in order."""
    found: list[list[int]] = []
    for number in sorted({*numbers}):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in found)


def few(names: Sequence[str], most: int, joint: str = ", ") -> str:
    """`a, b and 3 more`."""
    return joint.join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def bullets(lines: Iterable[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"- {line}" for line in lines)


# --- Markdown of strangers -----------------------------------------------------------------------------------

BREAK = "\u200b"  # no width: what stands around it is no longer one word
OUR_BREAK = re.compile(f"(?<=[<&@#-]){BREAK}")  # as defuse() puts it: nothing to tell the owner of
LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # as str.splitlines() has it
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)

CALLS = re.compile(r"((?<![A-Za-z0-9_])@(?=\w)|#(?=\d)|\b(?i:gh)-(?=\d))")  # a person, an issue (fixes #1)
ACTS = (
    (re.compile(r"<(?=[A-Za-z/!?@#:])"), "<" + BREAK),  # HTML, and a chat's <@id>
    (re.compile(r"&(?=#?\w{1,40};)"), "&" + BREAK),  # entities: another way to write @
    (CALLS, r"\1" + BREAK),
    (re.compile(r"\bwww\.", re.IGNORECASE), "www[.]"),
)


DOTS = r"[/\\](?:\.|%2[eE]){1,2}(?=[/\\?#)\s]|\Z)"  # a step that a browser takes upwards
# Behind the name of a host, or of a place there: the address ends in sight, and leads nowhere else.
WITHIN = rf"(?=[/)\s]|\Z)(?=[^\s)]{{0,1000}}(?:[\s)]|\Z))(?![^\s)]{{0,1000}}{DOTS})"
LEAVES = re.compile(DOTS)
RELATIVE = re.compile(r"\]\((?:\./)?([\w.~%+,@=-]+(?:/[\w.~%+,@=-]*)*(?:#[\w.-]*)?)\)")  # no scheme, no host
COMMAND = re.compile(r"^([ \t]*)/(?=\w)", re.MULTILINE)  # /merge, at the begin of a line
HTML, IMAGE = re.compile(r"<(?=[A-Za-z/!?])"), re.compile(r"!(?=\[)")

ELSEWHERE = (  # what acts in a commit, and in a pull request that becomes one
    (re.compile(r"\[[ \t]*((?:skip|no)[ _-][\w-]+|[\w-]+[ _-]skip|skip)[ \t]*\]", re.IGNORECASE), r"(\1)"),  # [skip ci]
    (re.compile(r"\*\*\*(?=NO_CI)", re.IGNORECASE), "** "),
    (
        re.compile(
            r"^([ \t]*(?:[\w-]*-by|skip-checks|goal|task|attempt|model|prompt-digest|team-version))[ \t]*:",
            re.IGNORECASE | re.MULTILINE,
        ),
        r"\1 -",
    ),
)


def acts_nowhere(text: str) -> str:
    """The same words, of which none switches off a forge's checks, signs for a person or is taken for our trailer."""
    for expression, harmless in ELSEWHERE:
        text = expression.sub(harmless, text)
    return text


def legible(text: str) -> str:
    """Lines without control characters and without what nobody sees. What is a line to anybody is one."""
    return CONTROLS.sub("", visible(LINE_END.sub("\n", text)))


def defuse(markdown: str, hosts: Collection[str] = ()) -> str:
    """`hosts`: names of hosts to which https links may stay; with `http://` before it, http links. Twice is as once."""
    return COMMAND.sub(r"\1\\/", defused_line(markdown, hosts))


def with_links(markdown: str, home: str, shown: str = "") -> str:
    """The text with links into the owner's own repository that work where it is shown.

    `home`: the repository's address at its forge; empty: it has none, and nothing changes. `shown`: the branch or
    commit whose files a relative link means.
    """
    if not home.startswith("https://"):
        return markdown
    to = f"{home}/blob/{shown or 'HEAD'}/"
    return RELATIVE.sub(lambda found: f"]({to}{found[1]})" if not LEAVES.search(f"/{found[1]}") else found[0], markdown)


def own_place(home: str) -> tuple[str, ...]:
    """What `hosts` of defuse() is told, so that links into this repository stay; none: it has no address."""
    return (home.removeprefix("https://"),) if home.startswith("https://") else ()


def with_own_links(defused: str, home: str) -> str:
    """A defused text in which links into this repository work again."""
    for place in own_place(home):
        ours = rf"{re.escape(place)}{WITHIN}"
        defused = re.sub(rf"\bhttps\[:\](?=//{ours})", "https:", defused)
        defused = re.sub(rf"\] (?=\(https://{ours})", "]", defused)
    return defused


def as_written(text: str) -> str:
    """The owner's words in the owner's own file, letter by letter; only no editor makes a page of them."""
    return IMAGE.sub("!" + BREAK, HTML.sub("<" + BREAK, text))


def with_own_words(defused: str, own: Iterable[str]) -> str:
    """A defused text with these words of the owner as they were written."""
    for words in sorted({one for one in own if one}, key=len, reverse=True):
        if (there := defused_line(words)) != words:
            defused = defused.replace(there, as_written(words))
    return defused


def defused_line(markdown: str, hosts: Collection[str] = ()) -> str:
    """As defuse(), of what stands where no command is: in a title, or within a line."""
    text = COMMENT.sub(" ", legible(markdown))
    listed, plain = _listed(host for host in hosts if "://" not in host), _listed(_plain(hosts))
    text = re.sub(rf"\](?=[(:\[])(?!\(https://{listed})", "] ", text)  # no link, no picture, no definition of one
    text = re.sub(rf":(?=//)(?!(?<=\bhttps:)//{listed})(?!(?<=\bhttp:)//{plain})", "[:]", text)
    for expression, harmless in ACTS:
        text = expression.sub(harmless, text)
    return acts_nowhere(text)


def _listed(hosts: Iterable[str]) -> str:
    """An expression for any of them, whole."""
    return rf"(?:{'|'.join(found)}){WITHIN}" if (found := [re.escape(host) for host in hosts]) else "(?!)"


def _plain(hosts: Iterable[str]) -> Iterator[str]:
    return (host.removeprefix("http://") for host in hosts if host.startswith("http://"))


# --- logs ----------------------------------------------------------------------------------------------------


def seen_before(before: Sequence[Hashable], now: Sequence[Hashable]) -> int:
    """Count how many lines `now` begins with that are the end of `before`, as many as possible; the ones after are new.

    A line may be given by its digest.
    """
    longest = min(len(before), len(now))
    return next((size for size in range(longest, 0, -1) if now[:size] == before[len(before) - size :]), 0)


def harmless(text: str, most: int = NOTE) -> str:
    """Part of a line that is or ends no code (nobody forges a command of ours), opens no heading and calls nobody."""
    return shortened(" ".join(defused_line(text).replace("`", "'").split()), most)


# What begins a block: a heading, a quotation, a list, a box to tick, a rule; `-# ` makes letters small at Discord.
BEGINS = re.compile(r"#{1,6}(?=\s|\Z)|[>+]|-(?=#?(?:\s|\Z))|-(?=(?: *-)+ *\Z)|\[(?=[ xX]\])|\d{1,9}(?=[.)](?:\s|\Z))")
# What is marked off already; what is emphasis, struck out, hidden at Discord, or takes the force of a mark of ours.
MARKS = re.compile(r"\\[!-/:-@\[-`{-~]|\\\Z|(?<!\s)\*|\*(?!\s)|(?<![^\W_])_|_(?![^\W_])|~|\|(?=\|)|(?<=\|)\|")


def literal(line: str) -> str:
    """A line of Markdown that is read letter by letter: no emphasis, no list, no heading. Twice is as good as once."""
    line = MARKS.sub(lambda mark: mark[0] if len(mark[0]) > 1 else f"\\{mark[0]}", line)
    begin = BEGINS.match(line)
    if begin is None:
        return line
    at = begin.end() if begin[0].isdigit() else 0
    return f"{line[:at]}\\{line[at:]}"


def as_said(text: str, most: int = NOTE) -> str:
    """As harmless(), for a page of Markdown outside of its code."""
    return literal(harmless(text, most))


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


# --- how Python reads a file ----------------------------------------------------------------------------------

COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)  # as in PEP 263
PYTHON_LINE_END = re.compile(r"\r\n?|\n")
UTF8 = ("utf-8", "utf8")
# Codings in which what looks like ASCII is ASCII: their files read to Python as they read to people.
PLAIN_CODING = re.compile(
    r"(?:utf-?8(?:-sig)?|(?:us-)?ascii|l1|(?:iso-)?latin-?\d+|iso-?8859-?\d+|(?:cp|windows-)125\d|koi8-[ru])"
    r"(?:-(?:unix|dos|mac))?"
)


def python_lines(text: str) -> list[str]:
    return PYTHON_LINE_END.split(text.removeprefix("\ufeff"))


def coding_of(line: str) -> str:
    """The coding that a line of Python declares, if it is one of the first two."""
    found = COOKIE.match(line)
    return found[1].lower().replace("_", "-") if found else UTF8[0]


def another_coding(text: str) -> tuple[int, str] | None:
    """(line, coding) by which Python reads another program than is to be seen: code in a comment, to begin with."""
    lines = enumerate(map(coding_of, python_lines(text)[:2]), 1)
    return next(((number, coding) for number, coding in lines if not PLAIN_CODING.fullmatch(coding)), None)


def sha256_of(text: str) -> str:
    """Of any text, also of one from outside that holds half a character."""
    from hashlib import sha256  # not every command needs it

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
