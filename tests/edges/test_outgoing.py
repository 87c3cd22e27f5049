"""The one way out: what is found in a text, what is honestly missed, and what is left alone."""

from __future__ import annotations

import base64
import codecs
import gzip
import hashlib
import json
import random
import string
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.system.outgoing import KEPT, Outgoing, SecretHit, squeezed

KEY = 'sk-demo-7Qz/9+aB3cD5eF"8gH1iJ2kL4mN6oP0rS_tUvWxYz-AbCdEfGhIjKlMn'
SHORT = "hunter2-and"
HOOK = "https://discord.com/api/webhooks/123456789012345678/" + "aB3cD5eF7gH9iJ1kL3mN5oP7qR9sT1uV3wX5yZ7"
OUT = Outgoing({"THE_KEY": KEY, "A_WORD": SHORT, "THE_HOOK": HOOK, "TOO_SHORT": "abc"})
ENVIRONMENT = f"PATH=/usr/bin\0HOME=/root\0THE_KEY={KEY}\0LANG=C\0"
LETTERS = string.ascii_letters + string.digits


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


# --- known values --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"the key is {KEY}.", id="raw"),
        pytest.param(encoded(KEY), id="base64"),
        pytest.param(encoded(ENVIRONMENT), id="base64 of an environment"),
        pytest.param(
            base64.urlsafe_b64encode(ENVIRONMENT.encode()[2:]).decode(), id="base64 for URLs, other alignment"
        ),
        pytest.param(KEY.encode().hex(), id="hex"),
        pytest.param(KEY[::-1], id="reversed"),
        pytest.param(quote(KEY, safe=""), id="URL-quoted"),
        pytest.param(json.dumps({"k": KEY}), id="JSON-quoted"),
        pytest.param("\n".join(KEY[n : n + 7] for n in range(0, len(KEY), 7)), id="split over lines"),
        pytest.param("\u200b".join(KEY), id="zero-width inside"),
        pytest.param(f'a = "{KEY[:30]}" + \\\n    "{KEY[30:]}"', id="put together from two parts"),
        pytest.param(f"first half: {KEY[:32]}", id="first half"),
        pytest.param(f"it ends with {KEY[-20:]}", id="last 20 characters"),
        pytest.param("\n".join(KEY), id="one character per line"),
        pytest.param(str(list(KEY)), id="a list of characters"),
        pytest.param("".join(f"+{KEY[n : n + 20]}\n" for n in range(0, len(KEY), 20)), id="added lines of a patch"),
    ],
)
def test_disguises_that_are_seen_through(text: str) -> None:
    assert {hit.name for hit in OUT.find(text)} == {"THE_KEY"}
    cleaned = OUT.clean(text)
    assert "[removed: THE_KEY]" in cleaned and not OUT.find(cleaned)
    assert not any(KEY[n : n + 19] in cleaned for n in range(len(KEY) - 18))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(codecs.encode(KEY, "rot13"), id="rot13"),
        pytest.param(encoded(gzip.compress(KEY.encode(), mtime=0).hex()), id="compressed"),
        pytest.param(" ".join(str(ord(c)) for c in KEY), id="character codes"),
        pytest.param(
            " and then ".join(KEY[n : n + 10] for n in range(0, len(KEY), 10)), id="pieces of ten, with words"
        ),
        pytest.param(f"it ends with {KEY[-15:]}", id="last 15 characters"),
    ],
)
def test_disguises_that_are_missed_since_this_is_a_seat_belt(text: str) -> None:
    assert OUT.find(text) == ()


@given(st.text(LETTERS + "-_", min_size=24, max_size=80), st.integers(0, 60), st.integers(19, 80), st.text(max_size=30))
def test_any_19_characters_of_a_long_value_are_found_wherever_they_stand(
    secret: str, begin: int, length: int, before: str
) -> None:
    part = secret[begin : begin + length]
    if len(part) >= 19:
        assert Outgoing({"S": secret}).find(f"{before} {part} after")


@given(st.text(st.sampled_from("ab ,\\'\"`+\t\x1f\x00é\u200b\ud800\u3000\x85\xa0")))
def test_a_text_issqueezed_as_its_pieces_are(text: str) -> None:
    assert squeezed(text) == "".join(KEPT.findall(text))


