"""config/board.yaml, `sign_in`: who is listed, and what `doctor` says about it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from sisimpur.cli.record.accounts import signing, ways_in
from sisimpur.shared.config.settings import load_board, read_secrets
from sisimpur.shared.config.settings_sign_in import SignInSettings
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.store.database import Database
from sisimpur.shared.system.paths import Home
from sisimpur.web.api.access.passkey_book import PasskeyFacts, Passkeys
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import SignedIn

HTTPS = "url: https://team.example.net\nproxy: [127.0.0.1]\n"
RAHIM, SUB = "{name: Rahim, role: owner, github: 12345}", "109876543210987654321"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "config").mkdir()
    return Home(tmp_path)


def written(home: Home, sign_in: str, before: str = HTTPS) -> Home:
    (home.config / "board.yaml").write_text(f"{before}sign_in: {sign_in}\n")
    return home


def people(*lines: str) -> str:
    return "{google: one.apps.example, github: Ov23, people: [" + ", ".join(lines) + "]}"


@pytest.mark.parametrize(
    ("line", "account"),
    [
        (RAHIM, "github:12345"),
        ("{name: Rahim, role: owner, github: '12345'}", "github:12345"),
        (f"{{name: রহিম উদ্দিন, role: viewer, google: {SUB}}}", f"google:{SUB}"),
        ("{name: Rahim, role: viewer, google: 1098}", "google:1098"),
        ("{name: Rahim, role: viewer, google: Rahim@Example.COM}", "google:rahim@example.com"),
    ],
)
def test_who_is_listed_is_known_by_exactly_that_account(home: Home, line: str, account: str) -> None:
    listed = load_board(written(home, people(line))).sign_in.listed
    assert listed(account)
    way, _, which = account.partition(":")
    other = {"github": "google", "google": "github"}[way]
    for one in (f"{other}:{which}", f"{way}:", way, "", f"{way}:{which} ", f"{way}:{which}0", which, f":{which}"):
        assert listed(one) is None, one


def test_an_empty_list_and_a_way_that_is_off_let_nobody_in(home: Home) -> None:
    for text in (people(), f"{{google: one.apps, people: [{RAHIM}]}}", f"{{people: [{RAHIM}]}}"):
        assert load_board(written(home, text)).sign_in.listed("github:12345") is None
    assert SignInSettings().ways == () and SignInSettings().listed("") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (people("{name: Rahim, role: owner, github: rahim-dev}"), "`id` at https://api.github.com/users/rahim-dev"),
        (people("{name: Rahim, role: owner, github: 'a/../b'}"), "`id` at https://api.github.com/users/LOGIN"),
        (people("{name: Rahim, role: owner, github: 0}"), "write the account's number"),
        (people("{name: Rahim, role: owner, github: -1}"), "write the account's number"),
        (people("{name: Rahim, role: owner, github: 1.5}"), "github: write"),
        (people("{name: Rahim, role: owner, github: true}"), "github: write"),
        (people("{name: Rahim, role: owner, google: rahim}"), "write the account's number (the board names it"),
        (people("{name: Rahim, role: owner, google: '*@example.com'}"), "write the account's number (the board"),
        (people("{name: Rahim, role: owner, google: ' a@b.example'}"), "write the account's number (the board"),
        (people("{name: Rahim, role: owner, google: a@b.example\u0430}"), "write the account's number (the board"),
        (people("{name: Rahim, role: owner}"), "write google or github: by which account"),
        (people("{name: Rahim, github: 1}"), "role: is missing"),
        (people("{name: Rahim, role: read, github: 1}"), "role: write one of: owner, reviewer, viewer"),
        (people("{name: Rahim, role: owner, github: 1, mail: a@b.example}"), "unknown key"),
        (people('{name: "a\\nb", role: owner, github: 1}'), "name: "),
        (people('{name: "", role: owner, github: 1}'), "name: "),
        (people(RAHIM, "{name: Karim, role: viewer, github: 12345}"), "github:12345 stands there twice"),
        ("{github: 'a b'}", "github: "),
        ("{git: Ov23}", "unknown key"),
    ],
)
def test_a_list_that_could_let_in_another_is_refused(home: Home, text: str, reason: str) -> None:
    with pytest.raises(Misconfigured, match=r"config/board\.yaml:3: sign_in") as said:
        load_board(written(home, text))
    assert reason in str(said.value)


@pytest.mark.parametrize("before", ["", "url: https://team.example.net\n", "url: http://127.0.0.1:8765\n"])
def test_without_tls_of_its_own_no_account_signs_in(home: Home, before: str) -> None:
    with pytest.raises(Misconfigured, match="an account signs in over TLS alone"):
        load_board(written(home, people(RAHIM), before))
    assert load_board(written(home, f"{{people: [{RAHIM}]}}", before)).sign_in.ways == ()


def test_the_doctor_says_who_gets_in_and_what_is_missing(home: Home) -> None:
    def said(**values: str) -> str:
        return ways_in(home, read_secrets(home, values))

    assert said() == "by a link of board --link"
    written(home, people(RAHIM))
    with pytest.raises(Misconfigured, match=r"config/\.env lacks GOOGLE_CLIENT_SECRET and GITHUB_OAUTH_SECRET"):
        said()
    both = {"GOOGLE_CLIENT_SECRET": "one", "GITHUB_OAUTH_SECRET": "two"}
    assert said(**both) == (
        "by a link of board --link; with google: nobody: `people` in config/board.yaml lists none, its callback is"
        " https://team.example.net/signed-in/google; with github: 1 person, its callback is"
        " https://team.example.net/signed-in/github"
    )
    written(home, people(RAHIM), "")
    with pytest.raises(Misconfigured, match="over TLS alone"):
        said(**both)


def test_the_doctor_says_whether_orders_are_signed_and_who_could(home: Home) -> None:
    def added(role: Role, account: str, site: str) -> None:
        who, facts = SignedIn("1f2e3d4c", role, account=account), PasskeyFacts(f"{role}{account}{site}", b"", 0)
        db = Database(home.database)
        Passkeys(db).add(who, site, "my phone", facts, datetime(2026, 11, 20, tzinfo=UTC))
        db.close()

    on = f"{HTTPS}step_up: guarded\n"
    assert signing(home).startswith("off: ")
    home.state.mkdir()
    written(home, people(RAHIM), on)
    added(Role.OWNER, "", "old.example.net")
    added(Role.REVIEWER, "", "team.example.net")
    added(Role.OWNER, "github:99", "team.example.net")
    with pytest.raises(
        Misconfigured, match=r"no owner has a passkey; .* at https://team\.example\.net or http://local"
    ):
        signing(home)
    added(Role.VIEWER, "github:12345", "team.example.net")
    assert signing(home).startswith("guarded: owners sign with 1 passkey, at https://team.example.net"), (
        "an owner today"
    )
    added(Role.OWNER, "", "localhost")
    assert "2 passkeys" in signing(home)
    (home.config / "board.yaml").write_text("url: https://10.0.0.7\ntls: {cert: a.pem, key: a.key}\nstep_up: guarded\n")
    with pytest.raises(Misconfigured, match="write one into `url`"):
        signing(home)


def test_the_secrets_of_both_are_hidden_wherever_text_leaves(home: Home) -> None:
    (home.config / ".env").write_text("GOOGLE_CLIENT_SECRET=GOCSPX-of-google\nGITHUB_OAUTH_SECRET=of-github\n")
    hidden = read_secrets(home, {}).to_hide
    assert hidden == {"GOOGLE_CLIENT_SECRET": "GOCSPX-of-google", "GITHUB_OAUTH_SECRET": "of-github"}
