from decimal import Decimal

from django.test import TestCase

from payments import till
from tests import makers


class TillTests(TestCase):
    def test_a_charge_goes_to_v2(self):
        order = makers.order(makers.product())
        sent = []

        def send(url, fields):
            sent.append((url, fields))
            return {"id": "P1"}

        till.charge(order, Decimal("5"), send)
        self.assertEqual(sent[0][1], {"order": order.pk, "paisa": 500})
        self.assertEqual(order.payment_reference, "P1")
