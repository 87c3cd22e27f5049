"""What the owner is told of deploys, from the book to his mailbox and to the report's file."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sisimpur.agents.devops.drivers.driver import Driver, EngineAway
from sisimpur.agents.orchestrator.day import Orchestrator
from sisimpur.agents.orchestrator.deploys.deploying import DeployRules
from sisimpur.agents.orchestrator.reports.reporting import Reporting
from sisimpur.cli.commands.doctor import deploy_findings
from sisimpur.cli.wiring.records import Records
from sisimpur.cli.wiring.team import open_team
from sisimpur.shared.model.deployment import Deploy, DeployEvent, Place, Running
from sisimpur.shared.model.errors import Misconfigured, TeamError, Unavailable
from sisimpur.shared.model.lifecycle import Event as TaskEvent
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.work import TaskSpec
from sisimpur.shared.store.journal import MoveReason
from tests.journey.deploy_scene import PLACES, SICK, DeployHome, booked
from tests.mailbox import Mailbox

A, B = "a1" * 20, "b2" * 20
TASK = "20261120-01"
BACK = (*SICK, DeployEvent.SENT_BACK, DeployEvent.RECOVERED)


@dataclass
class Scene:
    home: DeployHome
    box: Mailbox
    records: Records
    team: Orchestrator

    def reporting(self, places: tuple[Place, ...] = PLACES) -> Reporting:
        """As after a new start: it remembers nothing."""
        old = self.team.telling.reporting
        deploys = replace(old.deploys, rules=DeployRules(places))
        return Reporting(old.books, old.session, old.progress, deploys, dict, self.records.home.reports)

    def merged(self, commit: str) -> None:
        """As if our task had made it."""
        now, journal = self.records.clock.now(), self.records.journal
        spec = TaskSpec(TASK, "Fix the sum @everyone", "please", files=("app.py",))
        journal.born(spec, State.COMPLETED, "planned", now)
        journal.intend(f"{TASK}:merge", "merge", TASK, commit, now)
        journal.achieved(f"{TASK}:merge", commit)

    def deployed(self, commit: str, *events: DeployEvent, **more: Any) -> Deploy:
        return booked(self.records, commit, *events, **more)

    def day(self) -> str:
        return self.records.day()

    def section(self) -> list[str]:
        """Of the evening's report, written now."""
        self.reporting().evening(self.day())
        text = (self.records.home.reports / f"{self.day()}.md").read_text()
        return text.split("## Deployed\n\n")[1].split("\n\n")[0].strip().splitlines() if "## Deployed" in text else []


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with opened(tmp_path) as found:
        yield found


@contextmanager
def opened(root: Path) -> Iterator[Scene]:
    home, box = DeployHome.made(root, PLACES), Mailbox(root / "box")
    with (
        home.stage.records() as records,
        open_team(records, home.stage.said.append, make_services=lambda _: [box]) as team,
    ):
        yield Scene(home, box, records, team)


# --- messages ------------------------------------------------------------------------------------------------


def test_the_end_of_a_deploy_is_one_message_also_when_it_is_told_again_after_a_kill(scene: Scene) -> None:
    deploy = scene.deployed(A)
    for _ in range(2):
        scene.reporting().deployed(deploy, "", A)
    (message,) = scene.box.messages()
    assert message["key"] == f"{scene.day()}:deploy-1" and scene.box.tries == 1
    assert (message["title"], message["tone"]) == (f"Live at production: {A[:8]}", "good")


def test_a_commit_of_the_owners_own_is_called_by_its_subject(scene: Scene) -> None:
    commit = scene.home.commit("the owner's own")
    scene.reporting().deployed(scene.deployed(commit), "", commit)
    (message,) = scene.box.messages()
    assert message["title"] == f"Live at production: {scene.home.site('log', '-1', '--format=%s').strip()}"


def test_what_was_live_before_and_what_production_runs_are_told(scene: Scene) -> None:
    scene.deployed(A)
    scene.deployed(A, place="staging")
    sick = scene.deployed(B, *BACK, place="staging", back_to=A, why="GET / answered 500")
    scene.reporting().deployed(sick, "", A)
    assert f"Production was not touched: {A[:8]} runs on there." in scene.box.of("deploy-3")["text"]
    again = replace(scene.deployed(A), asked=True)
    scene.reporting().deployed(again, "", A)
    assert scene.box.of("deploy-4")["title"] == f"Production runs {A[:8]} again, as you asked"


def test_what_an_order_cut_off_and_did_not_replace_is_told(scene: Scene) -> None:
    scene.deployed(A, DeployEvent.BUILT, DeployEvent.SAVED, DeployEvent.STARTED, DeployEvent.OVERRULED)
    scene.reporting().deployed(scene.deployed(B, DeployEvent.NOT_BUILT, why="no room"), "", A)
    assert f"{A[:8]} runs there still, and nobody watched" in scene.box.of("deploy-2")["text"]


