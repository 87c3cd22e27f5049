from django.test import TestCase

from tests import makers


class InvoiceTests(TestCase):
    def test_the_page_names_the_customer(self):
        order = makers.order(makers.product())
        self.assertContains(self.client.get(f"/invoices/{order.pk}/"), "Karim")

    def test_the_slip_is_without_vat(self):
        order = makers.order(makers.product(price="500"), phone="01700")
        self.assertEqual(self.client.get(f"/invoices/{order.pk}/slip/").content.decode(), "Karim\n01700\n৳500.00\n")
