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


FILL_SCRIPT = "<script>document.getElementById('{0}').innerHTML = '<p>Drawn by script: the tide is high.</p>'</script>"

PAGES_NEEDING_BROWSER = {
    "empty without its scripts": "<div id=root>Loading…</div>" + FILL_SCRIPT.format("root"),
    "a hole that a script fills": "<h1>Tides</h1><p>Today's water at the pier:</p><ul id=list></ul>"
    + FILL_SCRIPT.format("list"),
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
    + FILL_SCRIPT.format("x"),
}


@pytest.mark.parametrize("kind", PAGES_NEEDING_BROWSER)
async def test_page_needing_scripts_is_read_in_browser(
    kind: str, site: Site, http: Polite, chromium: Browser
) -> None:
    async def factory() -> Browser:
        return chromium

    site.page("/inner", "<p>Drawn by script: the tide is high.</p>")
    site.page("/late", "Drawn by script: the tide is high.")
    page = await Reader(http, browser=factory).read(site.page("/p", PAGES_NEEDING_BROWSER[kind]))
    assert page.via == "browser", page.reason
    assert page.outcome is Outcome.OK
    assert page.document is not None
    assert "the tide is high" in page.document.text
    assert page.reason


async def test_static_page_does_not_start_browser(site: Site, http: Polite) -> None:
    async def factory() -> Browser:
        pytest.fail("a browser was asked for")

    url = site.page("/p", "<h1>Tide</h1><p>High at noon, low at six.</p><script>stats()</script>")
    assert (await Reader(http, browser=factory).read(url)).via == "http"


async def test_site_repeatedly_needing_browser_skips_http(
    site: Site, http: Polite, chromium: Browser
) -> None:
    async def factory() -> Browser:
        return chromium

    reader = Reader(http, browser=factory)
    url = site.page("/p", PAGES_NEEDING_BROWSER["empty without its scripts"])
    pages = [await reader.read(url) for _ in range(4)]
    assert "previously" in pages[-1].reason
    assert site.asked.count("/p") == 3 * 2 + 1


@pytest.mark.parametrize("mode", ["auto", "browser"])
async def test_403_stays_blocked_in_browser(
    mode: Mode, site: Site, http: Polite, chromium: Browser
) -> None:
    async def factory() -> Browser:
        return chromium

    refusal = site.page("/lamp", "<h1>No entry</h1><p>Visitors are not admitted here.</p>", 403)
    page = await Reader(http, browser=factory).read(refusal, mode=mode)
    assert (page.outcome, page.status) == (Outcome.BLOCKED, 403)
    assert "HTTP 403" in page.reason


async def test_browser_check_that_passes_is_not_blocked(
    site: Site, http: Polite, chromium: Browser
) -> None:
    async def factory() -> Browser:
        return chromium

    site.page("/passed", "<h1>Tides</h1><p>Drawn by script: the tide is high.</p>")
    checking = "<p>One moment.</p><a id=on href=/passed></a><script>on.click()</script>"
    page = await Reader(http, browser=factory).read(site.page("/check", checking, 403))
    assert (page.outcome, page.status, page.via) == (Outcome.OK, 200, "browser")


async def test_text_hidden_by_computed_styles_is_left_out(chromium: Browser, site: Site) -> None:
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


async def test_cross_site_frames_are_read(chromium: Browser, site: Site) -> None:
    async with serve(Site()) as other:
        inner = other.page("/inner", "<p>Timetable: boats at nine.</p>")
        html = f"<h1>Port</h1><iframe width=400 height=300 src='{inner}'></iframe>"
        tab = await chromium.open(site.page("/f", html))
        await tab.wait_for("boats at nine")
        page = await read_rendered(tab)
        await chromium.close(tab)
    assert page.document is not None
    assert "Timetable: boats at nine." in page.document.text


async def test_unresponsive_page_ends_at_deadline(
    chromium: Browser, site: Site, http: Polite
) -> None:
    async def factory() -> Browser:
        return chromium

    url = site.page("/loop", "<p>x</p><script>for(;;){}</script>")
    page = await Reader(http, browser=factory).read(url, mode="browser", deadline=1.5)
    assert page.outcome in {Outcome.TIMEOUT, Outcome.ERROR}


async def test_open_dialog_is_read_but_cookie_dialog_is_not(chromium: Browser, site: Site) -> None:
    opened = "<dialog open><h2>The camera</h2><p>It was hung up by the pupil Ida.</p></dialog>"
    asking = '<div role="dialog"><p>We set cookies. Fine?</p></div>'
    url = site.page("/dialogs", f"<main><h1>Harbour</h1><p>A view.</p></main>{opened}{asking}")
    tab = await chromium.open(url)
    page = await read_rendered(tab)
    assert page.document is not None
    assert "hung up by the pupil" in page.document.text
    assert "We set cookies" not in page.document.text
    await chromium.close(tab)
