from datetime import timedelta

from django.db import models
from django.utils import timezone

REOPEN_WITHIN = timedelta(days=14)


class Ticket(models.Model):
    order = models.ForeignKey("shop.Order", null=True, blank=True, on_delete=models.SET_NULL)
    email = models.EmailField()
    subject = models.CharField(max_length=120)
    text = models.TextField()
    opened = models.DateTimeField(default=timezone.now)
    closed = models.DateTimeField(null=True, blank=True)

    def __str__(self):
        return self.subject

    @property
    def is_open(self):
        return self.closed is None

    def close(self, now=None):
        if self.closed:
            raise ValueError("closed already")
        self.closed = now or timezone.now()
        self.save()

    def reopen(self, now=None):
        now = now or timezone.now()
        if self.closed is None:
            raise ValueError("not closed")
        if now - self.closed > REOPEN_WITHIN:
            raise ValueError("too late: write a new one")
        self.closed = None
        self.save()

    def waits_hours(self, now=None):
        end = self.closed or now or timezone.now()
        return int((end - self.opened).total_seconds() // 3600)

    def is_late(self, now=None):
        return self.is_open and self.waits_hours(now) >= 48
