"""What the gates found, in words: for the pull request, for the coder, for the owner. Pure.

Whatever tests printed or models said is quoted; it is data for whoever reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from sisimpur.agents.orchestrator.publishing.owner_text import cause_of, unseen, without_it
from sisimpur.shared.forge.forge import CheckResult
from sisimpur.shared.llm.prompts import quoted
from sisimpur.shared.model.change import DEPENDENCIES
from sisimpur.shared.model.evidence import (
    SURROUNDINGS,
    Approved,
    ChangesRequested,
    Escalated,
    Evidence,
    Failure,
    Finding,
    Problem,
    Reviewed,
    Severity,
    ToolRun,
    Verdict,
)
from sisimpur.shared.model.scope import matches
from sisimpur.shared.model.text import bullets, ranges, sha256_of
from sisimpur.shared.model.work import TaskSpec

MOST = 10  # failures that are shown one by one; twice as many remarks
TRACE, SHORTEST_TRACE = 1_500, 300  # characters of one trace for the coder
WHOLE = 12_000  # characters of all traces for the coder
STILL = 600  # of one that failed before, too
MOST_LOST = 16_000  # of a change that fits no more
LOST = "The last change, as it was before it no longer fitted; take from it what still holds:"
SHORT = 8  # letters of a finding's signature


def summary(evidence: Evidence) -> str:
    counts = f"{evidence.passed} passed, {evidence.failed} failed, {evidence.skipped} skipped"
    if evidence.failing_before:
        counts += f" ({evidence.failing_before} failed before)"
    if evidence.new_tests:
        counts += f"; {len(evidence.new_tests)} new"
        if evidence.proving or not evidence.is_red:  # what is red is not compared further
            proving = len(evidence.proving)
            counts += f", {proving} of them {'fails' if proving == 1 else 'fail'} without the change"
    return counts


def status(evidence: Evidence) -> tuple[CheckResult, str]:
    """For the commit: its state, and a note of one line."""
    if evidence.is_red:
        return "failure", evidence.needing("correct")[0].text
    return "success", summary(evidence)


def verdict_line(verdict: Verdict) -> str:
    match verdict:
        case Approved(findings):
            return f"approved, {len(findings)} comments" if findings else "approved"
        case ChangesRequested(findings):
            return f"changes requested: {findings[0].path}:{findings[0].line} {findings[0].text}"
        case Escalated(reason):
            return f"for the owner: {reason}"


def logged(reviewed: Reviewed) -> dict[str, object]:
    """The fields of a log line."""
    findings = () if isinstance(reviewed.verdict, Escalated) else reviewed.verdict.findings
    found = [f"{one.severity} {one.path}:{one.line} {one.text}" for one in findings]
    return {"commit": reviewed.commit, "verdict": verdict_line(reviewed.verdict), "findings": found}


def digest(text: str) -> str:
    return sha256_of(text)[:12]


# --- for the pull request ------------------------------------------------------------------------------------


def evidence(found: Evidence) -> str:
    word = "red" if found.is_red else "need the owner" if found.problems else "green"
    parts = [
        f"### Tests: {word}",
        f"{summary(found)}; {found.seconds:.1f} s; `{found.command or 'no tests'}` in {found.box}",
        bullets(f"{problem.text}{_tests(problem)}" for problem in found.problems),
        bullets(f"`{one.test}` at {_place(one)}: {cause_of(one)}" for one in found.failures[:MOST]),
        bullets(without_it(found)),
        bullets(f"not seen: {one}" for one in unseen(found)),
        _coverage(found),
        tools(found),
        f"not run: the suites of {'; '.join(found.not_run)}" if found.not_run else "",
        f"tested before by itself, and on this base together with {', '.join(found.together)}"
        if found.together
        else "",
        f"flaky: {', '.join(found.flaky[:MOST])}" if found.flaky else "",
        f"fails in other surroundings ({SURROUNDINGS}), as before: {', '.join(found.astray[:MOST])}"
        if found.astray
        else "",
        f"commit {found.commit}, tree {found.tree}, on top of {found.base}; report {found.digest[:16] or 'none'}",
    ]
    return "\n\n".join(part for part in parts if part)


def tools(found: Evidence) -> str:
    """What was checked by tools of its own, and what was not; empty: nothing has any."""
    told = (f"{run.name}: {_told(run)}" for run in found.tools)
    return f"checked by its own tools: {'; '.join(told)}" if found.tools else ""


def _told(run: ToolRun) -> str:
    return f"{len(run.new)} new" if run.new else "nothing new" if run.end == "ran" else run.end


def _coverage(found: Evidence) -> str:
    if found.covered is None:
        return ""
    before = f" (before: {found.covered_before:.1f} %)" if found.covered_before is not None else ""
    return f"coverage {found.covered:.1f} %{before}"


def review(task: str, reviewed: Reviewed) -> str:
    verdict, word = reviewed.verdict, reviewed.word
    told = f"For the owner: {word}" if word and word not in verdict_line(verdict) else ""
    asked = isinstance(verdict, ChangesRequested) and any(map(can_be_ruled_over, verdict.findings))
    over = f"If one is wrong: `python main.py approve {task} --over NUMBER` settles it for its line." if asked else ""
    shown = "\n".join(accepted(reviewed))
    parts = (f"### Review: {verdict_line(verdict)}", told, "\n".join(numbered(verdict.findings)), over, shown)
    return "\n\n".join(part for part in parts if part)


def accepted(reviewed: Reviewed) -> Iterator[str]:
    """Each acceptance criterion, ticked where the reviewer names a test that fails without the change."""
    for criterion, test in reviewed.acceptance:
        yield f"- [x] {criterion} (`{test}`)" if test else f"- [ ] {criterion} (no test of it is named)"


def numbered(findings: Sequence[Finding]) -> list[str]:
    """Findings as the owner names them: by number, or by the letters at the end, which stay the same.

    The worst come first: of remarks not all.
    """
    deciding = sum(one.severity is not Severity.LOW for one in findings)
    shown = findings[: max(deciding, 2 * MOST)]
    return [f"{number}. {_finding(one)} `{one.signature[:SHORT]}`" for number, one in enumerate(shown, 1)]


def can_be_ruled_over(finding: Finding) -> bool:
    """It holds something up, and is about no guard and no key."""
    return finding.severity is not Severity.LOW and not finding.is_guarded


def _finding(finding: Finding) -> str:
    return f"{finding.severity}: {finding.path}:{finding.line} {finding.text} ({finding.source}: {finding.rule})"


def waiting(task: str, reasons: Sequence[str], commit: str = "") -> str:
    """`commit`: if the owner's words below the pull request count."""
    typed = f"`python main.py approve {task}`, `reject {task} --why ...`, or `retry {task} --why ...`"
    below = f"`/approve {commit[:12]}`, `/approve over FINDING`, `/reject why`, or `/retry what to do differently`"
    parts = ("### Waits for the owner", bullets(reasons), typed, f"Or write here: {below}." if commit else "")
    return "\n\n".join(filter(None, parts))


