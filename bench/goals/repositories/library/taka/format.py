from .registry import currency as find


def _western(digits):
    return f"{int(digits):,}"


def _lakh(digits):
    head, tail = digits[:-3], digits[-3:]
    groups = []
    while len(head) > 2:
        groups.insert(0, head[-2:])
        head = head[:-2]
    if head:
        groups.insert(0, head)
    return ",".join([*groups, tail])


def format_money(money, symbol=True, digits="0123456789"):
    """For people. `digits`: ten characters, "০১২৩৪৫৬৭৮৯" for Bengali."""
    currency = find(money.currency)
    whole, _, rest = str(abs(money.amount)).partition(".")
    grouped = _lakh(whole) if currency.grouping == "lakh" else _western(whole)
    text = f"{grouped}.{rest}" if rest else grouped
    text = text.translate(str.maketrans("0123456789", digits))
    mark = currency.symbol or f"{currency.code} "
    return f"{'-' if money.amount < 0 else ''}{mark if symbol else ''}{text}"
