"""A change of 20,000 lines is read on, shown the other way and scrolled; 10,000 tasks in a column, too. The
page never stands still for long.

Measured is the processor time of the longest task of the page's main thread, so that a busy machine does not count.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.journey.board_process import served
from tests.journey.test_board import TITLE, run
from tests.web.browsing import LAPTOP, PHONE, PLAYWRIGHT, needs, opened, slower
from tests.web.crowd import crowded

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

pytestmark = needs(PLAYWRIGHT)
LINES, PAGE = 20_000, 5_000
CARDS, SLOWER = 25, 4
MOST = 100  # ms on the machine of the figures, where two thirds of it were measured; all rows in one frame took 999
VISITS = 3  # the median counts: neighbours of the machine take half of it, and are gone a second later
KINDS = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]


def test_no_frame_of_20_000_lines_takes_long(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    day, took = run(tmp_path), dict[str, list[float]]()
    with served(day.home.root) as board, opened(browser, board.link, LAPTOP) as page:
        page.get_by_role("link", name=TITLE).wait_for()
        page.route("**/diff?begin=*", long_change)

        def measured(name: str, act: Callable[[], object]) -> None:
            browser.start_tracing(page=page, categories=KINDS)
            act()
            page.wait_for_timeout(1_500)
            took.setdefault(name, []).append(longest(browser.stop_tracing()) / slower())

        for _ in range(VISITS):
            page.goto(board.here)
            measured("open", lambda: begin(page))
            for number in range(LINES // PAGE):
                measured(f"read on {number}", lambda: page.get_by_role("button", name="Show more lines").click())
            measured("unified", lambda: page.get_by_role("button", name="Side by side").click())
            expect(page.locator(".line")).to_have_count(LINES + 1)
            measured("not wrapped", lambda: page.get_by_role("button", name="Wrap lines").click())
            measured("the end", lambda: page.evaluate("scrollTo(0, document.body.scrollHeight)"))
            for kept in ("Wrap lines", "Side by side"):  # as it was: the browser keeps both
                page.get_by_role("button", name=kept).click()
    assert all(0 < median(one) <= MOST for one in took.values()), took


def test_no_frame_of_a_column_of_10_000_tasks_takes_long(browser: Browser, tmp_path: Path) -> None:
    """On a phone: a processor four times slower. What is there already costs nothing when more comes behind it."""
    stage, took = crowded(tmp_path), dict[str, list[float]]()
    with served(stage.home.root) as board, opened(browser, board.link, PHONE) as page:
        page.get_by_role("heading", name="Next in line").wait_for()
        assert page.get_by_role("listitem").count() < 100, "the first lines, and how many more there are"
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        cards = page.locator("article.item")

        def measured(name: str, act: Callable[[], object], count: int) -> None:
            browser.start_tracing(page=page, categories=KINDS)
            act()
            cards.nth(count - 1).wait_for()
            page.wait_for_timeout(500)
            took.setdefault(name, []).append(longest(browser.stop_tracing()) / slower())
            assert cards.count() == count

        for _ in range(VISITS):
            measured("open", lambda: page.goto(f"{board.here}/board?state=backlog"), CARDS)
            for number in range(2, 7):
                measured(f"read on {number}", page.get_by_role("button", name="Older").click, number * CARDS)
    assert all(0 < median(one) <= MOST for one in took.values()), took


def begin(page: Page) -> None:
    page.get_by_role("link", name=TITLE).click()
    page.locator("details.file > summary").click()
    page.locator(".line").first.wait_for()


def long_change(route: Route) -> None:
    """The board's own answer, with more lines."""
    head, at, number = route.request.url.rpartition("begin=")
    first = int(number)
    lines = ["diff --git a/big.py b/big.py", f"@@ -1,{LINES} +1,{LINES} @@"]
    lines += [f"{'-+ '[one % 3]}    value_{one} = compute({one}, 'a line as long as usual')" for one in range(LINES)]
    answer = route.fetch(url=f"{head}{at}0")
    following = first + PAGE if len(lines) > first + PAGE else None
    body = {**answer.json(), "begin": first, "lines": lines[first : first + PAGE], "next": following}
    route.fulfill(response=answer, body=json.dumps(body), headers={**answer.headers, "etag": f'"{first}"'})


def longest(trace: bytes) -> float:
    """Milliseconds of the processor that the page's longest task took."""
    events: list[dict[str, Any]] = json.loads(trace)["traceEvents"]
    main = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"
    }
    tasks = (one for one in events if one["name"].endswith("RunTask") and (one["pid"], one["tid"]) in main)
    return max(float(one.get("tdur", 0)) / 1_000 for one in tasks)
