"""Nodes to text."""

from rulelang.nodes import Binary, Call, Items, Name, Unary, Value


def tree(node, depth=0):
    """One line for each node, indented by its depth."""
    pad = "  " * depth
    match node:
        case Value(value):
            return f"{pad}{value!r}"
        case Name(name):
            return f"{pad}{name}"
        case Items(items):
            return "\n".join([f"{pad}list", *(tree(item, depth + 1) for item in items)])
        case Unary(sign, inner):
            return f"{pad}{sign}\n{tree(inner, depth + 1)}"
        case Binary(sign, left, right):
            return f"{pad}{sign}\n{tree(left, depth + 1)}\n{tree(right, depth + 1)}"
        case Call(name, arguments):
            return "\n".join([f"{pad}{name}()", *(tree(argument, depth + 1) for argument in arguments)])
    raise AssertionError(node)


def names(node):
    """All names that a rule reads, sorted."""
    match node:
        case Name(name):
            return [name]
        case Items(inner) | Call(_, inner):
            found = [name for one in inner for name in names(one)]
        case Unary(_, inner):
            found = names(inner)
        case Binary(_, left, right):
            found = names(left) + names(right)
        case _:
            found = []
    return sorted(set(found))
