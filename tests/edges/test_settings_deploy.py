"""What the owner reads about a mistake below `deploy` and `health`: which key, and what to write there."""

from __future__ import annotations

import pytest

from sisimpur.shared.config.settings import TargetFile
from sisimpur.shared.config.settings_deploy import DeploySettings
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.system.strict_yaml import parse

PLACE = {
    "command": "start: [go], running: [see], url: 'http://127.0.0.1:1'",
    "compose": "port: 8001",
    "dockerfile": "port: 8001",
}


def target(place: str = "", driver: str = "dockerfile", deploy: str = "", health: str = "pages: []") -> TargetFile:
    """`place`: more of what staging says. Misconfigured, as the owner reads it."""
    both = ", ".join(part for part in (PLACE[driver], place) if part)
    more = f"  {deploy}\n" if deploy else ""
    text = f"repo: x\ndeploy:\n  driver: {driver}\n{more}  staging: {{{both}}}\nhealth: {{{health}}}\n"
    return parse(text, "f.yaml").as_type(TargetFile)


def refusal(**said: str) -> str:
    with pytest.raises(Misconfigured) as refused:
        target(**said)
    return str(refused.value)


# --- a typo is named where it stands -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("ports: 1", "staging.ports: unknown key: this version does not know it; did you mean port?"),
        ("env: {DEBUG: 1}", "staging.env.DEBUG: write a text; put it in quotes"),
        ("env: {DEBUG: false}", "staging.env.DEBUG: write a text; put it in quotes"),
        ("env: {MY-VAR: x}", "staging.env.MY-VAR: a name that cannot stand here; write letters and digits"),
        ("env: [DEBUG=1]", "staging.env: write names with their values below it"),
        ("env_file: site.env", "staging.env_file: write the whole path, from / on"),
        ("volumes: {data: data}", "staging.volumes.data: write the whole path, from / on"),
        ("backup: cp a b", "staging.backup: write a list in [ ], each a text of at most 4000 characters"),
        ("url: '127.0.0.1:8001'", "staging.url: write a text like http://127.0.0.1:8001 of at most 500 characters"),
    ],
)
def test_a_mistake_at_a_place_is_named_with_its_key(place: str, told: str) -> None:
    assert refusal(place=place) == f"f.yaml:4: deploy.{told}"


def test_a_port_in_quotes_is_no_number() -> None:
    with pytest.raises(Misconfigured) as refused:
        parse("repo: x\ndeploy: {staging: {port: '127'}}\n", "f.yaml").as_type(TargetFile)
    assert str(refused.value) == "f.yaml:2: deploy.staging.port: write a whole number from 0 to 65535"


@pytest.mark.parametrize(
    ("pages", "told"),
    [
        (
            "[{path: /, contain: x}]",
            "pages.0.contain: unknown key: this version does not know it; did you mean contains?",
        ),
        ("[{status: 200}]", "pages.0.path: is missing; add it"),
        ("[{path: healthz}]", "pages.0.path: write a text like /healthz/ of at most 500 characters"),
        ("[{path: /, contains: '(x'}]", "pages.0.contains: not a regular expression"),
        ("['/']", "pages.0: write keys with their values below it: path"),
    ],
)
def test_a_mistake_at_a_page_is_named_with_its_key(pages: str, told: str) -> None:
    assert f"f.yaml:5: health.{told}" in refusal(health=f"pages: {pages}")


# --- what would do nothing is refused ------------------------------------------------------------------------

ARGV = ("build", "start", "running", "logs")


@pytest.mark.parametrize(
    ("driver", "place", "told"),
    [
        *(
            (driver, f"{key}: [x]", f"`staging.{key}` does nothing")
            for driver in ("compose", "dockerfile")
            for key in ARGV
        ),
        (
            "compose",
            "volumes: {a: /a}",
            "`staging.volumes` does nothing with `driver: compose`: name volumes in the com",
        ),
        ("command", "volumes: {a: /a}", "`staging.volumes` does nothing with `driver: command`: your commands say"),
        ("dockerfile", "backup: [cp, a, b]", "`staging.backup` has to hold {backup}, the path to write to"),
        ("dockerfile", "verify: [test, x]", "`staging.verify` proves what `staging.backup` has saved"),
    ],
)
def test_what_a_place_says_in_vain_is_refused(driver: str, place: str, told: str) -> None:
    assert refusal(driver=driver, place=place).startswith(f"f.yaml:2: deploy: {told}")


