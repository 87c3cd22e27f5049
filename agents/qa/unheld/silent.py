"""Code before and after, a task's words -> what no test may notice: checks that are gone, limits that moved. Pure.

Also values that decide, and that only the change's own test names: neither the task nor the code before knows them.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeGuard

from sisimpur.agents.qa.analysis.expressions import last_name, module_of
from sisimpur.shared.repo.file_parts import Function, functions

TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
SIGNS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}

PLAIN = 9  # a number up to this one stands in tests by chance

Limit = tuple[str, str]  # two expressions, in the order of their words
Texts = Mapping[str, tuple[str, str]]  # path -> a file before and after


def silent(files: Texts, alters_nothing: bool, words: str = "") -> list[str]:
    """What changed in functions that are there before and after, in words, with its place.

    A limit may move where something is asked for: there small faults show whether a test stands on it. What callers
    give by name or place, or leave out, changes without a question where the `words` of the task name it.
    """
    known = {last_name(node) for _, now in files.values() for node in ast.walk(module_of(now)) if is_name(node)}
    return [
        f"{line} of {path}"
        for path, (then, now) in files.items()
        for old, new in _twins(then, now)
        for line in (
            *_checks_gone(old, new, known),
            *_called_otherwise(old, new, words),
            *(_moved(old, new) if alters_nothing else ()),
        )
    ]


def _twins(then: str, now: str) -> Iterator[tuple[Function, Function]]:
    """Functions that one definition stands for on both sides, and that changed."""
    before, after = (_once(functions(module_of(text))) for text in (then, now))
    both = ((before[name], after[name]) for name in after if name in before)
    yield from ((old, new) for old, new in both if ast.dump(old) != ast.dump(new))


def _once(found: Iterator[tuple[str, Function]]) -> dict[str, Function]:
    every = list(found)
    often = Counter(name for name, _ in every)
    return {name: function for name, function in every if often[name] == 1}


def is_name(node: ast.AST) -> TypeGuard[ast.Name | ast.Attribute]:
    return isinstance(node, ast.Name | ast.Attribute)


# --- checks and limits ---------------------------------------------------------------------------------------


def _checks_gone(old: Function, new: Function, known: set[str]) -> Iterator[str]:
    """A value that decided whether it refuses, and that its function does not look at in any condition now."""
    asked = {name for test in _conditions(new) for name in _looked_at(test)}
    said = {id(one) for node in ast.walk(new) if isinstance(node, ast.Raise) for one in ast.walk(node)}
    calls = (node for node in ast.walk(new) if isinstance(node, ast.Call) and id(node) not in said)
    handed_on = {ast.unparse(arg) for node in calls for arg in node.args}
    for refusal in _refusals(old):
        for name in sorted(_looked_at(refusal.test) - asked - handed_on):
            if name.rpartition(".")[2] in known:
                yield f"whether {name} is right is not asked any more in {new.name}, line {new.lineno}"


def _refusals(function: Function) -> Iterator[ast.If]:
    for node in ast.walk(function):
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
            yield node


def _conditions(function: Function) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
                yield test
            case ast.comprehension(ifs=tests):
                yield from tests
            case ast.Match(subject=subject):
                yield subject
            case ast.BoolOp() | ast.Compare():
                yield node


def _looked_at(test: ast.expr) -> set[str]:
    """`self.price`, `count`: the longest names, and none that is called."""
    called = {id(node.func) for node in ast.walk(test) if isinstance(node, ast.Call)}
    inner = {id(node.value) for node in ast.walk(test) if isinstance(node, ast.Attribute)}
    return {
        ast.unparse(node)
        for node in ast.walk(test)
        if is_name(node) and id(node) not in called | inner and not last_name(node).isupper()
    }


def _moved(old: Function, new: Function) -> Iterator[str]:
    """The same two values are compared, and where they are equal the answer is another one."""
    before, after = _limits(old), _limits(new)
    for limit, signs in after.items():
        was = before.get(limit)
        if was and len(was) == len(signs) == 1 and was != signs:
            (then,), (now,) = was, signs
            if then[0] == now[0]:
                left, right = limit
                yield f"{left} {then} {right} became {left} {now} {right} in {new.name}, line {new.lineno}"


def _limits(function: Function) -> dict[Limit, set[str]]:
    """Pair of values -> the signs between them, each as it holds where the condition is true or its turned one."""
    found: dict[Limit, set[str]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
                if type(op) in SIGNS:
                    one, other = ast.unparse(left), ast.unparse(right)
                    sign = type(op) if one <= other else TURNED[type(op)]
                    found.setdefault((min(one, other), max(one, other)), set()).add(SIGNS[sign])
    return found


# --- how a function is called --------------------------------------------------------------------------------


def _called_otherwise(old: Function, new: Function, words: str) -> Iterator[str]:
    """Callers elsewhere go on as before, and mean something else: another default, another place, another name."""
    before, after = _parameters(old), _parameters(new)
    is_known = new.name.startswith("_") or new.name in words
    for name, default in after.items():
        if default and before.get(name) and before[name] != default and not _is_said(name, default, words):
            yield f"{name} of {new.name} was {before[name]} by default and is {default}, line {new.lineno}"
    lost = [name for name in before if name not in after and not re.search(rf"\b{re.escape(name)}\b", words)]
    if lost and not is_known and not new.args.kwarg:
        yield f"{new.name} no longer takes {', '.join(lost)}, line {new.lineno}"
    places = [[name for name in found if name in before and name in after] for found in (before, after)]
    firsts = [_by_place(one) for one in (old, new)]
    if not lost and not is_known and (places[0] != places[1] or firsts[0] != firsts[1][: len(firsts[0])]):
        yield f"{new.name} takes what it is given in another order, line {new.lineno}"


def _parameters(function: Function) -> dict[str, str]:
    """Name -> its default, as it is written; empty: it has none. Those by place come first."""
    args = function.args
    placed = _by_place(function)
    defaults = [""] * (len(placed) - len(args.defaults)) + [ast.unparse(one) for one in args.defaults]
    named = {
        arg.arg: ast.unparse(one) if one else "" for arg, one in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    }
    return {**dict(zip(placed, defaults, strict=True)), **named}


def _by_place(function: Function) -> list[str]:
    return [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]


def _is_said(name: str, default: str, words: str) -> bool:
    """The task names the parameter, or its new value."""
    return bool(re.search(rf"\b{re.escape(name)}\b", words)) or default.strip("'\"") in words


# --- values that only a test knows ---------------------------------------------------------------------------


def echoed(code: Texts, tests: Texts, words: str) -> list[str]:
    """New values in conditions that stand in a new test as well, and nowhere else."""
    before = {_key(one) for then, _ in code.values() for one in _constants([module_of(then)])}
    asked = {_key(one) for then, now in tests.values() for one in _new(_constants([module_of(now)]), then, now)}
    return [
        f"no test tries another value than {one.value!r:.40}, by which line {one.lineno} of {path} decides, "
        "and no word of the task names it"
        for path, (then, now) in code.items()
        for one in _new(_constants(_deciding(module_of(now))), then, now)
        if _key(one) in asked - before and str(one.value) not in words
    ]


def _new(found: Iterable[ast.Constant], then: str, now: str) -> Iterator[ast.Constant]:
    """Those on lines that the text before does not have."""
    known, lines = {line.strip() for line in then.split("\n")}, now.split("\n")
    yield from (one for one in found if lines[one.lineno - 1].strip() not in known)


def _deciding(module: ast.Module) -> Iterator[ast.expr]:
    """What is compared, what a case is about, and what is chosen from."""
    for node in ast.walk(module):
        match node:
            case ast.Compare(left=left, comparators=others):
                yield from (left, *others)
            case ast.MatchValue(value=value):
                yield value
            case ast.Call(func=ast.Name(id="min" | "max"), args=args):
                yield from args


def _constants(nodes: Iterable[ast.AST]) -> Iterator[ast.Constant]:
    """Numbers and texts. A small number stands anywhere, and says nothing."""
    for node in (one for part in nodes for one in ast.walk(part)):
        match node:
            case ast.Constant(value=str(value)) if value:
                yield node
            case ast.Constant(value=int(value) | float(value)) if abs(value) > PLAIN:
                yield node


def _key(one: ast.Constant) -> tuple[bool, object]:
    """28 and "28" are two things, 28 and 28.0 are one."""
    return isinstance(one.value, str), one.value
