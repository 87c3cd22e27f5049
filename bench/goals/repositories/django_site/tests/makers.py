from decimal import Decimal

from shop.models import Category, Line, Order, Product


def product(name="Shirt", price="500", category="clothes", vat_free=False, **more):
    kind, _ = Category.objects.get_or_create(
        slug=category, defaults={"name": category.title(), "is_vat_free": vat_free}
    )
    return Product.objects.create(category=kind, name=name, price=Decimal(price), stock=5, **more)


def order(*products, name="Karim", **more):
    made = Order.objects.create(customer_name=name, **more)
    for each in products:
        Line.objects.create(order=made, product=each, price=each.price)
    return made
