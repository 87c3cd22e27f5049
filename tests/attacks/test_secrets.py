"""Keys: what a model writes into a change, and opens something of somebody's, becomes no commit.

Before the detector each line of LEAKS passed.
"""

from __future__ import annotations

import random
import string

import pytest

from sisimpur.shared.system.outgoing import Outgoing

DICE = random.Random(21)
OURS = "sk-ant-" + "".join(DICE.choices(string.ascii_letters + string.digits, k=60))
OUT = Outgoing({"THE_KEY": OURS})


def some(number: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(DICE.choices(letters, k=number))


AWS = "AKIA" + some(16, string.ascii_uppercase + "234567")
FORGE = "ghp_" + some(36)
LEAKS = {
    "AWS, the secret half": f'aws_secret_access_key = "{some(40)}"',
    "AWS, split over lines": f'KEY = "{AWS[:9]}"\n    "{AWS[9:]}"',
    "AWS, put together": f'KEY = "{AWS[:9]}" + "{AWS[9:]}"',
    "a forge's, behind a backslash": f"TOKEN={FORGE[:20]}\\\n{FORGE[20:]}",
    "a forge's, in three parts": f'T = ("{FORGE[:9]}"\n  "{FORGE[9:22]}"\n  "{FORGE[22:]}"\n)',
    "Azure's storage": f"AccountKey={some(86)}==;EndpointSuffix=core.windows.net",
    "Azure's directory": f'client_secret = "{some(3)}8Q~{some(34)}"',
    "DigitalOcean": f'token = "dop_v1_{some(64, "0123456789abcdef")}"',
    "SendGrid": f'key = "SG.{some(66)}"',
    "Databricks": f'token = "dapi{some(32, "0123456789abcdef")}"',
    "Shopify": f'token = "shpat_{some(32, "0123456789abcdef")}"',
    "Hashicorp Vault": f'token = "hvs.{some(95)}"',
}


@pytest.mark.parametrize("text", LEAKS.values(), ids=LEAKS)
def test_a_key_of_anybodys_is_found_in_a_change(text: str) -> None:
    hits = OUT.find_in_change(f"# one\n{text}\n")
    assert [hit.line for hit in hits] == [2]
    assert len(hits[0].digest) == 16
    assert Outgoing({}, [hits[0].digest]).find_in_change(f"# one\n{text}\n") == ()


def test_a_key_of_ours_cannot_be_allowed() -> None:
    [hit] = OUT.find_in_change(f"x = '{OURS}'")
    assert (hit.name, hit.digest) == ("THE_KEY", "")


@pytest.mark.parametrize(
    "text",
    [
        'aws_access_key_id = "AKIAIOSFODNN7EXAMPLE"',
        'aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"',
        f"sha256:{some(64, '0123456789abcdef')}",
        f'commit = "{some(40, "0123456789abcdef")}"',
        f'"integrity": "sha512-{some(86)}=="',
        'token = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
        'key = os.environ["AWS_SECRET_ACCESS_KEY"]',
        f'id = "{some(8, "0123456789abcdef")}-1111-4111-8111-{some(12, "0123456789abcdef")}"',
    ],
)
def test_examples_of_manuals_and_other_long_words_pass(text: str) -> None:
    assert OUT.find_in_change(text) == ()


def test_a_large_change_is_searched_in_no_time() -> None:
    text = "\n".join(f"    value_{number} = compute('{some(30)}', token={number})" for number in range(4_000))
    assert OUT.find_in_change(text) == ()
