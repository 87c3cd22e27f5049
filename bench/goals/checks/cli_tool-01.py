import subprocess
import sys

from common import holds

TEST = "tests/test_export.py::test_commas_in_notes_come_back"


def check(tree):
    from hishab.book import Entry
    from hishab.export import from_csv, to_csv

    note = 'rice, dal, "good" oil'
    if from_csv(to_csv([Entry("2025-03-01", 10.0, note, ["food"])])) != [["2025-03-01", "cash", "10.00", "food", note]]:
        return "a note with commas does not come back"
    if to_csv([Entry("2025-03-01", 10.0, "tea", [])]) != "2025-03-01,cash,10.00,,tea\r\n":
        return "a plain line looks different now"
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", TEST], capture_output=True, text=True)
    return None if "1 passed" in done.stdout else f"the test: {done.stdout.strip().splitlines()[-1]}"


holds(check)
