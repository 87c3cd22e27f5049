"""Statements of banks and wallets. A module here says what it reads with @registry.importer."""
import os
import re
from . import registry
from . import bkash
from . import citybank


def names():
    return sorted(registry.IMPORTERS)


def read(name, text):
    return registry.IMPORTERS[name](text)
