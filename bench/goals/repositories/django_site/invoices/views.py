from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from core.money import taka
from shop.models import Order


def invoice(request, pk):
    order = get_object_or_404(Order, pk=pk)
    return render(request, "invoices/invoice.html", {"order": order, "lines": order.lines.all()})


def slip(request, pk):
    """What the courier glues on the parcel. The courier collects without VAT, VAT is paid before."""
    order = get_object_or_404(Order, pk=pk)
    return HttpResponse(f"{order.customer_name}\n{order.phone}\n{taka(order.total())}\n", content_type="text/plain")
