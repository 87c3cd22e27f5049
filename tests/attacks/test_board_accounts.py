"""P12: signing in with an account at Google or GitHub: who is not listed, or began elsewhere, does not get in."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.shared.config.settings import load_board
from sisimpur.web.api.access.oauth_begun import BEGUN, PROVIDERS
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.place import COOKIE, place_of
from sisimpur.web.api.base.sign_in import BoardKeys
from sisimpur.web.api.board_app import make_app
from sisimpur.web.api.server import board as board_command
from tests.journey.accounts_scene import (
    BEHIND,
    NAME,
    NOT_LET_IN,
    OTHER_NAME,
    PROXY,
    RAHIM,
    THERE,
    WAYS,
    Phone,
    board,
    listing,
)
from tests.journey.described import DescribedClient
from tests.journey.gated import FILES, VISION
from tests.journey.local_accounts import CLIENTS, SECRETS, LocalAccounts
from tests.journey.stage import Stage
from tests.journey.test_board import HERE, PORT, link, signed_in

# --- the way in ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", WAYS)
def test_who_is_listed_gets_in_with_his_role_and_his_name(
    home: Stage, local: LocalAccounts, phone: Phone, provider: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert phone.ask("GET", "/api/v1/sign-in").json() == {"ways": list(WAYS)}
    assert phone.signs_in(local, provider) == "done"
    assert set(phone.cookies) == {COOKIE}, "the ticket is gone"
    assert phone.status == 200
    mine = phone.reads("session")
    assert (mine["role"], mine["name"], mine["by"]) == ("reviewer", "Rahim", provider)
    own = {"origin": THERE, "idempotency-key": f"press-{provider}", "if-match": '"x"'}
    assert phone.ask("POST", "/api/v1/money/cap", **own).status_code == 403, "that is the owner's"
    board_command(Arguments("board", home.home.root, sessions=True))
    assert f"{mine['id']}  reviewer Rahim, by {provider}, since" in capsys.readouterr().out
    written = home.everything_written()
    assert not any(one.encode() in written for one in (*local.grants, *local.tokens, phone.cookies[COOKIE]))


def test_what_they_order_stands_in_the_audit_by_name(home: Stage, local: LocalAccounts, phone: Phone) -> None:
    phone.signs_in(local, "github")
    asked = phone.http.post(
        "/api/v1/tasks/20261120-01/rulings",
        json={"ruling": "cancel", "commit": "", "why": ""},
        headers={"host": NAME, "x-forwarded-proto": "https", "origin": THERE, "idempotency-key": "press-0001"}
        | {"cookie": f"{COOKIE}={phone.cookies[COOKIE]}"},
    )
    assert asked.status_code in (404, 409, 412, 428), asked.text
    with home.records() as records:
        signed = BoardKeys(records.db, BoardHome(home.home.root).listed).lets_in(
            phone.cookies[COOKIE], records.clock.now()
        )
        rows = [row for row in records.audit.rows(after=0) if row.kind == "sign-in"]
    assert signed and signed.via == "board: reviewer Rahim (github)"
    assert '"account":"github:12345"' in repr(rows[-1]).replace(": ", ":").replace("\\", "")


def test_an_owner_who_has_a_name_has_it_in_the_audit_too(home: Stage, local: LocalAccounts, phone: Phone) -> None:
    listing(home, RAHIM.replace("reviewer", "owner"))
    phone.signs_in(local, "github")
    with home.records() as records:
        keys, now = BoardKeys(records.db, BoardHome(home.home.root).listed), records.clock.now()
        named, by_link = keys.lets_in(phone.cookies[COOKIE], now), keys.lets_in(keys.sign_in(keys.link(now), now), now)
    assert named and named.via == "board: owner Rahim (github)"
    assert by_link and by_link.via == "board", "whoever has the terminal has no name"


def test_of_the_cookies_only_the_ticket_comes_along_from_another_site(local: LocalAccounts, phone: Phone) -> None:
    said = phone.ask("POST", "/api/v1/sign-in/github", origin=THERE)
    name, _, rest = said.headers["set-cookie"].partition("=")
    ticket, _, rules = rest.partition("; ")
    assert (name, rules) == (BEGUN, "Max-Age=600; Path=/; Secure; HttpOnly; SameSite=Lax")
    asked = dict(parse_qsl(urlsplit(said.json()["address"]).query))
    assert ticket and not any(ticket in value or value in ticket for value in asked.values())
    parts = urlsplit(local.sends_back(said.json()["address"]))
    done = phone.comes(f"{parts.path}?{parts.query}")
    first, second = done.headers.get_list("set-cookie")
    assert first == f"{BEGUN}=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Lax"
    assert second.endswith("; Max-Age=2592000; Path=/; Secure; HttpOnly; SameSite=Strict")
    assert done.headers["cache-control"] == "no-store" and done.headers["referrer-policy"] == "no-referrer"


def test_the_two_real_ones_are_asked_by_https_at_addresses_of_their_own(home: Stage, phone: Phone) -> None:
    place = place_of(load_board(home.home), PORT)
    app = make_app(BoardHome(home.home.root, home.clock), place)
    phone.http = DescribedClient(app, base_url=HERE, client=(PROXY, 4711))
    google, github = (urlsplit(phone.leaves(one)) for one in WAYS)
    assert (google.hostname, github.hostname) == ("accounts.google.com", "github.com")
    assert parse_qs(google.query)["redirect_uri"] == [f"{THERE}/signed-in/google"]
    assert parse_qs(google.query)["scope"] == ["openid email"] and "scope" not in parse_qs(github.query)
    addresses = [value for one in PROVIDERS for value in vars(one).values() if "/" in str(value)]
    assert len(addresses) == 7 and all("http://" not in str(one) for one in addresses)


# --- who is not listed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", WAYS)
@pytest.mark.parametrize(
    "people",
    [
        (),
        ("{name: Rahim, role: owner, github: 1234, google: 1234}",),
        ("{name: Rahim, role: owner, github: 123456, google: 123456}",),
        ("{name: rahim-dev, role: owner, github: 99, google: 99}",),
    ],
    ids=["nobody", "a part of it", "more than it", "a name"],
)
def test_who_is_not_listed_stays_outside_and_hears_his_number(
    home: Stage, local: LocalAccounts, phone: Phone, provider: str, people: tuple[str, ...]
) -> None:
    listing(home, *people)
    assert phone.signs_in(local, provider) == f"unlisted:{provider}:12345"
    assert phone.cookies == {} and phone.status in NOT_LET_IN
    with home.records() as records:
        assert all(one.by not in WAYS or one.name for one in BoardKeys(records.db).sessions(records.clock.now()))


def test_an_account_of_the_other_provider_with_the_same_number_is_another(
    home: Stage, local: LocalAccounts, phone: Phone
) -> None:
    listing(home, "{name: Rahim, role: owner, github: 12345}")
    assert phone.signs_in(local, "google") == "unlisted:google:12345"
    listing(home, "{name: Rahim, role: owner, google: 12345}")
    assert phone.signs_in(local, "github") == "unlisted:github:12345"


@pytest.mark.parametrize(
    ("listed", "claims", "gets_in"),
    [
        ("rahim@gmail.com", {"email": "Rahim@Gmail.com"}, True),
        ("rahim@team.example", {"email": "rahim@team.example", "hd": "team.example"}, True),
        ("rahim@team.example", {"email": "rahim@team.example"}, False),
        ("rahim@team.example", {"email": "rahim@team.example", "hd": "evil.example"}, False),
        ("rahim@gmail.com", {"email": "rahim@gmail.com", "email_verified": False}, False),
        ("rahim@gmail.com", {"email": "rahim@gmail.com", "email_verified": "true"}, False),
        ("rahim@gmail.com", {"email": "rahim@gmail.com", "email_verified": None}, False),
        ("rahim@gmail.com", {"email": "karim@gmail.com"}, False),
        ("rahim@gmail.com", {"email": ["rahim@gmail.com"]}, False),
        ("kamal@gmail.com", {"email": "\u212aamal@gmail.com"}, False),
        ("rahim@gmail.com", {"email": "rahim@gmail.com.evil.example", "hd": "gmail.com"}, False),
    ],
    ids=str,
)
def test_an_address_counts_only_where_google_itself_vouches_for_it(
    home: Stage, local: LocalAccounts, phone: Phone, listed: str, claims: dict[str, Any], gets_in: bool
) -> None:
    listing(home, f"{{name: Rahim, role: owner, google: {listed}}}")
    local.claims = lambda said: {**said, **claims}
    assert (phone.signs_in(local, "google") == "done") == gets_in
    assert (phone.status == 200) == gets_in


def test_whoever_is_taken_from_the_list_is_out_at_the_next_request_and_a_role_counts_from_it(
    home: Stage, local: LocalAccounts, phone: Phone
) -> None:
    phone.signs_in(local, "github")
    assert phone.reads("session")["role"] == "reviewer"
    listing(home, "{name: Rahim U., role: viewer, github: 12345}")
    assert (phone.reads("session")["role"], phone.reads("session")["name"]) == ("viewer", "Rahim U.")
    own = {"origin": THERE, "idempotency-key": "press-0001"}
    assert phone.ask("POST", "/api/v1/plan/rulings", **own).status_code == 403
    owner = signed_in(home)
    assert any(one["by"] == "github" for one in owner.read("sessions"))
    listing(home, "{name: Rahim, role: owner, github: 99}")
    assert phone.status in NOT_LET_IN
    assert not any(one["by"] == "github" for one in owner.read("sessions"))
    listing(home, RAHIM)
    (home.home.config / "board.yaml").write_text(f"{BEHIND}sign_in: {{people: [{RAHIM}]}}\n")
    assert phone.status in NOT_LET_IN, "the way is off"
    (home.home.config / "board.yaml").write_text("sign_in: [")
    assert phone.status == 503 and owner.get("/api/v1/session").status_code == 200, "a link's session is no account's"


# --- who began elsewhere -------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", WAYS)
def test_nobody_is_signed_in_as_another_by_a_link_back(local: LocalAccounts, phone: Phone, provider: str) -> None:
    """Login CSRF: the attacker's own code and state, opened by a browser that began nothing, or something else."""
    attacker = Phone(phone.http)
    theirs = local.sends_back(attacker.leaves(provider))
    assert phone.comes_back(theirs) == "again", "this browser began nothing"
    mine = phone.leaves(provider)
    before = dict(phone.cookies)
    assert phone.comes_back(theirs) == "again" and phone.cookies == before, "and what it began goes on"
    code = parse_qs(urlsplit(theirs).query)["code"][0]
    state = parse_qs(urlsplit(mine).query)["state"][0]
    swapped = f"{THERE}/signed-in/{provider}?{urlencode({'code': code, 'state': state})}"
    assert phone.comes_back(swapped) == "refused", "a code of another browser: PKCE"
    assert phone.status in NOT_LET_IN


