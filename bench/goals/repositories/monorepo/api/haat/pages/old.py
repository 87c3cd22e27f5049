"""Pages of the first version. The phone app of 2022 still reads /feed: Rafi counted 300 phones in April."""


def feed(request):
    rows = request.db.rows("select * from product where is_hidden = 0 order by id desc limit 20")
    return [_line(row) for row in rows]


def _line(row):
    return f"{row['name']}|{row['paisa'] // 100}"


def catalogue(request):
    """Printed catalogue of 2022."""
    rows = request.db.rows("select * from product order by name")
    return "\n".join(_cut(row["name"], 30) for row in rows)


def _cut(text, length):
    return text if len(text) <= length else text[: length - 1] + "…"


def sms_price(request):
    """Price by SMS, the number was given back in 2023."""
    row = request.db.row("select * from product where id = ?", request.ids["id"])
    return _line(row) if row else "?"
