"""Files: read safely, written as a whole or not at all."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from sisimpur.shared.model.errors import Refused, TeamError
from sisimpur.shared.system.paths import Home, create_text, move, read_text, remove_folder, replace_text, write_text

pytestmark = pytest.mark.disk


def test_a_symbolic_link_is_refused_and_its_content_not_shown(tmp_path: Path) -> None:
    (tmp_path / "id_rsa").write_text("PRIVATE")
    (tmp_path / "VISION.md").symlink_to(tmp_path / "id_rsa")
    with pytest.raises(Refused, match=r"VISION.md: is a symbolic link; put the file itself there") as refusal:
        read_text(tmp_path / "VISION.md")
    assert "PRIVATE" not in str(refusal.value)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"x" * (10 << 20), "VISION.md: 10485760 bytes, the limit is 1048576", id="10 MB"),
        pytest.param(b"# Vision\n\xff", r"not UTF-8 text \(byte 9\)", id="invalid UTF-8"),
        pytest.param("# Vision".encode("utf-16"), r"not UTF-8 text \(byte 0\)", id="UTF-16 with BOM"),
    ],
)
def test_what_is_no_text_is_refused_with_its_reason(tmp_path: Path, data: bytes, why: str) -> None:
    (tmp_path / "VISION.md").write_bytes(data)
    with pytest.raises(Refused, match=why):
        read_text(tmp_path / "VISION.md")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_read_as_one(tmp_path: Path, end: str) -> None:
    (tmp_path / "f").write_bytes(f"a{end}b{end}".encode())
    assert read_text(tmp_path / "f") == "a\nb\n"


def test_a_device_does_not_block_us(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    with pytest.raises(Refused, match="is not a plain file"):
        read_text(tmp_path / "f")


def test_writing_replaces_the_file_as_a_whole(tmp_path: Path) -> None:
    write_text(tmp_path / "f", "one")
    write_text(tmp_path / "f", "two")
    assert (tmp_path / "f").read_text() == "two"
    assert os.listdir(tmp_path) == ["f"]


def test_creating_never_overwrites_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("the owner's")
    with pytest.raises(FileExistsError):
        create_text(tmp_path / "f", "ours", tmp_path)
    assert (tmp_path / "f").read_text() == "the owner's"
    assert os.listdir(tmp_path) == ["f"]


def test_what_was_moved_away_is_not_written_where_it_was(tmp_path: Path) -> None:
    here, there = tmp_path / "backlog.md", tmp_path / "in_progress.md"
    here.write_text("old")
    replace_text(here, "new")
    assert here.read_text() == "new"
    move(here, there)
    with pytest.raises(FileNotFoundError):
        replace_text(here, "newer")
    assert [path.name for path in tmp_path.iterdir()] == ["in_progress.md"]
    assert there.read_text() == "new"


def test_moving_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    with pytest.raises(FileExistsError):
        move(tmp_path / "a", tmp_path / "b")
    with pytest.raises(FileNotFoundError):
        move(tmp_path / "absent", tmp_path / "c")


def test_a_write_that_fails_half_way_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    write_text(tmp_path / "f", "old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))  # the kernel refuses the rest, as a full disk does
    try:
        with pytest.raises(TeamError, match=r"cannot be written \(File too large\)"):
            write_text(tmp_path / "f", "x" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / "f").read_text() == "old"
    assert os.listdir(tmp_path) == ["f"]


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(TeamError, match="absent cannot be written"):
        write_text(tmp_path / "absent" / "f", "x")


@pytest.mark.parametrize("depth", [1, 12])
def test_the_meters_socket_has_a_path_that_the_kernel_takes(tmp_path: Path, depth: int) -> None:
    home = Home(tmp_path.joinpath(*["a-folder-with-a-name"] * depth))
    home.make()
    assert len(os.fsencode(home.meter_socket)) <= 107
    assert home.meter_socket.parent.stat().st_mode & 0o077 == 0
    assert Home(home.root).meter_socket == home.meter_socket


def test_a_folder_deeper_than_any_path_can_say_is_removed(tmp_path: Path) -> None:
    """Made of shallow pieces, so that no watch sees it grow."""
    here = os.getcwd()
    try:
        for piece in range(60):
            bottom = tmp_path / "out" / f"p{piece}" / "/".join("d" * 80)
            bottom.mkdir(parents=True)
        os.chdir(tmp_path / "out" / "p0" / "/".join("d" * 80))
        for piece in range(1, 60):
            os.rename(tmp_path / "out" / f"p{piece}", "p")
            os.chdir("p/" + "/".join("d" * 80))
    finally:
        os.chdir(here)
    remove_folder(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
