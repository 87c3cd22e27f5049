"""Door to what was deployed. The only module that remembers deploys, the owner's orders, and pauses.

Each step is booked when it is done: what a kill cut off is done again, and finds what is there already.
"""

from __future__ import annotations

import secrets
import sqlite3
from dataclasses import dataclass
from datetime import datetime

from sisimpur.shared.model.deployment import (
    OVER,
    PLACES,
    Deploy,
    DeployEvent,
    DeployStage,
    NewDeploy,
    Order,
    Place,
    after,
)
from sisimpur.shared.store.database import OfDatabase, when
from sisimpur.shared.system.fault import fault_point

DEPLOYS = (
    "select *, not exists (select 1 from deploys e where e.place = d.place and e.number < d.number"
    " and e.started_at is not null) is_first from deploys d"
)


@dataclass(frozen=True)
class Pause:
    at: datetime
    why: str


class DeployRepository(OfDatabase):
    def name(self) -> str:
        """Twelve digits by which an engine's containers and images are known as this home's; made once."""
        with self._db.transaction() as db:
            db.execute("insert or ignore into deploy_name values (1, ?)", (secrets.token_hex(6),))
            (name,) = db.execute("select name from deploy_name").fetchone()
        fault_point("deploy.named")
        return str(name)

    # -- deploys ----------------------------------------------------------------------------------------------

    def plan(self, plan: NewDeploy, now: datetime, order: int | None = None) -> Deploy:
        """`order`: the owner's, which it fulfils."""
        with self._db.transaction() as db:
            cursor = db.execute(
                "insert into deploys (place, commit_id, back_to, asked, stage, begun_at) values (?, ?, ?, ?, ?, ?)",
                (plan.place, plan.commit, plan.back_to, plan.asked, DeployStage.PLANNED.value, now.isoformat()),
            )
            db.execute("update deploy_orders set deploy = ? where number = ?", (cursor.lastrowid, order))
            deploy = _deploy(db.execute(f"{DEPLOYS} where number = ?", (cursor.lastrowid,)).fetchone())
        fault_point("deploy.planned")
        return deploy

    def happened(self, deploy: Deploy, event: DeployEvent, now: datetime, why: str = "", backup: str = "") -> Deploy:
        """-> the deploy as it is after it."""
        stage = after(deploy.stage, event)
        when = now.isoformat()
        with self._db.transaction() as db:
            db.execute(
                "update deploys set stage = ?, why = iif(? = '', why, ?), backup = iif(? = '', backup, ?),"
                " started_at = iif(?, ?, started_at), ended_at = iif(?, ?, ended_at) where number = ?",
                (
                    *(stage.value, why, why, backup, backup),
                    *(event is DeployEvent.STARTED, when),
                    *(stage in OVER, when, deploy.number),
                ),
            )
            changed = _deploy(db.execute(f"{DEPLOYS} where number = ?", (deploy.number,)).fetchone())
        fault_point("deploy.booked")
        return changed

    def reverted_by(self, deploy: Deploy, pull: int) -> None:
        self._db.write("update deploys set reverts = ? where number = ?", (pull, deploy.number))
        fault_point("deploy.reverted")

    def settled(self, deploy: Deploy) -> None:
        self._db.write("update deploys set settled = 1 where number = ?", (deploy.number,))
        fault_point("deploy.settled")

    def deploys(self) -> tuple[Deploy, ...]:
        """All, the oldest first."""
        return tuple(map(_deploy, self._db.rows(f"{DEPLOYS} order by number")))

    # -- the owner's words ------------------------------------------------------------------------------------

    def order(self, place: Place, commit: str, now: datetime) -> None:
        """The same again while it waits is one order."""
        values = (place, commit)
        self._db.write(
            "insert into deploy_orders (place, commit_id, at) select ?, ?, ? where not exists"
            " (select 1 from deploy_orders where place = ? and commit_id = ? and deploy is null)",
            (*values, now.isoformat(), *values),
        )
        fault_point("deploy.ordered")

    def withdraw(self, place: Place, commit: str) -> None:
        """An order that nobody has begun."""
        self._db.write(
            "delete from deploy_orders where place = ? and commit_id = ? and deploy is null", (place, commit)
        )
        fault_point("deploy.withdrawn")

    def orders(self) -> tuple[Order, ...]:
        """Those that wait, the oldest first."""
        rows = self._db.rows("select * from deploy_orders where deploy is null order by number")
        return tuple(Order(row["number"], _place(row["place"]), row["commit_id"]) for row in rows)

    def pause(self, why: str, now: datetime) -> None:
        """Nothing changes if they are paused already."""
        self._db.write(
            "insert into deploy_pauses (at, why) select ?, ?"
            " where not exists (select 1 from deploy_pauses where ended_at is null)",
            (now.isoformat(), why),
        )
        fault_point("deploy.paused")

    def resume(self, now: datetime) -> None:
        """What has come to nothing may be tried again, whether there was a pause or not."""
        when = now.isoformat()
        with self._db.transaction() as db:
            (newest,) = db.execute("select coalesce(max(number), 0) from deploys where ended_at is not null").fetchone()
            db.execute(
                "insert into deploy_pauses (at, why) select ?, 'asked to go on'"
                " where not exists (select 1 from deploy_pauses where ended_at is null)",
                (when,),
            )
            db.execute("update deploy_pauses set ended_at = ?, forgiven = ? where ended_at is null", (when, newest))
        fault_point("deploy.resumed")

    def paused(self) -> Pause | None:
        row = self._db.row("select * from deploy_pauses where ended_at is null")
        return Pause(datetime.fromisoformat(row["at"]), row["why"]) if row else None

    def forgiven(self) -> int:
        """Deploys up to this number may be tried again."""
        row = self._db.row("select coalesce(max(forgiven), 0) n from deploy_pauses")
        return int(row["n"]) if row else 0


def _deploy(row: sqlite3.Row) -> Deploy:
    return Deploy(
        number=row["number"],
        place=_place(row["place"]),
        commit=row["commit_id"],
        stage=DeployStage(row["stage"]),
        back_to=row["back_to"],
        why=row["why"],
        asked=bool(row["asked"]),
        is_first=bool(row["is_first"]),
        begun_at=when(row["begun_at"]),
        started_at=when(row["started_at"]),
        ended_at=when(row["ended_at"]),
        backup=row["backup"],
        reverts=row["reverts"],
        settled=bool(row["settled"]),
    )


def _place(text: str) -> Place:
    return {str(place): place for place in PLACES}[text]