# --- for the coder -------------------------------------------------------------------------------------------


def permission(spec: TaskSpec) -> str:
    """Tell what the task may do that is forbidden elsewhere; empty: nothing."""
    named = [path for path in (*spec.files, *spec.new_files) if matches(path, DEPENDENCIES)]
    if not named:
        return ""
    return f"The task names {', '.join(named)}: you may add there what the task asks for, and nothing else."


def findings(
    found: Evidence | None,
    reviewed: Reviewed | None,
    said: Sequence[str],
    happened: Sequence[str] = (),
    allowed: str = "",
    was: str = "",
) -> str:
    """A compact digest of what is to be corrected; `said`: what the owner wrote about it, the newest last.

    All that decides is told, the same once with a count, causes first; of many failures the traces are shorter.
    `happened`: what became of earlier attempts; `allowed`: what the task may do that is forbidden elsewhere, no digest
    by itself; `was`: the last change, of which nothing is there any more.
    """
    owner = "The owner says:\n" + quoted("\n".join(said[-3:]), "owner") if said else ""
    before = "What happened before:\n" + quoted(bullets(happened), "attempts") if happened else ""
    lost = f"{LOST}\n{quoted(was[:MOST_LOST], 'change')}" if was else ""
    parts = [owner, before, lost, _problems(found, bool(said)), _review(reviewed)]
    parts += [_still_open(found), allowed] if any(parts) else []
    return "\n\n".join(part for part in parts if part)


def cannot_be_done(words: str) -> str:
    """Of a task that the coder gives back, with its own words."""
    return f"the coder changed nothing: {words}"


def code_is_wrong(words: str) -> str:
    """QA's answer about its own red test, for the coder."""
    return f"QA wrote the test that fails, was asked whether the test or the code is wrong, and says: {words}"


