"""Answers of real homes are what openapi.json says of them: no word is missing there, and none is too much."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from sisimpur.shared.model.lifecycle import State
from sisimpur.web.api.reading.answers import ANSWERS
from tests.journey.deploy_scene import GOOD, PLACES, SICK, DeployHome
from tests.journey.gated import FILES, ID, VISION
from tests.journey.stage import Stage
from tests.journey.test_board import Browser, run, signed_in

OTHER = "20261119-01"
STUCK = "---\ntitle: Say it\nfiles: [app.py]\ndepends_on: [none]\n---\n\nSay it in `app.py`.\n"


def closed(schema: Any) -> Any:
    """The same schema, by which nothing else may be said."""
    if isinstance(schema, dict):
        more = {"additionalProperties": False} if "properties" in schema else {}
        return {**{name: closed(one) for name, one in schema.items()}, **more}
    return list(map(closed, schema)) if isinstance(schema, list) else schema


def wrong(page: Browser, told: Any = None) -> Iterator[str]:
    """Yield what answers say against their description."""
    told = told or page.read("openapi.json")
    for name in ANSWERS:
        address = name.replace("{id}", ID)
        answer = page.get(f"/api/v1/{address}")
        if answer.status_code in (404, 409):  # there is no such task, or nothing is deployed here
            continue
        described = told["paths"][f"/api/v1/{name}"]["get"]["responses"]["200"]
        schema = closed({**described["content"]["application/json"]["schema"], "components": told["components"]})
        for one in Draft202012Validator(schema).iter_errors(answer.json()):
            yield f"{address}: {one.json_path}: {one.message[:200]}"


def test_a_day_with_a_change_that_waits(tmp_path: Path) -> None:
    assert list(wrong(signed_in(run(tmp_path)))) == []


def test_a_home_of_which_nothing_is_done_but_what_is_stuck(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)
    (stage.home.tasks(State.BACKLOG) / f"{ID}.md").write_text(STUCK)
    (stage.home.tasks(State.FAILED) / f"{OTHER}.md").write_text(STUCK)
    assert list(wrong(signed_in(stage))) == []


def test_a_home_that_deploys(tmp_path: Path) -> None:
    home = DeployHome.made(tmp_path, PLACES)
    first = home.commit("one")
    home.deployed(first, *GOOD)
    home.deployed(home.commit("two"), *SICK, back_to=first)
    assert list(wrong(signed_in(home.stage))) == []


def test_what_is_missing_in_the_description_and_what_is_too_much_there_is_found(tmp_path: Path) -> None:
    page = signed_in(Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES))
    told = page.read("openapi.json")
    described = told["components"]["schemas"]["WaitingAnswer"]
    for name, change in (("asked", described["properties"].pop), ("more", described["required"].append)):
        change(name)
        assert any("waiting: " in one for one in wrong(page, told)), name
