"""Consent dialogs of known platforms go by themselves; nothing else is clicked."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import pytest

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
async def test_a_known_dialog_is_rejected(show, platform):
    tab = await show(f"<div class=dialog>We value cookies {DIALOGS[platform]}</div><p>the page</p>")
    assert (await tab.snapshot()).text == "the page"
    title = await tab.page.title()
    assert not title.endswith(
        ("accept-btn-handler", "Accept", "-agree-button", "accept", "_11", "accept-all")
    )
    assert f"consent dialog closed ({platform}: rejected)" in tab.events.drain()


async def test_where_only_accepting_is_offered_it_is_accepted(show):
    tab = await show(
        f"<div class=dialog><button id=onetrust-accept-btn-handler {GONE}>OK</button></div><p>the page</p>"
    )
    assert (await tab.snapshot()).text == "the page"
    assert "consent dialog closed (OneTrust: accepted)" in tab.events.drain()


async def test_a_dialog_that_comes_late_or_in_a_frame_or_shadow_root_is_closed_too(show, pages):
    inner = pages.put(
        "<button class=sp_choice_type_13 onclick=\"parent.postMessage('gone', '*')\">No</button>",
        "/sp_message",
    )
    tab = await show(f"""<iframe src='{pages.other}{inner}'></iframe><div id=usercentrics-root></div><script>
        onmessage = () => document.querySelector('iframe').remove();
        document.getElementById('usercentrics-root').attachShadow({{mode: 'open'}}).innerHTML =
          '<button data-testid=uc-deny-all-button onclick="this.remove()">Deny</button>';</script>""")
    await tab.snapshot()
    text = (await tab.snapshot()).text
    assert "Deny" not in text
    assert "frame" not in text


async def test_nothing_else_is_clicked_by_itself(show):
    tab = await show("""<div role=dialog>Accept all cookies?
        <button id=accept onclick="document.title='clicked'">Accept all</button>
        <button class=reject-all onclick="document.title='clicked'">Reject all</button></div>""")
    await tab.snapshot()
    assert await tab.page.title() == "Test"
