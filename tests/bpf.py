"""A filter of system calls, run as the kernel runs it: what becomes of a call."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from sisimpur.shared.sandbox.box_calls import ALLOW, ERROR, KILL

JUMPS = {0x15: "equal", 0x25: "above", 0x35: "at least", 0x45: "any"}
LOAD, RETURN = 0x20, 0x06


def answer(program: bytes, architecture: int, number: int, arguments: Sequence[int] = (0,) * 6) -> str:
    """`allowed`, `killed`, or the error's number."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, *arguments)
    steps = list(struct.iter_unpack("=HBBI", program))
    at, seen = 0, 0
    while True:
        code, if_so, if_not, value = steps[at]
        at += 1
        if code == LOAD:
            (seen,) = struct.unpack_from("=I", data, value)
        elif code == RETURN:
            return _told(value)
        else:
            holds = {
                "equal": seen == value,
                "above": seen > value,
                "at least": seen >= value,
                "any": bool(seen & value),
            }
            at += if_so if holds[JUMPS[code]] else if_not


def _told(value: int) -> str:
    if value == ALLOW:
        return "allowed"
    return "killed" if value == KILL else str(value - ERROR)
