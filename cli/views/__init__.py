"""What the owner looks at: each command reads and changes nothing, except that `memory --forget` deletes a lesson."""
