"""Which importer may read this text? For `hishab import FILE` without --from."""
from . import citybank


def guess(text):
    if citybank.looks_like(text):
        return "citybank"
    return "bkash"
