"""Reading in the real browser, if the page itself shows the need."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.read.reader import Reader, read_rendered
from browser.types import Outcome
from tests.browser.read.reading_site import Site, serve

if TYPE_CHECKING:
    from browser import Browser
    from browser.net.polite import Polite
    from browser.read.reader import Mode


FILL = "<script>document.getElementById('{0}').innerHTML = '<p>Drawn by script: the tide is high.</p>'</script>"

NEEDS = {
    "empty without its scripts": "<div id=root>Loading…</div>" + FILL.format("root"),
    "a hole that a script fills": "<h1>Tides</h1><p>Today's water at the pier:</p><ul id=list></ul>"
    + FILL.format("list"),
    "a text that comes late": "<h1>Tides</h1><div id=app>Loading…</div><script>"
    "onload = () => fetch('/late').then(r => r.text()).then(t => { app.textContent = t })</script>",
    "a section that comes late": "<main><h1>Piers</h1>"
    + "<p>The northern pier has a long history of storms and repairs.</p>" * 20
    + "<h2>Water</h2><div id=w></div></main><script>onload = () => fetch('/late').then(r => r.text()).then(t => { w.innerHTML = '<p>' + t + '</p>' })</script>",
    "a body that is hidden until a script shows it": "<h1>Tides</h1><div hidden id=S1>"
    + "<p>The northern pier has a long history of storms and of repairs after them.</p>" * 10
    + "<p>Drawn by script: the tide is high.</p></div><script>S1.hidden = false</script>",
    "a frame": "<h1>Tides</h1><iframe src=/inner></iframe>",
    "a custom element": "<h1>Tides</h1><tide-box></tide-box><script>customElements.define('tide-box', "
    "class extends HTMLElement { connectedCallback() { this.attachShadow({mode:'open'}).innerHTML = "
    "'<p>Drawn by script: the tide is high.</p>' } })</script>",
    "a page that says so": "<p>You need to enable JavaScript to run this app.</p><b id=x></b>"
    + FILL.format("x"),
}


@pytest.mark.parametrize("kind", NEEDS)
async def test_the_browser_is_taken_for(
    kind: str, site: Site, http: Polite, chromium: Browser
) -> None:
    async def factory() -> Browser:
        return chromium

    site.page("/inner", "<p>Drawn by script: the tide is high.</p>")
    site.page("/late", "Drawn by script: the tide is high.")
    page = await Reader(http, browser=factory).read(site.page("/p", NEEDS[kind]))
    assert page.via == "browser", page.reason
    assert page.outcome is Outcome.OK
    assert page.document is not None
    assert "the tide is high" in page.document.text
    assert page.reason


async def test_a_static_page_starts_no_browser(site: Site, http: Polite) -> None:
    async def factory() -> Browser:
        pytest.fail("a browser was asked for")

    url = site.page("/p", "<h1>Tide</h1><p>High at noon, low at six.</p><script>stats()</script>")
    assert (await Reader(http, browser=factory).read(url)).via == "http"


async def test_a_site_that_keeps_needing_the_browser_skips_http(
    site: Site, http: Polite, chromium: Browser
) -> None:
    async def factory() -> Browser:
        return chromium

    reader = Reader(http, browser=factory)
    url = site.page("/p", NEEDS["empty without its scripts"])
    pages = [await reader.read(url) for _ in range(4)]
    assert "previously needed" in pages[-1].reason
    assert site.asked.count("/p") == 3 * 2 + 1


@pytest.mark.parametrize("mode", ["auto", "browser"])
async def test_a_refusal_is_no_page_in_the_browser_either(
    mode: Mode, site: Site, http: Polite, chromium: Browser
) -> None:
    async def factory() -> Browser:
        return chromium

    refusal = site.page("/lamp", "<h1>No entry</h1><p>Visitors are not admitted here.</p>", 403)
    page = await Reader(http, browser=factory).read(refusal, mode=mode)
    assert (page.outcome, page.status) == (Outcome.BLOCKED, 403)
    assert "HTTP 403" in page.reason


async def test_a_check_that_the_browser_passes_is_no_refusal(
    site: Site, http: Polite, chromium: Browser
) -> None:
    async def factory() -> Browser:
        return chromium

    site.page("/passed", "<h1>Tides</h1><p>Drawn by script: the tide is high.</p>")
    checking = "<p>One moment.</p><a id=on href=/passed></a><script>on.click()</script>"
    page = await Reader(http, browser=factory).read(site.page("/check", checking, 403))
    assert (page.outcome, page.status, page.via) == (Outcome.OK, 200, "browser")


async def test_what_computed_styles_hide_is_not_read(chromium: Browser, site: Site) -> None:
    site.answers["/s.css"] = (200, {"Content-Type": "text/css"}, b".q{opacity:0}.w{color:#fff}")
    html = (
        "<link rel=stylesheet href=/s.css><h1>Tides</h1><p>High at noon.</p><p class=q>secret one</p>"
        "<p class=w>secret two</p><p style='position:absolute;left:-900px'>secret three</p>"
        "<div style='background:#000'><p class=w>Low at six.</p></div>"
    )
    tab = await chromium.open(site.page("/h", html))
    page = await read_rendered(tab)
    await chromium.close(tab)
    assert page.document is not None
    assert page.document.text == "# Tides\n\nHigh at noon.\n\nLow at six."


async def test_frames_of_other_sites_are_read_too(chromium: Browser, site: Site) -> None:
    async with serve(Site()) as other:
        inner = other.page("/inner", "<p>Timetable: boats at nine.</p>")
        html = f"<h1>Port</h1><iframe width=400 height=300 src='{inner}'></iframe>"
        tab = await chromium.open(site.page("/f", html))
        await tab.wait_for("boats at nine")
        page = await read_rendered(tab)
        await chromium.close(tab)
    assert page.document is not None
    assert "Timetable: boats at nine." in page.document.text


async def test_a_page_that_never_answers_ends_at_its_deadline(
    chromium: Browser, site: Site, http: Polite
) -> None:
    async def factory() -> Browser:
        return chromium

    url = site.page("/loop", "<p>x</p><script>for(;;){}</script>")
    page = await Reader(http, browser=factory).read(url, mode="browser", deadline=1.5)
    assert page.outcome in {Outcome.TIMEOUT, Outcome.ERROR}


async def test_an_open_dialog_is_read_and_one_that_asks_for_cookies_is_not(
    chromium: Browser, site: Site
) -> None:
    opened = "<dialog open><h2>The camera</h2><p>It was hung up by the pupil Ida.</p></dialog>"
    asking = '<div role="dialog"><p>We set cookies. Fine?</p></div>'
    url = site.page("/dialogs", f"<main><h1>Harbour</h1><p>A view.</p></main>{opened}{asking}")
    tab = await chromium.open(url)
    page = await read_rendered(tab)
    assert page.document is not None
    assert "hung up by the pupil" in page.document.text
    assert "We set cookies" not in page.document.text
    await chromium.close(tab)
