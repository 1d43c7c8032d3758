"""What each action does and reports."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import asyncio

import pytest

from browser.errors import ActionError, DeadlineExceeded
from tests.browser.page.pages import ref


async def test_click_reports_changes_with_refs(show):
    tab = await show(
        """<button onclick="p.innerHTML='<button>Undo</button>'">Delete</button><p id=p></p>"""
    )
    outcome = await tab.click(ref(await tab.snapshot(), "button Delete"))
    assert outcome.action.startswith("clicked [")
    assert "button: Undo]" in outcome.changes


async def test_double_and_right_click_reach_their_handlers(show):
    tab = await show(
        """<button ondblclick="p.textContent+='double '" oncontextmenu="p.textContent+='menu '">b</button><p id=p></p>"""
    )
    button = ref(await tab.snapshot(), "button b")
    await tab.click(button, count=2)
    outcome = await tab.click(button, button="right")
    assert "double menu" in outcome.changes


async def test_a_click_at_an_offset_hits_that_point(show):
    tab = await show(
        """<canvas id=c width=100 height=100 onclick="p.textContent=event.offsetX+','+event.offsetY"></canvas><p id=p></p>"""
    )
    canvas = ref(await tab.snapshot(), "canvas")
    assert "30,40" in (await tab.click(canvas, at=(30, 40))).changes


async def test_typing_replaces_value_and_fires_key_events(show):
    tab = await show(
        """<input aria-label=Town value=old onkeyup="p.textContent='keys '+(++n)"><p id=p></p><script>let n=0</script>"""
    )
    outcome = await tab.type(ref(await tab.snapshot(), "textbox Town"), "Hoorn")
    assert "Town = Hoorn" in outcome.changes
    assert int(outcome.changes.split("keys ")[1]) >= len("Hoorn")


async def test_submit_presses_enter_and_reports_navigation(show, pages):
    target = pages.put("<h1>Results</h1>")
    tab = await show(f"<form action='{target}'><input name=q aria-label=Search></form>")
    outcome = await tab.type(ref(await tab.snapshot(), "textbox Search"), "tide", submit=True)
    assert "# Results" in outcome.changes
    assert any("navigated to" in event for event in outcome.events)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("date", "2026-03-31"), ("time", "13:45"), ("color", "#00ff00"), ("range", "7"),
     ("number", "42"), ("month", "2026-05"), ("datetime-local", "2026-03-31T13:45")],
)  # fmt: skip
async def test_typing_sets_special_input_types(show, kind, value):
    tab = await show(
        f"<input type={kind} aria-label=It id=i min=0 max=9999-12-31>"
        if kind != "range"
        else "<input type=range aria-label=It id=i max=10>"
    )
    snapshot = await tab.snapshot()
    await tab.type(next(iter(snapshot.refs)), value)
    assert await tab.page.input_value("#i") == value


async def test_typing_malformed_date_reports_expected_format(show):
    tab = await show("<input type=date aria-label=Day>")
    with pytest.raises(ActionError, match="form"):
        await tab.type(next(iter((await tab.snapshot()).refs)), "next tuesday")


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("date", "2026-03-31", "12/03/2026"),
        ("color", "#00ff00", "no colour"),
        ("number", "42", "-"),
    ],
)
async def test_rejected_value_leaves_the_field_as_it_was(show, kind, value, text):
    tab = await show(f"<input type={kind} aria-label=It id=i value={value}>")
    with pytest.raises(ActionError, match="format"):
        await tab.type(next(iter((await tab.snapshot()).refs)), text)
    assert await tab.page.input_value("#i") == value


async def test_select_matches_full_or_partial_option_text(show):
    tab = await show(
        "<select aria-label=Port id=s><option>Hoorn<option>Enkhuizen<option value=x>Edam</select>"
    )
    port = ref(await tab.snapshot(), "select Port")
    await tab.select(port, "enkh")
    assert await tab.page.input_value("#s") == "Enkhuizen"
    with pytest.raises(ActionError, match="no option"):
        await tab.select(port, "Paris")


async def test_select_picks_from_custom_listbox(show):
    tab = await show("""<div role=combobox id=c aria-label=Crew tabindex=0 aria-expanded=false>choose</div>
        <ul role=listbox id=l hidden><li role=option>One<li role=option>Two</ul><script>
        c.onclick = () => { l.hidden = false };
        l.onclick = e => { c.textContent = e.target.textContent; l.hidden = true }</script>""")
    outcome = await tab.select(ref(await tab.snapshot(), "combobox Crew"), "Two")
    assert "Two" in outcome.changes
    assert await tab.page.inner_text("#c") == "Two"


async def test_check_is_idempotent_and_concise(show):
    boxes = "".join(f"<label><input type=checkbox>Box {n}</label>" for n in range(30))
    tab = await show(f"<p>{'words ' * 200}</p>{boxes}")
    box = ref(await tab.snapshot(), "checkbox Box 17")
    outcome = await tab.check(box)
    assert "Box 17, checked" in outcome.changes
    assert len(outcome.action + outcome.changes) / 4 <= 120
    assert (await tab.check(box)).changes == ""
    assert "checked" not in (await tab.check(box, on=False)).changes


async def test_fill_result_fits_in_120_tokens(show):
    fields = "".join(f"<label>Field {n} <input></label>" for n in range(40))
    tab = await show(f"<form>{fields}</form>")
    outcome = await tab.type(ref(await tab.snapshot(), "textbox Field 20"), "some text")
    assert "some text" in outcome.changes
    assert len(outcome.action + outcome.changes) / 4 <= 120


async def test_hidden_checkbox_is_toggled_through_its_label(show):
    tab = await show("""<style>input{position:absolute;opacity:0;width:0;height:0}</style>
        <input type=checkbox id=x><label for=x>Fancy</label>""")
    snapshot = await tab.snapshot()
    await tab.click(next(r for r, what in snapshot.refs.items() if "Fancy" in what))
    assert await tab.page.is_checked("#x")


async def test_upload_and_download(show, pages, tmp_path, downloads_dir):
    pages.put(
        "a,b",
        "/data.csv",
        content_type="text/csv",
        content_disposition="attachment; filename=data.csv",
    )
    file = tmp_path / "note.txt"
    file.write_text("hello")
    tab = await show("<input type=file aria-label=File><a href=/data.csv>get</a>")
    snapshot = await tab.snapshot()
    assert "note.txt" in (await tab.upload(ref(snapshot, "file File"), [file])).changes
    outcome = await tab.click(ref(snapshot, "link get"))
    saved = [done.path for done in await asyncio.gather(*tab.events.downloads)]
    assert any("data.csv" in event for event in outcome.events)
    assert [path.read_text() for path in saved] == ["a,b"]
    assert saved[0].parent == downloads_dir


async def test_history_goes_back(show, pages):
    target = pages.put("<h1>Second</h1>")
    tab = await show(f"<h1>First</h1><a href='{target}'>on</a>")
    await tab.click(ref(await tab.snapshot(), "link on"))
    assert "# First" in (await tab.back()).changes


async def test_wait_for_returns_on_text_or_times_out(show):
    tab = await show(
        "<p id=p></p><script>setTimeout(() => { p.textContent = 'arrived' }, 900)</script>"
    )
    await tab.wait_for("arrived", deadline=5)
    with pytest.raises(DeadlineExceeded):
        await tab.wait_for("never comes", deadline=0.3)


async def test_wait_for_pattern_matches_only_visible_text(show):
    tab = await show("""<p hidden>Price 40</p><p>Price <b id=p>52</b></p><script>
        setTimeout(() => { p.textContent = '41' }, 900)</script>""")
    outcome = await tab.wait_for(r"/Price 4\d/", deadline=5)
    assert "Price 41" in outcome.changes
    with pytest.raises(ActionError, match="not a valid pattern"):
        await tab.wait_for("/(/")


async def test_append_adds_text_after_existing_value(show):
    tab = await show("""<input aria-label=A value="one"><textarea aria-label=B>two</textarea>
        <div contenteditable aria-label=C>three <b>four</b></div>""")
    snapshot = await tab.snapshot()
    for name in "ABC":
        await tab.type(ref(snapshot, f"textbox {name}"), " more", append=True)
    text = (await tab.snapshot()).text
    assert "A = one more" in text
    assert "B = two more" in text
    assert "C = three four more" in text


async def test_slow_key_handlers_get_remaining_text_at_once(show, monkeypatch):
    monkeypatch.setattr("browser.page.user_input.KEYS_SECONDS", 0.05)
    tab = await show("""<input aria-label=Note><p></p><script>let keys = 0;
        onkeydown = () => { keys += 1; const until = performance.now() + 20; while (performance.now() < until); }</script>""")
    note = "Two boats left the quay before the tide turned."
    outcome = await tab.type(ref(await tab.snapshot(), "textbox Note"), note)
    assert "typed into" in outcome.action
    assert await tab.page.evaluate("document.querySelector('input').value") == note
    assert 0 < await tab.page.evaluate("keys") < len(note)


async def test_typing_works_on_focusable_non_fields(show):
    tab = await show("""<pre tabindex=0 id=t style="height:40px"></pre><script>
        t.onkeydown = e => { t.textContent += e.key === 'Enter' ? '!' : e.key }</script>""")
    outcome = await tab.type(ref(await tab.snapshot(), "clickable"), "ls", submit=True)
    assert "ls!" in outcome.changes


async def test_click_error_names_covering_element(show, monkeypatch):
    monkeypatch.setattr("browser.page.user_input.POINTER_MS", 200)
    tab = await show(
        """<button>Under</button><div id=veil style="position:fixed;inset:0;background:#0008"></div>"""
    )
    with pytest.raises(ActionError, match="veil"):
        await tab.click(ref(await tab.snapshot(), "button Under"))


async def test_clicking_disabled_button_reports_it(show, monkeypatch):
    monkeypatch.setattr("browser.page.user_input.POINTER_MS", 200)
    tab = await show("<button disabled>Off</button>")
    with pytest.raises(ActionError, match="disabled"):
        await tab.click(ref(await tab.snapshot(), "button Off"))


async def test_action_waits_for_late_changes(show):
    """The observation is made after a debounced search, a request or a transition."""
    tab = await show("""<button id=a onclick="setTimeout(() => { p.textContent = 'debounced' }, 350)">a</button>
        <button id=b onclick="fetch('/slow?0.4').then(() => { p.textContent = 'fetched' })">b</button><p id=p></p>""")
    snapshot = await tab.snapshot()
    assert "debounced" in (await tab.click(ref(snapshot, "button a"))).changes
    assert "fetched" in (await tab.click(ref(snapshot, "button b"))).changes


async def test_replacing_part_of_a_field_keeps_formatting(show):
    tab = await show("""<div contenteditable aria-label=A>It went <i>so</i> fast. The end.</div>
        <input aria-label=B value="one two three">""")
    snapshot = await tab.snapshot()
    assert "formatted" in snapshot.text
    await tab.type(ref(snapshot, "textbox A"), "slowly", instead="fast")
    await tab.type(ref(snapshot, "textbox A"), "", instead="The end.")
    await tab.type(ref(snapshot, "textbox B"), "2", instead="two")
    text = (await tab.snapshot()).text
    html = await tab.page.inner_html("div")
    assert html.startswith("It went <i>so</i> slowly.")
    assert "end" not in html
    assert "one 2 three" in text
    with pytest.raises(ActionError, match="is not on the page"):
        await tab.type(ref(snapshot, "textbox B"), "x", instead="four")
