"""Dialogs, new tabs, console errors and crashes become part of the next observation."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import asyncio
import re

import pytest

from browser.errors import PageCrashed, RefError
from tests.browser.page.pages import ref


async def test_alert_is_accepted_and_reported(show):
    tab = await show(
        """<button onclick="alert('mind the tide'); p.textContent='on'">Go</button><p id=p></p>"""
    )
    outcome = await tab.click(ref(await tab.snapshot(), "button Go"))
    assert any("mind the tide" in event for event in outcome.events)
    assert "on" in outcome.changes


async def test_confirm_is_dismissed_unless_action_answers_it(show):
    tab = await show("""<button onclick="p.textContent=confirm('sure?')">Ask</button>
        <button onclick="p.textContent=prompt('name?')">Name</button><p id=p></p>""")
    snapshot = await tab.snapshot()
    ask = ref(snapshot, "button Ask")
    assert "false" in (await tab.click(ask)).changes
    assert "true" in (await tab.click(ask, dialog="accept")).changes
    assert "Ada" in (await tab.click(ref(snapshot, "button Name"), dialog="Ada")).changes


async def test_beforeunload_dialog_is_accepted(show, pages):
    target = pages.put("<h1>Away</h1>")
    tab = await show(
        f"<a href='{target}'>leave</a><input aria-label=x><script>onbeforeunload = e => e.preventDefault()</script>"
    )
    snapshot = await tab.snapshot()
    await tab.type(ref(snapshot, "textbox x"), "typed")
    assert "# Away" in (await tab.click(ref(snapshot, "link leave"))).changes


async def test_new_tab_is_reported_and_usable(show, launched, pages):
    target = pages.put("<h1>In the new tab</h1>")
    tab = await show(f"<a href='{target}' target=_blank>open</a>")
    outcome = await tab.click(ref(await tab.snapshot(), "link open"))
    event = next(event for event in outcome.events if event.startswith("new tab"))
    opened = launched.tab(event.split()[2].rstrip(":"))
    await opened.wait_for("In the new tab", deadline=5)
    assert "In the new tab" in (await opened.snapshot()).text
    await launched.close(opened)


async def test_console_errors_are_reported(show):
    tab = await show(
        """<button onclick="console.error('no stock'); undefinedName()">Buy</button>"""
    )
    outcome = await tab.click(ref(await tab.snapshot(), "button Buy"))
    assert any("no stock" in event for event in outcome.events)
    assert any("undefinedName" in event for event in outcome.events)


async def test_renderer_crash_raises_and_next_page_works(show, launched):
    tab = await show("<p>soon gone</p>")
    session = await tab.page.context.new_cdp_session(tab.page)
    with pytest.raises(PageCrashed):
        await _crash(session, tab)
    again = await show("<p>here again</p>")
    assert "here again" in (await again.snapshot()).text


async def _crash(session, tab):
    crash = asyncio.ensure_future(session.send("Page.crash"))
    try:
        await tab.page.wait_for_event("crash", timeout=3000)
        await tab.snapshot()
    finally:
        crash.cancel()


async def test_flashing_lights_are_reported_in_order(show):
    tab = await show("""<style>i{display:inline-block;width:30px;height:30px;background:gray}.lit{background:red}</style>
        <i onclick=1 id=a></i><i onclick=1 id=b></i><i onclick=1 id=c></i><button id=s>Start</button><script>
        s.onclick = () => { const next = ['c', 'a', 'c', 'b']; s.className = 'pressed';
          const flash = () => { const light = document.getElementById(next.shift());
            light.className = 'lit'; setTimeout(() => { light.className = ''; if (next.length) setTimeout(flash, 60); else { s.className = ''; s.textContent = 'Over' } }, 90) }; flash() }</script>""")
    snapshot = await tab.snapshot()
    a, b, c = (ref(snapshot, f"clickable (#{name}") for name in "abc")
    await tab.page.evaluate("setTimeout(() => s.onclick(), 400)")
    waited = await tab.wait_for("Over")
    order = re.findall(r"\[(e\d+)\]", "".join(waited.events))
    assert [light for light in order if light in (a, b, c)] == [c, a, c, b]
    await tab.page.evaluate("s.textContent = 'Start'")
    snapshot = await tab.snapshot()
    outcomes = [await tab.click(ref(snapshot, "button Start")), await tab.wait_for("Over")]
    told = "".join(event for outcome in outcomes for event in outcome.events)
    assert re.findall(r"\[(e\d+)\]", told) == [c, a, c, b]
    assert not (await tab.click(a)).events


async def test_style_only_changes_are_reported(show):
    tab = await show("""<style>.in{background:green}</style><b id=a onclick="this.classList.toggle('in')">Odd</b>
        <b id=b onclick="this.style.color = 'red'">Share</b>
        <b id=c onclick="this.querySelector('path').setAttribute('fill', 'gold')"><svg width=16 height=16><path fill=gray d="M0 0h9v9z"/></svg></b>
        <b id=d onclick="1">Nothing</b>""")
    snapshot = await tab.snapshot()
    odd, share = ref(snapshot, "clickable Odd"), ref(snapshot, "clickable Share")
    assert (await tab.click(odd)).changes == f"~ [{odd}] looks different: #a .in colour green"
    assert "written in red" in (await tab.click(share)).changes
    assert "drawn in gold" in (await tab.click(ref(snapshot, "clickable (#c"))).changes
    assert (await tab.click(ref(snapshot, "clickable Nothing"))).changes == ""


async def test_briefly_shown_text_is_reported(show):
    tab = await show("""<div id=g><b class=c></b><b class=c></b></div><style>.c{display:inline-block;width:30px;height:30px}</style><script>
        g.onclick = e => { const card = e.target; card.textContent = 'ace'; setTimeout(() => { card.textContent = '' }, 400) }</script>""")
    card = next(
        r for r, what in (await tab.snapshot()).refs.items() if "2 of 2" in what or "(.c" in what
    )
    outcome = await tab.click(card)
    assert outcome.events == (f"appeared briefly: [{card}] ace",)


async def test_removed_text_seen_before_is_not_reported_again(show):
    tab = await show("""<p id=o></p><button id=a onclick="o.innerHTML = '<b>first</b>'">One</button>
        <button id=b onclick="o.innerHTML = '<b>second</b>'">Two</button>""")
    snapshot = await tab.snapshot()
    assert "first" in (await tab.click(ref(snapshot, "button One"))).changes
    await tab.snapshot()
    assert not (await tab.click(ref(snapshot, "button Two"))).events


async def test_changed_line_with_same_controls_is_reported_as_changed(show):
    tab = await show("""<p><a href=/t>Tides</a> <a href=/m>Members</a><p><button onclick="this.blur();
        document.body.insertAdjacentHTML('beforeend', '<p>Received'); m.textContent += '!'">Hand in</button> <button id=m onclick=1>More</button>""")
    shown = await tab.snapshot()
    told = (await tab.click(ref(shown, "button Hand in"))).changes
    assert told == "~ [e3 button: Hand in] [e4 button: More!]\n+ Received"


