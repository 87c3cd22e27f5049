"""Calls of the target's functions: kept while its tests run, and made again on another commit, with inputs nearby.

As a module: `seen` keeps what a function was called with -> /out/calls.jsonl. As a program: makes the calls that
/job/sisimpur_calls.json names, and tells what each did -> /out/calls.jsonl. It runs with the target's Python (3.8 or
newer) and has only the standard library. What goes wrong with a call is that nothing is told of it.
"""

from __future__ import annotations

import base64
import collections
import contextlib
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import importlib
import inspect
import io
import itertools
import json
import os
import pathlib
import pickle
import random
import signal
import sys
import threading
import time
import types
import uuid
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from gate_nearby import NEARBY, nearby  # type: ignore[import-not-found]

JOB = "/job/"
FOUND, ASKED = "/out/calls.jsonl", f"{JOB}sisimpur_calls.json"
MOST_KEPT, MOST_TRIED = 12, 300  # calls of a function that are kept; more are not looked at
LARGEST = 20_000  # bytes of what a call was given
ONE_CALL, LONG = 0.5, 0.05  # seconds of processor: a call ends after these; one that takes these is no quick one
BLOCKED, BUSY = 2.0, 0.02  # seconds in which a call works less than these: it waits, and says nothing of the change
ANOTHER_DAY = 90_061.0  # seconds; another hour, minute and second, too
PATIENCE = 5  # times as long as the calls may work they may take on a busy machine
LATE, WAITED = ("the call came to no end",), ("the call waited",)
DEEPEST, LONGEST, MOST_ITEMS = 6, 400, 60  # of what is told of a value: levels, characters, items
PLAIN = (type(None), bool, int, str, bytes, complex)
DATES = (datetime.date, datetime.datetime, datetime.time)
MADE_OF_TEXT = (
    datetime.timedelta,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    pathlib.PurePath,
    range,
    slice,
    datetime.tzinfo,
)


# --- kept ----------------------------------------------------------------------------------------------------

_kept: dict[str, set[str]] = {}
_tried: dict[str, int] = {}


