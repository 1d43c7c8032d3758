"""Small tasks as people do them, using only refs and outcomes."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

from browser.page.user_input import DRAG_STEPS
from tests.browser.page.pages import ref


async def test_autocomplete_suggestion_can_be_typed_and_picked(show):
    tab = await show("""<label for=c>City</label><input id=c><ul id=l></ul><p id=o></p><script>
        const all = ['Amsterdam', 'Amersfoort', 'Edam']; let timer;
        c.oninput = () => { clearTimeout(timer); timer = setTimeout(() => { l.innerHTML =
          all.filter(x => x.startsWith(c.value)).map(x => `<li>${x}</li>`).join('') }, 200) };
        l.addEventListener('mousedown', e => { o.textContent = 'picked ' + e.target.textContent })</script>""")
    outcome = await tab.type(ref(await tab.snapshot(), "textbox City"), "Am")
    assert "Amersfoort" in outcome.changes
    outcome = await tab.click(ref(await tab.snapshot(), "clickable Amersfoort"))
    assert "picked Amersfoort" in outcome.changes


async def test_date_picker_selects_date_two_months_ahead(show):
    tab = await show("""<input id=d readonly placeholder=Date><div id=cal hidden><b id=m></b>
        <span class=next>next</span><table id=t></table></div><script>
        let month = 4;
        const draw = () => { m.textContent = ['May', 'June', 'July'][month - 4];
          t.innerHTML = '<tr>' + [15, 16, 17].map(n => `<td data-day=${n}>${n}</td>`).join('') + '</tr>' };
        d.onfocus = () => { cal.hidden = false; draw() };
        cal.onclick = e => { if (e.target.className === 'next') { month++; draw() }
          else if (e.target.dataset.day) { d.value = month + 1 + '/' + e.target.dataset.day; cal.hidden = true } }</script>""")
    await tab.click(ref(await tab.snapshot(), "textbox Date"))
    following = ref(await tab.snapshot(), "clickable next")
    await tab.click(following)
    await tab.click(following)
    outcome = await tab.click(ref(await tab.snapshot(), "clickable 17"))
    assert "Date = 7/17" in outcome.changes


async def test_grid_cells_are_described_by_color(show):
    cells = "".join(f"<div style='background:{c}'></div>" for c in ("red", "blue", "lime", "black"))
    tab = await show(f"""<style>.g div{{width:28px;height:28px}}</style><div class=g>{cells}</div><p id=o></p><script>
        document.querySelector('.g').addEventListener('click', e => {{ o.textContent = 'hit ' + e.target.style.background }})</script>""")
    outcome = await tab.click(ref(await tab.snapshot(), "clickable (colour lime"))
    assert "hit lime" in outcome.changes


async def test_handle_is_dragged_by_offset(show):
    tab = await show("""<div id=h style="width:20px;height:20px;position:absolute;left:0;background:blue"></div>
        <p id=o style="margin-top:60px">0</p><script>let on = false; h.onmousedown = () => { on = true };
        onmousemove = e => { if (on) { h.style.left = e.clientX - 10 + 'px'; o.textContent = Math.round(e.clientX - 10) } };
        onmouseup = () => { on = false }</script>""")
    outcome = await tab.drag(ref(await tab.snapshot(), "clickable"), by=(90, 0))
    assert "90" in outcome.changes


async def test_drag_in_background_tab_sends_every_step(show):
    tab = await show("""<div id=h style="width:20px;height:20px;position:absolute;left:0;background:blue"></div>
        <p id=o style="margin-top:60px">0</p><script>let on = false; h.onmousedown = () => { on = true };
        onmousemove = e => { if (on) { h.style.left = e.clientX - 10 + 'px'; o.textContent = Math.round(e.clientX - 10) } };
        let steps = 0; addEventListener('mousemove', () => steps++);
        onmouseup = () => { on = false; document.title = `let go after ${steps} steps` }</script>""")
    handle = ref(await tab.snapshot(), "clickable")
    await show("<p>in front</p>")
    await tab.drag(handle, by=(90, 0))
    outcome = await tab.drag(handle, by=(60, 0))
    assert "150" in outcome.changes
    assert int(tab.title.split()[3]) >= 2 * DRAG_STEPS


async def test_moved_line_is_reported_with_new_position(show):
    names = ("Ann", "Bo", "Di", "Ed", "Flo", "Gus", "Hal", "Ina", "Cy")
    rows = "".join(f"<li><button>{name}</button></li>" for name in names)
    tab = await show(f"""<ul id=u>{rows}</ul>
        <button id=m>Move</button><script>m.onclick = () => u.append(u.firstElementChild)</script>""")
    outcome = await tab.click(ref(await tab.snapshot(), "button Move"))
    moved = [line for line in outcome.changes.splitlines() if line.startswith(">")]
    assert len(moved) == 1
    assert "Ann" in moved[0]
    assert "now below: - [" in moved[0]
    assert "Cy" in moved[0]


async def test_selected_item_of_plain_elements_is_reported(show):
    tab = await show("""<style>.active{background:#def}</style><div id=t><b>Day</b><b>Week</b></div><script>
        t.onclick = e => { for (const b of t.children) b.classList.toggle('active', b === e.target) }</script>""")
    outcome = await tab.click(ref(await tab.snapshot(), "clickable Week"))
    assert "Week, selected" in outcome.changes


async def test_modal_dialog_can_be_answered(show):
    tab = await show("""<button onclick="m.showModal()">Delete</button>
        <dialog id=m>Sure? <button onclick="m.close(); o.textContent = 'deleted'">Yes</button></dialog><p id=o></p>""")
    outcome = await tab.click(ref(await tab.snapshot(), "button Delete"))
    assert "dialog:" in outcome.changes
    assert "deleted" in (await tab.click(ref(await tab.snapshot(), "button Yes"))).changes


async def test_infinite_list_grows_when_scrolled(show):
    tab = await show("""<div id=l></div><script>let n = 0;
        const add = () => { for (let i = 0; i < 30; i++) l.insertAdjacentHTML('beforeend', `<p style="height:40px">entry ${n++}</p>`) };
        add(); addEventListener('scroll', () => { if (innerHeight + scrollY > document.body.scrollHeight - 99) setTimeout(add, 150) })</script>""")
    assert "entry 59" in (await tab.scroll(to="bottom")).changes


async def test_row_action_deletes_only_its_own_mail(show):
    mails = "".join(
        f"<div class=mail><b>{n}</b> about boats <span class=bin></span></div>"
        for n in ("Ann", "Ben", "Cas")
    )
    tab = await show(f"""<style>.bin{{display:inline-block;width:12px;height:12px;background:gray}}</style><div id=i>{mails}</div><script>
        i.addEventListener('click', e => {{ if (e.target.classList.contains('bin')) e.target.closest('.mail').remove() }})</script>""")
    line = next(line for line in (await tab.snapshot()).text.splitlines() if "Ben" in line)
    bin_ref = line.rpartition("clickable: (.bin")[0].rpartition("[")[2].strip()
    await tab.click(bin_ref)
    text = (await tab.snapshot()).text
    assert "Ben" not in text
    assert "Ann" in text
    assert "Cas" in text


async def test_text_is_copied_between_fields_by_keyboard(show):
    tab = await show(
        "<textarea aria-label=From>words to take</textarea><textarea aria-label=To></textarea>"
    )
    snapshot = await tab.snapshot()
    await tab.press("Control+a Control+c", ref(snapshot, "textbox From"))
    outcome = await tab.press("Control+v", ref(snapshot, "textbox To"))
    assert "To = words to take" in outcome.changes


async def test_clicking_table_header_sorts_rows(show):
    tab = await show("""<table><thead><tr><th>Name<th>Age</thead><tbody id=b><tr><td>Bo<td>3<tr><td>Al<td>9</tbody></table><script>
        document.querySelectorAll('th').forEach(h => { h.style.cursor = 'pointer'; h.onclick = () =>
          [...b.rows].sort((x, y) => x.cells[0].textContent < y.cells[0].textContent ? -1 : 1).forEach(r => b.append(r)) })</script>""")
    await tab.click(ref(await tab.snapshot(), "clickable Name"))
    text = (await tab.snapshot()).text
    assert text.index("| Al | 9 |") < text.index("| Bo | 3 |")


async def test_removal_from_long_line_reports_only_the_removed_part(show):
    days = "".join(f"<button>{n}</button>" for n in range(1, 32))
    tab = await show(
        f"<div id=d>{days}</div><button id=x onclick='d.lastChild.remove()'>Less</button>"
    )
    outcome = await tab.click(ref(await tab.snapshot(), "button Less"))
    line = next(line for line in outcome.changes.splitlines() if "without" in line)
    assert "button: 31" in line
    assert "button: 30" not in line
