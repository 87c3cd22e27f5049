from django.contrib import admin

from .models import Category, Line, Order, Product

admin.site.register(Category)
admin.site.register(Product)


class LineInline(admin.TabularInline):
    model = Line
    extra = 0


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    list_display = ["id", "customer_name", "state", "created"]
    list_filter = ["state"]
    inlines = [LineInline]
