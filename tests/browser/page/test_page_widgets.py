"""Widgets drawn by libraries: each is one element with name and state, operated generically."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import pytest

from browser.errors import ActionError, DeadlineExceeded
from tests.browser.page.pages import ref

TREE = """<ul role=tree><li role=treeitem aria-expanded=true tabindex=-1 onclick="document.title += '/fruits'">
<div style="cursor:pointer"><i onclick="document.title='arrow'" title=arrow>&#9656;</i><span style="cursor:pointer">Fruits</span></div>
<ul role=group><li role=treeitem tabindex=-1 onclick="event.stopPropagation(); document.title='apple'"><div style="cursor:pointer"><span>Apple</span></div></li>
<li role=treeitem tabindex=-1><div>Pear</div></li><li role=treeitem tabindex=-1><div>Plum</div></li></ul></li></ul>"""


async def test_tree_items_have_own_names_and_click_targets(show):
    tab = await show(TREE)
    shown = await tab.snapshot()
    assert "treeitem: Fruits, expanded]" in shown.text
    assert shown.text.count("Apple") == 1
    await tab.click(ref(shown, "treeitem Fruits"))
    assert await tab.page.title() == "Test/fruits"
    await tab.click(ref(shown, "treeitem Apple"))
    assert await tab.page.title() == "apple"


async def test_checkmark_over_checkbox_is_one_control(show):
    tab = await show("""<table><tr><td><span class=box style="position:relative;display:inline-block;width:18px;height:18px;cursor:pointer">
        <input type=checkbox aria-label="Row 1" style="position:absolute;inset:0;opacity:0;width:100%;height:100%;margin:0">
        <span style="display:block;width:16px;height:16px;border:1px solid"></span></span><td>Ann</table>""")
    shown = await tab.snapshot()
    assert shown.text == "| [e1 checkbox: Row 1, label only] | Ann |"
    assert "checkbox: Row 1, checked" in (await tab.check("e1")).changes


async def test_wrapper_around_single_field_is_not_a_separate_control(show):
    tab = await show("""<div onclick="q.focus()" style="cursor:pointer;padding:9px"><div onclick=1 style="position:relative">
        <span style="position:absolute;inset:0">Pick</span><input id=q aria-label=City placeholder="Any city"></div></div>""")
    shown = await tab.snapshot()
    assert "[e1 textbox: City, placeholder: Any city, label only]" in shown.text
    assert list(shown.refs) == ["e1"]
    assert "focused" in (await tab.click("e1")).changes  # through the element on top of it


async def test_nested_wrappers_with_same_text_are_one_control(show):
    tab = await show(
        """<div onclick="document.title='a'" style="width:600px"><div onclick=1><b onclick="document.title += 'b'">Berth</b></div></div>"""
    )
    shown = await tab.snapshot()
    assert shown.text == "[e1 clickable: Berth]"
    await tab.click("e1")
    assert await tab.page.title() == "a"
    # A tab with its own close button, in a clickable wrapper and around a clickable caption.
    tab = await show("""<style>div { width: 200px }</style><div tabindex=-1 onmousedown=1><div role=tab tabindex=0>
        <div onmousedown=1><span onclick=1>Tides</span><a role=button onclick=1>x</a></div></div></div>""")
    assert (await tab.snapshot()).text == "[e1 tab: Tides[e2 button: x]]"


async def test_date_field_shows_expected_format(show):
    tab = await show("<input type=date aria-label=Arrival>")
    assert (await tab.snapshot()).text == "[e1 date: Arrival, as YYYY-MM-DD, label only]"


# Options that are drawn are divs; those with roles are hidden ones for screen readers.
COMBOBOX = """<div role=combobox aria-label=City aria-expanded=false tabindex=0 id=c style="width:200px;border:1px solid" onclick="open_()">none</div>
<p role=treeitem>Lima</p><div id=pop hidden style="position:absolute;width:200px"><div id=list style="height:100px;overflow:hidden"></div></div>
<script>const names = Array.from({length: 60}, (_, n) => 'Harbour ' + n); let top_ = 0;
const draw = () => { const first = Math.floor(list.scrollTop / 20); list.innerHTML = '<div style="height:1200px;position:relative">' + names.slice(first, first + 6).map((name, n) =>
  `<div onclick="choose('${name}')" style="cursor:pointer;position:absolute;top:${(first + n) * 20}px;height:20px"><div>${name}</div></div>`).join('') + '</div>' };
