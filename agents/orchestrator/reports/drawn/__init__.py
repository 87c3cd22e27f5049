"""What is drawn: the day's picture. The font for Bengali lies here."""
