from django.conf import settings
from django.db import models


class Address(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="addresses")
    line = models.CharField(max_length=200)
    thana = models.CharField(max_length=60, blank=True)
    district = models.CharField(max_length=60, default="Dhaka")

    def __str__(self):
        return ", ".join(part for part in (self.line, self.thana, self.district) if part)