const open_ = () => { pop.hidden = false; c.ariaExpanded = 'true'; draw() };
const close_ = () => { pop.hidden = true; c.ariaExpanded = 'false' };
const choose = (name) => { c.textContent = name; KEEP || close_() };
list.onscroll = draw; document.onkeydown = (e) => e.key === 'Escape' && close_();</script>"""


# Chosen on the press, after which the list is drawn anew: no click results.
ON_PRESS = "onmousedown=\"choose('${name}'); draw()\""


@pytest.mark.parametrize(
    ("keep", "chosen"),
    [("true", ""), ("false", ""), ("false", ON_PRESS)],
    ids=["stays open", "closes itself", "chooses on the press"],
)
async def test_select_picks_custom_option_and_closes_list(show, keep, chosen):
    by_click = "onclick=\"choose('${name}')\""
    tab = await show(COMBOBOX.replace("KEEP", keep).replace(by_click, chosen or by_click))
    outcome = await tab.select(ref(await tab.snapshot(), "combobox City"), "Harbour 47")
    assert outcome.action.startswith("selected 'Harbour 47' in [e1] combobox City")
    assert await tab.page.evaluate("[c.textContent, pop.hidden]") == ["Harbour 47", True]


async def test_missing_custom_option_lists_choices_and_closes_list(show):
    tab = await show(COMBOBOX.replace("KEEP", "false"))
    with pytest.raises(ActionError, match="there are: Harbour 0; Harbour 1; "):
        await tab.select(ref(await tab.snapshot(), "combobox City"), "Lima")
    assert await tab.page.evaluate("[c.textContent, pop.hidden]") == ["none", True]


CHIPS = """<div role=combobox aria-label=Skills aria-expanded=false tabindex=-1 onclick="pop.hidden = false"><span id=chips></span>
<input id=q></div><div id=pop role=listbox hidden><p role=option>Baking</p><p role=option>Sewing</p></div>
<script>pop.onclick = (e) => { chips.textContent += e.target.textContent + ' '; pop.hidden = true };
q.onkeydown = (e) => { if (e.key === 'Enter') chips.textContent += q.value }</script>"""


async def test_custom_multiselect_picks_options_one_by_one(show):
    tab = await show(CHIPS)
    outcome = await tab.select(ref(await tab.snapshot(), "combobox Skills"), "Baking; Sewing")
    assert "but" not in outcome.action
    assert await tab.page.evaluate("chips.textContent") == "Baking Sewing "


async def test_cell_with_double_click_list_accepts_option(show):
    tab = await show("""<table><tr><td tabindex=0 id=c ondblclick="pop.hidden = false">Steel</table><ul id=pop role=listbox hidden>
        <li role=option>Brass<li role=option>Zinc</ul><script>pop.onclick = (e) => { c.textContent = e.target.textContent; pop.hidden = true }</script>""")
    outcome = await tab.select(ref(await tab.snapshot(), "clickable Steel"), "Zinc")
    assert "but" not in outcome.action
    assert await tab.page.evaluate("c.textContent") == "Zinc"
    # A cell that opens a field at the first of two presses gets both.
    await tab.page.evaluate(
        """c.onclick = () => { c.firstElementChild || (c.innerHTML = '<input value=9 style="width:40px">') }"""
    )
    assert "but" not in (await tab.click(await tab.ref_of("#c"), count=2)).action


async def test_option_is_picked_from_the_list_of_its_own_field(show):
    """The list may open by its button alone; chips may show the choice, and the field is hidden."""
    tab = await show("""<div role=combobox tabindex=0 onclick="document.title = 'another'">Port</div>
        <div style="height:30px"><b id=chips></b><input id=f role=combobox readonly style="width:20px;opacity:0" aria-label=Skills><button onclick="pop.hidden = false">+</button></div>
        <ul id=pop hidden><li role=option>Baking<li role=option>Sewing</ul>
        <script>pop.onclick = (e) => { chips.innerHTML += `<i role=button>${e.target.textContent}</i>`; pop.hidden = true }</script>""")
    outcome = await tab.select(await tab.ref_of("#f"), "Baking")
    assert outcome.action.startswith("selected 'Baking' in")
    assert "but" not in outcome.action
    assert await tab.page.evaluate("[chips.textContent, document.title]") == ["Baking", "Test"]


async def test_slider_with_hidden_input_is_set_by_keys(show):
    tab = await show("""<div role=slider id=s tabindex=0 aria-label=Depth aria-valuenow=3 style="width:20px;height:20px"><input hidden value=3></div>
        <script>s.onkeydown = (e) => { s.ariaValueNow = Number(s.ariaValueNow) + (e.key === 'ArrowRight') - (e.key === 'ArrowLeft') }</script>""")
    assert "but" not in (await tab.type(await tab.ref_of("#s"), "6")).action
    assert await tab.page.evaluate("s.ariaValueNow") == "6"


async def test_typing_into_custom_combobox_reaches_its_input(show):
    tab = await show(CHIPS)
    box = ref(await tab.snapshot(), "combobox Skills")
    assert "could not be checked" not in (await tab.type(box, "Oven", submit=True)).action
    assert await tab.page.evaluate("chips.textContent") == "Oven"


async def test_number_is_typed_key_by_key(show):
    tab = await show("<input type=number aria-label=Year onkeyup='p.textContent = value'><p id=p>")
    assert "2001" in (await tab.type(ref(await tab.snapshot(), "spinbutton Year"), "2001")).changes
    assert await tab.page.evaluate("p.textContent") == "2001"


async def test_css_content_names_otherwise_unnamed_control(show):
    tab = await show("""<style>b::before { content: "Normal" } i::before { content: "\ue001" }</style>
        <b role=button tabindex=0></b> <i role=button tabindex=0></i>""")
    assert "[e1 button: Normal]" in (await tab.snapshot()).text
    assert "\ue001" not in (await tab.snapshot()).text


async def test_highlight_selects_text_in_frame(show):
    tab = await show("<p>Page</p><iframe srcdoc='<p contenteditable>in a wood</p>'></iframe>")
    await tab.snapshot()
    await tab.highlight("wood")
    assert await tab.page.frames[1].evaluate("String(getSelection()).trim()") == "wood"


async def test_self_rendering_editor_receives_text_verbatim(show):
    tab = await show("""<div id=e role=textbox aria-label=Code tabindex=0>old {}</div><script>let all = false;
        e.onkeydown = (k) => { if (k.ctrlKey && k.key === 'a') all = true; if (k.key === '{') { e.textContent += '{}' } };
        e.onpaste = (p) => { p.preventDefault(); e.textContent = (all ? '' : e.textContent) + p.clipboardData.getData('text/plain'); all = false }</script>""")
    outcome = await tab.type(ref(await tab.snapshot(), "textbox Code"), "if (x) {\n  y\n}")
    assert outcome.action == "typed into [e1] textbox Code"
    assert await tab.page.evaluate("e.textContent") == "if (x) {\n  y\n}"


async def test_wait_for_matches_snapshot_text(show):
    tab = await show("""<p id=p>State: <b>open</b> <span style="opacity:0">closed</span></p><button>Go</button>
        <script>setTimeout(() => { p.querySelector('b').textContent = 'sent' }, 400)</script>""")
    await tab.wait_for(r"/State: (sent|lost)$/", deadline=8)
    await tab.wait_for("button: go", deadline=1)
    with pytest.raises(DeadlineExceeded):
        await tab.wait_for("closed", deadline=0.3)
    assert (await tab.wait_for("", deadline=0.2)).action == "waited 0.2 s"


async def test_drag_follows_path_points(show):
    tab = await show("""<canvas id=c width=200 height=200 style="border:0"></canvas><script>let down = false, seen = [];
        c.onmousedown = () => { down = true }; c.onmousemove = (e) => { if (down) seen.push([e.offsetX, e.offsetY]) };
        c.onmouseup = () => { down = false; document.title = 'let go' }</script>""")
    canvas = ref(await tab.snapshot(), "canvas")
    # If `at` is given, it is the first point of the path.
    for drawn in (
        {"path": [(10, 10), (60, 10), (60, 90)]},
        {"at": (10, 10), "path": [(60, 10), (60, 90)]},
    ):
        await tab.drag(canvas, **drawn)
        seen = await tab.page.evaluate("seen.splice(0).map(([x, y]) => x + ',' + y)")
        assert {"60,10", "60,90"} <= set(seen)
        assert seen[-1] == "60,90"
    assert await tab.page.title() == "let go"


async def test_scrolling_to_missing_text_raises(show):
    tab = await show("<p>One</p>")
    with pytest.raises(ActionError, match="'Two' is not on the page"):
        await tab.scroll(to="Two")


SLOTTED = """<x-switch>Subscribe</x-switch> <x-button>Cancel <b>it</b></x-button><script>
const made = (name, inner) => customElements.define(name, class extends HTMLElement {
  constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = inner; } });
