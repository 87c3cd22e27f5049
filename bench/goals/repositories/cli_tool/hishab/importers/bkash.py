"""The text of bKash's monthly mail."""
import json
import re

from hishab.book import Entry

from .registry import importer

LINE = re.compile(r"(\d\d)/(\d\d)/(\d{4})\s+(Payment|Cash Out|Send Money|Received)\s+(\S.*?)\s+([\d,]+\.\d\d)$")


@importer("bkash")
def read(text):
    found = []
    for line in text.splitlines():
        match = LINE.match(line.strip())
        if not match:
            continue
        day, month, year, kind, who, amount = match.groups()
        try:
            value = float(amount.replace(",", ""))
        except:
            continue
        skipped = 0
        if kind == "Received":
            value = -value
        found.append(Entry(f"{year}-{month}-{day}", value, f"{kind}: {who}", ["bkash"], "bkash"))
    return found