async def test_repeated_event_is_counted(show):
    tab = await show(
        """<button onclick="for (let n = 0; n < 3; n++) alert('high tide')">Go</button>"""
    )
    outcome = await tab.click(ref(await tab.snapshot(), "button Go"))
    assert outcome.events == ('dialog: alert "high tide" was accepted (3 times)',)


async def test_content_covered_by_dialog_is_counted_not_listed(show):
    rows = "".join(
        f"<p><a href=#{n} style='display:block'><img src=x></a> Row {n}</p>" for n in range(9)
    )
    tab = await show(f"""<button onclick="d.showModal()">Open</button>{rows}
        <dialog id=d style='position:fixed;inset:0;width:100vw;height:100vh'>Sure?</dialog>""")
    outcome = await tab.click(ref(await tab.snapshot(), "button Open"))
    assert "lines are covered by what opened)" in outcome.changes
    assert "Row 3" not in outcome.changes


async def test_stale_ref_error_reports_navigation_by_page(show, pages):
    target = pages.put("<h1>Welcome</h1><button>Go on</button>")
    tab = await show("<button>Continue</button>")
    at = ref(await tab.snapshot(), "button Continue")
    await tab.page.evaluate(f"location = '{target}'")
    await tab.page.wait_for_selector("h1")
    with pytest.raises(RefError, match=f"navigated to .*{target} by itself") as gone:
        await tab.click(at)
    assert gone.value.hint == "Take a new SNAPSHOT."


async def test_unanswered_save_request_is_reported_only_by_its_action(show, monkeypatch):
    monkeypatch.setattr("browser.page.page_events._STREAMING_SECONDS", 0.3)
    monkeypatch.setattr("browser.page.driver.ACT_RESERVE_SECONDS", 9.0)  # of ten seconds
    tab = await show("""<button onclick="fetch('/slow?5', {method: 'POST'}); p.textContent = 'Saving'">Save</button>
        <button onclick="p.textContent = 'Shown'">Show</button><p id=p></p>""")
    snapshot = await tab.snapshot()
    saved = await tab.click(ref(snapshot, "button Save"))
    assert saved.unanswered == "POST /slow"
    assert "Saving" in saved.changes
    shown = await tab.click(ref(snapshot, "button Show"))
    assert shown.unanswered == ""


async def test_loading_page_is_shown_after_its_data_arrives(show, monkeypatch):
    """A request that is open for long counts as a stream, but this page waits for it."""
    monkeypatch.setattr("browser.page.page_events._STREAMING_SECONDS", 0.2)
    tab = await show("""<h1>Cranes</h1><div id=app>Loading…</div><script>
        fetch('/slow?0.6').then(() => { app.textContent = 'The crane weighs 4711 tons.' })</script>""")
    assert "4711 tons" in (await tab.snapshot()).text
