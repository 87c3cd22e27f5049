"""What was said in calls: whole or said to be missing, without keys, as what it was; and no call stops for it."""

from __future__ import annotations

import json
import resource
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.cli.views.show import spoken, told
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.record.conversations import (
    HEAD,
    LONGEST,
    Conversation,
    Conversations,
    RecordedCall,
    fitted,
    pack,
    unpack,
)
from sisimpur.shared.system.outgoing import Outgoing
from tests.books import new_book
from tests.edges.meter_scene import DAY, KEY, NOW, Scene, body, code, scene
from tests.edges.upstream import Step
from tests.killing import killed_at, snippet
from tests.talk import everything_said

CANARY = "canary-4711-of-the-owner-0815"
SHAPE = "ghp_" + "a1B2" * 9
OUT = Outgoing({"KEY": KEY, "CANARY": CANARY})
SPOILT = "its record cannot be read"

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
conversations = st.builds(Conversation, values, values, st.integers(0))


# --- one pack ------------------------------------------------------------------------------------------------


@given(st.integers(0, 1 << 60), conversations)
def test_what_was_packed_comes_back(call: int, said: Conversation) -> None:
    assert unpack(call, pack(call, said)) == said


@given(values, values)
def test_what_is_short_and_holds_no_key_is_kept_as_it_is(request: Any, answer: Any) -> None:
    assert fitted(request, answer, str) == Conversation(request, answer)


