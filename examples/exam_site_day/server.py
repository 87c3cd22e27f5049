"""One version of the exam site, served until somebody ends it. Started by serve.py, in the Python of the site's packages.

    server.py PLACE FOLDER PORT LOCK     LOCK: the descriptor of PLACE/live, which stays locked for as long as we live

Its folder is PLACE, not the version's: data does not belong to a version.
"""

import contextlib
import logging
import os
import sys
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server


def main(place, folder, port, lock):
    live = open(int(lock), "a", encoding="utf-8")
    live.write(f"{os.getpid()}\n")
    live.flush()
    os.environ["DJANGO_SETTINGS_MODULE"] = "core.settings"
    os.environ.setdefault("DJANGO_DATABASE", str(Path(place, "db.sqlite3")))
    sys.path[0] = folder
    from core.wsgi import application
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    log = logging.StreamHandler()
    log.setFormatter(OneLine())
    logging.getLogger("django.request").addHandler(log)
    with make_server("127.0.0.1", int(port), application, Server, Quiet) as server:
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


class OneLine(logging.Formatter):
    """With DEBUG off Django keeps to itself why a page failed. A line that deploy.yaml can look for."""

    def format(self, record):
        error = record.exc_info[1] if record.exc_info else None
        why = f": {type(error).__name__}: {error}" if error else ""
        return f"{record.levelname} {record.getMessage()}{why}"


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        """Who looked at what is nobody's business."""


if __name__ == "__main__":
    main(*sys.argv[1:])
