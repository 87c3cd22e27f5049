"""Submodules with real git: whose address is asked, with whose token, and what a run of the tests finds there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sisimpur.agents.qa.survey.findings import left_alone, read_only
from sisimpur.shared.model.change import ChangeLimits
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.repo.submodules import absolute, beside
from tests.git_over_http import serving
from tests.repositories import bare, commit, repository, shell

TOKEN = "a-token-of-the-forge"
MODULES = '[submodule "any name"]\n\tpath = parts/lib\n\turl = {url}\n'


def with_submodule(folder: Path, url: str, wanted: str) -> str:
    """One more commit, which names that commit of a submodule -> its sha."""
    (folder / ".gitmodules").write_text(MODULES.format(url=url))
    shell(f"git add .gitmodules && git update-index --add --cacheinfo 160000,{wanted},parts/lib", folder)
    return shell("git commit -qm submodule && git rev-parse HEAD", folder)


def fetched(place: Path, url: str, token: str | None = None) -> tuple[Mirror, str]:
    mirror = Mirror(place / "mirror/target.git", Remote(url, token))
    mirror.create()
    return mirror, mirror.fetch("main")


def files_of(mirror: Mirror, sha: str, place: Path) -> set[str]:
    mirror.check_out_all(sha, place)
    return {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}


ALL = {"a.py", ".gitmodules", "parts/lib/lib.py", "parts/lib/more/b.py"}


@pytest.fixture
def wanted(tmp_path: Path) -> str:
    """The commit that is wanted of the library; its branch has gone on since."""
    found = repository(tmp_path / "code/lib", {"lib.py": "1", "more/b.py": "2"})
    commit(tmp_path / "code/lib", {"lib.py": "newer"})
    return found


@pytest.mark.parametrize("url", ["../lib", "{place}/code/lib"])
def test_one_beside_the_target_on_this_machine_is_there_for_tests_and_for_no_task(
    tmp_path: Path, wanted: str, url: str
) -> None:
    repository(tmp_path / "code/site", {"a.py": "0"})
    with_submodule(tmp_path / "code/site", url.format(place=tmp_path), wanted)
    mirror, sha = fetched(tmp_path, str(tmp_path / "code/site"))
    assert files_of(mirror, sha, tmp_path / "all") == ALL
    assert (tmp_path / "all/parts/lib/lib.py").read_text() == "1"
    assert mirror.submodules(sha) == ("parts/lib",) and mirror.laid_out(sha)[1] == {}
    assert [*read_only(mirror.submodules(sha))] == [
        "parts/lib (a submodule): its files are there when tests run and when it is deployed; no task changes them"
    ]
    mirror.check_out(sha, tmp_path / "to-code")
    assert not (tmp_path / "to-code/parts").exists(), "where code is written it is not there, so nobody commits it"
    assert {one.path for one in mirror.tree(sha)} == {"a.py", ".gitmodules", "parts/lib"}


def test_it_is_there_after_a_pack_a_restart_and_a_move_of_the_home(tmp_path: Path, wanted: str) -> None:
    repository(tmp_path / "code/site", {"a.py": "0"})
    with_submodule(tmp_path / "code/site", "../lib", wanted)
    mirror, sha = fetched(tmp_path, str(tmp_path / "code/site"))
    mirror.repository.git("repack", "-d", "-A", "-l", "-q")
    mirror.close()
    shutil.rmtree(tmp_path / "code")
    (tmp_path / "mirror").rename(tmp_path / "moved")
    assert files_of(Mirror.at(tmp_path / "moved/target.git"), sha, tmp_path / "all") == ALL


@pytest.mark.parametrize("url", ["../lib.git", "{origin}/team/lib.git"])
def test_one_at_the_same_forge_is_fetched_with_its_token(tmp_path: Path, url: str) -> None:
    wanted = bare(tmp_path / "forge/team/lib.git", {"lib.py": "1", "more/b.py": "2"})
    with serving(tmp_path / "forge", TOKEN) as origin:
        repository(tmp_path / "work", {"a.py": "0"})
        with_submodule(tmp_path / "work", url.format(origin=origin), wanted)
        shell(f"git clone -q --bare '{tmp_path / 'work'}' '{tmp_path / 'forge/team/site.git'}'", tmp_path)
        mirror, sha = fetched(tmp_path, f"{origin}/team/site.git", TOKEN)
    assert files_of(mirror, sha, tmp_path / "all") == ALL
    written = [path.read_bytes() for path in (tmp_path / "mirror").rglob("*") if path.is_file()]
    assert not any(TOKEN.encode() in data for data in written)


def test_another_host_gets_no_question_and_no_token_and_the_rest_works(tmp_path: Path) -> None:
    wanted = bare(tmp_path / "other/lib.git", {"lib.py": "1"})
    (tmp_path / "forge").mkdir()
    with serving(tmp_path / "forge", TOKEN) as origin, serving(tmp_path / "other", TOKEN) as other:
        repository(tmp_path / "work", {"a.py": "0"})
        with_submodule(tmp_path / "work", f"{other}/lib.git", wanted)
        shell(f"git clone -q --bare '{tmp_path / 'work'}' '{tmp_path / 'forge/site.git'}'", tmp_path)
        mirror, sha = fetched(tmp_path, f"{origin}/site.git", TOKEN)
    assert files_of(mirror, sha, tmp_path / "all") == {"a.py", ".gitmodules"}
    (line,) = left_alone(mirror.laid_out(sha)[1])
    assert line.startswith(f"parts/lib (a submodule: it lies elsewhere than the target, and is not asked: {other}/lib")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("{place}/secret", "it lies elsewhere than the target"),
        ("../../secret", "it lies elsewhere than the target"),
        ("../linked", "it lies elsewhere than the target"),
        ("https://example.com/lib", "it lies elsewhere than the target"),
        ("file:///etc", "its address is none that is asked"),
        ("ext::sh -c id", "its address is none that is asked"),
        ("-u../lib", "its address is none that is asked"),
        ("../nowhere", "nowhere; correct .gitmodules"),
        ("../lib", "it was not fetched yet"),
    ],
)
def test_what_is_not_fetched_is_left_alone_with_the_reason(tmp_path: Path, wanted: str, url: str, why: str) -> None:
    secret = repository(tmp_path / "secret", {"key": "s"})
    (tmp_path / "code/linked").symlink_to(tmp_path / "secret")
    repository(tmp_path / "code/site", {"a.py": "0"})
    asked = "1" * 40 if url == "../lib" else secret
    with_submodule(tmp_path / "code/site", url.format(place=tmp_path), asked)
    mirror, sha = fetched(tmp_path, str(tmp_path / "code/site"))
    assert files_of(mirror, sha, tmp_path / "all") == {"a.py", ".gitmodules"}
    assert why in mirror.laid_out(sha)[1]["parts/lib"]
    assert mirror.submodules(sha) == ()


def test_one_that_no_box_can_take_does_not_keep_the_rest_away(tmp_path: Path, wanted: str) -> None:
    repository(tmp_path / "code/site", {"a.py": "0"})
    with_submodule(tmp_path / "code/site", "../lib", wanted)
    mirror, sha = fetched(tmp_path, str(tmp_path / "code/site"))
    few = ChangeLimits(entries=3)
    laid, left = mirror.laid_out(sha, few)
    assert {one.path for one in laid} == {"a.py", ".gitmodules"} and "holds 4 files (limit 3)" in left["parts/lib"]
    mirror.check_out_all(sha, tmp_path / "all", few)
    assert not (tmp_path / "all/parts").exists()


@pytest.mark.parametrize(
    ("target", "url", "whole"),
    [
        ("https://h.example/a/site.git", "../lib.git", "https://h.example/a/lib.git"),
        ("https://h.example/a/site", "../../b/lib", "https://h.example/b/lib"),
        ("/srv/code/site", "./lib", "/srv/code/site/lib"),
        ("/srv/code/site/", "../lib", "/srv/code/lib"),
        ("/srv/code/site", "https://h.example/lib", "https://h.example/lib"),
    ],
)
def test_a_relative_address_begins_at_the_targets_own(target: str, url: str, whole: str) -> None:
    assert absolute(url, Remote(target)) == whole


@pytest.mark.parametrize("url", ["https://h.example.evil/x", "https://h.example:8443/x", "http://h.example/x", "/x"])
def test_only_the_very_same_host_is_the_same(url: str) -> None:
    assert not beside(url, Remote("https://h.example/a/site.git", TOKEN))
