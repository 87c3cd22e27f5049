"""Caches, rate limits and decorators for them."""

from memoize.caches import LRUCache, TTLCache, from_spec
from memoize.decorators import cached, cached_method, rate_limited
from memoize.durations import format_duration, parse_duration
from memoize.limits import KeyedLimiter, RateLimited, SlidingWindow, TokenBucket
from memoize.snapshot import load, save
from memoize.stats import Stats

__all__ = [
    "KeyedLimiter",
    "LRUCache",
    "RateLimited",
    "SlidingWindow",
    "Stats",
    "TTLCache",
    "TokenBucket",
    "cached",
    "cached_method",
    "format_duration",
    "from_spec",
    "load",
    "parse_duration",
    "rate_limited",
    "save",
]
