import sys

from common import holds


def check(tree):
    sys.path.insert(0, str(tree / "api"))
    from haat.app import App
    from haat.db import Db

    db = Db(":memory:")
    for n in range(1, 46):
        db.write("insert into product (seller, name, paisa) values (1, ?, 100)", f"P{n}")
        db.write("insert into seller (name) values (?)", f"S{n:02d}")
    app = App(db)
    for path, key in (("/products", "products"), ("/sellers", "sellers")):
        for query, first, many in (("", 1, 20), ("page=1", 1, 20), ("page=3", 41, 5), ("page=9", None, 0)):
            status, found = app.handle("GET", path, query)
            ids = [each["id"] for each in found.get(key, [])]
            if status != 200 or len(ids) != many or (ids and ids[0] != first):
                return f"{path}?{query} gives {status} and {len(ids)} from {ids[:1]}"
            if found.get("pages") != 3:
                return f"{path} says pages {found.get('pages')}"
        for query in ("page=0", "page=-1", "page=x"):
            if app.handle("GET", path, query)[0] != 400:
                return f"{path}?{query} is no 400"
    return None


holds(check)
