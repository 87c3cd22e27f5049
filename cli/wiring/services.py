"""A home's settings -> services on the web: where messages go, who searches, and who reads pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sisimpur.agents.researcher.web.library import Library, ReadsPage, Searches
from sisimpur.agents.researcher.web.search import Search
from sisimpur.cli.wiring.forge import github_name
from sisimpur.cli.wiring.records import Records
from sisimpur.shared.config.settings import LiveCaps, Settings, board_url, load_board
from sisimpur.shared.config.settings_sign_in import SignInSettings
from sisimpur.shared.model.errors import Misconfigured, TeamError
from sisimpur.shared.model.research import Inquiry
from sisimpur.shared.model.work import Run
from sisimpur.shared.notify.notice import Notifier
from sisimpur.shared.system.clock import Clock
from sisimpur.shared.system.outgoing import Outgoing
from sisimpur.shared.system.paths import Home

if TYPE_CHECKING:
    from sisimpur.agents.orchestrator.board.review_facts import AttemptCommits
    from sisimpur.agents.orchestrator.board.session import Session
    from sisimpur.agents.orchestrator.inbox.answers import OwnerAnswers
    from sisimpur.agents.orchestrator.inbox.channel_inbox import ChannelInbox
    from sisimpur.shared.notify.mail_notifier import MailNotifier
    from sisimpur.shared.notify.phone.phone_notifier import PushSender
    from sisimpur.shared.notify.phone.push_book import Push
    from sisimpur.shared.outlets.cloud_event import Stream
    from sisimpur.shared.outlets.relay import Feed, Relay

NOBODY = "sisimpur@example.com"  # push services want to know whom to write to


def services(records: Records) -> Sequence[Notifier]:
    home = records.deploys.name() if records.settings.policy.mail.server else ""
    return services_of(records.settings, records.clock, board_url(records.home), home)


def services_of(settings: Settings, clock: Clock, board: str = "", home: str = "") -> Sequence[Notifier]:
    """Open the message services; nothing is sent. `board`: where links to it begin. `home`: this one's own name.

    Misconfigured names what is wrong with an address.
    """
    return tuple(_services(settings, clock, _hosts(settings, board), home))


def _services(settings: Settings, clock: Clock, hosts: tuple[str, ...], home: str) -> Iterator[Notifier]:
    secrets = settings.secrets
    if url := secrets.get("DISCORD_WEBHOOK_URL"):
        from sisimpur.shared.notify.discord_notifier import DiscordNotifier

        yield DiscordNotifier(url, clock, hosts=hosts)
    if urls := secrets.get("APPRISE_URLS").split():
        from sisimpur.shared.notify.apprise_notifier import AppriseNotifier

        yield AppriseNotifier(urls, hosts=hosts)
    if settings.policy.mail.server:
        yield mail_of(settings, clock, hosts, home)


def push_sender(records: Records) -> PushSender:
    """Open nothing; the home's key is made if it has none."""
    from sisimpur.shared.notify.phone.phone_notifier import PushSender
    from sisimpur.shared.notify.phone.sealing import vapid_key

    board, mail = board_url(records.home), records.settings.policy.mail
    writes = board if board.startswith("https://") else f"mailto:{(mail.sender or (*mail.to, NOBODY)[0])}"
    return PushSender(vapid_key(records.home), writes, records.clock)


def phones_of(records: Records, make_sender: Callable[[Records], PushSender] = push_sender) -> Sequence[Notifier]:
    """Return the browsers that are told what waits, as the books have them now. Without a key none: each says why."""
    from sisimpur.shared.notify.phone.push_book import PushBook

    found = browsers_told(records)
    if not found:
        return ()
    from sisimpur.shared.notify.phone.phone_notifier import PhoneNotifier

    book = PushBook(records.db)
    try:
        sender = make_sender(records)
    except TeamError as problem:  # all other messages go on
        for push in (one for one in found if one.why != str(problem)):
            book.note(push.id, records.clock.now(), str(problem))
        return ()
    return tuple(PhoneNotifier(push, book, sender) for push in found)


def browsers_told(records: Records) -> Sequence[Push]:
    """Return those of links, and of listed accounts that decide now. A list that cannot be read stops no team."""
    from sisimpur.shared.notify.phone.push_book import PushBook

    try:
        people = load_board(records.home).sign_in
    except TeamError:  # the board, too, lets none of them in now
        people = SignInSettings()
    return PushBook(records.db).alive(records.clock.now(), people.decides)


def mail_of(settings: Settings, clock: Clock, hosts: tuple[str, ...] = (), home: str = "") -> MailNotifier:
    from sisimpur.shared.notify.mail_notifier import MailNotifier, MailServer
    from sisimpur.shared.notify.mail_text import Letterhead

    rules, secrets = settings.policy.mail, settings.secrets
    server = MailServer(rules.server, secrets.get("MAIL_USER"), secrets.get("MAIL_PASSWORD"))
    return MailNotifier(server, Letterhead(rules.sender or rules.to[0], rules.to, home, rules.pdf), clock, hosts)


