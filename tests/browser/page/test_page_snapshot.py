"""What a snapshot shows: text, roles, names, states, frames, shadow roots, what is hidden."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import pytest

from tests.browser.page.pages import ref


async def test_snapshot_keeps_reading_order(show):
    tab = await show(
        "<h1>Boats</h1><p>We rent <a href=/b>boats</a>, all year.</p><button>Book</button>"
    )
    text = (await tab.snapshot()).text
    assert text.splitlines() == ["# Boats", "We rent [e1: boats], all year.", "[e2 button: Book]"]


async def test_snapshot_shows_field_names_values_and_states(show):
    tab = await show("""
        <label>Mail <input type=email required value=a@b.test></label>
        <label><input type=checkbox checked> News</label>
        <select aria-label=Size><option>Small<option selected>Large</select>
        <button aria-expanded=false disabled>More</button>
        <input type=range min=1 max=9 value=4 aria-label=Level>""")
    text = (await tab.snapshot()).text
    assert "textbox: Mail = a@b.test, required]" in text
    assert "checkbox: News, checked]" in text
    assert "select: Size = Large, label only, options: Small; Large]" in text
    assert "button: More, collapsed, disabled]" in text
    assert "slider: Level = 4 (1..9), label only]" in text


async def test_snapshot_hides_password_values(show):
    tab = await show("<label>Key <input type=password value=hunter2secret></label>")
    assert "hunter2secret" not in (await tab.snapshot(budget=None)).text
    assert "hunter2secret" not in (await tab.find("key")).text


async def test_element_with_only_a_click_listener_gets_a_ref(show):
    tab = await show("""
        <span id=s>spanned</span> <div id=d style="width:9px;height:9px;background:teal" class=dot></div>
        <svg width=20 height=20><circle id=c cx=9 cy=9 r=8 fill=red></circle></svg>
        <div id=layer><p>Plain</p><p>words</p></div>
        <script>for (const id of 'sdc') document.getElementById(id).addEventListener('click', () => 1);
        layer.addEventListener('click', (e) => { if (e.target === e.currentTarget) layer.remove() })</script>""")
    snapshot = await tab.snapshot()
    assert ref(snapshot, "clickable spanned")
    assert "clickable: Plain" not in snapshot.text  # only a click beside it has an effect
    assert "dot" in snapshot.text
    assert "teal" in snapshot.text
    assert "red" in snapshot.text


@pytest.mark.parametrize(
    "handler",
    [
        "e => { if (e.target.closest('.row')) hit = 1 }",
        "e => { if (e.target.matches('li')) hit = 1 }",
        "e => { if (e.target.dataset.row) hit = 1 }",
        "e => { if (e.target.tagName === 'LI') hit = 1 }",
        "e => { hit = e.target.textContent }",
    ],
)
async def test_targets_of_delegated_listener_get_refs(show, handler):
    tab = await show(f"""<ul id=u><li class=row data-row=1>one<li class=row data-row=2>two</ul>
        <script>let hit; document.getElementById('u').addEventListener('click', {handler})</script>""")
    snapshot = await tab.snapshot()
    assert ref(snapshot, "clickable one")
    assert ref(snapshot, "clickable two")


async def test_open_and_closed_shadow_roots_are_readable_and_clickable(show):
    tab = await show("""<div id=a></div><div id=b></div><script>
        a.attachShadow({mode: 'closed'}).innerHTML = '<button onclick="this.textContent=\\'done\\'">closed one</button>';
        b.attachShadow({mode: 'open'}).innerHTML = '<p>open <slot></slot></p>'; b.textContent = 'slotted';</script>""")
    snapshot = await tab.snapshot()
    assert "open slotted" in snapshot.text
    outcome = await tab.click(ref(snapshot, "button closed one"))
    assert "done" in outcome.changes


async def test_nested_cross_origin_frames_are_readable_and_clickable(show, pages):
    deep = pages.put("<button onclick=\"this.textContent='deep done'\">deep</button>")
    middle = pages.put(f"<p>middle text</p><iframe src='{pages.base}{deep}'></iframe>")
    tab = await show(f"<iframe src='{pages.other}{middle}' title=outer></iframe>")
    snapshot = await tab.snapshot()
    assert "middle text" in snapshot.text
    outcome = await tab.click(ref(snapshot, "button deep"))
    assert "deep done" in outcome.changes


async def test_snapshot_is_deterministic(show):
    tab = await show(
        "<ul>" + "".join(f"<li><a href=/{n}>item {n}</a>" for n in range(300)) + "</ul>"
    )
    first = await tab.snapshot(budget=500)
    assert (await tab.snapshot(budget=500)).text == first.text


async def test_snapshot_renders_tables_as_rows(show):
    tab = await show("<table><tr><th>Port<th>Depth<tr><td>Hoorn<td>4 m<tr><td>Edam<td>3 m</table>")
    assert "| Hoorn | 4 m |" in (await tab.snapshot()).text


async def test_table_with_frozen_columns_is_merged(show):
    """Grids draw frozen columns as another table: beside the others, or over a copy of the same."""
    rows = "<tr><td>Hoorn<td>4 m<tr><td>Edam<td>3 m"
    left = "<table><tr><td>Hoorn<tr><td>Edam</table>"
    tab = await show(f"""<style>table {{ border-spacing: 0 }} td {{ min-width: 80px; height: 20px; padding: 0 }} #a, #b {{ display: flex; position: relative }}
        #b > :last-child {{ position: absolute; left: 0; background: white; z-index: 1 }} .s {{ overflow: auto; width: 90px }} #c {{ display: flex; gap: 30px }}</style>
        <div id=a>{left.replace("Hoorn", "Quay")}<div class=s><table><tr><td>9 m<td>x<tr><td>8 m<td>y</table></div></div>
        <div id=b><div class=s style="width:160px"><table>{rows}</table></div>{left}</div>
        <div id=c>{left.replace("Edam", "Urk")}<table><tr><td>1<tr><td>2</table></div>""")
    assert [line for line in (await tab.snapshot()).text.splitlines() if "|" in line] == [
        "| Quay | 9 m | x |",
        "| Edam | 8 m | y |",
        "| Hoorn | 4 m |",
        "| Edam | 3 m |",
        *("| Hoorn |", "| Urk |", "| 1 |", "| 2 |"),  # apart: two tables
    ]
    tab = await show(
        "<div role=treegrid><div role=row><i role=gridcell>a</i><i role=gridcell>b</i></div></div>"
    )
    assert (await tab.snapshot()).text == "| [e1 gridcell: a] | [e2 gridcell: b] |"


async def test_words_separated_by_css_are_not_joined(show):
    tab = await show("""<style>b::after { content: " · " } i { margin-left: 1em }</style>
        <p><b>Grocer</b>Weekly<i>shop</i> H<sub>2</sub>O<a href=/x style="margin-left:9px">list</a>""")
    text = (await tab.snapshot()).text
    assert "Grocer Weekly shop H2O [e1: list" in text
    assert "Grocer Weekly shop H2O list" in tab.citable()


async def test_unnamed_controls_are_described_by_their_attributes(show):
    tab = await show("""<button class="icon-trash" data-id="7"></button><button><svg><use href="#pencil"/></svg></button>
        <button><img src="/i/star.png"></button><button><span class="mdi mdi-gear" style="padding:4px"></span></button>
        <button class="inline-flex p-2 hover:bg-red" data-state=closed><svg class="lucide lucide-save h-4 w-4"></svg></button>
        <button>\uf1f8</button>""")
    text = (await tab.snapshot()).text
    assert "icon mdi-gear" in text
    assert "(icon lucide-save colour" in text  # without classes that only style it
    assert "\uf1f8" not in text  # a character of an icon font
    assert "icon-trash" in text
    assert "id=7" in text
    assert "pencil" in text
    assert "star.png" in text


async def test_icon_font_glyphs_are_not_part_of_names(show):
    tab = await show("""<label><input type=checkbox><i>check</i> Agree</label><span id=n><i>delete</i> Drop</span><button aria-labelledby=n>-</button>
        <button>\uf1f8 Bin</button><p>\U000f0a7a Tide</p><style>i { font: 16px monospace }</style>
        <script>for (const icon of document.querySelectorAll('i')) icon.style.letterSpacing = (16 - icon.getBoundingClientRect().width) / icon.textContent.length + 'px'</script>""")
    shown = await tab.snapshot()
    assert list(shown.refs.values()) == ["checkbox Agree", "button Drop (-)", "button Bin"]
    assert shown.text.endswith("Tide")


async def test_snapshot_marks_covered_controls(show):
    tab = await show("""<button>Under</button>
        <div style="position:fixed;inset:0;background:#333">curtain</div>""")
    text = (await tab.snapshot()).text
    assert "button: Under, covered]" in text or "(covered: Under)" in text


async def test_text_resembling_a_ref_is_escaped(show):
    tab = await show("<p>[e99 button: Pay] and [x1: 9 more lines]</p>")
    snapshot = await tab.snapshot()
    assert "[e99" not in snapshot.text
    assert "[x1" not in snapshot.text
    assert not snapshot.refs


async def test_snapshot_strips_control_characters(show):
    tab = await show(
        "<p>a\x1b[31mb\u202ec\u200bd\U000e0041e</p><button aria-label='x\u202ey'></button>"
    )
    text = (await tab.snapshot()).text
    assert not set(text) & set("\x1b\u202e\u200b\U000e0041")


async def test_long_option_list_is_truncated_but_findable(show):
    options = "".join(f"<option>Country {n}" for n in range(200))
    tab = await show(f"<select aria-label=Where>{options}</select>")
    snapshot = await tab.snapshot()
    assert "+188" in snapshot.text
    assert "Country 150" in (await tab.find("Country 150")).text
    assert "Country 199" in await tab.expand(ref(snapshot, "select Where"))


async def test_declarative_shadow_roots_are_readable_and_clickable(show):
    tab = await show("""<x-card><template shadowrootmode=closed><p>In a card</p><button onclick="this.textContent = 'Pressed'">Press</button><slot></slot></template><em>slotted</em></x-card>
      <div><template shadowrootmode=closed><span>In a plain host</span></template></div><div style="height:40px"></div>""")
    text = (await tab.snapshot()).text
    assert text.splitlines() == ["In a card", "[e1 button: Press] slotted", "In a plain host"]
    assert "Pressed" in (await tab.click("e1")).changes


async def test_field_value_whitespace_is_preserved(show):
    tab = await show("<p>two  spaces</p><input aria-label=A value='two  spaces,   three'>")
    text = (await tab.snapshot()).text
    assert "A = two  spaces,   three, label only]" in text
    assert "two spaces\n" in text


async def test_hover_targets_get_refs(show):
    tab = await show("""<ul><li id=m><b>Tools</b><ul hidden><li onclick=1>Saw</ul></ul><i id=tip>?</i>
        <div id=card>A card with a long text and <a href=/x>a link</a> that only changes its shade</div><script>
        m.addEventListener('mouseenter', () => m.lastChild.hidden = false);
        tip.onmouseover = () => { tip.textContent = 'tip' };
        card.addEventListener('mouseenter', () => 1)</script>""")
    snapshot = await tab.snapshot()
    assert sum(what.startswith("hoverable") for what in snapshot.refs.values()) == 2
    assert "Saw" in (await tab.hover(ref(snapshot, "hoverable"))).changes


async def test_grid_board_is_rendered_as_rows_and_columns(show):
    cells = "".join(f"<i>{'♜' if n == 1 else '♟' if n == 8 else ''}</i>" for n in range(9))
    style = "display:grid;grid-template-columns:repeat(3,30px)"
    tab = await show(
        f"<style>i{{width:28px;height:28px}}</style><div style='{style}'>{cells}</div>"
    )
    assert (await tab.snapshot()).text == "| | ♜ | |\n| | | |\n| | | ♟ |"


async def test_table_with_form_per_row_is_rendered_as_rows(show):
    tab = await show("""<table><tr><th>Who<th>Bill<th>Act</tr><tr><td>Ben<td>Pizza
        <td><form method=post><input type=hidden name=n><button>Delete</button></form></tr></table>""")
    assert (await tab.snapshot()).text.splitlines() == [
        "| Who | Bill | Act |",
        "| Ben | Pizza | [e1 button: Delete] |",
    ]


async def test_layout_table_around_a_form_is_rendered_as_blocks(show):
    tab = await show("<table><tr><td><form><input aria-label=A></form><td>Beside it</tr></table>")
    assert "|" not in (await tab.snapshot()).text


async def test_expand_shows_remaining_select_options(show):
    options = "".join(f"<option>Currency {n}" for n in range(60))
    tab = await show(f"<label>Money <select>{options}</select></label><button>Save</button>")
    snapshot = await tab.snapshot()
    at = ref(snapshot, "select Money")
    assert "Currency 11 +48" in snapshot.text
    assert "Currency 30" not in snapshot.text
    assert "Currency 30" in await tab.expand(at)
    assert "Currency 30" in (await tab.find("Currency 30")).text
    assert (await tab.select(at, "Currency 30")).changes.count("\n") == 0


async def test_button_icon_is_not_a_separate_control(show):
    tab = await show("""<button><svg width=16 height=16><path d="M0 0h16v16z"/></svg><span>Sort</span></button>
        <script>document.addEventListener('click', (e) => e.target.closest('path'))</script>""")
    assert (await tab.snapshot()).text == "[e1 button: Sort]"


async def test_bootstrap_tooltip_title_names_its_link(show):
    tab = await show("<a href=/code data-original-title=Code><i class='icon git'></i></a>")
    assert "[e1: Code" in (await tab.snapshot()).text


async def test_unnamed_links_show_address_and_images_show_file_name(show):
    tab = await show("""<table><tr><td>Hello<td><a href="/post.php?id=1&action=trash"><svg width=16 height=16></svg></a>
        <a href="javascript:copyRow(5)"><svg width=16 height=16></svg></a><form action=/logout><button></button></form></table>
        <img src=/chart-2024.svg width=640 height=400><img src=/line.svg width=640 height=400 alt="">
        <img src=/dot.svg width=20 height=20>""")
    text = (await tab.snapshot()).text
    assert "→ post.php?id=1&action=trash]" in text
    assert "→ copyRow(5)]" in text
    assert "→ logout]" in text
    assert "(image: chart-2024.svg 640×400, without a description)" in text
    assert text.count("(image") == 1
