"""`doctor`: is this machine fit for work? Each check is one line: ok, or what is wrong and what to type."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

from sisimpur.agents.devops.drivers.driver import Driver, HasPorts, Release, holder
from sisimpur.agents.devops.drivers.release_files import release_env
from sisimpur.cli.record.accounts import signing, ways_in
from sisimpur.cli.record.outlets import outlet_findings
from sisimpur.cli.terminal.arguments import Arguments
from sisimpur.cli.terminal.printing import GREEN, RED, coloured, on_screen, pasteable, plain_block, print_json
from sisimpur.cli.views.deploys import MakeDriver, make_driver
from sisimpur.cli.views.target import looked_over
from sisimpur.cli.views.vision import vision_findings
from sisimpur.cli.wiring.config_watch import open_to_others
from sisimpur.cli.wiring.forge import github_name, open_github
from sisimpur.cli.wiring.records import Records, aider_python, open_records
from sisimpur.cli.wiring.services import listens, mail_of, make_search, services_of
from sisimpur.shared.config.settings import ANTHROPIC, Secrets, Settings, load, read_secrets
from sisimpur.shared.config.settings_deploy import HealthSettings, PlaceSettings
from sisimpur.shared.forge.github_check import SetupFinding
from sisimpur.shared.model.deployment import Place
from sisimpur.shared.model.errors import Misconfigured, Refused, TeamError
from sisimpur.shared.money.pricing import Pricing
from sisimpur.shared.money.token_budget import as_dollars
from sisimpur.shared.repo.git import ENVIRONMENT, Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.system.clock import SystemClock
from sisimpur.shared.system.http import Http, HttpCall, NoAnswer, is_configured
from sisimpur.shared.system.paths import Home
from sisimpur.shared.system.process import run

DISK_AT_LEAST = 1 << 30  # bytes
TIMEOUT = 10.0  # seconds for an endpoint to answer


def doctor(arguments: Arguments) -> int:
    """Return 0 if all is well."""
    found = []
    for finding in _findings(Home(arguments.home), arguments.chosen):
        finding = replace(finding, detail=pasteable(finding.detail, arguments.home))
        found.append(finding)
        if not arguments.json:
            said = coloured("ok  ", GREEN) if finding.ok else coloured("FAIL", RED)
            print(f"{said}  {finding.name:<14}  {plain_block(finding.detail)}", flush=True)
    if arguments.json:
        print_json([asdict(finding) for finding in found])
    return 0 if all(finding.ok for finding in found) else 1


def _findings(home: Home, chosen: str) -> Iterator[SetupFinding]:
    yield _check("python", lambda: f"{sys.version.split()[0]} ({sys.executable})")
    yield _check("git", _git)
    yield _check("home", lambda: _home(home, chosen))
    yield _check("disk", lambda: _disk(home))
    box = tuple(_all("sandbox", _sandbox()))
    yield from box
    settings = None
    try:
        settings = load(home)
        yield SetupFinding("settings", True, f"config/ reads well; target {settings.target.name}")
    except TeamError as problem:
        yield SetupFinding("settings", False, str(problem))
    secrets = settings.secrets if settings else None
    if settings:
        yield _check("engine", lambda: _engine(settings))
    yield _check("keys", lambda: _keys(home, secrets))
    if settings:
        yield _check("endpoint", lambda: _endpoint(home, settings))
        yield _check("prices", lambda: _prices(settings))
        if settings.agents.planner.ahead is not None:
            yield SetupFinding("planner.ahead", True, "has no effect any more; take it out of config/agents.yaml")
        yield (target := _check("target", lambda: _target(home, settings)))
        if target.ok:
            yield from _all("tests", looked_over(home, settings, all(finding.ok for finding in box)))
        else:
            yield from vision_findings(home, ())
        yield _check("messages", lambda: _messages(settings))
        if settings.policy.mail.server:
            yield _check("mail", lambda: mail_of(settings, SystemClock(settings.zone)).check())
        yield from outlet_findings(home)
        yield _check("sign-in", lambda: ways_in(home, settings.secrets))
        yield _check("step-up", lambda: signing(home))
        yield _check("research", lambda: _research(home, settings))
        yield from _github(settings)
        yield from _all("deploys", deploy_findings(home, settings))


def first_to_mend(home: Home) -> str:
    """Name what `doctor` will find first, of what can be seen at once; empty: nothing."""
    quick: tuple[tuple[str, Callable[[], str]], ...] = (
        ("git", _git),
        ("disk", lambda: _disk(home)),
        ("sandbox", _box),
        ("settings", lambda: load(home).target.name),
        ("engine", lambda: _engine(load(home))),
        ("keys", lambda: _keys(home, None)),
    )
    found = (_check(name, look) for name, look in quick)
    return next((f"{one.name}: {one.detail}" for one in found if not one.ok), "")


def _box() -> str:
    """Name the box without attacking it."""
    from sisimpur.shared.sandbox.box import find_box

    with tempfile.TemporaryDirectory(prefix="sisimpur-doctor-") as scratch:
        return find_box(Path(scratch)).name


def _check(name: str, look: Callable[[], str]) -> SetupFinding:
    """Make a finding of what `look` returns (well) or raises (wrong)."""
    try:
        return SetupFinding(name, True, look())
    except (TeamError, OSError) as problem:
        return _broken(name, problem)


def _all(name: str, found: Iterable[SetupFinding]) -> Iterator[SetupFinding]:
    """Yield them; what breaks them off is one more, so that the rest is looked at all the same."""
    try:
        yield from found
    except (TeamError, OSError) as problem:
        yield _broken(name, problem)


def _broken(name: str, problem: TeamError | OSError) -> SetupFinding:
    told = (
        str(problem) if isinstance(problem, TeamError) else f"{problem.strerror or problem}: {problem.filename or ''}"
    )
    return SetupFinding(name, False, told)


def _research(home: Home, settings: Settings) -> str:
    """Say who searches. No search is made: it may cost money."""
    rules = settings.policy.research
    if not rules.questions:
        return "nothing is looked up (config/policy.yaml, research.questions)"
    search = make_search(home, settings)
    price = f"${as_dollars(search.price).rstrip('0')} each" if search.price else "for nothing"
    return f"up to {rules.questions} questions a day; {search.name} searches, {price}"


# --- the machine ---------------------------------------------------------------------------------------------


def _git() -> str:
    done = run(("git", "--version"), env=ENVIRONMENT, timeout=10)
    if not done.ok:
        raise Misconfigured("git does not answer; type: sudo apt-get install git")
    return done.text.strip()


def _home(home: Home, chosen: str) -> str:
    """Name the home, and why it is this one."""
    if not home.state.exists() or not any(path.name != "example.yaml" for path in home.targets.glob("*.yaml")):
        raise Misconfigured(
            f"{home.root} is no home yet; type: python main.py init --target PATH_OR_URL (chosen: {chosen})"
        )
    folders = (home.root, home.state, home.logs, home.temporary, home.work)
    for folder in folders:
        if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):  # what is missing is made at the next start
            raise Misconfigured(f"{folder} cannot be written; give it to the user who runs the team")
    is_open = home.root.stat().st_mode & 0o077
    others = f"; others can look into it, which `chmod 700 {home.root}` ends" if is_open else ""
    return f"{home.root} (chosen: {chosen}){others}"


def _disk(home: Home) -> str:
    place = home.root if home.root.exists() else Path.cwd()
    free = shutil.disk_usage(place).free
    if free < DISK_AT_LEAST:
        raise Misconfigured(f"{free >> 20} MB free, {DISK_AT_LEAST >> 20} MB are needed; free some space")
    return f"{free >> 30} GB free"


def _sandbox() -> Iterator[SetupFinding]:
    """Attack the sandbox of this machine: what is promised was measured here."""
    from sisimpur.shared.sandbox.box import find_box
    from sisimpur.shared.sandbox.selftest import attack

    with tempfile.TemporaryDirectory(prefix="sisimpur-doctor-") as scratch:
        box = find_box(Path(scratch))
        checks = attack(box, Path(scratch))
        files = f"a copy for each run ({box.copies})" if box.copies else "shared by all runs"
    through = [f"{check.name} ({check.detail})" for check in checks if not check.stopped]
    told = f"{box.name} {box.version}, {box.quality}: {len(checks)} attacks, all stopped"
    told += f"; files of tests: {files}; limits: {box.groups.level}"
    yield SetupFinding("sandbox", not through, told if not through else f"not stopped: {'; '.join(through)}")


def _engine(settings: Settings) -> str:
    ask = "import importlib.metadata; print(importlib.metadata.version('aider-chat'))"
    done = run(
        (str(aider_python(settings.agents.engine.python)), "-I", "-c", ask), env={"PATH": "/usr/bin:/bin"}, timeout=30
    )
    if not done.ok:
        raise Misconfigured("Aider's environment is broken; remove .venv-aider and type: make setup")
    return f"aider {done.text.strip()}, {_launcher(settings.agents.engine.launcher)}"


def _launcher(wanted: str) -> str:
    from sisimpur.agents.coder.engine.aider_fence import why_not

    reason = why_not() if wanted == "warm" else ""
    return f"launcher shim, not warm: {reason}" if reason else f"launcher {wanted}"


# --- the owner's part ----------------------------------------------------------------------------------------


def _keys(home: Home, secrets: Secrets | None) -> str:
    secrets = secrets or read_secrets(home)
    if problem := open_to_others(home):
        raise Misconfigured(problem)
    if not secrets.get("ANTHROPIC_API_KEY") and secrets.base_url == ANTHROPIC:
        raise Misconfigured(f"no ANTHROPIC_API_KEY; write it into {home.config / '.env'}")
    return ", ".join(sorted(secrets.values)) + " set"


def _endpoint(home: Home, settings: Settings) -> str:
    """Ask for the list of models: that is free, and shows whether the key is accepted."""
    url, path = settings.secrets.base_url, home.config / ".env"
    headers = {"x-api-key": settings.secrets.get("ANTHROPIC_API_KEY"), "anthropic-version": "2023-06-01"}
    answer = Http(is_configured).ask(f"{url}/v1/models", HttpCall(headers, 0, TIMEOUT))
    if isinstance(answer, NoAnswer):
        what = "the network of this machine" if url == ANTHROPIC else f"ANTHROPIC_BASE_URL in {path}"
        raise Misconfigured(f"{url} does not answer ({answer.error}); check {what}")
    if answer.status in (401, 403):
        raise Misconfigured(f"{url} does not take the key ({answer.status}); check ANTHROPIC_API_KEY in {path}")
    if answer.status >= 500:
        raise Misconfigured(f"{url} answers {answer.status}; try again later")
    return f"{url} answers"


def _prices(settings: Settings) -> str:
    agents = settings.agents
    pricing, now = Pricing(agents.prices), SystemClock(settings.zone).now()
    choices = [agents.coder.choice, *agents.asking.values()]
    models = {model for choice in choices for model in (choice.model, *choice.fallback)}
    models |= {agents.coder.easy} if agents.coder.easy else set()
    for model in sorted(models):
        pricing.rates(model, 1, now)
    return f"known for {', '.join(sorted(models))}"


def _target(home: Home, settings: Settings) -> str:
    file = settings.target.file
    remote = Remote(file.repo, settings.secrets.get("GITHUB_TOKEN") or None)
    found = Mirror(home.temporary, remote).remote_head(file.branch)
    if found is None:
        where = f"config/targets/{settings.target.name}.yaml"
        raise Misconfigured(f"{file.repo} has no branch {file.branch}; correct {where}")
    return f"{file.repo}, branch {file.branch} at {found[:8]}"


def _messages(settings: Settings) -> str:
    """Check the addresses of messages; whether they answer is seen with the first message."""
    names = [service.name for service in services_of(settings, SystemClock(settings.zone))]
    told = f"go to {', '.join(names)}" if names else "none: DISCORD_WEBHOOK_URL is not set; the reports are files"
    return f"{told}; {listens(settings)}"


def _inbox(settings: Settings) -> str:
    """Say whose comments and issues count; without a login nobody's do."""
    inbox, where = settings.target.file.inbox, f"config/targets/{settings.target.name}.yaml"
    if not inbox.owners:
        return f"nobody's issues and comments count; who shall, say: `inbox: {{owners: [your-login]}}` in {where}"
    issues = f"issues with the label {inbox.label}" if inbox.label else "their issues"
    return f"{', '.join(inbox.owners)} may answer below pull requests; {issues} are goals"


