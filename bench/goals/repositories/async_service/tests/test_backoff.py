from dakghor.backoff import delay
from dakghor.settings import Retry


def test_it_grows_and_ends():
    assert [delay(Retry(5, 3, 4), tries) for tries in (1, 2, 3, 4)] == [5, 15, 45, None]
