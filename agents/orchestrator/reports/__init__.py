"""How a day went: reports, notices, pictures, PROGRESS.md."""
