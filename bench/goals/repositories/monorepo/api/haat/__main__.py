import os
from wsgiref.simple_server import make_server

from haat.app import App
from haat.db import Db

if __name__ == "__main__":
    make_server("0.0.0.0", 8000, App(Db(os.environ.get("HAAT_DB", "haat.db")))).serve_forever()
