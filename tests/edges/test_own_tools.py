"""The tools of files that have no unit tests, in a real box: what each says, and what it cannot see."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sisimpur.agents.qa.tools.checking import Toolbox
from sisimpur.shared.model.evidence import Evidence, SuiteRun, ToolRun
from sisimpur.shared.model.work import Branch
from sisimpur.shared.repo.git import Remote
from sisimpur.shared.repo.mirror import Mirror
from sisimpur.shared.sandbox.linter import AUDIT, SCHEMA
from tests.edges.bench_scene import SMALL, Scene, make_scene
from tests.repositories import commit, repository

SETTINGS = """\
SECRET_KEY = "k" * 60
DEBUG = False
ROOT_URLCONF = "site_urls"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "shop"]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "/tmp/db.sqlite3"}}
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": ["templates"], "APP_DIRS": True}]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
"""
MIGRATION = """\
from django.db import migrations, models
class Migration(migrations.Migration):
    dependencies = []
    operations = [migrations.CreateModel("Item", [
        ("id", models.BigAutoField(primary_key=True, auto_created=True, serialize=False, verbose_name="ID")),
        ("name", models.CharField(max_length=20)),
    ])]
"""
MANAGE = """\
import os, sys
def main():
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_settings")
    from django.core.management import execute_from_command_line
    execute_from_command_line(sys.argv)
if __name__ == "__main__":
    main()
"""
VIEWS = """\
from django.contrib.auth.decorators import login_required
from django.shortcuts import render
from shop.models import Item
def home(request):
    return render(request, "home.html", {"items": Item.objects.all()})
@login_required(login_url="/")
def mine(request):
    return render(request, "home.html", {"items": []})
def broken(request):
    raise RuntimeError("was broken before")
"""
URLS = """\
from django.urls import path
from shop import views
urlpatterns = [path("", views.home), path("mine/", views.mine), path("broken/", views.broken),
               path("item/<int:number>/", views.home)]
