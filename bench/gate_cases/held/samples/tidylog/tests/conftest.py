import pytest

LOG = """\
2026-03-01T11:59:00Z DEBUG app.db: connected
2026-03-01T12:00:00Z INFO app.web: started
2026-03-01T12:30:00Z ERROR app.web: no answer
Traceback (most recent call last):
  TimeoutError
2026-03-01T13:00:00Z WARNING app.db: slow query
2026-03-01T13:59:59Z ERROR app.web: no answer
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "app.log"
    path.write_text(LOG, "utf-8")
    return path