def test_another_page_does_not_begin_it(phone: Phone) -> None:
    for headers in (
        {},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"https://{OTHER_NAME}"},
        {"origin": THERE, "sec-fetch-site": "cross-site"},
    ):
        said = phone.ask("POST", "/api/v1/sign-in/github", **headers)
        assert said.status_code == (403 if "origin" in headers else 401) and "set-cookie" not in said.headers
    assert phone.ask("GET", "/api/v1/sign-in/github").status_code in (401, 405, 429)
    assert phone.cookies == {}


def test_a_state_is_nothing_without_its_ticket_and_a_ticket_nothing_without_its_state(
    local: LocalAccounts, phone: Phone
) -> None:
    right = local.sends_back(phone.leaves("github"))
    asked = parse_qs(urlsplit(right).query)
    ticket = phone.cookies[BEGUN]
    until = ticket.split(".")[1]
    for state in ("", "x", asked["state"][0][:-1], ticket, "\u0985", "x" * 5_000):
        address = f"{THERE}/signed-in/github?{urlencode({'code': asked['code'][0], 'state': state})}"
        assert phone_says(phone, address) == "again", state
    assert phone_says(phone, f"{THERE}/signed-in/github?code={asked['code'][0]}") == "again"
    assert phone_says(phone, f"{right}&state={asked['state'][0]}") == "again", "twice is nothing"
    for changed in (
        ticket.replace(until, str(int(until) + 600)),
        ticket.replace("github", "google"),
        "a.b.c",
        "..",
        "",
    ):
        phone.cookies[BEGUN] = changed
        assert phone_says(phone, right) == "again", changed
    phone.cookies = {BEGUN: ticket}
    before = list(local.asked)
    twice = phone.comes(right.removeprefix(THERE), cookie=f"{BEGUN}={ticket}; {BEGUN}={ticket}")
    assert "set-cookie" not in twice.headers, "two are none"
    assert local.asked == before, "nobody was asked"
    assert phone.comes_back(right) == "done"


