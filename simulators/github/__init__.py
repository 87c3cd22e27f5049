"""Serves GitHub's API and git over HTTP on this machine."""
