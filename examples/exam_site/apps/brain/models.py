"""Exams, their questions, and who answered them how."""

from django.conf import settings
from django.db import models, transaction

from apps.brain.services import generate_questions


class Exam(models.Model):
    class Language(models.TextChoices):
        BENGALI = "bn", "বাংলা"
        ENGLISH = "en", "English"

    title = models.CharField(max_length=200)
    language = models.CharField(max_length=2, choices=Language, default=Language.BENGALI)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self):
        return self.title

    @classmethod
    def from_text(cls, title, text, language, count):
        """Store an exam with questions about the text. Raises ValueError if the text is too short."""
        drafts = generate_questions(text, count)
        with transaction.atomic():
            exam = cls.objects.create(title=title, language=language)
            Question.objects.bulk_create(
                Question(exam=exam, position=position, text=draft.text, options=draft.options, answer=draft.answer)
                for position, draft in enumerate(drafts, start=1)
            )
        return exam


class Question(models.Model):
    exam = models.ForeignKey(Exam, on_delete=models.CASCADE, related_name="questions")
    position = models.PositiveSmallIntegerField()
    text = models.TextField()
    options = models.JSONField()
    answer = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["exam", "position"], name="one_question_per_position")]

    def __str__(self):
        return self.text


class Attempt(models.Model):
    exam = models.ForeignKey(Exam, on_delete=models.CASCADE, related_name="attempts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="attempts")
    marks = models.DecimalField(max_digits=6, decimal_places=2)
    total = models.PositiveSmallIntegerField()
    grade = models.CharField(max_length=2)
    taken_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-taken_at", "-pk"]

    def __str__(self):
        return f"{self.exam}: {self.marks} / {self.total}"
