"""The laws of deploys: where one may end, that it goes back at most once, and what is begun next."""

from __future__ import annotations

import graphlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.deployment import (
    BROKE,
    OVER,
    PLACES,
    TRANSITIONS,
    Build,
    Deploy,
    DeployEvent,
    DeployFacts,
    DeployStage,
    NewDeploy,
    NothingToDeploy,
    Order,
    Place,
    RollBack,
    Save,
    Settle,
    Start,
    Step,
    Watch,
    WatchRollback,
    after,
    healthy_at,
    in_vain,
    next_step,
    unwatched,
)

# --- the table -----------------------------------------------------------------------------------------------


def reachable(start: DeployStage) -> set[DeployStage]:
    found: set[DeployStage] = set()
    todo = [start]
    while todo:
        if (stage := todo.pop()) not in found:
            found.add(stage)
            todo += [to for (at, _), to in TRANSITIONS.items() if at is stage]
    return found


def test_every_stage_is_reachable() -> None:
    assert reachable(DeployStage.PLANNED) == set(DeployStage)


@pytest.mark.parametrize("stage", DeployStage)
def test_every_deploy_can_end_and_what_is_over_stays_over(stage: DeployStage) -> None:
    assert reachable(stage) & OVER
    assert (stage in OVER) == (reachable(stage) == {stage})


def test_no_deploy_goes_round_so_it_goes_back_at_most_once() -> None:
    graph = {stage: {to for (at, _), to in TRANSITIONS.items() if at is stage} for stage in DeployStage}
    assert list(graphlib.TopologicalSorter(graph).static_order())


@pytest.mark.parametrize(
    ("stage", "event"), [key for key in product(DeployStage, DeployEvent) if key not in TRANSITIONS]
)
def test_what_is_not_in_the_table_is_a_bug(stage: DeployStage, event: DeployEvent) -> None:
    with pytest.raises(ValueError):
        after(stage, event)


def test_what_never_ran_leaves_its_place_as_it_was_and_who_is_stuck_knows_nothing() -> None:
    deploy = Deploy(1, "production", "new", DeployStage.PLANNED, back_to="old")
    runs = {stage: replace(deploy, stage=stage).runs for stage in OVER}
    assert runs == {DeployStage.HEALTHY: "new", DeployStage.STUCK: ""} | dict.fromkeys(
        (DeployStage.RETURNED, DeployStage.FAILED, DeployStage.OVERRULED), "old"
    )


# --- what is done next ---------------------------------------------------------------------------------------

STEPS = {
    DeployStage.PLANNED: Build,
    DeployStage.BUILT: Save,
    DeployStage.SAVED: Start,
    DeployStage.STARTED: Watch,
    DeployStage.SICK: RollBack,
    DeployStage.RETURNING: WatchRollback,
}


def deploy(number: int, commit: str, stage: DeployStage, place: Place = "staging", **more: object) -> Deploy:
    return replace(Deploy(number, place, commit, stage, settled=stage in OVER), **more)  # type: ignore[arg-type]


def sight(*deploys: Deploy, candidates: Sequence[str] = (), **more: object) -> DeployFacts:
    return replace(DeployFacts(PLACES, deploys, tuple(candidates)), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("stage", "step"), STEPS.items())
def test_what_was_begun_goes_on_before_anything_else(stage: DeployStage, step: type[Step]) -> None:
    begun = deploy(2, "b", stage)
    first = deploy(1, "a", DeployStage.RETURNED, settled=False)
    found = next_step(sight(first, begun, candidates=["c"], orders=(Order(1, "production", "x"),), held="it is paused"))
    assert found == step(begun)  # type: ignore[call-arg, arg-type]


