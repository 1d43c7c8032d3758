"""What did not happen is not reported as done: each page here resists in its own way."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import pytest

from browser.errors import ActionError, RefError
from tests.browser.page.pages import ref


@pytest.mark.parametrize(
    "field",
    [
        "<input aria-label=F oninput=\"this.value='fixed'\" value=fixed>",
        "<input aria-label=F oninput=\"setTimeout(() => { this.value = '' }, 30)\">",
        "<input aria-label=F type=number value=0 oninput='this.value = 0'>",
        "<div aria-label=F role=textbox contenteditable oninput=\"this.textContent = ''\"></div>",
        "<textarea aria-label=F onkeydown='event.preventDefault()' onbeforeinput='event.preventDefault()'></textarea>",
    ],
    ids=["resets at once", "resets a little later", "a number stays 0", "rich text", "deaf"],
)
async def test_field_ignoring_input_raises(show, field):
    tab = await show(field)
    with pytest.raises(ActionError, match="did not accept the text"):
        await tab.type(ref(await tab.snapshot(), ""), "42")


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("<input aria-label=F maxlength=3>", "'abc'"),
        ("<input aria-label=F oninput=\"this.value = this.value.replace(/b/g, '')\">", "'acdef'"),
        ("<input aria-label=F type=password maxlength=3>", "something else"),
    ],
)
async def test_value_changed_by_field_is_reported(show, field, said):
    tab = await show(field)
    outcome = await tab.type(ref(await tab.snapshot(), ""), "abcdef")
    assert outcome.action.endswith(f"but the field now says {said}")


@pytest.mark.parametrize(
    "field",
    [
        "<input aria-label=F>",
        "<input aria-label=F type=password>",
        "<input aria-label=F type=date>",
        "<div aria-label=F role=textbox contenteditable>old</div>",
        "<input aria-label=F oninput=\"this.value = this.value.replace(/(\\d{4})-?(\\d\\d)-?(\\d\\d)/, '$1 $2 $3')\">",
    ],
)
async def test_accepted_input_is_reported_without_remark(show, field):
    tab = await show(field)
    outcome = await tab.type(ref(await tab.snapshot(), ""), "2026-03-31")
    assert outcome.action.startswith("typed into [e1] ")
    assert ", " not in outcome.action


LATER = "setTimeout(() => { %s }, 30)"
LIST = """<div role=combobox aria-label=F aria-expanded=false tabindex=0 onclick="list.hidden = false; this.ariaExpanded = true">Choose</div>
<ul id=list role=listbox hidden><li role=option onclick="list.hidden = true; const box = list.previousElementSibling; box.ariaExpanded = false; %s">Elm</li></ul>"""


@pytest.mark.parametrize(
    "box",
    [
        "<input type=checkbox aria-label=F onclick='event.preventDefault()'>",
        f"<input type=checkbox aria-label=F onchange='{LATER % 'this.checked = false'}'>",
        f"<input type=checkbox aria-label=F id=f onchange='{LATER % 'this.outerHTML = this.outerHTML'}'>",
        "<button role=switch aria-checked=false>F</button>",
        "<input type=radio aria-label=F onclick='event.preventDefault()'>",
    ],
    ids=["refuses", "unticks itself", "is drawn anew", "a switch", "a radio"],
)
async def test_checkbox_remaining_unchecked_is_reported(show, box):
    tab = await show(box)
    outcome = await tab.click(next(iter((await tab.snapshot()).refs)))
    assert outcome.action.endswith("but it is still not checked")


@pytest.mark.parametrize(
    "choice",
    [
        f"<select aria-label=F onchange='{LATER % 'this.selectedIndex = 0'}'><option>Choose<option>Elm</select>",
        LIST % "",
        LIST % f"box.textContent = 'Elm'; {LATER % 'box.textContent = `Choose`'}",
    ],
    ids=["select", "a list that takes nothing", "a list that takes it back"],
)
async def test_reverted_selection_is_reported(show, choice):
    tab = await show(choice)
    outcome = await tab.select(next(iter((await tab.snapshot()).refs)), "Elm")
    assert outcome.action.endswith("but it now reads 'Choose'")


async def test_accepted_selection_is_reported_without_remark(show):
    tab = await show(LIST % "box.textContent = 'Elm'")
    outcome = await tab.select(next(iter((await tab.snapshot()).refs)), "Elm")
    assert outcome.action.startswith("selected 'Elm' in [e1] combobox")
    assert "but" not in outcome.action
    tab = await show("""<input role=combobox aria-label=F value=Oak><ul role=listbox><li role=option aria-selected=true>Oak</li>
        <li role=option aria-selected=false onclick="document.querySelector('input').value = 'Elm'">Elm</li></ul>""")
    outcome = await tab.select(ref(await tab.snapshot(), "combobox F"), "Elm")
    assert "but" not in outcome.action  # although the list still marks the old option


async def test_cell_opening_field_on_first_key_receives_full_text(show):
    tab = await show("""<div role=grid><div role=row><div role=gridcell tabindex=0 onkeydown="if (!this.firstElementChild) {
        this.innerHTML = '<input value=2>'; setTimeout(() => this.firstChild.focus()) }">2</div></div></div>""")
    outcome = await tab.type(ref(await tab.snapshot(), "gridcell"), "175")
    assert outcome.action.startswith("typed into")
    assert "but" not in outcome.action
    assert await tab.page.evaluate("document.querySelector('input').value") == "175"


