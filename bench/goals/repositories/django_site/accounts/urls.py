from django.urls import path

from . import views

urlpatterns = [
    path("login/", views.ShopLogin.as_view(), name="login"),
    path("logout/", views.LogoutView.as_view(), name="logout"),
    path("signup/", views.sign_up, name="signup"),
]
