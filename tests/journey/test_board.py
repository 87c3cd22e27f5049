"""The board from outside: what it answers is what the terminal says, what it does the terminal does, and who may."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing, redirect_stdout
from dataclasses import dataclass, field
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.views.budget import budget
from sisimpur.cli.views.pulls import prs
from sisimpur.cli.views.roadmap import roadmap
from sisimpur.cli.views.show import show
from sisimpur.cli.views.status import status
from sisimpur.cli.views.tasks import tasks
from sisimpur.simulators.model.scripted_model import ScriptedModel
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.place import BoardPlace
from sisimpur.web.api.base.sign_in import BoardKeys
from sisimpur.web.api.board_app import make_app
from tests.journey.described import DescribedClient
from tests.journey.gated import FILES, GOOD, ID, SUM, VISION, Coder, suite
from tests.journey.stage import APPROVES, CODES, KEY, Stage, plans, reads, task

ROOT = Path(__file__).parents[2]
PORT = 8765
HERE = f"http://127.0.0.1:{PORT}"
TITLE = "যোগ ঠিক করো <script>alert(1)</script>"
OTHER = "0" * 40
# What is open to all, in the description's words. A list of the tests' own: what is opened beside it is seen.
OPEN = {("POST", f"/api/v1/{path}") for path in ("session", "session/challenge", "session/passkey")}
OPEN |= {("GET", "/health"), ("GET", "/api/v1/sign-in"), ("POST", "/api/v1/sign-in/{provider}")}


@dataclass
class Browser:
    """A page that is signed in, or wants to be."""

    http: TestClient
    token: str = ""
    pressed: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> Any:
        return self.http.get(path, headers={**self._key(), **headers})

    def read(self, name: str) -> Any:
        answer = self.get(f"/api/v1/{name}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, name: str, body: Any, **headers: str) -> Any:
        self.pressed += 1
        own = {"idempotency-key": f"press-{self.pressed:04}", "origin": HERE, **self._key(), **headers}
        return self.http.post(f"/api/v1/{name}", json=body, headers=own)

    def rule(self, ruling: str, why: str = "", task: str = ID, **headers: str) -> Any:
        """Press a button below what is shown now."""
        seen = self.get(f"/api/v1/tasks/{task}/review")
        body = {"ruling": ruling, "commit": seen.json()["commit"], "why": why}
        return self.post(f"tasks/{task}/rulings", body, **{"if-match": seen.headers["etag"], **headers})

    def _key(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"} if self.token else {}


def link(stage: Stage) -> str:
    with stage.records() as records:
        return BoardKeys(records.db).link(records.clock.now())


def stranger(stage: Stage) -> Browser:
    app = make_app(BoardHome(stage.home.root, stage.clock), BoardPlace(PORT))
    return Browser(DescribedClient(app, base_url=HERE, raise_server_exceptions=False))


def signed_in(stage: Stage) -> Browser:
    page = stranger(stage)
    page.token = page.post("session", {"code": link(stage)}).json()["token"]
    return page


def run(root: Path, settings: str = "X = 2\n") -> Stage:
    """A day that ended with a change that waits for its owner."""
    files = ("app.py", "tests/test_app.py", "settings.py")
    answers = [reads(), plans(task(SUM, title=TITLE, files=files)), CODES, APPROVES]
    with ScriptedModel(answers) as model:
        day = Stage(root, model.url, Coder({**GOOD, "settings.py": settings}), suite).set_up(VISION, FILES)
        assert day.run_day() == []
    return day


@pytest.fixture(scope="module")
def parked(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A home that is only looked at, or told what it refuses."""
    return run(tmp_path_factory.mktemp("parked"))


@pytest.fixture
def page(parked: Stage) -> Browser:
    return signed_in(parked)


@pytest.fixture
def empty(tmp_path: Path) -> Stage:
    """A home of which nothing is done yet."""
    return Stage(tmp_path, "http://127.0.0.1:1").set_up(VISION, FILES)


def typed(stage: Stage, view: Callable[[Arguments], int], **more: Any) -> Any:
    with redirect_stdout(StringIO()) as out:
        assert view(Arguments(view.__name__, stage.home.root, json=True, **more)) == 0
    return json.loads(out.getvalue())


# --- reading -------------------------------------------------------------------------------------------------


def test_each_figure_is_the_one_that_the_terminal_prints(parked: Stage, page: Browser) -> None:
    """The clock of this story is its own, so what is of today is another day's to the terminal."""
    said = page.read("status")
    assert said["tasks"] == typed(parked, status)["tasks"]
    assert page.read("pulls")["pulls"] == typed(parked, prs)
    assert page.read(f"tasks/{ID}") == typed(parked, show, id=ID)
    assert [one["id"] for one in page.read("tasks")["tasks"]] == [one["id"] for one in typed(parked, tasks)]
    days = {one["day"]: one for one in typed(parked, budget)}
    assert all(one == days[one["day"]] for one in page.read("money") if one["spent"] != "0.000000000")
    goals = {one["id"] for week in typed(parked, roadmap)["weeks"] for one in week["goals"]}
    assert goals <= {one["id"] for one in page.read("goals")}


