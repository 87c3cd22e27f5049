"""The built page, without a browser: what a browser loads is small, whole, ours, and served as what it is."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from PIL import Image, ImageChops
from starlette.testclient import TestClient

from bench.icons import icons
from sisimpur.web.api.page_files import ADDRESSES, BUILT, KINDS, PageFiles, is_page

SOURCES = Path(__file__).parent.parent / "web" / "pages" / "src"
MOST = 110_000  # bytes of scripts and styles, packed, before the first page stands there
HTML = (BUILT / "index.html").read_text()
LOADED = re.findall(r'(?:src|href)="(/[^"]+)"', HTML)


@pytest.fixture(scope="module")
def site() -> TestClient:
    app = FastAPI()
    app.include_router(PageFiles().routes())
    return TestClient(app)


def packed(path: str) -> int:
    return len(gzip.compress((BUILT / path.removeprefix("/")).read_bytes(), mtime=0))


def lazily(name: str) -> int:
    (found,) = BUILT.glob(f"assets/{name}-*.js")
    return packed(found.relative_to(BUILT).as_posix())


# --- what was built ------------------------------------------------------------------------------------------


def test_the_first_page_is_small() -> None:
    first = sum(packed(path) for path in LOADED if path.endswith((".js", ".css")))
    assert 0 < first <= MOST
    assert first + lazily("Review") <= MOST, "as a link to a change opens it"


def test_nothing_stands_inline_and_nothing_comes_from_elsewhere() -> None:
    assert '<meta name="viewport" content="width=device-width' in HTML and "user-scalable" not in HTML
    assert HTML.count("<script") == len(re.findall(r'<script[^>]* src="/[^"]+"></script>', HTML)) > 0
    assert "<style" not in HTML and "style=" not in HTML and not re.search(r"\son\w+=", HTML)
    assert "http" not in HTML and all((BUILT / path.removeprefix("/")).is_file() for path in LOADED)
    hosts = {
        host
        for path in BUILT.rglob("*")
        if path.suffix in (".js", ".css")
        for host in re.findall(r"(?:https?:)?//([a-z0-9.-]+\.[a-z]+)", path.read_text())
    }
    assert hosts <= {"www.w3.org", "react.dev"}, "a namespace, and words of an error"


def test_no_file_tells_more_than_it_must_and_each_has_a_kind() -> None:
    files = [path for path in BUILT.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} <= KINDS.keys()
    assert not any(b"sourceMappingURL" in path.read_bytes() for path in files)
    hashed = [path.name for path in files if path.parent.name == "assets"]
    assert hashed and all(re.fullmatch(r"[\w-]+-[\w-]{8}\.\w+", name) for name in hashed)


def test_the_source_makes_no_markup_of_text() -> None:
    for path in SOURCES.rglob("*.ts*"):
        for word in ("nnerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert word not in path.read_text(), path


def test_both_languages_have_the_same_words_with_the_same_places_in_them() -> None:
    english, bengali = (json.loads((SOURCES / "words" / f"{name}.json").read_text()) for name in ("en", "bn"))
    assert list(english) == list(bengali)
    for word, text in english.items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", bengali[word])), word


def test_the_installed_page_has_its_name_and_icons_drawn_of_the_one_that_a_tab_has() -> None:
    manifest = json.loads((BUILT / "manifest.webmanifest").read_text())
    assert f"<title>{manifest['name']}</title>" in HTML and manifest["start_url"] == manifest["scope"] == "/"
    shown = {one["src"].removeprefix("/"): one for one in manifest["icons"]}
    assert shown.keys() == icons().keys() and "maskable" in {one.get("purpose") for one in shown.values()}
    for name, drawn in icons().items():
        kept = Image.open(BUILT / name)
        assert shown[name]["sizes"] == f"{kept.width}x{kept.height}" and kept.mode == drawn.mode
        assert ImageChops.difference(kept, drawn).getbbox() is None, "draw them anew: python -m bench.icons"


def test_the_worker_keeps_no_answer_of_the_board_and_is_asked_for_again(site: TestClient) -> None:
    """What it does is seen in a browser: tests/web/test_installed.py."""
    answer = site.get("/sw.js")
    assert answer.headers["cache-control"] == "no-cache" and "javascript" in answer.headers["content-type"]
    assert 'pathname.startsWith("/api/")) return' in answer.text and "importScripts" not in answer.text


# --- how it is served ----------------------------------------------------------------------------------------


def test_each_address_of_the_page_is_the_page_and_is_asked_for_again(site: TestClient) -> None:
    for address in ADDRESSES:
        answer = site.get(address.replace("{id}", "20261120-01"))
        assert answer.text == HTML and answer.headers["cache-control"] == "no-cache"
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert not any(map(is_page, ("/task", "/task/", "/task/a/b", "/boards", "/x", "//")))


def test_what_has_a_digest_in_its_name_is_kept_for_good_and_packed_for_who_can_read_that(site: TestClient) -> None:
    *_, path = (path for path in LOADED if path.startswith("/assets/") and path.endswith(".js"))
    plain = site.get(path, headers={"accept-encoding": "identity"})
    assert plain.content == (BUILT / path.removeprefix("/")).read_bytes()
    assert "immutable" in plain.headers["cache-control"] and "content-encoding" not in plain.headers
    small = site.get(path)
    assert small.headers["content-encoding"] == "gzip" and small.content == plain.content
    assert int(small.headers["content-length"]) < len(plain.content) // 2
    assert site.get("/noto-sans-bengali-OFL.txt").headers["cache-control"] == "no-cache", "its name stays"


def test_a_page_names_the_file_that_it_alone_needs_and_that_is_there(site: TestClient) -> None:
    named = {address: site.get(address.replace("{id}", "x")).headers.get("link", "") for address in ADDRESSES}
    assert named.pop("/") == "", "Today is in what all need"
    for link in named.values():
        path = re.fullmatch("<(/assets/[A-Z][a-z]+-[^>]+[.]js)>; rel=modulepreload", link)
        assert path and site.get(path[1]).status_code == 200
    assert len(set(named.values())) == len(named)


def test_a_file_that_is_not_there_is_never_a_page_and_no_path_leads_out(site: TestClient) -> None:
    for path in ("none.js", "", "../index.html", "%2e%2e/index.html", "..%2f..%2fapi%2fguard.py", "/etc/passwd"):
        answer = site.get("/assets/" + path)
        assert answer.status_code == 404 or (answer.text == HTML and ".." in path), "a client takes `..` for a folder"
        assert "def " not in answer.text and "root:" not in answer.text


def test_only_what_was_built_is_open_to_all() -> None:
    pages = PageFiles()
    assert all(("GET", path) in pages for path in ("/", "/review/x", "/assets/none.js", *LOADED))
    assert not any(("POST", path) in pages for path in ("/", "/assets/none.js"))
    assert not any(("GET", path) in pages for path in ("/api/v1/status", "/x", "/docs", "/openapi.json"))
