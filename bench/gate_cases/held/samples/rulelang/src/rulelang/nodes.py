"""What a rule is made of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    value: object


@dataclass(frozen=True)
class Name:
    name: str


@dataclass(frozen=True)
class Items:
    items: tuple


@dataclass(frozen=True)
class Unary:
    sign: str
    inner: object


@dataclass(frozen=True)
class Binary:
    sign: str
    left: object
    right: object


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple
