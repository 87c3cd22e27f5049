"""The contract checker notices what is no exchange with GitHub, and takes what is."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sisimpur.simulators.github import description
from sisimpur.simulators.github.local_github import Exchange, LocalGitHub
from tests.edges.github_contract import complaints
from tests.github import trim_github_contract

GOOD = Exchange(
    method="POST",
    path="/repos/o/r/pulls",
    route="/repos/{r}/pulls",
    query={},
    body={"title": "T", "head": "x", "base": "main", "draft": False},
    login="team",
    status=422,
    headers={},
    answer={"message": "Validation Failed", "documentation_url": "d", "errors": [{"resource": "R", "code": "c"}]},
)
READ = replace(GOOD, method="GET", query={"state": "open", "per_page": "5"}, body=None, status=200, answer=[])


def test_the_contract_takes_what_github_takes() -> None:
    assert complaints(GOOD) == complaints(READ) == []


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        pytest.param(replace(GOOD, method="PUT"), "no such operation", id="verb"),
        pytest.param(replace(GOOD, path="/repos/o/r/pull"), "no such operation", id="path"),
        pytest.param(replace(GOOD, path="/repos/o/r/git/ref/heads/x", method="DELETE"), "no such", id="ref for refs"),
        pytest.param(replace(READ, query={"status": "open"}), "query status: unknown", id="query name"),
        pytest.param(replace(READ, query={"state": "opened"}), "query state", id="query value"),
        pytest.param(replace(READ, query={"per_page": "many"}), "query per_page", id="query type"),
        pytest.param(replace(READ, body={"x": 1}), "body: none expected", id="a body for a GET"),
        pytest.param(replace(GOOD, body=None), "body: required", id="no body"),
        pytest.param(replace(GOOD, body={**GOOD.body, "titel": "T"}), "body titel: unknown", id="body key"),
        pytest.param(replace(GOOD, body={**GOOD.body, "draft": "no"}), "body draft", id="body type"),
        pytest.param(replace(GOOD, body={"title": "T", "head": "x"}), "'base' is a required", id="body key left out"),
        pytest.param(replace(GOOD, status=418), "status 418 is not described", id="status"),
        pytest.param(replace(GOOD, status=404, answer={"message": "Gone"}), "status 404", id="unknown refusal"),
        pytest.param(replace(READ, answer=[{"number": 1}]), "required property", id="answer lacks fields"),
        pytest.param(replace(READ, answer={}), "is not of type 'array'", id="answer type"),
        pytest.param(replace(READ, answer="<html>"), "text instead of JSON", id="answer is a page"),
        pytest.param(
            replace(GOOD, path="/graphql", body={"query": "query { viewer }", "variables": {"input": {}}}),
            "pullRequestId", id="another GraphQL query",
        ),
    ],
)  # fmt: skip
def test_the_contract_notices_what_is_wrong(wrong: Exchange, says: str) -> None:
    assert says in " ".join(complaints(wrong))


def test_every_field_that_github_requires_is_missed_if_it_is_left_out(tmp_path: Path) -> None:
    seen: list[Exchange] = []
    with LocalGitHub(tmp_path, observe=seen.append) as hub:
        hub.repository("o/r")
        httpx2.get(f"{hub.url}/repos/o/r", headers={"authorization": f"token {hub.user('team')}"}, verify=False)
    required = description.read()["components"]["schemas"]["full-repository"]["required"]
    missed = [name for name in required if complaints(replace(seen[0], answer=without(seen[0].answer, name)))]
    assert complaints(seen[0]) == []
    assert len(missed) == len(required) > 60


def without(answer: Any, name: str) -> Any:
    return {key: value for key, value in answer.items() if key != name}


def test_what_a_fault_said_is_not_github_s_word_but_the_question_was_ours() -> None:
    assert complaints(replace(GOOD, status=502, answer="<html>", worked=False)) == []
    assert complaints(replace(GOOD, method="PUT", worked=False)) != []


def test_the_description_is_the_one_that_its_readme_names() -> None:
    text = description.FILE.read_text("utf-8")
    readme = description.FILE.with_name("README.md").read_text("utf-8")
    assert hashlib.sha256(text.encode()).hexdigest() in readme


def test_cutting_keeps_what_is_used_and_drops_the_rest() -> None:
    kept, more = description.read(), json.loads(description.FILE.read_text("utf-8"))
    more["paths"]["/unused"] = {"get": {"responses": {}}}
    more["paths"]["/user"]["get"]["summary"] = "prose"
    more["components"]["schemas"]["unused"] = {"type": "object"}
    cut = trim_github_contract.trimmed(more)
    assert trim_github_contract.CONTRACT.samefile(description.FILE)
    assert cut["paths"].keys() == kept["paths"].keys()
    assert cut["components"]["schemas"].keys() == kept["components"]["schemas"].keys()
    assert cut["paths"]["/user"] == kept["paths"]["/user"]
