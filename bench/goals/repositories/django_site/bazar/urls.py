from django.contrib import admin
from django.urls import include, path

from shop.views import home

urlpatterns = [
    path("", home, name="home"),
    path("admin/", admin.site.urls),
    path("accounts/", include("accounts.urls")),
    path("shop/", include("shop.urls")),
    path("invoices/", include("invoices.urls")),
    path("support/", include("support.urls")),
    path("blog/", include("blog.urls")),
]
