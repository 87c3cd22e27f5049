"""The roles. None imports another; `cli/wiring` puts them together."""
