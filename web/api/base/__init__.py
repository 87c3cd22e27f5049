"""What every address stands on: the home, who asks, and answers as JSON or as a problem."""
