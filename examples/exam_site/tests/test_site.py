"""What machines see: health, the waiting page, the n8n webhook."""

import hashlib
import hmac
import json

from django.test import TestCase, override_settings

from apps.brain.models import Exam

LESSON = {"title": "নদী", "text": "পদ্মা বাংলাদেশের প্রধান নদী। ইলিশ জাতীয় মাছ।", "language": "bn", "count": 2}


class HealthTests(TestCase):
    def test_ping_and_healthz_answer(self):
        self.assertEqual(self.client.get("/ping/").content, b"pong")
        self.assertEqual(self.client.get("/healthz/").json(), {"status": "ok"})

    @override_settings(COMING_SOON=True)
    def test_the_waiting_page_keeps_visitors_out_and_lets_machines_in(self):
        self.assertEqual(self.client.get("/").status_code, 503)
        self.assertEqual(self.client.get("/healthz/").status_code, 200)


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