def channel_inbox(
    records: Records, commits: AttemptCommits, answers: OwnerAnswers, session: Session, clean: Callable[[str], str]
) -> ChannelInbox:
    """Nobody listens without a token, a channel and an owner. Misconfigured: DISCORD_API_URL is none of Discord's."""
    from sisimpur.agents.orchestrator.inbox.channel_inbox import ChannelInbox
    from sisimpur.shared.notify.discord_channel import DiscordChannel

    rules, secrets, channel = records.settings.policy.discord, records.settings.secrets, None
    if is_heard(records.settings):
        channel = DiscordChannel(secrets.get("DISCORD_BOT_TOKEN"), rules.channel, secrets.get("DISCORD_API_URL"))
    owners = frozenset(rules.owners)
    goals, plans = records.goal_answers, records.plan_answers
    return ChannelInbox(channel, owners, commits, answers, goals, plans, records.spending, session, clean)


def is_heard(settings: Settings) -> bool:
    """Whether what the owner writes in his Discord channel is read."""
    return not _lacking(settings)


def listens(settings: Settings) -> str:
    """Say whether the owner can answer at Discord. Misconfigured: he named a part of what it takes."""
    lacking, rules = _lacking(settings), settings.policy.discord
    if 0 < len(lacking) < 3:
        raise Misconfigured(f"you cannot answer at Discord without {' and '.join(lacking)}; see docs/reports.md")
    return "you cannot answer there" if lacking else f"what {', '.join(rules.owners)} write at Discord is an answer"


def _lacking(settings: Settings) -> list[str]:
    rules, token = settings.policy.discord, settings.secrets.get("DISCORD_BOT_TOKEN")
    needed = {"DISCORD_BOT_TOKEN": token, "discord.channel": rules.channel, "discord.owners": rules.owners}
    return [name for name, value in needed.items() if not value]


def _hosts(settings: Settings, board: str) -> tuple[str, ...]:
    """Return the hosts whose links may be clicked: of the pull requests, and the board; all others are only shown."""
    host = urlsplit(settings.target.file.repo).hostname
    pulls = (host,) if github_name(settings) and host else ()
    return (*pulls, board.removeprefix("https://")) if board else pulls


def relay_of(records: Records) -> Relay:
    """Return what brings events to others."""
    from sisimpur.shared.outlets.outlet import OutletBook
    from sisimpur.shared.outlets.relay import EventFeed, Relay
    from sisimpur.shared.outlets.spans import SpanFeed

    target, hide = records.settings.target, records.settings.secrets.to_hide
    clean = Outgoing(hide, target.file.allow_secrets).clean
    source = f"/sisimpur/{target.name}"
    feeds: dict[Stream, Feed] = {
        "audit": EventFeed(records.audit, source, clean),
        "runs": SpanFeed(records.db, source, clean),
    }
    return Relay(records.outlets, OutletBook(records.db), feeds, records.clock, clean)


# --- the web, for the Researcher -----------------------------------------------------------------------------


def make_library(
    records: Records, outgoing: Outgoing, stopping: Callable[[], bool]
) -> Callable[[Run, Inquiry], Library]:
    """Return what makes a library for a question. Nothing is opened, or can be wrong, before the first one."""

    @cache
    def searches() -> Searches:
        from sisimpur.agents.researcher.web.library import BookedSearch

        caps = LiveCaps(records.home, records.settings.policy.caps)
        search = make_search(records.home, records.settings)
        return BookedSearch(search, records.ledger, caps, records.clock)

    reads = cache(lambda: make_reader(records.home, records.settings, records.clock))

    def library(run: Run, inquiry: Inquiry) -> Library:
        return Library(records.research, searches(), reads(), outgoing.clean, stopping, run, inquiry)

    return library


def make_search(home: Home, settings: Settings) -> Search:
    """Open recorded answers if the owner names some; else Tavily with a key, DuckDuckGo without. Misconfigured."""
    rules, key = settings.policy.research, settings.secrets.get("TAVILY_API_KEY")
    if rules.recorded:
        from sisimpur.agents.researcher.web.library import read_recordings

        return read_recordings(home.root / rules.recorded / "searches.yaml")
    if key:
        from sisimpur.agents.researcher.web.search import TavilySearch

        return TavilySearch(key, rules.search_price)
    from sisimpur.agents.researcher.web.search import DuckDuckGoSearch

    return DuckDuckGoSearch()


def make_reader(home: Home, settings: Settings, clock: Clock) -> ReadsPage:
    if recorded := settings.policy.research.recorded:
        from sisimpur.agents.researcher.web.library import read_pages

        return read_pages(home.root / recorded / "pages.yaml")
    from sisimpur.agents.researcher.web.web_page import WebReader

    return WebReader(clock)
