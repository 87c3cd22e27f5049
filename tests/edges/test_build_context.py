"""What a builder gets: a commit's own files, without what is to be left out, and nothing from elsewhere."""

from __future__ import annotations

import io
import os
import tarfile
import time
from pathlib import Path

import pytest

from sisimpur.agents.devops.drivers.driver import ReleaseFailed
from sisimpur.agents.devops.drivers.release_files import DockerIgnore, labelled, pack
from sisimpur.shared.model.errors import Refused

LABELS = {"who": "us"}


def packed(folder: Path, dockerfile: str = "Dockerfile") -> tarfile.TarFile:
    target = io.BytesIO()
    pack(folder, dockerfile, LABELS, target)
    return tarfile.open(fileobj=target)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "commit"
    (made / "src").mkdir(parents=True)
    (made / "Dockerfile").write_text("FROM x\n")
    (made / "src" / "run.sh").write_text("echo\n")
    (made / "src" / "run.sh").chmod(0o700)
    return made


def test_files_are_there_and_the_dockerfile_is_ours_to_know(folder: Path) -> None:
    with packed(folder) as tar:
        assert tar.getnames() == ["Dockerfile", "src", "src/run.sh"]
        file = tar.extractfile("Dockerfile")
        assert file is not None
        assert file.read() == b"FROM x\nLABEL who=us\n"
        assert [tar.getmember(name).mode for name in tar.getnames()] == [0o644, 0o755, 0o755]


def test_the_same_files_are_the_same_bytes(folder: Path) -> None:
    first, second = io.BytesIO(), io.BytesIO()
    pack(folder, "Dockerfile", LABELS, first)
    for path in (folder / "Dockerfile", folder / "src"):
        os.utime(path, (1, 1))
    pack(folder, "Dockerfile", LABELS, second)
    assert first.getvalue() == second.getvalue()


def test_what_a_link_leads_to_is_never_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("the key")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "key").symlink_to("../secret/key")
    os.mkfifo(folder / "pipe")
    with packed(folder) as tar:
        assert tar.getnames() == ["Dockerfile", "key", "out", "src", "src/run.sh"]
        assert all(tar.getmember(name).issym() for name in ("key", "out"))


@pytest.mark.parametrize("name", ["out/Dockerfile", "../secret/Dockerfile", "link"])
def test_a_dockerfile_from_elsewhere_is_none(folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "Dockerfile").write_text("FROM y\n")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "link").symlink_to(tmp_path / "secret" / "Dockerfile")
    with pytest.raises(ReleaseFailed, match="no plain file of this commit"):
        packed(folder, name)


def test_a_dockerfile_that_is_no_text_is_refused(folder: Path) -> None:
    (folder / "Dockerfile").write_bytes(b"FROM \xff\n")
    with pytest.raises(Refused, match="UTF-8"):
        packed(folder)


def test_the_builder_learns_what_is_left_out_and_always_gets_its_dockerfile(folder: Path) -> None:
    (folder / ".dockerignore").write_text("# all of it\n*\n!src\n")
    with packed(folder) as tar:
        assert tar.getnames() == [".dockerignore", "Dockerfile", "src", "src/run.sh"]


@pytest.mark.parametrize(
    ("patterns", "path", "out"),
    [
        ("node_modules", "node_modules/a/b.js", True),
        ("node_modules", "sub/node_modules/b.js", False),  # unlike git's
        ("**/node_modules", "sub/node_modules/b.js", True),
        ("**/node_modules", "node_modules", True),
        ("*.md", "README.md", True),
        ("*.md", "docs/README.md", False),
        ("**/*.md", "docs/README.md", True),
        ("docs/**", "docs/a/b", True),
        ("/build/", "build/x", True),
        ("./build", "build/x", True),
        ("*\n!README.md", "README.md", False),
        ("*\n!README.md", "other", True),
        ("!a\na", "a", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a[b-c]d", "acd", True),
        ("*a*b*c", "xaybzc", True),
        ("*a*b*c", "xaybz", False),
        ("*a*b*c", "a/b/c", False),
        ("*ab*b", "ab", False),
        ("*a", "ba/x", True),
        ("a*/*b/c", "ax/yb/c/d", True),
        ("**/a*/**/b", "x/ay/b", True),
        ("**/a*/**/b", "x/ay/z/zz/b/c", True),
        ("**/a*/**/b", "x/ay/z/cb", False),
        ("docs/**", "docs", False),
        ("**.pyc", "a/b.pyc", True),
        ("a**c", "ab/bc", True),
        ("a[[.]b", "a[b", True),
        ("a[^x]b", "a/b", False),
        ("a[^b]d", "abd", False),
        ("a.b", "axb", False),
        ("#a", "#a", False),
        ("..", "a", False),
        (".", "a", False),
        ("\\*", "*", True),
        ("\\*", "a", False),
        (" a \n\n", "a", True),
    ],
)
def test_what_a_dockerignore_leaves_out(patterns: str, path: str, out: bool) -> None:
    assert DockerIgnore(patterns)(path) is out


@pytest.mark.parametrize("line", ["*a*a*a*a*a*b", "**a*a*a*a*a*b", "**/*a*a*a*a*a*b", "**a**a**a**a**a**b"])
def test_no_line_holds_up_the_program(line: str) -> None:
    began = time.process_time()
    assert not DockerIgnore(line)("a" * 120)
    assert time.process_time() - began < 0.3


@pytest.mark.parametrize("text", ["a\n" * 501, "a" * 301])
def test_too_many_lines_and_too_long_ones_are_the_commits_fault(text: str) -> None:
    with pytest.raises(
        ReleaseFailed, match=r"\.dockerignore is too long: there may be at most 500 patterns, each of 300"
    ):
        DockerIgnore(text)


def test_a_pattern_that_is_none_is_the_commits_fault() -> None:
    with pytest.raises(ReleaseFailed, match="is no pattern"):
        DockerIgnore("a[z-a]")


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        pytest.param("FROM x", [1], id="one stage"),
        pytest.param("ARG v\nFROM x:$v AS a\nRUN y\n from z\nCOPY --from=a b c", [2, 4], id="two, in any letters"),
        pytest.param("FROM \\\n  # why\n  x\nRUN y", [3], id="over several lines"),
        pytest.param("# escape=`\nFROM `\nx\nRUN dir C:\\\nFROM y", [3, 5], id="another escape"),
        pytest.param("RUN echo \\\nFROM x", [], id="a word of another instruction"),
        pytest.param("#FROM x\nFROMAGE y", [], id="nearly"),
    ],
)
def test_each_stage_begins_with_our_label(text: str, marks: list[int]) -> None:
    lines = text.split("\n")
    for number in reversed(marks):
        lines.insert(number, "LABEL who=us")
    assert labelled(text, LABELS) == "\n".join(lines)