made('x-switch', `<label><input type=checkbox role=switch style="position:absolute;opacity:0"><span style="display:inline-block;width:40px;height:20px;background:gray"></span><div><slot></slot></div></label>`);
made('x-button', `<button part=base><span><slot name=prefix></slot></span><span><slot></slot></span></button>`);
document.querySelector('x-button').onclick = () => { document.title = 'cancelled' }</script>"""


async def test_slotted_text_names_component_control_and_receives_click(show):
    tab = await show(SLOTTED)
    shown = await tab.snapshot()
    assert shown.text == "[e1 switch: Subscribe] [e2 button: Cancel it]"
    assert "switch: Subscribe, checked" in (await tab.click("e1")).changes
    await tab.click("e2")
    assert await tab.page.title() == "cancelled"


async def test_input_and_its_drawn_label_are_one_control(show):
    stars = "".join(
        f"<input type=radio name=s id=s{n} aria-label='{n} stars' style='position:absolute;width:0;height:0;opacity:0'>"
        f"<label for=s{n} style='display:inline-block;width:20px;height:20px;background:gold'></label>"
        for n in (1, 2)
    )
    tab = await show(f"{stars}<label for=p onclick=1>Plan</label><button id=p>Basic</button>")
    shown = await tab.snapshot()
    assert [*shown.refs.values()] == [
        "radio 1 stars",
        "radio 2 stars",
        "button Basic (labelled: Plan)",
    ]
    assert "2 stars, checked" in (await tab.click(ref(shown, "radio 2 stars"))).changes


async def test_unlabelled_radio_is_identified_by_its_row(show):
    tab = await show(
        "<table><tr><th>Choose<th>Boat<tr><td><input type=radio class=r-in data-p=a><td>Alba</table>"
    )
    assert "| [e1 radio] | Alba |" in (await tab.snapshot()).text


async def test_child_filling_a_control_is_not_a_separate_control(show):
    tab = await show("""<div role=slider tabindex=0 aria-label=Low aria-valuenow=2 onclick=1
        style="width:30px;height:30px;background:teal"><div onclick=1 style="width:30px;height:30px"></div></div>""")
    assert (await tab.snapshot()).text == "[e1 slider: Low = 2, label only]"


async def test_hidden_select_is_set_through_its_custom_list(show):
    tab = await show("""<label for=s>Tree</label><div><select id=s hidden><option>Choose<option>Elm<option>Yew</select>
        <div role=combobox tabindex=0 aria-expanded=false id=c>Choose</div><div role=listbox id=l hidden><div role=option>Elm</div><div role=option>Yew</div></div></div>
        <script>c.onclick = () => { l.hidden = false; c.ariaExpanded = true };
        l.onclick = (e) => { c.textContent = document.title = e.target.textContent; l.hidden = true; c.ariaExpanded = false }</script>""")
    await tab.page.evaluate("s.hidden = false; s.style = 'width:1px;height:1px;opacity:0'")
    shown = await tab.snapshot()
    assert "select" not in shown.text
    await tab.select(ref(shown, "combobox"), "Yew")
    assert await tab.page.title() == "Yew"


async def test_drag_without_target_is_rejected(show):
    tab = await show("<div draggable=true>Box</div>")
    await tab.snapshot()
    with pytest.raises(ActionError, match="has no target"):
        await tab.drag("e1")


async def test_controls_are_named_by_inline_parts_and_hidden_labels(show):
    tab = await show("""<div style="display:flex" role=button tabindex=0>March, <i>2027</i></div>
        <button aria-labelledby=l><svg width=20 height=20></svg><span id=l style="display:none">Bold</span></button>""")
    text = (await tab.snapshot()).text
    assert "button: March, 2027]" in text
    assert "button: Bold, label only]" in text


async def test_clipboard_textarea_beside_editor_is_not_the_editor(show):
    tab = await show("""<div style="width:300px;height:100px"><textarea style="position:absolute;left:-9999px"></textarea>
        <div contenteditable=true style="height:60px">Old text</div></div>""")
    assert "(editor)" not in (await tab.snapshot()).text


@pytest.mark.parametrize(
    ("html", "text", "remark", "value"),
    [
        ("""<input maxlength=1 oninput="n.focus()"><input id=n maxlength=1>""", "40", "", "40"),
        ("""<input value=3 oninput="value ||= '3'">""", "7", "", "7"),
        ("<input type=number value=1 oninput=\"value = value || '1'\">", "5", "", "5"),
        (
            """<input style="position:absolute;left:-999px">""",
            "x",
            "this field is not visible",
            "x",
        ),
        (
            """<input value=3 onfocus="hidden = true; n.hidden = false; n.focus()"><input id=n hidden onblur="value += ',00'">""",
            "7",
            "",
            "37",
        ),
    ],
    ids=[
        "one character a field",
        "put back when cleared",
        "number put back when cleared",
        "off the page",
        "put in another's place",
    ],
)
async def test_typed_text_is_verified_in_the_receiving_field(show, html, text, remark, value):
    tab = await show(html)
    outcome = await tab.type(await tab.ref_of("input:first-of-type"), text)
    assert remark in outcome.action
    assert remark or " but " not in outcome.action
    values = "[...document.querySelectorAll('input')].map((one) => one.value).join('')"
    assert await tab.page.evaluate(values) == value
