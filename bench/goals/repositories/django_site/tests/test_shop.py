from decimal import Decimal

from django.test import TestCase

from shop import pricing
from tests import makers


class PricingTests(TestCase):
    def test_delivery_is_free_from_2000(self):
        self.assertEqual(pricing.delivery(Decimal("2000"), "Dhaka"), 0)
        self.assertEqual(pricing.delivery(Decimal("1999"), "Dhaka"), 60)
        self.assertEqual(pricing.delivery(Decimal("10"), "Sylhet"), 120)

    def test_vat_of_clothes(self):
        order = makers.order(makers.product(price="500"))
        self.assertEqual(pricing.vat(order.lines.all()), Decimal("75.00"))


class PageTests(TestCase):
    def test_hidden_products_are_not_listed(self):
        makers.product(name="Lungi")
        makers.product(name="Secret", is_shown=False)
        page = self.client.get("/shop/")
        self.assertContains(page, "Lungi")
        self.assertNotContains(page, "Secret")

    def test_a_category(self):
        makers.product(name="Lungi")
        self.assertContains(self.client.get("/shop/clothes/"), "Lungi")