def phone_says(phone: Phone, address: str) -> str:
    """The same once many have failed."""
    parts = urlsplit(address)
    said = phone.comes(f"{parts.path}?{parts.query}")
    return "again" if said.status_code == 429 else said.headers["location"].partition("=")[2]


def test_a_state_guessed_often_is_answered_with_wait_and_asks_nobody(local: LocalAccounts, phone: Phone) -> None:
    phone.leaves("google")
    codes = [phone.comes(f"/signed-in/google?code=x&state=guess-{number}").status_code for number in range(12)]
    assert (codes[0], codes[-1]) == (303, 429) and local.asked == []
    assert phone.signs_in(local, "google") == "done", "who began it is let in all the same"


@pytest.mark.parametrize("provider", WAYS)
def test_what_came_back_once_opens_nothing_again(
    home: Stage, local: LocalAccounts, phone: Phone, provider: str
) -> None:
    address = phone.leaves(provider)
    ticket = phone.cookies[BEGUN]
    back = local.sends_back(address)
    assert phone.comes_back(back) == "done"
    thief = Phone(phone.http, cookies={BEGUN: ticket})
    assert thief.comes_back(back) == "again" and thief.status in NOT_LET_IN
    thief.http = board(home, local)  # of another process, whose key is another
    assert thief.comes_back(back) == "again"


