"""The n8n workflow sends a lesson; we make an exam of it.

Header   X-Sisimpur-Signature: hex of HMAC-SHA256(N8N_SECRET, body)
Body     {"title": "...", "text": "...", "language": "bn" | "en", "count": 10}
Answers  201 {"exam": id} · 400 the lesson is no use · 403 wrong signature, or no secret is set
"""

import hashlib
import hmac
import json

from django.conf import settings
from django.http import JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from apps.brain.models import Exam

LONGEST_TEXT = 50_000
MOST_QUESTIONS = 50


def is_signed(body, signature):
    """Does whoever sent this know our secret?"""
    if not settings.N8N_SECRET:
        return False
    expected = hmac.new(settings.N8N_SECRET.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


def read_lesson(body):
    """The lesson as arguments of Exam.from_text. Raises ValueError if it cannot be used."""
    lesson = json.loads(body)
    if not isinstance(lesson, dict):
        raise ValueError("a lesson is a JSON object")
    title, text = str(lesson.get("title", "")).strip(), str(lesson.get("text", ""))
    language, count = lesson.get("language", "bn"), int(lesson.get("count", 10))
    if not title or len(title) > 200:
        raise ValueError("title: 1 to 200 characters")
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"text: at most {LONGEST_TEXT} characters")
    if language not in Exam.Language.values:
        raise ValueError("language: bn or en")
    if not 1 <= count <= MOST_QUESTIONS:
        raise ValueError(f"count: 1 to {MOST_QUESTIONS}")
    return title, text, language, count


@csrf_exempt  # a machine has no cookie; the signature stands in for it
@require_POST
def receive(request):
    if not is_signed(request.body, request.headers.get("X-Sisimpur-Signature", "")):
        return JsonResponse({"error": "wrong signature"}, status=403)
    try:
        exam = Exam.from_text(*read_lesson(request.body))
    except (ValueError, TypeError) as problem:
        return JsonResponse({"error": str(problem)}, status=400)
    return JsonResponse({"exam": exam.pk}, status=201)
