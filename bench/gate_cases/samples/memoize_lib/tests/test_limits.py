import pytest

from memoize import KeyedLimiter, SlidingWindow, TokenBucket


class Clock:
    def __init__(self):
        self.now = 50.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def test_a_bucket_is_full_at_first(clock):
    bucket = TokenBucket(rate=1, capacity=3, clock=clock)
    assert [bucket.try_acquire() for _ in range(4)] == [True, True, True, False]


def test_a_bucket_fills_up(clock):
    bucket = TokenBucket(rate=2, capacity=4, clock=clock)
    assert bucket.try_acquire(4)
    clock.now += 1
    assert bucket.wait_time(4) == 1
    assert bucket.try_acquire(2)
    assert not bucket.try_acquire()


def test_a_bucket_does_not_overflow(clock):
    bucket = TokenBucket(rate=2, capacity=4, clock=clock)
    clock.now += 100
    assert bucket.try_acquire(4)
    assert not bucket.try_acquire()


def test_too_many_tokens(clock):
    with pytest.raises(ValueError, match="do not fit"):
        TokenBucket(rate=1, capacity=3, clock=clock).try_acquire(4)


def test_waiting(clock):
    bucket = TokenBucket(rate=1, capacity=2, clock=clock)
    assert bucket.acquire(2)
    assert bucket.acquire(2, sleep=clock.sleep)
    assert clock.now == 52


def test_a_timeout_that_is_too_short_does_not_wait(clock):
    bucket = TokenBucket(rate=1, capacity=2, clock=clock)
    bucket.acquire(2)
    assert not bucket.acquire(2, timeout="1s", sleep=clock.sleep)
    assert clock.now == 50


def test_a_window(clock):
    window = SlidingWindow(limit=2, window="10s", clock=clock)
    assert window.try_acquire()
    clock.now += 4
    assert window.try_acquire()
    assert not window.try_acquire()
    assert window.wait_time() == 6
    clock.now += 6
    assert window.wait_time() == 0
    assert window.try_acquire()
    assert not window.try_acquire()


def test_each_key_has_a_limit_of_its_own(clock):
    limiter = KeyedLimiter(lambda: SlidingWindow(1, 10, clock))
    assert limiter.try_acquire("ada")
    assert limiter.try_acquire("bob")
    assert not limiter.try_acquire("ada")
    assert limiter.reset("ada")
    assert limiter.try_acquire("ada")
