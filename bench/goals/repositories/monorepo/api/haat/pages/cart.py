from haat.app import Problem

DELIVERY = 6000  # paisa


def price(request):
    paisa = 0
    for item in request.json().get("items", []):
        row = request.db.row("select * from product where id = ?", item["id"])
        if row is None:
            raise Problem(400, f"no product {item['id']}")
        paisa += row["paisa"] * int(item.get("count", 1))
    return {"taka": paisa / 100, "delivery": 0 if paisa >= 200000 else DELIVERY / 100}
