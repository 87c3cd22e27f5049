from common import holds, with_django


def check(tree):
    with_django()
    from django.test import Client
    from shop.models import Category, Line, Order, Product

    order = Order.objects.create(customer_name="Karim", phone="01700")
    for name, price, count, free in (("Shirt", 500, 2, False), ("Novel", 300, 1, True)):
        category = Category.objects.create(name=name, slug=name.lower(), is_vat_free=free)
        product = Product.objects.create(category=category, name=name, price=price)
        Line.objects.create(order=order, product=product, quantity=count, price=price)
    page = Client().get(f"/invoices/{order.pk}/").content.decode().replace(",", "")
    if "150.00" not in page or "1450.00" not in page:
        return "of 2 shirts at 500 and a VAT free book at 300 the page does not show 150.00 and 1450.00"
    slip = Client().get(f"/invoices/{order.pk}/slip/").content.decode()
    return None if "1,300.00" in slip else "the slip has another amount"


holds(check)
