"""Taking an exam, from the list to the result."""

from django.contrib.auth.models import User
from django.test import TestCase

from apps.brain.models import Attempt, Exam

TEXT = "পদ্মা বাংলাদেশের প্রধান নদী। ইলিশ বাংলাদেশের জাতীয় মাছ।"


class ExamTests(TestCase):
    def setUp(self):
        self.exam = Exam.from_text("নদী ও মাছ", TEXT, "bn", 2)
        self.user = User.objects.create_user("pupil")

    def answers(self, shift=0):
        return {f"q{q.pk}": (q.answer + shift) % 4 for q in self.exam.questions.all()}

    def test_the_list_shows_every_exam_to_everybody(self):
        self.assertContains(self.client.get("/"), "নদী ও মাছ")

    def test_an_exam_asks_for_a_sign_in_first(self):
        response = self.client.get(f"/exams/{self.exam.pk}/")
        self.assertRedirects(response, f"/accounts/sign-in/?next=/exams/{self.exam.pk}/")

    def test_a_bengali_exam_numbers_its_questions_in_bengali(self):
        self.client.force_login(self.user)
        self.assertContains(self.client.get(f"/exams/{self.exam.pk}/"), "<legend>২. ")

    def test_right_answers_get_full_marks(self):
        self.client.force_login(self.user)
        response = self.client.post(f"/exams/{self.exam.pk}/", self.answers(), follow=True)
        self.assertContains(response, "২.০০ / ২: <strong>A+</strong>")

    def test_wrong_and_broken_answers_fail(self):
        self.client.force_login(self.user)
        self.client.post(f"/exams/{self.exam.pk}/", self.answers(shift=1))
        self.client.post(f"/exams/{self.exam.pk}/", {name: "many" for name in self.answers()})
        self.assertEqual([attempt.grade for attempt in Attempt.objects.all()], ["F", "F"])

    def test_a_result_is_its_owners_alone(self):
        attempt = Attempt.objects.create(exam=self.exam, user=self.user, marks=2, total=2, grade="A+")
        self.client.force_login(User.objects.create_user("somebody_else"))
        self.assertEqual(self.client.get(f"/results/{attempt.pk}/").status_code, 404)
