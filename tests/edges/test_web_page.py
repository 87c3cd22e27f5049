"""Reading a page of a stranger over a real wire, whatever he does; and keeping to what he allows."""

from __future__ import annotations

import contextlib
import gzip
import socket
import ssl
import threading
import time
import tracemalloc
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sisimpur.shared.model.errors import Refused, TeamError, Unavailable
from sisimpur.shared.model.research import WebSource
from sisimpur.shared.system.clock import ManualClock
from sisimpur.shared.system.web_line import AGENT
from tests.edges.web_scene import (
    DAY,
    HERE,
    NOON,
    OTHER,
    SITE,
    Names,
    Reply,
    endless,
    hangs,
    leads,
    reader,
    says,
    sends,
    web,
    worked,
)

PAGE = f"{SITE}/page"
ROBOTS = f"{SITE}/robots.txt"
HEAD = b"HTTP/1.1 200 X\r\nContent-Type: text/plain\r\n"
HTML = """<html><head><title>Dates</title><meta property="article:published_time" content="2026-01-02T10:00:00Z"></head>
<body><nav><a href="/">Home</a></nav><article><h1>Dates</h1><p>A library that knows the days of the week, and which of
them are holidays in a country of your choice.</p><p>It needs Python 3.11 or a later one.</p></article></body></html>"""


def problem(*replies: Reply, kind: type[TeamError], seconds: float = 10) -> str:
    """What is told of a page that answers so."""
    with web({PAGE: replies}) as site, pytest.raises(kind) as told:
        reader(site, seconds=seconds).read(site.url(PAGE), DAY)
    assert str(told.value).isprintable()
    return str(told.value)


# --- what is read --------------------------------------------------------------------------------------------


def test_a_page_is_read_and_says_when_it_was_written() -> None:
    with web({PAGE: says(HTML, "text/html; charset=utf-8")}) as site:
        found = reader(site).read(site.url(PAGE), DAY)
    assert (found.url, found.title, found.day, found.written) == (site.url(PAGE), "Dates", DAY, "2026-01-02")
    assert "It needs Python 3.11 or a later one." in found.text
    assert "Home" not in found.text


def test_what_was_written_after_today_was_not() -> None:
    with web({PAGE: says(HTML, "text/html")}) as site:
        assert reader(site).read(site.url(PAGE), "2026-01-01").written == ""


def test_the_site_learns_our_name_and_nothing_more() -> None:
    with web({PAGE: leads("/there"), f"{SITE}/there": says("fine", head="Set-Cookie: a=b\r\n")}) as site:
        one = reader(site)
        one.read(site.url(PAGE), DAY)
        one.read(site.url(PAGE), DAY)
    for request in site.requests:
        names = {line.partition(":")[0] for line in request.splitlines()[1:] if line}
        assert names == {"host", "user-agent", "accept", "accept-encoding", "connection"}
        assert f"user-agent: {AGENT}\r\n" in request


def test_no_proxy_of_the_environment_is_asked() -> None:
    """In a process of its own, whose environment names one where nobody listens."""
    import sys

    from sisimpur.shared.system.process import run

    code = (
        "import sys; sys.path.insert(0, '.'); from tests.edges.web_scene import *\n"
        "with web({'site.example/': says('fine')}) as site:\n"
        "    print(reader(site).read(site.url('site.example/'), DAY).text)"
    )
    env = {"http_proxy": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"}
    done = run((sys.executable, "-c", code), cwd=Path(__file__).parents[2], env=env, timeout=60)
    assert done.text.strip() == "fine", done.complaint


@pytest.mark.parametrize(
    "head", ["Content-Encoding: gzip\r\n", "Content-Encoding: X-Gzip\r\n", "Transfer-Encoding: chunked\r\n", ""]
)
def test_packed_or_in_pieces_or_with_no_length_it_is_the_same(head: str) -> None:
    text = b"plain words\n" * 1000
    if "gzip" in head.lower():
        reply = says(gzip.compress(text), head=head)
    elif head:
        pieces = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (text[:5000], text[5000:])) + b"0\r\n\r\n"
        reply = sends(HEAD + head.encode() + b"\r\n" + pieces)
    else:
        reply = sends(HEAD + b"\r\n" + text)
    with web({PAGE: reply}) as site:
        assert reader(site).read(site.url(PAGE), DAY).text == text.decode().strip()


