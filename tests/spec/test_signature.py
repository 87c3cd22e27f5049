"""One kind of failure, one signature, whatever the run."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.orchestrator.memory.lesson import GAP, LONGEST, signature

TRACE = 'Traceback (most recent call last):\n  File "{0}/exams/views.py", line {1}, in detail\n    return {2}\n{3}\n'
CHAIN = "\nDuring handling of the above exception, another exception occurred:\n\n"
LOGGED = "web-{0}  | 2026-11-{0} 09:00:{0},123 ERROR [payments] "

# Kind -> the same failure, seen in several runs.
KINDS: dict[str, tuple[str, ...]] = {
    "OperationalError: no such column: exams_exam.title": (
        TRACE.format("/srv", 31, "x", "django.db.utils.OperationalError: no such column: exams_exam.title"),
        "E   sqlite3.OperationalError: no such column: exams_exam.title\n=== 1 failed in 0.31s ===",
        "FAILED tests/t.py::test_a - sqlite3.OperationalError: no such column: exams_exam.title",
    ),
    "KeyError: 'price'": (
        TRACE.format("/w/a1", 7, "row['price']", "KeyError: 'price'"),
        TRACE.format("C:\\b", 70, "x", "ValueError: no") + CHAIN + TRACE.format("C:\\b", 8, "y", "KeyError: 'price'"),
        "ERROR: test_total (shop.tests.Totals)\n" + TRACE.format("/x", 1, "a", "KeyError: 'price'") + "Ran 3 tests\n",
    ),
    "FileNotFoundError: [Errno 0] No such file or directory: 'tmp'": (
        "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/tmpabcdefgh'",
        "FileNotFoundError: [Errno 2] No such file or directory: '/var/folders/tmpzyx_wvut'",
    ),
    "RuntimeError: Database access not allowed, use the mark": (
        "E   RuntimeError: Database access not allowed, use the mark\n"
        "FAILED tests/test_a.py::test_b - RuntimeError: Database access not all...\n",
    ),
    "KeyError: 'colour'": ("KeyError: 'colour'",),
    "AttributeError: 'NoneType' object has no attribute 'title'": (
        "E       AttributeError: 'NoneType' object has no attribute 'title'\n\nexams/views.py:12: AttributeError\n",
        "\x1b[31mE   AttributeError: 'NoneType' object has no attribute 'title'\x1b[0m",
    ),
    "ModuleNotFoundError: No module named 'yaml'": (
        "ImportError while loading conftest '/w/1/conftest.py'.\nE   ModuleNotFoundError: No module named 'yaml'",
        "ERROR tests/test_a.py - ModuleNotFoundError: No module named 'yaml'",
    ),
    f"ValueError: invalid literal for int() with base 0: '{GAP}'": (
        "ValueError: invalid literal for int() with base 10: 'one two'",
        "ValueError: invalid literal for int() with base 16: '$ 4'",
    ),
    "PermissionError: [Errno 0] Permission denied: 'a.csv'": (
        "PermissionError: [Errno 13] Permission denied: '/tmp/pytest-of-me/pytest-3/a.csv'",
        "PermissionError: [Errno 13] Permission denied: '/var/lib/x/a.csv'",
    ),
    "TypeError: <Exam> is not JSON serializable": (
        "TypeError: <exams.models.Exam object at 0x7f3a2c> is not JSON serializable".replace("exams.models.", ""),
        "TypeError: <Exam: Exam object (12)> is not JSON serializable",
    ),
    f"ProtectedError: ({GAP})": ("ProtectedError: (\"a 'b'\", {<Order: 12>})", "ProtectedError: ('c', {<Row: 1>})"),
    f"AssertionError: '{GAP}' != '{GAP}' : the greeting": (
        "AssertionError: 'hello' != 'good bye' : the greeting",
        "AssertionError: '' != 'x' : the greeting".replace("''", "'y'"),
    ),
    "assert len(found) == 0": ("E       assert len(found) == 3", ">   x\nE       assert len(found) == 44\n"),
    "RuntimeWarning: DateTimeField Exam.at received a naive datetime (0 0)": (
        "RuntimeWarning: DateTimeField Exam.at received a naive datetime (2026-03-04 10:00:00)",
        "E   RuntimeWarning: DateTimeField Exam.at received a naive datetime (2027-11-14 08:30:59.123456)",
    ),
    "TemplateDoesNotExist: detail.html": (
        "django.template.exceptions.TemplateDoesNotExist: courses/detail.html",
        "TemplateDoesNotExist: detail.html",
    ),
    "E501 Line too long (0 > 0)": (
        "a/b.py:88:101: E501 Line too long (131 > 100)",
        "c.py:1:89: E501 Line too long (90 > 88)",
    ),
    "F401 `os` imported but unused": ("a.py:1:8: F401 `os` imported but unused\nFound 1 error.\n",),
    "error: Incompatible return value type [return-value]": (
        "a/b.py:12: error: Incompatible return value type  [return-value]",
        "C:\\w\\b.py:3:7: error: Incompatible return value type  [return-value]\nFound 1 error in 1 file (checked 9)",
    ),
    "exams.Exam.info: (fields.E010) JSONField default should be a callable": (
        "SystemCheckError: System check identified some issues:\n\nERRORS:\n"
        "exams.Exam.info: (fields.E010) JSONField default should be a callable",
    ),
    "CONFLICT (content): Merge conflict in views.py": (
        "Auto-merging exams/views.py\nCONFLICT (content): Merge conflict in exams/views.py\nAutomatic merge failed",
        "CONFLICT (content): Merge conflict in courses/views.py",
    ),
    "! [rejected] main -> main (fetch first)": (
        "To https://example.org/a.git\n ! [rejected]        main -> main (fetch first)\n"
        "error: failed to push some refs to 'https://example.org/a.git'\nhint: Updates were rejected",
    ),
    "fatal: not a git repository (or any of the parent directories): .git": (
        "fatal: not a git repository (or any of the parent directories): .git",
    ),
    "fatal: unable to access 'URL': Could not resolve host: example.org": (
        "fatal: unable to access 'https://example.org/a.git/': Could not resolve host: example.org",
        "fatal: unable to access 'https://example.org/b/c': Could not resolve host: example.org",
    ),
    "ERROR: No matching distribution found for icalendar==0": (
        "ERROR: Could not find a version that satisfies the requirement icalendar==9 (from versions: 1.0, 2.0)\n"
        "ERROR: No matching distribution found for icalendar==9",
        "ERROR: No matching distribution found for icalendar==6.0.1",
    ),
    "Error: pg_config executable not found.": ("#9 12.40       Error: pg_config executable not found.",),
    'OperationalError: connection to server at "db" (0), port 0 failed: Connection refused': (
        LOGGED.format(17)
        + 'django.db.utils.OperationalError: connection to server at "db" (172.18.0.2), port 5432 failed: '
        "Connection refused\nweb-1 exited with code 1",
        'psycopg.OperationalError: connection to server at "db" (10.1.1.9), port 6543 failed: Connection refused',
    ),
    "ERROR [payments] card was refused by the provider": (
        LOGGED.format(11) + "card was refused by the provider\n",
        LOGGED.format(23) + "card was refused by the provider\nweb-23  | 2026-11-23 10:00:00,001 INFO ready",
    ),
    "Error response from daemon: pull access denied for team": (
        "Error response from daemon: pull access denied for registry/team",
        "Error response from daemon: pull access denied for other.example:5000/team",
    ),
    "not healthy after 0 s: GET healthz answered 0": (
        "not healthy after 60 s: GET /healthz answered 301",
        "not healthy after 5 s: GET /healthz answered 500",
    ),
    "npm ERR! missing script: css": ("npm ERR! missing script: css\nnpm ERR! \n",),
    "OSError: [Errno 0] No space left on device": ("OSError: [Errno 28] No space left on device",),
    "ConnectError: [Errno 0] Temporary failure in name resolution": (
        "E   httpx.ConnectError: [Errno -3] Temporary failure in name resolution",
        "httpx.ConnectError: [Errno 3] Temporary failure in name resolution",
    ),
    "TimeoutExpired: Command '…' timed out after 0 seconds": (
        "subprocess.TimeoutExpired: Command '['make', 'css']' timed out after 30 seconds",
        "subprocess.TimeoutExpired: Command 'make all' timed out after 5.0 seconds",
    ),
    "ResourceWarning: unclosed file <_io.TextIOWrapper>": (
        "a.py:3: ResourceWarning: unclosed file <_io.TextIOWrapper name='/tmp/x/a.csv' mode='r' encoding='UTF-8'>",
        "ResourceWarning: unclosed file <_io.TextIOWrapper name='b.txt' mode='w'>",
    ),
    "IntegrityError: UNIQUE constraint failed: a.slug": (
        "django.db.utils.IntegrityError: UNIQUE constraint failed: a.slug",
    ),
    "IntegrityError: NOT NULL constraint failed: a.slug": (
        "sqlite3.IntegrityError: NOT NULL constraint failed: a.slug",
    ),
}
CASES = [(kind, text) for kind, texts in KINDS.items() for text in texts]


@pytest.mark.parametrize(("kind", "text"), CASES)
def test_the_same_failure_has_the_same_signature_in_each_run(kind: str, text: str) -> None:
    assert signature(text) == kind


@pytest.mark.parametrize("text", [text for _, text in CASES])
def test_the_signature_of_a_signature_is_itself(text: str) -> None:
    assert signature(signature(text)) == signature(text)


def test_other_failures_have_other_signatures() -> None:
    assert [(a, b) for a, b in combinations(KINDS, 2) if signature(KINDS[a][0]) == signature(KINDS[b][0])] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n  \n",
        "12 passed in 0.31s",
        "=================== 1 failed, 2 passed in 0.31s ===================",
        "Traceback (most recent call last):",
        "FAILED (failures=1)",
        "AssertionError: 302 != 200",
        "AssertionError: 'a' != 'b'",
        "E       assert 3 == 4",
        "E       assert False is True",
        "AssertionError: [1, 2] != [1]",
        "Process exited with code 1",
        "Greet in the readme.",
        "hint: Updates were rejected",
    ],
)
def test_nothing_is_told_where_nothing_tells(text: str) -> None:
    assert signature(text) == ""


# --- laws ----------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    [
        *(
            "Error",
            "KeyError:",
            "FAILED",
            "assert",
            "'a'",
            "'",
            '"',
            "(",
            ")",
            "[",
            "]",
            "<",
            ">",
            "{",
            "}",
            "E ",
            "\n",
            " ",
        ),
        "a.py:3:",
        "/tmp/x/",
        "12",
        "0x7f",
        "error:",
        "fatal:",
        "a.b.C:",
        "::",
        "|",
        "2026-11-20 10:00:00",
        GAP,
        "\\",
        "tmp1234",
    ]
)
TEXTS = st.text(max_size=300) | st.lists(WORDS, max_size=40).map("".join) | st.lists(WORDS, max_size=40).map(" ".join)
NUMBERS = st.integers(0, 10**9).map(str)
FOLDERS = st.lists(st.from_regex(r"[a-z][a-z0-9_.-]{0,8}", fullmatch=True), max_size=4).map(lambda p: "/" + "/".join(p))
SCRATCH = st.from_regex(r"/tmp/tmp[a-z0-9_]{8}|/var/folders/[a-z]{2}/T/tmp[a-z0-9]{8}", fullmatch=True)
ADDRESSES = st.from_regex(r"0x[0-9a-f]{4,16}", fullmatch=True)
HOSTS = st.ip_addresses(v=4).map(str)
TIMES = st.datetimes().map(lambda at: at.strftime("%H:%M:%S.%f"))
DAYS = st.dates().map(str)
IDS = st.uuids().map(str) | st.from_regex(r"[0-9][0-9a-f]{11,39}", fullmatch=True)
RUN = st.tuples(NUMBERS, FOLDERS | SCRATCH, ADDRESSES, HOSTS, TIMES, DAYS, IDS)
SHAPES = (
    'Traceback (most recent call last):\n  File "{1}/a.py", line {0}\nValueError: no {0} in {1}/b.csv of {2} at {4}',
    "E   shop.errors.Refused: [Errno {0}] refused by {3}:{0}: '{1}/b.csv'\n=== 1 failed in {0}s ===",
    "E   OSError: {6} is gone since {5} ({0} tries, 0.{0} s)\n{1}/x.py:{0}: OSError",
    "{1}/a.py:{0}:{0}: E501 Line too long ({0} > 100)",
    "web-1  | {5} {4} ERROR cannot reach {3}:{0}, see {1}/log.txt",
    "fatal: bad object {6} in {1}/repo",
    "TypeError: <Exam object at {2}> has no rank {0}, id={6}, on '{5}'",
)


@given(TEXTS)
def test_it_is_its_own_signature_bounded_and_of_one_line(text: str) -> None:
    kind = signature(text)
    assert signature(kind) == kind
    assert len(kind) <= LONGEST and kind == " ".join(kind.split())


@given(st.sampled_from(SHAPES), RUN, RUN)
def test_numbers_folders_addresses_times_and_ids_change_nothing(
    shape: str, one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    assert signature(shape.format(*one)) == signature(shape.format(*other)) != ""


@given(st.text(max_size=200).filter(lambda text: not signature(text)))
def test_what_stands_before_the_error_does_not_matter(before: str) -> None:
    assert signature(f"{before}\nKeyError: 'price'\n") == "KeyError: 'price'"


@pytest.mark.parametrize("unit", ["(", "'a", "a.", "[0", "/a", "<a ", "0:", "E ", "a" * 50 + ":1: ", "\\", "\x1b["])
def test_a_hostile_text_takes_no_long_time(unit: str) -> None:
    """A search that runs wild takes minutes here."""
    assert len(signature("KeyError: " + unit * 100_000)) <= LONGEST
    assert len(signature((unit * 500 + " error\n") * 100)) <= LONGEST
