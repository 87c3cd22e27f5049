"""A home's keys -> where the owner reads messages: Discord, and whatever else Apprise reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from cli.wiring.forge import github_name
from cli.wiring.records import Records
from shared.config.settings import Settings
from shared.notify.notifier import Notifier
from shared.system.clock import Clock


def services(records: Records) -> Sequence[Notifier]:
    return services_of(records.settings, records.clock)


def services_of(settings: Settings, clock: Clock) -> Sequence[Notifier]:
    """Misconfigured names what is wrong with an address. Nothing is sent."""
    return tuple(_services(settings, clock))


def _services(settings: Settings, clock: Clock) -> Iterator[Notifier]:
    secrets, hosts = settings.secrets, _hosts(settings)
    if url := secrets.get("DISCORD_WEBHOOK_URL"):
        from shared.notify.discord_notifier import DiscordNotifier

        yield DiscordNotifier(url, clock, hosts=hosts)
    if urls := secrets.get("APPRISE_URLS").split():
        from shared.notify.apprise_notifier import AppriseNotifier

        yield AppriseNotifier(urls, hosts=hosts)


def _hosts(settings: Settings) -> tuple[str, ...]:
    """Links to the pull requests may be clicked; all others are shown."""
    host = urlsplit(settings.target.file.repo).hostname
    return (host,) if github_name(settings) and host else ()
