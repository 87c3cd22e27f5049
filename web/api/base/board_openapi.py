"""The description of the API (OpenAPI 3.1): FastAPI's own, with our key and our problems."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import FastAPI, Header
from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict

from sisimpur.web.api.base.guard import PROBLEM
from sisimpur.web.api.base.place import COOKIE
from sisimpur.web.api.base.rights import OPEN_TO_ALL
from sisimpur.web.api.base.sign_in import NAMED

WRONG = {
    "type": "object",
    "required": ["type", "status", "title"],
    "properties": {"type": {"type": "string"}, "status": {"type": "integer"}, "title": {"type": "string"}},
}
_TOLD = {"content": {PROBLEM: {"schema": WRONG}}}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "It is refused; the title says why, `now` what is there if that is another thing.", **_TOLD},
    "5XX": {"description": "It cannot be done now; nothing was changed.", **_TOLD},
}
LEAVES_OUT = {"SettingForm"}  # words; no other answer does
KNOWN: dict[int | str, dict[str, Any]] = {304: {"description": "Exactly this is known already (`If-None-Match`)."}}
Changed = Annotated[str, Header(alias="If-None-Match")]
# How a session, a key, a passkey or a browser that is notified is called.
Named = Annotated[str, InPath(pattern=f"^[0-9a-f]{{{NAMED}}}$")]


def described(shape: Any, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """What a route says of its answer. `shape`: a class, or of which there is a list, or one of several."""
    return {status: {"model": shape}}


class BoardBody(BaseModel):
    model_config = ConfigDict(extra="forbid")


class BoardApi(FastAPI):
    """The app: each of its answers may be a problem, and all but a few need a key."""

    def allowed(self, path: str) -> str:
        """Return the methods that mean something at an address, as `Allow` says them; of none of ours, looking."""
        there = {name.upper() for methods in _described(self.openapi(), path) for name in methods}
        return ", ".join(sorted(there)) or "GET"

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            found = super().openapi()
            key = {"type": "http", "scheme": "bearer", "description": "From a link: `sisimpur board --link`"}
            session = {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "A browser's, over TLS"}
            found.setdefault("components", {})["securitySchemes"] = {"key": key, "session": session}
            found["security"] = [{"key": []}, {"session": []}]
            for method, path in OPEN_TO_ALL:
                for methods in _described(found, path):
                    methods[method.lower()]["security"] = []
            schemas = found["components"]["schemas"]
            for one in (schemas[name] for name in {*answer_names(found)} - LEAVES_OUT):
                if "properties" in one:  # also what has a default
                    one["required"] = [*one["properties"]]
            for one in (one for methods in found["paths"].values() for said in methods.values() for one in _seen(said)):
                one["required"] = True  # without it: 428, and not that the request is none
                del one["schema"]["default"]
        return self.openapi_schema or {}


def _described(described: dict[str, Any], path: str) -> list[dict[str, Any]]:
    """Return what the description says of an address, by method."""
    known = described["paths"].items()
    return [methods for one, methods in known if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", one), path)]


def answer_names(found: Mapping[str, Any]) -> list[str]:
    """Return which schemas answers are made of."""
    schemas = found["components"]["schemas"]
    said = [one["responses"] for methods in found["paths"].values() for one in methods.values()]
    names, left = set[str](), json.dumps(said)
    while new := set(re.findall(r"#/components/schemas/(\w+)", left)) - names:
        names |= new
        left = json.dumps([schemas[name] for name in new])
    return sorted(names)


def _seen(operation: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in operation.get("parameters", ()) if one["name"] == "If-Match"]
