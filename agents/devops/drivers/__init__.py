"""What any way of running a target has to do, health, backups, and targets run by commands."""
