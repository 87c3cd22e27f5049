from django.shortcuts import get_object_or_404, render

from .models import Category, Product


def home(request):
    return render(request, "home.html", {"products": Product.objects.filter(is_shown=True)[:12]})


def products(request, category=None):
    found = Product.objects.filter(is_shown=True).select_related("category")
    chosen = None
    if category:
        chosen = get_object_or_404(Category, slug=category)
        found = found.filter(category=chosen)
    return render(request, "shop/products.html", {"products": found, "category": chosen})


def product(request, pk):
    return render(request, "shop/product.html", {"product": get_object_or_404(Product, pk=pk, is_shown=True)})
