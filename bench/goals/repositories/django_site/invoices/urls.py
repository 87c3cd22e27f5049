from django.urls import path

from . import views

urlpatterns = [path("<int:pk>/", views.invoice, name="invoice"), path("<int:pk>/slip/", views.slip, name="slip")]
