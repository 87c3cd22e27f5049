"""Addresses of the exams."""

from django.urls import path

from apps.brain import views

urlpatterns = [
    path("", views.exam_list, name="exam_list"),
    path("exams/<int:pk>/", views.exam, name="exam"),
    path("results/<int:pk>/", views.result, name="result"),
]
