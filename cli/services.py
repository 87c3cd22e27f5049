"""A home's keys -> where the owner reads messages: Discord, and whatever else Apprise reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from cli.forge import github_name
from cli.records import Records
from shared.edge.notify.notifier import Notifier


def services(records: Records) -> Sequence[Notifier]:
    """Misconfigured names what is wrong with an address."""
    return tuple(_services(records))


def _services(records: Records) -> Iterator[Notifier]:
    secrets, hosts = records.settings.secrets, _hosts(records)
    if url := secrets.get("DISCORD_WEBHOOK_URL"):
        from shared.edge.notify.discord_notifier import DiscordNotifier

        yield DiscordNotifier(url, records.clock, hosts=hosts)
    if urls := secrets.get("APPRISE_URLS").split():
        from shared.edge.notify.apprise_notifier import AppriseNotifier

        yield AppriseNotifier(urls, hosts=hosts)


def _hosts(records: Records) -> tuple[str, ...]:
    """Links to the pull requests may be clicked; all others are shown."""
    host = urlsplit(records.settings.target.file.repo).hostname
    return (host,) if github_name(records.settings) and host else ()