def test_ten_minutes_later_it_is_too_late(home: Stage, local: LocalAccounts, phone: Phone) -> None:
    back = local.sends_back(phone.leaves("github"))
    home.clock.sleep(timedelta(minutes=10, seconds=1).total_seconds())
    assert phone.comes_back(back) == "again" and local.asked == []


def test_what_one_provider_says_is_not_taken_for_the_others_word(local: LocalAccounts, phone: Phone) -> None:
    """Mix-up: each has its own way back, and a ticket is for one of them."""
    google = local.sends_back(phone.leaves("google"))
    assert phone.comes_back(google.replace("/signed-in/google", "/signed-in/github")) == "again"
    assert local.asked == []
    github = urlsplit(phone.leaves("github"))
    code = parse_qs(urlsplit(google).query)["code"][0]
    state = parse_qs(github.query)["state"][0]
    assert phone.comes_back(f"/signed-in/github?{urlencode({'code': code, 'state': state})}") == "refused"
    assert phone.cookies == {}


def test_a_session_that_was_there_before_is_not_the_one_after(home: Stage, local: LocalAccounts, phone: Phone) -> None:
    """Fixation."""
    phone.cookies[COOKIE] = "chosen-by-another"
    assert phone.signs_in(local, "github") == "done"
    assert phone.cookies[COOKIE] != "chosen-by-another" and phone.status == 200
    other = Phone(phone.http, cookies={COOKIE: "chosen-by-another"})
    assert other.status in NOT_LET_IN


# --- where it comes from, and where it leads -----------------------------------------------------------------


def test_the_way_back_is_the_written_name_whatever_a_request_is_called(local: LocalAccounts, phone: Phone) -> None:
    for host in ("evil.example", f"{NAME}:8443", f"{NAME}.evil.example"):
        elsewhere = Phone(phone.http, name=host)
        assert elsewhere.ask("POST", "/api/v1/sign-in/github", origin=THERE).status_code == 421
        assert elsewhere.comes("/signed-in/github?code=a&state=b").status_code == 421
    said = phone.ask("POST", "/api/v1/sign-in/github", origin=THERE, **{"x-forwarded-host": "evil.example"})
    assert parse_qs(urlsplit(said.json()["address"]).query)["redirect_uri"] == [f"{THERE}/signed-in/github"]
    other = Phone(phone.http, name=OTHER_NAME)
    assert other.ask("GET", "/api/v1/sign-in").json() == {"ways": []}, "from there nobody would come back"
    assert other.ask("POST", "/api/v1/sign-in/github", origin=f"https://{OTHER_NAME}").status_code == 409


