"""What a browser loads: the built files of the page. They hold no data, and whoever is not signed in gets them, too.

Only files that were there at the start are answered, by their whole name: no path is made of what was asked for.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

BUILT = Path(__file__).parent.parent / "dist"
ASSETS = "/assets/"
# The page's own addresses: its script shows what belongs there.
ADDRESSES = (
    *("/", "/board", "/vision", "/roadmap", "/money", "/team", "/settings", "/plan"),
    *("/review/{id}", "/task/{id}"),
)
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
PACKED = (".html", ".js", ".css", ".svg", ".webmanifest")  # a font and a picture are packed already
FOR_GOOD, ASKED_AGAIN = "public, max-age=31536000, immutable", "no-cache"


@dataclass(frozen=True)
class PageFiles(Container[tuple[str, str]]):
    """The built files, read once. It contains what is open to all: (method, path)."""

    folder: Path = BUILT
    _read: dict[str, tuple[bytes, bytes]] = field(default_factory=dict, init=False)  # by address: as it is, and packed

    def __post_init__(self) -> None:
        for path in sorted(path for path in self.folder.rglob("*") if path.is_file()):
            data = path.read_bytes()
            packed = gzip.compress(data, mtime=0) if path.suffix in PACKED else b""
            self._read[f"/{path.relative_to(self.folder).as_posix()}"] = data, packed

    def __contains__(self, asked: object) -> bool:
        method, path = asked if isinstance(asked, tuple) else ("", "")
        return method == "GET" and (path in self._read or path.startswith(ASSETS) or is_page(path))

    def routes(self) -> APIRouter:
        routes = APIRouter(include_in_schema=False)
        for address in ADDRESSES:
            routes.add_api_route(address, self.page)
        for address in (path for path in self._read if not path.startswith(ASSETS)):
            routes.add_api_route(address, self.file)
        routes.add_api_route(ASSETS + "{name:path}", self.file)
        return routes

    def page(self, request: Request) -> Response:
        answer, name = self._answer("/index.html", request), request.scope["path"].split("/")[1].capitalize()
        own = next((path for path in self._read if name and path.startswith(f"{ASSETS}{name}-")), "")
        if own:  # loaded beside the script that would ask for it
            answer.headers["link"] = f"<{own}>; rel=modulepreload"
        return answer

    def file(self, request: Request) -> Response:
        return self._answer(request.scope["path"], request)

    def _answer(self, address: str, request: Request) -> Response:
        """One that is not there is 404, never a page: a browser would take that for a script."""
        found = self._read.get(address)
        if found is None:
            raise HTTPException(404, "there is no such file; load the page again")
        data, packed = found
        lasts = FOR_GOOD if address.startswith(ASSETS) else ASKED_AGAIN
        headers = {"cache-control": lasts, "vary": "accept-encoding"}
        if packed and "gzip" in request.headers.get("accept-encoding", ""):
            data, headers = packed, {**headers, "content-encoding": "gzip"}
        return Response(data, headers=headers, media_type=KINDS[Path(address).suffix])


def is_page(path: str) -> bool:
    """Tell whether it is an address of the page."""
    return any(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", address), path) for address in ADDRESSES)
