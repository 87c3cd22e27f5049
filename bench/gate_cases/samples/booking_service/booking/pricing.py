"""What a booking costs, and what comes back. All amounts are whole cents."""

from dataclasses import dataclass
from datetime import timedelta

from booking.intervals import Interval
from booking.zones import DEFAULT, to_local

EVENING = 18


@dataclass(frozen=True)
class Tariff:
    hourly: int = 2000
    surcharge: int = 50  # per cent: evenings, weekends
    member_discount: int = 10  # per cent
    zone: str = DEFAULT

    def price(self, interval: Interval, is_member: bool = False) -> int:
        """Each hour that was begun has its own price; part of an hour costs its part. Rounded once, to full cents."""
        total, start = 0.0, interval.start
        while start < interval.end:
            end = min(start + timedelta(hours=1), interval.end)
            rate = self.hourly
            if self._is_busy(start):
                rate += self.hourly * self.surcharge / 100
            total += rate * ((end - start) / timedelta(hours=1))
            start = end
        if is_member:
            total -= total * self.member_discount / 100
        return round(total)

    def _is_busy(self, moment):
        local = to_local(moment, self.zone)
        return local.hour >= EVENING or local.weekday() >= 5


def refund(price, start, now):
    """What comes back of the price when a booking that begins at `start` is cancelled now."""
    ahead = start - now
    if ahead >= timedelta(hours=48):
        return price
    if ahead >= timedelta(hours=24):
        return price // 2
    return 0


def show(cents):
    """1250 is "12.50"."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def parse_amount(text):
    """The cents of "12.50"; not used since prices come from the tariff."""
    whole, _, part = text.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0"))
