"""Boxes: where code that a model or a repository brought may run."""