async def test_late_clearing_of_frame_field_is_detected(show):
    tab = await show(
        f"<iframe srcdoc=\"<input aria-label=F oninput='{LATER % 'this.value = ``'}'>\"></iframe>"
    )
    with pytest.raises(ActionError, match="did not accept the text: it is empty"):
        await tab.type(ref(await tab.snapshot(), "textbox F"), "Elm")


async def test_drag_without_effect_is_reported(show):
    tab = await show("<div draggable=true>card</div><div onclick=1>zone</div>")
    snap = await tab.snapshot()
    outcome = await tab.drag(ref(snap, "clickable card"), ref(snap, "clickable zone"))
    assert outcome.action.endswith("but nothing on the page changed")


async def test_button_disabled_on_press_is_reported(show):
    tab = await show("<button onmousedown='this.disabled = true'>Save</button>")
    outcome = await tab.click(ref(await tab.snapshot(), "button Save"))
    assert "but no click resulted" in outcome.action


async def test_leading_spaces_and_tabs_are_typed_verbatim(show):
    tab = await show("<textarea aria-label=Code></textarea><input aria-label=Next>")
    await tab.type(ref(await tab.snapshot(), ""), "  if x:\n\ty()  ")
    assert await tab.page.evaluate("document.querySelector('textarea').value") == "  if x:\n\ty()  "


async def test_click_hits_its_row_in_constantly_rerendered_list(show):
    """None of its elements lives longer than a call to the browser takes."""
    tab = await show("""<div id=l></div><p id=o></p><script>
        const draw = () => { l.innerHTML = ['Alto', 'Brio', 'Duna'].map((name) =>
          `<p>${name} <button data-name=${name}>Buy</button></p>`).join('') };
        draw(); setInterval(draw, 2);
        l.addEventListener('pointerdown', (e) => { o.textContent = `bought ${e.target.dataset.name}`; });
        </script>""")
    _list, _alto, brio, _duna = (await tab.snapshot()).refs
    outcome = await tab.click(brio)
    assert "bought Brio" in outcome.changes
    assert "the press went to" not in outcome.action


async def test_button_replaced_on_press_is_reported(show):
    tab = await show(
        '<main><button onmousedown="this.replaceWith(this.cloneNode(true))">Save</button></main>'
    )
    outcome = await tab.click(ref(await tab.snapshot(), "button Save"))
    assert "no click resulted" in outcome.action


