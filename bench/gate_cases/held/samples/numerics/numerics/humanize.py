"""Numbers for people."""

UNITS = ("B", "kB", "MB", "GB", "TB")


def size(count):
    """A count of bytes: 1536 is 1.5 kB (thousands, not 1024)."""
    value = float(count)
    for unit in UNITS:
        if value < 1000 or unit == UNITS[-1]:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError


def ordinal(number):
    """1st, 2nd, 3rd, 4th ..."""
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def duration(seconds):
    """90 is 1 min 30 s."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (rest, "s")]
    return " ".join(f"{value} {unit}" for value, unit in parts if value) or "0 s"
