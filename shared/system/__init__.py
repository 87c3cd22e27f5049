"""The operating system: files, processes, clock, locks, logs, HTTP."""
