"""WSGI. Pages stand in routes.json: "METHOD /path/{id}" -> "module.function" of haat.pages."""
import importlib
import json
import re
from pathlib import Path
from urllib.parse import parse_qs


class Problem(Exception):
    def __init__(self, status, why):
        super().__init__(why)
        self.status, self.why = status, why


class Request:
    def __init__(self, db, method, path, query="", body=b"", ids=None):
        self.db, self.method, self.path = db, method, path
        self.query = {key: values[-1] for key, values in parse_qs(query).items()}
        self.body = body
        self.ids = ids or {}

    def json(self):
        try:
            return json.loads(self.body or b"{}")
        except ValueError:
            raise Problem(400, "not JSON") from None


def _routes():
    found = []
    for line, name in json.loads((Path(__file__).parent / "routes.json").read_text("utf-8")).items():
        method, path = line.split(" ")
        module, function = name.split(".")
        page = getattr(importlib.import_module(f"haat.pages.{module}"), function)
        found.append((method, re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>\\d+)", path) + "$"), page))
    return found


class App:
    def __init__(self, db):
        self.db = db
        self.routes = _routes()

    def handle(self, method, path, query="", body=b""):
        """(status, what goes out as JSON)"""
        for known, pattern, page in self.routes:
            match = pattern.match(path)
            if match and known == method:
                ids = {key: int(value) for key, value in match.groupdict().items()}
                try:
                    return 200, page(Request(self.db, method, path, query, body, ids))
                except Problem as problem:
                    return problem.status, {"error": problem.why}
        return 404, {"error": "no such page"}

    def __call__(self, environ, start_response):
        length = int(environ.get("CONTENT_LENGTH") or 0)
        status, found = self.handle(
            environ["REQUEST_METHOD"],
            environ["PATH_INFO"],
            environ.get("QUERY_STRING", ""),
            environ["wsgi.input"].read(length),
        )
        text = json.dumps(found).encode()
        start_response(f"{status} -", [("Content-Type", "application/json"), ("Content-Length", str(len(text)))])
        return [text]
