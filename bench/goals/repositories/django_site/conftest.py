"""Sets Django up for pytest; we do not use pytest-django (it was broken on the old server)."""
import os

import django
import pytest

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bazar.settings.test")
django.setup()


@pytest.fixture(scope="session", autouse=True)
def database():
    from django.test.runner import DiscoverRunner

    runner = DiscoverRunner(interactive=False, verbosity=0)
    runner.setup_test_environment()
    old = runner.setup_databases()
    yield
    runner.teardown_databases(old)
    runner.teardown_test_environment()
