"""A GitHub without GitHub: its REST API over real git repositories on this machine, for the demo and for tests."""
