from datetime import timedelta

import pytest

from tidylog.timespan import parse_span, show_span


@pytest.mark.parametrize(
    ("text", "span"),
    [("2h", timedelta(hours=2)), ("90m", timedelta(minutes=90)), ("1d12h", timedelta(days=1, hours=12))],
)
def test_spans(text, span):
    assert parse_span(text) == span


@pytest.mark.parametrize("text", ["", "2", "h", "2h ", "2x", "-2h"])
def test_what_is_no_span_is_refused(text):
    with pytest.raises(ValueError, match="span"):
        parse_span(text)


def test_a_span_is_shown_without_zeros():
    assert [show_span(timedelta(seconds=n)) for n in (0, 60, 90061)] == ["0s", "1m", "1d1h1m1s"]