def test_it_leads_nowhere_else(local: LocalAccounts, phone: Phone) -> None:
    for more in ("next", "redirect", "return_to", "redirect_uri", "error_uri", "iss"):
        address = local.sends_back(phone.leaves("github"))
        assert phone.comes_back(f"{address}&{more}=https://evil.example") == "done"
        phone.leaves("github")
        refused = f"/signed-in/github?error=access_denied&{more}=//evil.example&state=none"
        assert phone.comes(refused).headers.get("location", "/#sign-in=again") == "/#sign-in=again"


def test_who_says_no_there_is_told_so_and_what_is_said_there_is_not_repeated(phone: Phone) -> None:
    state = parse_qs(urlsplit(phone.leaves("google")).query)["state"][0]
    said = {"error": "access_denied", "error_description": "<script>", "state": state}
    assert phone.comes_back(f"/signed-in/google?{urlencode(said)}") == "declined"


def test_in_the_open_there_is_no_account_and_no_cookie(home: Stage, local: LocalAccounts, phone: Phone) -> None:
    back = urlsplit(local.sends_back(phone.leaves("github")))
    ticket = f"{BEGUN}={phone.cookies[BEGUN]}"
    here = DescribedClient(phone.http.app, base_url=HERE, raise_server_exceptions=False, client=("127.0.0.1", 4711))
    plain = {"host": f"127.0.0.1:{PORT}", "cookie": ticket, "origin": HERE}
    assert here.get("/api/v1/sign-in", headers=plain).json() == {"ways": []}
    left = here.post("/api/v1/sign-in/github", headers=plain, json={})
    came = here.get(f"{back.path}?{back.query}", headers=plain, follow_redirects=False)
    assert (left.status_code, came.headers["location"]) == (409, "/#sign-in=again")
    assert not any("set-cookie" in one.headers for one in (left, came)) and local.asked == []
    proxied = {**plain, "host": NAME}  # as if from the proxy, without its word of TLS
    assert here.get(f"{back.path}?{back.query}", headers=proxied).status_code == 421


@pytest.mark.parametrize("missing", ["secret", "client", "both", "settings"])
def test_what_is_not_configured_is_not_offered_and_does_not_begin(
    tmp_path: Path, local: LocalAccounts, missing: str
) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    clients = "" if missing in ("client", "both") else f"github: {CLIENTS['github']}, "
    (stage.home.config / "board.yaml").write_text(f"{BEHIND}sign_in: {{{clients}people: [{RAHIM}]}}\n")
    phone = Phone(board(stage, local))
    keys = stage.home.config / ".env"
    if missing in ("client", "settings"):
        keys.write_text(keys.read_text() + "GITHUB_OAUTH_SECRET=there\n")
    if missing == "settings":
        assert phone.ask("GET", "/api/v1/sign-in").json() == {"ways": ["github"]}
        (stage.home.config / "policy.yaml").write_text("nonsense")
    assert phone.ask("GET", "/api/v1/sign-in").json() == {"ways": []}
    said = phone.ask("POST", "/api/v1/sign-in/github", origin=THERE)
    assert (said.status_code, phone.cookies) == (409, {}) and "nonsense" not in said.text
    assert phone.ask("POST", "/api/v1/sign-in/gitlab", origin=THERE).status_code in NOT_LET_IN
    with pytest.raises(AssertionError, match="nobody signs in with github here"):
        phone.leaves("github")


def test_secrets_and_codes_are_told_to_nobody(home: Stage, local: LocalAccounts, phone: Phone) -> None:
    phone.signs_in(local, "google")
    owner = signed_in(home)
    told = " ".join(owner.get(f"/api/v1/{name}").text for name in ("settings", "sessions", "audit", "session"))
    assert not any(secret in told for secret in SECRETS.values())
    assert {"name": "GOOGLE_CLIENT_SECRET", "is_set": True} in owner.read("settings")["secrets"]
    assert link(home)
