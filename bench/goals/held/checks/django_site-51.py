# mypy: ignore-errors
"""The two addresses stay in their order and hidden products stay hidden, while shown ones open."""

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
from shop import urls
from shop.models import Category, Product

clothes = Category.objects.create(name="Clothes", slug="clothes")
shown = Product.objects.create(category=clothes, name="Lungi", price=5)
hidden = Product.objects.create(category=clothes, name="Secret", price=5, is_shown=False)
client = Client()
if client.get(f"/shop/product/{shown.pk}/").status_code != 200:
    no("the page of a shown product does not open")
if client.get(f"/shop/product/{hidden.pk}/").status_code != 404:
    no("the page of a hidden product opens")
names = [each.name for each in urls.urlpatterns]
if names.index("category") > names.index("product"):
    no("the routes were moved for a reason that is untrue")
