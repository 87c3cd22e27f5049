"""A task in review -> ReviewState: everything that the merge policy decides on. Looks and changes nothing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from sisimpur.agents.orchestrator.board.pull_checks import PullChecks
from sisimpur.agents.orchestrator.board.writing import CommitsOfAttempts, TestTurns, sent_back
from sisimpur.agents.orchestrator.integration.feature_branches import FeatureBranches, lands
from sisimpur.shared.forge.forge import Forge, ForgeRefused, Pull
from sisimpur.shared.model.change import Change, needs_owner, started
from sisimpur.shared.model.evidence import (
    OLD_FAILS,
    Answers,
    Approved,
    ChangesRequested,
    Evidence,
    Finding,
    Reviewed,
    Severity,
    is_test_file,
)
from sisimpur.shared.model.gate import ReviewState, Turn, Wish, fingerprint
from sisimpur.shared.model.lifecycle import wording
from sisimpur.shared.model.naming import attempt_ref, is_upkeep
from sisimpur.shared.model.text import few, one_line
from sisimpur.shared.model.work import Branch, TaskSpec, Vision
from sisimpur.shared.money.ledger_reader import LedgerReader
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.gate_book import GateRepository, Ruling, Terms, reworded
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.store.task_records import Attempt, TaskRecord

LONGEST_TERM, MOST_PATHS = 4_000, 5  # characters of a wording, and paths that are named


@dataclass(frozen=True)
class SeenCommit:
    """What a commit is, once and for all."""

    branch: Branch
    subject: str  # digest of the change itself
    changes: Sequence[Change]


def protected_paths(mirror: Mirror, base: str, changes: Sequence[Change], listed: Sequence[str]) -> tuple[str, ...]:
    """Return those of the changed paths that are never merged without the owner. `listed`: his own list."""
    paths = tuple(change.path for change in changes)
    found = {*needs_owner(changes, listed), *started(mirror, base, paths)}
    return tuple(path for path in paths if path in found)


class AttemptCommits:
    """The commits of attempts, as our mirror has them. `protected`: paths of the owner's own list."""

    def __init__(self, mirror: Mirror, protected: Sequence[str]) -> None:
        self._mirror = mirror
        self._protected = protected
        self._seen: dict[str, SeenCommit] = {}
        self._ended: dict[tuple[str, int], str] = {}  # whose commit never changes any more
        self._tests: dict[tuple[str, str], tuple[str, ...]] = {}

    def seen(self, known: TaskRecord, commit: str) -> SeenCommit:
        if commit not in self._seen:
            base = self._mirror.parent(commit)
            changes = self._mirror.changed(base, commit)
            theirs = protected_paths(self._mirror, base, changes, self._protected)
            branch = Branch(known.head, base, commit, tuple(change.path for change in changes), theirs)
            self._seen[commit] = SeenCommit(branch, subject_of(self._mirror.diff(base, commit)), changes)
        return self._seen[commit]

    def newest(self, known: TaskRecord) -> str:
        """The newest commit that led to a pull request; empty: none that we know."""
        attempts = (one for one in reversed(known.attempts) if one.outcome != "void")
        return next((commit for one in attempts if (commit := self.of(known, one))), "")

    def of(self, known: TaskRecord, attempt: Attempt) -> str:
        """The commit of one attempt; empty: it led to none."""
        key = known.id, attempt.number
        found = self._ended.get(key) or self._mirror.attempt(attempt_ref(*key)) or ""
        if found and attempt.outcome:
            self._ended[key] = found
        return found

    def tests_since(self, known: TaskRecord, before: str, commit: str) -> tuple[str, ...]:
        """Test files of a commit's change that are not as they are in another commit."""
        if (before, commit) not in self._tests:
            changed = {change.path for change in self._mirror.changed(before, commit)}
            paths = self.seen(known, commit).branch.changed
            self._tests[before, commit] = tuple(path for path in paths if path in changed and is_test_file(path))
        return self._tests[before, commit]


