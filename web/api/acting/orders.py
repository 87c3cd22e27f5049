"""What can be ordered: each is the function behind the terminal's command; the audit says that it came by the board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sisimpur.cli.commands.deploys import paused, resumed, rolled_back
from sisimpur.cli.commands.owner_commands import Order, answered, approved, cap_raised, moved, retested, unblocked
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.views.daemon_state import how_it_goes_on
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.model.errors import Misconfigured

ORDERS: Mapping[str, Order] = {
    "approve": approved,
    "reject": moved,
    "retry": moved,
    "cancel": moved,
    "done": moved,
    "answer": answered,
    "pause-deploys": paused,
    "resume-deploys": resumed,
    "rollback": rolled_back,
    "raise-cap": cap_raised,
    "unblock": unblocked,
    "retest": retested,
}


def carried_out(records: Records, arguments: Arguments) -> dict[str, Any]:
    """Do it, and tell what came of it. Misconfigured: it means nothing there, or not any more."""
    if arguments.command == "reject" and not arguments.why.strip():
        raise Misconfigured("say why: the coder reads it if you retry the task")
    if arguments.command == "answer" and arguments.id not in {one.goal_id for one in records.questions()}:
        raise Misconfigured(f"nothing is asked about {arguments.id}")
    whole = replace(arguments, home=records.home.root)
    return {"told": ORDERS[arguments.command](records, whole), "next": how_it_goes_on(records.db, records.home)}
