"""What happens around every request."""

from django.conf import settings
from django.http import HttpResponse

STILL_OPEN = ("/healthz/", "/ping/", "/webhooks/")


class ComingSoonMiddleware:
    """While COMING_SOON is set, visitors see a waiting page; machines still get through."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        if settings.COMING_SOON and not request.path.startswith(STILL_OPEN):
            return HttpResponse("শীঘ্রই আসছে · Coming soon", status=503)
        return self.get_response(request)
