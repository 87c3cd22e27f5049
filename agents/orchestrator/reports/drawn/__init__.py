"""What is drawn: the day's picture, and a page of words as a PDF. The font for Bengali lies here."""