"""
DJANGO_SITE = {
    "manage.py": MANAGE,
    "site_settings.py": SETTINGS,
    "site_urls.py": URLS,
    "shop/__init__.py": "",
    "shop/models.py": (
        "from django.db import models\nclass Item(models.Model):\n    name = models.CharField(max_length=20)\n"
    ),
    "shop/views.py": VIEWS,
    "shop/migrations/__init__.py": "",
    "shop/migrations/0001_initial.py": MIGRATION,
    "templates/home.html": "{% for item in items %}{{ item.name }}{% endfor %}",
    "templates/other.html": "<p>{{ a }}</p>",
}
DJANGO = "Django's own checks"


class Book:
    def __init__(self) -> None:
        self.kept: dict[str, SuiteRun] = {}

    def base_run(self, key: str) -> SuiteRun | None:
        return self.kept.get(key)

    def keep_run(self, key: str, run: SuiteRun) -> None:
        self.kept[key] = run


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return make_scene(tmp_path_factory)


def checked(scene: Scene, before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, ToolRun]:
    """What the tools say of a change from these files to those, by tool."""
    source = Path(tempfile.mkdtemp(dir=scene.folder)) / "source"
    base = repository(source, before)
    sha = commit(source, after)
    mirror = Mirror(source.with_name("mirror.git"), Remote(str(source)))
    mirror.create()
    mirror.fetch("main")
    branch = Branch("agent/t1", base, sha, tuple(after))
    bench = scene.bench(mirror, replace(SMALL, address_mb=4096, memory_mb=600))
    found = Toolbox(bench, Book(), mirror, branch, set(after)).check(Evidence(sha, "", base, "", ""))
    return {run.name: run for run in found.tools}


# --- Django ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "said"),
    [
        pytest.param({"shop/views.py": VIEWS + "\nPAGES = 4\n"}, (), id="a change that breaks nothing"),
        pytest.param(
            {"templates/home.html": "{% for item in items %}{{ item.name }}"},
            (
                "template home.html: TemplateSyntaxError: Unclosed tag on line 1: 'for'. "
                "Looking for one of: empty, endfor.",
                "page /: TemplateSyntaxError: Unclosed tag on line 1: 'for'. Looking for one of: empty, endfor.",
                "page /mine/: TemplateSyntaxError: Unclosed tag on line 1: 'for'. Looking for one of: empty, endfor.",
            ),
            id="a template that does not compile, and pages that use it, also behind a login",
        ),
        pytest.param(
            {"templates/other.html": "{% load nowhere %}"},
            (
                "template other.html: TemplateSyntaxError: 'nowhere' is not a registered tag library. Must be one of: "
                "cache i18n l10n static tz",
            ),
            id="a template that no page uses",
        ),
        pytest.param(
            {"shop/models.py": DJANGO_SITE["shop/models.py"] + "    price = models.IntegerField(default=0)\n"},
            (
                "makemigrations: shop lacks a migration: Add field price to item",
                "page /: OperationalError: no such column: shop_item.price",
            ),
            id="a model whose migration is missing",
        ),
        pytest.param(
            {"shop/views.py": VIEWS.replace("was broken before", "is broken now")}, (), id="a page that was broken"
        ),
        pytest.param(
            {"site_settings.py": SETTINGS.replace("DEBUG = False", "DEBUG = True")},
            ("check --deploy: ?: (security.W018) You should not have DEBUG set to True in deployment.",),
            id="a setting that is not for where it is deployed",
        ),
        pytest.param(
            {"site_settings.py": SETTINGS + "import nowhere\n"},
            ("the site does not start: ModuleNotFoundError: No module named 'nowhere'",),
            id="settings that cannot be read",
        ),
    ],
)
def test_a_django_site_is_asked_of_itself(scene: Scene, after: dict[str, str], said: tuple[str, ...]) -> None:
    assert checked(scene, DJANGO_SITE, after) == {DJANGO: ToolRun(DJANGO, "ran", said)}


def test_a_site_that_does_not_start_on_the_base_shows_nothing(scene: Scene) -> None:
    before = {**DJANGO_SITE, "site_settings.py": SETTINGS + "import os\nKEY = os.environ['KEY']\n"}
    found = checked(scene, before, {"shop/views.py": VIEWS + "PAGES = 4\n"})
    assert found == {
        DJANGO: ToolRun(DJANGO, "not run: it does not work on the base: the site does not start: KeyError: 'KEY'")
    }


def test_a_database_that_the_box_has_not_is_named_and_the_rest_is_seen(scene: Scene) -> None:
    before = {
        **DJANGO_SITE,
        "site_settings.py": SETTINGS.replace("/tmp/db.sqlite3", "/tmp/db").replace(
            "DEFAULT_AUTO", "DATABASES['default']['TEST'] = {'NAME': '/nowhere/db'}\nDEFAULT_AUTO"
        ),
    }
    [found] = checked(scene, before, {"templates/other.html": "{% load nowhere %}"}).values()
    assert found.end.startswith("ran; not seen: no page was rendered: the box has no such database (OperationalError")
    assert [text.partition(":")[0] for text in found.new] == ["template other.html"]


def test_a_page_that_asks_another_machine_is_not_seen(scene: Scene) -> None:
    asks = VIEWS.replace(
        'RuntimeError("was broken before")', "__import__('urllib.request').request.urlopen('http://a.b')"
    )
    [found] = checked(
        scene, {**DJANGO_SITE, "shop/views.py": VIEWS.replace("raise", "return")}, {"shop/views.py": asks}
    ).values()
    assert found.new == () and "page /broken/: the box has no network (URLError" in found.end


# --- the others -----------------------------------------------------------------------------------------------


def test_ruff_is_asked_as_the_repository_configures_it(scene: Scene) -> None:
    before = {"pyproject.toml": "[tool.ruff.lint]\nselect = ['E501', 'I']\n", "app.py": "import os\n"}
    after = {"app.py": "import sys\nimport os\n", "tests/test_app.py": f"ONE = '{'x' * 100}'\n"}
    assert checked(scene, before, after) == {
        "ruff check": ToolRun(
            "ruff check",
            "ran",
            (
                "app.py:1:1: I001 [*] Import block is un-sorted or un-formatted",
                "tests/test_app.py:1:89: E501 Line too long (108 > 88)",
            ),
        )
    }


GOOD_FLOW = """\
name: ci
on: push
permissions: {}
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - run: make test
"""


@pytest.mark.parametrize(
    ("name", "before", "after", "new"),
    [
        (
            "bash -n",
            {},
            {"run.sh": "if true; then\n  echo yes\n"},
            "run.sh: line 3: syntax error: unexpected end of file",
        ),
        ("bash -n", {"run.sh": "fi\n"}, {"run.sh": "echo a\nfi\n"}, ""),
        (
            SCHEMA,
            {},
            {".github/workflows/ci.yml": GOOD_FLOW.replace("steps:", "stepz:")},
            ".github/workflows/ci.yml:0: $.jobs.test: Additional properties are not allowed ('stepz' was unexpected)",
        ),
        (SCHEMA, {}, {".github/workflows/ci.yml": GOOD_FLOW}, ""),
        (AUDIT, {}, {".github/workflows/ci.yml": GOOD_FLOW}, ""),
        (
            AUDIT,
            {},
            {".github/workflows/ci.yml": GOOD_FLOW.replace("push", "pull_request_target")},
            ".github/workflows/ci.yml:2: dangerous-triggers: use of fundamentally insecure workflow trigger "
            "(pull_request_target is almost always used insecurely)",
        ),
        (
            "pip install --dry-run",
            {},
            {"requirements-dev.txt": "Django==5.2.*\nDjango==4.2.*\n"},
            "requirements-dev.txt: Cannot install Django==4.2.* and Django==5.2.* because",
        ),
        ("pip install --dry-run", {}, {"requirements-dev.txt": "Django==5.2.*\n"}, ""),
        (
            "our reading of Dockerfiles",
            {},
            {"Dockerfile": "FROM python:3.13\nCOPY app.py requirements.txt /srv/\n", "app.py": ""},
            "Dockerfile:2: requirements.txt is not in the repository",
        ),
    ],
)
def test_other_files_have_tools_too(
    scene: Scene, name: str, before: dict[str, str], after: dict[str, str], new: str
) -> None:
    found = checked(scene, {"README.md": "x", **before}, after)[name]
    assert found.end == "ran"
    assert [text.startswith(new) for text in found.new] == ([True] if new else [])


def test_what_is_not_installed_or_cannot_be_reached_is_named(scene: Scene) -> None:
    found = checked(scene, {"README.md": "x"}, {"run.sh": "echo yes\n", "requirements.txt": "nowhere-at-all==1\n"})
    assert found["shellcheck"].end == "not run: it is not installed"
    assert found["pip install --dry-run"] == ToolRun(
        "pip install --dry-run",
        "ran; not seen: requirements.txt: no package index is offered in the box (`packages:` of the target names a "
        "folder)",
    )