@pytest.mark.parametrize(
    "body",
    [
        "<button><b>Save</b> <i>it</i></button>",
        "<label>Save <input type=checkbox></label>",
        "<button onmousedown=\"this.innerHTML = '<u>Save</u>'\">Save</button>",
        "<div role=combobox tabindex=0 aria-label=Save onmousedown=\"document.body.insertAdjacentHTML('beforeend', '<div style=position:fixed;inset:0>list</div>')\">one</div>",
    ],
)
async def test_successful_click_is_reported_without_remark(show, body):
    tab = await show(body)
    refs = (await tab.snapshot()).refs
    assert "went to" not in (await tab.click(next(iter(refs)))).action


async def test_press_reports_which_element_received_keys(show):
    tab = await show("<input aria-label=Name><p tabindex=0 onfocus='this.blur()' onclick=1>Shy</p>")
    snap = await tab.snapshot()
    assert "nothing has the focus" in (await tab.press("a")).action
    await tab.click(ref(snap, "textbox Name"))
    assert (await tab.press("a")).action == 'pressed a in textbox "Name"'
    assert (
        "but the focus is on nothing"
        in (await tab.press("a", next(r for r, w in snap.refs.items() if "Shy" in w))).action
    )


ROWS = "".join(
    f"<tr><td>{n}</td><td>Harbour station number {n}, {'opened in the year of its building ' * 5}</td>"
    f"<td><button onclick=\"document.title='edited {n}'\">Edit</button></td></tr>"
    for n in range(1000)
)


async def test_folded_rows_of_large_page_can_be_found_and_clicked(show):
    tab = await show(f"<h1>Stations</h1><table>{ROWS}</table><p>Imprint of the harbour board</p>")
    first = await tab.snapshot()
    assert "Imprint of the" not in first.text

    found = await tab.find("Edit 821")
    assert found.found
    row = next(line for line in found.text.splitlines() if "| 821 |" in line)
    button = row.partition("[")[2].partition(" ")[0]
    assert "number 830" in await tab.expand(button)
    outcome = await tab.click(button)
    assert outcome.action == f"clicked [{button}] button Edit"
    assert await tab.page.title() == "edited 821"

    await tab.scroll(to="bottom")
    last = await tab.snapshot()
    assert "Imprint of the harbour board" in last.text
    assert "number 17," not in last.text
    await tab.scroll(to="top")
    assert "number 17," in (await tab.snapshot(budget=None)).text


async def test_find_reports_text_not_on_page(show):
    tab = await show(f"<table>{ROWS[:400]}</table><p>The ferry leaves at nine.</p>")
    missing = await tab.find("Edit 1999")
    assert not missing.found
    assert "no match for 'Edit 1999'" in missing.text
    assert (await tab.find("ferry nine")).found
    assert not (await tab.find("has not been nine")).found


async def searched(tab, text):
    """FIND until the lists were searched to their ends, however slow the machine is."""
    while "FIND again" in (found := await tab.find(text)).text:
        pass
    return found


DRAWN_IN_PART = """<div id=list style="height:300px;overflow:auto;position:relative"><div style="height:15000px"></div></div>
<script>const draw = () => { const first = Math.floor(list.scrollTop / 30);
  list.querySelectorAll('p').forEach(p => p.remove());
  for (let n = first; n < Math.min(500, first + 12); n++) list.insertAdjacentHTML('beforeend',
    `<p style="position:absolute;margin:0;top:${n * 30}px">Berth <b>${n}</b> <button onclick="document.title='let ${n}'">Let</button></p>`) };
list.onscroll = () => setTimeout(draw, 5); draw()</script>"""
SHORTER = DRAWN_IN_PART.replace("15000", "6000").replace("500", "200")


async def test_find_scrolls_virtual_list_to_text(show):
    tab = await show(f"<h1>Berths</h1>{DRAWN_IN_PART}")
    found = await searched(tab, "Berth 412")
    assert found.found
    row = next(line for line in found.text.splitlines() if line.startswith("Berth 412 "))
    await tab.click(row.partition("[")[2].partition(" ")[0])
    assert await tab.page.title() == "let 412"


