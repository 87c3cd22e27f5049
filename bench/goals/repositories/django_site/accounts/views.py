from django.contrib.auth import login
from django.contrib.auth.views import LoginView, LogoutView
from django.shortcuts import redirect, render

from .forms import SignUpForm

__all__ = ["LogoutView", "ShopLogin", "sign_up"]


class ShopLogin(LoginView):
    template_name = "accounts/login.html"
    redirect_authenticated_user = True


def sign_up(request):
    form = SignUpForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        login(request, form.save())
        return redirect("home")
    return render(request, "accounts/signup.html", {"form": form})
