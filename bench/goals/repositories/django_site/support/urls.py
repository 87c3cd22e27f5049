from django.urls import path

from . import views

urlpatterns = [path("", views.write, name="write"), path("thanks/", views.thanks, name="thanks")]