def _github(settings: Settings) -> Iterator[SetupFinding]:
    """Check GitHub, unless pull requests are made on this machine."""
    try:
        name = github_name(settings)
    except TeamError as problem:
        yield SetupFinding("github", False, str(problem))
        return
    if name:
        for found in open_github(settings, SystemClock(settings.zone), name).check(settings.target.file.branch):
            yield replace(found, name=f"github {found.name}")
        yield _check("github inbox", lambda: _inbox(settings))


# --- deploys -------------------------------------------------------------------------------------------------

HERE = "127.0.0.1"
MOST_SAID = 4_000  # characters of all that is wrong with a compose file


def deploy_findings(home: Home, settings: Settings, make: MakeDriver = make_driver) -> Iterator[SetupFinding]:
    """Check driver, compose file and places. Nothing is found where nothing is deployed."""
    if settings.target.file.deploy.driver == "none" or not home.state.exists():
        return
    with open_records(home.root) as records:
        yield from _of_deploys(records, make)


def _of_deploys(records: Records, make: MakeDriver) -> Iterator[SetupFinding]:
    file = records.settings.target.file
    driver = make(records)
    assert driver
    name = file.deploy.driver
    try:
        yield SetupFinding("deploys", True, f"{name}: {driver.check()}")
    except TeamError as problem:
        yield SetupFinding("deploys", False, f"{name}: {problem}")
    yield from compose_findings(records)
    for place, settings in file.deploy.places.items():
        try:
            release_env(settings)
            yield SetupFinding(place, True, f"{_port(driver, place, settings)}; {_pages(file.health, settings)}")
        except TeamError as problem:
            yield SetupFinding(place, False, str(problem))


