"""Counters of a cache."""

from dataclasses import asdict, dataclass


@dataclass
class Stats:
    hits: int = 0
    misses: int = 0
    evictions: int = 0
    expirations: int = 0

    @property
    def requests(self):
        return self.hits + self.misses

    @property
    def hit_ratio(self):
        """Between 0 and 1; 0 if nothing was asked for yet."""
        return self.hits / self.requests if self.requests else 0.0

    def snapshot(self):
        """A copy that does not change any more."""
        return Stats(**asdict(self))

    def reset(self):
        self.hits = self.misses = self.evictions = self.expirations = 0

    def __add__(self, other):
        if not isinstance(other, Stats):
            return NotImplemented
        return Stats(
            self.hits + other.hits,
            self.misses + other.misses,
            self.evictions + other.evictions,
            self.expirations + other.expirations,
        )

    def __str__(self):
        return f"{self.hits} hits, {self.misses} misses ({self.hit_ratio:.0%})"
