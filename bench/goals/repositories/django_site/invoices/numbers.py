"""Invoice numbers: 2025-000123. Not used by the page yet (the accountant writes them by hand)."""


def number(order):
    return f"{order.created.year}-{order.pk:06d}"
