"""Pointer actions other than clicking: hovering, scrolling, dragging, holding down."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import re

from tests.browser.page.pages import ref


async def test_press_hover_and_scroll_take_effect(show):
    tab = await show("""<input aria-label=A onkeydown="p.textContent=event.key"><p id=p></p>
        <div onmouseover="p.textContent='over'" onclick=1 style="width:80px">here</div>
        <div style="height:4000px"></div><p>the end</p>""")
    snapshot = await tab.snapshot()
    assert "ArrowDown" in (await tab.press("ArrowDown", ref(snapshot, "textbox A"))).changes
    assert "over" in (await tab.hover(ref(snapshot, "clickable here"))).changes
    await tab.scroll(2)
    assert await tab.page.evaluate("scrollY") > 1000
    await tab.scroll(to="top")
    assert await tab.page.evaluate("scrollY") == 0
    await tab.scroll(to="the end")
    assert await tab.page.evaluate("scrollY") > 1000


async def test_drag_accepts_offset_or_target_element(show):
    tab = await show("""<div id=d draggable=true style="width:40px;height:40px;background:red">card</div>
        <div id=z onclick=1 style="width:90px;height:90px;background:#eee">zone</div><p id=p></p><script>
        z.ondragover = e => e.preventDefault(); z.ondrop = () => { p.textContent = 'dropped' };</script>""")
    snapshot = await tab.snapshot()
    outcome = await tab.drag(ref(snapshot, "clickable card"), ref(snapshot, "clickable zone"))
    assert "dropped" in outcome.changes


async def test_jquery_ui_sortable_items_are_dragged_past_target_middle(show):
    item = "<li class=ui-sortable-handle>"
    tab = await show(f"""<ul id=u class=ui-sortable style="user-select:none">{item}one{item}two{item}three</ul><p id=p></p><script>
        u.addEventListener('mousedown', () => 1);
        addEventListener('mouseup', e => {{ const {{ top, height }} = e.target.getBoundingClientRect();
          p.textContent = (e.clientY < top + height / 2 ? 'before ' : 'after ') + e.target.textContent }})</script>""")
    snapshot = await tab.snapshot()
    one, three = ref(snapshot, "clickable one"), ref(snapshot, "clickable three")
    assert "after three" in (await tab.drag(one, three)).changes
    assert "before one" in (await tab.drag(three, one)).changes


async def test_click_can_hold_for_a_long_press(show):
    tab = await show("""<button id=b>Hold</button><p id=o></p><script>let at;
        b.onpointerdown = () => { at = performance.now() };
        b.onpointerup = () => { o.textContent = performance.now() - at >= 600 ? 'long' : 'short' }</script>""")
    button = ref(await tab.snapshot(), "button Hold")
    assert "short" in (await tab.click(button)).changes
    outcome = await tab.click(button, seconds=0.7)
    assert "long" in outcome.changes
    assert "held for 0.7 s" in outcome.action


async def test_drag_can_start_with_a_long_press(show):
    tab = await show("""<div id=h onclick=1 style="width:30px;height:30px;background:red"></div><p id=o></p><script>let lifted = false, timer;
        h.onpointerdown = () => { timer = setTimeout(() => { lifted = true }, 1500) };
        addEventListener('pointerup', e => { clearTimeout(timer); o.textContent = lifted ? 'moved' : 'not lifted'; lifted = false })</script>""")
    handle = ref(await tab.snapshot(), "clickable")
    assert "moved" in (await tab.drag(handle, by=(60, 0), seconds=1.6)).changes


async def test_spinner_arrows_and_slider_knobs_are_operable(show):
    tab = await show("""<div role=spinbutton aria-label=Guests aria-valuenow=2 id=s><button aria-label=more>+</button></div>
        <div role=slider aria-label=Volume aria-valuenow=5 id=v><span class=knob onmousedown="1" style="display:block;width:9px;height:9px"></span></div><script>
        document.querySelector('button').onclick = () => s.ariaValueNow = +s.ariaValueNow + 1</script>""")
    snapshot = await tab.snapshot()
    assert "slider: Volume = 5" in snapshot.text
    assert ref(snapshot, "clickable (.knob")
    assert "Guests = 3" in (await tab.click(ref(snapshot, "button more"))).changes


async def test_horizontal_strip_scrolls_and_reveals_items(show):
    tiles = "".join(f"<button style='flex:none;width:90px'>{n}</button>" for n in range(8))
    tab = await show(f"""<div id=s style="display:flex;overflow-x:auto;width:200px">{tiles}</div><p id=o></p><script>
        s.onclick = e => {{ o.textContent = 'pressed ' + e.target.textContent }}</script>""")
    snapshot = await tab.snapshot()
    assert re.search(r"scroller: \(0 to 200 of \d+ pixels sideways\)", snapshot.text)
    assert "pressed 7" in (await tab.click(ref(snapshot, "button 7"))).changes
    await tab.scroll(-1, ref(snapshot, "button 7"))
    assert 0 < await tab.page.evaluate("s.scrollLeft") < 400
    await tab.scroll(ref=ref(snapshot, "clickable"), to="top")
    assert await tab.page.evaluate("s.scrollLeft") == 0
