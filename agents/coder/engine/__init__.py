"""Aider behind one door: started anew for each task, or kept warm in a box."""
