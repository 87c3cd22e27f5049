"""A sick deploy -> a pull request that takes its commit back. It belongs to no task; each effect is an intent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sisimpur.agents.orchestrator.board.session import Session
from sisimpur.agents.orchestrator.integration.feature_branches import TargetBranch
from sisimpur.agents.orchestrator.publishing.delivery import LABELS
from sisimpur.shared.forge.forge import REVIEW_CONTEXT, Forge, Pull, PullNotReady, marked
from sisimpur.shared.model.change import Change
from sisimpur.shared.model.deployment import Deploy
from sisimpur.shared.model.naming import VERSION, WHO
from sisimpur.shared.model.text import defuse
from sisimpur.shared.repo.commit_text import CommitText
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.repo.mirror_commits import AlreadyThere, Conflict, Rebased
from sisimpur.shared.store.journal import Journal
from sisimpur.shared.system.fault import fault_point


@dataclass(frozen=True)
class NotTakenBack:
    """There is no pull request; `is_done`: what the commit changed is not on the branch any more."""

    why: str
    is_done: bool = False


@dataclass(frozen=True)
class TakingBack:
    """`may_merge`: (what it changes) -> whether it may be merged without the owner, if it is proved."""

    journal: Journal
    mirror: Mirror
    forge: Forge
    main: TargetBranch
    clean: Callable[[str], str]  # the filter for outgoing text
    session: Session
    may_merge: Callable[[Sequence[Change]], bool]

    def ensure(self, deploy: Deploy, task: str) -> Pull | NotTakenBack:
        """Repeatable at any point: what is there already is found, not made again."""
        name = f"agent/revert-{deploy.commit[:12]}"
        found = self.forge.find_pull(name, self.main.name)
        if found and not self.journal.outcome_of(_key(deploy, "push")):
            return NotTakenBack(f"pull request #{found.number} comes from {name}, and is not ours: close it")
        if found is None or found.state == "open":
            sha = self._commit(deploy)
            if isinstance(sha, NotTakenBack):
                return sha
            if why := self._push(deploy, sha, name):
                return NotTakenBack(why)
            return self._merged_if_proved(deploy, task, self._pull(deploy, task, name))
        self._book_end(deploy, found)
        return found

    def _book_end(self, deploy: Deploy, pull: Pull) -> None:
        """What a kill kept from being booked."""
        key = _key(deploy, "merge")
        if pull.merge_sha and self.journal.intended(key):
            self.journal.achieved(key, pull.merge_sha)

    def _commit(self, deploy: Deploy) -> str | NotTakenBack:
        """The one that stands in our mirror, or a new one."""
        ref = _ref(deploy)
        tip = self.main.sync()
        if standing := self.mirror.attempt(ref):
            return standing
        match self.mirror.taken_back(deploy.commit, tip, ref, WHO, self.session.now()):
            case Rebased(sha):
                return sha
            case Conflict(paths):
                where = ", ".join(paths[:5]) or "its history"
                return NotTakenBack(
                    f"{deploy.commit[:8]} cannot be taken back by itself: what came after it is in the way ({where})"
                )
            case AlreadyThere():
                return NotTakenBack(f"{deploy.commit[:8]} is taken back already", is_done=True)

    def _push(self, deploy: Deploy, sha: str, name: str) -> str:
        """Create-only -> why not: a branch of this name that is not ours is somebody's. Empty: it is there."""
        key = _key(deploy, "push")
        if self.journal.outcome_of(key):
            return ""
        there = self.mirror.remote_head(name)
        if there and not (there == sha and self.journal.intended(key)):
            return f"{name} is there already, and not ours: remove that branch"
        self.journal.intend(key, "push", "", sha, self.session.now())
        if not there:
            self.mirror.push(sha, name)
        self.journal.achieved(key, sha)
        return ""

    def _pull(self, deploy: Deploy, task: str, name: str) -> Pull:
        key = _key(deploy, "pr")
        self.journal.intend(key, "pull request", "", name, self.session.now())
        title = f"Take back {deploy.commit[:8]}, which was sick at {deploy.place}"
        body = marked(f"{task}:revert", defuse(self.clean(_body(deploy, task))))
        pull = self.forge.ensure_pull(name, self.main.name, title, body, LABELS)
        self.journal.achieved(key, str(pull.number))
        return pull

    # -- merging ----------------------------------------------------------------------------------------------

    def _merged_if_proved(self, deploy: Deploy, task: str, pull: Pull) -> Pull:
        """Merged without the owner only if it leaves, byte for byte, what was healthy before; else it waits for him."""
        sha = self.mirror.attempt(_ref(deploy))
        if not sha or pull.head_sha != sha or not self._may_be_merged(deploy, sha):
            return pull
        key = _key(deploy, "merge")
        self.journal.intend(key, "merge of a revert", "", sha, self.session.now())
        try:
            note = f"the same files as {deploy.back_to[:12]}, which was healthy"
            self.forge.set_status(sha, REVIEW_CONTEXT, "success", note)
            known = self.journal.task(task) if task else None
            message = _text(deploy, task, known.goal_id if known else "", pull).written(self.clean)
            merged = self.forge.merge(pull.number, sha, into=self.main.name, message=message)
        except PullNotReady as reason:
            self.session.tell(f"#{pull.number} is not merged: {reason}")
            return pull
        fault_point("revert.merged")
        self.journal.achieved(key, merged)
        self.main.sync()
        return self.forge.get_pull(pull.number)

    def _may_be_merged(self, deploy: Deploy, sha: str) -> bool:
        mirror, parent = self.mirror, self.mirror.parent(sha)
        if parent != mirror.head(self.main.name) or mirror.tree_id(sha) != mirror.tree_id(deploy.back_to):
            return False
        return self.may_merge(mirror.changed(parent, sha))


def _key(deploy: Deploy, effect: str) -> str:
    return f"revert-{deploy.commit[:12]}:{effect}"


def _ref(deploy: Deploy) -> str:
    return f"refs/attempts/_revert-{deploy.commit[:12]}.a1"


def _text(deploy: Deploy, task: str, goal: str, pull: Pull) -> CommitText:
    """What the merge says."""
    title = f"revert: take back {deploy.commit[:8]}, sick at {deploy.place}"
    said = f"{title}\n\nThis takes back {deploy.commit}, with which {deploy.place} was sick:\n\n{deploy.why}"
    return CommitText(said, {"Goal": goal, "Task": task, "Team-Version": VERSION}, pull.number)


def _body(deploy: Deploy, task: str) -> str:
    parts = (
        f"{deploy.commit} was sick where it was deployed ({deploy.place}):",
        f"> {deploy.why}",
        f"{deploy.place} runs {deploy.back_to} again.",
        f"It is the change of the task `{task}`, which is worked on again once this is merged."
        " What else came with it may be the cause as well: look before you merge.",
        "Until this is merged or closed, nothing new is deployed.",
    )
    return "\n\n".join(parts)
