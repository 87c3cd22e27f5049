"""A commit's files for a deploy: whole or not there at all, laid out once, thrown away when nobody needs them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sisimpur.agents.devops.drivers.driver import EngineAway, ReleaseFailed
from sisimpur.agents.devops.drivers.release_files import ReleaseFiles
from sisimpur.shared.model.deployment import PLACES
from sisimpur.shared.model.errors import Refused
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.system.paths import remove_folder
from tests.killing import killed_at, points, snippet
from tests.repositories import bare, commit, shell

PROGRAM = """
    import sys
    from pathlib import Path
    from sisimpur.agents.devops.drivers.release_files import ReleaseFiles
    from sisimpur.shared.repo.mirror import Mirror
    from sisimpur.shared.repo.git import Remote

    files = ReleaseFiles(Mirror(Path(sys.argv[1]), Remote(sys.argv[2])), Path(sys.argv[3]))
"""


class Scene:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.first = bare(root / "forge.git", {"app.py": "one", "bin/run": "#!/bin/sh\n"})
        self.mirror = Mirror(root / "mirror.git", Remote(str(root / "forge.git")))
        self.mirror.create()
        self.mirror.fetch("main")
        self.folder = root / "releases"
        self.files = ReleaseFiles(self.mirror, self.folder)

    def more(self, files: dict[str, str | bytes]) -> str:
        """One more commit, fetched."""
        sha = commit(self.root / "forge.git-source", files)
        shell(f"git push -q '{self.root}/forge.git' main", self.root / "forge.git-source")
        self.mirror.fetch("main")
        return sha

    def program(self, line: str) -> list[str]:
        code = "\n".join((PROGRAM, f"    {line}"))
        return snippet(code, str(self.mirror.path), self.mirror.remote.url, str(self.folder))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def found(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_commits_files_are_laid_out(scene: Scene) -> None:
    folder = scene.files.of(scene.first)
    assert folder == scene.folder / scene.first
    assert found(folder) == {"app.py": "one", "bin/run": "#!/bin/sh\n"}
    assert scene.files.known == (scene.first,)


def test_they_are_laid_out_once_so_that_what_was_built_there_stays(scene: Scene) -> None:
    (scene.files.of(scene.first) / "built").write_text("for long")
    assert (scene.files.of(scene.first) / "built").exists()


def test_what_is_no_commit_is_never_a_folder(scene: Scene) -> None:
    for name in ("main", "../elsewhere", "", scene.first[:12]):
        with pytest.raises(Refused):
            scene.files.of(name)


def test_files_that_cannot_be_laid_out_are_the_commits_fault_and_leave_nothing(scene: Scene) -> None:
    bad = scene.more({".gitattributes": "*.bin filter=lfs\n", "a.bin": "x"})
    with pytest.raises(ReleaseFailed, match=rf"the files of {bad[:12]} cannot be laid out: .gitattributes: .* Git LFS"):
        scene.files.of(bad)
    assert os.listdir(scene.folder) == []


def test_a_link_out_of_the_tree_is_not_laid_out(scene: Scene) -> None:
    source = scene.root / "forge.git-source"
    (source / "secret").symlink_to("/etc/passwd")
    with pytest.raises(ReleaseFailed, match="leads out of the tree"):
        scene.files.of(scene.more({"app.py": "two"}))


def test_no_room_is_no_commits_fault(scene: Scene) -> None:
    scene.folder.write_text("a file where the folder should be")
    with pytest.raises(EngineAway, match=r"releases cannot be written \(File exists\)"):
        scene.files.of(scene.first)


def test_only_what_is_kept_is_left(scene: Scene) -> None:
    second, third = scene.more({"app.py": "two"}), scene.more({"app.py": "three"})
    for sha in (scene.first, second, third):
        scene.files.of(sha)
    (scene.folder / "notes").write_text("somebody's own")
    assert scene.files.clean({second, "f" * 40}) == 2
    assert sorted(os.listdir(scene.folder)) == sorted([second, "notes"])
    assert scene.files.clean({second}) == 0


def test_what_was_built_there_is_known_as_long_as_the_folder_is_there(scene: Scene) -> None:
    files, here = scene.files, (scene.first, PLACES[0])
    files.of(scene.first)
    assert files.built(*here) == ""
    files.set_built(*here, "so")
    assert files.built(*here) == ReleaseFiles(scene.mirror, scene.folder).built(*here) == "so"
    assert files.built(scene.first, PLACES[1]) == ""
    assert files.known == (scene.first,)
    remove_folder(scene.folder / scene.first)
    assert files.built(*here) == ""
    files.of(scene.first)
    assert files.built(*here) == ""
    files.set_built(*here, "so")
    files.set_built(*here, "")
    assert files.built(*here) == ""
    files.set_built(*here, "so")
    files.clean(())
    assert os.listdir(scene.folder) == []


def test_that_it_was_built_cannot_be_noted_is_no_harm(scene: Scene) -> None:
    scene.files.of(scene.first)
    (scene.folder / f"{scene.first}.built-staging").mkdir()
    scene.files.set_built(scene.first, "staging", "so")


def test_there_is_nothing_to_clean_before_anything_was_deployed(scene: Scene) -> None:
    assert (scene.files.clean(()), scene.files.known) == (0, ())


def test_wherever_it_dies_while_laying_out_the_next_try_has_all_files(scene: Scene) -> None:
    program = scene.program(f"files.of({scene.first!r})")
    passed = points(program)
    assert passed == ["deploy.files-begun", "deploy.files-written", "deploy.files"]
    for number in range(1, len(passed) + 1):
        scene.files.clean(())
        killed_at(number, program)
        is_there = (scene.folder / scene.first).exists()
        assert is_there is (passed[number - 1] == "deploy.files")
        assert len(found(scene.files.of(scene.first))) == 2
        assert os.listdir(scene.folder) == [scene.first]


def test_wherever_it_dies_while_cleaning_nothing_half_is_taken_for_whole(scene: Scene) -> None:
    program = scene.program("files.clean(())")
    scene.files.of(scene.first)
    passed = points(program)
    for number in range(1, len(passed) + 1):
        scene.files.of(scene.first)
        killed_at(number, program)
        assert scene.first not in scene.files.known or len(found(scene.files.of(scene.first))) == 2
        scene.files.clean(())
        assert os.listdir(scene.folder) == []
