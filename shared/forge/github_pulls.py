"""Door to merging at GitHub. The only module that knows what is behind its refusals, which say little themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sisimpur.shared.forge.forge import ForgeRefused, MergeMethod, PullNotReady, clipped, same_base
from sisimpur.shared.forge.github_client import GitHubClient, branch_path
from sisimpur.shared.forge.github_values import Commit, RawPull, Reference
from sisimpur.shared.model.errors import ForgeUnavailable
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.fault import fault_point

SETTLING = (0.5, 1.0, 2.0)  # seconds between looks: GitHub finds out in the background whether a branch merges


def sent(client: GitHubClient, thing: str, verb: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
    """A write, between the two places where a kill matters."""
    fault_point(f"{thing}.planned")
    given = client.write(verb, path, body)
    fault_point(f"{thing}.written")
    return given


class Pulls:
    """The pull requests that `client` sees."""

    def __init__(self, client: GitHubClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock

    def read(self, number: int) -> RawPull:
        return self._client.read(RawPull, f"/pulls/{number}")

    def settled(self, number: int) -> RawPull:
        """Read it when GitHub knows whether it merges, if it finds out in time."""
        raw = self.read(number)
        for seconds in SETTLING:
            if raw.state != "open" or raw.mergeable is not None:
                break
            self._clock.sleep(seconds)
            raw = self.read(number)
        return raw

    def tip(self, branch: str) -> str | None:
        """Return where the branch itself is; the pull request learns of a push a moment later."""
        path = f"/git/ref/heads/{branch_path(branch)}"
        try:
            return self._client.read(Reference, path).object.sha
        except ForgeRefused:
            return None

    # -- merging ----------------------------------------------------------------------------------------------

    def merge(self, number: int, sha: str, method: MergeMethod, into: str, message: str) -> str:
        """The commit on the base branch. A failure is looked into before it is told."""
        raw = self.read(number)
        same_base(raw.pull, into)
        if merged := self._merged(raw, sha):
            return merged
        self._may_merge(raw, sha)
        try:
            fields = {"sha": sha, "merge_method": method, **_words(message)}
            given = sent(self._client, "merge", "PUT", f"/pulls/{number}/merge", fields)
            return self._client.shaped(Commit, given).sha
        except ForgeUnavailable:  # did it happen?
            if merged := self._merged(self.read(number), sha):
                return merged
            raise
        except ForgeRefused as refusal:
            return self._not_merged(number, sha, refusal)

    def _may_merge(self, raw: RawPull, sha: str) -> None:
        if raw.state != "open":
            raise PullNotReady(f"#{raw.number} is closed", "blocked")
        if raw.pull.draft:
            raise PullNotReady(f"#{raw.number} is still a draft", "blocked")
        self.same_head(raw, sha)

    def _merged(self, raw: RawPull, sha: str) -> str | None:
        """The commit on the base branch. PullNotReady: it was merged at another commit than `sha`."""
        merged = raw.pull.merge_sha
        if merged:
            self.same_head(raw, sha)
        return merged

    def _not_merged(self, number: int, sha: str, refusal: ForgeRefused) -> str:
        """A refusal says little: what is true is read from the pull request. Somebody else may just have merged it."""
        if refusal.status not in (405, 409, 422):
            raise refusal
        if "base branch was modified" in refusal.said.lower():
            raise ForgeUnavailable(f"#{number} is not merged: {refusal.said}") from None
        raw = self.settled(number)
        if merged := self._merged(raw, sha):
            return merged
        self.same_head(raw, sha)
        if refusal.status == 409:
            raise ForgeUnavailable(f"#{number} is not merged: {refusal.said}") from None
        if raw.mergeable is False or raw.mergeable_state == "behind":
            raise PullNotReady(f"#{number} does not merge into {raw.base.ref}: {refusal.said}", "conflict") from None
        raise PullNotReady(f"#{number} is not merged: {refusal.said}", "blocked") from None

    def same_head(self, raw: RawPull, sha: str) -> None:
        """PullNotReady if it is elsewhere; ForgeUnavailable if GitHub only does not show the push yet."""
        if raw.head.sha == sha:
            return
        if raw.state == "open" and self.tip(raw.head.ref) == sha:
            raise ForgeUnavailable(f"GitHub does not show yet that {raw.head.ref} was pushed")
        was = "was merged" if raw.merged_at else "is"
        raise PullNotReady(f"#{raw.number} {was} at {raw.head.sha}, not at {sha}", "moved")


def _words(message: str) -> Mapping[str, str]:
    """Title and text of the merge's commit. Without them GitHub says what it likes."""
    title, _, text = clipped(message).strip().partition("\n")
    return {"commit_title": title, "commit_message": text.strip()} if title else {}