async def test_find_shows_controls_of_the_matching_row(show):
    row = "<li><p>Order {0}</p><p><label><input type=checkbox> paid</label></p><p><button>Edit</button></p></li>"
    tab = await show(f"<ul>{''.join(map(row.format, range(10, 30)))}</ul>")
    found = (await tab.find("Order 17")).text.splitlines()
    at = next(n for n, line in enumerate(found) if "Order 17" in line)
    assert "checkbox" in found[at + 1]
    assert "button: Edit" in found[at + 2]


async def test_find_restores_scroll_position_after_no_match(show):
    tab = await show(f"<h1>Berths</h1>{SHORTER}")
    await tab.page.evaluate("list.scrollTop = 900")
    assert not (await tab.find("Berth 1234")).found
    assert await tab.page.evaluate("list.scrollTop") == 900


COLUMNS = """<div role=grid style="width:420px"><div id=heads style="position:relative;height:24px;overflow:hidden"></div>
<div id=body style="height:200px;overflow-y:auto"><div id=cells style="height:900px;overflow-x:auto;position:relative"><div style="width:1400px;height:1px"></div></div></div></div>
<script>const cell = (x, y, words) => `<span style="position:absolute;white-space:nowrap;left:${x}px;top:${y}px">${words}</span>`;
const draw = () => { const left = Math.floor(cells.scrollLeft / 100), top = Math.floor(body.scrollTop / 30);
  const columns = [...Array(6).keys()].map((n) => left + n).filter((c) => c < 14), rows = [...Array(9).keys()].map((n) => top + n).filter((r) => r < 30);
  heads.innerHTML = columns.map((c) => cell(c * 100 - cells.scrollLeft, 0, `Week ${c}`)).join('');
  cells.querySelectorAll('span').forEach((s) => s.remove());
  cells.insertAdjacentHTML('beforeend', rows.flatMap((r) => columns.map((c) => cell(c * 100, r * 30, `r${r} c${c}`))).join('')); };
cells.onscroll = body.onscroll = () => setTimeout(draw, 5); draw()</script>"""


async def test_find_searches_virtual_columns_by_header_and_cell(show):
    tab = await show(f"<h1>Plan</h1>{COLUMNS}")
    assert "Week 7" not in (await tab.snapshot(budget=None)).text
    assert (await searched(tab, "Week 12")).found
    assert (await searched(tab, "r28 c13")).found
    assert "r28 c13" in (await tab.snapshot(budget=None)).text
    await tab.page.evaluate("cells.scrollLeft = 500; body.scrollTop = 300")
    assert not (await searched(tab, "Week 91")).found
    assert await tab.page.evaluate("[cells.scrollLeft, body.scrollTop]") == [500, 300]


MOVES_ITSELF = """<div id=text style="height:200px;overflow:hidden;position:relative"></div><script>
let top_ = 0; const draw = () => { const first = Math.floor(top_ / 20);
  const row = (n) => { const p = text.querySelector(`[n="${n}"]`) ?? document.createElement('p');
    p.setAttribute('n', n); p.textContent = `entry ${n}`; p.style = `position:absolute;margin:0;top:${n * 20 - top_}px`; return p };
  text.replaceChildren(...[...Array(12).keys()].map((n) => row(first + n)).filter((p) => p.getAttribute('n') < 400)); };
text.addEventListener('wheel', (e) => { e.preventDefault(); top_ = Math.max(0, Math.min(7800, top_ + e.deltaY / 2)); draw() }); draw()</script>"""


async def test_find_uses_wheel_where_no_scrollbar_exists(show):
    tab = await show(f"<h1>Log</h1>{MOVES_ITSELF}")
    snapshot = await tab.snapshot(budget=None)
    assert "entry 12" not in snapshot.text
    assert (await searched(tab, "entry 377")).found
    assert "entry 377" in (await tab.snapshot(budget=None)).text
    assert not (await searched(tab, "entry 401")).found
    assert await tab.page.evaluate("top_") == 0


