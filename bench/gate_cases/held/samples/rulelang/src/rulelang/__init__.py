"""A small language for rules on records."""

from rulelang.evaluate import RuleFailed, evaluate
from rulelang.parser import parse
from rulelang.tokens import RuleError

__all__ = ["RuleError", "RuleFailed", "compile", "parse"]


def compile(text):
    """A function from a record to the rule's value. Raises RuleError."""
    node = parse(text)
    return lambda record: evaluate(node, record)
