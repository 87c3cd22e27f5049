"""What follows a failed try: it is repeated within its bounds, and a caller who is told a time is told why."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.money.meter.answer import no_answer
from sisimpur.shared.money.meter.booking import FailedTry, Patience, next_wait, told_when
from sisimpur.shared.money.meter.parts import MeterTimeouts

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
TIMES = MeterTimeouts()
SECONDS = st.floats(0, 400)


@given(st.none() | SECONDS, SECONDS, st.booleans(), SECONDS, st.floats(0, 1))
def test_a_call_is_repeated_within_its_bounds_and_no_sooner_than_the_upstream_asks(
    told: float | None, most: float, once: bool, waited: float, chance: float
) -> None:
    failure, patience = FailedTry(no_answer("busy"), then="retry", retry_after=told), Patience(TIMES, most, once)
    for retry in range(TIMES.tries):
        wait = next_wait(failure, retry, waited, patience, chance)
        if wait is None:
            if told is None or (told <= TIMES.told and waited + told <= most):
                assert told_when(failure, NOW, waited, patience) is failure
            else:
                assert told_when(failure, NOW, waited, patience).rejected.refusal.not_before >= NOW.isoformat()
            return
        assert wait >= (TIMES.first / 2 if told is None else told)
        assert wait <= (TIMES.longest if told is None else TIMES.told)
        waited += wait
        assert waited <= most and not once
    raise AssertionError("it is repeated for ever")
