"""Addresses of the card for the same reading and orders: its planner, orchestrator and agents; a workflow is a task."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from sisimpur.cli.views.show import task_facts
from sisimpur.web.api.acting.acting_routes import BoardActions, Key, Seen
from sisimpur.web.api.acting.file_routes import FileRoutes
from sisimpur.web.api.acting.order_bodies import ApprovalBody, RulingBody
from sisimpur.web.api.base.board_answers import answered
from sisimpur.web.api.base.board_home import BoardHome
from sisimpur.web.api.base.board_openapi import KNOWN, Changed, described
from sisimpur.web.api.reading import team_readers
from sisimpur.web.api.reading.plan_answers import VisionPreviewAnswer
from sisimpur.web.api.reading.reading_routes import state_of
from sisimpur.web.api.reading.task_answers import NewTaskAnswer, TaskAnswer
from sisimpur.web.api.reading.team_answers import AgentAnswer, DoneAnswer


def alias_routes(home: BoardHome, actions: BoardActions, files: FileRoutes) -> APIRouter:
    routes = APIRouter()
    routes.add_api_route("/planner/plan", files.preview, methods=["POST"], responses=described(VisionPreviewAnswer))
    routes.add_api_route(
        "/orchestrator/execute",
        files.create,
        methods=["POST"],
        status_code=201,
        responses=described(NewTaskAnswer, 201),
    )

    @routes.get("/orchestrator/status/{id}", responses=KNOWN | described(TaskAnswer))
    def status(id: str, known: Changed = "") -> Response:  # noqa: A002 (as everywhere)
        return answered(home.read(lambda records: task_facts(records, id, state_of(records, id))), known)

    @routes.post("/orchestrator/approve/{id}", status_code=201, responses=described(DoneAnswer, 201))
    def approve(request: Request, id: str, body: ApprovalBody, key: Key, seen: Seen = "") -> Response:  # noqa: A002
        """`If-Match`: the ETag of the review that was read."""
        ruling = RulingBody(ruling="approve", commit=body.commit, why=body.why, passkey=body.passkey)
        return actions.rule(request, id, ruling, key, seen)

    @routes.get("/agent/{role}/status", responses=KNOWN | described(AgentAnswer))
    def agent(role: str, known: Changed = "") -> Response:
        if role not in team_readers.ROLES:
            raise HTTPException(404, f"there is no agent {role[:60]}; there are {', '.join(team_readers.ROLES)}")
        agents = home.read(lambda records: next(one for one in team_readers.agents(records) if one["role"] == role))
        return answered(agents, known)

    return routes
