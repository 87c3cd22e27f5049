"""Decorators: results that are kept, calls that are limited."""

import functools
import time
import weakref

from memoize.caches import MISSING, LRUCache, TTLCache
from memoize.keys import call_key
from memoize.limits import RateLimited, TokenBucket


def _make_cache(maxsize, ttl, clock):
    return LRUCache(maxsize) if ttl is None else TTLCache(maxsize, ttl, clock)


def cached(maxsize=128, ttl=None, typed=False, key=None, unless=None, clock=time.monotonic):
    """Keep a function's results.

    `key(*args, **kwargs)` makes the key of a call. `unless(result)`: such a result is not kept. What cannot be hashed
    is called without the cache. An exception is never kept.
    """

    def decorate(function):
        cache = _make_cache(maxsize, ttl, clock)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            try:
                found_key = key(*args, **kwargs) if key else call_key(args, kwargs, typed)
                hash(found_key)
            except TypeError:
                return function(*args, **kwargs)
            value = cache.get(found_key, MISSING)
            if value is MISSING:
                value = function(*args, **kwargs)
                if unless is None or not unless(value):
                    cache.set(found_key, value)
            return value

        wrapper.cache = cache
        wrapper.stats = cache.stats
        wrapper.cache_clear = cache.clear
        return wrapper

    return decorate


def cached_method(maxsize=128, ttl=None, typed=False, clock=time.monotonic):
    """As `cached`, for a method: each object has a cache of its own, which goes when the object goes."""

    def decorate(method):
        caches = weakref.WeakKeyDictionary()

        @functools.wraps(method)
        def wrapper(self, *args, **kwargs):
            cache = caches.get(self)
            if cache is None:
                cache = caches[self] = _make_cache(maxsize, ttl, clock)
            found_key = call_key(args, kwargs, typed)
            value = cache.get(found_key, MISSING)
            if value is MISSING:
                value = method(self, *args, **kwargs)
                cache.set(found_key, value)
            return value

        wrapper.cache_of = caches.get
        return wrapper

    return decorate


def rate_limited(rate=1, capacity=None, block=False, clock=time.monotonic, sleep=time.sleep):
    """Limit a function's calls. Without `block` a call too many raises RateLimited, with it it waits."""

    def decorate(function):
        bucket = TokenBucket(rate, capacity, clock)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if block:
                bucket.acquire(sleep=sleep)
            elif not bucket.try_acquire():
                raise RateLimited(bucket.wait_time())
            return function(*args, **kwargs)

        wrapper.bucket = bucket
        return wrapper

    return decorate
