"""The door to git: what it may read, whom it may speak to, and who gets the token."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sisimpur.shared.model.errors import CommandFailed, Misconfigured, Unavailable
from sisimpur.shared.repo.git import ASKPASS, Remote, git, try_git
from sisimpur.shared.repo.mirror import Mirror, default_branch
from tests.git_over_http import serving
from tests.repositories import bare, repository, shell, write

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ456789"


# --- one call ------------------------------------------------------------------------------------------------


def test_git_answers_with_what_it_prints(tmp_path: Path) -> None:
    sha = bare(tmp_path / "r", {"a": "1"})
    assert git(tmp_path / "r", "rev-parse", "main") == f"{sha}\n".encode()


def test_a_bad_end_is_one_line_without_control_characters(tmp_path: Path) -> None:
    bare(tmp_path / "r", {"a": "1"})
    with pytest.raises(CommandFailed, match=r"^git cat-file: fatal: .*nowhere\?") as failed:
        git(tmp_path / "r", "cat-file", "-e", "nowhere\x1b[31m\nsecond line")
    assert "\n" not in str(failed.value) and "\x1b" not in str(failed.value)
    assert isinstance(failed.value, CommandFailed)


def test_a_bad_end_can_be_an_answer(tmp_path: Path) -> None:
    bare(tmp_path / "r", {"a": "1"})
    assert try_git(tmp_path / "r", "rev-parse", "--verify", "--quiet", "nowhere").code == 1


def test_a_long_answer_is_an_error_and_never_silently_short(tmp_path: Path) -> None:
    bare(tmp_path / "r", {"a": "x" * 5_000})
    assert len(git(tmp_path / "r", "cat-file", "blob", "main:a", limit=5_000)) == 5_000
    with pytest.raises(CommandFailed, match="longer than 4999 bytes"):
        git(tmp_path / "r", "cat-file", "blob", "main:a", limit=4_999)


DIES = "alias.once=!cd {place} && if test {test}; then touch r/died r/packed-refs.lock; kill -9 $PPID; fi; echo done"


def test_a_git_that_somebody_kills_is_begun_once_more_without_its_lock(tmp_path: Path) -> None:
    bare(tmp_path / "r", {"a": "1"})
    (tmp_path / "r/old.lock").touch()
    os.utime(tmp_path / "r/old.lock", (9, 9))
    dies = DIES.format(place=tmp_path, test="! -e r/died")
    assert git(tmp_path / "r", "-c", dies, "once") == b"done\n"
    assert [path.name for path in (tmp_path / "r").glob("*.lock")] == ["old.lock"]  # somebody else's


def test_a_git_that_is_killed_twice_is_named_with_the_signal(tmp_path: Path) -> None:
    bare(tmp_path / "r", {"a": "1"})
    with pytest.raises(CommandFailed, match=r"^git --no-pager was ended by SIGKILL, twice$"):
        git(tmp_path / "r", "--no-pager", "-c", DIES.format(place=tmp_path, test="1"), "once")


def test_a_call_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    bare(tmp_path / "r", {"a": "1"})
    os.mkfifo(tmp_path / "never")
    with pytest.raises(CommandFailed, match=r"timed out .* \(limit 0.3 s\)"):
        git(tmp_path / "r", "hash-object", str(tmp_path / "never"), timeout=0.3)


def test_git_gets_what_it_reads_as_data(tmp_path: Path) -> None:
    sha = bare(tmp_path / "r", {"a": "1"})
    assert git(tmp_path / "r", "cat-file", "--batch-check", data=b"main\n").startswith(sha.encode())


def test_no_configuration_but_ours_is_obeyed(tmp_path: Path) -> None:
    bare(tmp_path / "r", {"a": "1"})
    canary = tmp_path / "OWNED"
    hook = tmp_path / "r/hooks/reference-transaction"
    write(tmp_path, {"r/hooks/reference-transaction": f"#!/bin/sh\ntouch {canary}\n"})
    hook.chmod(0o755)
    shell(f"git config core.fsmonitor 'touch {canary}'; git config gc.auto 1", tmp_path / "r")
    git(tmp_path / "r", "update-ref", "refs/heads/x", "refs/heads/main")
    assert not canary.exists()
    shell("git update-ref refs/heads/y refs/heads/main", tmp_path / "r")
    assert canary.exists()  # the hook was a real one


# --- whom it may speak to ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "says"),
    [
        pytest.param("git@github.com:o/n.git", "write https://github.com/o/n.git", id="ssh, the short way"),
        pytest.param("ssh://git@github.com/o/n.git", "write https://github.com/o/n.git", id="ssh"),
        pytest.param("ssh://git@github.com:22/o/n.git", "write https://github.com/o/n.git", id="ssh with a port"),
        pytest.param("--upload-pack=touch x", "begins with -", id="an option"),
        pytest.param("-x", "begins with -", id="a short option"),
        pytest.param("ext::sh -c 'touch x'", "https:// URL", id="a helper program with blanks"),
        pytest.param("ext::sh%20-c%20x", "https:// URL", id="a helper program"),
        pytest.param("http://github.com/o/n", "https:// URL", id="without encryption"),
        pytest.param("file:///etc", "https:// URL", id="a path as a URL"),
        pytest.param("ftp://x/y", "https:// URL", id="another protocol"),
        pytest.param("relative/path", "https:// URL", id="a path that depends on where we are"),
        pytest.param("https://u:p@github.com/o/n", "config/.env", id="a password in the URL"),
        pytest.param("https://token@github.com/o/n", "config/.env", id="a token in the URL"),
        pytest.param("https://github.com/o/n?x=1", "HOST/OWNER/NAME", id="a query"),
        pytest.param("https://git hub.com/o", "HOST/OWNER/NAME", id="a blank in the host"),
        pytest.param("https://github.com/o/a b", "HOST/OWNER/NAME", id="a blank in the path"),
        pytest.param("https://github.com/o\n", "control character", id="two lines"),
        pytest.param("https://[::1/o", "HOST/OWNER/NAME", id="half an address"),
        pytest.param("https:///o/n", "HOST/OWNER/NAME", id="no host"),
        pytest.param("", "https:// URL", id="nothing"),
    ],
)
def test_addresses_that_are_refused_say_what_to_write(url: str, says: str) -> None:
    with pytest.raises(Misconfigured, match=r"`repo:` in config/targets") as refused:
        Remote(url)
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_a_local_path_may_hold_a_blank(tmp_path: Path) -> None:
    sha = bare(tmp_path / "my target.git", {"a": "1"})
    mirror = Mirror(tmp_path / "m m.git", Remote(str(tmp_path / "my target.git")))
    mirror.create()
    assert mirror.fetch("main") == sha


def test_a_token_is_not_shown_with_its_remote() -> None:
    assert TOKEN not in repr(Remote("https://github.com/o/n.git", TOKEN))


def test_without_a_remote_git_reaches_nobody(tmp_path: Path) -> None:
    repository(tmp_path / "r", {"a": "1"})
    with pytest.raises(CommandFailed, match="transport 'file' not allowed"):
        git(tmp_path / "r/.git", "fetch", str(tmp_path / "r"))


def test_a_remote_opens_its_own_protocol_only(tmp_path: Path) -> None:
    repository(tmp_path / "r", {"a": "1"})
    with pytest.raises(CommandFailed, match="transport 'file' not allowed"):
        git(tmp_path / "r/.git", "fetch", str(tmp_path / "r"), remote=Remote("https://github.com/o/n"))


# --- who gets the token --------------------------------------------------------------------------------------


def asked(prompt: str, origin: str) -> subprocess.CompletedProcess[bytes]:
    """The program that git asks, with the token in a descriptor."""
    token = os.memfd_create("token")
    try:
        os.write(token, TOKEN.encode())
        environment = {"PATH": "/usr/bin:/bin", "FORGE_ORIGIN": origin, "FORGE_TOKEN_FD": str(token)}
        return subprocess.run([ASKPASS, prompt], env=environment, pass_fds=[token], capture_output=True, timeout=10)
    finally:
        os.close(token)


@pytest.mark.parametrize("origin", ["https://github.com", "https://git.example.org:8443"])
def test_our_forge_gets_user_and_token(origin: str) -> None:
    assert asked(f"Username for '{origin}': ", origin).stdout == b"x-access-token\n"
    with_user = origin.replace("://", "://x-access-token@")
    assert asked(f"Password for '{with_user}': ", origin).stdout == TOKEN.encode()


@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param("Username for 'https://evil.example': ", id="another host"),
        pytest.param("Password for 'https://x-access-token@github.com.evil.example': ", id="a host that begins so"),
        pytest.param("Password for 'https://x-access-token@evil.example/github.com': ", id="a host in the path"),
        pytest.param("Password for 'https://x-access-token@github.com@evil.example': ", id="our host as a user"),
        pytest.param("Password for 'http://x-access-token@github.com': ", id="without encryption"),
        pytest.param("Password for 'https://x-access-token@github.com:8443': ", id="another port"),
        pytest.param("Password for 'https://other@github.com': ", id="another user"),
        pytest.param("Password for 'https://x-access-token@github.com'", id="a piece of it"),
        pytest.param("Password for 'https://x-access-token@github.com': \nx", id="more than it"),
        pytest.param("Password for 'https://x-access-token@*': ", id="a wildcard"),
        pytest.param("", id="nothing"),
    ],
)
def test_nobody_else_gets_anything(prompt: str) -> None:
    answer = asked(prompt, "https://github.com")
    assert answer.returncode == 1 and answer.stdout == b""


def test_fetch_and_push_by_token_leave_it_in_no_file(tmp_path: Path) -> None:
    sha = bare(tmp_path / "forge/n.git", {"a": "1"})
    shell("git config http.receivepack true", tmp_path / "forge/n.git")
    with serving(tmp_path / "forge", TOKEN) as origin:
        mirror = Mirror(tmp_path / "mirror.git", Remote(f"{origin}/n.git", TOKEN))
        mirror.create()
        assert default_branch(tmp_path, mirror.remote) == "main"
        assert mirror.fetch("main") == sha
        mirror.push(sha, "agent/x")
        assert mirror.remote_head("agent/x") == sha
    written = [path.read_bytes() for path in (tmp_path / "mirror.git").rglob("*") if path.is_file()]
    assert written and not any(TOKEN.encode() in data for data in written)


@pytest.mark.parametrize(
    ("token", "says"),
    [
        pytest.param("wrong", r"refused the token; .* config/.env as GITHUB_TOKEN", id="a wrong token"),
        pytest.param(None, r"asks for a token; .* config/.env as GITHUB_TOKEN", id="no token"),
    ],
)
def test_a_token_that_does_not_fit_is_the_owners_to_change(tmp_path: Path, token: str | None, says: str) -> None:
    bare(tmp_path / "forge/n.git", {"a": "1"})
    with serving(tmp_path / "forge", TOKEN) as origin:
        mirror = Mirror(tmp_path / "mirror.git", Remote(f"{origin}/n.git", token))
        mirror.create()
        with pytest.raises(Misconfigured, match=says):
            mirror.fetch("main")


def test_no_repository_there_is_the_owners_to_change(tmp_path: Path) -> None:
    (tmp_path / "forge").mkdir()
    with serving(tmp_path / "forge", TOKEN) as origin:
        mirror = Mirror(tmp_path / "mirror.git", Remote(f"{origin}/n.git", TOKEN))
        mirror.create()
        with pytest.raises(Misconfigured, match=r"there is no repository at .*/n.git; correct `repo:`"):
            mirror.fetch("main")


def test_a_forge_that_is_away_is_unavailable(tmp_path: Path) -> None:
    with serving(tmp_path, TOKEN) as origin:
        pass
    mirror = Mirror(tmp_path / "mirror.git", Remote(f"{origin}/n.git", TOKEN))
    mirror.create()
    with pytest.raises(Unavailable, match="does not answer"):
        mirror.fetch("main")
    with pytest.raises(Unavailable, match="does not answer"):
        mirror.remote_head("main")
