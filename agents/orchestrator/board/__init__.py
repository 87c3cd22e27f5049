"""Where things stand: tasks, facts of reviews, what is away, and how a task moves."""
