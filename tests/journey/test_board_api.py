"""The rest of the board's API: the owner's files, what the team is and does, and all orders. Each is the terminal's."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from sisimpur.cli.record.metrics import metrics
from sisimpur.cli.record.trace import trace
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.views.memory import memory, research
from sisimpur.cli.views.show import show
from sisimpur.shared.config.reference import ON_PAGES
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.text import sha256_of
from sisimpur.shared.system import lock
from sisimpur.simulators.model.scripted_model import ScriptedModel
from sisimpur.web.api.acting.order_bodies import LONGEST_FILE
from sisimpur.web.api.reading.readers import MOST_LINES
from sisimpur.web.api.reading.team_readers import ROLES
from tests.journey.gated import FILES, ID, SUM, VISION
from tests.journey.stage import APPROVES, CODES, KEY, Stage, reads
from tests.journey.test_board import Browser, run, signed_in, stranger, typed

TASK = "---\ntitle: Say it\nfiles: [app.py]\n---\n\nSay it in `app.py`.\n"
GOALS = "# Vision\n\n## Priority: HIGH\n- Make the sum right\n- Print the sum as text\n"


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


def written(page: Browser, name: str, text: str, tag: str) -> Any:
    headers = {"authorization": f"Bearer {page.token}", **({"if-match": tag} if tag else {})}
    return page.http.put(f"/api/v1/{name}", json={"text": text}, headers=headers)


def file_rows(page: Browser) -> list[tuple[str, str]]:
    return [(row["subject"], row["via"]) for row in page.read("audit?limit=200")["rows"] if row["kind"] == "file"]


# --- VISION.md -----------------------------------------------------------------------------------------------


def test_the_vision_comes_with_what_is_read_of_it(parked: Stage, page: Browser) -> None:
    said = page.get("/api/v1/vision")
    found = said.json()
    assert found["text"] == parked.home.vision.read_text()
    assert said.headers["etag"] == f'"{found["digest"]}"' and found["is_whole"] and found["problem"] == ""
    assert [goal["id"] for goal in found["goals"]] == [SUM] and found["goals"][0]["change"] == ""
    assert found["model_asked"] == [] and found["files_known"]


def test_the_vision_is_written_by_who_has_seen_it_and_by_nobody_else(empty: Stage) -> None:
    page = signed_in(empty)
    tag = page.get("/api/v1/vision").headers["etag"]
    assert written(page, "vision", GOALS, "").status_code == 428
    stale = written(page, "vision", GOALS, '"another"')
    assert stale.status_code == 412 and stale.json()["now"]["text"] == empty.home.vision.read_text()
    assert stale.json()["etag"] == tag and file_rows(page) == []
    done = written(page, "vision", GOALS.replace("\n", "\r\n"), tag)
    assert done.status_code == 200 and empty.home.vision.read_text() == GOALS == done.json()["text"]
    assert [goal["title"] for goal in done.json()["goals"]] == ["Make the sum right", "Print the sum as text"]
    assert file_rows(page) == [("VISION.md", "board")]
    again = written(page, "vision", GOALS, tag)
    assert (again.status_code, again.json()["etag"]) == (412, done.headers["etag"]), "an editor may be open, too"


def test_what_could_not_be_read_is_not_written(empty: Stage) -> None:
    page = signed_in(empty)
    before, tag = empty.home.vision.read_text(), page.get("/api/v1/vision").headers["etag"]
    many = written(page, "vision", "## Priority: LOW\n" + "".join(f"- Goal {n}\n" for n in range(300)), tag)
    assert many.status_code == 422 and "the limit is 200" in many.json()["title"]
    assert written(page, "vision", "x" * (LONGEST_FILE + 1), tag).status_code == 422
    assert empty.home.vision.read_text() == before


def test_a_vision_with_a_key_in_it_is_shown_without_and_not_written_back(empty: Stage) -> None:
    empty.home.vision.write_text(f"{GOALS}\nThe key is {KEY}\n")
    page = signed_in(empty)
    found = page.get("/api/v1/vision")
    assert KEY not in found.text and not found.json()["is_whole"]
    said = written(page, "vision", found.json()["text"], found.headers["etag"])
    assert said.status_code == 409 and KEY in empty.home.vision.read_text()


def test_a_command_in_the_vision_stays_as_it_was_written(empty: Stage) -> None:
    text = f"{GOALS}\n## Notes\n- Type python main.py status each day.\n"
    page = signed_in(empty)
    written(page, "vision", text, page.get("/api/v1/vision").headers["etag"])
    assert page.read("vision")["text"] == text


def test_a_preview_says_what_would_be_read_guarded_planned_and_asked(parked: Stage, page: Browser) -> None:
    """No model is asked: there is none in this story."""
    more = "- Tell the sum in words\n\n## Notes\n- Don't touch `settings.py`.\n- Use small functions.\n"
    text = parked.home.vision.read_text().rstrip() + f"\n{more}- Leave the holy corner alone.\n"
    seen = page.post("vision/preview", {"text": text})
    assert seen.status_code == 200
    found = seen.json()
    assert [(one["title"], one["change"]) for one in found["goals"]][-1] == ("Tell the sum in words", "new")
    assert found["guards"] == [{"note": "Don't touch `settings.py`.", "patterns": ["settings.py"]}]
    assert [wish["text"] for wish in found["wishes"]] == ["Use small functions."]
    assert "holy corner" in found["questions"][0]["text"]
    assert found["planned_next"][-1] == found["goals"][-1]["id"]
    gone = page.post("vision/preview", {"text": "# Vision\n"}).json()
    assert [one["id"] for one in gone["removed"]] == [SUM]
    assert page.post("vision/preview", {}).json()["goals"] == page.read("vision")["goals"]
    assert parked.home.vision.read_text() == VISION


def test_a_guard_that_an_edit_would_lose_is_named(tmp_path: Path) -> None:
    guarded = VISION.rstrip() + "\n\n## Notes\n- Don't touch `settings.py`.\n"
    with ScriptedModel([reads()]) as model:
        day = Stage(tmp_path, model.url).set_up(guarded, FILES)
        assert day.run_day("morning") == []
    (told,) = signed_in(day).post("vision/preview", {"text": VISION}).json()["lost_guards"]
    assert "settings.py" in told and "no longer guarded" in told


# --- tasks as files ------------------------------------------------------------------------------------------


def test_a_task_is_dropped_into_backlog_with_the_checks_of_a_file_written_by_hand(empty: Stage) -> None:
    page = signed_in(empty)
    made = page.post("tasks", {"id": "say-it", "text": TASK})
    assert (made.status_code, made.json()) == (201, {"id": "say-it", "state": "backlog"})
    assert (empty.home.root / "tasks" / "backlog" / "say-it.md").read_text() == TASK
    assert [row["id"] for row in page.read("tasks")["tasks"]] == ["say-it"]
    assert file_rows(page) == [("backlog/say-it.md", "board")]
    first, second = (page.post("tasks", {"text": TASK}).json()["id"] for _ in range(2))
    assert first.endswith("-1") and second.endswith("-2")
    wrong = {
        "there is a task say-it already": {"id": "say-it", "text": TASK},
        "is not a path inside the repository": {"text": TASK.replace("app.py", "../app.py")},
        "unknown key": {"text": TASK.replace("title: Say it", "title: Say it\ncommand: rm")},
        "must begin with front matter": {"text": "Say it"},
        "at most 65536 bytes": {"text": TASK + "x" * 70_000},
    }
    for reason, body in wrong.items():
        said = page.post("tasks", body)
        assert said.status_code == 422 and reason in said.json()["title"], said.json()
    for id_ in ("../x", "a/b", "A", ".env", "con"):
        assert page.post("tasks", {"id": id_, "text": TASK}).status_code == 422
    assert len(list((empty.home.root / "tasks").rglob("*.md"))) == 3


def test_one_press_said_twice_makes_one_task(empty: Stage) -> None:
    page = signed_in(empty)
    said = [page.post("tasks", {"text": TASK}, **{"idempotency-key": "one-press"}).json() for _ in range(3)]
    assert said[0] == said[1] == said[2]
    assert len(list((empty.home.root / "tasks").rglob("*.md"))) == 1


def test_a_task_is_edited_while_nobody_has_begun_it(parked: Stage, empty: Stage) -> None:
    page = signed_in(empty)
    page.post("tasks", {"id": "say-it", "text": TASK})
    seen = page.get("/api/v1/tasks/say-it/file")
    assert seen.json()["text"] == TASK
    other = TASK.replace("Say it in", "Print it in")
    assert written(page, "tasks/say-it/file", other, '"another"').status_code == 412
    assert written(page, "tasks/say-it/file", "nothing", seen.headers["etag"]).status_code == 422
    done = written(page, "tasks/say-it/file", other, seen.headers["etag"])
    assert done.status_code == 200 and page.read("tasks/say-it/file")["text"] == other
    assert not list((empty.home.root / "tasks" / "backlog").glob(".*")), "nothing half-written is left"
    begun = signed_in(parked)
    tag = begun.get(f"/api/v1/tasks/{ID}/file").headers["etag"]
    assert written(begun, f"tasks/{ID}/file", TASK, tag).status_code == 409


# --- what the team is and does -------------------------------------------------------------------------------


def test_the_parts_of_a_task_are_those_of_the_terminal(parked: Stage, page: Browser) -> None:
    assert page.read(f"tasks/{ID}/trace") == typed(parked, trace, id=ID)
    assert page.read(f"tasks/{ID}/attempts") == typed(parked, show, id=ID)["attempts"]
    whole = typed(parked, show, id=ID, talk=True)["calls"]
    calls: list[Any] = []
    cursor: str | None = ""
    while cursor is not None:
        one = page.read(f"tasks/{ID}/talk?limit=1&cursor={cursor}")
        calls += one["calls"]
        cursor = one["next"]
    assert calls == whole and len(calls) > 1


def test_memory_research_and_figures_are_those_of_the_terminal(parked: Stage, page: Browser) -> None:
    assert page.read("memory") == typed(parked, memory)
    assert page.read("research") == typed(parked, research)
    assert page.get("/api/v1/research/none").status_code == 404
    with redirect_stdout(StringIO()) as out:
        metrics(Arguments("metrics", parked.home.root, prometheus=True), parked.clock)
    said = page.get("/metrics")
    assert {*said.text.splitlines()} == {*out.getvalue().splitlines()}
    assert said.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert stranger(parked).get("/metrics").status_code == 401
    assert page.get("/ready").json() == {"ready": True, "daemon": "never"}


def test_the_plan_the_agents_and_the_machine_are_told(page: Browser) -> None:
    plan = page.read("plan")
    assert [task["id"] for task in plan["plan"]["tasks"]] == [ID] and ID in plan["page"]
    agents = {one["role"]: one for one in page.read("agents")}
    assert tuple(agents) == ROLES
    assert agents["coder"]["last"] == {**agents["coder"]["last"], "task": ID, "result": "done"}
    assert agents["coder"]["model"] and agents["coder"]["runs"] == []
    assert page.read("system")["machine"].keys() == page.read("status")["machine"].keys() >= {"disk", "memory"}


def test_settings_are_shown_with_their_meanings_and_without_secrets(parked: Stage, page: Browser) -> None:
    said = page.get("/api/v1/settings")
    found = said.json()
    files = {one["file"]: one for one in found["files"]}
    assert files["config/policy.yaml"]["values"]["budget"]["day"].endswith(".000000000")
    assert files["config/board.yaml"]["values"]["port"] == 8765
    assert all(field["meaning"] for one in files.values() for field in one["fields"])
    assert {"name": "ANTHROPIC_API_KEY", "is_set": True} in found["secrets"] and KEY not in said.text
    assert found["errors"] == []
    (parked.home.config / "board.yaml").write_text("ports: 1")
    wrong = page.read("settings")
    (parked.home.config / "board.yaml").unlink()
    assert ["ports: unknown key" in one for one in wrong["errors"]] == [True]
    with_form = [(file, one["key"]) for file in files.values() for one in file["fields"] if one["form"]]
    assert {file["file"] for file, _ in with_form} == set(ON_PAGES) and all(file["digest"] for file, _ in with_form)
    assert {key for _, key in with_form} & {"coder.model", "engine.launcher", "engine.python", "events.file"} == set()


def test_what_a_place_gets_as_its_environment_is_told_by_its_names_alone(empty: Stage) -> None:
    target = empty.home.targets / "site.yaml"
    place = "{port: 8001, env: {SECRET_KEY: correct-horse-battery, LANGUAGE: bn}}"
    target.write_text(f"{target.read_text()}deploy: {{driver: none, staging: {place}, production: {place}}}\n")
    said = signed_in(empty).get("/api/v1/settings")
    values = next(one for one in said.json()["files"] if one["file"].startswith("config/targets"))["values"]
    assert values["deploy"]["production"]["env"] == {"SECRET_KEY": "(set)", "LANGUAGE": "(set)"}
    assert values["deploy"]["staging"]["port"] == 8001 and "correct-horse" not in said.text


def test_of_a_long_list_the_status_tells_the_first_lines_and_how_many_more(empty: Stage) -> None:
    for number in range(MOST_LINES + 7):
        (empty.home.tasks(State.BACKLOG) / f"own-{number:03}.md").write_text(TASK)
    page = signed_in(empty)
    found = page.read("status")
    assert (len(found["ready"]), found["more"]) == (MOST_LINES, {"ready": 7})
    assert found["tasks"]["backlog"] == MOST_LINES + 7
    packed = page.get("/api/v1/status", **{"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip" and packed.json()["ready"] == found["ready"]
    assert "content-encoding" not in page.get("/health").headers, "what is short goes as it is"


@pytest.mark.parametrize("text", [None, "", "# nothing\n", "phases: [", "phase: {}\n"])
def test_settings_that_cannot_be_read_are_told_to_whom_they_concern(empty: Stage, text: str | None) -> None:
    page, path = signed_in(empty), empty.home.config / "schedules.yaml"
    path.unlink() if text is None else path.write_text(text)
    said = page.get("/api/v1/status")
    assert said.status_code == 409 and "config/schedules.yaml" in said.json()["title"]
    page.token = "x" * 43
    assert page.get("/api/v1/status").status_code == 401


def test_books_that_cannot_be_read_are_told_to_nobody_in_detail(empty: Stage) -> None:
    known = signed_in(empty).token
    empty.home.database.write_bytes(b"no database" * 1_000)
    page = stranger(empty)  # the board is begun again: what is open still is answered from
    for page.token in (known, "x" * 43):
        said = page.get("/api/v1/status")
        assert said.status_code == 503 and said.json()["title"].endswith("type: sisimpur doctor")


def put_settings(page: Browser, values: dict[str, object], file: str = "policy", **more: object) -> Any:
    name = f"config/{file}.yaml"
    (seen,) = [one for one in page.read("settings")["files"] if one["file"] == name]
    headers = {"authorization": f"Bearer {page.token}", "if-match": f'"{seen["digest"]}"'}
    headers = {key: value for key, value in {**headers, **more.pop("headers", {})}.items() if value}  # type: ignore[dict-item]
    return page.http.put("/api/v1/settings", json={"file": name, "values": values, **more}, headers=headers)


def test_settings_are_changed_where_they_lie_and_count_at_once(empty: Stage) -> None:
    page, path = signed_in(empty), empty.home.config / "policy.yaml"
    before = path.read_text()
    values = {"capacity.depth": 2, "talk.days": 7, "qa.independent": "off", "merge.write_tests": False}
    said = put_settings(page, values, confirmed=True)
    assert said.status_code == 200, said.text
    now = next(one for one in page.read("settings")["files"] if one["file"] == "config/policy.yaml")
    assert (now["values"]["capacity"]["depth"], now["values"]["talk"]["days"]) == (2, 7)
    assert (now["values"]["qa"]["independent"], now["values"]["merge"]["write_tests"]) == ("off", False)
    assert now["digest"] == said.json()["digest"] and now["digest"] == sha256_of(path.read_text())
    assert [one for one in before.splitlines() if one.startswith("#")] == [
        one for one in path.read_text().splitlines() if one.startswith("#")
    ], "what the owner wrote beside it stays"
    assert file_rows(page) == [("config/policy.yaml", "board")]
    assert put_settings(page, {"phases.research": None, "time_zone": "Asia/Dhaka"}, "schedules").status_code == 200
    assert "time_zone: Asia/Dhaka" in (empty.home.config / "schedules.yaml").read_text()


def test_a_setting_that_cannot_be_is_told_by_its_key_and_nothing_is_written(empty: Stage) -> None:
    page, path = signed_in(empty), empty.home.config / "policy.yaml"
    before = path.read_text()
    wrong = put_settings(page, {"capacity.depth": 99, "log.level": "loud", "talk.days": "many"})
    assert wrong.status_code == 422
    assert wrong.json()["errors"] == [
        {"at": "capacity.depth", "says": "write a whole number from 1 to 10"},
        {"at": "talk.days", "says": "write a whole number from 0 to 3650"},
        {"at": "log.level", "says": "write one of: debug, info, warning, error"},
    ]
    order = put_settings(page, {"budget.task": "999"}, confirmed=True)
    assert order.json()["errors"] == [{"at": "budget", "says": "task <= day <= month must hold"}]
    for grave in ("budget.day", "research.search_price"):  # at a price of nothing no cap counts a search
        assert put_settings(page, {grave: 50.0}).status_code == 422, "nobody said that it is meant"
    assert put_settings(page, {"talk.days": 1}, headers={"if-match": ""}).status_code == 428
    stale = put_settings(page, {"talk.days": 1}, headers={"if-match": '"old"'})
    assert stale.status_code == 412 and stale.json()["now"]["values"]["talk"]["days"] == 30
    assert path.read_text() == before and file_rows(page) == []


@pytest.mark.parametrize(
    ("file", "key"),
    [
        ("agents", "engine.launcher"),
        ("agents", "engine.python"),
        ("agents", "coder.model"),
        ("policy", "events.file"),
        ("policy", "research.recorded"),
        ("policy", "discord.channel"),
        ("policy", "capacity"),
        ("policy", ""),
        ("board", "port"),
        ("targets/site", "minutes"),
        ("../.state/x", "a"),
    ],
)
def test_what_becomes_a_command_a_path_or_a_name_is_not_changed_from_here(empty: Stage, file: str, key: str) -> None:
    page = signed_in(empty)
    before = {path: path.read_bytes() for path in empty.home.config.rglob("*.yaml")}
    headers = {"authorization": f"Bearer {page.token}", "if-match": '"x"'}
    body = {"file": f"config/{file}.yaml", "values": {key: "warm"}, "confirmed": True}
    assert page.http.put("/api/v1/settings", json=body, headers=headers).status_code == 404
    assert {path: path.read_bytes() for path in empty.home.config.rglob("*.yaml")} == before


# --- orders --------------------------------------------------------------------------------------------------


def test_a_last_line_without_its_end_is_marked_wherever_the_change_is_shown(tmp_path: Path) -> None:
    """Else a file of which only that changed goes and comes with the same words."""
    day = run(tmp_path, settings="X = 1")
    lines = signed_in(day).read(f"tasks/{ID}/diff")["lines"]
    marked = lines[lines.index("-X = 1") :][:3]
    assert marked == ["-X = 1", "+X = 1", "\\ No newline at end of file"]
    with redirect_stdout(StringIO()) as out:
        show(Arguments("show", day.home.root, id=ID))
    assert "\n".join(marked) in out.getvalue()


def test_comments_on_lines_are_the_coders_correction(tmp_path: Path) -> None:
    day = run(tmp_path)
    page = signed_in(day)
    comment = {"path": "settings.py", "side": "new", "line": 1, "text": "Two is too few.\nThree.", "quoted": "X = 2"}
    assert rule(page, "approve", [comment]).status_code == 422, "nobody would read them"
    assert rule(page, "reject", [{**comment, "side": "left"}]).status_code == 422
    assert rule(page, "reject", [{**comment, "text": "x" * 900}] * 12).status_code == 422
    assert rule(page, "retry", [comment]).status_code == 201
    with ScriptedModel([CODES, APPROVES]) as model:
        day.model_url = model.url
        day.given_key()
        day.run_day()
        sent = json.dumps([request.body for request in model.requests])
    assert "settings.py:1 (new) `X = 2`: Two is too few." in sent


def rule(page: Browser, ruling: str, comments: list[Any]) -> Any:
    seen = page.get(f"/api/v1/tasks/{ID}/review")
    body = {"ruling": ruling, "commit": seen.json()["commit"], "comments": comments}
    return page.post(f"tasks/{ID}/rulings", body, **{"if-match": seen.headers["etag"]})


def test_todays_cap_is_raised_as_at_the_terminal(empty: Stage) -> None:
    page = signed_in(empty)
    said = page.post("money/cap", {"cap": "12.50", "why": "a long day"})
    assert said.status_code == 201 and "may cost up to $12.50" in said.json()["told"]
    assert page.read("status")["today"]["cap"] == "12.500000000"
    (row,) = [row for row in page.read("audit?limit=200")["rows"] if row["kind"] == "cap"]
    assert (row["actor"], row["via"]) == ("owner", "board")
    for cap in ("-1", "1e9", "a lot", "99999999", "$(id)"):
        assert page.post("money/cap", {"cap": cap}).status_code == 409
    assert page.read("status")["today"]["cap"] == "12.500000000"


def test_a_task_begins_without_another_and_is_tested_again(parked: Stage, page: Browser, empty: Stage) -> None:
    mine = signed_in(empty)
    mine.post("tasks", {"id": "first", "text": TASK})
    mine.post("tasks", {"id": "second", "text": TASK.replace("files:", "depends_on: [first]\nfiles:")})
    said = mine.post("tasks/second/unblock", {"why": "it stands alone"})
    assert said.status_code == 201 and "begins without first" in said.json()["told"]
    assert mine.post("tasks/first/unblock", {}).status_code == 409
    assert mine.post("tasks/secon/unblock", {}).status_code == 404, "nothing is guessed here"
    assert mine.post("tasks/second/retest", None).status_code == 409
    assert page.post(f"tasks/{ID}/retest", None).status_code == 201


def test_a_rollback_is_left_to_who_is_at_work_and_refused_if_nobody_is(empty: Stage) -> None:
    page = signed_in(empty)
    alone = page.post("deploys/rollback", {})
    assert alone.status_code == 409 and "nobody is at work" in alone.json()["title"]
    with lock.hold(empty.home.lock):
        said = page.post("deploys/rollback", {})
    assert said.status_code == 409 and "nothing is deployed here" in said.json()["title"]


# --- the card's own addresses --------------------------------------------------------------------------------


def test_the_cards_addresses_are_the_same_reading_and_orders(parked: Stage, page: Browser, empty: Stage) -> None:
    headers = {"authorization": f"Bearer {page.token}", "idempotency-key": "one-press"}
    read = page.get(f"/orchestrator/status/{ID}")
    assert read.json() == page.read(f"tasks/{ID}")
    assert page.get("/agent/coder/status").json() == page.read("agents")[3]
    assert page.get("/agent/root/status").status_code == 404
    plan = page.http.post("/planner/plan", json={"text": GOALS}, headers=headers)
    assert plan.json() == page.post("vision/preview", {"text": GOALS}).json()
    blind = page.http.post(f"/orchestrator/approve/{ID}", json={"commit": "0" * 40}, headers=headers)
    assert blind.status_code == 428
    stale = {**headers, "if-match": read.headers["etag"]}
    assert page.http.post(f"/orchestrator/approve/{ID}", json={"commit": "0" * 40}, headers=stale).status_code == 409
    assert stranger(parked).get(f"/orchestrator/status/{ID}").status_code == 401
    mine = signed_in(empty)
    own = {**headers, "authorization": f"Bearer {mine.token}"}
    assert mine.http.post("/orchestrator/execute", json={"id": "say-it", "text": TASK}, headers=own).status_code == 201
    assert empty.states() == {"say-it": "backlog"}
