from decimal import Decimal

from common import holds, with_django


def check(tree):
    with_django()
    from payments import till
    from shop.models import Order

    sent = []

    def send(url, fields):
        sent.append((url, fields))
        return {"status": "ok"}

    order = Order.objects.create(customer_name="Karim", payment_reference="R1", state="paid")
    if not till.give_back(order, Decimal("5"), send) or "/v1/refund" not in sent[0][0] or "checksum" not in sent[0][1]:
        return "an order of 2023 is not given back through v1"
    from payments.bkash_v1 import BkashV1

    return "v1 still charges" if hasattr(BkashV1, "charge") else None


holds(check)
