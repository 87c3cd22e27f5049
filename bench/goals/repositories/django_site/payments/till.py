"""Takes and gives back money through the backends of the settings."""
from django.conf import settings
from django.utils.module_loading import import_string


def charge(order, amount, send):
    order.payment_reference = import_string(settings.CHARGE_BACKEND)(send).charge(order, amount)
    order.paid_with, order.state = "v2", "paid"
    order.save()


def give_back(order, amount, send):
    backend = import_string(settings.REFUND_BACKENDS[order.paid_with or "v1"])(send)
    if backend.refund(order, amount):
        order.state = "back"
        order.save()
        return True
    return False