def _problems(found: Evidence | None, asked: bool) -> str:
    """`asked`: by the owner, who knows what else waits; what only the owner decides is nothing for the coder."""
    problems = [one for one in found.problems if asked or one.remedy != "ask owner"] if found else []
    if found is None or not problems:
        return ""
    told = [f"{problem.rule}: {problem.text}{_tests(problem)}" for problem in problems]
    told += [f"{run.name}, {len(run.new)} in all: {'; '.join(run.new)}" for run in found.tools if run.new]
    alike: dict[str, list[Failure]] = {}
    for failure in found.failures:
        alike.setdefault(failure.text.partition("\n\n")[0], []).append(failure)
    room = max(SHORTEST_TRACE, min(TRACE, WHOLE // max(1, len(alike))))
    traces = "\n\n".join(_failure(room, *failures) for failures in alike.values())
    printed = f"The end of what was printed:\n{quoted(found.output[-TRACE:], 'output')}" if found.output else ""
    return "\n\n".join(part for part in ("The tests say:", quoted(bullets(told), "tests"), traces, printed) if part)


def _still_open(found: Evidence | None) -> str:
    """What fails as it did before, and why, and what no test sees."""
    if found is None:
        return ""
    unseen = bullets([*found.unrun, *found.unheld])
    traces = "\n\n".join(_failure(STILL, one) for one in found.still)
    told = f"Fails as it did before the change:\n\n{traces}" if traces else ""
    return "\n\n".join(filter(None, (told, f"What no test sees:\n{quoted(unseen, 'tests')}" if unseen else "")))


def _tests(problem: Problem) -> str:
    """All tests of a problem whose line names only some, by the file or class that they are in."""
    found: dict[str, list[str]] = {}
    for test in problem.tests:
        head, bracket, values = test.partition("[")
        place, sign, name = head.rpartition("::" if "::" in head else ".")
        found.setdefault(f"{place}{sign}", []).append(f"{name}{bracket}{values}")
    is_whole = all(name in problem.text for names in found.values() for name in names)
    told = "; ".join(f"{place}{', '.join(names)}" for place, names in found.items())
    return "" if is_whole else f" ({len(problem.tests)} in all: {told})"


def _failure(room: int, failure: Failure, *same: Failure) -> str:
    """One of those that fail for the same cause, which is told first, and the names of the others."""
    others = ", ".join(f"{one.test} at {_place(one)}" for one in same)
    count = f"\nFor the same cause {len(same)} more: {others}" if same else ""
    return quoted(f"{failure.test} at {_place(failure)}\n{failure.text[:room]}{count}", "failure")


def _place(failure: Failure) -> str:
    return failure.where or "an unknown place"


def _review(reviewed: Reviewed | None) -> str:
    if reviewed is None or not isinstance(reviewed.verdict, ChangesRequested):
        return ""
    findings = reviewed.verdict.findings
    deciding = [one for one in findings if one.severity is not Severity.LOW]
    remarks = [one for one in findings if one.severity is Severity.LOW][: 2 * MOST]
    alike: dict[tuple[str, str, str, str], list[Finding]] = {}
    for one in (*deciding, *remarks):
        alike.setdefault((one.severity, one.source, one.rule, one.text), []).append(one)
    lines = bullets(_same(found) for found in alike.values())
    return f"The reviewer asks for changes:\n{quoted(lines, 'findings')}" if lines else ""


def _same(found: Sequence[Finding]) -> str:
    """The same finding in all its places."""
    first, places = found[0], dict.fromkeys(one.path for one in found)
    if len(found) == 1:
        return _finding(first)
    told = (f"{path}:{ranges(one.line for one in found if one.path == path)}" for path in places)
    return f"{first.severity}: {first.text} ({first.source}: {first.rule}), {len(found)} times: {'; '.join(told)}"


# --- for the owner -------------------------------------------------------------------------------------------


def in_turn(tries: Sequence[str], most: int = 3) -> list[str]:
    """How the last tries ended, each with its number; the same, time after time, is told once."""
    told, first = [], 1
    for note, same in groupby(tries):
        last = first + len([*same]) - 1
        told.append(f"{first if first == last else f'{first} to {last}'}: {note}")
        first = last + 1
    return told[-most:]


def diagnosis(task: str, why: str, notes: Sequence[str]) -> str:
    """Of a task that has failed: what was tried, how each try ended, what can be done."""
    tries = "\n".join(f"{number}. {note}" for number, note in enumerate(notes, 1))
    told = f"`python main.py retry {task} --why 'what to do differently'` gives it fresh attempts; or reword its goal."
    return "\n\n".join(part for part in (f"### Closed: {why}", tries, told) if part)