def test_what_waits_comes_with_its_reasons_and_the_daemon_is_said_to_be_down(page: Browser) -> None:
    (answer,) = page.read("waiting")["answers"]
    assert (answer["task"], answer["kind"]) == (ID, "change")
    assert any("settings.py" in reason for reason in answer["reasons"])
    assert page.read("status")["daemon"]["state"] == "never"


def test_a_review_is_of_one_commit_with_its_evidence_its_verdict_and_its_difference(page: Browser) -> None:
    review, change = page.read(f"tasks/{ID}/review"), page.read(f"tasks/{ID}/diff")
    assert review["waits"] and review["state"] == "in_review"
    assert review["commit"] == change["commit"] == review["evidence"]["commit"] == review["verdict"]["commit"]
    assert (review["evidence"]["standing"], review["verdict"]["standing"]) == ("passed", "approved")
    assert "tests/test_app.py::test_sum" in review["evidence"]["proving"]
    assert "+X = 2" in change["lines"] and change["next"] is None
    heads = [line for line in change["lines"] if line.startswith("diff --git")]
    assert "tests/test_app.py" in heads[0], "what is asked stands first"


def test_what_is_known_already_is_not_sent_again(page: Browser) -> None:
    tag = page.get(f"/api/v1/tasks/{ID}/review").headers["etag"]
    again = page.get(f"/api/v1/tasks/{ID}/review", **{"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")


def test_lists_come_in_pages(empty: Stage) -> None:
    mine = sorted((f"mine-{number}" for number in range(2, 7)), reverse=True)
    for id_ in mine:
        (empty.home.root / "tasks" / "backlog" / f"{id_}.md").write_text("# Do it\n\nAll of it.\n")
    page, *_ = [signed_in(empty) for _ in range(4)]
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        one = page.read(f"tasks?limit=2&cursor={cursor}")
        found += [row["id"] for row in one["tasks"]]
        cursor = one["next"]
    assert found == mine
    rows = page.read("audit?limit=3")
    assert [row["seq"] for row in rows["rows"]] == [1, 2, 3]
    assert [row["seq"] for row in page.read(f"audit?cursor={rows['next']}")["rows"]] == [4]
    assert page.get("/api/v1/tasks?cursor=%F0").status_code == 422
    assert page.get("/api/v1/tasks?cursor=AAA").status_code == 400


# --- acting --------------------------------------------------------------------------------------------------


def test_a_ruling_for_another_commit_is_refused_and_told_what_is_there(parked: Stage, page: Browser) -> None:
    seen = page.get(f"/api/v1/tasks/{ID}/review")
    body = {"ruling": "approve", "commit": OTHER}
    said = page.post(f"tasks/{ID}/rulings", body, **{"if-match": seen.headers["etag"]})
    assert (said.status_code, said.headers["content-type"]) == (409, "application/problem+json")
    assert said.json()["now"] == seen.json() and said.json()["etag"] == seen.headers["etag"]
    with parked.records() as records:
        assert records.gates.rulings(ID) == []


def test_a_ruling_names_the_review_that_was_read(parked: Stage, page: Browser) -> None:
    body = {"ruling": "approve", "commit": page.read(f"tasks/{ID}/review")["commit"]}
    assert page.post(f"tasks/{ID}/rulings", body).status_code == 428
    assert page.post(f"tasks/{ID}/rulings", body, **{"if-match": '"another"'}).status_code == 412
    with parked.records() as records:
        assert records.gates.rulings(ID) == []


def test_an_approval_is_the_terminals_said_ten_times_it_is_done_once_and_the_next_day_merges(tmp_path: Path) -> None:
    day = run(tmp_path)
    page = signed_in(day)
    said: list[str] = []
    seen = page.get(f"/api/v1/tasks/{ID}/review")
    body = {"ruling": "approve", "commit": seen.json()["commit"]}
    headers = {"if-match": seen.headers["etag"], "idempotency-key": "one-press"}

    def press() -> None:
        said.append(page.post(f"tasks/{ID}/rulings", body, **headers).text)

    presses = [threading.Thread(target=press) for _ in range(10)]
    for one in presses:
        one.start()
    for one in presses:
        one.join()
    assert len(set(said)) == 1 and f"{ID}: approved" in said[0]
    other = page.post(f"tasks/{ID}/rulings", {**body, "why": "not so"}, **headers)
    assert other.status_code == 422, "a key stands for one order"
    late = signed_in(day).post(f"tasks/{ID}/rulings", {**body, "ruling": "reject"}, **{"if-match": headers["if-match"]})
    assert late.status_code == 412, "another page has not seen that it is approved"
    rows = [row for row in page.read("audit?limit=200")["rows"] if row["kind"] == "ruling"]
    assert [(row["actor"], row["via"], row["detail"]["said"]) for row in rows] == [("owner", "board", "approve")]
    assert page.read("waiting")["answers"] == []
    with ScriptedModel([]) as model:
        day.model_url = model.url
        day.given_key()
        assert day.run_day() == []
    assert day.states() == {ID: "completed"}


def test_a_change_is_said_no_to_tried_again_and_taken_out(tmp_path: Path) -> None:
    day = run(tmp_path)
    page = signed_in(day)
    assert page.rule("reject").status_code == 409, "the coder reads why"
    for ruling, state in (("reject", "failed"), ("retry", "backlog"), ("cancel", "in_review"), ("cancel", "failed")):
        assert page.rule(ruling, "leave the settings").status_code == 201
        assert day.states() == {ID: state}, "as the terminal's word would do"
    told = page.rule("cancel")
    assert told.status_code == 409 and "cancel does nothing there" in told.json()["title"]


def test_what_the_owner_did_himself_is_called_done_and_nothing_of_the_teams_is_merged(tmp_path: Path) -> None:
    day = run(tmp_path)
    page = signed_in(day)
    assert page.rule("done", "it was one line").status_code == 201
    assert day.states() == {ID: "completed"}
    with ScriptedModel([]) as model:
        day.model_url = model.url
        day.given_key()
        assert day.run_day() == []
    task, (pull,) = page.read(f"tasks/{ID}"), page.read("pulls")["pulls"]
    assert task["history"][-1]["event"] == "done by the owner" and pull["state"] == "closed"
    assert "done does nothing there" in page.rule("done").json()["title"]


def test_a_question_is_answered(tmp_path: Path) -> None:
    with ScriptedModel([reads(questions=[{"goal_id": SUM, "text": "Which sum?"}])]) as model:
        day = Stage(tmp_path, model.url).set_up(VISION, FILES)
        assert day.run_day("morning") == []
    page = signed_in(day)
    (asked,) = page.read("waiting")["asked"]
    assert asked["goal"] == SUM and "Which sum?" in asked["text"]
    other = page.post("answers", {"id": SUM, "text": "yes", "asked": ["Drop the sum?"]})
    assert other.status_code == 409 and other.json()["now"] == [asked["text"]]
    said = page.post("answers", {"id": SUM, "text": "of all numbers", "asked": [asked["text"]]})
    assert said.status_code == 201 and "answered" in said.json()["told"]
    assert page.read("waiting")["asked"] == []


def test_what_nobody_asked_and_what_is_not_configured_is_refused(empty: Stage) -> None:
    page = signed_in(empty)
    said = page.post("answers", {"id": ID, "text": "yes", "asked": []})
    assert said.status_code == 409 and "nothing is asked" in said.json()["title"]
    paused = page.post("deploys/pause", {"paused": True})
    assert paused.status_code == 409 and "nothing is deployed here" in paused.json()["title"]


# --- who may -------------------------------------------------------------------------------------------------


def test_a_link_signs_in_once_and_not_for_long(empty: Stage) -> None:
    page, code = stranger(empty), link(empty)
    token = page.post("session", {"code": code}).json()["token"]
    assert page.post("session", {"code": code}).status_code == 401
    late = link(empty)
    empty.clock.sleep(11 * 60)
    assert page.post("session", {"code": late}).status_code == 401
    page.token = token
    assert page.get("/api/v1/waiting").status_code == 200
    assert not any(key.encode() in empty.everything_written() for key in (code, token)), "only digests are kept"
    empty.clock.sleep(timedelta(hours=13).total_seconds())
    assert page.get("/api/v1/waiting").status_code == 401, "unused for half a day"


def test_signing_out_ends_it_at_once(empty: Stage) -> None:
    page = signed_in(empty)
    gone = page.http.delete("/api/v1/session", headers={"authorization": f"Bearer {page.token}"})
    assert (gone.status_code, page.get("/api/v1/status").status_code) == (204, 401)
    page.token = ""
    kinds = [(row["kind"], row["via"]) for row in signed_in(empty).read("audit")["rows"] if row["kind"] == "sign-in"]
    assert kinds == [("sign-in", "board")] * 3


def test_nothing_answers_strangers_but_what_holds_no_data(parked: Stage) -> None:
    """Each path and method of the description, and what is not in it."""
    paths = signed_in(parked).read("openapi.json")["paths"]
    page = stranger(parked)
    asked = {
        (method, path.format(id=ID, role="coder"))
        for path, methods in paths.items()
        for method in methods
        if (method.upper(), path) not in OPEN
    }
    assert len(asked) > 40
    for method, path in sorted(asked | {("get", "/docs"), ("get", "/redoc"), ("get", "/openapi.json"), ("get", "/x")}):
        answer = page.http.request(method, path, headers={"origin": HERE}, json={} if method == "post" else None)
        assert answer.status_code == 401, path
        assert answer.headers["content-type"] == "application/problem+json"
        assert page.http.request(method, path).status_code == 401, "a script that forgot its key"
    assert page.get("/health").json() == {"ok": True}


def test_who_guesses_keys_has_to_wait_and_who_has_one_has_not(page: Browser) -> None:
    guesses = [page.get("/api/v1/status", authorization=f"Bearer {number}") for number in range(12)]
    assert [guesses[0].status_code, guesses[-1].status_code] == [401, 429]
    assert page.get("/api/v1/waiting").status_code == 200


def test_another_name_of_this_machine_is_refused(page: Browser) -> None:
    for host in ("evil.example", "0.0.0.0:8765", "127.1:8765", "localhost.:8765", "127.0.0.1:8766", ""):
        for path in ("/", "/api/v1/status"):
            assert page.get(path, host=host).status_code == 421


def test_another_page_orders_nothing_even_with_the_key(parked: Stage, page: Browser) -> None:
    theirs = [{"origin": one} for one in ("http://127.0.0.1:1", "http://localhost:8001", "null")]
    sites = [{"origin": HERE, "sec-fetch-site": one} for one in ("same-site", "cross-site", "none")]
    for headers in (*theirs, *sites):
        assert page.rule("approve", **headers).status_code == 403
    with parked.records() as records:
        assert records.gates.rulings(ID) == []


def test_no_answer_sets_a_cookie_and_each_has_its_headers(page: Browser) -> None:
    for path in ("/", "/review/x", "/assets/none.js", "/api/v1/status", "/api/v1/none", "/health"):
        answer = page.get(path)
        assert "set-cookie" not in answer.headers and "server" not in answer.headers
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_ids_make_no_paths_bodies_are_bounded_and_mistakes_are_problems(page: Browser) -> None:
    for id_ in ("..%2F..%2Fconfig%2F.env", "%2e%2e", "..%5c", "x" * 5_000):
        assert page.get(f"/api/v1/tasks/{id_}").status_code in (404, 414)
    huge = page.post("answers", {"id": "a", "text": "x" * 300_000})
    wrong = page.post("answers", {"id": "a", "text": "b", "command": "rm"})
    token = {"authorization": f"Bearer {page.token}", "content-type": "application/json"}
    lengthless = page.http.post("/api/v1/answers", content=iter([b"{}"]), headers=token)
    none = page.http.put("/api/v1/status", headers={"authorization": f"Bearer {page.token}"})
    assert [one.status_code for one in (huge, wrong, lengthless, none)] == [413, 422, 411, 405]
    for answer in (huge, wrong, lengthless, none, page.get("/api/v1/none")):
        assert answer.headers["content-type"] == "application/problem+json"


def test_no_key_leaves_by_the_board_and_markup_stays_text(empty: Stage) -> None:
    path = empty.home.root / "tasks" / "backlog" / "mine.md"
    path.write_text(f"# {TITLE}\n\nThe key is {KEY}\n")
    told = signed_in(empty).get("/api/v1/tasks/mine")
    assert KEY not in told.text and "[removed: " in told.text
    assert told.headers["content-type"] == "application/json" and TITLE in told.json()["text"]
    with empty.records() as records:
        assert KEY not in BoardHome(empty.home.root).told({"uncovered": {f"src/{KEY}.py": [1]}}, records)


# --- the process ---------------------------------------------------------------------------------------------


def free_port() -> int:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def test_it_is_a_process_of_its_own_that_prints_a_link_and_may_be_killed(empty: Stage) -> None:
    port = free_port()
    typed = [sys.executable, str(ROOT / "main.py"), "--home", str(empty.home.root), "board", "--port", str(port)]
    with subprocess.Popen(typed, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            printed = next(line for line in process.stdout if "#code=" in line)
            here, _, code = printed.strip().partition("/#code=")
            assert here == f"http://127.0.0.1:{port}"
            with httpx2.Client(base_url=here, trust_env=False, timeout=30) as http:
                said = http.post("/api/v1/session", json={"code": code}, headers={"origin": here})
                key = {"authorization": f"Bearer {said.json()['token']}"}
                assert http.get("/api/v1/status", headers=key).json()["daemon"]["state"] == "never"
                assert http.get("/api/v1/status").status_code == 401
            second = subprocess.run(typed, capture_output=True, text=True)
            assert second.returncode == 1 and "somebody listens there already" in second.stderr
        finally:
            process.kill()
    with empty.records() as records:
        assert [row[0] for row in records.db.rows("pragma quick_check")] == ["ok"]