def test_told_again_it_is_brought_up_to_date(scene: Scene) -> None:
    scene.deployed(A)
    deploy = scene.deployed(B, *BACK, back_to=A, why="GET / answered 500")
    scene.reporting().deployed(deploy, "", A)
    scene.reporting().deployed(deploy, "", "")
    (message,) = scene.box.messages()
    assert "Nothing runs there now" in message["text"]


def test_what_was_sick_names_its_task_only_if_that_is_really_tried_again(scene: Scene) -> None:
    scene.merged(B)
    deploy = scene.deployed(B, *BACK, back_to=A, why="GET / answered 500", reverts=7)
    scene.reporting().deployed(deploy, TASK, A)
    assert "tried again" not in scene.box.of("deploy-1")["text"]
    now, journal = scene.records.clock.now(), scene.records.journal
    journal.moved(journal.plan_move(TASK, State.COMPLETED, MoveReason(TaskEvent.SICK, "sick"), now))
    scene.reporting().deployed(deploy, TASK, A)
    message = scene.box.of("deploy-1")
    assert "Its task is tried again" in message["text"] and "#7" in message["text"]
    assert message["title"].startswith("Rolled back at production: Fix the sum")
    assert "@everyone" not in str(message)


def test_what_is_healthy_at_staging_is_told_when_it_is_live(scene: Scene) -> None:
    scene.reporting().deployed(scene.deployed(A, place="staging"), "", A)
    assert scene.box.told() == []
    scene.reporting(("staging",)).deployed(scene.deployed(A, place="staging"), "", A)
    assert scene.box.told() == [f"{scene.day()}:deploy-2"]


def test_a_pause_stands_in_the_message_with_what_ends_it(scene: Scene) -> None:
    deploy = scene.deployed(A, *SICK, DeployEvent.LOST, why="GET / answered 500")
    scene.records.deploys.pause("production is not healthy", scene.records.clock.now())
    scene.reporting().deployed(deploy, "", "")
    message = scene.box.of("deploy-1")
    assert message["title"] == "Production may be down"
    assert f"`{scene.team.telling.reporting.progress.command} resume-deploys`" in message["text"]


def test_a_service_that_is_away_gets_it_later(scene: Scene) -> None:
    deploy = scene.deployed(A)
    scene.box.before.append(Unavailable("not now"))
    scene.reporting().deployed(deploy, "", deploy.commit)
    assert scene.box.told() == []
    scene.home.stage.clock.sleep(600)
    scene.reporting().tell_what_waited()
    assert scene.box.told() == [f"{scene.day()}:deploy-1"]


# --- reports -------------------------------------------------------------------------------------------------


def test_the_report_tells_the_days_deploys_and_what_they_brought(scene: Scene) -> None:
    scene.merged(B)
    scene.deployed(A)
    scene.deployed(B, *BACK, back_to=A, why="GET / answered 500", reverts=7)
    scene.records.deploys.pause("you asked for it", scene.records.clock.now())
    lines = scene.section()
    assert lines[0].startswith(f"- production {A[:8]}: healthy since ")
    assert "`20261120-01`): sick: GET / answered 500; rolled back to" in lines[1] and "taken back by #7" in lines[1]
    assert lines[2].startswith("- nothing new is deployed: you asked for it → `")
    assert "@everyone" not in "".join(lines)


def test_deploys_of_another_day_are_not_told_again(scene: Scene) -> None:
    scene.deployed(A)
    assert len(scene.section()) == 1
    scene.home.stage.clock.sleep(24 * 3_600)
    assert scene.section() == []


def test_what_is_under_way_over_midnight_is_told_on_both_days(scene: Scene) -> None:
    scene.deployed(A, *SICK[:3])
    assert "watched since" in scene.section()[0]
    scene.home.stage.clock.sleep(24 * 3_600)
    assert "watched since" in scene.section()[0]


def test_where_nothing_is_deployed_any_more_a_pause_of_long_ago_is_no_news(scene: Scene) -> None:
    scene.records.deploys.pause("a fair", scene.records.clock.now())
    scene.reporting(()).evening(scene.day())
    assert "a fair" not in (scene.records.home.reports / f"{scene.day()}.md").read_text()


# --- doctor --------------------------------------------------------------------------------------------------


class Engine:
    """What a driver says of itself, and of each place; either may be an error."""

    def __init__(self, found: str | TeamError, runs: Running | TeamError | None = None) -> None:
        self._found, self._runs = found, runs

    def check(self) -> str:
        if isinstance(self._found, TeamError):
            raise self._found
        return self._found

    def running(self, place: Place) -> Running | None:
        if isinstance(self._runs, TeamError):
            raise self._runs
        return self._runs


class Docked(Engine):
    """One that knows who has a port."""

    def __init__(self, found: str | TeamError, runs: Running | TeamError | None = None, ours: bool = False) -> None:
        super().__init__(found, runs)
        self._ours = ours

    def has_port(self, place: Place) -> bool:
        self.running(place)
        return self._ours


