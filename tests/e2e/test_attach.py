"""Attached to a user's Chrome: their page is the context, and all their tabs stay unchanged."""

from __future__ import annotations

import asyncio
import json
from urllib.request import urlopen

import pytest
import pytest_asyncio

from tests.users_chrome import driven_chrome

SELECT = """() => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector("main p:not(.trail)"));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


@pytest.fixture(scope="module")
def chrome(chrome_in_use):
    """The address of a Chrome that is already open."""
    return chrome_in_use.cdp_url


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def three_tabs(chrome, site, playwright):
    """Three tabs: one in front with text selected, one beside it, one with a dialog open.

    They stay unchanged between tests, as each test asserts.
    """
    async with driven_chrome(playwright, chrome) as context:
        dialogs = []
        context.on("dialog", lambda dialog: dialogs.append(dialog))  # noqa: PLW0108 - Playwright marks plain functions, a builtin takes no mark
        front = context.pages[0]
        await front.goto(f"{site.url}/hesk-light")
        beside = await context.new_page()
        await beside.goto(f"{site.url}/museum")
        asking = await context.new_page()
        await asking.goto(f"{site.url}/birds")
        async with context.expect_event("dialog"):
            await asking.evaluate("setTimeout(() => alert('still here'), 0)")
        await front.bring_to_front()
        await front.evaluate(SELECT)
        yield chrome
        assert [dialog.message for dialog in dialogs] == ["still here"]
        await dialogs[0].dismiss()


def tabs_of(chrome):
    with urlopen(f"{chrome}/json/list") as answer:
        rows = json.load(answer)
    return sorted(row["url"] for row in rows if row["type"] == "page" and "127.0.0.1" in row["url"])


async def test_empty_front_tab_is_not_a_page_or_failure(ask, script, chrome):
    report = await ask("Is anything open?", model=script("NOT_FOUND"), cdp=chrome)
    assert report.status == "not_found"


async def test_unresponsive_tab_is_reported_and_retried(ask, script, chrome, site, playwright):
    async with driven_chrome(playwright, chrome) as context:
        dismissed = []
        front = context.pages[0]
        await front.goto(f"{site.url}/hesk-light")
        async with context.expect_event("dialog") as opened:
            await front.evaluate("setTimeout(() => alert('still here'), 0)")
        dialog = await opened.value

        def answered(event):
            """Dismiss the dialog once the model has seen the result of SNAPSHOT."""
            if event.type == "tool.result" and not dismissed:
                dismissed.append(asyncio.ensure_future(dialog.dismiss()))

        model = script(
            {"reply": "<<TOOL:SNAPSHOT>>", "expect": r"\[open page\] does not respond yet"},
            {"reply": "<<TOOL:READ>>", "expect": "the user's active tab does not respond"},
            "It was first lit on 1 November 1829. [S1]",
        )
        report = await ask("When was it lit?", model=model, cdp=chrome, on_event=answered)
    assert report.status == "answered", report.error
    assert report.sources[0].url.endswith("/hesk-light")


async def test_front_tab_is_context_and_all_tabs_stay_open(ask, script, three_tabs, events):
    before = tabs_of(three_tabs)
    model = script(
        '<<TOOL:READ:{"query":"first lit"}>>', "It was first lit on 1 November 1829. [S1]"
    )
    report = await ask("When was this light first lit?", model=model, cdp=three_tabs)
    asked = next(e for e in events(report) if e.type == "model.request")
    question = asked.data["messages"][-1]["content"]
    assert question.startswith("[Page: Hesk Light")
    assert "[Selected text: " in question
    assert report.status == "answered"
    assert report.sources[0].url.endswith("/hesk-light")
    assert tabs_of(three_tabs) == before


async def test_work_uses_own_tab_and_closes_it(ask, script, site, three_tabs):
    before = tabs_of(three_tabs)
    seen = []
    model = script(f"<<TOOL:OPEN:{site.url}/ferries>>", "<<TOOL:TABS>>", "NOT_FOUND")
    await ask(
        f"Which ferries are there at {site.url}/ferries ?",
        model=model,
        cdp=three_tabs,
        on_event=lambda e: seen.append(tabs_of(three_tabs)) if e.type == "tool.result" else None,
    )
    assert any(url.endswith("/ferries") for url in seen[0])
    assert set(before) <= set(seen[0])
    assert tabs_of(three_tabs) == before


async def test_submit_is_refused_if_nobody_can_approve(ask, script, site, three_tabs):
    results = []
    model = script(
        f"<<TOOL:OPEN:{site.url}/login>>",
        "<<TOOL:CLICK:{{ref:Sign in}}>>",
        "NOT_FOUND",
    )
    await ask(
        f"Sign in for me at {site.url}/login",
        model=model,
        cdp=three_tabs,
        on_event=lambda e: results.append(e.data) if e.type == "tool.result" else None,
    )
    assert "needs approval to" in results[1]["data"]["error"]


async def test_submit_proceeds_with_user_approval(ask, script, site, three_tabs):
    asked, results = [], []

    async def yes(effect):
        asked.append(effect)
        return True

    model = script(
        f"<<TOOL:OPEN:{site.url}/berth-request>>",
        '<<TOOL:TYPE:{"ref":"{{ref:Length}}","text":"12"}>>'
        '<<TOOL:TYPE:{"ref":"{{ref:Nights}}","text":"3"}>>',
        "<<TOOL:SNAPSHOT>>",
        "<<TOOL:CLICK:{{ref:Work out}}>>",
        "NOT_FOUND",
    )
    await ask(
        f"What is the fee by {site.url}/berth-request ?",
        model=model,
        cdp=three_tabs,
        approve=yes,
        on_event=lambda e: results.append(e.data) if e.type == "tool.result" else None,
    )
    assert "submits" in asked[-1]
    assert "66.60" in results[-1]["web"]


async def test_unreachable_cdp_address_fails_run(ask, script):
    report = await ask(model=script("NOT_FOUND"), cdp="http://127.0.0.1:9")
    assert report.status == "failed"
    assert report.error.type == "WebOutOfReach"
