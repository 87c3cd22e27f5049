import re
from decimal import Decimal

from .errors import NotMoney
from .money import Money
from .registry import all_currencies

BENGALI = str.maketrans("০১২৩৪৫৬৭৮৯", "0123456789")


def _marks():
    """Codes and symbols, longest first: "A$" is no "$"."""
    marks = {}
    for each in all_currencies():
        marks.setdefault(each.code, each)
        if each.symbol:
            marks.setdefault(each.symbol, each)
    return sorted(marks.items(), key=lambda pair: (-len(pair[0]), pair[0]))


def parse(text, default="BDT"):
    """What people type: "৳ 1,20,000.50", "USD 5", "৫০০". Raises NotMoney."""
    rest = text.strip().translate(BENGALI)
    found = default
    for mark, currency in _marks():
        pattern = re.compile(r"^\s*" + re.escape(mark) + r"\s*|\s*" + re.escape(mark) + r"\s*$", re.IGNORECASE)
        if pattern.search(rest):
            rest = pattern.sub("", rest, count=1)
            found = currency
            break
    rest = rest.replace(",", "").replace(" ", "")
    if not re.fullmatch(r"-?\d+(\.\d+)?", rest):
        raise NotMoney(text)
    return Money(Decimal(rest), found)
