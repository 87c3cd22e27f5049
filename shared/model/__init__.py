"""The words of the flow, and pure decisions about them. Knows only itself and the standard library."""
