"""A GitHub without GitHub: its REST API over real git repositories on this machine, for trials and tests."""
