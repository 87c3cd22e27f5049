"""Tokens to nodes."""

from rulelang.nodes import Binary, Call, Items, Name, Unary, Value
from rulelang.tokens import RuleError, tokens, unquoted

COMPARISONS = {"==", "!=", "<", "<=", ">", ">=", "in"}
CONSTANTS = {"true": True, "false": False, "none": None}
DEEPEST = 50


class Parser:
    def __init__(self, text):
        self._tokens, self._at, self._depth = tokens(text), 0, 0

    @property
    def now(self):
        return self._tokens[self._at]

    def take(self, *texts):
        """Moves on if the current token is one of these; None if not."""
        token = self.now
        if token.kind in ("sign", "keyword") and token.text in texts:
            self._at += 1
            return token
        return None

    def expect(self, text):
        if not self.take(text):
            raise RuleError(f"expected {text!r}", self.now.place)

    def rule(self):
        node = self.either()
        if self.now.kind != "end":
            raise RuleError(f"unexpected {self.now.text!r}", self.now.place)
        return node

    def either(self):
        self._depth += 1
        if self._depth > DEEPEST:
            raise RuleError("nested too deeply", self.now.place)
        node = self.both()
        while self.take("or"):
            node = Binary("or", node, self.both())
        self._depth -= 1
        return node

    def both(self):
        node = self.negated()
        while self.take("and"):
            node = Binary("and", node, self.negated())
        return node

    def negated(self):
        if self.take("not"):
            return Unary("not", self.negated())
        return self.compared()

    def compared(self):
        node = self.sum()
        if token := self.take(*COMPARISONS):
            return Binary(token.text, node, self.sum())
        return node

    def sum(self):
        node = self.product()
        while token := self.take("+", "-"):
            node = Binary(token.text, node, self.product())
        return node

    def product(self):
        node = self.signed()
        while token := self.take("*", "/"):
            node = Binary(token.text, node, self.signed())
        return node

    def signed(self):
        if self.take("-"):
            return Unary("-", self.signed())
        return self.atom()

    def atom(self):
        token = self.now
        if self.take("("):
            node = self.either()
            self.expect(")")
            return node
        if self.take("["):
            return Items(self.until("]"))
        if token.kind == "keyword" and token.text in CONSTANTS:
            self._at += 1
            return Value(CONSTANTS[token.text])
        if token.kind not in ("number", "text", "name"):
            raise RuleError(f"unexpected {token.text or 'end'!r}", token.place)
        self._at += 1
        if token.kind == "number":
            return Value(float(token.text) if "." in token.text else int(token.text))
        if token.kind == "text":
            return Value(unquoted(token.text))
        if self.take("("):
            return Call(token.text, self.until(")"))
        return Name(token.text)

    def until(self, end):
        """Nodes between commas, up to the closing sign."""
        found = []
        while not self.take(end):
            if found:
                self.expect(",")
            found.append(self.either())
        return tuple(found)


def parse(text):
    """The tree of a rule. Raises RuleError."""
    return Parser(text).rule()
