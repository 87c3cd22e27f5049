"""Differential testing: the calls that tests make of a changed file, made on both commits, with inputs nearby."""
