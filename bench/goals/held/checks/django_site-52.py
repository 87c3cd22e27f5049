# mypy: ignore-errors
"""At most four queries for fifty lines, nothing kept from an earlier visit, every line shown."""

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
from pathlib import Path

from django.db import connection
from django.test.utils import CaptureQueriesContext
from shop.models import Category, Line, Order, Product

clothes = Category.objects.create(name="Clothes", slug="clothes")
order = Order.objects.create(customer_name="Karim")
for number in range(50):
    product = Product.objects.create(category=clothes, name=f"Shirt-{number:03d}", price=5)
    Line.objects.create(order=order, product=product, price=5, quantity=number + 1)
client = Client()
with CaptureQueriesContext(connection) as seen:
    page = client.get(f"/invoices/{order.pk}/").content.decode()
if len(seen) > 4:
    no(f"{len(seen)} queries for fifty lines")
if any(f"Shirt-{number:03d}" not in page for number in range(50)) or "Karim" not in page or "6375.00" not in page:
    no("the page leaves something out")
Product.objects.filter(name="Shirt-007").update(name="Panjabi-007")
Line.objects.filter(product=product).update(quantity=100)
page = client.get(f"/invoices/{order.pk}/").content.decode()
if "Panjabi-007" not in page or "6625.00" not in page:
    no("the page shows what was true at an earlier visit")
tests = "".join(path.read_text() for path in Path("tests").glob("test_*.py"))
if "assertNumQueries" not in tests and "CaptureQueriesContext" not in tests:
    no("no test counts the queries")