class PullRequests:
    """The tasks' pull requests, by task, as the forge said when it was last asked."""

    def __init__(self, forge: Forge, journal: Journal, branches: FeatureBranches, ignored: Sequence[str]) -> None:
        """`ignored`: the checks that count for nothing, see PullChecks."""
        self.checks = PullChecks(forge, branches.mirror, ignored)
        self._forge = forge
        self._journal = journal
        self._branches = branches
        self.known: dict[str, Pull] = {}

    def hear(self, known: Iterable[TaskRecord]) -> None:
        """Ask the forge for those of these tasks: the owner may have merged, closed or moved one."""
        self.checks.anew()
        for one in known:
            pull = self._forge.find_pull(one.head, self._branches.target(one)) or self._turned(one)
            if pull is not None:
                self.known[one.id] = pull

    def _turned(self, known: TaskRecord) -> Pull | None:
        """The one that we made, if somebody has turned it to another base; at another forge its number is another's."""
        attempts = reversed(known.attempts)
        numbers = (self._journal.outcome_of(f"{known.id}.a{attempt.number}:pr") for attempt in attempts)
        number = next(filter(None, numbers), "")
        try:
            pull = self._forge.get_pull(int(number)) if number else None
        except ForgeRefused:
            return None
        return pull if pull and pull.head == known.head else None

    def state(self, task: str) -> Literal["open", "closed", "merged", ""]:
        pull = self.known.get(task)
        return pull.state if pull else ""

    def foreign_head(self, task: str, commit: str) -> str:
        """What an open pull request holds, if it is not this commit."""
        pull = self.known.get(task)
        return pull.head_sha if pull and pull.state == "open" and pull.head_sha != commit else ""


@dataclass(frozen=True)
class OwnerNotes:
    """What the notes say now. `guards`: not to touch; `unseen`: what a model alone made of them today."""

    guards: Sequence[str] = ()
    unseen: Sequence[str] = ()


NO_NOTES = OwnerNotes()


@dataclass(frozen=True)
class ReviewFacts:
    """`task_cap`: nano-dollars that a task may cost."""

    commits: AttemptCommits
    pulls: PullRequests
    branches: FeatureBranches
    gates: GateRepository
    ledger: LedgerReader
    task_cap: int
    turns: TestTurns

    def submission(
        self, known: TaskRecord, spec: TaskSpec | None, vision: Vision | None, notes: OwnerNotes = NO_NOTES
    ) -> ReviewState | None:
        """None if the commit is not in our mirror. `spec`: what its file says now."""
        gates, commit = self.gates, self.commits.newest(known)
        if not commit:
            return None
        seen, evidence = self.commits.seen(known, commit), gates.evidence(known.id, commit)
        evidence, reviewed = _for(known, spec, evidence), _for(known, spec, gates.reviewed(known.id, commit))
        answers = AnsweredFindings(gates, self.commits).answers(known)
        found = ReviewState(
            commit=commit,
            subject=seen.subject,
            is_current=self.branches.is_current(known, seen.branch.base),
            in_full_box=evidence is None or not evidence.box.startswith("reduced"),
            in_budget=self.ledger.used_by([known.id])[known.id].amount <= self.task_cap,
            goal="early" if self.branches.lands_early(known) else _goal(known, vision),
            protected=seen.branch.protected,
            guarded=tuple(change.path for change in seen.changes if change.is_one_of(notes.guards)),
            unseen=tuple(notes.unseen),
            pull_state=self.pulls.state(known.id),
            head=self.pulls.foreign_head(known.id, commit),
            evidence=evidence,
            checks_begun=gates.begun("check", known.id, commit),
            reviewed=_still_holds(reviewed, answers),
            contradicted=gates.coder_said(known.id, commit),
            reviews_begun=gates.begun("review", known.id, commit),
            fingerprints=frozenset(self._fingerprints(known, commit)),
            bent=frozenset(self._bent(known, commit)),
            writing=self.turns.at(known, commit),
            into="" if lands(known) else self.branches.target(known),
            paths=seen.branch.changed,
            is_again=self._is_again(known),
            turn=self._turn(known, commit),
            others=self.pulls.checks.of(known.id, commit),
        )
        return self._ruled(found, known, spec, vision)

    def _ruled(
        self, found: ReviewState, known: TaskRecord, spec: TaskSpec | None, vision: Vision | None
    ) -> ReviewState:
        """With what the owner was told, and has said, of exactly this change, and in which words."""
        parked, said = self.gates.parked(known.id), self.gates.approval(known.id, found.subject)
        terms = _terms(known, vision, found.guarded, spec)
        if said and not said.terms and spec and not known.is_for(spec.asked):
            said = None  # of an earlier version: nobody knows for which words it was given
        since = reworded(said.terms, terms) if said else ()
        told = "\n".join(parked.reasons) if parked and parked.subject == found.subject else ""
        return replace(found, approved=said is not None and not since, terms=terms, since=since, told=told)

    def has_room(self, task: str) -> bool:
        """Whether it has not yet used half of what it may cost."""
        return 2 * self.ledger.used_by([task])[task].amount <= self.task_cap

    def _is_again(self, known: TaskRecord) -> bool:
        """What it brings up to date was approved: by a reader, or by the owner's word."""
        before = known.last.refreshes if known.last else ""
        read = self.gates.reviewed(known.id, before) if before else None
        return read is not None and not isinstance(read.verdict, ChangesRequested)

    def _turn(self, known: TaskRecord, commit: str) -> Turn:
        """By the files that its branch has now: whatever came in between, a place in the queue means nothing then."""
        place = self.gates.places.place(known.id)
        tip = self.branches.mirror.head(self.branches.target(known)) if place else None
        if place is None or tip is None:
            return ""
        if not place.trees:
            return "alone" if commit == place.commit else ""
        mirror = self.branches.mirror
        if commit != place.commit and mirror.tree_id(commit) != place.trees[-1]:
            return ""
        now = mirror.tree_id(tip)
        return "now" if now == place.trees[-2] else "later" if now in place.trees[:-2] else ""

    def _bent(self, known: TaskRecord, newest: str) -> Iterable[str]:
        """Old tests that an earlier attempt was sent back for, since it changed them to fit."""
        for commit in {self.commits.of(known, attempt) for attempt in sent_back(known)} - {newest}:
            found = self.gates.evidence(known.id, commit)
            yield from (
                test for one in (found.problems if found else ()) if one.rule == OLD_FAILS for test in one.tests
            )

    def _fingerprints(self, known: TaskRecord, newest: str) -> Iterable[str]:
        """Of corrections. A commit that was read once more, since somebody answered, is none yet."""
        ends = [self.commits.of(known, one) for one in known.attempts if one.outcome == "sent back"].count(newest)
        to_qa = self.turns.to_qa(known)
        for attempt in (one for one in sent_back(known) if one not in to_qa):
            commit = self.commits.of(known, attempt)
            if commit != newest or ends >= self.gates.begun("review", known.id, commit):
                yield fingerprint(self.gates.evidence(known.id, commit), self.gates.reviewed(known.id, commit))


