"""Asks a Django site of itself, in the box: its own checks, its migrations, its templates, its pages.

    python gate_django.py              in the folder of manage.py

manage.py is run as it is, up to where it would begin its command: so the settings are those that it chooses. Each
answer is a line of JSON behind a mark. A page is one that needs no argument; it is asked for once, with the test client
and an empty test database; one that sends a stranger away is asked for once more by a superuser.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import signal
import socket
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module as load
from typing import Any, NoReturn

MARK = "sisimpur-django "
SECONDS = 10  # for one page
MOST = 300  # pages, templates
SKIPPED = {"admin", "__debug__", "debug", "static", "media"}  # first parts of paths that are not the site's own


def tell(**row: object) -> None:
    sys.stdout.write(f"\n{MARK}{json.dumps(row)}\n")
    sys.stdout.flush()


def said(error: BaseException) -> str:
    """The exception in one line, and the root of its chain where that says something else."""
    *_, root = _chain(error)
    text = f"{type(error).__name__}: {' '.join(str(error).split())[:250]}"
    return text if str(root) in str(error) else f"{text} (from {type(root).__name__}: {str(root)[:150]})"


def _chain(error: BaseException) -> list[BaseException]:
    found = [error]
    while (before := error.__cause__ or (None if error.__suppress_context__ else error.__context__)) is not None:
        if before in found:
            break
        found.append(error := before)
    return found


def _is_of_the_network(error: BaseException) -> bool:
    return isinstance(error, (ConnectionError, socket.gaierror)) or type(error).__name__ in ("ConnectError", "URLError")


# --- the checks of Django itself ------------------------------------------------------------------------------


def checks() -> None:
    django_checks = load("django.core.checks")
    for one in django_checks.run_checks(include_deployment_checks=True):
        if one.is_silenced() or one.level < django_checks.WARNING:
            continue
        text = " ".join(str(one).split())
        is_error = one.level >= django_checks.ERROR
        tell(key=text if is_error or not one.id else one.id, text=f"check --deploy: {text}"[:300])


def migrations() -> None:
    """Tell what `makemigrations --check --dry-run` would write."""
    loader = load("django.db.migrations.loader").MigrationLoader(None)
    for app, names in sorted(loader.detect_conflicts().items()):
        text = f"makemigrations: {app} has conflicting migrations: {', '.join(sorted(names))}"
        tell(key=text, text=text)
    asks = load("django.db.migrations.questioner").NonInteractiveMigrationQuestioner
    questioner = asks(specified_apps=set(loader.migrated_apps), dry_run=True)
    models = load("django.db.migrations.state").ProjectState.from_apps(load("django.apps").apps)
    detect = load("django.db.migrations.autodetector").MigrationAutodetector
    detector = detect(loader.project_state(), models, questioner)
    for app, found in detector.changes(graph=loader.graph).items():
        for operation in (operation for migration in found for operation in migration.operations):
            text = f"makemigrations: {app} lacks a migration: {operation.describe()}"
            tell(key=text, text=text)


# --- templates and pages --------------------------------------------------------------------------------------


def templates() -> None:
    for engine in load("django.template").engines.all():
        for name in sorted(_names(engine))[:MOST]:
            try:
                engine.get_template(name)
            except Exception as error:  # noqa: BLE001  Jinja2 has errors of its own
                if "Syntax" in type(error).__name__ or isinstance(error, UnicodeDecodeError):
                    tell(key=f"template {name}", text=f"template {name}: {said(error)}")


def _names(engine: Any) -> Iterator[str]:
    """Templates of the site itself, not of its packages."""
    here = os.getcwd()
    for folder in map(str, engine.template_dirs):
        if not os.path.abspath(folder).startswith(here):
            continue
        for parent, _, files in os.walk(folder):
            for file in files:
                if file.endswith((".html", ".txt", ".xml", ".j2", ".jinja", ".jinja2")):
                    yield os.path.relpath(os.path.join(parent, file), folder)


def pages() -> None:
    paths = list(dict.fromkeys(_paths(load("django.urls").get_resolver().url_patterns, "/")))[:MOST]
    if not paths:
        return
    runner = load("django.test.runner").DiscoverRunner(verbosity=0, interactive=False)
    runner.setup_test_environment()
    try:
        made = runner.setup_databases(serialized_aliases=[])
    except Exception as error:  # noqa: BLE001  whatever the database has
        tell(unable=f"no page was rendered: the box has no such database ({said(error)})")
        return
    try:
        for path in paths:
            _ask(path)
    finally:
        runner.teardown_databases(made)


def _paths(patterns: Iterable[Any], before: str) -> Iterator[str]:
    for one in patterns:
        here = before + _plain(str(one.pattern))
        if "\0" in here:
            continue
        if hasattr(one, "url_patterns"):
            yield from _paths(one.url_patterns, here)
        elif here[1:].partition("/")[0] not in SKIPPED:
            yield here


def _plain(pattern: str) -> str:
    """Path that the pattern stands for; a NUL if it is not one only."""
    text = re.sub(r"^\^|\$$|\\Z$", "", pattern).replace(r"\.", ".").replace(r"\-", "-").replace("\\/", "/")
    return "\0" if re.search(r"[<>()\[\]\\*+?{}|^$]", text) else text


def _too_long(_number: int, _frame: object) -> NoReturn:
    raise TimeoutError(f"no answer within {SECONDS} s")


def _ask(path: str) -> None:
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        client = load("django.test").Client()
        answer = client.get(path, secure=True)
        if answer.status_code in (301, 302, 401, 403):
            answer = client.get(path, secure=True) if _enters(client) else answer
        if answer.status_code >= 500:
            tell(key=f"page {path}", text=f"page {path}: answers {answer.status_code}")
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever the page does
        if any(map(_is_of_the_network, _chain(error))):
            tell(unable=f"page {path}: the box has no network ({said(error)})")
        else:
            tell(key=f"page {path}", text=f"page {path}: {said(error)}")
    finally:
        signal.alarm(0)


def _enters(client: Any) -> bool:
    """Make somebody who may do everything, and sign in; say whether that went well."""
    try:
        model = load("django.contrib.auth").get_user_model()
        name = model.USERNAME_FIELD
        who = model._default_manager.filter(**{name: "sisimpur@example.org"}).first()
        if who is None:
            given = {flag: True for flag in ("is_superuser", "is_staff", "is_active") if _has(model, flag)}
            who = model._default_manager.create(**{name: "sisimpur@example.org", **given})
        client.force_login(who)
    except Exception:  # noqa: BLE001  a user of another kind: the page stays as strangers see it
        return False
    return True


def _has(model: Any, name: str) -> bool:
    return any(field.name == name for field in model._meta.get_fields())


# --- all of it ------------------------------------------------------------------------------------------------


def ask_all(*_arguments: object) -> NoReturn:
    try:
        load("django").setup()
    except Exception as error:  # noqa: BLE001  the target's settings
        tell(key=f"ends badly: {said(error)}", text=f"the site does not start: {said(error)}")
        tell(end=0)
        os._exit(0)
    for part in (checks, migrations, templates, pages):
        try:
            part()
        except Exception as error:  # noqa: BLE001  whatever the target does
            tell(key=f"no end: {part.__name__}: {said(error)}", text=f"{part.__name__}: {said(error)}")
    tell(end=0)
    os._exit(0)  # no farewell of the target's


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    sys.argv = ["manage.py", "check"]
    management: Any = load("django.core.management")
    management.execute_from_command_line = ask_all
    runpy.run_path("manage.py", run_name="__main__")
