"""A ref identifies its element as long as that is certain, and then fails with its name."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import pytest

from browser.errors import RefError
from tests.browser.page.pages import ref

ROWS = """<ul id=list></ul><p id=did></p><script>
let names = ['Ada', 'Bo', 'Cy'];
const render = () => { list.innerHTML = names.map(n =>
  `<li>${n} <button onclick="did.textContent='removed ${n}'">Remove</button></li>`).join(''); };
render();</script>"""


async def test_ref_stays_with_element_across_snapshots(show):
    tab = await show("<button>One</button><button>Two</button>")
    before = await tab.snapshot()
    await tab.page.evaluate("document.body.prepend(document.createElement('button'))")
    assert ref(await tab.snapshot(), "button Two") == ref(before, "button Two")


async def test_refs_hit_the_right_row_or_fail_after_rerenders(show):
    tab = await show(ROWS)
    snapshot = await tab.snapshot()
    refs = [r for r, what in snapshot.refs.items() if what == "button Remove"]
    names = ["Ada", "Bo", "Cy"]
    hits = failures = 0
    for turn in range(20):
        order = (
            names[turn % 3 :] + names[: turn % 3] if turn % 4 else [n for n in names if n != "Bo"]
        )
        await tab.page.evaluate(
            "order => { names = order; render(); did.textContent = ''; }", order
        )
        index = turn % 3
        try:
            await tab.click(refs[index])
        except RefError:
            failures += 1
            assert names[index] not in order
            continue
        assert await tab.page.inner_text("#did") == f"removed {names[index]}"
        hits += 1
    assert hits > 14
    assert failures > 0


async def test_recycled_row_element_is_not_clicked(show):
    """Virtual lists keep their nodes and change their content."""
    tab = await show(ROWS)
    snapshot = await tab.snapshot()
    first = ref(snapshot, "button Remove")
    await tab.page.evaluate("""() => { const item = list.firstChild;
        item.firstChild.data = 'Zoe '; list.append(list.children[1]); }""")
    with pytest.raises(RefError):
        await tab.click(first)


async def test_replaced_icon_is_not_confused_with_another(show):
    icons = "<div class=b onclick=1><svg class=icon-add></svg></div><div class=b onclick=1><svg class=icon-drop></svg></div>"
    tab = await show(
        f"<style>.b {{ width: 20px; height: 20px }}</style><section id=p>{icons}</section>"
    )
    add = ref(await tab.snapshot(), "clickable (.b icon icon-add")
    later = icons.replace("div", "button", 1).replace("/div", "/button", 1)
    await tab.page.evaluate("later => { p.innerHTML = later }", later)
    with pytest.raises(RefError, match="left the page"):
        await tab.click(add)


async def test_lost_ref_error_lists_candidates(show):
    tab = await show("<div id=d><button>Save draft</button><button>Send</button></div>")
    lost = ref(await tab.snapshot(), "button Save draft")
    await tab.page.evaluate("d.innerHTML = '<button>Save as draft</button><button>Send</button>'")
    with pytest.raises(RefError) as failure:
        await tab.click(lost)
    assert any("Save as draft" in line for line in failure.value.candidates)


async def test_lost_ref_candidates_are_usable(show):
    tab = await show("<div id=d><button>Save draft</button></div><p id=o></p>")
    lost = ref(await tab.snapshot(), "button Save draft")
    await tab.page.evaluate(
        """d.innerHTML = '<button onclick="o.textContent=1">Save as draft</button>'"""
    )
    with pytest.raises(RefError) as failure:
        await tab.click(lost)
    await tab.click(failure.value.candidates[0].split("]")[0][1:])
    assert await tab.page.inner_text("#o") == "1"


async def test_refs_expire_after_navigation(show, pages):
    other = pages.put("<button>Elsewhere</button>")
    tab = await show(f"<a href='{other}'>go</a><button>Here</button>")
    snapshot = await tab.snapshot()
    old = ref(snapshot, "button Here")
    await tab.click(ref(snapshot, "link go"))
    with pytest.raises(RefError):
        await tab.click(old)


async def test_refs_are_not_reused_across_documents(show, pages):
    other = pages.put("<button>Elsewhere</button>")
    tab = await show(f"<a href='{other}'>go</a>")
    snapshot = await tab.snapshot()
    await tab.click(ref(snapshot, "link go"))
    assert not set(snapshot.refs) & set((await tab.snapshot()).refs)


async def test_same_day_in_another_month_is_a_different_ref(show):
    tab = await show("""<b id=m>May</b><table id=t></table><script>
        const draw = (month) => { m.textContent = month;
          t.innerHTML = '<tr>' + [1, 2, 3].map(d => `<td onclick="1">${d}</td>`).join('') + '</tr>' };
        draw('May')</script>""")
    day = ref(await tab.snapshot(), "clickable 2")
    await tab.page.evaluate("draw('May')")
    await tab.click(day)
    await tab.page.evaluate("draw('June')")
    with pytest.raises(RefError):
        await tab.click(day)


async def test_rerendered_calendar_keeps_day_refs(show):
    tab = await show("""<div id=c></div><script>let chosen = 0;
        const draw = (month) => { c.innerHTML = `<b>${month}</b><table><tr>` + [1, 2, 3, 4].map(d =>
          `<td class="${d === chosen ? 'selected' : ''}" onclick="chosen = ${d}; draw('${month}')">${d}</td>`).join('') + '</tr></table>' };
        draw('May')</script>""")
    before = await tab.snapshot()
    outcome = await tab.click(ref(before, "clickable 3"))
    assert outcome.changes.count("\n") == 0
    assert f"[{ref(before, 'clickable 3')} clickable: 3, selected]" in outcome.changes
    await tab.page.evaluate("draw('June')")
    assert not set(before.refs) & set((await tab.snapshot()).refs)


async def test_month_in_table_head_distinguishes_day_refs(show):
    tab = await show("""<div id=c></div><script>
        const draw = (month) => { c.innerHTML = `<table><thead><tr><th>${month}<tbody><tr>` + [1, 2].map(d =>
          `<td onclick="1">${d}</td>`).join('') + '</table>' };
        draw('February')</script>""")
    day = ref(await tab.snapshot(), "clickable 2")
    await tab.page.evaluate("draw('March')")
    with pytest.raises(RefError):
        await tab.click(day)


async def test_element_returning_after_replacement_gets_a_new_ref(show):
    tab = await show("<div id=d><button>Save</button></div>")
    saved = ref(await tab.snapshot(), "button Save")
    await tab.page.evaluate(
        """() => { window.old = d.firstChild; d.innerHTML = '<button>Save</button>' }"""
    )
    assert ref(await tab.snapshot(), "button Save") == saved
    await tab.page.evaluate("d.append(old)")
    refs = [r for r, what in (await tab.snapshot()).refs.items() if what == "button Save"]
    assert len(set(refs)) == 2


async def test_empty_cell_keeps_ref_by_id_after_text_change(show):
    tab = await show("""<div id=b></div><script>const cells = ['', '', '', ''];
        const draw = () => { b.innerHTML = cells.map((c, i) => `<div id="cell-${i}" class=cell style="width:30px;height:30px">${c}</div>`).join('') }; draw();
        b.onclick = e => { cells[e.target.closest('.cell').id.slice(5)] = 'X'; draw() }</script>""")
    before = (await tab.snapshot()).refs
    first, last = (next(r for r, what in before.items() if f"#cell-{n}" in what) for n in (0, 3))
    assert f"[{last} clickable: X]" in (await tab.click(last)).changes
    assert f"[{first} clickable: X]" in (await tab.click(first)).changes
    assert [r for r, what in (await tab.snapshot()).refs.items() if what == "clickable X"] == [
        first,
        last,
    ]


async def test_checkbox_in_virtual_list_is_found_by_its_row(show):
    """Scrolling it into view redraws all rows, and none of the boxes has a name."""
    tab = await show("""<div id=v style="height:100px;overflow:auto"><div id=i style="position:relative;height:2400px"></div></div><p id=o></p><script>
        const draw = () => { i.innerHTML = ''; const from = Math.floor(v.scrollTop / 24); for (let n = from; n < from + 5; n++)
          i.insertAdjacentHTML('beforeend', `<div style="position:absolute;top:${n * 24}px"><input type=checkbox onchange="o.textContent = 'ticked ${n}'"> Row ${n}</div>`) };
        v.onscroll = draw; v.scrollTop = 240; draw()</script>""")
    snapshot = await tab.snapshot()
    rows = [line for line in snapshot.text.splitlines() if "Row" in line]
    last = next(line for line in rows if "Row 14" in line).split()[0].strip("[")
    assert "ticked 14" in (await tab.click(last)).changes


async def test_click_does_not_scroll_to_visible_element(show):
    tab = await show("""<div id=v style="height:60px;overflow:auto"><p style="height:20px;margin:0">one</p>
        <button style="height:60px">Two</button><p style="height:900px">three</p></div>""")
    await tab.click(ref(await tab.snapshot(), "button Two"))
    assert await tab.page.evaluate("v.scrollTop") == 0


RESTLESS = """<div id=l></div><p id=o></p><script>let turn = 0;
    const draw = (rows) => { turn++; l.innerHTML = rows.map((r, n) =>
      `<div><span>${r}</span> <small>${turn + n} people</small> <button onclick="o.textContent = 'joined ${r}'">Join</button></div>`).join('') };
    draw(['Room 1', 'Room 2', 'Room 3'])</script>"""


async def test_row_is_matched_by_first_words_when_figures_change(show):
    tab = await show(RESTLESS)
    buttons = [r for r, what in (await tab.snapshot()).refs.items() if what == "button Join"]
    await tab.page.evaluate("draw(['Room 3', 'Room 2', 'Room 1'])")
    assert "joined Room 3" in (await tab.click(buttons[2])).changes


async def test_row_with_same_number_is_not_matched_and_candidates_show_context(
    show,
):
    tab = await show(RESTLESS)
    await tab.page.evaluate("draw(['1. Ada', '2. Bo', '3. Cy'])")
    buttons = [r for r, what in (await tab.snapshot()).refs.items() if what == "button Join"]
    await tab.page.evaluate("draw(['1. Di', '2. Ada', '3. Bo'])")
    with pytest.raises(RefError) as failure:
        await tab.click(buttons[0])
    assert any("Ada" in line for line in failure.value.candidates)


TABLE = """<h1>Products</h1>%s<table>{}</table>""".format(
    "".join(
        f"<tr><td>Product {n}<td><input aria-label=Price value={n}><td><button>Save</button>"
        for n in range(30)
    )
)


async def test_refs_survive_full_rerender(show):
    tab = await show(
        f"<div id=all>{TABLE % ''}</div><script>"
        "document.onclick = () => { const kept = all.innerHTML.replace('<table>', '<p>Saved.</p><table>'); all.innerHTML = kept; };</script>"
    )
    before = await tab.snapshot()
    save = [r for r, what in before.refs.items() if what == "button Save"]
    outcome = await tab.click(save[3])
    assert outcome.changes == "+ Saved."
    assert [r for r, what in (await tab.snapshot()).refs.items() if what == "button Save"] == save


async def test_refs_survive_reload(show, pages):
    form = f"<!doctype html><form method=post>{TABLE % '{}'}</form>"
    path = pages.put(form.replace("{}", "<button>Save all</button>"))
    tab = await show("")
    await tab.goto(pages.base + path)
    before = await tab.snapshot()
    pages.put(form.replace("{}", "<p>All was saved.</p><button>Save all</button>"), path)
    outcome = await tab.click(ref(before, "button Save all"))
    assert "navigated to" in outcome.events[0]
    assert outcome.changes == "+ All was saved."
    after = await tab.snapshot()
    assert ref(after, "button Save all") == ref(before, "button Save all")
    price = [r for r, what in before.refs.items() if what == "textbox Price"][7]
    await tab.type(price, "99")
    assert await tab.page.evaluate("document.querySelectorAll('input')[7].value") == "99"


async def test_ref_of_row_removed_on_reload_is_not_reassigned(show, pages):
    rows = [f"<li>{name} <button>Remove</button>" for name in ("Ada", "Bo", "Cy")]
    path = pages.put("<!doctype html><ul>" + "".join(rows))
    tab = await show("")
    await tab.goto(pages.base + path)
    before = await tab.snapshot()
    bo, cy = [r for r, what in before.refs.items() if what == "button Remove"][1:]
    pages.put("<!doctype html><ul>" + rows[0] + rows[2], path)
    await tab.page.reload()
    after = await tab.snapshot()
    assert bo not in after.refs
    assert f"Cy [{cy} button: Remove]" in after.text


async def test_refs_are_not_transferred_to_identical_frame(show):
    run = '''srcdoc="<button onclick=&quot;this.textContent = '{}'&quot;>Run</button>"'''
    tab = await show(f"""<button onclick="a.hidden = true; b.hidden = false">Next</button>
        <iframe id=a {run.format("first")}></iframe><iframe id=b hidden {run.format("second")}></iframe>""")
    await tab.click(ref(await tab.snapshot(), "button Next"))
    assert "second" in (await tab.click(ref(await tab.snapshot(), "button Run"))).changes


async def test_recycled_scroll_list_keeps_refs_per_row(show):
    tab = await show("""<div id=g style="height:100px;overflow:auto"><div style="height:4000px"><table id=t></table></div></div><p id=o></p><script>
        for (let i = 0; i < 6; i++) { const row = t.insertRow(); for (let j = 0; j < 3; j++) row.insertCell().onclick = () => { o.textContent = 'hit ' + row.innerText } }
        const draw = () => { const first = g.scrollTop / 20 | 0; t.style.marginTop = `${first * 20}px`;
          [...t.rows].forEach((row, i) => ['row', 'boat', 'town'].forEach((word, j) => { row.cells[j].textContent = word + (first + i) })) };
        g.onscroll = draw; draw()</script>""")
    before = await tab.snapshot()
    first, fifth = ref(before, "clickable boat0"), ref(before, "clickable boat4")
    await tab.scroll(0.8, ref(before, "scroller"))
    after = await tab.snapshot()
    assert ref(after, "clickable boat4") == fifth
    assert first not in after.refs
    assert "hit row4" in (await tab.click(fifth)).changes
    with pytest.raises(RefError, match="another row"):
        await tab.click(first)
