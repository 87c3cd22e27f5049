"""Lets plain pytest run the same tests as `python manage.py test`. Where pytest-django is installed, it does that."""

import os

import django
import pytest
from django.conf import settings
from django.test.utils import get_runner

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "core.settings")


def pytest_configure():
    """A password's hash is made to take long: for tests a quick one does, as Django's documentation advises."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    django.setup()


@pytest.fixture(scope="session", autouse=True)
def test_database(request):
    """One test database for the whole run, made and removed by Django's own runner."""
    if request.config.pluginmanager.hasplugin("django"):
        yield
        return
    runner = get_runner(settings)(verbosity=0, interactive=False)
    runner.setup_test_environment()
    databases = runner.setup_databases()
    yield
    runner.teardown_databases(databases)
    runner.teardown_test_environment()
