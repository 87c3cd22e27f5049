from django.db import models

from core import money


class Category(models.Model):
    name = models.CharField(max_length=80)
    slug = models.SlugField(unique=True)
    # since the budget of 2024: books, medicine, rice
    is_vat_free = models.BooleanField(default=False)

    def __str__(self):
        return self.name


class Product(models.Model):
    category = models.ForeignKey(Category, on_delete=models.PROTECT, related_name="products")
    name = models.CharField(max_length=120)
    price = models.DecimalField(max_digits=10, decimal_places=2)
    stock = models.PositiveIntegerField(default=0)
    is_shown = models.BooleanField(default=True)

    def __str__(self):
        return self.name

    @property
    def in_stock(self):
        return self.stock > 0


class Order(models.Model):
    STATES = [("new", "New"), ("paid", "Paid"), ("sent", "Sent"), ("back", "Given back")]

    customer_name = models.CharField(max_length=120)
    phone = models.CharField(max_length=20, blank=True)
    state = models.CharField(max_length=8, choices=STATES, default="new")
    paid_with = models.CharField(max_length=4, blank=True)
    payment_reference = models.CharField(max_length=40, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self):
        return f"Order {self.pk} of {self.customer_name}"

    def total(self):
        """Without VAT. The till and the courier's form use this one."""
        return money.total(line.amount() for line in self.lines.all())

    def pieces(self):
        return sum(line.quantity for line in self.lines.all())


class Line(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    product = models.ForeignKey(Product, on_delete=models.PROTECT)
    quantity = models.PositiveIntegerField(default=1)
    price = models.DecimalField(max_digits=10, decimal_places=2)

    def amount(self):
        return self.price * self.quantity
