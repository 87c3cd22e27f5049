"""Branch -> Verdict: rules first, then a model."""
