"""Invoices: lines, a discount, tax."""

from dataclasses import dataclass
from datetime import date

from ledger.dates import days_late, due
from ledger.money import percent

TAX = 19  # per cent
LATE_FEE = 500  # cents for each begun week


@dataclass(frozen=True)
class Line:
    text: str
    quantity: int
    price: int

    def __post_init__(self):
        if self.quantity < 1 or self.price < 0:
            raise ValueError(f"{self.text}: a quantity of at least 1, a price of at least 0")


@dataclass(frozen=True)
class Invoice:
    number: str
    customer: str
    day: date
    lines: tuple[Line, ...]
    discount: int = 0

    def __post_init__(self):
        if not 0 <= self.discount <= 100:
            raise ValueError("discount: 0 to 100 per cent")

    @property
    def net(self):
        """Cents before tax, after the discount."""
        full = sum(line.quantity * line.price for line in self.lines)
        return full - percent(full, self.discount)

    @property
    def tax(self):
        return percent(self.net, TAX)

    @property
    def total(self):
        return self.net + self.tax

    def to_pay(self, today):
        """The total, and a fee for each begun week after it was due."""
        weeks = -(-days_late(due(self.day), today) // 7)
        return self.total + weeks * LATE_FEE


def next_number(numbers, year):
    """The number after the highest one of this year: 2026-0042."""
    used = [int(number.split("-")[1]) for number in numbers if number.startswith(f"{year}-")]
    return f"{year}-{max(used, default=0) + 1:04}"
