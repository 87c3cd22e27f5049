"""`start --foreground`: one daemon from begin to end, whoever started it (`start`, systemd, a container)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from sisimpur.agents.orchestrator.daemon import Daemon, End, Outside
from sisimpur.agents.orchestrator.day import Orchestrator
from sisimpur.cli.commands.day import OpenTeam, PrintLine, team_opener
from sisimpur.cli.terminal.arguments import DONE, Arguments
from sisimpur.cli.terminal.printing import pasteable, plain
from sisimpur.cli.views.daemon_state import comes_next
from sisimpur.cli.wiring.config_watch import ConfigWatch
from sisimpur.cli.wiring.housekeeping import tidy
from sisimpur.cli.wiring.lifetime import Quitting, quitting, ticking
from sisimpur.cli.wiring.records import Records, open_records, require_home
from sisimpur.cli.wiring.services import relay_of
from sisimpur.shared.config.settings import Settings
from sisimpur.shared.machine.reading import Machine, MachineWatch
from sisimpur.shared.model.errors import Misconfigured, Refused, Replaced, Stumble, TeamError, Unavailable
from sisimpur.shared.model.schedule import Wait
from sisimpur.shared.notify.ping import Ping
from sisimpur.shared.outlets.relay import Relay
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.store.activity import STOPPED, Epochs
from sisimpur.shared.system import lock
from sisimpur.shared.system.clock import SystemClock
from sisimpur.shared.system.lock import HomeLock
from sisimpur.shared.system.outgoing import Outgoing
from sisimpur.shared.system.paths import Home

BEAT = 30  # seconds
LONGEST_HOW = 300  # characters
OPEN_TEAM = team_opener("daemon")
FIRST_REST, LONGEST_REST = 5, 600  # seconds between two tries to begin, while something is away


def serve(arguments: Arguments, environment: Mapping[str, str] = os.environ, beat: float = BEAT) -> int:
    """Serve until SIGTERM. `beat`: seconds between two looks. Replaced: another daemon has taken over, or could."""
    home = Home(arguments.home)
    require_home(home)
    with lock.hold(home.lock) as held, open_records(home.root, environment) as records, quitting() as quit_:
        tell = _printing(records)
        life = Life(records, held, ConfigWatch(home, environment, tell), quit_, tell, beat)
        with life.lived():
            life.serve()
    return DONE


def _printing(records: Records) -> PrintLine:
    """Print to stdout, for journald and logs/daemon.out. A broken pipe is no reason to end."""

    def tell(text: str) -> None:
        with suppress(OSError):
            print(f"{records.clock.now():%Y-%m-%d %H:%M:%S}  {plain(pasteable(text, records.home.root))}", flush=True)

    return tell


@dataclass
class Life:
    """One epoch; the team in it is made anew whenever config/ has changed. `beat`: seconds between two looks."""

    records: Records
    held: HomeLock
    watch: ConfigWatch
    quit_: Quitting
    print_line: PrintLine
    beat: float
    open_team: OpenTeam = OPEN_TEAM

    def __post_init__(self) -> None:
        self._epochs = Epochs(self.records.db)
        self._why = ""  # we end, without being asked to
        self._is_change_said = False  # that config/ has changed
        self._has_worked = False  # the team, with the settings that we had before these
        self._waits: tuple[Wait, ...] = ()  # as it was noted last
        self._machine = MachineWatch(Machine(self.records.home.root))

    @contextmanager
    def lived(self) -> Iterator[None]:
        """Note the begin and the end of this daemon; a kill leaves no end."""
        now = self.records.clock.now
        self._number = self._epochs.begin(os.getpid(), now())
        self.records.db.guard(self._number)
        try:
            yield
            if self._why:
                raise Replaced(self._why)
        except BaseException as error:
            with suppress(TeamError):
                name = "" if isinstance(error, TeamError) else f"{type(error).__name__}: "
                self._epochs.end(self._number, now(), self._clean(plain(f"{name}{error}"))[:LONGEST_HOW])
            raise
        self._epochs.end(self._number, now(), STOPPED)
        self._say(STOPPED)

    def serve(self) -> None:
        while self._serve_under(self.watch.settings) == "reload":
            pass

    def _serve_under(self, settings: Settings) -> End:
        """Serve with these settings until they change. If they do not work, the last working ones go on."""
        before, self.records = self.records, _under(self.records, settings)
        with ExitStack() as stack:
            try:
                team = self._opened(stack)
            except (Misconfigured, Refused) as problem:
                if not self._has_worked:
                    raise
                self._say(f"what config/ says now does not work, so what was read before goes on: {problem}")
                self.records, self.watch.settings, self._has_worked = before, before.settings, False
                return "reload"
            if isinstance(team, str):
                return team
            self._has_worked = True
            return self._serve(team)

    def _opened(self, stack: ExitStack) -> Orchestrator | End:
        """Open the team; try again while something is away: after a power cut the network may come later than we."""
        rest = FIRST_REST
        while True:
            try:
                return stack.enter_context(self.open_team(self.records, self.print_line, self.quit_))
            except (Stumble, Unavailable) as problem:
                self._say(f"{problem}; trying again in {rest} s")
                now = self.records.clock.now()
                self._note_waits([Wait("start", now, now + timedelta(seconds=rest), str(problem))])
            for second in range(rest):
                if self.quit_.asked():
                    return "ended"
                if second % BEAT == 0 and (end := self._check()):
                    return end
                self.records.clock.sleep(1)
            rest = min(2 * rest, LONGEST_REST)

    def _serve(self, team: Orchestrator) -> End:
        settings, clock = self.records.settings, self.records.clock
        self._epochs.ready(self._number, clock.now())
        self._say(f"ready: {settings.target.name}; {comes_next(self.records)}")
        after = partial(self._after, team.mirror, Ping(settings.secrets.get("PING_URL")))
        ticks = partial(self._ticking, relay_of(self.records))
        outside = Outside(ticks, self._check, after, self._note_waits, lambda: self._machine.tight)
        return Daemon(team, settings.schedules.schedule, outside).serve()

    def _ticking(self, relay: Relay, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Wake the team, then see to the outlets, which may take their time: it does not wait for them."""

        def tick() -> None:
            wake()
            for line in relay.step():
                self._say(line)

        return ticking(self.beat, tick, lambda problem: self._say(f"a tick failed: {problem}"))

    def _after(self, mirror: Mirror, ping: Ping, phase: str, ok: bool) -> None:
        """Ping the owner's watchdog after a phase; after the last one of the day, tidy up the home."""
        if problem := ping.phase_ended(phase, ok):
            self._say(problem)
        if phase == "wrap_up":
            records, now = self.records, self.records.clock.now()
            believed, talk = records.ledger.believes(now), records.settings.policy.talk
            for line in tidy(records.home, records.db, mirror, now, believed, talk):
                self._say(line)

    def _note_waits(self, waits: Sequence[Wait]) -> None:
        """Note for `status` what is waited for. A busy database is no reason to end: it is written later."""
        said = tuple(replace(wait, why=self._clean(plain(wait.why))[:LONGEST_HOW]) for wait in waits)
        if said != self._waits:
            with suppress(TeamError):
                self._epochs.waits_for(self._number, said)
                self._waits = said

    def _say(self, text: str) -> None:
        self.print_line(self._clean(text))

    def _clean(self, text: str) -> str:
        return Outgoing(self.records.settings.secrets.to_hide).clean(text)

    def _check(self) -> End | None:
        """Return whether to end, or to begin anew with other settings. A busy database is no reason."""
        now = self.records.clock.now()
        self._machine.look(now, self.records.settings.policy.machine.most)
        if not self.held.is_ours():
            self._why = f"{self.held.path} was replaced: another daemon may have begun, so this one ends"
        try:
            self._epochs.seen(self._number, now, self._machine.last)
        except Replaced as reason:
            self._why = str(reason)
        except (Stumble, Unavailable):
            pass
        self.watch.look(now)
        if self._why:
            return "ended"
        if self.watch.settings == self.records.settings:
            self._is_change_said = False
            return None
        if not self._is_change_said:
            self._is_change_said = True
            self._say("config/ has changed: it counts as soon as what runs now is done")
        return "reload"


def _under(records: Records, settings: Settings) -> Records:
    """Return the same records with other settings."""
    if settings == records.settings:
        return records
    return replace(records, settings=settings, clock=SystemClock(settings.zone))
