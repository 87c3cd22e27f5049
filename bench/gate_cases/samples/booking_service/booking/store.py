"""Rooms and bookings in a JSON file."""

import json
import os
from contextlib import suppress
from datetime import datetime

from booking.intervals import Interval


class JsonStore:
    """Reads the file when it is opened, and writes it as a whole: the old one stays if that fails."""

    def __init__(self, path):
        self.path = path
        self.rooms = {}  # name -> capacity
        self.bookings = {}  # number -> dict
        self.last_number = 0
        with suppress(FileNotFoundError):
            self._read()

    def _read(self):
        with open(self.path, encoding="utf-8") as file:
            content = json.load(file)
        self.rooms = content["rooms"]
        self.bookings = {int(number): booking for number, booking in content["bookings"].items()}
        self.last_number = content.get("last_number", max(self.bookings, default=0))

    def next_number(self):
        """Numbers are never given twice, not even after a booking was removed."""
        self.last_number += 1
        return self.last_number

    def commit(self):
        aside = f"{self.path}.new"
        content = {
            "rooms": self.rooms,
            "bookings": {str(number): booking for number, booking in sorted(self.bookings.items())},
            "last_number": self.last_number,
        }
        with open(aside, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
        os.replace(aside, self.path)


def dump_interval(interval):
    return [interval.start.isoformat(), interval.end.isoformat()]


def load_interval(pair):
    start, end = pair
    return Interval(datetime.fromisoformat(start), datetime.fromisoformat(end))
