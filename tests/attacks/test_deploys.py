"""Promise 2, keys: what was merged reads no key of ours when the owner's commands build and start it.

Before command_user.py a build of a target with `driver: command` ran as the daemon's user, whatever the owner had
written, and read `config/.env`.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sisimpur.agents.devops.drivers.kept_box import KeptBox
from tests.docker_scene import free_port, within
from tests.journey.deploy_scene import DeployHome

KEY = "ANTHROPIC_API_KEY=sk-ant-canary-canary-canary"
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run commands as somebody else")
STRANGER = "nobody"


class Attacked(DeployHome):
    """The commit's own script takes the key when it is built."""

    def merged(self, how: str) -> str:
        """`how`: the owner's words below `deploy:`. Answers what `deploy` says."""
        (self.stage.home.config / ".env").write_text(f"{KEY}\n")
        (self.stage.home.config / ".env").chmod(0o600)
        target = self.stage.home.targets / "site.yaml"
        plain = target.read_text().partition("deploy:")[0]
        target.write_text(
            f"{plain}deploy:\n  driver: command\n{how}  production:\n"
            f'    build: [sh, -c, "sh {{folder}}/app.py"]\n'
            f'    start: [sh, -c, "echo {{commit}} > {self.loot}/runs"]\n'
            f'    running: [sh, -c, "cat {self.loot}/runs 2>/dev/null || true"]\n'
            f"health: {{pages: [], watch_minutes: 0, grace: 0, every: 0.1}}\n"
        )
        self.stage.owner_commits(
            {"app.py": f"cat {self.stage.home.config}/.env > {self.loot}/key\nid -un > {self.loot}/who\n"}
        )
        commit = self.commit()
        return str(self.type("deploy", "--commit", commit))

    @property
    def loot(self) -> Path:
        return self.root / "loot"

    def read(self, name: str) -> str:
        path = self.loot / name
        return path.read_text() if path.exists() else ""


@pytest.fixture
def attacked(tmp_path: Path) -> Attacked:
    for folder in (tmp_path, *tmp_path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            folder.chmod(folder.stat().st_mode | 0o011)
    home = Attacked.made(tmp_path, ())
    assert isinstance(home, Attacked)
    home.loot.mkdir(mode=0o777)
    home.loot.chmod(0o777)
    home.stage.home.root.chmod(0o700)
    return home


def test_without_a_word_of_the_owners_nothing_that_was_merged_is_run(
    attacked: Attacked, capsys: pytest.CaptureFixture[str]
) -> None:
    attacked.merged("")
    told = "".join(capsys.readouterr())
    assert attacked.read("key") == ""
    assert attacked.read("who") == ""
    assert "run_as: USER" in told
    assert "unsandboxed: yes" in told
    for view in ("doctor", "status"):
        attacked.type(view)
        assert "unsandboxed: yes" in capsys.readouterr().out


@AS_ROOT
def test_another_user_builds_and_cannot_read_the_key(attacked: Attacked) -> None:
    attacked.merged(f"  run_as: {STRANGER}\n")
    assert attacked.read("who").strip() == STRANGER
    assert attacked.read("key") == ""
    assert attacked.read("runs")


@AS_ROOT
def test_a_user_who_can_read_the_home_runs_nothing(attacked: Attacked, capsys: pytest.CaptureFixture[str]) -> None:
    attacked.stage.home.root.chmod(0o755)
    attacked.merged(f"  run_as: {STRANGER}\n")
    assert attacked.read("who") == ""
    assert "`deploy.run_as`: nobody can read" in "".join(capsys.readouterr())


@AS_ROOT
def test_root_is_nobody_else(attacked: Attacked, capsys: pytest.CaptureFixture[str]) -> None:
    attacked.merged("  run_as: root\n")
    assert attacked.read("who") == ""
    assert "name another user" in "".join(capsys.readouterr())


def test_what_runs_as_the_daemon_by_the_owners_word_is_marked(
    attacked: Attacked, capsys: pytest.CaptureFixture[str]
) -> None:
    attacked.merged("  unsandboxed: yes\n")
    assert attacked.read("who")
    for view in ("doctor", "status"):
        attacked.type(view)
        assert "unsandboxed" in capsys.readouterr().out


def test_versions_lie_outside_of_the_home(attacked: Attacked) -> None:
    attacked.merged("  unsandboxed: yes\n")
    home = attacked.stage.home
    assert not home.releases.exists() or not any(path.is_dir() for path in home.releases.iterdir())
    assert any(path.is_dir() for path in home.root.with_name(f"{home.root.name}.releases").iterdir())


def test_in_a_box_it_builds_and_runs_and_reads_no_key(attacked: Attacked, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither word, but a port: the commit's own script looks for the key at each step, and for the daemon's files."""
    port = free_port()
    target = attacked.stage.home.targets / "site.yaml"
    key = attacked.stage.home.config / ".env"
    key.write_text(f"{KEY}\n")
    key.chmod(0o600)
    target.write_text(
        f"{target.read_text().partition('deploy:')[0]}deploy:\n  driver: command\n  production:\n    port: {port}\n"
        f'    build: [sh, -c, "cat {key} > got; true"]\n'
        f'    start: [sh, -c, "cat {key} >> /data/got; cat got >> /data/got; echo so far; exec sleep 600"]\n'
        f"health: {{pages: [], watch_minutes: 0, grace: 0, every: 0.1}}\n"
    )
    box = KeptBox(attacked.stage.home.releases / "production.box")
    try:
        assert attacked.type("deploy", "--commit", attacked.commit()) == 0
        assert box.found()
        got = attacked.stage.home.root.with_name(f"{attacked.stage.home.root.name}.releases") / "data-production/got"
        assert within(10, lambda: "so far" in box.log(9))
        assert [line for line in box.log(9) if "No such file" in line]
        assert got.read_text() == ""
        for view in ("doctor", "status"):
            capsys.readouterr()
            attacked.type(view)
            assert "in a box, of which one port is let through" in capsys.readouterr().out
    finally:
        box.end(hurry=True)
