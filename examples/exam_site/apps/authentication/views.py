"""Signing up, signing in, signing out."""

from django.contrib.auth import login, logout
from django.contrib.auth.forms import AuthenticationForm, UserCreationForm
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST


def next_page(request):
    """Where a visitor wanted to go; never another site."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return wanted
    return resolve_url("exam_list")


@require_http_methods(["GET", "POST"])
def sign_up(request):
    """Make an account and sign in with it."""
    form = UserCreationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        login(request, form.save())
        return redirect(next_page(request))
    return render(request, "account_form.html", {"title": "নিবন্ধন · Sign up", "form": form, "next": next_page(request)})


@require_http_methods(["GET", "POST"])
def sign_in(request):
    """Ask for name and password until they fit."""
    form = AuthenticationForm(request, request.POST or None)
    if request.method == "POST" and form.is_valid():
        login(request, form.get_user())
        return redirect(next_page(request))
    return render(request, "account_form.html", {"title": "প্রবেশ · Sign in", "form": form, "next": next_page(request)})


@require_POST
def sign_out(request):
    """Forget who this is."""
    logout(request)
    return redirect("exam_list")


from django.contrib.auth import login, logout
from django.contrib.auth.forms import AuthenticationForm, UserCreationForm
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST


def next_page(request):
    """Where a visitor wanted to go; never another site."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return wanted
    return resolve_url("exam_list")


@require_http_methods(["GET", "POST"])
def sign_up(request):
    """Make an account and sign in with it."""
    form = UserCreationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        login(request, form.save())
        return redirect(next_page(request))
    return render(request, "account_form.html", {"title": "নিবন্ধন · Sign up", "form": form, "next": next_page(request)})


@require_http_methods(["GET", "POST"])
def sign_in(request):
    """Ask for name and password until they fit."""
    form = AuthenticationForm(request, request.POST or None)
    if request.method == "POST" and form.is_valid():
        login(request, form.get_user())
        return redirect(next_page(request))
    return render(request, "account_form.html", {"title": "প্রবেশ · Sign in", "form": form, "next": next_page(request)})


@require_POST
def sign_out(request):
    """Forget who this is."""
    logout(request)
    return redirect("exam_list")
