"""The loop: what is due is begun, what can be done goes on, and one decision at a time is carried out."""
