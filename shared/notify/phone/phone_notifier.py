"""Push adapter: what the answer of a browser's push service means for a notice.

A phone is told that something waits, and the id of its task or goal: no word of code, no title, and no way to decide.
The service can read neither; it keeps the newest of one topic, and the phone shows it in the place of the older one:
what comes twice is there once. A browser says where its service lies: only the known ones are ever called, and no
redirect is followed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import urlsplit

from sisimpur.shared.model.errors import Misconfigured, Refused, TeamError, Unavailable
from sisimpur.shared.model.text import one_line
from sisimpur.shared.notify.notice import Asks, DeliveryUnknown, Notice
from sisimpur.shared.notify.phone.push_book import Push, PushBook
from sisimpur.shared.notify.phone.sealing import VapidKey, sealed
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point
from sisimpur.shared.system.http import Http, HttpAnswer, HttpCall, NoAnswer

# Push services that browsers use: by https, by their names alone, at the usual port.
KNOWN = re.compile(
    r"https://(?:fcm\.googleapis\.com|updates\.push\.services\.mozilla\.com"
    r"|(?:[a-z0-9-]{1,63}\.){1,3}(?:push\.apple\.com|notify\.windows\.com))"
    r"/[\w./:=?&%+~!*'(),;@-]{1,1000}",
    re.ASCII,
)
KEPT_FOR = 86_400  # seconds that a service keeps what a phone without a line has not taken
PATIENCE = 10.0  # seconds for all of a call
LONGEST_ANSWER, LONGEST_WAIT = 300, 3_600  # bytes; seconds
LONG = r"[^\s\"'<>,;]{20,}"  # in what a service says: perhaps our address, or what was read of it
GONE, REFUSES_US, LATER = (404, 410), (401, 403), (408, 429)
HOW = "press *Notify this phone* there again; see docs/phone.md"
WAITS: Mapping[Asks, Mapping[str, str]] = {
    "change": {"en": "1 change waits for you", "bn": "১টি পরিবর্তন আপনার অপেক্ষায়"},
    "failed": {"en": "1 task has failed", "bn": "১টি কাজ হয়নি"},
    "plan": {"en": "A plan waits for you", "bn": "একটি পরিকল্পনা আপনার অপেক্ষায়"},
    "question": {"en": "The team has a question", "bn": "দলের একটি প্রশ্ন আছে"},
}
WORKS = {"en": "This is a test: what waits for you comes here", "bn": "এটি পরীক্ষা: যা আপনার অপেক্ষায়, তা এখানে আসবে"}


@dataclass(frozen=True)
class PushSender:
    """`subject`: whom a service may write to if we trouble it: an address of https or mailto.

    `takes`, `http`: which services are called, and how. Tests give their own; no setting does.
    """

    key: VapidKey
    subject: str
    clock: Clock
    http: Http = field(default_factory=Http)
    takes: re.Pattern[str] = KNOWN

    def ask(self, push: Push, topic: str, said: Mapping[str, str]) -> HttpAnswer | NoAnswer:
        """Misconfigured: it is no push service, so nobody is asked."""
        if not self.takes.fullmatch(push.endpoint):
            raise Misconfigured(f"{push.service} is no push service that we know; {HOW}")
        text = json.dumps({**said, "tag": topic, "lang": push.language}, ensure_ascii=False)
        place = urlsplit(push.endpoint)
        headers = {
            "authorization": self.key.signed(f"{place.scheme}://{place.netloc}", self.subject, self.clock.now()),
            "ttl": str(KEPT_FOR),
            "urgency": "high",
            "topic": topic,
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "accept-encoding": "identity",
            "user-agent": "sisimpur-agents/0.1",
        }
        body = {"content": sealed(text.encode(), push.keys)}
        answer = self.http.ask(push.endpoint, HttpCall(headers, LONGEST_ANSWER, PATIENCE, "POST", body))
        fault_point("phone.asked")
        return answer


class PhoneNotifier:
    """One browser. It is told what waits for the owner, and nothing else."""

    takes_pdf: bool = False

    def __init__(self, push: Push, book: PushBook, sender: PushSender) -> None:
        self._push, self._book, self._sender = push, book, sender

    @property
    def name(self) -> str:
        return f"phone {self._push.id}"

    def wants(self, notice: Notice, is_whole: bool) -> bool:  # noqa: ARG002
        return bool(notice.waits)

    def send(self, notice: Notice, sent: str = "") -> str:  # noqa: ARG002
        """See Notifier. A browser that is gone is forgotten."""
        words = WAITS[notice.asks]
        topic = sha256(notice.key.encode()).hexdigest()[:32]
        task = {"task": notice.waits} if notice.asks in ("change", "failed") else {}  # Today shows what else waits
        self._tell(topic, {"title": words.get(self._push.language, words["en"]), "body": notice.waits, **task})
        return ""

    def test(self) -> str:
        """Send a message that says nothing -> what the service answered. Errors: as those of `send`."""
        return self._tell("test", {"title": WORKS.get(self._push.language, WORKS["en"])})

    def _tell(self, topic: str, said: Mapping[str, str]) -> str:
        """-> what was answered."""
        push, book, now = self._push, self._book, self._sender.clock.now()
        try:
            answer = self._sender.ask(push, topic, said)
            words = _taken(push, answer)
        except TeamError as problem:
            book.note(push.id, now, str(problem))
            raise
        if words is None:
            book.end(push.id)
            raise Refused(f"{push.service} says that this browser takes nothing any more, so it is forgotten; {HOW}")
        book.note(push.id, now)
        return words


def _taken(push: Push, answer: HttpAnswer | NoAnswer) -> str | None:
    """Return what a service said that took it; None: the browser is gone."""
    service = push.service
    if isinstance(answer, NoAnswer):
        if answer.sent:
            raise DeliveryUnknown(f"{service} did not confirm it ({answer.why}); perhaps it is there")
        raise Unavailable(f"{service} cannot be reached ({answer.why})")
    status, said = answer.status, one_line(re.sub(LONG, "***", answer.text))
    words = f"{service} answers with {status}{f' ({said})' if said else ''}"
    if status in GONE:
        return None
    if status in REFUSES_US:
        raise Misconfigured(f"{words}: it does not know our key for this browser; {HOW}")
    if status in LATER or status >= 500:
        raise Unavailable(words, wait=_wait(answer.headers.get("retry-after", "")))
    if not 200 <= status < 300:
        raise Refused(words)
    return words


def _wait(value: str) -> float:
    """Seconds; a date is none of ours, and is tried again as usual."""
    return float(min(int(value), LONGEST_WAIT)) if re.fullmatch("[0-9]{1,9}", value) else 0.0
