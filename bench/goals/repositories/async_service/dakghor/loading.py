import importlib


def load(name):
    """`package.module.Name` -> what it names."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)
