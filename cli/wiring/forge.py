"""A home's settings -> where its pull requests are, GitHub or a forge of our own, and our mirror of the code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sisimpur.shared.config.settings import GITHUB, Settings
from sisimpur.shared.forge.forge import REVIEW_CONTEXT, Forge
from sisimpur.shared.model.errors import Misconfigured, Stumble, Unavailable
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.paths import Home

if TYPE_CHECKING:
    from sisimpur.shared.forge.github_forge import GitHubForge
    from sisimpur.shared.forge.local_forge import LocalForge
    from sisimpur.shared.repo.mirror import Mirror


@dataclass(frozen=True)
class TargetCode:
    """Mirror and forge. `sync` brings both up to date with the owner's repository -> the branch's newest commit.

    `close` ends the git that is kept to read objects.
    """

    mirror: Mirror
    forge: Forge
    sync: Callable[[], str]
    close: Callable[[], None]


def open_code(home: Home, settings: Settings, clock: Clock, print_line: Callable[[str], None]) -> TargetCode:
    name = github_name(settings)
    return _at_github(home, settings, clock, name) if name else at_home(home, settings, clock, print_line)


def open_forge(home: Home, settings: Settings, clock: Clock) -> Forge | None:
    """Open the forge to read it. None: no day was run yet, so there is none."""
    if name := github_name(settings):
        return open_github(settings, clock, name)
    place = home.forge(settings.target.name)
    return local_forge(home, settings, clock) if (place / "forge.db").exists() else None


# --- on this machine -----------------------------------------------------------------------------------------


def at_home(
    home: Home,
    settings: Settings,
    clock: Clock,
    print_line: Callable[[str], None],
    kind: type[LocalForge] | None = None,
) -> TargetCode:
    """Open mirror and forge on this machine. `kind`: the forge's; it says where repositories are kept."""
    from sisimpur.shared.forge.forge import PullNotReady
    from sisimpur.shared.forge.local_forge import LocalForge
    from sisimpur.shared.forge.local_forge_git import create
    from sisimpur.shared.repo.git import Remote
    from sisimpur.shared.repo.mirror import Mirror

    opens = (kind or LocalForge).opens
    target = settings.target
    place, branch = home.forge(target.name), target.file.branch
    source = Remote(target.file.repo, settings.secrets.get("GITHUB_TOKEN") or None)
    create(place, None, branch, opens)
    mirror = Mirror(home.mirror(target.name), Remote(str(place)), opens)
    mirror.create()
    forge = local_forge(home, settings, clock, kind)

    def sync() -> str:
        try:
            newest = forge.follow(source, branch)
        except (Stumble, Unavailable):  # the owner's repository is away: what we have of it is good enough to go on
            if mirror.head(branch) is None:
                raise
            newest = ""
        except PullNotReady as problem:  # the owner decides; until then what was merged here goes on
            print_line(str(problem))
            newest = ""
        return newest if newest and mirror.head(branch) == newest else mirror.fetch(branch)

    def close() -> None:
        mirror.close()
        forge.release()

    return TargetCode(mirror, forge, sync, close)


def local_forge(home: Home, settings: Settings, clock: Clock, kind: type[LocalForge] | None = None) -> LocalForge:
    """Open it so that it merges only what was reviewed and holds the branch's newest commit: what was tested."""
    from sisimpur.shared.forge.local_forge import LocalForge

    kind = kind or LocalForge
    return kind(home.forge(settings.target.name), clock, required=(REVIEW_CONTEXT,), up_to_date=True)


# --- at GitHub -----------------------------------------------------------------------------------------------


def _at_github(home: Home, settings: Settings, clock: Clock, name: str) -> TargetCode:
    from sisimpur.shared.repo.git import Remote
    from sisimpur.shared.repo.mirror import Mirror

    target = settings.target
    mirror = Mirror(home.mirror(target.name), Remote(target.file.repo, settings.secrets.get("GITHUB_TOKEN")))
    mirror.create()

    def sync() -> str:
        try:
            return mirror.fetch(target.file.branch)
        except (Stumble, Unavailable):
            if (head := mirror.head(target.file.branch)) is None:
                raise
            return head

    return TargetCode(mirror, open_github(settings, clock, name), sync, mirror.close)


def open_github(settings: Settings, clock: Clock, name: str) -> GitHubForge:
    from sisimpur.shared.forge.github_client import SECONDS_BETWEEN, GitHubAccess
    from sisimpur.shared.forge.github_forge import GitHubForge
    from sisimpur.shared.repo.git import OURSELVES

    secrets = settings.secrets
    is_ourselves = urlsplit(secrets.github_url).hostname in OURSELVES  # nobody there asks us to go slowly
    return GitHubForge(
        name,
        secrets.get("GITHUB_TOKEN"),
        clock,
        reviewer_token=secrets.get("GITHUB_REVIEWER_TOKEN"),
        access=GitHubAccess(secrets.github_url, seconds_between=0.0 if is_ourselves else SECONDS_BETWEEN),
    )


def github_name(settings: Settings) -> str:
    """Return `owner/name` of the repository at GitHub, if pull requests are made there; else empty."""
    file, secrets = settings.target.file, settings.secrets
    if file.forge == "local":
        return ""
    name, has_token = _name(file.repo, secrets.github_url), bool(secrets.get("GITHUB_TOKEN"))
    if file.forge == "github" and not name:
        where = git_host(secrets.github_url)
        raise Misconfigured(f"`forge: github` needs a `repo:` at https://{where}; correct config/targets")
    if file.forge == "github" and not has_token:
        raise Misconfigured(
            "`forge: github` needs GITHUB_TOKEN in config/.env; docs/github.md says which rights it has"
        )
    return name if has_token else ""


def _name(repo: str, api: str) -> str:
    """Return `owner/name`; empty if the repository is not at the GitHub that this API belongs to."""
    parts = urlsplit(repo)
    owner_and_name = parts.path.strip("/").removesuffix(".git")
    return owner_and_name if parts.netloc == git_host(api) and owner_and_name.count("/") == 1 else ""


def git_host(api: str) -> str:
    """Return the git host of an API: github.com for the public one, the same host for every other."""
    if api == GITHUB:
        return "github.com"
    from sisimpur.shared.repo.git import OURSELVES

    parts = urlsplit(api)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in OURSELVES):
        raise Misconfigured("GITHUB_API_URL must be an https address; correct it in config/.env")
    return parts.netloc
