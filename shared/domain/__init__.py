"""Words: frozen values and pure decisions. Standard library only; no I/O, no clock."""