def seen(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, which from now on keeps what it is given, the first times that this differs."""
    name = f"{function.__module__}:{function.__qualname__}"

    def keep(args: Any, kwargs: Any) -> None:
        if len(_kept.get(name, ())) < MOST_KEPT and _tried.get(name, 0) < MOST_TRIED:
            _tried[name] = _tried.get(name, 0) + 1
            with contextlib.suppress(Exception):
                _keep(name, args, kwargs)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        keep(args, kwargs)
        return function(*args, **kwargs)

    @functools.wraps(function)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        keep(args, kwargs)
        return await function(*args, **kwargs)

    return awaited if inspect.iscoroutinefunction(function) else called


def _keep(name: str, args: Any, kwargs: Any) -> None:
    data = _Giving.bytes_of((args, kwargs))
    digest = hashlib.sha256(data).hexdigest()
    if len(data) > LARGEST or digest in _kept.setdefault(name, set()):
        return
    _kept[name].add(digest)
    django = os.environ.get("DJANGO_SETTINGS_MODULE", "") if "django" in sys.modules else ""
    _tell({"function": name, "given": base64.b64encode(data).decode(), "path": sys.path, "django": django})


class _Giving(pickle.Pickler):
    """A lock is given as a new one: what it guards is not shared any more."""

    LOCKS: ClassVar = {type(threading.Lock()): threading.Lock, type(threading.RLock()): threading.RLock}

    def reducer_override(self, given: Any) -> Any:
        return (self.LOCKS[type(given)], ()) if type(given) in self.LOCKS else NotImplemented

    @classmethod
    def bytes_of(cls, given: Any) -> bytes:
        file = io.BytesIO()
        cls(file, 4).dump(given)
        return file.getvalue()


def _tell(line: dict[str, Any]) -> None:
    with open(FOUND, "a", encoding="ascii") as file:
        file.write(json.dumps(line) + "\n")


# --- made again ----------------------------------------------------------------------------------------------


def main() -> None:
    """Twice, the second time the other way round and on another day: what is not the same then is not told."""
    put_ahead = _own_clock()
    with open(ASKED, encoding="ascii") as file:
        order = json.load(file)
    sys.path[:] = order["path"]
    if order["django"]:
        os.environ["DJANGO_SETTINGS_MODULE"] = order["django"]
        importlib.import_module("django").setup()
    calls = [(number, near, call) for number, call in enumerate(order["calls"]) for near in range(NEARBY + 1)]
    first = {}
    for number, near, call in _while_there_is_time(calls, order["seconds"]):
        first[number, near] = _made(call, near, order["remade"])
    put_ahead(ANOTHER_DAY)  # both turns may lie in one second, and those of the other commit in the next
    for number, near, call in _while_there_is_time(calls[::-1], order["seconds"]):
        found = first.get((number, near))
        if found and found == _made(call, near, order["remade"]):
            _tell({"call": [number, near], **found})


def _own_clock() -> Callable[[float], None]:
    """Have time.time() be put ahead; before the target is imported, since it may keep the function itself."""
    real, ahead = time.time, [0.0]
    time.time = lambda: real() + ahead[0]
    return lambda seconds: ahead.__setitem__(0, seconds)


def _while_there_is_time(calls: list[Any], seconds: float) -> Iterator[Any]:
    """Of a processor: both commits make the same calls, however busy the machine is."""
    began = time.process_time(), time.monotonic()
    for call in calls:
        if time.process_time() - began[0] > seconds or time.monotonic() - began[1] > PATIENCE * seconds:
            return
        yield call


def _made(call: dict[str, str], near: int, remade: list[str]) -> dict[str, Any] | None:
    """None: there is no such input, or no such function."""
    try:
        args, kwargs = _Given(base64.b64decode(call["given"]), remade).load()
        if near:
            args, kwargs = next(itertools.islice(nearby(args, kwargs), near - 1, None))
        function = _found(call["function"])
        given = f"{call['function'].partition(':')[2]}({_listed(args, kwargs)})"
        before = [_text(one) for one in (*args, *kwargs.values())]
    except Exception:  # noqa: BLE001  it belongs to the target
        return None
    random.seed(0)
    did = _did(function, args, kwargs)
    try:
        after = [_text(one) for one in (*args, *kwargs.values())]
    except Exception:  # noqa: BLE001
        return None
    if did is None:
        return None
    changes = [[was, now] for was, now in zip(before, after) if was != now]  # noqa: B905  not before Python 3.10
    is_method = "." in call["function"].partition(":")[2]
    itself = is_method and before[:1] != after[:1]  # what a method does to its own object is what it is for
    return {"said": given[:LONGEST], "itself": itself, "changes": changes, **did}


def _did(function: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any] | None:
    """None: it waited for something."""
    began = time.process_time()
    try:
        with _in_time(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found = function(*args, **kwargs)
            if inspect.iscoroutine(found) or inspect.isasyncgen(found):
                found = importlib.import_module("asyncio").run(_awaited(found))
            is_lazy = isinstance(found, types.GeneratorType)
            what = list(itertools.islice(found, MOST_ITEMS)) if is_lazy else found
            told = {"end": "returned", "type": type(found).__name__, "what": _text(what)}
            return {**told, "quick": time.process_time() - began < LONG}
    except BaseException as error:  # noqa: BLE001  whatever it raises is what is asked
        if error.args == WAITED:
            return None
        if error.args == LATE:
            return {"end": "came to no end", "type": "", "what": "", "quick": False}
        return {"end": "raised", "type": type(error).__name__, "what": str(error)[:LONGEST], "quick": True}


async def _awaited(found: Any) -> Any:
    if inspect.iscoroutine(found):
        return await found
    what: list[Any] = []
    async for one in found:
        what.append(one)
        if len(what) == MOST_ITEMS:
            break
    return what


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    """Counted in processor time: on a busy machine a call takes no more of that."""
    timers = (
        (signal.ITIMER_PROF, signal.SIGPROF, ONE_CALL, _end),
        (signal.ITIMER_REAL, signal.SIGALRM, BLOCKED, _end_if_it_waits(time.process_time())),
    )
    for timer, number, seconds, handler in timers:
        signal.signal(number, handler)
        signal.setitimer(timer, seconds, seconds)
    try:
        yield
    finally:
        for timer, *_ in timers:
            signal.setitimer(timer, 0)


def _end(*_: Any) -> None:
    raise KeyboardInterrupt(*LATE)  # no handler of errors in general takes that


def _end_if_it_waits(worked: float) -> Callable[..., None]:
    def looks(*_: Any) -> None:
        nonlocal worked
        before, worked = worked, time.process_time()
        if worked - before < BUSY:
            raise KeyboardInterrupt(*WAITED)

    return looks


class _Given(pickle.Unpickler):
    """What a call was given. Nothing of a class whose fields are others now: one commit could not read the other's."""

    def __init__(self, data: bytes, remade: list[str]) -> None:
        super().__init__(io.BytesIO(data))
        self._remade = remade

    def find_class(self, module: str, name: str) -> Any:
        if name in self._remade:
            raise pickle.UnpicklingError(name)
        return super().find_class(module, name)


def _found(name: str) -> Callable[..., Any]:
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = vars(found)[part]
    return _within(found, path)


def _within(found: Any, path: str) -> Callable[..., Any]:
    """The function of this name itself, whatever decorators have made of it."""
    todo: list[Any] = [found]
    known: dict[int, Any] = {}
    while todo and len(known) < MOST_ITEMS:
        one = todo.pop(0)
        if isinstance(one, types.FunctionType):
            if one.__qualname__ == path and one.__code__.co_name == path.rpartition(".")[2]:
                return one
            todo += [cell.cell_contents for cell in one.__closure__ or ()]
        inner = [getattr(one, name, None) for name in ("fget", "__func__", "__wrapped__", "func")]
        todo += [more for more in inner if more is not None and id(more) not in known]
        known[id(one)] = one
    raise LookupError(path)


# --- what is told of a value ---------------------------------------------------------------------------------


def _listed(args: Any, kwargs: Any) -> str:
    return ", ".join([*map(_text, args), *(f"{name}={_text(value)}" for name, value in kwargs.items())])


def _text(value: Any) -> str:
    """The same text for equal values in every process; a long one ends in its digest."""
    text = _of(value, DEEPEST, set())
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}… {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _of(value: Any, deep: int, above: set[int]) -> str:
    kind = type(value)
    if kind is float:
        return repr(float(f"{value:.12g}"))  # the last digits depend on the order of the reckoning
    if isinstance(value, enum.Enum):
        return f"{kind.__name__}.{value.name}"
    if kind is decimal.Decimal and value.is_finite():
        value = value.normalize()  # 1.0 is 1.00
    if kind in DATES:
        return str(value.isoformat())
    if kind in PLAIN or isinstance(value, MADE_OF_TEXT):
        return repr(value).replace("datetime.", "")
    if isinstance(value, type):
        return value.__name__
    if deep == 0 or id(value) in above:
        return "…"
    inner = functools.partial(_of, deep=deep - 1, above={*above, id(value)})
    if isinstance(value, (list, tuple, collections.deque)):
        items = ", ".join(map(inner, value))
        return f"({items})" if kind is tuple else f"{_called(kind, list)}[{items}]"
    if isinstance(value, (set, frozenset)):
        return f"{_called(kind, set, frozenset)}{{{', '.join(sorted(map(inner, value)))}}}"
    if isinstance(value, dict):
        return (
            f"{_called(kind, dict)}{{{', '.join(sorted(f'{inner(key)}: {inner(one)}' for key, one in value.items()))}}}"
        )
    return f"{kind.__name__}({', '.join(f'{name}={inner(one)}' for name, one in sorted(_fields(value).items()))})"


def _called(kind: type, *bare: type) -> str:
    """A tuple and a list are told apart, and what is made of them."""
    return "" if kind is bare[0] else kind.__name__


def _fields(value: Any) -> dict[str, Any]:
    """Attributes of an object of the target's own; of others, of code and of modules only the type is told."""
    module = sys.modules.get(type(value).__module__)
    if not str(getattr(module, "__file__", "")).startswith(JOB):
        return {}
    slots = [name for one in type(value).__mro__ for name in _names(vars(one).get("__slots__", ()))]
    found = {name: getattr(value, name) for name in slots if not name.startswith("__") and hasattr(value, name)}
    return {**found, **getattr(value, "__dict__", {})}


def _names(slots: Any) -> list[str]:
    return [slots] if isinstance(slots, str) else list(slots)


if __name__ == "__main__":
    main()
