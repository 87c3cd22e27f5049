"""Asking a model: one question, one checked answer."""
