from django.db import models


class Post(models.Model):
    """No migrations here: the blog was to be thrown away (2023). Its table comes from --run-syncdb."""

    title = models.CharField(max_length=120)
    body = models.TextField()
    published = models.DateField(null=True, blank=True)

    def __str__(self):
        return self.title
