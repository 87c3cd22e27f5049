import sqlite3

MOST_DEAD = 100


def answer(store):
    """(status, JSON) for the load balancer: 503 takes us out of it."""
    try:
        store.ping()
        counts = store.counts()
    except sqlite3.Error as error:
        return 503, {"alive": False, "why": str(error)}
    if counts.get("dead", 0) > MOST_DEAD:
        return 503, {"alive": False, "why": "too many dead jobs"}
    return 200, {"alive": True}
