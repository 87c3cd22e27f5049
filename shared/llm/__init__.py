"""Prompts, and one question to a model."""
