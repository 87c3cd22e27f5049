from haat.app import Problem


def listed(request):
    return {"sellers": request.db.rows("select id, name from seller order by name")}


def one(request):
    row = request.db.row("select id, name from seller where id = ?", request.ids["id"])
    if row is None:
        raise Problem(404, "no such seller")
    return row
