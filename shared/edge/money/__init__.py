"""What may be spent and what was: tickets, reservations, prices, and the meter in front of every model call."""
