"""How many goals come out right, and what the prompts withhold. `python -m bench.goals [--only ID|REPO] [--held]`.

Of the held goals only ids, outcomes and sums are shown: nobody is to look at them while the team is built.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from bench.goals import goals as known
from bench.goals.day import SET_UP, days
from bench.goals.goals import Goal
from bench.goals.outcomes import RIGHT, UNTRUE, Ran, Result
from bench.goals.verify import environment

AT_ONCE = 2
GOALS = "right >= 95 %, called done but not so 0, rounds <= 1.3, $ <= 0.12 per right goal, tokens in <= 28,500"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table. Exit 1 if a goal did not come out right."""
    parser = argparse.ArgumentParser(prog="python -m bench.goals")
    parser.add_argument("--only", metavar="ID|REPO", default="")
    parser.add_argument("--held", action="store_true", help="the goals that are not looked at: only ids and outcomes")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", metavar="DIR", type=Path, help="each prompt with its answer, a file each")
    parser.add_argument("--at-once", metavar="N", type=int, default=AT_ONCE, help="repositories at once")
    args = parser.parse_args(argv)
    if args.held and args.keep:
        parser.error("prompts of held goals are not kept")
    chosen = [one for one in known.read(known.HERE / "held" if args.held else known.HERE) if _fits(one, args.only)]
    if not chosen:
        print("no such goal")
        return 1
    ran = _all(chosen, args.keep.absolute() if args.keep else None, args.at_once)
    print(json.dumps(for_scripts(ran, args.held), indent=2) if args.json else "\n".join(_table(ran, args.held)))
    return int(any(one.outcome != RIGHT for one in _results(ran)))


def _fits(goal: Goal, only: str) -> bool:
    return only in ("", goal.id, goal.repository)


def _all(goals: Sequence[Goal], keep: Path | None, at_once: int) -> list[Ran]:
    names = [name for name in SET_UP if any(goal.repository == name for goal in goals)]
    fresh = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="goals-") as folder, ProcessPoolExecutor(at_once, fresh) as pool:
        python = environment(Path(folder))
        some = [[goal for goal in goals if goal.repository == name] for name in names]
        todo = [(name, own, Path(folder), python, keep) for name, own in zip(names, some, strict=True)]
        return list(pool.map(days, todo))


# --- the table -----------------------------------------------------------------------------------------------


def _results(ran: Sequence[Ran]) -> list[Result]:
    return [result for one in ran for result in one.results]


def _table(ran: Sequence[Ran], held: bool) -> list[str]:
    return held_table(ran) if held else table(ran)


def table(ran: Sequence[Ran]) -> list[str]:
    """A row for each goal, then the sums, then what was missing, then what was odd."""
    rows = [
        "| goal | kind | outcome | owner's yes | merged | rounds | $ | tokens in | the reader |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in _results(ran):
        did = ", ".join(f"{what} x{many}" if many > 1 else what for what, many in Counter(one.did).items())
        rows.append(
            f"| {one.id} | {one.kind} | {one.outcome} | {one.approved} | {one.merged} | {one.rounds} | {one.cost:.3f} |"
            f" {one.tokens_in:,} | {did} |"
        )
    missing = [f"- {one.id}: {_missing(one)}" for one in _results(ran) if one.missing]
    stand = [f"- {one.id}: {text}" for one in _results(ran) for text in _stand(one)]
    odd = [f"- {what}: {many} prompts" for part in ran for what, many in part.unknown.items()]
    odd += [f"- {' '.join(problem.split())[:400]}" for part in ran for problem in part.problems]
    return [
        *rows,
        "",
        *totals(ran),
        "",
        "What was missing:",
        *missing,
        "",
        "What did not come out right:",
        *stand,
        *(["", "Odd:", *odd] if odd else []),
    ]


def _missing(one: Result) -> str:
    """`planner x2: a.py, b.py; coder: b.py`: the files of needed lines that did not stand in that many prompts."""
    found: dict[str, list[str]] = {}
    for what, many in sorted(one.missing.items()):
        role, _, path = what.partition(": ")
        found.setdefault(f"{role} x{many}" if many > 1 else role, []).append(path)
    return "; ".join(f"{role}: {', '.join(paths)}" for role, paths in found.items())


def _stand(one: Result) -> Iterator[str]:
    if one.outcome != RIGHT:
        yield f"the check: {one.why}"
        yield from one.tasks
        if one.asked:
            yield f"asked: {one.asked[:300]}"


def totals(ran: Sequence[Ran]) -> list[str]:
    """Figures over all goals, and the goal of each."""
    results = _results(ran)
    right, merged = sum(one.outcome == RIGHT for one in results), sum(one.merged for one in results)
    cost, tokens = sum(one.cost for one in results), sum(one.tokens_in for one in results)
    whole, named = (sum(one.small[place] for one in results) for place in (0, 1))
    shares = sum((part.shares for part in ran), Counter[str]())
    every = shares.total() or 1
    return [
        f"right: {right} of {len(results)} ({right / len(results):.0%}), {sum(one.approved for one in results)} tasks"
        " with the owner's yes",
        f"called done but not so: {sum(one.outcome in UNTRUE for one in results)}",
        f"rounds per merged task: {sum(one.rounds for one in results) / (merged or 1):.2f}, of these"
        f" {sum(one.written for one in results) / (merged or 1):.2f} to write tests only ({merged} tasks)",
        f"$ per right goal: {cost / (right or 1):.3f} (${cost:.2f} in all)",
        f"tokens in per merged task: {tokens // (merged or 1):,}",
        f"share of tokens in: {', '.join(f'{role} {many / every:.0%}' for role, many in shares.most_common())}",
        f"small files that goals name, whole in the planner's first prompt: {whole} of {named}",
        f"goals: {GOALS}",
    ]


def held_table(ran: Sequence[Ran]) -> list[str]:
    return [*(f"{one.id:<20}{one.outcome}" for one in _results(ran)), "", *totals(ran)]


def for_scripts(ran: Sequence[Ran], held: bool) -> object:
    found = _results(ran)
    goals = [{"id": one.id, "outcome": one.outcome} if held else asdict(one) for one in found]
    return {"goals": goals, "totals": totals(ran)}


if __name__ == "__main__":
    sys.exit(main())
