"""What is looked up on the web before a day is planned, and its notes."""