async def test_scroll_uses_wheel_without_scrollbar_and_reports_no_movement(show):
    tab = await show(f"<h1>Log</h1><p>Above</p>{MOVES_ITSELF}")
    at = (await tab.find("entry 5")).text.partition("[")[2].split()[0]
    outcome = await tab.scroll(1, at)
    assert outcome.action.endswith("by the wheel")
    assert "entry 12" in outcome.changes
    await tab.scroll(ref=at, to="bottom")
    assert "entry 399" in (await tab.snapshot()).text

    tab = await show("<p>All of it.</p>")
    assert (await tab.scroll()).action == "scrolled, by the wheel, but nothing on the page changed"
    tab = await show("<p style='height:3000px'>Long.</p>")
    assert "but" not in (await tab.scroll(to="bottom")).action
    assert (
        await tab.scroll(1)
    ).action == "scrolled, but nothing moved: the end was already reached"


async def test_find_does_not_zoom_maps_with_the_wheel(show):
    tab = await show("""<div id=map style="height:300px;overflow:hidden;position:relative"></div><script>
      let zoom = 1; const draw = () => { map.innerHTML = [20, 100, 200].map((y) => `<b style="position:absolute;top:${150 + (y - 150) * zoom}px">Town ${y}</b>`).join('') };
      map.onwheel = (e) => { zoom *= 2 ** (-e.deltaY / 120); draw() }; draw()</script>""")
    assert not (await tab.find("Village")).found
    assert await tab.page.evaluate("zoom") == 1


async def test_find_does_not_match_number_inside_longer_number(show):
    place = (
        "<a class=berth onclick=1 style='position:absolute;left:4321px;width:80px;height:30px'></a>"
    )
    tab = await show(f"<p>Berth 1234 is free.</p>{place}{SHORTER}")
    await tab.page.evaluate("list.scrollTop = 4200")
    found = await searched(tab, "Berth 15")
    assert any(line.startswith("Berth 15 [") for line in found.text.splitlines())
    assert not (await searched(tab, "Berth 123456")).found
    assert not (await searched(tab, "berth 4321")).found  # that is the position of a control


async def test_find_searches_frames_of_truncated_page(show):
    tab = await show(
        f"<table>{ROWS}</table><iframe srcdoc='<p>The pilot answers on channel 71.</p>'></iframe>"
    )
    assert (await tab.find("channel 71")).found


async def test_element_appearing_on_hover_is_reported_not_clicked(show):
    tab = await show("""<div id=box onclick=1 style="width:120px;height:60px"><span id=s>Layers</span>
        <label id=l hidden style="position:fixed;left:0;top:0;width:300px;height:200px"><input type=checkbox id=c> Rivers</label></div>
        <script>box.onmouseenter = () => { s.hidden = true; l.hidden = false }</script>""")
    shown = await tab.snapshot()
    outcome = await tab.click(next(iter(shown.refs)))
    assert "but nothing was pressed: <label#l>" in outcome.action
    assert "checkbox: Rivers" in outcome.changes
    assert not await tab.page.is_checked("#c")


async def test_chosen_file_is_not_reported_as_uploaded(show, tmp_path):
    (tmp_path / "note.txt").write_text("hello")
    tab = await show("<form><label>File <input type=file></label><button>Send</button></form>")
    outcome = await tab.upload(ref(await tab.snapshot(), "file"), [tmp_path / "note.txt"])
    assert outcome.action.startswith("chose note.txt for")
    assert outcome.action.endswith("not sent yet: click the page's own button to send it")
    sends = (
        "<input type=file aria-label=File onchange=\"fetch('/', { method: 'POST', body: 'x' })\">"
    )
    tab = await show(sends)
    outcome = await tab.upload(ref(await tab.snapshot(), "file"), [tmp_path / "note.txt"])
    assert outcome.action.endswith("and the page sent a request")


async def test_click_point_outside_element_is_rejected(show):
    tab = await show("<button>Here</button><button onclick=\"document.title='hit'\">There</button>")
    here = ref(await tab.snapshot(), "button Here")
    with pytest.raises(ActionError, match=r"the point is outside it: it measures \d+×\d+ pixels"):
        await tab.click(here, at=(70, 5))
    assert await tab.page.title() == "Test"


