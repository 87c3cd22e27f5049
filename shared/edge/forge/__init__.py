"""Where pull requests are kept: what we need of a forge, and one without a server."""