@given(st.binary(min_size=20, max_size=60), st.binary(max_size=7), st.binary(max_size=7))
def test_base64_is_seen_through_at_every_alignment(noise: bytes, before: bytes, after: bytes) -> None:
    secret = noise.hex()[:40]
    text = base64.b64encode(before + secret.encode() + after).decode()
    assert Outgoing({"S": secret}).find(text)


@pytest.mark.parametrize("before", ["", "x", "xy"])
def test_a_short_value_is_found_in_base64_too(before: str) -> None:
    assert OUT.find(encoded(f"{before}{SHORT} and more")) == (SecretHit("A_WORD", 1),)


@given(st.lists(st.sampled_from([KEY, SHORT, HOOK, "a", " ", "\n", "x = 1\n", '"']), max_size=12).map("".join))
def test_a_cleaned_text_is_clean(text: str) -> None:
    assert OUT.find(OUT.clean(text)) == ()


def test_a_hit_tells_the_line_and_never_the_value() -> None:
    hits = OUT.find(f"one\ntwo {KEY}\nthree\n{SHORT}\n")
    assert hits == (SecretHit("THE_KEY", 2), SecretHit("A_WORD", 4))


def test_the_text_around_a_hit_stays() -> None:
    assert OUT.clean(f"a {KEY} b\n{SHORT}!") == "a [removed: THE_KEY] b\n[removed: A_WORD]!"


def test_a_text_without_a_hit_stays_as_it_is() -> None:
    text = "a\u200bb  \t\r\n\0 ü \ud800 "
    assert OUT.clean(text) == text


def test_a_value_too_short_to_be_told_from_text_is_left_alone() -> None:
    assert OUT.find("abc abc") == ()


def test_only_the_secret_part_of_an_address_is_one() -> None:
    assert OUT.find("see https://discord.com/api/webhooks/ for webhooks") == ()
    assert OUT.find(HOOK.rpartition("/")[2]) == (SecretHit("THE_HOOK", 1),)


def test_no_secrets_no_hits() -> None:
    assert Outgoing({}).find("x" * 1_000) == () and Outgoing({"EMPTY": ""}).find("x") == ()


# --- shapes --------------------------------------------------------------------------------------------------


def letters(count: int, alphabet: str = LETTERS) -> str:
    return "".join(random.Random(count).choices(alphabet, k=count))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(f"sk-ant-api03-{letters(93)}AA", "model key", id="Anthropic"),
        pytest.param(f"sk-proj-{letters(60)}", "model key", id="OpenAI, project"),
        pytest.param(f"sk-{letters(48)}", "model key", id="OpenAI"),
        pytest.param(f"sk-or-v1-{letters(64, 'abcdef0123456789')}", "model key", id="OpenRouter"),
        pytest.param(f"ghp_{letters(36)}", "forge token", id="GitHub, classic"),
        pytest.param(f"ghs_{letters(36)}", "forge token", id="GitHub, app"),
        pytest.param(f"github_pat_{letters(22)}_{letters(59)}", "fine-grained forge token", id="GitHub, fine-grained"),
        pytest.param(f"glpat-{letters(20)}", "fine-grained forge token", id="GitLab"),
        pytest.param(f"https://discord.com/api/webhooks/{'1' * 18}/{letters(68)}", "Discord webhook", id="Discord"),
        pytest.param(f"https://hooks.slack.com/services/T{letters(8)}/B{letters(8)}/{letters(24)}", "Slack webhook",
                     id="Slack webhook"),
        pytest.param(f"xoxb-{letters(30)}", "Slack token", id="Slack token"),
        pytest.param(f"tvly-dev-{letters(32)}", "search key", id="Tavily"),
        pytest.param(f"AKIA{letters(16, string.ascii_uppercase + string.digits)}", "cloud key", id="AWS"),
        pytest.param(f"AIza{letters(35)}", "cloud key", id="Google"),
        pytest.param(f"sk_live_{letters(24)}", "payment key", id="Stripe"),
        pytest.param(f"npm_{letters(36)}", "registry token", id="npm"),
        pytest.param(f"pypi-AgEIcHlwaS5vcmc{letters(60)}", "registry token", id="PyPI"),
        pytest.param("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "private key", id="RSA"),
        pytest.param("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n", "private key", id="SSH key without an end"),
        pytest.param(f"eyJ{letters(20)}.eyJ{letters(40)}.{letters(40)}", "login token", id="JWT"),
        pytest.param("postgres://app:S3cr3t-w0rd@db.shop.dev/x", "password in a URL", id="password in a URL"),
        pytest.param("postgres://app:S3cr3t-w0rd@test/x", "password in a URL", id="a machine that is called test"),
        pytest.param("https://app:S3cr3t-w0rd@example.com.evil.dev/x", "password in a URL", id="below another name"),
    ],
)  # fmt: skip
def test_shapes_of_other_peoples_keys(text: str, name: str) -> None:
    out = Outgoing({})
    assert out.find(f"x\nkey = '{text}'\n") == (SecretHit(name, 2),)
    assert f"[removed: {name}]" in out.clean(f"key = '{text}'")
    assert "b3Bl" not in out.clean(text) and "MIIE" not in out.clean(text) and "S3cr3t" not in out.clean(text)


