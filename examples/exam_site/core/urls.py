"""Which address belongs to which view."""

from django.urls import include, path

from apps.webhooks.n8n import receive
from core.views import healthz, ping

urlpatterns = [
    path("", include("apps.brain.urls")),
    path("accounts/", include("apps.authentication.urls")),
    path("webhooks/n8n/", receive, name="n8n"),
    path("healthz/", healthz),
    path("ping/", ping),
]
