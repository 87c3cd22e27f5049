"""What the owner reads about a wrong value in his files: what to write there, in words of ours, for every field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from sisimpur.shared.config.reference import FILES
from sisimpur.shared.config.settings import SchedulesFile, TargetFile
from sisimpur.shared.config.settings_agents import AgentsFile
from sisimpur.shared.config.settings_policy import PolicyFile
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.store.task_store import FrontMatter
from sisimpur.shared.system.strict_yaml import Document, parse

ROOT = Path(__file__).parents[2]
MONEY = "budget: {task: 1, day: 5, month: 9}\n"
MODELS = "orchestrator: {model: a}\nreviewer: {model: a}\ncoder: {model: a}\n"
WRONG: tuple[Any, ...] = ({"?": 1}, [[1]], [{"?": 1}], [-1], "\n", "", None, True, -1, 1.5, 10**15)
FIRST = "0"  # of a list
PYDANTICS = ("Input", "valid", "required", "Extra", "permitted", "should", "String", "Value error", "match", "[type=")


# --- every field ---------------------------------------------------------------------------------------------


def base(model: type[BaseModel]) -> dict[str, Any]:
    """A file that is right: the delivered one."""
    if model is TargetFile:
        return {"repo": "/srv/site"}
    name = next(name for name, one in FILES.items() if one is model)
    document: dict[str, Any] = parse((ROOT / name).read_text(), name).value
    return document


def fields(model: type[BaseModel], place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        yield (*place, name)
        for inner in (field.annotation, *get_args(field.annotation)):  # also of what may be absent
            if isinstance(inner, type) and issubclass(inner, BaseModel) and get_origin(field.annotation) is not Mapping:
                yield from fields(inner, (*place, name, *((FIRST,) if get_origin(field.annotation) is tuple else ())))


def with_value(document: Any, place: tuple[str, ...], value: Any) -> Any:
    if not place:
        return value
    if place[0] == FIRST:
        return [with_value({}, place[1:], value)]
    return {**document, place[0]: with_value(document.get(place[0], {}), place[1:], value)}


def refusals(model: type[BaseModel], place: tuple[str, ...]) -> Iterator[str]:
    for wrong in WRONG:
        try:
            Document("f.yaml", with_value(base(model), place, wrong)).as_type(model)
        except Misconfigured as refusal:
            yield str(refusal)


EVERY = [pytest.param(model, place, id=".".join(place)) for model in FILES.values() for place in fields(model)]


@pytest.mark.parametrize(("model", "place"), EVERY)
def test_every_field_refuses_what_is_wrong_in_words_of_ours(model: type[BaseModel], place: tuple[str, ...]) -> None:
    said = list(refusals(model, place))
    assert said, "it takes everything"
    assert any(".".join(place) in text for text in said)
    assert [text for text in said for word in PYDANTICS if word in text] == []


# --- every kind ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "text", "says"),
    [
        (PolicyFile, f"{MONEY}capacity: {{parallel: 17}}", "2: capacity.parallel: write a whole number from 1 to 16"),
        (PolicyFile, f"{MONEY}capacity: {{parallel: two}}", "2: capacity.parallel: write a whole number from 1 to 16"),
        (PolicyFile, f"{MONEY}capacity: {{parallel: null}}", "2: capacity.parallel: write a whole number from 1 to 16"),
        (PolicyFile, f"{MONEY}attempts: {{tokens: 1}}", "2: attempts.tokens: write a whole number of at least 10000"),
        (PolicyFile, f"{MONEY}attempts: {{minutes: 0}}", "2: attempts.minutes: write a number above 0, at most 10000"),
        (PolicyFile, f"{MONEY}merge: {{auto: 1}}", "2: merge.auto: write true or false"),
        (PolicyFile, f"{MONEY}merge: {{coverage_drop: -1}}", "2: merge.coverage_drop: write a number from 0 to 100"),
        (PolicyFile, "{}", "1: budget: is missing; add it"),
        (
            PolicyFile,
            f"{MONEY}merge: 1",
            "2: merge: write keys with their values below it: auto, write_tests, coverage_drop, long_goals",
        ),
        (
            PolicyFile,
            f"{MONEY}capacity: {{depht: 2}}",
            "2: capacity.depht: unknown key: this version does not know it; did you mean depth?",
        ),
        (
            PolicyFile,
            f"{MONEY}merge: {{week: 2}}",
            "2: merge.week: unknown key: this version does not know it; it knows auto, write_tests, coverage_drop,"
            " long_goals",
        ),
        (SchedulesFile, "phases: {work: 7}", "1: phases.work: write a text like 07:00; put it in quotes"),
        (SchedulesFile, "phases: {work: '7'}", "1: phases.work: write a time of day as HH:MM, e.g. 07:00"),
        (
            AgentsFile,
            f"{MODELS}planner: {{model: a b}}",
            "4: planner.model: write a text like claude-sonnet-5-5 of 1 to 100 characters",
        ),
        (
            AgentsFile,
            f"{MODELS}planner: {{model: a, effort: huge}}",
            "4: planner.effort: write one of: '', low, medium, high",
        ),
        (
            AgentsFile,
            f"{MODELS}planner: {{model: a}}\nprices: {{a b: {{input: 0, output: 0}}}}",
            "5: prices.a b: a name that cannot stand here; write letters and digits",
        ),
        (
            AgentsFile,
            f"{MODELS}planner: {{model: a}}\nprices: {{a: 0}}",
            "5: prices.a: write keys with their values below it: input, output",
        ),
        (AgentsFile, f"{MODELS}planner: {{model: a}}\nprices: 7", "5: prices: write names with their values below it"),
        (
            TargetFile,
            "repo: x\nallow: '**'",
            "2: allow: write a list in [ ], each a text of 1 to 200 characters",
        ),
        (TargetFile, "repo: x\nallow: ['a', '']", "2: allow.1: write a text of 1 to 200 characters"),
        (TargetFile, "repo: ''", "1: repo: write a text of 1 to 500 characters"),
        (TargetFile, "- repo", "1: (the whole file): write keys with their values below it: repo"),
        (FrontMatter, "title: a\npriority: asap", "2: priority: write one of: critical, high, medium, low"),
    ],
)
def test_it_says_what_to_write(model: type[BaseModel], text: str, says: str) -> None:
    with pytest.raises(Misconfigured) as refusal:
        parse(text, "f.yaml").as_type(model)
    assert str(refusal.value) == f"f.yaml:{says}"


def test_of_many_mistakes_the_first_three_are_told_and_each_once() -> None:
    with pytest.raises(Misconfigured) as refusal:
        parse("a: x\nb: x\nc: x\nd: x\n", "f.yaml").as_type(dict[str, int | float])
    what = "write a whole number or a number"
    assert str(refusal.value) == f"f.yaml:1: a: {what}; f.yaml:2: b: {what}; f.yaml:3: c: {what}"
