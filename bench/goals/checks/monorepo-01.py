import sys

from common import holds


def check(tree):
    sys.path.insert(0, str(tree / "api"))
    from haat.app import App
    from haat.db import Db

    db = Db(":memory:")
    db.write("insert into product (seller, name, paisa) values (1, 'Rice', 8050)")
    status, found = App(db).handle("GET", "/feed")
    if (status, found) != (200, ["Rice|80"]):
        return f"/feed answers {status}: {found}"
    from haat.pages import old

    left = [name for name in ("catalogue", "sms_price", "_cut") if hasattr(old, name)]
    return f"still there: {left}" if left else None


holds(check)
