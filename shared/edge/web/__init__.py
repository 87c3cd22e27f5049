"""The web as a researcher needs it: what searches, what reads pages, and what was found."""
