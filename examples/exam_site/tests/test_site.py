"""What machines see: health, and the waiting page that does not stop them."""

from django.test import TestCase, override_settings


class HealthTests(TestCase):
    def test_ping_and_healthz_answer(self):
        self.assertEqual(self.client.get("/ping/").content, b"pong")
        self.assertEqual(self.client.get("/healthz/").json(), {"status": "ok"})

    @override_settings(COMING_SOON=True)
    def test_the_waiting_page_keeps_visitors_out_and_lets_machines_in(self):
        self.assertEqual(self.client.get("/").status_code, 503)
        self.assertEqual(self.client.get("/healthz/").status_code, 200)
