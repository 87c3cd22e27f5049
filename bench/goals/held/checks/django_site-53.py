# mypy: ignore-errors
"""A ticket of any subject fits its column, begins with its desk, and nobody is turned away."""

import os
import sys

TREE = sys.argv[1]
sys.path.insert(0, TREE)
os.chdir(TREE)
os.environ["DJANGO_SETTINGS_MODULE"] = "bazar.settings.test"
try:
    import django
except ImportError:
    print("cannot tell: no Django here")
    sys.exit(2)


def no(why):
    print(why)
    sys.exit(1)


try:
    django.setup()
    from django.test.runner import DiscoverRunner

    RUNNER = DiscoverRunner(interactive=False, verbosity=0)
    RUNNER.setup_test_environment()
    RUNNER.setup_databases()
    from django.test import Client
except Exception as error:
    no(f"the site does not start: {error}")
from support.models import Ticket

client = Client()
for mark, first in (("late", "delivery"), ("refund", "money"), ("hello", "other"), ("size", "product")):
    for length in (5, 100, 108, 115, 119, 120, 121, 500):
        Ticket.objects.all().delete()
        words = (mark + " " + "y" * 500)[: max(length, len(mark))].strip()
        answer = client.post("/support/", {"email": "a@b.example", "subject": words, "text": "hi"})
        if answer.status_code != 302 or Ticket.objects.count() != 1:
            no(f"a subject of {length} characters is turned away")
        kept = Ticket.objects.get().subject
        if len(kept) > Ticket._meta.get_field("subject").max_length:
            no(f"{len(kept)} characters for a column of {Ticket._meta.get_field('subject').max_length}")
        if not kept.startswith(f"[{first}] {words[:60].strip()}"):
            no(f"the subject begins with {kept[:20]!r}")
        if length + len(first) + 3 <= 120 and kept != f"[{first}] {words}":
            no("a subject that fits was changed")
if Ticket._meta.get_field("subject").max_length != 120:
    no("the column was changed, its table on the server was not")