# --- what is not ---------------------------------------------------------------------------------------------

BOMB = gzip.compress(b"x" * 50_000_000)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        pytest.param(says("%PDF", "application/pdf"), "application/pdf is no page", id="another type"),
        pytest.param(says("x", "image/svg+xml"), "image/svg", id="a picture"),
        pytest.param(says("x", ""), "what has no type", id="no type"),
        pytest.param(says("x", "\x1b[31m" * 3), "is no page", id="a type that paints"),
        pytest.param(says("x" * 3_000_000), "larger than 2.1 MB", id="3 MB"),
        pytest.param(endless(HEAD + b"\r\n", b"x" * 100_000), "larger than", id="no length and no end"),
        pytest.param(
            endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"186a0\r\n" + b"x" * 100_000 + b"\r\n"),
            "larger than",
            id="pieces without end",
        ),
        pytest.param(says(BOMB, head="Content-Encoding: gzip\r\n"), "larger than", id="a bomb"),
        pytest.param(says(BOMB[:9000], head="Content-Encoding: gzip\r\n"), "larger than", id="a cut bomb"),
        pytest.param(says("x", head="Content-Encoding: gzip\r\n"), "cannot be unpacked", id="not packed at all"),
        pytest.param(
            says(gzip.compress(b"words" * 99)[:20], head="Content-Encoding: gzip\r\n"), "to its end", id="cut"
        ),
        pytest.param(says("x", head="Content-Encoding: br\r\n"), "packed as br", id="packed in another way"),
        pytest.param(says("x", head="Content-Encoding: gzip, gzip\r\n"), "packed as gzip, gzip", id="twice"),
        pytest.param(says("x", status=404), "not there: status 404", id="not there"),
        pytest.param(says("x", status=206), "not there: status 206", id="a part"),
        pytest.param(says("x", status=302), "not there: status 302", id="leads nowhere"),
        pytest.param(says(" \n\t"), "no text on it", id="empty"),
        pytest.param(says(b"\x00\xff\xfe\x80" * 4000, "text/html"), "is not used: ", id="no text at all"),
        pytest.param(leads("/page"), "leads on and on", id="round and round"),
        pytest.param(leads("http://[::1]/"), "::1, which is not public", id="leads to this machine"),
        pytest.param(leads("http://169.254.169.254/latest/"), "which is not public", id="leads to a cloud"),
        pytest.param(leads("http://127.0.0.2/"), "127.0.0.2, which is not public", id="leads to its number"),
        pytest.param(leads("http://0x7f.2/"), "no name of a site", id="leads to an odd spelling of it"),
        pytest.param(leads("http://home.example/"), "home.example is at 10.0.0.1", id="leads to a name at home"),
        pytest.param(leads("file:///etc/passwd"), "only http and https", id="leads to a file"),
        pytest.param(leads("http://other.example:22/"), "port 22", id="leads to another port"),
    ],
)  # fmt: skip
def test_what_is_no_page_of_ours_to_read_is_refused_in_one_line(reply: Reply, why: str) -> None:
    with web({PAGE: reply}) as site, pytest.raises(Refused) as told:
        reader(site, names=Names({"home.example": [["10.0.0.1"]]})).read(site.url(PAGE), DAY)
    assert why in str(told.value)
    assert str(told.value).isprintable()


def test_a_bomb_is_not_unpacked_to_see_how_large_it_is() -> None:
    with web({PAGE: says(BOMB, head="Content-Encoding: gzip\r\n")}) as site:
        one = reader(site)
        tracemalloc.start()
        try:
            with pytest.raises(Refused, match="larger than"):
                one.read(site.url(PAGE), DAY)
            assert tracemalloc.get_traced_memory()[1] < 20_000_000
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        pytest.param(says("x", status=503), "status 503", id="busy"),
        pytest.param(says("x", status=429), "status 429", id="asked too often"),
        pytest.param(sends(b"220 mail.example ESMTP\r\n"), "as a site should", id="not HTTP"),
        pytest.param(sends(b""), "as a site should", id="nothing"),
        pytest.param(sends(b"HTTP/1.1 200 X\r\nA: " + b"x" * 300_000), "as a site should", id="a header without end"),
        pytest.param(says("x", length=99), "as a site should", id="cut off"),
        pytest.param(says("x", head="Content-Length: 7\r\n"), "as a site should", id="two lengths"),
        pytest.param(sends(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "as a site should", id="no number"),
    ],
)
def test_a_site_that_is_sick_may_be_well_another_day(reply: Reply, why: str) -> None:
    assert why in problem(reply, kind=Unavailable)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(hangs, id="is silent"),
        pytest.param(endless(HEAD + b"Content-Length: 99999\r\n\r\n", b"x", 0.05), id="drips its page"),
        pytest.param(endless(HEAD, b"A: b\r\n", 0.05), id="drips its header"),
        pytest.param(endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.05), id="asks for patience"),
    ],
)
def test_who_takes_too_long_is_cut(reply: Reply) -> None:
    began = time.monotonic()
    assert "took longer than" in problem(reply, kind=Unavailable, seconds=0.6)
    assert time.monotonic() - began < 5