def digest(name: str, text: str = "x") -> str:
    return hashlib.new(name, text.encode()).hexdigest()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"commit {digest('sha1')}", id="commit id"),
        pytest.param(f"--hash=sha256:{digest('sha256')}", id="pinned hash"),
        pytest.param(f"integrity sha512-{encoded(digest('sha512'))}", id="integrity of a lock file"),
        pytest.param("123e4567-e89b-12d3-a456-426614174000", id="UUID"),
        pytest.param("data:image/png;base64," + encoded("x" * 200), id="a picture"),
        pytest.param("class='task-list-item-checkbox risk-assessment sk-cube-grid sk-folding-cube'", id="CSS"),
        pytest.param("risk-" + "a" * 60 + " desk-proj-" + "b" * 60, id="words that end in sk-"),
        pytest.param("ANTHROPIC_API_KEY=sk-ant-...  GITHUB_TOKEN=ghp_xxx  tvly-YOUR_KEY", id="placeholders"),
        pytest.param("postgres://user:password@localhost/db redis://:${PASSWORD}@h http://x:$PW@h", id="manuals"),
        pytest.param("postgresql://postgres:postgres@db:5432/app amqp://guest:guest@mq", id="defaults of services"),
        pytest.param("https://bob:s3cret@shop.example.com:8443/a http://a:b1c2d3@other.test", id="hosts of nobody"),
        pytest.param("https://host:8080/@scope/pkg git@github.com:o/n.git a@b.c", id="addresses"),
        pytest.param("-----BEGIN PUBLIC KEY----- -----BEGIN CERTIFICATE-----", id="what is public"),
        pytest.param("AKIAness and SomeAKIA0123456789ABCDEF1", id="letters inside of words"),
        pytest.param("npm_config_registry npm_package_version hf_hub_download", id="names of variables"),
        pytest.param("eyJhbGciOiJIUzI1NiJ9", id="the head of a login token"),
    ],
)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert OUT.find(text) == ()


def test_our_own_files_and_lock_files_hold_no_hits() -> None:
    root = Path(__file__).parents[2]
    files = [*root.glob("requirements*.txt"), *root.glob("shared/**/*.py"), *root.glob("docs/*.md")]
    assert len(files) > 20
    assert {path.name: OUT.find(path.read_text("utf-8")) for path in files} == {path.name: () for path in files}


# --- speed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a quiet line of text, like so many\n", id="text"),
        pytest.param(digest("sha512") + "\n", id="hashes"),
        pytest.param("a", id="one letter"),
        pytest.param("eyJ-", id="beginnings of login tokens"),
        pytest.param("://a:", id="beginnings of URLs"),
        pytest.param("-----BEGIN PRIVATE KEY-----\n", id="beginnings of keys"),
        pytest.param(f"{KEY}\n", id="nothing but secrets"),
        pytest.param(f"x {SHORT} ", id="nothing but short secrets"),
    ],
)
def test_a_megabyte_takes_a_few_hundred_milliseconds(text: str) -> None:
    def spent() -> float:
        began = time.process_time()
        OUT.clean(text * (1_000_000 // len(text)))
        return time.process_time() - began

    assert any(spent() < 1.0 for _ in range(5)), "the least counts: whatever else uses the machine only adds"