def _pages(health: HealthSettings, place: PlaceSettings) -> str:
    asked = place.url or f"http://{HERE}:{place.port}"
    if not health.pages:
        return "no page is asked (`pages: []`): only its end, its restarts and its log are looked at"
    return f"asked at {asked}: {', '.join(page.path for page in health.pages)}"


def _port(driver: Driver, place: Place, settings: PlaceSettings) -> str:
    """Say that the port is free, or held by what we have started there ourselves; else Misconfigured."""
    port = settings.port
    if not port:
        return "no port of its own"
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what has just ended holds nobody up
        try:
            door.bind((HERE, port))
        except OSError as problem:
            return _taken(driver, place, port, problem)
    return f"port {port} is free"


def _taken(driver: Driver, place: Place, port: int, problem: OSError) -> str:
    """Say who holds the port, if that is as it should be; else Misconfigured."""
    who = holder(port) or "another program"
    try:
        if isinstance(driver, HasPorts) and driver.has_port(place):
            return f"port {port} is ours"
        if not isinstance(driver, HasPorts) and driver.running(place):
            return f"port {port} is taken by {who}, as it should be if that is what `{place}.start` starts"
    except TeamError:  # what is wrong with it was told before
        what = "Docker is away" if isinstance(driver, HasPorts) else f"`{place}.running` says nothing"
        return f"port {port} is in use, and nobody can tell whose it is while {what}"
    raise Misconfigured(
        f"port {port} cannot be used ({problem.strerror}): {who} has it, or it is not yours; end that, or choose"
        f" another `deploy.{place}.port` in config/targets"
    )


