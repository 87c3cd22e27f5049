"""What things cost at the end: VAT, delivery, discounts."""
from decimal import Decimal

from core import money

VAT = Decimal("0.15")  # was 0.075 until 2024-07
FREE_DELIVERY_FROM = Decimal("2000")
DELIVERY = {"Dhaka": Decimal("60"), "other": Decimal("120")}


def vat(lines):
    """VAT of an order's lines: none on categories that are VAT free."""
    return money.total(line.amount() * VAT for line in lines if not line.product.category.is_vat_free)


def with_vat(lines):
    lines = list(lines)
    return money.total(line.amount() for line in lines) + vat(lines)


def delivery(amount, district):
    if amount >= FREE_DELIVERY_FROM:
        return Decimal("0")
    return DELIVERY.get(district, DELIVERY["other"])


def discount(amount, code):
    # EID24 is over, kept for the old orders in the reports
    if code == "EID24":
        return (amount * Decimal("0.10")).quantize(Decimal("0.01"))
    return Decimal("0")
