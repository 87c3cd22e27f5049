"""A model without a model: the Messages API from a script, for the demo, for tests, for a day on trial."""
