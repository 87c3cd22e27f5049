"""CSV of City Bank's web page. They changed the columns twice."""
import csv
import io
import sys
from datetime import date, datetime

from hishab.book import Entry

from .registry import importer


@importer("citybank")
def read(text):
    found = []
    for row in csv.DictReader(io.StringIO(text)):
        day = datetime.strptime(row["Date"], "%d-%b-%Y").date().isoformat()
        out, into = row.get("Withdrawal") or "0", row.get("Deposit") or "0"
        amount = float(out.replace(",", "")) - float(into.replace(",", ""))
        found.append(Entry(day, amount, row.get("Narration", ""), ["bank"], "citybank"))
    return found


def looks_like(text):
    first = text.splitlines()[0] if text else ""
    columns = first.split(",")
    l = len(columns)
    return "Withdrawal" in columns
