"""`show ID`: the whole story of a task; `--talk`: what was said to models for it, and by them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sisimpur.agents.orchestrator.board.plan_approval import PLAN
from sisimpur.agents.orchestrator.goals.standing import beside
from sisimpur.agents.orchestrator.integration.feature_branches import own_target
from sisimpur.agents.orchestrator.publishing import gate_text, owner_text
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import (
    money,
    pasteable,
    plain,
    plain_block,
    print_groups,
    print_json,
    print_list,
    short,
)
from sisimpur.cli.views.pulls import pull_text, pulls
from sisimpur.cli.views.status import asked_about, in_its_place
from sisimpur.cli.wiring.records import Records, find, open_records
from sisimpur.shared.model.evidence import Reviewed
from sisimpur.shared.model.lifecycle import State
from sisimpur.shared.model.text import counted
from sisimpur.shared.money.token_budget import as_dollars
from sisimpur.shared.record.conversations import Conversation, Conversations, RecordedCall
from sisimpur.shared.store.task_records import Attempt, Waivers

WAITS = "waits for you: "
WORTH_POINTING = 200  # characters: of a longer text, where it stood before is said instead


def show(arguments: Arguments) -> int:
    """Print why it waits and what to type before all that was ever said and done about it."""
    if arguments.talk:
        return _talk(arguments)
    with open_records(arguments.home, looking=True) as records:
        id_, state = find(records.store, arguments.id)
        facts = task_facts(records, id_, state)
        change = pull_text(records, facts["pulls"][0]["number"]) if facts["pulls"] and not arguments.json else ""
        asked, note = asked_about(records, id_)
    if arguments.json:
        return print_json(facts)
    print(plain(f"{id_} ({state})  {facts['title']}".rstrip()))
    for one in asked:
        *why, last = one.reasons or ("",)
        lines = [[pasteable(reason, arguments.home)] for reason in why]
        last = pasteable(last, arguments.home)
        print_groups("waits for you", [*lines, [last, one.command, *in_its_place(one.others)]])
    print_list("where it stands", [pasteable(note, arguments.home)] if note and not asked else [])
    gates = [line for line in facts["gates"] if not (asked and line.startswith(WAITS))]
    print_list("what tests and review say", (pasteable(line, arguments.home) for line in gates))
    print_list("pull request", (f"#{row['number']} {row['state']}  {row['url']}" for row in facts["pulls"]))
    amounts = [f"${facts['cost'][name][:-5]} {name}" for name in ("spent", "lost")] if facts["cost"] else []
    print_list("cost of all that it took, reviews too", [", ".join(amounts)] if amounts else [])
    print(f"\nits file:\n{plain_block(facts['text'].strip())}")
    _print_story(facts)
    if change:
        print("\n" + plain_block(change))
    return 0


def _print_story(facts: Mapping[str, Any]) -> None:
    print_list("goes into", [f"{facts['branch']}, until all of its goal is there"] if facts["branch"] else [])
    print_list("said about it", facts["words"])
    print_list("history", (_event(event) for event in facts["history"]))
    print_list(
        "begins without",
        (f"{_without(one['from'])}: you said so {one['at'][:19]}  {one['why']}" for one in facts["unblocked"]),
    )
    print_list("attempts", (_attempt(attempt, facts["asked"]) for attempt in facts["attempts"]))


def _without(what: str) -> str:
    return "a further word on its plan" if what == PLAN else what


# --- what was said -------------------------------------------------------------------------------------------


def _talk(arguments: Arguments) -> int:
    """Print the calls for a task in their order. Tokens and dollars are those of the money book, never of the record.

    A text that stood in an earlier call is not repeated, unless it is for scripts.
    """
    with open_records(arguments.home, looking=True) as records:
        is_known = records.journal.task(arguments.id)  # its file may be gone
        id_ = arguments.id if is_known else find(records.store, arguments.id)[0]
        calls = list(Conversations(records.home.talk, records.db).of(id_))
    tokens_in, tokens_out, amount = (
        sum(one.row[name] for one in calls) for name in ("tokens_in", "tokens_out", "amount")
    )
    if arguments.json:
        total = {"tokens_in": tokens_in, "tokens_out": tokens_out, "amount": as_dollars(amount)}
        return print_json({"id": id_, **total, "calls": list(map(call_facts, calls))})
    print(plain(f"{id_}: {counted(len(calls), 'call')}, {_sums(tokens_in, tokens_out, amount)}"))
    for line in told(calls):
        print(line)
    return 0


def told(calls: Iterable[RecordedCall]) -> Iterator[str]:
    """Tell each call and what was said in it, for the screen."""
    first: dict[str, int] = {}  # in which call a text stood
    for one in calls:
        yield f"\n{plain(_heading(one.row))}"
        if one.said is None:
            yield plain(one.trouble)
            continue
        for who, text in spoken(one.said):
            number = first.setdefault(text, one.row["number"])
            is_new = number == one.row["number"] or len(text) < WORTH_POINTING
            yield f"\n[{plain(who)}]" + (f"\n{plain_block(text)}" if is_new else f" (as in call {number})")
        if one.said.left_out:
            yield f"\n({one.said.left_out:,} characters were too much for the record)"


def call_facts(one: RecordedCall) -> dict[str, Any]:
    """Return a call in the form of `--json`."""
    said = one.said or Conversation(None, None)
    return {**one.row, "amount": as_dollars(one.row["amount"]), **vars(said), "trouble": one.trouble}


def _heading(row: Mapping[str, Any]) -> str:
    attempt = f"attempt {row['attempt']}" if row["attempt"] else ""
    again = f"repetition {row['retry']}" if row["retry"] else ""
    why = ": ".join(filter(None, (row["code"] or row["stop_reason"], row["note"])))
    who = "  ".join(filter(None, (row["agent"], attempt, row["model"], again)))
    sums = _sums(row["tokens_in"], row["tokens_out"], row["amount"])
    return f"== call {row['number']}  {row['at'][:19]}  {who}  {sums}  {row['state']}{f' ({why})' if why else ''}"


def _sums(tokens_in: int, tokens_out: int, amount: int) -> str:
    return f"{tokens_in:,} tokens in, {tokens_out:,} out, ${short(amount)}"


def spoken(said: Conversation) -> Iterator[tuple[str, str]]:
    """Who said what, in order: system, user, tool, then the answer."""
    if not isinstance(said.request, Mapping):
        yield "not understood", str(said.request)
        return
    yield from _parts("system", said.request.get("system") or ())
    for message in said.request.get("messages") or ():
        yield from _parts(message.get("role", ""), message.get("content") or ())
    yield from _parts("answer", said.answer)


def _parts(who: str, content: Any) -> Iterator[tuple[str, str]]:
    """A text, or a list of blocks, whatever is in them."""
    if isinstance(content, str):
        yield who, content
        return
    for block in content:
        kind = block.get("type", "")
        if kind in ("text", "thinking"):
            yield f"{who}{' thinks' if kind == 'thinking' else ''}", str(block.get(kind, ""))
        elif kind == "tool_result":
            yield from _parts("tool", block.get("content") or "")
        else:
            rest = {name: value for name, value in block.items() if name != "type"}
            yield f"{who}: {kind}", json.dumps(rest, ensure_ascii=False)


# --- the task ------------------------------------------------------------------------------------------------


def task_facts(records: Records, id_: str, state: State) -> dict[str, Any]:
    """Collect everything in the form of `--json`."""
    journal, spent = records.journal, records.spending.spent_by(id_)
    spec, known = records.store.read(state, id_).spec, journal.task(id_)
    return {
        "id": id_,
        "state": state.value,
        "title": getattr(spec, "title", ""),
        "text": records.store.text(state, id_),
        "history": [{"at": e.at, "event": e.event, "state": e.target, "note": e.note} for e in journal.history(id_)],
        "unblocked": [{"at": at, "from": one, "why": why} for one, why, at in Waivers(records.db).of(id_)],
        "words": beside(records.words.of([known.goal_id]), id_) if known else (),
        "branch": own_target(journal, known) if known else "",
        "attempts": numbered(journal.attempts(id_)),
        "asked": getattr(spec, "asked", ""),
        "cost": {name: value for name, value in money(spent).items() if name != "cap"} if spent.used else {},
        "pulls": [row for row in pulls(records)[0] if row["task"] == id_],
        "gates": at_the_gates(records, id_, state),
    }


def numbered(attempts: Sequence[Attempt]) -> list[dict[str, Any]]:
    """Number the attempts that count: 1, 2, 3. Another one has no number; `key` names its folder and commit."""
    rows: list[dict[str, Any]] = []
    for attempt in attempts:
        counted = sum(row["number"] is not None for row in rows)
        number = counted + 1 if attempt.outcome != "void" else None
        outcome = attempt.outcome or "open"
        rows.append(
            {
                "number": number,
                "key": attempt.number,
                "outcome": outcome,
                "note": attempt.note,
                "asked": attempt.asked,
                "refused": list(attempt.refused),
            }
        )
    return rows


def _attempt(row: dict[str, Any], asked: str) -> str:
    other = "; for other words than the file's" if row["asked"] and row["asked"] != asked else ""
    refused = f"; refused to write: {', '.join(row['refused'])}" if row["refused"] else ""
    return f"{row['number'] or '-'}: {row['outcome']}  {row['note']}{other}{refused}"


def _event(event: dict[str, Any]) -> str:
    at, where = event["at"][:16].replace("T", " "), event["state"].replace("_", " ").removeprefix("in ")
    return f"{at}  {event['event']}, now in {where}  {event['note']}".rstrip()


def at_the_gates(records: Records, task: str, state: State) -> list[str]:
    """Say what tests and review said last, and what the owner is asked."""
    evidence, reviewed = records.gates.newest(task)
    lines = [f"tests: {gate_text.summary(evidence)}"] if evidence else []
    lines += [problem.text for problem in evidence.problems] if evidence else []
    lines += owner_text.before_and_after(evidence) if evidence else []
    lines += [f"not seen: {one}" for one in owner_text.unseen(evidence)] if evidence else []
    lines += [gate_text.tools(evidence)] if evidence and evidence.tools else []
    lines += _review(reviewed) if reviewed else []
    lines += [
        f"over {one.finding}: your word{f', {one.why}' if one.why else ''}" for one in records.gates.ruled_over(task)
    ]
    parked = records.gates.parked(task) if state is State.IN_REVIEW else None
    if parked and records.gates.is_approved(parked):
        return [*lines, "you have approved it; it is merged when the team works next"]
    return [*lines, *(f"{WAITS}{reason}" for reason in (parked.reasons if parked else ()))]


def _review(reviewed: Reviewed) -> list[str]:
    """Its verdict, its word to the owner, and what the owner can rule over."""
    lines = [f"review: {gate_text.verdict_line(reviewed.verdict)}"]
    lines += [f"the reviewer tells you: {reviewed.word}"] if reviewed.word else []
    findings = reviewed.verdict.findings
    can = [
        line
        for one, line in zip(findings, gate_text.numbered(findings), strict=False)
        if gate_text.can_be_ruled_over(one)
    ]
    lines += [f"shown by {test}: {criterion}" for criterion, test in reviewed.acceptance if test]
    return [*lines, *(f"finding {line} (settled by: approve ID --over NUMBER)" for line in can)]
