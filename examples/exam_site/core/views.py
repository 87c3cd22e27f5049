"""The two pages that machines look at."""

from django.db import DatabaseError, connection
from django.http import HttpResponse, JsonResponse


def ping(request):
    """The process answers."""
    return HttpResponse("pong", content_type="text/plain")


def healthz(request):
    """The process answers and reaches its database; 503 if it does not."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "database unreachable"}, status=503)
    return JsonResponse({"status": "ok"})
