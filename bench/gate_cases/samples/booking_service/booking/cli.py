"""The command line: `booking --store FILE COMMAND ...`."""

import argparse
import sys
from datetime import date, datetime

from booking.errors import BookingError
from booking.intervals import Interval
from booking.pricing import show
from booking.service import BookingService, utc_now
from booking.store import JsonStore
from booking.zones import day_of, to_local, to_utc


def parser():
    top = argparse.ArgumentParser(prog="booking", description="Bookings of rooms.")
    top.add_argument("--store", default="booking.json", help="the file that holds rooms and bookings")
    commands = top.add_subparsers(dest="command", required=True)
    add_room = commands.add_parser("add-room", help="add a room")
    add_room.add_argument("name")
    add_room.add_argument("--capacity", type=int, default=1)
    book = commands.add_parser("book", help="book a room; times are local, e.g. 2026-03-02T09:00")
    book.add_argument("room")
    book.add_argument("guest")
    book.add_argument("start", type=datetime.fromisoformat)
    book.add_argument("end", type=datetime.fromisoformat)
    book.add_argument("--member", action="store_true")
    listing = commands.add_parser("list", help="list bookings")
    listing.add_argument("--day", type=date.fromisoformat)
    free = commands.add_parser("free", help="show when a room is free")
    free.add_argument("room")
    free.add_argument("day", type=date.fromisoformat)
    cancel = commands.add_parser("cancel", help="cancel a booking")
    cancel.add_argument("number", type=int)
    return top


def _times(interval, zone):
    start, end = to_local(interval.start, zone), to_local(interval.end, zone)
    return f"{start:%Y-%m-%d %H:%M}-{end:%H:%M}"


def run(options, service, out):
    zone = service.tariff.zone
    if options.command == "add-room":
        room = service.add_room(options.name, options.capacity)
        print(f"room {room.name}, {room.capacity} seats", file=out)
    elif options.command == "book":
        interval = Interval(to_utc(options.start, zone), to_utc(options.end, zone))
        booking = service.book(options.room, options.guest, interval, options.member)
        print(f"booking {booking.number}: {show(booking.price)}", file=out)
    elif options.command == "list":
        within = day_of(options.day, zone) if options.day else None
        for booking in service.bookings(within=within):
            times = _times(booking.interval, zone)
            print(f"{booking.number}\t{times}\t{booking.room}\t{booking.guest}\t{show(booking.price)}", file=out)
    elif options.command == "free":
        for interval in service.free(options.room, options.day):
            print(_times(interval, zone), file=out)
    else:
        print(f"cancelled, {show(service.cancel(options.number))} comes back", file=out)


def main(argv=None, out=None, clock=utc_now):
    """0; 1 if it cannot be done, and then the last line says why."""
    options = parser().parse_args(argv)
    out = out or sys.stdout
    try:
        run(options, BookingService(JsonStore(options.store), clock=clock), out)
    except (BookingError, ValueError) as problem:
        print(f"booking: {problem}", file=out)
        return 1
    return 0
