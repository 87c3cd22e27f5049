"""Words of the trade: which tell, and which stand for one another (picture, ImageField). Pure, and English."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

MOST_READ = 8_000  # characters, from both ends
WORD = re.compile(r"[^\W_]{2,40}")
PART = re.compile(r"[A-Z][a-z]+")
COMMON = """
an as at be by do go he if in is it me my no of on or so to up us we about after all also and any are because been
before but can could did does done each every for from get had has have her here him his how into its just made make
makes many may more most much must never new not now off often one only onto other others our out over own same shall
she should since some somebody such than that the their them then there these they this those though through too two
under very was were what when where which while who will with without would yet you your
file line most recent call last traceback
"""

# One group a line; a word may stand in several. Endings are taken off on both sides.
GROUPS = """
mail email message smtp inbox outbox newsletter invitation
picture image photo portrait avatar thumbnail pillow
twice duplicate double repeat again idempotent unique retry
slow fast speed performance seconds minutes queries query index
hang stuck wait timeout block freeze answer respond stand
login auth authentication session anonymous stranger unauthorized
permission allow access authorisation owner private
money price amount total decimal currency discount cart basket charge invoice bill cents float rounding payment
download export csv excel spreadsheet
html escape markup bold xss template
race concurrent parallel simultaneous lock load process
migration migrate schema column alter table
mandatory required null empty default blank
secret key password credential token environment
flaky sporadic sometimes random order isolation
upload file attachment attach size
sort sequence order
page paginator leaf next catalogue
translation translate language german english locale
encoding unicode bengali hindi latin ascii umlaut slug slugify
worker job task background celery queue asynchronous
day date midnight clock timezone today night morning zone
delete remove archive drop
api endpoint rest serializer provider service client
form field validate validation clean
network offline internet provider fake
memory kill oom restart million large huge
button menu handler callback lambda closure loop
sql select database statement raw
search filter find
package library dependency requirement install pip
stylesheet css colour style font
host port listen bind address url path
health probe healthz healthy
container image docker deploy
permission denied chown root volume
admin administration backoffice
signal receiver handler
log logging entry
privacy personal student customer person
weaken loosen comment skip assertion
cover coverage uncovered branch run
enum choices state status label
import bulk mass
changed updated modified edited
count counter number views clicks
webhook hook delivery callback event
program command shell subprocess call
user person account member author people
list overview
subject tag category many
address slug url
"""
SHORTEST = 3  # letters of a base
ENDINGS = ("ings", "ing", "ies", "ed", "es", "s", "e", "y")


def telling(text: str, most: int) -> list[str]:
    """Its words in small letters, each once, in their order; one that is MadeOfWords also by its parts."""
    read = text if len(text) <= MOST_READ else f"{text[: MOST_READ // 2]}\n{text[-MOST_READ // 2 :]}"
    words = (form.lower() for word in WORD.findall(read) for form in (word, *PART.findall(word)))
    found = dict.fromkeys(word for word in words if word not in _COMMON and not word.isdecimal())
    return list(found)[:most]


def kindred(words: Iterable[str]) -> tuple[str, ...]:
    """What stands in a group with one of them, in order, without the words themselves."""
    given = dict.fromkeys(words)
    known = {_base(word) for word in given}
    found = (other for word in given for other in _GROUPS.get(_base(word), ()))
    return tuple(dict.fromkeys(word for word in found if _base(word) not in known))


def _base(word: str) -> str:
    """The word without its ending: rough, and the same for both sides."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST:
            return word[: -len(ending)]
    return word


def _grouped() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for group in GROUPS.split("\n"):
        for word in group.split():
            found[_base(word)] |= dict.fromkeys(group.split())
    return {base: tuple(words) for base, words in found.items()}


_COMMON = frozenset(COMMON.split())
_GROUPS = _grouped()
