"""Signing up, in and out."""

from django.contrib.auth.models import User
from django.test import TestCase

PASSWORD = "a long river name"


class AccountTests(TestCase):
    def is_signed_in(self):
        return "_auth_user_id" in self.client.session

    def test_signing_up_makes_an_account_and_signs_in(self):
        response = self.client.post(
            "/accounts/sign-up/", {"username": "pupil", "password1": PASSWORD, "password2": PASSWORD}
        )
        self.assertRedirects(response, "/")
        self.assertTrue(User.objects.filter(username="pupil").exists() and self.is_signed_in())

    def test_a_wrong_password_does_not_sign_in(self):
        User.objects.create_user("pupil", password=PASSWORD)
        response = self.client.post("/accounts/sign-in/", {"username": "pupil", "password": "guess"})
        self.assertEqual(response.status_code, 200)
        self.assertFalse(self.is_signed_in())

    def test_signing_in_leads_back_to_the_wanted_page_but_never_to_another_site(self):
        User.objects.create_user("pupil", password=PASSWORD)
        for wanted, reached in [("/?page=2", "/?page=2"), ("https://evil.example/", "/")]:
            data = {"username": "pupil", "password": PASSWORD, "next": wanted}
            self.assertRedirects(self.client.post("/accounts/sign-in/", data), reached)

    def test_signing_out_needs_a_post(self):
        self.client.force_login(User.objects.create_user("pupil"))
        self.assertEqual(self.client.get("/accounts/sign-out/").status_code, 405)
        self.client.post("/accounts/sign-out/")
        self.assertFalse(self.is_signed_in())
