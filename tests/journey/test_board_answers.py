"""Answers of real homes are what openapi.json says of them: no word is missing there, and none is too much."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.orchestrator.memory.lesson import Lesson
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.research import Claim, Findings, Inquiry
from sisimpur.shared.model.text import sha256_of
from sisimpur.shared.notify.phone.push_book import PushBook
from sisimpur.shared.system import lock
from sisimpur.web.api.access.passkey_book import PasskeyFacts, Passkeys
from sisimpur.web.api.base.board_openapi import answer_names
from sisimpur.web.api.base.rights import Role
from sisimpur.web.api.base.sign_in import SignedIn
from tests.attacks.test_passkeys import LOCAL, Local, phone_of
from tests.attacks.test_passkeys import page as at_localhost
from tests.journey.deploy_scene import GOOD, PLACES, SICK, DeployHome
from tests.journey.described import CLOSED, TOLD, shape, wrong
from tests.journey.gated import FILES, ID, VISION
from tests.journey.stage import Stage
from tests.journey.test_board import Browser, link, run, signed_in
from tests.journey.test_board_api import put_settings
from tests.push_sink import SinkBrowser

STUCK = "---\ntitle: Say it\nfiles: [app.py]\ndepends_on: [none]\n---\n\nSay it in `app.py`.\n"
NAMES = {"tasks": ID, "research": "asked", "orchestrator": ID, "agent": "coder"}
# What these homes have nothing of: a home that has it takes its name out of here.
UNMET = {"AskedAnswer", "AskedInVisionAnswer", "Failure", "FileAnswer", "Finding", "Goal", "LostCallAnswer"}
UNMET |= {"NoMachineAnswer", "NoteGuardAnswer", "OutletStanding", "Problem", "Question", "Remark", "RunAnswer"}
UNMET |= {"ToolRun", "WaitAnswer", "WaitingDayAnswer", "WaitingTaskAnswer"}
UNMET |= {"LeaveAnswer", "PushTestAnswer"}  # compared where accounts and phones are tested: each client there does so
OPERATIONS = [(path, method) for path, methods in TOLD["paths"].items() for method in methods]
READS = [path for path, method in OPERATIONS if method == "get" and shape(method, path) is not None]


def answers(page: Browser) -> Iterator[tuple[str, Any]]:
    """Each address that can be read, and what is there."""
    for path in READS:
        part = path.removeprefix("/api/v1/").strip("/").partition("/")[0]
        answer = page.get(path.format(id=NAMES.get(part), role=NAMES.get(part)))
        if answer.status_code == 200:
            yield path, answer.json()
        else:  # there is no such task, or nothing is deployed here
            assert answer.status_code in (404, 409), f"{path}: {answer.text}"


def a_day(root: Path) -> Browser:
    """With a change that waits, what was learned and looked up, a passkey and a phone."""
    day = run(root)
    page = signed_in(day)
    asked = Inquiry(NAMES["research"], "Which way?")
    with day.records() as records:
        now, who = records.clock.now(), SignedIn(sha256_of(page.token), Role.OWNER)
        records.memory.learn(Lesson(0, "coder", "Sum first."), now)
        records.research.ask([asked], records.day())
        found = Findings("This one.", claims=(Claim("It holds.", "https://a.example", "it holds for all"),))
        records.research.answered(asked, records.day(), "which-way", found)
        Passkeys(records.db).add(who, "localhost", "my phone", PasskeyFacts("one", b"", 0), now)
        phone = SinkBrowser("https://fcm.googleapis.com/fcm/send/a")
        PushBook(records.db).keep(who.digest, phone.endpoint, phone.keys, "en", now)
    return page


def stuck(root: Path) -> Browser:
    """Of which nothing is done, but tasks wait for what never comes, and one no more."""
    stage = Stage(root, "http://127.0.0.1:1").set_up(VISION, FILES)
    (stage.home.tasks(State.FAILED) / "20261119-01.md").write_text(STUCK)
    for name in (ID, "20261119-02"):
        (stage.home.tasks(State.BACKLOG) / f"{name}.md").write_text(STUCK.replace("none", "20261119-01"))
    page = signed_in(stage)
    assert page.post(f"tasks/{ID}/unblock", {"why": "it stands alone"}).status_code == 201
    return page


def deploying(root: Path) -> Browser:
    home = DeployHome.made(root, PLACES)
    first = home.commit("one")
    home.deployed(first, *GOOD)
    home.deployed(second := home.commit("two"), *SICK, back_to=first)
    for commit in (first, second):
        home.deployed(commit, *GOOD, place="staging")
    page = signed_in(home.stage)
    with lock.hold(home.stage.home.lock):
        for name, body in (("rollback", {"place": "staging"}), ("pause", {"paused": True})):
            answer = page.post(f"deploys/{name}", body)
            assert answer.status_code == 201, answer.text
    return page


def ordered(page: Local, code: str) -> Iterator[tuple[str, Any]]:
    """What each kind of order is answered with. `code`: of a link."""
    yield "passkeys", page.add(phone_of())
    said: dict[str, Any] = {"session": {"code": code}, "session/challenge": None, "session/offer": {"name": "a phone"}}
    said |= {"vision/preview": {}, "tasks": {"text": STUCK}, "money/cap": {"cap": "12.50"}}
    yield from ((name, page.post(name, body)) for name, body in said.items())
    yield "settings", put_settings(page, {"talk.days": 7}, headers={"origin": LOCAL})


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, Any]]]:
    homes = {"a day": a_day, "stuck": stuck, "deploying": deploying}
    return {name: list(answers(home(tmp_path_factory.mktemp("home")))) for name, home in homes.items()}


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, Any]]:
    """As `read`, but what is told of each in place of its address."""
    stage = Stage(tmp_path_factory.mktemp("home"), "http://127.0.0.1:1").set_up(VISION, FILES)
    done = [(name, answer) for name, answer in ordered(at_localhost(stage), link(stage))]
    assert all(answer.status_code in (200, 201) for _, answer in done), [answer.text for _, answer in done]
    return [
        (shape(answer.request.method.lower(), f"/api/v1/{name}", answer.status_code), answer.json())
        for name, answer in done
    ]


def test_each_answer_of_json_has_a_shape() -> None:
    assert [one for one in OPERATIONS if any(shape(one[1], one[0], status) == {} for status in (200, 201))] == []


@pytest.mark.parametrize("home", ["a day", "stuck", "deploying"])
def test_answers_are_what_is_told_of_them(read: dict[str, list[tuple[str, Any]]], home: str) -> None:
    found = {path: list(wrong(shape("get", path), answer)) for path, answer in read[home]}
    assert {path: said for path, said in found.items() if said} == {}


def test_each_address_is_read_in_one_of_the_homes(read: dict[str, list[tuple[str, Any]]]) -> None:
    assert set(READS) == {path for home in read.values() for path, _ in home}


def test_each_shape_is_that_of_a_real_answer(
    read: dict[str, list[tuple[str, Any]]], orders: list[tuple[Any, Any]]
) -> None:
    """A word that no answer has would be missed in it: what nobody has answered here, nobody has compared."""
    real = [*orders, *((shape("get", path), answer) for home in read.values() for path, answer in home)]

    def is_met(name: str) -> bool:
        one = {**CLOSED[name], "required": [*CLOSED[name].get("required", ()), "a word that nobody says"]}
        schemas = {**CLOSED, name: one}
        return any(any(wrong(told, answer, schemas)) for told, answer in real)

    names = {name for name in answer_names(TOLD) if "properties" in CLOSED[name]}
    assert {name for name in names if not is_met(name)} == UNMET