@pytest.mark.parametrize("stage", sorted(OVER))
def test_an_end_is_settled_before_anything_new_but_what_the_owner_orders(stage: DeployStage) -> None:
    """What follows an end may need the forge; what the owner wants back waits for nobody."""
    ended = deploy(1, "a", stage, settled=False)
    assert next_step(sight(ended, candidates=["b"], held="paused")) == Settle(ended)
    ordered = next_step(sight(ended, candidates=["b"], orders=(Order(1, "staging", "b"),), held="paused"))
    assert isinstance(ordered, NewDeploy) and (ordered.commit, ordered.asked) == ("b", True)


def test_the_owners_order_is_carried_out_in_a_pause_too() -> None:
    healthy = deploy(1, "a", DeployStage.HEALTHY, "production")
    found = next_step(sight(healthy, orders=(Order(7, "production", "x"),), held="paused"))
    assert found == NewDeploy("production", "x", back_to="a", asked=True)


def test_nothing_is_begun_unasked_while_it_is_held() -> None:
    assert next_step(sight(candidates=["a"], held="paused: because")) == NothingToDeploy("paused: because")


def test_first_the_next_merge_goes_to_the_first_place_and_what_is_healthy_there_goes_on() -> None:
    at_staging = deploy(1, "a", DeployStage.HEALTHY)
    assert next_step(sight(candidates=["a"])) == NewDeploy("staging", "a", back_to="")
    assert next_step(sight(at_staging, candidates=["b", "c"])) == NewDeploy("production", "a", back_to="")
    at_both = (at_staging, deploy(2, "a", DeployStage.HEALTHY, "production"))
    assert next_step(sight(*at_both, candidates=["b", "c"])) == NewDeploy("staging", "b", back_to="a")


def test_without_staging_a_merge_goes_to_production_at_once() -> None:
    alone = DeployFacts(("production",), (), ("a",))
    assert next_step(alone) == NewDeploy("production", "a", back_to="")


@pytest.mark.parametrize("end", sorted(OVER - {DeployStage.HEALTHY}))
def test_what_came_to_nothing_is_not_tried_again_until_the_owner_says_so(end: DeployStage) -> None:
    ended = deploy(1, "a", end)
    assert next_step(sight(ended, candidates=["a"])) == NothingToDeploy()
    assert next_step(sight(ended, candidates=["a", "b"])) == NewDeploy("staging", "b", back_to="")
    assert next_step(sight(ended, candidates=["a", "b"], forgiven=1)) == NewDeploy("staging", "a", back_to="")


def test_no_place_goes_back_unasked_since_the_one_before_it_did() -> None:
    both = [deploy(n, sha, DeployStage.HEALTHY, place) for n, (sha, place) in enumerate(product("ab", PLACES), 1)]
    back = deploy(5, "a", DeployStage.HEALTHY, "staging", asked=True)
    assert next_step(sight(*both, back)) == NothingToDeploy()


def test_what_an_order_cut_off_and_did_not_replace_is_known() -> None:
    cut = deploy(2, "b", DeployStage.OVERRULED, back_to="a")
    failed = deploy(3, "c", DeployStage.FAILED, back_to="a")
    assert unwatched(failed, [cut, failed]) == "b"
    assert unwatched(deploy(3, "c", DeployStage.HEALTHY), [cut, failed]) == ""
    assert unwatched(failed, [deploy(2, "b", DeployStage.HEALTHY), failed]) == ""


def test_what_came_to_nothing_is_counted_for_each_place_and_reverts_do_not_interrupt() -> None:
    ends = [(DeployStage.RETURNED, "bad"), (DeployStage.HEALTHY, "revert"), (DeployStage.RETURNED, "bad too")]
    deploys = [deploy(n, sha, end, "production") for n, (end, sha) in enumerate(ends, 1)]
    deploys += [
        deploy(4, "bad three", DeployStage.HEALTHY, "staging"),
        deploy(5, "x", DeployStage.STUCK, "production", asked=True),
    ]
    assert in_vain("production", deploys, 0, {"revert"}) == 2
    assert in_vain("production", deploys, 0, ()) == in_vain("production", deploys, 1, {"revert"}) == 1
    assert in_vain("staging", deploys, 0, {"revert"}) == 0


