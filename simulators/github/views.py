"""How accounts, repositories, issues and comments look in the local GitHub's answers."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from sisimpur.simulators.github.description import Answers
from sisimpur.simulators.github.state import Account, Comment, Issue, Pull, Repository, State

Json = Any


class View:
    """Makes answers that hold all that GitHub's schemas require. `base`: the address that all links begin with."""

    def __init__(self, state: State, base: str) -> None:
        self.base = base
        self.make = Answers(base).make
        self._state = state

    def api(self, repository: Repository) -> str:
        return f"{self.base}/repos/{repository.full_name}"

    def web(self, repository: Repository) -> str:
        return f"{self.base}/{repository.full_name}"

    # --- people

    def user(self, login: str, schema: str = "simple-user", **more: Json) -> Json:
        number = self._state.account(login).id
        return self.make(
            schema,
            login=login,
            id=number,
            node_id=f"U_{number}",
            type="User",
            site_admin=False,
            url=f"{self.base}/users/{login}",
            html_url=f"{self.base}/{login}",
            **more,
        )

    def association(self, repository: Repository, login: str) -> str:
        """What the account is to the repository: how far its words can be trusted."""
        if repository.is_owned_by(login):
            return "OWNER"
        return "COLLABORATOR" if repository.may_write(login) else "NONE"

    # --- repositories

    def repository(self, repository: Repository, asker: Account | None, schema: str = "full-repository") -> Json:
        """`asker`: whose permissions it shows."""
        return self.make(
            schema,
            id=repository.id,
            node_id=f"R_{repository.id}",
            name=repository.name,
            full_name=repository.full_name,
            owner=self.user(repository.owner),
            private=repository.private,
            visibility="private" if repository.private else "public",
            default_branch=repository.commits.default_branch(),
            has_issues=True,
            allow_merge_commit=True,
            allow_squash_merge=True,
            allow_rebase_merge=False,
            created_at=repository.created_at,
            url=self.api(repository),
            html_url=self.web(repository),
            clone_url=f"{self.web(repository)}.git",
            **({"permissions": _permissions(repository, asker)} if asker else {}),
        )

    def label(self, repository: Repository, key: str) -> Json:
        label = repository.labels[key]
        return {
            "id": label.id,
            "node_id": f"LA_{label.id}",
            "name": label.name,
            "color": label.color,
            "description": label.description,
            "default": False,
            "url": f"{self.api(repository)}/labels/{quote(label.name, safe='')}",
        }

    def labels(self, repository: Repository, issue: Issue) -> list[Json]:
        return [self.label(repository, key) for key in issue.labels]

    # --- issues

    def issue(self, repository: Repository, issue: Issue) -> Json:
        is_pull = isinstance(issue, Pull)
        return self.make(
            "issue",
            id=issue.id,
            node_id=f"I_{issue.id}",
            number=issue.number,
            title=issue.title,
            body=issue.body,
            state=issue.state,
            state_reason=issue.state_reason,
            user=self.user(issue.author),
            labels=self.labels(repository, issue),
            comments=comment_count(repository, issue),
            created_at=issue.created_at,
            updated_at=issue.updated_at,
            closed_at=issue.closed_at,
            author_association=self.association(repository, issue.author),
            url=f"{self.api(repository)}/issues/{issue.number}",
            repository_url=self.api(repository),
            html_url=f"{self.web(repository)}/{'pull' if is_pull else 'issues'}/{issue.number}",
            **({"pull_request": self._as_pull(repository, issue)} if isinstance(issue, Pull) else {}),
        )

    def _as_pull(self, repository: Repository, pull: Pull) -> Json:
        web = f"{self.web(repository)}/pull/{pull.number}"
        return {
            "url": f"{self.api(repository)}/pulls/{pull.number}",
            "html_url": web,
            "diff_url": f"{web}.diff",
            "patch_url": f"{web}.patch",
            "merged_at": pull.merged_at,
        }

    def comment(self, repository: Repository, comment: Comment) -> Json:
        return self.make(
            "issue-comment",
            id=comment.id,
            node_id=f"IC_{comment.id}",
            body=comment.body,
            user=self.user(comment.author),
            created_at=comment.created_at,
            updated_at=comment.updated_at,
            author_association=self.association(repository, comment.author),
            url=f"{self.api(repository)}/issues/comments/{comment.id}",
            issue_url=f"{self.api(repository)}/issues/{comment.number}",
            html_url=f"{self.web(repository)}/issues/{comment.number}#issuecomment-{comment.id}",
        )


def comment_count(repository: Repository, issue: Issue) -> int:
    return sum(comment.number == issue.number for comment in repository.comments)


def _permissions(repository: Repository, asker: Account) -> Json:
    admin, push = repository.is_owned_by(asker.login), repository.may_write(asker.login)
    return {"admin": admin, "maintain": admin, "push": push, "triage": push, "pull": True}
