"""Ours. Both are switched on in the settings only."""
from django.conf import settings
from django.core.cache import cache
from django.http import HttpResponse
from django.utils import translation


class LoginThrottle:
    """Answers 429 to an address that gave LOGIN_TRIES wrong passwords, for LOGIN_LOCK_SECONDS."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        if request.method != "POST" or request.path != settings.LOGIN_URL:
            return self.get_response(request)
        key = "login-tries:" + request.META.get("REMOTE_ADDR", "")
        if cache.get(key, 0) >= settings.LOGIN_TRIES:
            return HttpResponse("Too many tries. Come back later.", status=429)
        response = self.get_response(request)
        if response.status_code == 200:  # the form again: it was wrong
            cache.set(key, cache.get(key, 0) + 1, settings.LOGIN_LOCK_SECONDS)
        else:
            cache.delete(key)
        return response


class VisitorLanguage:
    """Bengali for who asks for it with ?lang=bn, kept in the session."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        wanted = request.GET.get("lang")
        if wanted in ("bn", "en"):
            request.session["lang"] = wanted
        translation.activate(request.session.get("lang", settings.LANGUAGE_CODE))
        return self.get_response(request)
