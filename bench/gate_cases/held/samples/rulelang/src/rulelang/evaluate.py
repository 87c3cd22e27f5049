"""A node and a record to a value."""

import operator

from rulelang.functions import FUNCTIONS
from rulelang.nodes import Binary, Call, Items, Name, Unary, Value

SIGNS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "in": lambda one, many: one in many,
}


class RuleFailed(Exception):
    """The rule has no value for this record."""


def evaluate(node, record):
    """Raises RuleFailed."""
    match node:
        case Value(value):
            return value
        case Name(name):
            return look_up(name, record)
        case Items(items):
            return [evaluate(item, record) for item in items]
        case Unary("not", inner):
            return not evaluate(inner, record)
        case Unary(_, inner):
            return -evaluate(inner, record)
        case Binary("and", left, right):
            return bool(evaluate(left, record)) and bool(evaluate(right, record))
        case Binary("or", left, right):
            return bool(evaluate(left, record)) or bool(evaluate(right, record))
        case Binary(sign, left, right):
            return tried(SIGNS[sign], evaluate(left, record), evaluate(right, record))
        case Call(name, arguments):
            if name not in FUNCTIONS:
                raise RuleFailed(f"no function {name}")
            return tried(FUNCTIONS[name], *(evaluate(argument, record) for argument in arguments))
    raise AssertionError(node)


def tried(function, *arguments):
    try:
        return function(*arguments)
    except (TypeError, ValueError) as problem:
        raise RuleFailed(str(problem)) from None


def look_up(name, record):
    """user.age is record["user"]["age"]; keys only, never attributes."""
    found = record
    for part in name.split("."):
        if not isinstance(found, dict) or part not in found:
            raise RuleFailed(f"no {name}")
        found = found[part]
    return found