F = TypeVar("F", Evidence, Reviewed)


def _for(known: TaskRecord, spec: TaskSpec | None, found: F | None) -> F | None:
    """What was found under other words than those that were coded, or stand there now, counts for nothing."""
    now = spec.asked if spec else ""
    return found if found is None or found.asked in ("", now) or known.is_for(found.asked) else None


def _still_holds(reviewed: Reviewed | None, answers: Answers) -> Reviewed | None:
    """What was found is read anew when somebody has answered it since."""
    is_settled = reviewed is None or isinstance(reviewed.verdict, Approved) or reviewed.heard == answers.digest
    return reviewed if is_settled else None


def subject_of(diff: bytes) -> str:
    """The digest of a change wherever it stands: without the ids of whole files, and without the numbers of lines.

    What git names behind these, the class or function that a line is in, counts: the same lines may stand in another.
    """
    plain = re.sub(rb"^(?:index [0-9a-f]+\.\.[0-9a-f]+[^\n]*$|@@ [^\n]*? @@)", b"", diff, flags=re.MULTILINE)
    return hashlib.sha256(plain).hexdigest()


def _terms(known: TaskRecord, vision: Vision | None, guarded: Sequence[str], spec: TaskSpec | None) -> Terms:
    """What an approval is given for, beside the change; what cannot be read now is left out."""
    found = {"your notes": f"not to touch {few(guarded, MOST_PATHS)}" if guarded else ""}
    if vision is not None and known.goal_id:
        goal = next((goal for goal in vision.goals if goal.id == known.goal_id), None)
        found["its goal"] = one_line("; ".join((goal.title, *goal.details)), LONGEST_TERM) if goal else ""
    if spec is not None:
        found |= {
            "its title": one_line(spec.title, LONGEST_TERM),
            "its text": one_line(spec.description, LONGEST_TERM),
            "its files": ", ".join((*spec.files, *spec.new_files)),
            "what it has to do": one_line("; ".join(spec.acceptance), LONGEST_TERM),
            "its guards": ", ".join(spec.guards),
            "the tests that it changes": ", ".join(spec.changes_tests),
        }
    return tuple(found.items())