def test_all_steps_together_have_the_time_of_one_page() -> None:
    def slow(wire: socket.socket) -> None:
        time.sleep(0.25)
        leads("/page")(wire)

    began = time.monotonic()
    assert "took longer than" in problem(slow, kind=Unavailable, seconds=0.6)
    assert time.monotonic() - began < 5


def test_a_name_that_nobody_finds_in_time_is_waited_for_no_longer() -> None:
    released = threading.Event()

    def slow(host: str, port: int) -> Sequence[str]:
        released.wait(30)
        return [HERE]

    began = time.monotonic()
    with pytest.raises(Unavailable, match=r"nobody says where site\.example is"):
        reader(names=slow, seconds=0.3).read("http://site.example/", DAY)
    assert time.monotonic() - began < 5
    released.set()


def test_a_name_without_an_address_is_not_reached() -> None:
    def nowhere(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(Unavailable, match=r"there is no site\.example"):
        reader(names=nowhere).read("http://site.example/", DAY)


def test_where_nobody_listens_nothing_is_read() -> None:
    with web({}) as site:
        pass
    with pytest.raises(Unavailable, match="cannot be reached"):
        reader(site).read(site.url(PAGE), DAY)


# --- where it is read ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.2/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "https://169.254.169.254/", "http://127.1/"],
)
def test_an_address_of_ours_is_never_connected(url: str) -> None:
    with pytest.raises(Refused):
        reader().read(url, DAY)


@pytest.mark.parametrize("mixed", [[HERE, "10.0.0.1"], ["10.0.0.1", HERE], ["::1"], ["fe80::1%eth0"], ["nonsense"]])
def test_a_name_with_an_address_of_ours_is_not_used_at_all(mixed: list[str]) -> None:
    with web({PAGE: says("secret")}) as site:
        with pytest.raises(Refused, match="which is not public"):
            reader(site, names=Names({SITE: [mixed]})).read(site.url(PAGE), DAY)
        assert site.asked == []


def test_what_is_connected_is_the_address_that_was_looked_at() -> None:
    """A name that is public when it is looked at, and ours whenever it is asked for again."""
    names = Names({SITE: [[HERE], [HERE], ["127.0.0.2"]]})
    with web({PAGE: says("public")}) as site, web({PAGE: says("secret")}, address="127.0.0.2") as ours:
        one = reader(site, ours, names=names)
        assert one.read(site.url(PAGE), DAY).text == "public"
        assert names.asked == [SITE, SITE]  # once for robots.txt, once for the page
        with pytest.raises(Refused, match=r"127\.0\.0\.2, which is not public"):
            one.read(site.url(PAGE), DAY)
        assert ours.asked == []


def test_a_name_with_several_addresses_is_read_at_one_that_answers() -> None:
    names = Names({SITE: [["127.0.0.3", HERE]]})
    with web({PAGE: says("fine")}) as site:
        one = reader(site, names=names, reachable=lambda address: address in (HERE, "127.0.0.3"))
        assert one.read(site.url(PAGE), DAY).text == "fine"


def test_a_page_that_moved_is_read_where_it_is_now() -> None:
    with web({f"{OTHER}/x": says("moved")}) as site:
        site.pages = {**site.pages, PAGE: leads(f"//{OTHER}:{site.port}/x#part", 308)}
        found = reader(site).read(site.url(PAGE), DAY)
    assert (found.url, found.text) == (site.url(PAGE), "moved")
    assert site.asked == [ROBOTS, PAGE, f"{OTHER}/robots.txt", f"{OTHER}/x"]