# --- the compose file ----------------------------------------------------------------------------------------


def compose_findings(records: Records) -> Iterator[SetupFinding]:
    """Check the compose file of the branch, if the target was fetched once. Name each problem once."""
    target = records.settings.target
    place = records.home.mirror(target.name)
    if target.file.deploy.driver != "compose" or not place.is_dir():
        return
    mirror = Mirror.at(place)
    try:
        if head := mirror.head(target.file.branch):
            problems = list(dict.fromkeys(_problems(records, mirror, head)))
            found = f"{target.file.deploy.compose_file} of {head[:8]}, the branch's newest commit here, may be run"
            yield SetupFinding("compose file", not problems, " ".join(problems) or found)
    except (TeamError, OSError) as problem:
        yield SetupFinding("compose file", False, f"it cannot be read: {on_screen(str(problem))}")


def _problems(records: Records, mirror: Mirror, commit: str) -> Iterator[str]:
    """Name the problems for each place, by its own variables."""
    from sisimpur.agents.devops.compose.compose_command import ComposeCommand
    from sisimpur.agents.devops.compose.compose_driver import ComposeDriver
    from sisimpur.agents.devops.docker.docker_manager import DockerManager
    from sisimpur.agents.devops.drivers.release_files import ReleaseFiles

    deploy = records.settings.target.file.deploy
    with tempfile.TemporaryDirectory(prefix="compose-") as scratch:
        files, manager = ReleaseFiles(mirror, Path(scratch)), DockerManager(records.deploys.name(), os.environ)
        driver = ComposeDriver(manager, ComposeCommand(os.environ), deploy, files.of, Path(scratch))
        for place in deploy.places:
            try:
                driver.look(Release(place, commit))
            except Refused as problem:
                yield on_screen(str(problem), MOST_SAID)
            except Misconfigured:  # its env_file: that is told for the place
                continue
