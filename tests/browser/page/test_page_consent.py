"""Consent dialogs of known platforms that cover the page are closed; nothing else is clicked."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser.session.session import Browser

if TYPE_CHECKING:
    from browser.page.tab import Tab

OVER = "class=dialog style='position:fixed;inset:20% 10%;background:white'"
GONE = "onclick=\"this.closest('.dialog').remove(); document.title=this.id||this.className\""
DIALOGS = {
    "OneTrust": f"<button id=onetrust-accept-btn-handler {GONE}>OK</button><button id=onetrust-reject-all-handler {GONE}>No</button>",
    "Cookiebot": f"<a id=CybotCookiebotDialogBodyButtonAccept {GONE}>OK</a><a id=CybotCookiebotDialogBodyButtonDecline {GONE}>No</a>",
    "Didomi": f"<button id=didomi-notice-agree-button {GONE}>OK</button><button id=didomi-notice-disagree-button {GONE}>No</button>",
    "CookieYes": f"<button class=cky-btn-accept {GONE}>OK</button><button class=cky-btn-reject {GONE}>No</button>",
    "Sourcepoint": f"<button class=sp_choice_type_11 {GONE}>OK</button><button class=sp_choice_type_13 {GONE}>No</button>",
    "Osano": f"<button class=osano-cm-accept-all {GONE}>OK</button><button class=osano-cm-denyAll {GONE}>No</button>",
}  # fmt: skip


@pytest.mark.parametrize("platform", DIALOGS)
@pytest.mark.sample(3)
async def test_known_consent_dialog_is_rejected(show, platform):
    tab = await show(f"<div {OVER}>We value cookies {DIALOGS[platform]}</div><p>the page</p>")
    assert (await tab.snapshot()).text == "the page"
    title = await tab.page.title()
    assert not title.endswith(
        ("accept-btn-handler", "Accept", "-agree-button", "accept", "_11", "accept-all")
    )
    assert f"consent dialog closed ({platform}: rejected)" in tab.events.drain()


async def test_consent_is_accepted_if_rejecting_is_not_offered(show):
    tab = await show(
        f"<div {OVER}><button id=onetrust-accept-btn-handler {GONE}>OK</button></div><p>the page</p>"
    )
    assert (await tab.snapshot()).text == "the page"
    assert "consent dialog closed (OneTrust: accepted)" in tab.events.drain()


async def test_late_framed_and_shadow_consent_dialogs_are_closed(show, pages):
    inner = pages.put(
        "<button class=sp_choice_type_13 onclick=\"parent.postMessage('gone', '*')\">No</button>",
        "/sp_message",
    )
    tab = await show(f"""<iframe src='{pages.other}{inner}' style='position:fixed;inset:10%;width:80%;height:80%'></iframe><div id=usercentrics-root style='position:fixed;inset:10%'></div><script>
        onmessage = () => document.querySelector('iframe').remove();
        document.getElementById('usercentrics-root').attachShadow({{mode: 'open'}}).innerHTML =
          '<button data-testid=uc-deny-all-button onclick="this.remove()">Deny</button>';</script>""")
    await tab.snapshot()
    text = (await tab.snapshot()).text
    assert "Deny" not in text
    assert "frame" not in text


async def test_unresponsive_consent_dialog_is_pressed_once(show):
    count = "onclick=\"document.title = 'pressed ' + (window.times = (window.times || 0) + 1)\""
    tab = await show(f"<div {OVER}><button class=cky-btn-reject {count}>No</button></div>")
    notes = await consent_notes(tab)
    assert await tab.page.title() == "pressed 1"
    assert len(notes) == 2
    assert "left open, as its button did not close it" in notes[1]


async def test_unknown_consent_dialog_is_not_clicked(show):
    tab = await show("""<div role=dialog style='position:fixed;inset:0'>Accept all cookies?
        <button id=accept onclick="document.title='clicked'">Accept all</button>
        <button class=reject-all onclick="document.title='clicked'">Reject all</button></div>""")
    await tab.snapshot()
    assert await tab.page.title() == "Test"


PRESSED = "onclick=\"document.title='clicked'; return false\""
CONTENT = {
    "in the text of a mail": f"<article><button class='cky-btn-reject' {PRESSED}>x</button></article>",
    "a bar at the edge": f"<div style='position:fixed;bottom:0;height:90px;width:100%'><button class=cky-btn-reject {PRESSED}>x</button></div>",
    "a link": f"<div {OVER}><a class=cky-btn-reject href=/delete {PRESSED}>x</a></div>",
    "a link of the page's router": f"<div {OVER}><a class=cky-btn-reject href='#/delete' {PRESSED}>x</a></div>",
    "inside a link": f"<div {OVER}><a href=/delete {PRESSED}><b class=cky-btn-reject>x</b></a></div>",
    "a submit button": f"<div {OVER}><form action=/delete onsubmit=\"document.title='clicked';return false\"><button class=cky-btn-reject>x</button></form></div>",
    "a submit button elsewhere": f"<form id=f action=/delete onsubmit=\"document.title='clicked';return false\"></form><div {OVER}><button form=f class=cky-btn-reject>x</button></div>",
    "a label": f"<input type=checkbox id=all {PRESSED}><div {OVER}><label for=all class=cky-btn-reject>x</label></div>",
}  # fmt: skip


@pytest.mark.parametrize("content", CONTENT)
@pytest.mark.sample(3)
async def test_content_with_consent_platform_class_is_not_clicked(show, content):
    tab = await show(f"{CONTENT[content]}<p>the page</p>")
    await tab.snapshot()
    assert await tab.page.title() == "Test"
    assert not any("consent" in event for event in tab.events.drain())


async def test_consent_dialog_under_backdrop_is_closed(show):
    tab = await show(
        f"<p>the page</p><div class=dialog><div style='position:fixed;inset:0;background:#0008'></div>"
        f"<div style='position:fixed;bottom:0;height:90px'><button class=cky-btn-reject {GONE}>x</button></div></div>"
    )
    assert (await tab.snapshot()).text == "the page"


async def consent_notes(tab: Tab) -> list[str]:
    """Take two snapshots of the page with its dialog; return what was noted about it."""
    for _ in range(2):
        assert "No" in (await tab.snapshot()).text
    return [event for event in tab.events.drain() if "consent" in event]


def is_left_open(notes: list[str]) -> bool:
    return len(notes) == 1 and "left open, as the browser is logged in here" in notes[0]


DIALOG = f"<div {OVER}>Cookies? {DIALOGS['CookieYes']}</div><p>the page</p><input type=password aria-label=Word>"


async def test_consent_dialog_is_left_open_after_password_entry(show):
    tab = await show("<input type=password aria-label=Word>")
    (ref,) = (await tab.snapshot()).refs
    await tab.type(ref, "drizzle")
    try:
        await tab.page.set_content(DIALOG)
        assert is_left_open(await consent_notes(tab))
    finally:
        tab.driver.logins.sites.clear()


async def test_consent_dialog_is_left_open_on_logged_in_sites(pages, tmp_path):
    (state := tmp_path / "state.json").write_text('{"cookies": [], "origins": []}')
    url = pages.base + pages.put(f"<!doctype html><title>Test</title>{DIALOG}")
    async with Browser.launch(storage_state=state, logged_in=["127.0.0.1"]) as browser:
        assert is_left_open(await consent_notes(await browser.open(url)))
        tab = await browser.open(url.replace("127.0.0.1", "localhost"))
        assert "No" not in (await tab.snapshot()).text


async def test_consent_dialog_is_left_open_in_attached_browser(chrome_in_use, pages):
    url = pages.base + pages.put(f"<!doctype html><title>Test</title>{DIALOG}")
    async with Browser.attach(chrome_in_use.cdp_url) as browser:
        assert is_left_open(await consent_notes(await browser.open(url)))