@pytest.mark.parametrize(
    ("driver", "said", "by"),
    [
        ("compose", "dockerfile: other/Dockerfile", "dockerfile"),
        ("dockerfile", "compose_file: other.yml", "compose"),
        ("dockerfile", "service: api", "compose"),
        ("command", "container_port: 80", "compose or dockerfile"),
        ("command", "memory: 64", "box, compose or dockerfile"),
        ("command", "cpus: 2", "compose or dockerfile"),
    ],
)
def test_what_another_driver_would_heed_is_refused(driver: str, said: str, by: str) -> None:
    key = said.partition(":")[0]
    told = f"f.yaml:2: deploy: `{key}` does nothing with `driver: {driver}`: take it out (it is for {by})"
    assert refusal(driver=driver, deploy=said) == told


@pytest.mark.parametrize(
    ("driver", "said"),
    [
        ("dockerfile", {"place": "volumes: {a: /a}, backup: [cp, a, '{backup}'], verify: [test, x]"}),
        ("dockerfile", {"deploy": "dockerfile: other/Dockerfile"}),
        ("compose", {"deploy": "service: api"}),
        ("command", {"place": "build: [x], logs: [x]", "health": "pages: [{path: /}]"}),
    ],
)
def test_what_its_own_driver_heeds_is_taken(driver: str, said: dict[str, str]) -> None:
    assert target(driver=driver, **said).deploy.driver == driver


def test_places_without_a_driver_are_not_taken_in_silence() -> None:
    text = "repo: x\ndeploy: {staging: {port: 1}}\n"
    with pytest.raises(Misconfigured, match="deploy: name the `driver`: compose, dockerfile or command; or none"):
        parse(text, "f.yaml").as_type(TargetFile)
    assert parse(text.replace("{staging", "{driver: none, staging"), "f.yaml").as_type(TargetFile)


def test_pages_need_an_address() -> None:
    text = "repo: x\ndeploy: {driver: command, staging: {start: [a], running: [b]}}\nhealth: {pages: [{path: /}]}\n"
    with pytest.raises(Misconfigured, match=r"deploy\.staging: write a `url` \(or a port\): its pages are asked there"):
        parse(text, "f.yaml").as_type(TargetFile)
    for told in (text.replace("[b]", "[b], port: 8001"), text.replace("[{path: /}]", "[]")):
        assert parse(told, "f.yaml").as_type(TargetFile)


def by_commands(place: str, word: str = "") -> DeploySettings:
    text = f"repo: x\ndeploy:\n  driver: command\n  {word}\n  production: {{{place}}}\nhealth: {{pages: []}}\n"
    return parse(text, "f.yaml").as_type(TargetFile).deploy


@pytest.mark.parametrize(
    ("place", "told"),
    [("start: [go]", "production needs a port"), ("port: 8002", "production needs the command `start`")],
)
def test_a_box_needs_a_start_and_a_port(place: str, told: str) -> None:
    with pytest.raises(Misconfigured, match=told):
        by_commands(place)


def test_only_what_asks_nothing_of_the_machine_runs_in_a_box() -> None:
    assert by_commands("start: [go], port: 8002").is_boxed
    assert not by_commands("start: [go], port: 8002").refused
    for more in ("running: [see]", "running: [see], logs: [tail]"):
        assert not by_commands(f"start: [go], port: 8002, {more}").is_boxed
        assert "then `start` runs in a box" in by_commands(f"start: [go], port: 8002, {more}").refused


@pytest.mark.parametrize("word", ["unsandboxed: yes", "run_as: site"])
def test_a_word_of_the_owners_leaves_the_box(word: str) -> None:
    settings = by_commands("start: [go], running: [see], port: 8002", word)
    assert not settings.is_boxed
    assert not settings.refused
    assert "in no box" in settings.as_whom