def found(home: DeployHome, engine: object) -> list[tuple[str, bool, str]]:
    def make(_: Records) -> Driver:
        return engine  # type: ignore[return-value]

    with home.stage.records() as records:
        settings = records.settings
    return [(one.name, one.ok, one.detail) for one in deploy_findings(home.stage.home, settings, make)]


def test_doctor_says_nothing_where_nothing_is_deployed(tmp_path: Path) -> None:
    assert found(DeployHome.made(tmp_path, ()), Engine("fine")) == []


def test_doctor_tells_what_was_found_and_which_pages_are_asked(tmp_path: Path) -> None:
    pages = "pages: [{path: /healthz/}, {path: /ping/}], watch_minutes: 0"
    home = DeployHome.made(tmp_path)
    path = home.stage.home.targets / "site.yaml"
    told = path.read_text().replace("  production:\n", "  production:\n    url: http://127.0.0.1:8001\n")
    path.write_text(told.replace("pages: [], watch_minutes: 0", pages))
    engine, place = found(home, Engine("Docker 20.10.24"))
    assert engine == ("deploys", True, "command: Docker 20.10.24")
    assert place[:2] == ("production", True) and "/healthz/, /ping/" in place[2]


@pytest.mark.parametrize("problem", [EngineAway("start it: systemctl start docker"), Misconfigured("no such program")])
def test_doctor_names_what_is_missing(tmp_path: Path, problem: TeamError) -> None:
    home = DeployHome.made(tmp_path)
    assert found(home, Engine(problem, problem))[0] == ("deploys", False, f"command: {problem}")


def test_doctor_knows_a_port_that_is_free_ours_or_somebody_elses(tmp_path: Path) -> None:
    home = DeployHome.made(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        path = home.stage.home.targets / "site.yaml"
        path.write_text(path.read_text().replace("  production:\n", f"  production:\n    port: {port}\n"))
        said = found(home, Engine("", Running("a" * 40)))[1]
        assert (
            said[1] and f"port {port} is taken by python" in said[2] and "if that is what `production.start`" in said[2]
        )
        assert found(home, Docked("", ours=True))[1][1:] == (True, f"port {port} is ours; {NO_PAGE}")
        name, ok, detail = found(home, Docked("", Running("a" * 40)))[1]  # at another port
        assert (name, ok) == ("production", False)
        assert f"port {port} cannot be used" in detail and "python" in detail
        away = EngineAway("start it: systemctl start docker")
        whose = f"port {port} is in use, and nobody can tell whose it is while"
        assert found(home, Docked(away, away))[1][1:] == (True, f"{whose} Docker is away; {NO_PAGE}")
        assert f"{whose} `production.running` says nothing" in found(home, Engine("", away))[1][2]
        name, ok, detail = found(home, Engine(""))[1]
        assert (name, ok) == ("production", False) and f"port {port} cannot be used" in detail
    assert found(home, Engine(""))[1][1:] == (True, f"port {port} is free; {NO_PAGE}")


@pytest.mark.parametrize(
    ("more", "ok", "told"),
    [
        ("", True, "docker-compose.yml of "),
        ("    privileged: true\n    network_mode: host\n", False, "services.web.privileged: not allowed here: "),
        ("    privileged: true\n    network_mode: host\n", False, "services.web.network_mode: not allowed here: "),
        ("    environment: [A=$WHO_KNOWS]\n", False, "the variable WHO_KNOWS has no value"),
    ],
)
def test_doctor_reads_the_compose_file_of_the_branch(tmp_path: Path, more: str, ok: bool, told: str) -> None:
    home = with_compose(tmp_path, more)
    assert [one[0] for one in found(home, Engine(""))] == ["deploys", "staging", "production"], "it was never fetched"
    home.commit()
    (compose,) = [one for one in found(home, Engine("")) if one[0] == "compose file"]
    assert compose[1] is ok and told in compose[2] and compose[2].count(told) == 1
    assert not home.stage.home.releases.exists() or not list(home.stage.home.releases.iterdir())


def with_compose(root: Path, more: str) -> DeployHome:
    home = DeployHome.made(root, ())
    (root / "site" / "docker-compose.yml").write_text(f"services:\n  web:\n    image: site\n{more}")
    home.site("add", "docker-compose.yml")
    home.stage.owner_commits({})
    path = home.stage.home.targets / "site.yaml"
    places = "".join(f"  {place}: {{port: {port}}}\n" for place, port in zip(PLACES, (1, 2), strict=True))
    path.write_text(f"{path.read_text()}\ndeploy:\n  driver: compose\n{places}health: {{pages: []}}\n")
    return home


NO_PAGE = "no page is asked (`pages: []`): only its end, its restarts and its log are looked at"


def test_doctor_reads_the_file_of_a_places_environment(tmp_path: Path) -> None:
    home = DeployHome.made(tmp_path)
    path = home.stage.home.targets / "site.yaml"
    path.write_text(path.read_text().replace("  production:\n", f"  production:\n    env_file: {tmp_path}/absent\n"))
    assert found(home, Engine(""))[1][1] is False
