from haat.app import Problem
from haat.pages.cart import price


def place(request):
    wanted = request.json()
    if not wanted.get("name"):
        raise Problem(400, "name, please")
    cost = price(request)
    paisa = round((cost["taka"] + cost["delivery"]) * 100)
    return {"id": request.db.write("insert into orders (name, paisa) values (?, ?)", wanted["name"], paisa)}


def one(request):
    row = request.db.row("select * from orders where id = ?", request.ids["id"])
    if row is None:
        raise Problem(404, "no such order")
    return {"id": row["id"], "name": row["name"], "taka": row["paisa"] / 100}
