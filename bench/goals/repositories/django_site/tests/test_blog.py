from datetime import date

from django.test import TestCase

from blog.models import Post


class BlogTests(TestCase):
    def test_drafts_are_not_listed(self):
        Post.objects.create(title="Eid", body="x", published=date(2025, 4, 1))
        Post.objects.create(title="Draft", body="x")
        page = self.client.get("/blog/")
        self.assertContains(page, "Eid")
        self.assertNotContains(page, "Draft")
