"""The accountant's exports: rows of plain values for his spreadsheets.

Grown by copying since 2022. Every function takes orders (any iterable) and gives rows; the first row is the head.
"""
from collections import defaultdict
from decimal import Decimal

from shop import pricing

ZERO = Decimal("0")


def _day(order):
    return order.created.date().isoformat()


def _month(order):
    return order.created.strftime("%Y-%m")


def totals_by_day(orders, state=None, at_least=None):
    """Taka without VAT. One row per day."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = _day(order)
        sums[key] += order.total()
        counts[key] += 1
    rows = [["day", "orders", "totals"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def totals_by_day_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in totals_by_day(orders, **more))


def pieces_by_day(orders, state=None, at_least=None):
    """Pieces. One row per day."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = _day(order)
        sums[key] += order.pieces()
        counts[key] += 1
    rows = [["day", "orders", "pieces"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def pieces_by_day_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in pieces_by_day(orders, **more))


def vat_by_day(orders, state=None, at_least=None):
    """VAT, as the office wants it. One row per day."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = _day(order)
        sums[key] += pricing.vat(order.lines.all())
        counts[key] += 1
    rows = [["day", "orders", "vat"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def vat_by_day_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in vat_by_day(orders, **more))


def delivery_by_day(orders, state=None, at_least=None):
    """Delivery, as if all lived in Dhaka (Rahim: good enough). One row per day."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = _day(order)
        sums[key] += pricing.delivery(order.total(), "Dhaka")
        counts[key] += 1
    rows = [["day", "orders", "delivery"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def delivery_by_day_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in delivery_by_day(orders, **more))


def gross_by_day(orders, state=None, at_least=None):
    """Taka with VAT. One row per day."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = _day(order)
        sums[key] += pricing.with_vat(order.lines.all())
        counts[key] += 1
    rows = [["day", "orders", "gross"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def gross_by_day_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in gross_by_day(orders, **more))


def totals_by_month(orders, state=None, at_least=None):
    """Taka without VAT. One row per month."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = _month(order)
        sums[key] += order.total()
        counts[key] += 1
    rows = [["month", "orders", "totals"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def totals_by_month_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in totals_by_month(orders, **more))


def pieces_by_month(orders, state=None, at_least=None):
    """Pieces. One row per month."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = _month(order)
        sums[key] += order.pieces()
        counts[key] += 1
    rows = [["month", "orders", "pieces"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def pieces_by_month_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in pieces_by_month(orders, **more))


def vat_by_month(orders, state=None, at_least=None):
    """VAT, as the office wants it. One row per month."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = _month(order)
        sums[key] += pricing.vat(order.lines.all())
        counts[key] += 1
    rows = [["month", "orders", "vat"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def vat_by_month_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in vat_by_month(orders, **more))


def delivery_by_month(orders, state=None, at_least=None):
    """Delivery, as if all lived in Dhaka (Rahim: good enough). One row per month."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = _month(order)
        sums[key] += pricing.delivery(order.total(), "Dhaka")
        counts[key] += 1
    rows = [["month", "orders", "delivery"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def delivery_by_month_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in delivery_by_month(orders, **more))


def gross_by_month(orders, state=None, at_least=None):
    """Taka with VAT. One row per month."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = _month(order)
        sums[key] += pricing.with_vat(order.lines.all())
        counts[key] += 1
    rows = [["month", "orders", "gross"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def gross_by_month_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in gross_by_month(orders, **more))


def totals_by_customer(orders, state=None, at_least=None):
    """Taka without VAT. One row per customer."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.customer_name
        sums[key] += order.total()
        counts[key] += 1
    rows = [["customer", "orders", "totals"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def totals_by_customer_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in totals_by_customer(orders, **more))


def pieces_by_customer(orders, state=None, at_least=None):
    """Pieces. One row per customer."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.customer_name
        sums[key] += order.pieces()
        counts[key] += 1
    rows = [["customer", "orders", "pieces"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def pieces_by_customer_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in pieces_by_customer(orders, **more))


def vat_by_customer(orders, state=None, at_least=None):
    """VAT, as the office wants it. One row per customer."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.customer_name
        sums[key] += pricing.vat(order.lines.all())
        counts[key] += 1
    rows = [["customer", "orders", "vat"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def vat_by_customer_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in vat_by_customer(orders, **more))


def delivery_by_customer(orders, state=None, at_least=None):
    """Delivery, as if all lived in Dhaka (Rahim: good enough). One row per customer."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.customer_name
        sums[key] += pricing.delivery(order.total(), "Dhaka")
        counts[key] += 1
    rows = [["customer", "orders", "delivery"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def delivery_by_customer_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in delivery_by_customer(orders, **more))


def gross_by_customer(orders, state=None, at_least=None):
    """Taka with VAT. One row per customer."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.customer_name
        sums[key] += pricing.with_vat(order.lines.all())
        counts[key] += 1
    rows = [["customer", "orders", "gross"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def gross_by_customer_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in gross_by_customer(orders, **more))


def totals_by_state(orders, state=None, at_least=None):
    """Taka without VAT. One row per state."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.state
        sums[key] += order.total()
        counts[key] += 1
    rows = [["state", "orders", "totals"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def totals_by_state_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in totals_by_state(orders, **more))


def pieces_by_state(orders, state=None, at_least=None):
    """Pieces. One row per state."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.state
        sums[key] += order.pieces()
        counts[key] += 1
    rows = [["state", "orders", "pieces"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def pieces_by_state_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in pieces_by_state(orders, **more))


def vat_by_state(orders, state=None, at_least=None):
    """VAT, as the office wants it. One row per state."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.state
        sums[key] += pricing.vat(order.lines.all())
        counts[key] += 1
    rows = [["state", "orders", "vat"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def vat_by_state_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in vat_by_state(orders, **more))


def delivery_by_state(orders, state=None, at_least=None):
    """Delivery, as if all lived in Dhaka (Rahim: good enough). One row per state."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.state
        sums[key] += pricing.delivery(order.total(), "Dhaka")
        counts[key] += 1
    rows = [["state", "orders", "delivery"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def delivery_by_state_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in delivery_by_state(orders, **more))


def gross_by_state(orders, state=None, at_least=None):
    """Taka with VAT. One row per state."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.state
        sums[key] += pricing.with_vat(order.lines.all())
        counts[key] += 1
    rows = [["state", "orders", "gross"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def gross_by_state_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in gross_by_state(orders, **more))


def totals_by_wallet(orders, state=None, at_least=None):
    """Taka without VAT. One row per wallet."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.paid_with or "v1"
        sums[key] += order.total()
        counts[key] += 1
    rows = [["wallet", "orders", "totals"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def totals_by_wallet_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in totals_by_wallet(orders, **more))


def pieces_by_wallet(orders, state=None, at_least=None):
    """Pieces. One row per wallet."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.paid_with or "v1"
        sums[key] += order.pieces()
        counts[key] += 1
    rows = [["wallet", "orders", "pieces"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def pieces_by_wallet_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in pieces_by_wallet(orders, **more))


def vat_by_wallet(orders, state=None, at_least=None):
    """VAT, as the office wants it. One row per wallet."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.paid_with or "v1"
        sums[key] += pricing.vat(order.lines.all())
        counts[key] += 1
    rows = [["wallet", "orders", "vat"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def vat_by_wallet_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in vat_by_wallet(orders, **more))


def delivery_by_wallet(orders, state=None, at_least=None):
    """Delivery, as if all lived in Dhaka (Rahim: good enough). One row per wallet."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.paid_with or "v1"
        sums[key] += pricing.delivery(order.total(), "Dhaka")
        counts[key] += 1
    rows = [["wallet", "orders", "delivery"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def delivery_by_wallet_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in delivery_by_wallet(orders, **more))


def gross_by_wallet(orders, state=None, at_least=None):
    """Taka with VAT. One row per wallet."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.paid_with or "v1"
        sums[key] += pricing.with_vat(order.lines.all())
        counts[key] += 1
    rows = [["wallet", "orders", "gross"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def gross_by_wallet_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in gross_by_wallet(orders, **more))


def totals_by_phone(orders, state=None, at_least=None):
    """Taka without VAT. One row per phone."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.phone[:3]
        sums[key] += order.total()
        counts[key] += 1
    rows = [["phone", "orders", "totals"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def totals_by_phone_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in totals_by_phone(orders, **more))


def pieces_by_phone(orders, state=None, at_least=None):
    """Pieces. One row per phone."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.phone[:3]
        sums[key] += order.pieces()
        counts[key] += 1
    rows = [["phone", "orders", "pieces"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def pieces_by_phone_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in pieces_by_phone(orders, **more))


def vat_by_phone(orders, state=None, at_least=None):
    """VAT, as the office wants it. One row per phone."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.phone[:3]
        sums[key] += pricing.vat(order.lines.all())
        counts[key] += 1
    rows = [["phone", "orders", "vat"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def vat_by_phone_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in vat_by_phone(orders, **more))


def delivery_by_phone(orders, state=None, at_least=None):
    """Delivery, as if all lived in Dhaka (Rahim: good enough). One row per phone."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.phone[:3]
        sums[key] += pricing.delivery(order.total(), "Dhaka")
        counts[key] += 1
    rows = [["phone", "orders", "delivery"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def delivery_by_phone_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in delivery_by_phone(orders, **more))


def gross_by_phone(orders, state=None, at_least=None):
    """Taka with VAT. One row per phone."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = order.phone[:3]
        sums[key] += pricing.with_vat(order.lines.all())
        counts[key] += 1
    rows = [["phone", "orders", "gross"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def gross_by_phone_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in gross_by_phone(orders, **more))


def totals_by_year(orders, state=None, at_least=None):
    """Taka without VAT. One row per year."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = str(order.created.year)
        sums[key] += order.total()
        counts[key] += 1
    rows = [["year", "orders", "totals"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def totals_by_year_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in totals_by_year(orders, **more))


def pieces_by_year(orders, state=None, at_least=None):
    """Pieces. One row per year."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = str(order.created.year)
        sums[key] += order.pieces()
        counts[key] += 1
    rows = [["year", "orders", "pieces"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def pieces_by_year_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in pieces_by_year(orders, **more))


def vat_by_year(orders, state=None, at_least=None):
    """VAT, as the office wants it. One row per year."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = str(order.created.year)
        sums[key] += pricing.vat(order.lines.all())
        counts[key] += 1
    rows = [["year", "orders", "vat"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def vat_by_year_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in vat_by_year(orders, **more))


def delivery_by_year(orders, state=None, at_least=None):
    """Delivery, as if all lived in Dhaka (Rahim: good enough). One row per year."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = str(order.created.year)
        sums[key] += pricing.delivery(order.total(), "Dhaka")
        counts[key] += 1
    rows = [["year", "orders", "delivery"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def delivery_by_year_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in delivery_by_year(orders, **more))


def gross_by_year(orders, state=None, at_least=None):
    """Taka with VAT. One row per year."""
    sums = defaultdict(lambda: ZERO)
    counts = defaultdict(int)
    for order in orders:
        if state and order.state != state:
            continue
        key = str(order.created.year)
        sums[key] += pricing.with_vat(order.lines.all())
        counts[key] += 1
    rows = [["year", "orders", "gross"]]
    for key in sorted(sums):
        if at_least is not None and sums[key] < at_least:
            continue
        rows.append([key, counts[key], sums[key]])
    rows.append(["all", sum(counts.values()), sum(sums.values(), ZERO)])
    return rows


def gross_by_year_text(orders, **more):
    """The same as lines for a mail."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in gross_by_year(orders, **more))


def vat_return(orders, month):
    """The quarterly form wants one line per VAT class. Books have been free since 2024-07."""
    taxed, free = ZERO, ZERO
    for order in orders:
        if _month(order) != month or order.state == "back":
            continue
        for line in order.lines.all():
            if line.product.category.is_vat_free:
                free += line.amount()
            else:
                taxed += line.amount()
    return [["class", "taka", "vat"], ["15 %", taxed, taxed * pricing.VAT], ["free", free, ZERO]]


def best_sellers(orders, most=10):
    """Names with pieces, best first."""
    pieces = defaultdict(int)
    for order in orders:
        for line in order.lines.all():
            pieces[line.product.name] += line.quantity
    ranked = sorted(pieces.items(), key=lambda pair: (-pair[1], pair[0]))
    return [["product", "pieces"], *[list(pair) for pair in ranked[:most]]]


def unpaid(orders, older_than):
    """Orders that wait for money since before a date."""
    return [[order.pk, order.customer_name] for order in orders if order.state == "new" and order.created < older_than]
