"""A sick deploy -> a pull request that takes its commit back. It belongs to no task; each effect is an intent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agents.orchestrator.publishing.pull_text import LABELS
from agents.orchestrator.team import WHO, Desk
from shared.forge.forge import REVIEW_CONTEXT, HeadMoved, MergeBlocked, MergeConflict, Pull, marked
from shared.model.change import needs_owner
from shared.model.deployment import Deploy
from shared.model.text import defuse
from shared.repo.mirror_commits import AlreadyThere, Conflict, Rebased
from shared.system.fault import fault_point


@dataclass(frozen=True)
class NotTakenBack:
    """There is no pull request; `is_done`: what the commit changed is not on the branch any more."""

    why: str
    is_done: bool = False


@dataclass(frozen=True)
class TakingBack:
    """`sync`: brings our mirror up to date -> the newest commit of the target's branch."""

    desk: Desk
    sync: Callable[[], str]

    def ensure(self, deploy: Deploy, task: str) -> Pull | NotTakenBack:
        """Repeatable at any point: what is there already is found, not made again."""
        desk, name = self.desk, _branch(deploy)
        found = desk.delivery.forge.find_pull(name, desk.rules.branch)
        if found and not desk.journal.outcome_of(_key(deploy, "push")):
            return NotTakenBack(f"pull request #{found.number} comes from {name}, and is not ours: close it")
        if found is None or found.state == "open":
            sha = self._commit(deploy)
            if isinstance(sha, NotTakenBack):
                return sha
            if why := self._push(deploy, sha, name):
                return NotTakenBack(why)
            return self._merged_if_proved(deploy, self._pull(deploy, task, name))
        self._book_end(deploy, found)
        return found

    def _book_end(self, deploy: Deploy, pull: Pull) -> None:
        """What a kill kept from being booked."""
        key = _key(deploy, "merge")
        if pull.merge_sha and self.desk.journal.intended(key):
            self.desk.journal.achieved(key, pull.merge_sha)

    def _commit(self, deploy: Deploy) -> str | NotTakenBack:
        """The one that stands in our mirror, or a new one."""
        desk, ref = self.desk, _ref(deploy)
        tip = self.sync()
        if standing := desk.mirror.attempt(ref):
            return standing
        match desk.mirror.taken_back(deploy.commit, tip, ref, WHO, desk.clock.now()):
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
        desk, key = self.desk, _key(deploy, "push")
        if desk.journal.outcome_of(key):
            return ""
        there = desk.mirror.remote_head(name)
        if there and not (there == sha and desk.journal.intended(key)):
            return f"{name} is there already, and not ours: remove that branch"
        desk.journal.intend(key, "push", "", sha, desk.clock.now())
        if not there:
            desk.mirror.push(sha, name)
        desk.journal.achieved(key, sha)
        return ""

    def _pull(self, deploy: Deploy, task: str, name: str) -> Pull:
        desk, key = self.desk, _key(deploy, "pr")
        desk.journal.intend(key, "pull request", "", name, desk.clock.now())
        title = f"Take back {deploy.commit[:8]}, which was sick at {deploy.place}"
        body = marked(f"{task}:revert", defuse(desk.delivery.clean(_body(deploy, task))))
        pull = desk.delivery.forge.ensure_pull(name, desk.rules.branch, title, body, LABELS)
        desk.journal.achieved(key, str(pull.number))
        return pull

    # -- merging ----------------------------------------------------------------------------------------------

    def _merged_if_proved(self, deploy: Deploy, pull: Pull) -> Pull:
        """Merged without the owner only if it leaves, byte for byte, what was healthy before; else it waits for him."""
        desk, sha = self.desk, self.desk.mirror.attempt(_ref(deploy))
        if not sha or pull.head_sha != sha or not self._may_be_merged(deploy, sha):
            return pull
        key = _key(deploy, "merge")
        desk.journal.intend(key, "merge of a revert", "", sha, desk.clock.now())
        try:
            note = f"the same files as {deploy.back_to[:12]}, which was healthy"
            desk.delivery.forge.set_status(sha, REVIEW_CONTEXT, "success", note)
            merged = desk.delivery.forge.merge(pull.number, sha, into=desk.rules.branch)
        except (HeadMoved, MergeBlocked, MergeConflict) as reason:
            desk.tell(f"#{pull.number} is not merged: {reason}")
            return pull
        fault_point("revert.merged")
        desk.journal.achieved(key, merged)
        self.sync()
        return desk.delivery.forge.get_pull(pull.number)

    def _may_be_merged(self, deploy: Deploy, sha: str) -> bool:
        desk, mirror = self.desk, self.desk.mirror
        if not desk.rules.policy.auto or mirror.parent(sha) != mirror.head(desk.rules.branch):
            return False
        changes = mirror.changed(mirror.parent(sha), sha)
        is_proved = mirror.tree_id(sha) == mirror.tree_id(deploy.back_to)
        return is_proved and not needs_owner(changes, desk.rules.protected)


def _branch(deploy: Deploy) -> str:
    return f"agent/revert-{deploy.commit[:12]}"


def _key(deploy: Deploy, effect: str) -> str:
    return f"revert-{deploy.commit[:12]}:{effect}"


def _ref(deploy: Deploy) -> str:
    return f"refs/attempts/_revert-{deploy.commit[:12]}.a1"


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
