"""`logs`: what was written down, in words; with `--follow` also what is being written."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sisimpur.cli.terminal.arguments import DONE, INTERRUPTED, Arguments
from sisimpur.cli.terminal.printing import plain
from sisimpur.cli.wiring.records import require_home
from sisimpur.shared.model.errors import Misconfigured
from sisimpur.shared.model.naming import fits
from sisimpur.shared.money.token_budget import cents
from sisimpur.shared.system.clock import SystemClock
from sisimpur.shared.system.log import Line, Tail, moment, newest
from sisimpur.shared.system.paths import Home

LONGEST_LINE = 300  # of a log line on the screen; the file has it whole
ROLES = ("coder", "devops", "meter", "orchestrator", "planner", "qa", "researcher", "reviewer")
PAUSE = 0.3  # seconds between two looks
ABOUT = ("at", "level", "agent", "event", "run", "task", "attempt")

# What the events say; what stands in no template is said with its fields.
WORDS = {
    "vision accepted": "VISION.md: {new} new, {changed} changed, {removed} removed",
    "planned": "planned {tasks}; {notes}",
    "engine": "the engine ended: {end}; {detail}",
    "tests": "{tests} tests run ({which}), {end}, {seconds} s",
    "evidence": "tested {commit} in {box}; {problems}",
    "verdict": "{commit} {verdict}",
    "deploy": "{place} {commit}: {what}",
    "deploy.broke": "{place} {commit}: {what}: {why}",
    "broke off": "came to no end: {why}",
    "was stopped": "was stopped: {why}; it is begun again when the team works next",
    "meter.settled": "{model} answered: ${amount}, {ms} ms, {stop}",
    "meter.failed": "{model} {failed}; {note}",
    "meter.refused": "{model}: not sent ({code})",
    "meter.cut": "the caller left; ${amount} stay booked",
    "meter.halted": "a call cost ${amount}, more than the ${reserved} reserved: all spending stops",
    "meter.reconciled": "{lost} calls of a process that died are booked as lost",
}


def logs(arguments: Arguments) -> int:
    """Print log lines. Ctrl-C ends `--follow`: 130, as with every interrupted command."""
    home = Home(arguments.home)
    require_home(home, looking=True)
    _refuse_unknown(arguments.agent, home)
    print_line = _print_raw if arguments.json else _print_words
    tail = Tail(home.logs)
    try:
        if not _print(tail, arguments, max(arguments.lines, 0), print_line) and arguments.lines > 0:
            print("logs: no line of what you asked for is written yet", file=sys.stderr)
        while arguments.follow:
            SystemClock().sleep(PAUSE)
            _print(tail, arguments, None, print_line)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        tail.close()
    return DONE


def _refuse_unknown(agent: str | None, home: Home) -> None:
    """Misconfigured: nobody of that name writes a log."""
    names = sorted({*ROLES, *(path.stem for path in home.logs.glob("*.jsonl"))})
    if agent and agent not in names:
        raise Misconfigured(f"there is no agent {agent!r}; there are: {', '.join(names)}")


def _print(tail: Tail, arguments: Arguments, most: int | None, print_line: Callable[[Line], None]) -> int:
    """-> how many lines."""
    wanted = (line for line in tail.new() if _is_wanted(line, arguments))
    lines = list(newest(wanted, most) if most is not None else sorted(wanted, key=moment))
    for line in lines:
        print_line(line)
    return len(lines)


def _is_wanted(line: Line, arguments: Arguments) -> bool:
    """Tell whether agent and task fit. A line of the meter is also one of the agent that called."""
    whose = (str(line["agent"]), str(line["event"]).partition(".")[0]) if "event" in line else (str(line["agent"]),)
    return (not arguments.agent or arguments.agent in whose) and (
        not arguments.task or fits(str(line.get("task", "")), arguments.task)
    )


def _print_raw(line: Line) -> None:
    """Print it as JSON with every character beyond ASCII escaped: nothing in it can control the terminal."""
    print(json.dumps(line), flush=True)


def _print_words(line: Line) -> None:
    who, task = str(line["agent"]), str(line.get("task", ""))
    print(plain(f"{_time(str(line.get('at', '')))}  {who:<12}  {task:<12}  {_words(line)}")[:LONGEST_LINE], flush=True)


def _time(text: str) -> str:
    try:
        return datetime.fromisoformat(text).strftime("%m-%d %H:%M:%S")
    except ValueError:
        return f"{text[:14]:<14}"


def _words(line: Line) -> str:
    event = str(line.get("event", ""))
    fields = {name: _value(name, value) for name, value in line.items() if name not in ABOUT}
    if event in WORDS:
        known = defaultdict(str, fields, failed=_failed(fields))
        return WORDS[event].format_map(known).strip("; ")
    return ": ".join(part for part in (event, ", ".join(f"{name} {text}" for name, text in fields.items())) if part)


def _failed(fields: Mapping[str, str]) -> str:
    """What became of a call, without a code of ours; the vendor's status tells who has to do something."""
    if fields.get("code") == "meter_upstream_refused":
        return f"did not take the call (its status {fields.get('status', '')})"
    status = fields.get("status", "")
    return "did not answer" + (f" (its status {status})" if status not in ("", "0", "none") else "")


def _value(name: str, value: Any) -> str:
    """Write it as a person would."""
    if name in ("amount", "reserved") and isinstance(value, int):
        return cents(value)
    if isinstance(value, float):
        return f"{value:.1f}"
    if name == "commit":
        return str(value)[:8]
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "none" if value is None else str(value)
