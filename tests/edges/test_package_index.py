"""Which version of a package is the newest: asked of a real server on this machine, or found in a folder of wheels."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.upkeep.package_index import (
    JSON,
    MOST_BYTES,
    PackageIndex,
    ReleaseFile,
    WheelFolder,
    newest,
)
from sisimpur.agents.orchestrator.upkeep.upkeep_findings import NewerVersion
from sisimpur.shared.model.errors import Misconfigured, Refused, TeamError, Unavailable
from sisimpur.shared.system.http import Http
from tests.edges.test_web_page import Authority
from tests.edges.web_scene import OTHER, SITE, Names, Reply, Web, hangs, leads, may_reach, says, web

PYTHON = "3.12.4"
PAGE = f"{SITE}/simple/shop-tools/"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def file(name: str, **more: object) -> dict[str, object]:
    return {"filename": name, "url": f"https://evil.example/{name}", "hashes": {}, **more}


def sdists(*versions: str, **more: object) -> list[dict[str, object]]:
    return [file(f"shop_tools-{version}.tar.gz", **more) for version in versions]


def lists(files: Sequence[Mapping[str, object]]) -> Reply:
    return says(json.dumps({"meta": {"api-version": "1.1"}, "name": "shop-tools", "files": list(files)}), JSON)


@contextmanager
def index(
    authority: Authority, pages: Mapping[str, Reply | Sequence[Reply]], seconds: float = 20
) -> Iterator[tuple[PackageIndex, Web]]:
    with web(pages, authority.server(SITE)) as site:
        http = Http(may_reach, Names(), authority.believed())
        yield PackageIndex((SITE,), PYTHON, http, site.port, seconds), site


# --- an index on the web -------------------------------------------------------------------------------------


def test_the_newest_final_version_that_fits_is_found_by_one_question(authority: Authority) -> None:
    files = [
        *sdists("1.0", "1.9", "1.10", "2.0rc1", "2.1.dev3", "0.9"),
        *sdists("1.11", **{"requires-python": ">=3.13"}),
        *sdists("1.12", yanked="it deletes everything"),
        file("other-9.0.tar.gz"),
        file("shop_tools-9.0.exe"),
    ]
    with index(authority, {PAGE: lists(files)}) as (asked, site):
        assert asked.newer("Shop.Tools", "1.9") == NewerVersion("1.10", 1)
        assert asked.newer("shop_tools", "1.0") == NewerVersion("1.10", 2)
        assert asked.newer("shop-tools", "1.10") is None
        assert set(site.asked) == {PAGE}
        assert all(f"accept: {JSON}" in request.lower() for request in site.requests)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        pytest.param(says(status=404), Refused, id="no such package"),
        pytest.param(says("<html>", "text/html"), Refused, id="a page for people"),
        pytest.param(says("{", JSON), Refused, id="no JSON"),
        pytest.param(says("[]", JSON), Refused, id="another JSON"),
        pytest.param(says('{"files": [1]}', JSON), Refused, id="files that are none"),
        pytest.param(says("[" * 100_000, JSON), Refused, id="too deep"),
        pytest.param(says(b"\xff", JSON), Refused, id="no text"),
        pytest.param(says(b" " * (MOST_BYTES + 1), JSON), Refused, id="too large"),
        pytest.param(leads(f"https://{OTHER}/simple/shop-tools/"), Refused, id="it leads elsewhere"),
        pytest.param(leads("http://site.example/simple/shop-tools/"), Refused, id="it leads to the open"),
        pytest.param(leads("."), Refused, id="it leads on and on"),
        pytest.param(says(status=503), Unavailable, id="it is busy"),
        pytest.param(says(status=429), Unavailable, id="it has enough of us"),
    ],
)
def test_what_is_no_answer_says_nothing(authority: Authority, reply: Reply, kind: type[TeamError]) -> None:
    with index(authority, {PAGE: reply}) as (asked, _), pytest.raises(kind) as told:
        asked.newer("shop-tools", "1.0")
    assert str(told.value).isprintable()


def test_an_index_that_hangs_is_left_after_a_while(authority: Authority) -> None:
    with index(authority, {PAGE: hangs}, seconds=0.3) as (asked, _), pytest.raises(Unavailable, match="took longer"):
        asked.newer("shop-tools", "1.0")


def test_an_index_that_leads_out_of_the_list_is_not_followed(authority: Authority) -> None:
    pages: dict[str, Reply] = {}
    with index(authority, pages) as (asked, site):
        pages[PAGE] = leads(f"https://{OTHER}:{site.port}/simple/shop-tools/")
        with pytest.raises(Refused, match="no host of the target's `index`"):
            asked.newer("shop-tools", "1.0")
        assert site.asked == [PAGE]


def test_a_host_of_the_list_may_be_led_to(authority: Authority) -> None:
    name = f"{SITE}/simple/shop-tools"
    with index(authority, {PAGE: leads("/mirror/shop-tools/"), f"{SITE}/mirror/shop-tools/": lists(sdists("2.0"))}) as (
        asked,
        site,
    ):
        assert asked.newer("shop-tools", "1.0") == NewerVersion("2.0", 1)
        assert name + "/" in site.asked


def test_a_machine_of_our_own_networks_is_no_index(authority: Authority) -> None:
    http = Http(resolve=lambda *_: ["192.168.1.1"], context=authority.believed())
    with pytest.raises(Refused, match="not public"):
        PackageIndex((SITE,), PYTHON, http).newer("shop-tools", "1.0")


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a b", "-a", "a" * 101, "a?b", "а"])  # the last one is Cyrillic
def test_what_is_no_name_is_not_asked(authority: Authority, name: str) -> None:
    with index(authority, {}) as (asked, site):
        with pytest.raises(Refused):
            asked.newer(name, "1.0")
        assert site.asked == []


def test_without_a_host_nobody_is_asked() -> None:
    with pytest.raises(Refused, match="no package index"):
        PackageIndex((), PYTHON).newer("shop-tools", "1.0")


# --- a folder of wheels --------------------------------------------------------------------------------------


def wheel(folder: Path, version: str, python: str = "", tag: str = "py3-none-any", data: bytes | None = None) -> None:
    path = folder / f"shop_tools-{version}-{tag}.whl"
    if data is not None:
        path.write_bytes(data)
        return
    with zipfile.ZipFile(path, "w") as made:
        said = f"Requires-Python: {python}\n" if python else ""
        made.writestr(f"shop_tools-{version}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: shop-tools\n{said}\n")


def test_a_folder_is_looked_through_without_any_network(tmp_path: Path) -> None:
    for version in ("1.0", "1.2", "1.3b1"):
        wheel(tmp_path, version)
    wheel(tmp_path, "1.4", python=">=3.13")
    wheel(tmp_path, "1.5", tag="cp311-cp311-manylinux_2_17_x86_64")
    wheel(tmp_path, "1.6", data=b"no zip")
    (tmp_path / "shop_tools-1.7-py3-none-any.whl").mkdir()
    (tmp_path / "README").write_text("mine")
    found = WheelFolder(tmp_path, PYTHON)
    assert found.newer("Shop_Tools", "1.0") == NewerVersion("1.6", 2), "what cannot be read says nothing against itself"
    assert found.newer("shop-tools", "1.6") is None and found.newer("other", "1.0") is None


def test_a_folder_that_is_not_there_is_the_owners_to_mend(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="packages:"):
        WheelFolder(tmp_path / "gone", PYTHON).newer("shop-tools", "1.0")


@settings(deadline=None)
@example(at=70, noise=b"\xff" * 9)
@given(st.integers(0, 2_000), st.binary(min_size=1, max_size=40))
def test_a_wheel_that_is_damaged_anywhere_says_nothing_of_python(at: int, noise: bytes) -> None:
    with TemporaryDirectory() as folder:
        wheel = Path(folder, "shop_tools-2.0-py3-none-any.whl")
        for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
            with zipfile.ZipFile(wheel, "w", method) as whole:
                text = "".join(f"Keyword-{number}: {number**7}\n" for number in range(90))
                whole.writestr("shop_tools-2.0.dist-info/METADATA", f"Requires-Python: >=3\n{text}")
            data = bytearray(wheel.read_bytes())
            data[at % len(data) : at % len(data) + len(noise)] = noise
            wheel.write_bytes(data)
            found = WheelFolder(Path(folder), PYTHON).newer("shop-tools", "1.0")
            assert found is None or found.version == "2.0"


@pytest.mark.parametrize(
    ("tag", "fits"),
    [
        ("py3-none-any", True),
        ("py2.py3-none-any", True),
        ("py312-none-any", True),
        ("cp312-cp312-manylinux_2_17_x86_64", True),
        ("cp39-abi3-manylinux_2_17_x86_64", True),
        ("cp313-abi3-manylinux_2_17_x86_64", False),
        ("cp39-cp39-manylinux_2_17_x86_64", False),
        ("cp313-cp313-win_amd64", False),
        ("py2-none-any", False),
    ],
)
def test_a_wheel_is_for_the_targets_python_or_does_not_count(tag: str, fits: bool) -> None:
    assert bool(newest("a", "1", PYTHON, [ReleaseFile(f"a-2-{tag}.whl")])) == fits


# --- versions ------------------------------------------------------------------------------------------------

versions = st.sampled_from(["0.1", "1.0", "1.0.1", "1.1a1", "1!0.1", "2.0.dev1", "2.0+local", "10.0", "2.0.post1"])


@given(st.lists(versions), versions, st.booleans())
def test_what_is_offered_is_newer_final_and_there(there: list[str], pinned: str, yanked: bool) -> None:
    files = [ReleaseFile(f"a-{version}.tar.gz", yanked=yanked) for version in there]
    found = newest("a", pinned, PYTHON, files)
    if found is None:
        return
    assert found.version in there and not yanked and 1 <= found.behind <= len(set(there))
    assert not any(sign in found.version for sign in ("a1", "dev", "+"))
    assert newest("a", found.version, PYTHON, files) is None


@pytest.mark.parametrize("python", [">=3.13", "<3.12", "nonsense", ">=3.12,!=3.12.4"])
def test_what_asks_for_another_python_is_not_offered(python: str) -> None:
    assert newest("a", "1", PYTHON, [ReleaseFile("a-2.tar.gz", python)]) is None
    assert newest("a", "1", PYTHON, [ReleaseFile("a-2.tar.gz", ">=3.8")]) == NewerVersion("2", 1)


def test_a_pin_that_is_no_version_is_left_alone() -> None:
    with pytest.raises(Refused):
        newest("a", "1.x", PYTHON, [ReleaseFile("a-2.tar.gz")])