def _goal(known: TaskRecord, vision: Vision | None) -> Wish:
    """What the team began by itself is told by the task's own id, as for its money and its place in the order."""
    ours = is_upkeep(known.id)
    if not known.goal_id or vision is None:
        return "upkeep" if ours else "wanted"
    goal = next((goal for goal in vision.goals if goal.id == known.goal_id), None)
    if goal is None:
        return "removed"
    if ours:
        return "upkeep"
    if wording(goal) != known.wording:
        return "reworded"
    return "proposed" if goal.proposed_by else "wanted"


# --- answers to findings, by the coder and by the owner, and what is left of them ----------------------------


LED_TO_A_COMMIT = ("ok", "sent back", "stale")


@dataclass(frozen=True)
class AnsweredFindings:
    gates: GateRepository
    commits: CommitsOfAttempts

    def answers(self, known: TaskRecord) -> Answers:
        """Each once, the newest last."""
        told = (self.gates.coder_said(known.id, self.commits.of(known, attempt)) for attempt in known.attempts)
        owner = (ruling.why for ruling in self._said(known) if ruling.kind == "correct")
        return Answers(tuple(dict.fromkeys(filter(None, told))), tuple(dict.fromkeys(owner)), self._over(known))

    def for_coder(self, known: TaskRecord, commit: str) -> Reviewed | None:
        """What was found in a commit, as far as the coder can mend it and the owner has not answered it."""
        reviewed = self.gates.reviewed(known.id, commit) if commit else None
        if reviewed is None or not isinstance(reviewed.verdict, ChangesRequested):
            return reviewed
        said, since = self._said(known), self.gates.begun_at("review", known.id, commit)
        words = OwnerWords(tuple(one.why for one in said), any(since and one.at > since for one in said))
        left = unanswered(reviewed.verdict.findings, words, self._over(known))
        return replace(reviewed, verdict=ChangesRequested(left))

    def settled_commit(self, known: TaskRecord) -> str:
        """The last commit, if the owner has since ruled over all that sent it back. Empty: words are the coder's."""
        over, sent = self.gates.ruled_over(known.id), [one for one in known.attempts if one.outcome in LED_TO_A_COMMIT]
        commit = self.commits.of(known, sent[-1]) if over and sent else ""
        evidence, reviewed = self.gates.evidence(known.id, commit), self.gates.reviewed(known.id, commit)
        if not commit or evidence is None or evidence.is_red or reviewed is None:
            return ""
        left = [one for one in reviewed.verdict.findings if _weighs(one, self._over(known))]
        said_since = [one for one in self._said(known) if one.at > max(ruled.at for ruled in over)]
        is_sent_back = isinstance(reviewed.verdict, ChangesRequested)
        return commit if is_sent_back and not left and not said_since else ""

    def _said(self, known: TaskRecord) -> list[Ruling]:
        return [one for one in self.gates.rulings(known.id) if one.kind != "approve" and one.why]

    def _over(self, known: TaskRecord) -> frozenset[str]:
        return frozenset(one.signature for one in self.gates.ruled_over(known.id))


def _weighs(finding: Finding, over: Collection[str]) -> bool:
    """It sends back, although the owner has ruled over others."""
    is_settled = finding.signature in over and not finding.is_guarded
    return finding.severity is not Severity.LOW and not finding.is_the_owners and not is_settled


@dataclass(frozen=True)
class OwnerWords:
    """What the owner wrote about a change. `since`: some of it after the findings."""

    said: tuple[str, ...] = ()
    since: bool = False


def unanswered(findings: Sequence[Finding], words: OwnerWords, over: Collection[str]) -> tuple[Finding, ...]:
    """What is left for the coder: what the owner decides, has ruled over (`over`) or speaks of is no order any more.

    Where the owner's words came later and name none, a rule's order gives way to them. Guards and keys stand.
    """
    kept = []
    for one in findings:
        is_settled = one.signature in over or any(map(one.is_named_in, words.said))
        if one.is_guarded:
            kept.append(one)
        elif one.source != "model" and words.since and not one.is_the_owners and not is_settled:
            kept.append(replace(one, text="the owner has answered this since: do what the owner says"))
        elif not one.is_the_owners and not is_settled:
            kept.append(one)
    return tuple(kept)
