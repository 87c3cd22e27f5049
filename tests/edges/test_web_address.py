"""Which addresses of the web are read: spellings, ranges, and where a page may lead."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.shared.model.errors import Refused
from sisimpur.shared.system.http import is_public, resolved
from sisimpur.shared.system.web_line import redirected, web_address


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("http://site.example", "http://site.example/"),
        ("https://site.example:443/a?b=c#d", "https://site.example/a?b=c"),
        ("HTTPS://Site.Example/A", "https://site.example/A"),
        ("https://site.example./", "https://site.example/"),
        ("https://sub.site.example:80/", "https://sub.site.example:80/"),
        ("https://site.example/ä b", "https://site.example/%C3%A4%20b"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://a_b.site.example/", "https://a_b.site.example/"),
        ("http://93.184.216.34/", "http://93.184.216.34/"),
        ("http://[2606:2800:220:1::1]/x", "http://[2606:2800:220:1::1]/x"),
        ("https://site.example/../../etc", "https://site.example/etc"),
    ],
)
def test_an_address_of_the_web_is_read_as_the_connection_needs_it(url: str, read: str) -> None:
    assert web_address(url).url == read
    assert web_address(read).url == read


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("file:///etc/passwd", "only http and https"),
        ("ftp://site.example/", "only http and https"),
        ("gopher://site.example/", "only http and https"),
        ("javascript:alert(1)", "only http and https"),
        ("data:text/html,x", "only http and https"),
        ("//site.example/", "only http and https"),
        ("site.example", "only http and https"),
        ("", "only http and https"),
        ("http:/site.example", "no name of a site"),
        ("http://", "no name of a site"),
        ("http:///x", "no name of a site"),
        ("http://user:secret@site.example/", "a name or a password"),
        ("http://user@site.example/", "a name or a password"),
        ("http://site.example\\@127.0.0.1/", "a name or a password"),
        ("http://127.0.0.1\\.site.example/", "no name of a site"),
        ("http://site.example:22/", "port 22"),
        ("http://site.example:8080/", "port 8080"),
        ("http://site.example:0/", "port 0"),
        ("http://site.example:80:80/", "no address"),
        ("http://site.example:99999/", "port 99999"),
        ("http://site.example:-80/", "port -80"),
        ("http://localhost/", "no name of a site"),
        ("http://router/", "no name of a site"),
        ("http://0x7f.1/", "no name of a site"),
        ("http://0x7f000001/", "no name of a site"),
        ("http://127.0x1/", "no name of a site"),
        ("http://127.1/", "no name of a site"),
        ("http://127.0.1/", "no name of a site"),
        ("http://2130706433/", "no name of a site"),
        ("http://017700000001/", "no name of a site"),
        ("http://0177.0.0.1/", "no address"),
        ("http://127.0.0.01/", "no address"),
        ("http://127.0.0.256/", "no address"),
        ("http://site.example.0x/", "no name of a site"),
        pytest.param("http://127。1/", "no name of a site", id="dots of another script"),
        pytest.param("http://１２７.0.0.1/", "no address", id="digits of another script"),
        ("http://127%2e0.0.1/", "no name of a site"),
        ("http://%31%32%37.0.0.1/", "no name of a site"),
        ("http://[::1/", "no address"),
        ("http://[::1]]/", "no address"),
        ("http://[v1.x]/", "no address"),
        ("http://site..example/", "no name of a site"),
        ("http://-site.example/", "no name of a site"),
        ("http://site .example/", "no name of a site"),
        ("http://site.example\r\nX: y/", "no address"),
        ("http://site.example/\x00", "no address"),
        ("http://" + "a" * 64 + ".example/", "no name of a site"),
        ("http://" + "a." * 130 + "example/", "no name of a site"),
        ("http://site.example/" + "a" * 2000, "longer than 2000"),
    ],
)
def test_anything_else_is_refused_in_one_line(url: str, why: str) -> None:
    with pytest.raises(Refused, match=why) as told:
        web_address(url)
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 400
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("1.1.1.1", True),
        ("172.32.0.1", True),
        ("192.0.1.1", True),
        ("223.255.255.254", True),
        ("2606:2800:220:1::1", True),
        ("2a04:4e42::223", True),
        pytest.param("64:ff9b::5db8:d822", True, id="93.184.216.34 behind a translator"),
        ("0.0.0.0", False),
        ("0.1.2.3", False),
        ("10.1.2.3", False),
        ("100.64.0.1", False),
        ("100.127.255.255", False),
        ("127.0.0.1", False),
        ("127.255.255.254", False),
        pytest.param("169.254.169.254", False, id="a cloud's own service"),
        ("172.16.0.1", False),
        ("172.31.255.255", False),
        ("192.0.0.1", False),
        ("192.0.0.170", False),
        ("192.0.2.1", False),
        ("192.88.99.1", False),
        ("192.168.1.1", False),
        ("198.18.0.1", False),
        ("198.51.100.7", False),
        ("203.0.113.7", False),
        ("224.0.0.1", False),
        ("233.252.0.1", False),
        ("239.255.255.250", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        pytest.param("::127.0.0.1", False, id="IPv4 in the last bytes"),
        pytest.param("::ffff:127.0.0.1", False, id="mapped"),
        pytest.param("::ffff:93.184.216.34", False, id="mapped and public: nobody's spelling"),
        pytest.param("::ffff:0:10.0.0.1", False, id="translated"),
        pytest.param("64:ff9b::a00:1", False, id="10.0.0.1 behind a translator"),
        pytest.param("64:ff9b::7f00:1", False, id="127.0.0.1 behind a translator"),
        pytest.param("64:ff9b::a9fe:a9fe", False, id="a cloud's own service behind a translator"),
        ("64:ff9b:1::5db8:d822", False),
        pytest.param("2001:0:5ef5:79fd::1", False, id="Teredo"),
        ("2001:10::1", False),
        ("2001:db8::1", False),
        pytest.param("2002:7f00:1::", False, id="6to4 of 127.0.0.1"),
        pytest.param("2002:5db8:d822::1", False, id="6to4 of a public address"),
        ("3fff::1", False),
        ("100::1", False),
        ("5f00::1", False),
        ("fc00::1", False),
        ("fd12:3456::1", False),
        ("fe80::1", False),
        ("fe80::1%eth0", False),
        ("2606:2800:220:1::1%eth0", False),
        ("64:ff9b::5db8:d822%eth0", False),
        ("fec0::1", False),
        ("ff02::1", False),
        ("ff0e::1", False),
        ("site.example", False),
        ("127.1", False),
        ("", False),
    ],
)
def test_only_what_anybody_can_reach_is_public(address: str, public: bool) -> None:
    assert is_public(address) == public


@given(st.ip_addresses(v=4))
def test_no_way_to_write_an_ipv4_address_into_another_makes_it_public(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    translated = ipaddress.IPv6Address((0x64FF9B << 96) + number)
    assert is_public(str(translated)) == is_public(str(address))
    for embedded in (
        number,
        0xFFFF << 32 | number,
        0x2002 << 112 | number << 80,
        0x20010000 << 96 | number ^ 0xFFFFFFFF,
    ):
        assert not is_public(str(ipaddress.IPv6Address(embedded)))
    if is_public(str(address)):
        assert address.is_global
        assert not address.is_multicast


@given(st.text(max_size=60), st.sampled_from(("", "http://", "https://", "http://[", "http://1")))
def test_no_text_is_too_odd_to_be_refused(text: str, start: str) -> None:
    try:
        found = web_address(start + text)
    except Refused as told:
        assert str(told).isprintable()
    else:
        assert found.url.isascii()
        assert found.url.isprintable()
        assert web_address(found.url) == found


@pytest.mark.parametrize(
    ("location", "then"),
    [
        ("/other?x=1", "https://site.example/other?x=1"),
        ("other", "https://site.example/a/other"),
        ("?x", "https://site.example/a/b?x"),
        ("//other.example/c", "https://other.example/c"),
        ("https://other.example/#part", "https://other.example/"),
        ("ünicode", "https://site.example/a/%C3%BCnicode"),
    ],
)
def test_a_page_may_lead_to_another(location: str, then: str) -> None:
    assert redirected(web_address("https://site.example/a/b"), location).url == then


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("http://site.example/", "not encrypted"),
        ("file:///etc/passwd", "only http and https"),
        ("https://user:pw@other.example/", "a name or a password"),
        ("https://localhost/", "no name of a site"),
        ("https://other.example:8443/", "port 8443"),
        ("http://[/", "no"),
        ("https://0x7f.1/", "no name of a site"),
        ("x" * 3000, "longer than"),
        ("\x01", "no address"),
    ],
)
def test_but_not_anywhere(location: str, why: str) -> None:
    with pytest.raises(Refused, match=why) as told:
        redirected(web_address("https://site.example/a/b"), location)
    assert str(told.value).isprintable()


def test_the_system_knows_names_and_says_so_if_it_does_not() -> None:
    assert "127.0.0.1" in resolved("localhost", 80)
    with pytest.raises(OSError, match=r"."):
        resolved("site.invalid", 80)
