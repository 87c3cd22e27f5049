"""Keys for calls."""


class CallKey(tuple):
    """A tuple whose hash is computed once: hashing long arguments again and again is slow."""

    def __new__(cls, parts):
        self = super().__new__(cls, parts)
        self._hash = tuple.__hash__(self)
        return self

    def __hash__(self):
        return self._hash


_MARK = ("kwargs",)


def call_key(args, kwargs, typed=False):
    """The key of a call. The order of keyword arguments does not matter. `typed`: 1 and 1.0 are two calls.

    Raises TypeError if an argument cannot be hashed.
    """
    key = tuple(args)
    named = sorted(kwargs.items())
    if named:
        key += _MARK + tuple(named)
    if typed:
        key += tuple(type(value) for value in args)
        key += tuple(type(value) for _, value in named)
    return CallKey(key)


def _legacy_key(args, kwargs):
    """The key of version 0: as text."""
    return repr((args, sorted(kwargs.items())))
