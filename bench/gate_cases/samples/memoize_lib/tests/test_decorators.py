import pytest

from memoize import RateLimited, cached, cached_method, rate_limited
from memoize.keys import call_key


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def test_a_result_is_kept():
    calls = []

    @cached()
    def double(number):
        calls.append(number)
        return number * 2

    assert double(2) == 4
    assert double(2) == 4
    assert calls == [2]
    assert str(double.stats) == "1 hits, 1 misses (50%)"


def test_keyword_arguments_in_any_order():
    calls = []

    @cached()
    def show(**options):
        calls.append(options)

    show(a=1, b=2)
    show(b=2, a=1)
    assert len(calls) == 1


def test_none_is_a_result_too():
    calls = []

    @cached()
    def nothing():
        calls.append(1)

    nothing()
    nothing()
    assert calls == [1]


def test_typed():
    assert call_key((1,), {}) == call_key((1.0,), {})
    assert call_key((1,), {}, typed=True) != call_key((1.0,), {}, typed=True)


def test_an_exception_is_not_kept():
    calls = []

    @cached()
    def fail():
        calls.append(1)
        raise OSError("away")

    for _ in range(2):
        with pytest.raises(OSError):
            fail()
    assert calls == [1, 1]


def test_unhashable_arguments_are_called_without_the_cache():
    @cached()
    def total(numbers):
        return sum(numbers)

    assert total([1, 2]) == 3
    assert total([1, 2]) == 3
    assert len(total.cache) == 0


def test_a_key_of_ones_own():
    @cached(key=lambda user, verbose=False: user)
    def greet(user, verbose=False):
        return f"hello {user} {verbose}"

    assert greet("ada") == greet("ada", verbose=True)


def test_unless():
    answers = [None, 5]

    @cached(unless=lambda result: result is None)
    def ask():
        return answers.pop(0)

    assert [ask(), ask(), ask()] == [None, 5, 5]


def test_a_time_to_live():
    clock, calls = Clock(), []

    @cached(ttl="1m", clock=clock)
    def ask():
        calls.append(1)

    ask()
    clock.now = 61
    ask()
    assert calls == [1, 1]


def test_clear():
    @cached()
    def same(value):
        return value

    same(1)
    same.cache_clear()
    assert len(same.cache) == 0
    assert same.__name__ == "same"


class Shop:
    def __init__(self, rate):
        self.rate, self.asked = rate, 0

    @cached_method()
    def price(self, cents):
        self.asked += 1
        return cents * self.rate


def test_each_object_has_a_cache_of_its_own():
    one, two = Shop(1), Shop(2)
    assert (one.price(100), two.price(100), one.price(100)) == (100, 200, 100)
    assert (one.asked, two.asked) == (1, 1)


def test_calls_are_limited():
    clock = Clock()

    @rate_limited(rate=2, capacity=1, clock=clock)
    def ping():
        return "pong"

    assert ping() == "pong"
    with pytest.raises(RateLimited) as caught:
        ping()
    assert caught.value.retry_after == 0.5


def test_calls_wait():
    clock = Clock()

    @rate_limited(rate=2, capacity=1, block=True, clock=clock, sleep=clock.sleep)
    def ping():
        return clock.now

    assert [ping(), ping(), ping()] == [0, 0.5, 1.0]
