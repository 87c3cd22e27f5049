"""The n8n workflow sends a lesson."""

import hashlib
import hmac
import json

from django.test import TestCase, override_settings

from apps.brain.models import Exam

LESSON = {"title": "নদী", "text": "পদ্মা বাংলাদেশের প্রধান নদী। ইলিশ জাতীয় মাছ।", "language": "bn", "count": 2}


@override_settings(N8N_SECRET="for tests")
class WebhookTests(TestCase):
    def send(self, lesson, secret="for tests"):
        body = json.dumps(lesson).encode()
        signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {"X-Sisimpur-Signature": signature}
        return self.client.post("/webhooks/n8n/", body, content_type="application/json", headers=headers)

    def test_a_signed_lesson_becomes_an_exam(self):
        response = self.send(LESSON)
        self.assertEqual(response.status_code, 201)
        self.assertEqual(Exam.objects.get(pk=response.json()["exam"]).questions.count(), 2)

    def test_a_wrong_signature_is_refused(self):
        self.assertEqual(self.send(LESSON, secret="guess").status_code, 403)

    @override_settings(N8N_SECRET="")
    def test_without_a_secret_the_webhook_is_closed(self):
        self.assertEqual(self.send(LESSON, secret="").status_code, 403)

    def test_a_lesson_that_cannot_be_used_is_named_and_leaves_nothing(self):
        for broken in ({"title": ""}, {"language": "fr"}, {"count": 0}, {"count": "many"}, {"text": "কি?"}):
            with self.subTest(broken):
                self.assertEqual(self.send({**LESSON, **broken}).status_code, 400)
        self.assertEqual(self.send(["no", "object"]).status_code, 400)
        self.assertFalse(Exam.objects.exists())