# --- whole histories -----------------------------------------------------------------------------------------


@dataclass
class World:
    """Commits 0, 1, 2 ... merge one after the other; some do not build, some are sick at a place, some for ever."""

    unbuildable: set[str]
    sick: dict[Place, set[str]]
    merged: list[str] = field(default_factory=list)
    deploys: list[Deploy] = field(default_factory=list)
    runs: dict[Place, str] = field(default_factory=dict)
    started: list[tuple[Place, str]] = field(default_factory=list)

    def sight(self) -> DeployFacts:
        live = healthy_at("staging", self.deploys)
        new = self.merged[self.merged.index(live) + 1 :] if live else self.merged[-1:]
        return DeployFacts(PLACES, tuple(self.deploys), tuple(new))

    def go_on(self) -> None:
        for _ in range(1_000):
            step = next_step(self.sight())
            if isinstance(step, NothingToDeploy):
                return
            self._do(step)
        raise AssertionError("it never rests")

    def _do(self, step: Step) -> None:
        if isinstance(step, NewDeploy):
            self.deploys.append(
                Deploy(len(self.deploys) + 1, step.place, step.commit, DeployStage.PLANNED, step.back_to)
            )
        elif isinstance(step, Settle):
            self._put(replace(step.deploy, settled=True))
        elif not isinstance(step, NothingToDeploy):
            self._put(replace(step.deploy, stage=after(step.deploy.stage, self._carry_out(step))))

    def _put(self, deploy: Deploy) -> None:
        self.deploys[deploy.number - 1] = deploy

    def _carry_out(self, step: Step) -> DeployEvent:
        match step:
            case Build(deploy):
                return DeployEvent.NOT_BUILT if deploy.commit in self.unbuildable else DeployEvent.BUILT
            case Save():
                return DeployEvent.SAVED
            case Start(deploy):
                self.started.append((deploy.place, deploy.commit))
                self.runs[deploy.place] = deploy.commit
                return DeployEvent.STARTED
            case Watch(deploy):
                return DeployEvent.SICKENED if deploy.commit in self.sick[deploy.place] else DeployEvent.PASSED
            case RollBack(deploy):
                return DeployEvent.SENT_BACK if deploy.back_to else DeployEvent.LOST
            case WatchRollback(deploy):
                self.runs[deploy.place] = deploy.back_to
                return DeployEvent.RECOVERED
        raise AssertionError(step)


COMMITS = [str(number) for number in range(6)]
SOME = st.sets(st.sampled_from(COMMITS))


@given(SOME, SOME, SOME, st.lists(st.integers(1, 3), max_size=6))
def test_in_every_history(
    unbuildable: set[str], at_staging: set[str], at_production: set[str], pace: list[int]
) -> None:
    world = World(unbuildable, {"staging": at_staging, "production": at_production})
    todo = list(COMMITS)
    for many in (*pace, len(COMMITS)):
        world.merged += [todo.pop(0) for _ in range(min(many, len(todo)))]
        if world.merged:
            world.go_on()
    assert len(set(world.started)) == len(world.started), "once per commit and place"
    for place in PLACES:
        told = [d for d in world.deploys if d.place == place and d.stage in BROKE | {DeployStage.HEALTHY}]
        healthy = [d.commit for d in told if d.stage is DeployStage.HEALTHY]
        assert healthy == sorted(healthy), "forward only"
        if told and told[-1].stage is not DeployStage.STUCK:
            assert world.runs[place] == healthy_at(place, world.deploys) == healthy[-1], (
                "what runs is what was healthy last"
            )
    healthy_before = {d.commit for d in world.deploys if d.place == "staging" and d.stage is DeployStage.HEALTHY}
    assert {commit for place, commit in world.started if place == "production"} <= healthy_before
