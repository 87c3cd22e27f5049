"""Choosing an exam, taking it, seeing the result."""

from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from apps.brain.bengali import localized
from apps.brain.models import Attempt, Exam
from apps.brain.services import score_answers


def exam_list(request):
    """All exams, the newest first, and the visitor's own last results."""
    attempts = request.user.attempts.select_related("exam")[:5] if request.user.is_authenticated else []
    return render(request, "exam_list.html", {"exams": Exam.objects.all(), "attempts": attempts})


@login_required
@require_http_methods(["GET", "POST"])
def exam(request, pk):
    """Show the questions; on POST, mark the answers."""
    exam = get_object_or_404(Exam, pk=pk)
    questions = list(exam.questions.all())
    if request.method == "POST":
        return redirect("result", pk=_mark(request, exam, questions).pk)
    numbered = [(localized(question.position, exam.language), question) for question in questions]
    return render(request, "exam.html", {"exam": exam, "numbered": numbered})


def _mark(request, exam, questions):
    given = [_chosen(request.POST.get(f"q{question.pk}")) for question in questions]
    score = score_answers([question.answer for question in questions], given)
    return Attempt.objects.create(
        exam=exam, user=request.user, marks=score.marks, total=score.total, grade=score.grade
    )


def _chosen(value):
    """The number of the chosen option; None for a skipped question or a broken form."""
    return int(value) if value in {"0", "1", "2", "3"} else None


@login_required
def result(request, pk):
    """One's own result; the results of others do not exist."""
    attempt = get_object_or_404(Attempt.objects.select_related("exam"), pk=pk, user=request.user)
    language = attempt.exam.language
    context = {
        "attempt": attempt,
        "marks": localized(attempt.marks, language),
        "total": localized(attempt.total, language),
    }
    return render(request, "result.html", context)
