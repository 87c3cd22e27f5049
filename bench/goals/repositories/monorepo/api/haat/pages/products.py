from haat.app import Problem


def _shown(row):
    return {"id": row["id"], "name": row["name"], "taka": row["paisa"] / 100, "seller": row["seller"]}


def listed(request):
    rows = request.db.rows("select * from product where is_hidden = 0 order by id")
    return {"products": [_shown(row) for row in rows]}


def one(request):
    row = request.db.row("select * from product where id = ? and is_hidden = 0", request.ids["id"])
    if row is None:
        raise Problem(404, "no such product")
    return _shown(row)


def add(request):
    wanted = request.json()
    if not wanted.get("name") or "taka" not in wanted:
        raise Problem(400, "name and taka, please")
    made = request.db.write(
        "insert into product (seller, name, paisa) values (?, ?, ?)",
        wanted.get("seller", 1), wanted["name"], round(float(wanted["taka"]) * 100),
    )
    return {"id": made}
