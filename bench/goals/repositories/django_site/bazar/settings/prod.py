import os

from .base import *  # noqa: F403

DEBUG = False
SECRET_KEY = os.environ.get("SECRET_KEY", "")
ALLOWED_HOSTS = ["ponnobazar.example"]
CSRF_TRUSTED_ORIGINS = ["https://ponnobazar.example"]
