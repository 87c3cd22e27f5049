"""What reaches the forge: branches, pull requests, statuses, comments, merges."""