async def test_candidates_are_mentioned_only_if_any_exist(show):
    tab = await show("<button>Only</button>")
    await tab.snapshot()
    with pytest.raises(RefError) as caught:
        await tab.click("e99")
    assert "candidates" not in caught.value.hint


@pytest.mark.parametrize(
    "slider",
    [
        "<div role=slider tabindex=0 aria-label=F aria-valuemin=0 aria-valuemax=100 aria-valuenow=20 style='width:90px;height:20px'></div>",
        "<div role=slider tabindex=0 aria-label=F aria-valuemin=0 aria-valuemax=100 aria-valuenow=95 style='width:90px;height:20px'></div>",
    ],
)
async def test_custom_slider_is_set_with_arrow_keys(show, slider):
    script = """<script>document.querySelector('[role=slider]').onkeydown = ({ key, target }) => {
      const step = { ArrowRight: 5, ArrowLeft: -5 }[key] ?? 0;
      target.ariaValueNow = Math.min(100, Math.max(0, Number(target.ariaValueNow) + step));
    };</script>"""
    tab = await show(slider + script)
    field = ref(await tab.snapshot(), "slider")
    outcome = await tab.type(field, "60")
    assert await tab.page.evaluate("document.querySelector('[role=slider]').ariaValueNow") == "60"
    assert outcome.action == f"typed into [{field}] slider F"
    outcome = await tab.type(field, "62")
    assert outcome.action.endswith("but its value is 60")
    with pytest.raises(ActionError, match="out of range \\(from 0 to 100\\)"):
        await tab.type(field, "300")


async def test_date_spinbutton_accepts_digits(show):
    tab = await show(
        "<span role=spinbutton tabindex=0 aria-label=month id=m style='padding:5px'>mm</span><script>"
        "m.onkeydown = ({ key }) => { if (/^\\d$/.test(key)) { m.ariaValueNow = key; m.textContent = '0' + key; } };</script>"
    )
    outcome = await tab.type(ref(await tab.snapshot(), "spinbutton"), "3")
    assert await tab.page.evaluate("m.ariaValueNow") == "3"
    assert outcome.action.endswith("spinbutton month")


async def test_svg_shape_is_not_covered_by_its_label(show):
    tab = await show(
        "<svg width=200 height=60><g><rect id=r width=120 height=30 fill=teal></rect>"
        "<text x=40 y=20>inject</text></g></svg>"
        "<script>r.addEventListener('click', () => { document.title = 'hit'; });</script>"
    )
    snapshot = await tab.snapshot()
    assert "covered" not in snapshot.text
    await tab.click(ref(snapshot, "clickable"))
    assert await tab.page.title() == "hit"


async def test_button_shown_on_hover_is_hovered_before_click(show):
    tab = await show(
        "<style>.act { visibility: hidden } .row:hover .act { visibility: visible }</style>"
        "<div class=row>a.txt <button class=act onclick=\"document.title='gone'\">Delete</button></div>"
    )
    button = await tab.ref_of(".act")
    await tab.click(button)
    assert await tab.page.title() == "gone"


async def test_menu_item_removed_on_press_is_reported_for_checking(show):
    tab = await show("""<p id=o>light</p><div id=m role=menuitem tabindex=0
        onmousedown="o.textContent = 'dark'; m.remove()">Dark theme</div>""")
    outcome = await tab.click(ref(await tab.snapshot(), "menuitem Dark theme"))
    assert outcome.action.endswith(
        "the page removed it when it was pressed: check whether that worked"
    )
    assert "dark" in outcome.changes


async def test_click_that_navigates_is_reported_without_remark(show, pages):
    target = pages.put("<h1>Settings</h1>")
    tab = await show(f"<a href='{target}'>Settings</a>")
    assert (await tab.click(ref(await tab.snapshot(), "link Settings"))).action.endswith(
        "link Settings"
    )
