"""Arguments of a call -> others near them. It runs with the target's Python, 3.8 or newer."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import itertools
from collections.abc import Iterator
from typing import Any

NEARBY = 8  # other inputs of each call


def nearby(args: Any, kwargs: Any) -> Iterator[tuple[Any, Any]]:
    """The same call with one value another, of its type: each argument in turn, then the next such value of each.

    First with what has a name in another order.
    """
    if len(kwargs) > 1:
        yield args, dict(reversed(kwargs.items()))
    places: list[tuple[Any, Any]] = [*enumerate(args), *kwargs.items()]
    others = [(place, list(_others(value))) for place, value in places]
    for rank in range(NEARBY):
        for place, values in others:
            if rank < len(values):
                one = copy.deepcopy((list(args), kwargs))
                one[0 if isinstance(place, int) else 1][place] = values[rank]
                yield tuple(one[0]), one[1]


def _others(value: Any) -> Iterator[Any]:
    kind = type(value)
    if kind is bool:
        yield not value
    elif kind is int:
        yield from (one for one in (0, -value, value + 1, value - 1, 10 * value) if one != value)
    elif kind in (float, decimal.Decimal, fractions.Fraction):
        yield from (kind(one) for one in (0, -value, value + kind(1), value / 11) if one != value)  # with many digits
    elif kind is str:
        yield from (
            "",
            f" {value} ",
            value.upper(),
            value + value,
            value[:1],
            f"\u00e9.{value}",
            value.replace(" ", ""),
        )
    elif kind in (list, tuple):
        yield from (kind(), value[::-1], value[:1], value + value[:1])
        yield from (value[:-1] + kind([one]) for one in itertools.islice(_others(value[-1]) if value else (), 1))
    elif kind in (set, frozenset):
        yield kind()
    elif kind is dict:
        yield {}
        yield dict(reversed(value.items()))
    elif kind in (datetime.date, datetime.datetime):
        yield from (value + datetime.timedelta(days) for days in (1, -1, 31, 366))
    elif kind is datetime.timedelta:
        yield from (datetime.timedelta(), -value, value * 2)
    elif isinstance(value, enum.Enum):
        yield from (one for one in type(value) if one is not value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _other_fields(value)


def _other_fields(value: Any) -> Iterator[Any]:
    """Records with all fields or one another, made as the target makes them: one that it refuses is none."""
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
    plain = {name: inner for name, inner in fields.items() if not dataclasses.is_dataclass(inner)}
    others = {name: list(itertools.islice(_others(inner), 2)) for name, inner in plain.items()}
    every = {name: found[0] for name, found in others.items() if found}
    for changed in (every, *({name: one} for name, found in others.items() for one in found)):
        with contextlib.suppress(Exception):
            yield dataclasses.replace(value, **changed)
