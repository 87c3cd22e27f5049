"""Goals in an owner's words that name no code, and the definitions that one would have to see for them.

They are about the repositories of the bench, all in one tree. Written before any prompt about them was seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

REPOSITORIES = Path(__file__).parents[2] / "bench" / "goals" / "repositories"

PLAIN: Mapping[str, Sequence[str]] = {
    "Erasing an entry should ask first, it was deleted by mistake": ["cli_tool/hishab/cli.py::_remove"],
    "People wait too long for the first reply to a help request: show how many hours": [
        "django_site/support/models.py::Ticket.waits_hours",
        "django_site/support/rules.py::first_answer",
    ],
    "Giving money back to a customer still goes through the old provider": [
        "django_site/payments/till.py::give_back",
        "django_site/payments/bkash_v2.py::BkashV2.refund",
    ],
    "Failed messages should be tried again after longer pauses": [
        "async_service/dakghor/backoff.py::delay",
        "async_service/dakghor/store.py::Store.retry",
        "async_service/dakghor/worker.py::Worker.handle",
    ],
    "When a bill is split among friends a cent gets lost": [
        "library/taka/money.py::Money.split",
        "library/taka/shares.py::evenly",
    ],
    "Amounts that were typed with commas are not understood": ["library/taka/parse.py::parse"],
    "Somebody who guesses passwords slowly is never stopped at sign in": [
        "django_site/core/middleware.py::LoginThrottle.__call__"
    ],
    "In statements from bKash day and month are swapped": ["cli_tool/hishab/importers/bkash.py::read"],
    "The report of the best selling things leaves out hidden products": [
        "django_site/reports/exports.py::best_sellers"
    ],
    "Discounts are applied twice to large orders": ["django_site/shop/pricing.py::discount"],
    "Convert money with the rate of the day it was paid": [
        "library/taka/exchange.py::Rates.convert",
        "library/taka/exchange.py::Rates.rate",
    ],
    "Warn as soon as a budget is exceeded": [
        "cli_tool/hishab/report.py::over_budget",
        "cli_tool/hishab/cli.py::_budget",
        "cli_tool/hishab/config.py::budgets",
    ],
    "The health page should say whether the database answers": [
        "async_service/dakghor/health.py::answer",
        "async_service/dakghor/store.py::Store.ping",
    ],
    "A ticket that was closed by mistake cannot be opened again": [
        "django_site/support/models.py::Ticket.reopen",
        "django_site/support/models.py::Ticket.close",
    ],
    "Too much spam reaches us over the contact form": [
        "django_site/support/rules.py::is_spam",
        "django_site/support/views.py::write",
    ],
    "Sign up e email thik moto save hoy na, bhul dhoro": [
        "django_site/accounts/forms.py::SignUpForm.save",
        "django_site/accounts/views.py::sign_up",
    ],
    "Purono entry muche felar age jigges korte hobe": ["cli_tool/hishab/cli.py::_remove"],
    "Sums by tag are wrong when a tag has capitals": [
        "cli_tool/hishab/report.py::by_tag",
        "cli_tool/hishab/cli.py::_tags_sums",
    ],
    "Placing an order with an empty cart should be refused": ["monorepo/api/haat/pages/orders.py::place"],
    "Sellers' pages list people who left": ["monorepo/api/haat/pages/sellers.py::listed"],
    "Rounding to what coins exist pays too little": ["library/taka/rounding.py::to_cash"],
    "The tax return for the authorities lacks delivery": ["django_site/reports/exports.py::vat_return"],
    "Write numbers with lakhs and crores": ["library/taka/format.py::_lakh"],
    "Jobs that nobody could send for a week should be given up": ["async_service/dakghor/store.py::Store.bury"],
}


def one_tree() -> dict[str, str]:
    """All repositories of the bench as folders of one."""
    paths = (path for path in REPOSITORIES.rglob("*") if path.is_file() and "cache" not in str(path))
    return {path.relative_to(REPOSITORIES).as_posix(): path.read_text("utf-8") for path in paths}