@pytest.mark.parametrize("steps", [4, 5])
def test_four_steps_are_followed_and_no_more(steps: int) -> None:
    pages = {f"{SITE}/{n}": leads(f"/{n - 1}") for n in range(1, steps + 1)}
    with web({f"{SITE}/0": says("fine"), **pages}) as site:
        if steps == 4:
            assert reader(site).read(site.url(f"{SITE}/4"), DAY).text == "fine"
        else:
            with pytest.raises(Refused, match="more than 4 times"):
                reader(site).read(site.url(f"{SITE}/5"), DAY)
            assert f"{SITE}/0" not in site.asked


# --- encrypted -----------------------------------------------------------------------------------------------


class Authority:
    """Whom the tests believe; makes certificates for names."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "the tests")])
        ca = x509.BasicConstraints(ca=True, path_length=None)
        signs = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        made = self._builder(self._name, self._key).add_extension(ca, True).add_extension(signs, True)
        self._own = made.sign(self._key, hashes.SHA256())

    def believed(self) -> ssl.SSLContext:
        return ssl.create_default_context(cadata=self._own.public_bytes(serialization.Encoding.PEM).decode())

    def server(self, name: str) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = x509.SubjectAlternativeName([x509.DNSName(name)])
        made = self._builder(subject, key).add_extension(names, False).sign(self._key, hashes.SHA256())
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path = self._folder / f"{name}.pem"
        path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        made = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key.public_key())
        made = made.serial_number(x509.random_serial_number())
        return made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def test_an_encrypted_site_is_asked_for_by_its_name(authority: Authority) -> None:
    """The connection is made to an address; the name is what the certificate has to be for."""
    server, greeted = authority.server(SITE), list[str | None]()
    server.sni_callback = lambda _wire, name, _context: greeted.append(name)
    with web({PAGE: says("sealed")}, server) as site:
        assert reader(site, context=authority.believed()).read(site.url(PAGE), DAY).text == "sealed"
    assert set(greeted) == {SITE}
    assert f"host: {SITE}:{site.port}\r\n" in site.requests[0]


@pytest.mark.parametrize("name", [OTHER, HERE])
def test_a_certificate_of_another_name_is_not_taken(authority: Authority, name: str) -> None:
    with web({PAGE: says("sealed")}, authority.server(name)) as site:
        with pytest.raises(Refused, match="certificate is not valid"):
            reader(site, context=authority.believed()).read(site.url(PAGE), DAY)
        assert site.asked == []


def test_a_certificate_of_an_authority_that_nobody_knows_is_not_taken(authority: Authority) -> None:
    with web({PAGE: says("sealed")}, authority.server(SITE)) as site, pytest.raises(Refused, match="certificate"):
        reader(site).read(site.url(PAGE), DAY)


def test_an_encrypted_page_leads_to_no_open_one(authority: Authority) -> None:
    with web({PAGE: says("open")}) as plain, web({PAGE: leads(plain.url(PAGE))}, authority.server(SITE)) as site:
        with pytest.raises(Refused, match="which is not encrypted"):
            reader(plain, site, context=authority.believed()).read(site.url(PAGE), DAY)
        assert plain.asked == []


def test_an_open_page_may_lead_to_an_encrypted_one(authority: Authority) -> None:
    with web({PAGE: says("sealed")}, authority.server(SITE)) as site, web({PAGE: leads(site.url(PAGE))}) as plain:
        assert reader(plain, site, context=authority.believed()).read(plain.url(PAGE), DAY).text == "sealed"


def test_who_drips_under_encryption_is_cut_too(authority: Authority) -> None:
    dripping = endless(HEAD + b"Content-Length: 99999\r\n\r\n", b"x", 0.05)
    with web({PAGE: dripping}, authority.server(SITE)) as site, pytest.raises(Unavailable, match="took longer"):
        reader(site, context=authority.believed(), seconds=0.8).read(site.url(PAGE), DAY)


# --- robots.txt ----------------------------------------------------------------------------------------------

OURS = "User-agent: sisimpur-agents\n"


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        pytest.param("User-agent: *\nDisallow: /\n", False, id="nobody"),
        pytest.param("User-agent: *\nDisallow: /page\n", False, id="not this one"),
        pytest.param("User-agent: *\nDisallow: /p*e$\n", False, id="by a pattern"),
        pytest.param("User-agent: *\nDisallow: /private\n", True, id="not another one"),
        pytest.param("User-agent: *\nDisallow:\n", True, id="everybody"),
        pytest.param("User-agent: googlebot\nDisallow: /\n", True, id="not somebody else"),
        pytest.param(f"User-agent: *\nDisallow: /\n\n{OURS}Allow: /\n", True, id="us alone"),
        pytest.param(f"User-agent: *\nAllow: /\n\n{OURS}Disallow: /\n", False, id="all but us"),
        pytest.param("User-agent: *\nDisallow: /\nAllow: /page\n", True, id="the longer rule counts"),
        pytest.param("\ufeffUser-agent: *\r\nDisallow: /\r\n", False, id="as Windows writes it"),
        pytest.param("<html>not found</html>", True, id="no rules at all"),
        pytest.param("", True, id="empty"),
    ],
)
def test_the_rules_of_a_site_are_kept(rules: str, allowed: bool) -> None:
    with web({PAGE: says("fine"), ROBOTS: says(rules)}) as site:
        if allowed:
            assert reader(site).read(site.url(PAGE), DAY).text == "fine"
        else:
            with pytest.raises(Refused, match=r"robots\.txt does not allow it"):
                reader(site).read(site.url(PAGE), DAY)
        assert site.asked == [ROBOTS, PAGE][: 2 if allowed else 1]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        pytest.param(says(status=404), None, id="none"),
        pytest.param(says(status=403), None, id="forbidden: as if there were none"),
        pytest.param(says(status=204), None, id="nothing"),
        pytest.param(says(status=500), Unavailable, id="broken"),
        pytest.param(says(status=503), Unavailable, id="busy"),
        pytest.param(says(status=429), Unavailable, id="asked too often"),
        pytest.param(hangs, Unavailable, id="silent"),
        pytest.param(sends(b"what?\r\n\r\n"), Unavailable, id="not HTTP"),
        pytest.param(leads("http://10.0.0.1/robots.txt"), Refused, id="leads into a home"),
        pytest.param(leads("/robots.txt"), Refused, id="round and round"),
    ],
)
def test_where_rules_are_not_to_be_had_nothing_is_read_unless_there_are_none(
    reply: Reply, kind: type[TeamError] | None
) -> None:
    with web({PAGE: says("fine"), ROBOTS: reply}) as site:
        with pytest.raises(kind, match=r"robots\.txt") if kind else contextlib.nullcontext():
            reader(site, seconds=1).read(site.url(PAGE), DAY)
        assert (PAGE in site.asked) == (kind is None)


def test_rules_that_moved_are_read_where_they_are_now() -> None:
    rules = says("User-agent: *\nDisallow: /")
    pages = {PAGE: says("fine"), ROBOTS: leads("/rules"), f"{SITE}/rules": rules}
    with web(pages) as site, pytest.raises(Refused, match="does not allow"):
        reader(site).read(site.url(PAGE), DAY)


def test_a_page_leads_to_no_site_that_does_not_want_it() -> None:
    with web({f"{OTHER}/robots.txt": says("User-agent: *\nDisallow: /"), f"{OTHER}/x": says("fine")}) as site:
        site.pages = {**site.pages, PAGE: leads(f"http://{OTHER}:{site.port}/x")}
        with pytest.raises(Refused, match="does not allow"):
            reader(site).read(site.url(PAGE), DAY)
        assert f"{OTHER}/x" not in site.asked


def test_a_site_is_asked_for_its_rules_once_an_hour() -> None:
    clock = ManualClock(NOON)
    with web({PAGE: says("fine"), ROBOTS: [says(""), says("User-agent: *\nDisallow: /")]}) as site:
        one = reader(site, clock=clock)
        for minutes in (0, 1, 59):
            clock.set(NOON + timedelta(minutes=minutes))
            assert one.read(site.url(PAGE), DAY).text == "fine"
        assert site.asked.count(ROBOTS) == 1
        clock.set(NOON + timedelta(minutes=61))
        with pytest.raises(Refused, match="does not allow"):
            one.read(site.url(PAGE), DAY)


def test_a_site_that_did_not_tell_is_not_pressed() -> None:
    with web({PAGE: says("fine"), ROBOTS: says(status=503)}) as site:
        one = reader(site)
        for _ in range(2):
            with pytest.raises(Unavailable, match="status 503"):
                one.read(site.url(PAGE), DAY)
        assert site.asked == [ROBOTS]


@pytest.mark.parametrize(
    ("pause", "seconds"),
    [("4", 4), ("2.5", 2.5), ("3600", 10), ("0", 0), ("-5", 0), ("inf", 0), ("nan", 0), ("soon", 0), ("1e400", 0)],
)
def test_the_pause_between_two_pages_is_kept_up_to_a_point(pause: str, seconds: float) -> None:
    clock = ManualClock(NOON)
    with web({PAGE: says("fine"), ROBOTS: says(f"User-agent: *\nCrawl-delay: {pause}\n")}) as site:
        one = reader(site, clock=clock)
        one.read(site.url(PAGE), DAY)
        assert clock.now() == NOON  # the first one waits for nobody
        one.read(site.url(PAGE), DAY)
        assert clock.now() == NOON + timedelta(seconds=seconds)


def test_time_that_has_passed_is_not_waited_for_again() -> None:
    clock = ManualClock(NOON)
    with web({PAGE: says("fine"), ROBOTS: says("User-agent: *\nCrawl-delay: 5\n")}) as site:
        one = reader(site, clock=clock)
        one.read(site.url(PAGE), DAY)
        clock.sleep(3)
        one.read(site.url(PAGE), DAY)
        assert clock.now() == NOON + timedelta(seconds=5)


def test_rules_that_are_longer_than_anybody_reads_count_as_far_as_they_are_read() -> None:
    rules = "User-agent: *\nDisallow: /private\n" + "# words\n" * 70_000 + "Disallow: /\n"
    with web({PAGE: says("fine"), f"{SITE}/private": says("secret"), ROBOTS: says(rules)}) as site:
        one = reader(site)
        assert one.read(site.url(PAGE), DAY).text == "fine"
        with pytest.raises(Refused, match="does not allow"):
            one.read(site.url(f"{SITE}/private"), DAY)


def test_rules_that_keep_a_parser_busy_are_cut() -> None:
    """Each of many names gets each of many rules: memory and time without end."""
    rules = "".join(f"User-agent: {n}\n" for n in range(20_000)) + "Disallow: /\n" * 12_000
    before = worked()
    with web({PAGE: says("fine"), ROBOTS: says(rules)}) as site, pytest.raises(Refused, match="cannot be understood"):
        reader(site).read(site.url(PAGE), DAY)
    assert worked() - before < 4


def test_the_web_of_these_tests_bears_callers_who_go_before_they_ask() -> None:
    """A reader whose time is over as soon as it is connected."""
    with web({}) as site, socket.create_connection((HERE, site.port)) as caller:
        caller.shutdown(socket.SHUT_WR)
        assert caller.recv(1) == b""
    assert site.asked == []


# --- whatever it does ----------------------------------------------------------------------------------------

LINES = st.sampled_from(
    [
        *(b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 301 X\r\n", b"HTTP/1.0 200\r\n", b"HTTP/2 200\r\n"),
        *(b"HTTP/1.1 103 X\r\n\r\n", b"HTTP/1.1 101 X\r\n\r\n", b"Content-Type: text/plain\r\n"),
        *(b"Content-Length: 5\r\n", b"Content-Length: -1\r\n", b"Transfer-Encoding: chunked\r\n"),
        *(b"Content-Encoding: gzip\r\n", b"Location: /\r\n", b"Location: \xff\xfe\r\n", b"Location: http://[\r\n"),
        *(b"Location:\r\n", b"\r\n", b"5\r\nhello\r\n", b"0\r\n\r\n", b"hello", b"\x00", b"\xff\xfe", b": x\r\n"),
    ]
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(LINES, st.binary(max_size=30)), max_size=10).map(b"".join))
def test_no_answer_is_too_odd_to_be_refused(data: bytes) -> None:
    with web({f"{SITE}/": sends(data)}) as site:
        try:
            found = reader(site, seconds=2).read(site.url(f"{SITE}/"), DAY)
        except (Refused, Unavailable) as told:
            assert str(told).isprintable()
        else:
            assert isinstance(found, WebSource)
