"""What is saved before a deploy: proved to be readable, never half, and the newest are kept."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.devops.drivers.backup import Backups
from sisimpur.shared.config.settings_deploy import DeploySettings
from sisimpur.shared.model.errors import Misconfigured, Stopping, Stumble
from sisimpur.shared.system.clock import ManualClock
from tests.killing import killed_at, points, snippet

pytestmark = pytest.mark.disk

COMMIT, OTHER = "a" * 40, "b" * 40
NOON = datetime(2026, 11, 20, 12, 30, 15, tzinfo=UTC)
NAME = "20261120T123015Z-aaaaaaaaaaaa"
SQLITE = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).backup(sqlite3.connect(sys.argv[2]))"


class Scene:
    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / "backups"
        self.clock = ManualClock(NOON)
        self.database = root / "site.db"

    def backups(self, *backup: str, verify: Sequence[str] = (), stop: bool = False, **more: Any) -> Backups:
        keys = {"backup": backup, "verify": tuple(verify), "start": ("true",), "running": ("true",), **more}
        settings = DeploySettings.model_validate({"driver": "command", "staging": keys, "keep": 1})
        return Backups(self.folder, settings, self.clock, {"PATH": os.environ["PATH"]}, lambda: stop)

    def shell(self, script: str, **more: Any) -> Backups:
        """`$0` is where to write."""
        return self.backups("/bin/sh", "-c", script, "{backup}", **more)

    def sqlite(self, **more: Any) -> Backups:
        return self.backups(sys.executable, "-c", SQLITE, str(self.database), "{backup}", **more)

    def left(self) -> list[str]:
        folder = self.folder / "staging"
        return sorted(os.listdir(folder)) if folder.is_dir() else []


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def fill(database: Path, rows: int = 3) -> None:
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("create table if not exists t (a integer, b text)")
        db.executemany("insert into t values (?, ?)", [(number, "x" * 500) for number in range(rows)])


# --- saving --------------------------------------------------------------------------------------------------


def test_what_the_command_writes_is_kept_under_date_and_commit(scene: Scene) -> None:
    made = scene.shell("echo data > $0").save("staging", COMMIT)
    assert made == scene.folder / "staging" / NAME
    assert made.read_text() == "data\n"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert scene.left() == [NAME]


def test_the_command_knows_place_and_commit_and_has_the_places_environment(scene: Scene) -> None:
    (scene.root / "env").write_text("PGPASSWORD=geheim-geheim\n")
    one = scene.backups(
        "sh",
        "-c",
        'echo "$1 $2 $PGUSER $PGPASSWORD $(env | grep -c SISIMPUR)" > {backup}',
        "-",
        "{place}",
        "{commit}",
        env={"PGUSER": "site"},
        env_file=str(scene.root / "env"),
    )
    assert one.save("staging", COMMIT).read_text() == f"staging {COMMIT} site geheim-geheim 0\n"


def test_two_in_one_second_stand_side_by_side(scene: Scene) -> None:
    one = scene.shell("echo data > $0")
    assert [one.save("staging", COMMIT).name for _ in range(3)] == [NAME, f"{NAME}.1", f"{NAME}.2"]


def test_whether_there_is_a_command_is_known(scene: Scene) -> None:
    assert scene.shell("echo data > $0").is_wanted("staging")
    assert not scene.backups().is_wanted("staging")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        pytest.param(
            "echo data > $0; echo no disk >&2; exit 3", r"`staging.backup` ended with 3.*\nno disk", id="code"
        ),
        pytest.param("true", "ended well, but there is no file at {backup}", id="nothing"),
        pytest.param(": > $0", "ended well, but the file at {backup} is empty", id="empty"),
        pytest.param("mkdir $0", "no plain file", id="a folder"),
        pytest.param("ln -s /etc/passwd $0", "no plain file", id="a link"),
        pytest.param("mkfifo $0", "no plain file", id="a pipe"),
        pytest.param("echo data > live; ln live $0", "another name of a file elsewhere", id="the data itself"),
        pytest.param("echo data > $0; kill -9 $$", "was ended by signal 9", id="killed"),
    ],
)
def test_what_is_no_backup_is_none(scene: Scene, script: str, why: str) -> None:
    with pytest.raises(Stumble, match=why.replace("{", r"\{")):
        scene.shell(script).save("staging", COMMIT)
    assert [name for name in scene.left() if not name.startswith(".")] == []


def test_a_command_that_takes_too_long_is_ended(scene: Scene) -> None:
    keys = {"backup": ("sh", "-c", "sleep 60; echo {backup}"), "start": ("true",), "running": ("true",)}
    settings = DeploySettings.model_validate({"driver": "command", "staging": keys, "minutes": 0.005})
    with pytest.raises(Stumble, match=r"was not done after 0\.00\d+ minutes; it said nothing"):
        Backups(scene.folder, settings, scene.clock).save("staging", COMMIT)


def test_what_the_command_complains_holds_no_key(scene: Scene) -> None:
    (scene.root / "env").write_text("PGPASSWORD=geheim-geheim\n")
    one = scene.shell('echo "wrong: $PGPASSWORD"; exit 1', env_file=str(scene.root / "env"))
    with pytest.raises(Stumble) as failed:
        one.save("staging", COMMIT)
    assert "wrong: [removed: PGPASSWORD]" in str(failed.value)


def test_nothing_is_saved_while_the_program_is_being_stopped(scene: Scene) -> None:
    with pytest.raises(Stopping):
        scene.shell("echo data > $0", stop=True).save("staging", COMMIT)


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        pytest.param(("cp", "{folder}/db", "{backup}"), r"\{folder\} is not known there", id="an unknown name"),
    ],
)
def test_a_command_that_cannot_work_is_told_at_once(scene: Scene, argv: tuple[str, ...], why: str) -> None:
    with pytest.raises(Misconfigured, match=why):
        scene.backups(*argv)


def test_a_program_that_is_not_there_is_the_owners_to_mend(scene: Scene) -> None:
    with pytest.raises(Misconfigured, match=r"staging\.backup: it cannot be started: .*'no-such-program'"):
        scene.backups("no-such-program", "{backup}").save("staging", COMMIT)


# --- proving -------------------------------------------------------------------------------------------------


def test_verify_has_to_agree(scene: Scene) -> None:
    good, bad = ("grep", "-q", "data", "{backup}"), ("grep", "-q", "other", "{backup}")
    assert scene.shell("echo data > $0", verify=good).save("staging", COMMIT).exists()
    with pytest.raises(Stumble, match=r"`staging\.verify` ended with 1"):
        scene.shell("echo data > $0", verify=bad).save("staging", OTHER)
    with pytest.raises(Stumble, match=r"`staging\.verify` ended well, but there is no file"):
        scene.shell("echo data > $0", verify=("rm", "{backup}")).save("staging", OTHER)
    assert [name for name in scene.left() if not name.startswith(".")] == [NAME]


def test_a_sqlite_database_is_saved(scene: Scene) -> None:
    fill(scene.database)
    made = scene.sqlite().save("staging", COMMIT)
    with closing(sqlite3.connect(made)) as db:
        assert db.execute("select count(*) from t").fetchone() == (3,)


def test_one_that_is_written_to_meanwhile_is_saved_as_well(scene: Scene) -> None:
    with closing(sqlite3.connect(scene.database)) as db:
        db.execute("pragma journal_mode=wal")
        fill(scene.database)
        assert scene.sqlite().save("staging", COMMIT).exists()
    assert scene.left() == [NAME]


def test_what_lies_in_a_file_beside_it_is_not_saved(scene: Scene) -> None:
    """Only {backup} itself is kept, and so that alone is judged."""
    with closing(sqlite3.connect(scene.database)) as db:
        db.execute("pragma journal_mode=wal")
        db.execute("create table t (a integer)")
        with pytest.raises(Stumble, match="holds no table"):
            scene.shell(f"cp {scene.database} $0; cp {scene.database}-wal $0-wal").save("staging", COMMIT)


def test_a_copy_that_was_cut_off_is_found_out(scene: Scene) -> None:
    fill(scene.database, rows=200)
    cut = f"head -c {scene.database.stat().st_size // 2} {scene.database} > $0"
    with pytest.raises(Stumble, match=r"the SQLite file (is damaged|cannot be read)"):
        scene.shell(cut).save("staging", COMMIT)


def test_a_copy_with_a_torn_page_is_found_out(scene: Scene) -> None:
    fill(scene.database, rows=200)
    torn = f"cp {scene.database} $0; printf garbage | dd of=$0 bs=1 seek=8192 conv=notrunc 2>/dev/null"
    with pytest.raises(Stumble, match="the SQLite file is damaged"):
        scene.shell(torn).save("staging", COMMIT)


def test_a_database_without_a_table_is_somebody_elses(scene: Scene) -> None:
    with pytest.raises(Stumble, match="holds no table; is its path the right one"):
        scene.sqlite().save("staging", COMMIT)


def test_an_order_of_letters_of_the_targets_own_is_not_held_against_it(scene: Scene) -> None:
    with closing(sqlite3.connect(scene.database)) as db, db:
        db.create_collation("mine", lambda a, b: (a > b) - (a < b))
        db.execute("create table t (a text collate mine)")
        db.execute("create index i on t (a)")
        db.execute("insert into t values ('x')")
    assert scene.sqlite().save("staging", COMMIT).exists()


# --- keeping -------------------------------------------------------------------------------------------------


def test_the_newest_of_each_place_are_kept_and_those_that_are_needed(scene: Scene) -> None:
    one = scene.shell("echo data > $0")
    made = []
    for _ in range(6):
        made.append(one.save("staging", COMMIT))
        scene.clock.set(scene.clock.now() + timedelta(days=1))
    (scene.folder / "staging" / "before-the-move.dump").write_text("the owner's own")
    assert one.clean([str(made[0])]) == 2
    assert [path.exists() for path in made] == [True, False, False, True, True, True]
    assert one.clean([str(made[0])]) == 0
    assert "before-the-move.dump" in scene.left()


def test_there_is_nothing_to_clean_before_anything_was_saved(scene: Scene) -> None:
    assert scene.backups().clean() == 0


def test_wherever_it_dies_nothing_half_is_left_for_whole(scene: Scene) -> None:
    code = """
        import sys
        from datetime import UTC, datetime
        from pathlib import Path
        from sisimpur.shared.system.clock import ManualClock
        from sisimpur.agents.devops.drivers.backup import Backups
        from sisimpur.shared.config.settings_deploy import DeploySettings

        keys = {"backup": ("/bin/sh", "-c", "echo data > $0", "{backup}"), "verify": ("true",), "port": 1}
        settings = DeploySettings.model_validate({"driver": "dockerfile", "staging": keys})
        Backups(Path(sys.argv[1]), settings, ManualClock(datetime(2026, 11, 20, tzinfo=UTC))).save("staging", "a" * 40)
    """
    program = snippet(code, str(scene.folder))
    passed = points(program)
    assert passed[0] == "deploy.backup-begun"
    for number, name in enumerate(passed, 1):
        before = [one for one in scene.left() if one != ".making"]
        killed_at(number, program)
        after = [one for one in scene.left() if one != ".making"]
        assert len(after) - len(before) == (name == "deploy.backup")
        assert all((scene.folder / "staging" / one).read_text() == "data\n" for one in after)
    scene.shell("echo data > $0").save("staging", COMMIT)
    assert ".making" not in scene.left()