@given(conversations, st.data())
def test_what_was_cut_anywhere_or_is_another_calls_is_refused_in_one_line(said: Conversation, data: Any) -> None:
    whole = pack(7, said)
    with pytest.raises(Refused, match=SPOILT):
        unpack(7, whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(Refused, match=SPOILT):
        unpack(8, whole)


@given(conversations, st.data())
def test_a_changed_byte_changes_no_word(said: Conversation, data: Any) -> None:
    changed = bytearray(pack(7, said))
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    with suppress(Refused):
        assert unpack(7, bytes(changed)) == said


def test_a_record_of_a_later_version_says_so() -> None:
    whole = pack(7, Conversation("hi"))
    with pytest.raises(Refused, match="records of version 9"):
        unpack(7, HEAD.pack(b"TALK", 9, 7, len(whole) - HEAD.size) + whole[HEAD.size :])


@given(st.lists(st.integers(0, 500_000), max_size=6), st.integers(0, 200_000))
def test_what_is_too_much_is_left_out_and_counted(sizes: list[int], empty: int) -> None:
    request = {"system": "s" * 1000, "messages": [*("x" * size for size in sizes), *[""] * empty]}
    said = fitted(request, ["y" * size for size in sizes], str)
    for part in (said.request, said.answer):
        assert len(json.dumps(part)) <= LONGEST + 1000
    assert (said.left_out == 0) == (said == Conversation(request, ["y" * size for size in sizes]))


@given(st.sampled_from([CANARY, KEY, SHAPE]), st.text(), st.text(), st.integers(0, 3))
def test_a_key_is_in_no_record_wherever_it_stood(key: str, before: str, after: str, place: int) -> None:
    text = f"{before} {key} {after}"
    request: Any = [text, {"messages": [{"content": text}]}, {text: 1}, text.encode("utf-8", "replace")][place]
    said = fitted(request, [{"input": {"deep": [text]}}], OUT.clean)
    assert key not in json.dumps([said.request, said.answer])


def test_a_key_of_digits_is_none_as_a_number_either() -> None:
    said = fitted({"id": 4921_0077_1234_5678, "n": 3.5}, [True], Outgoing({"PIN": "4921007712345678"}).clean)
    assert said == Conversation({"id": "[removed: PIN]", "n": 3.5}, [True])


def test_what_a_stranger_said_cannot_speak_to_the_terminal_and_is_told_once() -> None:
    row = {"number": 1, "at": NOW.isoformat(), "agent": "coder", "attempt": 1, "model": "m", "retry": 0}
    row |= {"tokens_in": 1200, "tokens_out": 3, "amount": 5_000_000, "state": "lost", "code": "meter_cut"}
    row |= {"note": "\x1b[31mred", "stop_reason": ""}
    said = Conversation({"system": "s" * 300, "messages": []}, [{"type": "\x1b[2Jodd", "x": "\x9b31m\u202e\x07"}], 7)
    calls = [RecordedCall(row, said), RecordedCall({**row, "number": 2}, said), RecordedCall(row, None, "gone\x07")]
    text = "\n".join(told(calls))
    assert not {*text} & {"\x1b", "\x9b", "\u202e", "\x07"}
    head = "2026-11-20T12:00:00  coder  attempt 1  m  1,200 tokens in, 3 out, $0.0050  lost (meter_cut:  [31mred)"
    assert text.startswith(f"\n== call 1  {head}\n\n[system]\n{'s' * 300}\n\n[answer:  [2Jodd]\n")
    assert f"\n== call 2  {head}\n\n[system] (as in call 1)\n" in text
    assert "\n(7 characters were too much for the record)\n" in text and text.endswith("\ngone ")


# --- at the meter --------------------------------------------------------------------------------------------


def kept(folder: Path, tell: Callable[[str], object] = print) -> Conversations:
    return Conversations(folder / "talk", new_book(folder / "agents.db"), OUT.clean, tell)


def test_each_call_is_there_as_what_it_was(tmp_path: Path) -> None:
    """Answered, repeated, cut by the upstream, refused by a cap, refused unread."""
    book, hold = kept(tmp_path), threading.Event()
    steps = (
        Step(text="first answer"),
        Step(503, {"type": "overloaded_error", "message": "busy"}),
        Step(text="second answer"),
        Step(text="half of this comes", cut_after=4),
        Step(hold=hold, hold_after=4, text="nobody waits for this"),
    )
    with scene(tmp_path, *steps, talk=book.keep) as meter:
        assert meter.post(body(system="Be kind.")).status_code == 200
        assert meter.post(body()).status_code == 200
        assert code(meter.post(body())) == "meter_upstream"
        leaves(meter)
        while meter.calls()[-1].state == "open":
            time.sleep(0.005)
        hold.set()
        assert code(meter.post(body(surprise=CANARY))) == "meter_unknown_field"
        assert code(meter.post(f"no JSON, but {CANARY}".encode())) == "meter_bad_request"
        meter.ticket(budget="0")
        assert code(meter.post(body())) == "meter_ticket_cap"
        used = meter.used
    found = list(book.of("t1"))
    assert [one.trouble for one in found] == [""] * 8
    states = [(one.row["state"], one.row["retry"]) for one in found]
    assert states == [
        *(("settled", 0), ("lost", 0), ("settled", 1), ("lost", 0), ("lost", 0)),
        *[("refused", 0)] * 3,
    ]
    said = [[*spoken(one.said)] for one in found if one.said]
    hi = ("user", "hi")
    assert said[:4] == [
        [("system", "Be kind."), hi, ("answer", "first answer")],
        [hi],
        [hi, ("answer", "second answer")],
        [hi, ("answer", "half of t")],
    ]
    assert said[4][0] == hi and "nobody waits for this".startswith(said[4][1][1])
    assert said[5] == [("not understood", json.dumps(body(surprise="[removed: CANARY]")))]
    assert said[6] == [("not understood", "no JSON, but [removed: CANARY]")]
    assert said[7] == [hi]
    assert CANARY.encode() not in everything_said(tmp_path / "talk")
    assert sum(one.row["amount"] for one in found) == used and book.unrecorded() == (0, "")


def test_no_key_that_an_upstream_sends_back_is_booked_or_logged(tmp_path: Path) -> None:
    """As an answer, as an error, as the number of its request."""
    error = {"type": "invalid_request_error", "message": f"{CANARY} and {SHAPE}"}
    steps = (Step(text=f"{CANARY} {SHAPE}"), Step(400, error, {"request-id": SHAPE}))
    with scene(tmp_path, *steps, talk=kept(tmp_path).keep, clean=OUT.clean) as meter:
        assert [meter.post(body()).status_code for _ in steps] == [200, 400]
        logged = json.dumps(meter.log)
    rows = [one.row for one in kept(tmp_path).of("t1")]
    with closing(sqlite3.connect(tmp_path / "agents.db")) as db:
        books = "".join(db.iterdump())
    said = everything_said(tmp_path / "talk").decode() + logged + json.dumps(rows) + books
    assert [key for key in (CANARY, SHAPE) if key in said] == []
    assert "[removed: CANARY]" in rows[1]["note"]


def leaves(meter: Scene) -> None:
    """Begin a call, and go away when its answer has begun."""
    with meter.client() as client:
        sent = {"x-api-key": meter.token}
        with client.stream("POST", "http://meter/v1/messages", json=body(stream=True), headers=sent) as answer:
            next(answer.iter_raw())


def test_what_cannot_be_written_stops_no_call_and_is_told_once(tmp_path: Path) -> None:
    said: list[str] = []
    book = kept(tmp_path, said.append)
    with scene(tmp_path, talk=book.keep) as meter:
        assert meter.post(body()).status_code == 200
        book.keep(10**6, {}, ())  # no such call: it has no row, and no record
    (tmp_path / "talk" / f"{DAY}.talk").rename(tmp_path / "away")
    (tmp_path / "talk" / f"{DAY}.talk").mkdir()
    with scene(tmp_path, talk=book.keep) as meter:
        assert [meter.post(body()).status_code for _ in range(3)] == [200] * 3
    assert said == ["what is said to models is not recorded, and the work goes on: Is a directory"]
    assert book.unrecorded() == (3, NOW.isoformat(timespec="milliseconds"))
    assert [one.trouble.partition(",")[0] for one in book.of("t1")] == [
        f"{SPOILT} (Is a directory)",
        *["there is no record of it"] * 3,
    ]


def test_a_disk_that_is_full_in_the_middle_of_a_record_keeps_nothing_of_it_and_is_told_once(tmp_path: Path) -> None:
    said: list[str] = []
    book = kept(tmp_path, said.append)
    with scene(tmp_path) as meter:
        assert [meter.post(body()).status_code for _ in range(4)] == [200] * 4
    book.keep(1, "asked", "answer 1")
    size = (tmp_path / "talk" / f"{DAY}.talk").stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, before[1]))  # the kernel takes a part of it, as a full disk
    try:
        for call in (2, 3):
            book.keep(call, "asked", f"answer {call}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (tmp_path / "talk" / f"{DAY}.talk").stat().st_size == size
    assert said == ["what is said to models is not recorded, and the work goes on: No space left on device"]
    book.keep(4, "asked", "answer 4")
    assert [one.said.answer if one.said else "" for one in book.of("t1")] == ["answer 1", "", "", "answer 4"]


def test_a_spoilt_file_hides_only_what_it_held(tmp_path: Path) -> None:
    book = kept(tmp_path)
    with scene(tmp_path, talk=book.keep) as meter:
        assert [meter.post(body()).status_code for _ in range(3)] == [200] * 3
    file = tmp_path / "talk" / f"{DAY}.talk"
    file.write_bytes(file.read_bytes()[:-1])
    assert [one.trouble for one in book.of("t1")] == ["", "", SPOILT]


WRITE = """
    import sys
    from pathlib import Path
    from sisimpur.shared.record.conversations import Conversations
    from sisimpur.shared.store.database import Database
    folder = Path(sys.argv[1])
    book = Conversations(folder / "talk", Database(folder / "agents.db"))
    for call in (1, 2):
        book.keep(call, "asked", f"answer {call}")
"""


def test_a_kill_between_the_bytes_and_their_row_leaves_a_record_that_can_be_read(tmp_path: Path) -> None:
    with scene(tmp_path) as meter:
        assert [meter.post(body()).status_code for _ in range(3)] == [200] * 3
    passed = killed_at("talk.written#2", snippet(WRITE, str(tmp_path)))
    assert passed == ["talk.written", "talk.indexed", "talk.written"]
    book = kept(tmp_path)
    book.keep(3, "asked", "answer 3")
    answers = [one.said.answer if one.said else one.trouble for one in book.of("t1")]
    assert answers == ["answer 1", "there is no record of it, or none any more", "answer 3"]
    assert b"answer 2" in everything_said(tmp_path / "talk")
