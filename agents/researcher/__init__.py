"""Question -> Findings, each claim held up by a quote."""
