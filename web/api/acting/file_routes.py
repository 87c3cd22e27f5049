"""Addresses of the owner's own files: VISION.md, ROADMAP.md, settings, tasks in backlog; read, previewed, written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from sisimpur.agents.orchestrator.roadmap.roadmap import LATER
from sisimpur.agents.orchestrator.roadmap.roadmap_moves import moved
from sisimpur.agents.orchestrator.roadmap.weeks import monday_of
from sisimpur.cli.terminal.printing import pasteable
from sisimpur.cli.views.vision import vision_facts
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.config.reference import FILES, GRAVE, ON_PAGES, setting_rows
from sisimpur.shared.config.setting_edit import changed
from sisimpur.shared.model.errors import Misconfigured, Refused
from sisimpur.shared.store.chain import heard_by
from sisimpur.shared.system.markdown import outline
from sisimpur.shared.system.strict_yaml import parse
from sisimpur.web.api.acting.acting_routes import BoardActions, Key, Seen
from sisimpur.web.api.acting.order_bodies import MoveBody, NewTaskBody, PreviewBody, SettingsBody, TaskBody, VisionBody
from sisimpur.web.api.acting.owners_files import (
    OwnersFile,
    add_task,
    require_task,
    roadmap_file,
    setting_file,
    task_file,
    vision_file,
)
from sisimpur.web.api.base.board_answers import API, as_response, problem_answer
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.board_openapi import described
from sisimpur.web.api.base.guard import problem, signed_in
from sisimpur.web.api.base.sign_in import BoardAnswer
from sisimpur.web.api.reading.plan_answers import RoadmapFileAnswer, VisionAnswer, VisionPreviewAnswer
from sisimpur.web.api.reading.reading_routes import state_of
from sisimpur.web.api.reading.task_answers import FileAnswer, NewTaskAnswer, TaskFileAnswer
from sisimpur.web.api.reading.team_answers import ChangedSettingsAnswer

Facts = Callable[[str], Mapping[str, Any]]  # a text -> what is read of it; Refused, Misconfigured: it cannot be read
Find = Callable[[Records], tuple[OwnersFile, Facts]]


@dataclass(frozen=True)
class FileRoutes:
    home: BoardHome
    actions: BoardActions

    def routes(self) -> APIRouter:
        routes = APIRouter(prefix=API)
        vision, roadmap, task = (
            described(read | FileAnswer) for read in (VisionAnswer, RoadmapFileAnswer, TaskFileAnswer)
        )
        preview, settings = described(VisionPreviewAnswer), described(ChangedSettingsAnswer)
        routes.add_api_route("/vision", self.vision, responses=vision)
        routes.add_api_route("/vision", self.write_vision, methods=["PUT"], responses=vision)
        routes.add_api_route("/vision/preview", self.preview, methods=["POST"], responses=preview)
        routes.add_api_route("/roadmap/file", self.roadmap, responses=roadmap)
        routes.add_api_route("/roadmap/goals", self.move_goal, methods=["PUT"], responses=roadmap)
        routes.add_api_route("/settings", self.change_settings, methods=["PUT"], responses=settings)
        routes.add_api_route(
            "/tasks", self.create, methods=["POST"], status_code=201, responses=described(NewTaskAnswer, 201)
        )
        routes.add_api_route("/tasks/{id}/file", self.task, responses=task)
        routes.add_api_route("/tasks/{id}/file", self.write_task, methods=["PUT"], responses=task)
        return routes

    def vision(self) -> Response:
        """VISION.md, and what is read of it. The ETag is the digest of the file."""
        return self._read(_vision)

    def write_vision(self, body: VisionBody, seen: Seen = "") -> Response:
        """`If-Match`: the ETag of the text that was changed."""
        return self._write(_vision, body.text, seen)

    def preview(self, body: PreviewBody) -> Response:
        """What would be read, guarded, planned and asked. No model is asked, nothing is kept."""
        with self.home.open() as records:
            file, facts = _vision(records)
            try:
                told = self.home.told(facts(file.text if body.text is None else with_plain_ends(body.text)), records)
            except (Refused, Misconfigured) as said:
                return self._unreadable(said)
        return Response(told.encode("utf-8", "backslashreplace"), media_type="application/json")

    def roadmap(self) -> Response:
        """ROADMAP.md. The ETag is the digest of the file."""
        return self._read(_roadmap)

    def move_goal(self, body: MoveBody, seen: Seen = "") -> Response:
        """Put a goal into another week, or below Later. `If-Match`: the ETag of ROADMAP.md as it was read."""

        def with_it_moved(records: Records, text: str) -> str:
            today = records.day()
            try:
                is_past = body.place != LATER and monday_of(body.place) < monday_of(today)
                place = body.place if body.place == LATER else monday_of(body.place).isoformat()
            except ValueError:
                raise Misconfigured(f"{body.place} is no day") from None
            if is_past:
                raise Misconfigured("that week is over; choose this one or a later one")
            found = moved(text, outline(text), body.goal, place, today)
            if found is None:
                raise Misconfigured(f"{body.goal} does not stand in ROADMAP.md; look again")
            return found

        return self._write(_roadmap, with_it_moved, seen)

    def change_settings(self, request: Request, body: SettingsBody, seen: Seen = "") -> Response:
        """Write values into a file of settings. `If-Match`: its digest as it was read, in quotes."""
        if body.file not in ON_PAGES:
            raise HTTPException(404, f"no setting of {body.file} is changed from here; use an editor")
        forms = {row.key for row in setting_rows(FILES[body.file]) if row.form}
        if unknown := sorted(set(body.values) - forms):
            raise HTTPException(404, f"{unknown[0]} is not changed from here; use an editor")
        is_grave = any(key.startswith(GRAVE) for key in body.values)
        if is_grave and not body.confirmed:
            raise HTTPException(422, "this decides what is spent and merged: say that it is meant (confirmed)")
        proof = self._proof(request, body, seen) if is_grave else {}
        if isinstance(proof, BoardAnswer):
            return as_response(proof)
        with heard_by(signed_in(request.scope).via, proof):
            return self._write(_settings(body.file), lambda _, text: changed(text, body.file, body.values), seen)

    def _proof(self, request: Request, body: SettingsBody, seen: str) -> Mapping[str, str] | BoardAnswer:
        order = (body.file, seen.strip('"'), body.model_dump_json(include={"values"}))
        with self.home.open(looking=False) as records:
            return self.actions.step_up.proof(request, records, order, body.passkey)

    def task(self, id: str) -> Response:  # noqa: A002
        """The task's file. The ETag is its digest."""
        return self._read(_task(id))

    def write_task(self, id: str, body: TaskBody, seen: Seen = "") -> Response:  # noqa: A002
        """Only in backlog. `If-Match`: the ETag of the text that was changed."""
        return self._write(_task(id), body.text, seen)

    def create(self, body: NewTaskBody, key: Key) -> Response:
        """Put a new task into backlog. Its text is that of a file, front matter first."""

        def judged(records: Records) -> BoardAnswer:
            try:
                id_ = add_task(records, body.id, with_plain_ends(body.text))
            except (Refused, Misconfigured) as said:
                return BoardAnswer(422, problem(422, pasteable(str(said), self.home.root)).decode())
            return BoardAnswer(201, self.home.told({"id": id_, "state": "backlog"}, records))

        return self.actions.once(key, f"create {body.model_dump_json()}", judged)

    # -- any of them ------------------------------------------------------------------------------------------

    def _read(self, find: Find) -> Response:
        with self.home.open() as records:
            return self._shown(records, *find(records))

    def _write(self, find: Find, new: str | Callable[[Records, str], str], seen: str) -> Response:
        """`new`: the text, or what makes it of the one that is there."""
        if not seen:
            raise HTTPException(428, "say which text you have changed: If-Match")
        with self.actions.lock, self.home.open(looking=False) as records:
            file, facts = find(records)
            if seen != file.tag:
                now = json.loads(self._told(records, file, facts))
                return problem_answer(412, "it has changed since you read it", now=now, etag=file.tag)
            try:
                text = with_plain_ends(new if isinstance(new, str) else new(records, file.text))
                facts(text)
            except (Refused, Misconfigured) as said:
                return self._unreadable(said)
            file.replace(records, text)
            return self._shown(records, *find(records))

    def _shown(self, records: Records, file: OwnersFile, facts: Facts) -> Response:
        body = self._told(records, file, facts).encode("utf-8", "backslashreplace")
        return Response(body, headers={"etag": file.tag}, media_type="application/json")

    def _told(self, records: Records, file: OwnersFile, facts: Facts) -> str:
        """`is_whole`: no key was taken out of the text, so that it can be written back."""
        try:
            read, why_not = facts(file.text), ""
        except (Refused, Misconfigured) as said:
            read, why_not = {}, str(said)
        about = {"digest": file.tag.strip('"'), "is_whole": file.is_shown_whole(records), "problem": why_not}
        return self.home.told({**about, **read}, records, text=file.text)

    def _unreadable(self, why: Refused | Misconfigured) -> Response:
        wrong = why.wrong if isinstance(why, Misconfigured) else ()
        errors = {"errors": [{"at": key, "says": reason} for key, reason in wrong]} if wrong else {}
        return problem_answer(422, pasteable(str(why), self.home.root), **errors)


def with_plain_ends(text: str) -> str:
    """Return it with the line ends of our files."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _vision(records: Records) -> tuple[OwnersFile, Facts]:
    return vision_file(records), lambda text: vision_facts(records, text)


def _settings(name: str) -> Find:
    def facts(text: str) -> Mapping[str, Any]:
        read: BaseModel = parse(text, name).as_type(FILES[name])
        return {"file": name, "values": read.model_dump(mode="json")}

    return lambda records: (setting_file(records, name), facts)


def _task(id_: str) -> Find:
    def found(records: Records) -> tuple[OwnersFile, Facts]:
        state = state_of(records, id_)

        def facts(text: str) -> Mapping[str, Any]:
            require_task(id_, text)
            return {"id": id_, "state": state.value}

        return task_file(records, id_, state), facts

    return found


def _roadmap(records: Records) -> tuple[OwnersFile, Facts]:
    def facts(text: str) -> Mapping[str, Any]:
        return {"lines": len(outline(text))}

    try:
        return roadmap_file(records), facts
    except FileNotFoundError:
        raise HTTPException(404, "there is no ROADMAP.md yet: it is written in the morning") from None
