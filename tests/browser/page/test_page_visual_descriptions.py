"""Elements without words are described by shape, size, colour and place, without repetition."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import re

import pytest

from browser.errors import ActionError
from tests.browser.page.pages import ref


async def lines(show, body: str) -> list[str]:
    return (await (await show(body)).snapshot(budget=None)).text.splitlines()


async def test_drawing_is_described_by_its_shapes(show):
    told = await lines(
        show,
        """<svg width=160 height=90><circle cx=15 cy=15 r=10 fill=blue /><rect x=100 y=50 width=30 height=20 fill="#d22" />
        <polygon points="30,60 40,80 20,80" fill=none stroke=green /></svg>""",
    )
    assert told == [
        "(circle blue 20×20 at 15,15; rectangle red #dd2222 30×20 at 115,60; triangle green 20×20 at 30,70)"
    ]


async def test_icons_and_many_shape_charts_are_not_described_as_drawings(show):
    bars = "".join(f"<rect x={n} width=1 height=9 fill=red />" for n in range(200))
    assert not await lines(
        show, f"<svg width=16 height=16><circle r=8 /></svg><svg width=400 height=90>{bars}</svg>"
    )


async def test_empty_colored_boxes_are_counted(show):
    box = "<div style='float:left;width:10px;height:10px;background:teal'></div>"
    assert await lines(show, f"<div>{box * 3}</div><p>and {'<i></i>' * 3}") == [
        "(3 × box teal 10×10)",
        "and",
    ]


@pytest.mark.parametrize(
    ("paint", "name"),
    [
        ("#1e3cdc", "blue"), ("#0a1478", "dark blue"), ("#6495ed", "blue"), ("#3cb371", "green"),
        ("#dcc81e", "yellow"), ("#8b1a1a", "dark red"), ("#dddddd", "light grey"), ("#8a5a2b", "brown"),
    ],
)  # fmt: skip
async def test_colors_are_reported_by_common_name(show, paint, name):
    told = await lines(
        show, f"<div onclick=1 style='width:30px;height:30px;background:{paint}'></div>"
    )
    assert told == [f"[e1 clickable: (colour {name} {paint})]"]


async def test_absolutely_positioned_element_reports_position(show):
    told = await lines(
        show,
        "<div onclick=1 style='position:absolute;left:30px;top:40px;width:20px;height:10px'></div>",
    )
    assert told == ["[e1 clickable: (20×10 at 30,40)]"]


async def test_empty_cell_keeps_its_column(show):
    told = await lines(
        show,
        "<table><tr><td><td>Mo<td>Tu<tr><td>1<td><td>3<tr><td><td><td></table>",
    )
    assert told == ["| | Mo | Tu |", "| 1 | | 3 |"]


async def test_long_field_value_is_abbreviated_but_findable(show):
    words = " ".join(f"word{n}" for n in range(300))
    tab = await show(f"<textarea aria-label=Log>{words} Zephyr</textarea>")
    first = (await tab.snapshot(budget=60)).text
    assert "Zephyr (" in first
    assert "word150" not in first
    assert "word150" in (await tab.find("word150")).text
    assert (await tab.expand("e1")).endswith("word299 Zephyr")


async def test_cell_containing_only_a_link_is_clicked_through_it(show):
    told = await lines(
        show,
        "<table><tr><td><a href=#>1</a><td><a href=#>2</a></table><script>document.querySelector('table').onclick = e => e.target.closest('td')</script>",
    )
    assert told == ["| [e1: 1] | [e2: 2] |"]


async def test_delegated_handler_checking_classname_gives_ref(show):
    told = await lines(
        show,
        "<p>Tea <span class=more>+</span> <span>0</span></p><script>document.body.addEventListener('click', e => { const c = e.target.className; if (c === 'more') 1 })</script>",
    )
    assert told == ["Tea [e1 clickable: +] 0"]


async def test_highlight_selects_text_across_elements(show):
    tab = await show("<p>The <b>old</b> lamp\n was lit.</p><p id=said></p>")
    outcome = await tab.highlight("old lamp was")
    assert outcome.action == "highlighted 'old lamp was'"
    assert (await tab.context()).selection.split() == ["old", "lamp", "was"]


async def test_highlight_selects_text_in_field(show):
    tab = await show("<input aria-label=Name value='Ada Lovelace'>")
    await tab.highlight("Love", ref(await tab.snapshot(), "textbox Name"))
    assert (await tab.context()).selection == "Love"


async def test_highlight_of_missing_text_raises(show):
    tab = await show("<p>dusk</p>")
    with pytest.raises(ActionError, match="is not on the page"):
        await tab.highlight("dawn")


async def test_negative_click_offset_counts_from_opposite_corner(show):
    tab = await show(
        "<div style='width:200px;height:90px;border:9px solid' onclick=\"said.textContent = [event.offsetX, event.offsetY]\"></div><p id=said></p>"
    )
    area = ref(await tab.snapshot(), "clickable")
    assert "204,94" in (await tab.click(area, at=(-5, -5))).changes


async def test_multiple_options_are_selected_together(show):
    tab = await show(
        "<select multiple aria-label=Isles><option>Unst<option>Yell<option>Fetlar</select>"
    )
    outcome = await tab.select(ref(await tab.snapshot(), "select Isles"), "Unst; Fetlar")
    assert "= Unst, Fetlar" in outcome.changes


async def test_button_styled_element_gets_ref_under_opaque_root_listener(show):
    tab = await show(
        "<p>Lamp oil <span style='border:1px solid'>Buy</span> in tins</p><script>const known = new WeakMap(); known.set(document.querySelector('span'), () => document.title = 'bought'); document.addEventListener('click', e => known.get(e.target)?.())</script>"
    )
    snapshot = await tab.snapshot()
    assert snapshot.text == "Lamp oil [e1 clickable: Buy] in tins"
    assert "the title is now: bought" in (await tab.click("e1")).events


async def test_found_text_without_known_listener_gets_a_ref(show):
    tab = await show("<ul><li>Tea <b>3 tins</b><li>Coffee</ul>")
    assert (await tab.find("Coffee")).text == ' - Coffee\n[e1 text: Coffee] in "Tea 3 tins Coffee"'
    assert (await tab.click("e1")).action.startswith("clicked [e1]")


ROWS = "".join(f"<p>row {n}</p>" for n in range(60))


async def test_scroller_is_shown_and_scrolls_from_inner_ref(show):
    tab = await show(
        f"<div style='height:120px;overflow:auto;font:10px/20px x'><button>Top</button>{ROWS}</div>"
    )
    snapshot = await tab.snapshot()
    assert snapshot.text.startswith("[e1 scroller: (0 to 120 of ")
    await tab.scroll(1, ref(snapshot, "button Top"))
    assert "(120 to 240 of " in (await tab.snapshot()).text


async def test_scroll_uses_main_scroller_when_page_is_fixed(show):
    tab = await show(
        f"<style>body{{margin:0;height:100vh;overflow:hidden}}</style><main style='height:100vh;overflow:auto'>{ROWS}</main>"
    )
    await tab.snapshot()
    await tab.scroll(to="bottom")
    assert "(0 to" not in (await tab.snapshot()).text


async def test_path_shapes_are_named_and_counted(show):
    figures = {
        "triangle": "M50,10L90,90L10,90Z",
        "square": "M10 10h60v60h-60z",
        "heptagon": "M50 5 L85 22 L94 60 L70 91 L30 91 L6 60 L15 22z",
        "star": "M50 5 61 38 96 38 68 59 79 92 50 72 21 92 32 59 4 38 39 38z",
        "circle": "M10,50a40,40 0 1,0 80,0a40,40 0 1,0 -80,0",
    }
    for name, drawn in figures.items():
        tab = await show(
            f"<svg width=100 height=100><path d='{drawn}' fill=none stroke=red /></svg>"
        )
        assert f"({name} red " in (await tab.snapshot()).text


async def test_svg_letters_are_described_by_distinguishing_attributes(show):
    tab = await show("""<svg width=100 height=60><text x=9 y=20 fill=red>A</text>
        <text x=40 y=40 fill=blue font-size=30>A</text></svg>""")
    text = (await tab.snapshot()).text
    assert "text A red" in text
    assert "text A blue" in text
    plain = await show("<svg width=100 height=60><text y=20>1</text><text y=40>2</text></svg>")
    assert "text 1" not in (await plain.snapshot()).text


async def test_lone_svg_text_reports_color_and_size(show):
    told = await lines(
        show,
        "<svg width=100 height=60><text x=9 y=40 fill=blue font-size=30>Q7</text></svg>",
    )
    assert re.search(r"\(text Q7 blue \d+×\d+ at \d+,\d+\)", "\n".join(told))
    assert "".join(told).count("Q7") == 1


async def test_words_distinguished_only_by_color_show_it(show):
    told = await lines(
        show,
        """<ul><li><b>Unst</b><li><b style="color:#c00">Yell</b><li><b>Fetlar</b></ul>
        <p><span style="color:blue">2025</span> <span style="color:orange">2026</span></p>
        <table><tr><td>a<td style="color:green">1<tr><td style="color:#444">b<td style="color:green">2</table>
        <pre><i style="color:red">if</i> <i>x</i></pre>""",
    )
    text = "\n".join(told)
    assert "- Yell (red)" in text
    assert "2025 (blue) 2026 (orange)" in text
    assert text.count("(") == 3


async def test_distinguishing_background_color_is_shown(show):
    tab = await show("""<ul><li onclick=1>a<li onclick=1 style="background:#36c">b<li onclick=1>c<li onclick=1>d</ul>
        <div><button style="background:red">Go</button><button style="background:lime">Go</button><button style="background:blue">Go</button></div>
        <ol><li onclick=1 style="background:#eee">1<li onclick=1>2<li onclick=1 style="background:#eee">3<li onclick=1>4</ol>""")
    text = (await tab.snapshot()).text
    assert "b, colour blue" in text
    assert text.count("colour") == 4
    assert "Go, colour lime" in text


async def test_back_faces_of_a_cube_are_marked(show):
    sides = "".join(
        f"<div style='position:absolute;width:60px;height:60px;background:#fffc;backface-visibility:hidden;transform:{turn} translateZ(30px)'>{n}</div>"
        for n, turn in enumerate(("rotateX(0)", "rotateY(180deg)", "rotateX(90deg)"), 1)
    )
    tab = await show(
        f"""<div style="perspective:400px;padding:60px"><div style="width:60px;height:60px;transform-style:preserve-3d;transform:rotateX(-90deg)">{sides}</div></div>"""
    )
    text = (await tab.snapshot()).text
    shown = [
        line.strip()
        for line in text.splitlines()
        if "turned" not in line and "invisible" not in line
    ]
    assert shown == ["3"]


async def test_identical_labels_show_size_and_odd_text_color_is_shown(show):
    tab = await show("""<div><button style="padding:9px 20px">OK</button><button>OK</button><button>OK</button></div>
        <p id=p><b>elm</b><b>oak</b><b style="color:#d00">yew</b><b>ash</b></p><script>p.onclick = e => e.target.textContent</script>""")
    text = (await tab.snapshot()).text
    first, second = re.findall(r"OK, (\d+)×", text)[:2]
    assert int(first) > int(second)
    assert text.count("written in") == 1
    assert "yew, written in red" in text


async def test_hidden_radio_labels_show_value_position_and_state(show):
    stars = "".join(
        f"<input type=radio name=r id=r{n} value={n}><label for=r{n}></label>" for n in (3, 2, 1, 0)
    )
    tab = await show(f"""<style>input{{display:none}}label{{width:20px;height:20px;background:gold}}</style>
        <div style="display:flex;flex-direction:row-reverse">{stars}</div>""")
    outcome = await tab.click(ref(await tab.snapshot(), "radio (r=2 "))
    assert "3 of 4" in outcome.changes
    assert "checked" in outcome.changes
    assert await tab.page.is_checked("#r2")


async def test_icons_identified_by_title_get_refs(show):
    tab = await show("""<style>i{display:inline-block;width:14px;height:14px;background:gray}</style>
        <div id=l><p data-n=1>One <i title=Delete></i><i title=Archive></i></p></div><script>
        l.onclick = e => { if (e.target.title) document.title = e.target.title + e.target.closest('p').dataset.n }</script>""")
    assert ref(await tab.snapshot(), "clickable Archive")


async def test_discs_are_distinguished_from_squares(show):
    look = "display:inline-block;width:26px;height:26px;background:red"
    tab = await show(f"""<i style="{look};border-radius:50%"></i> <i style="{look};border-radius:4px"></i>
        <b onclick=1 style="{look};border-radius:13px"></b>""")
    text = (await tab.snapshot()).text
    assert text.count("disc red") == 1
    assert text.count("box red") == 1
    assert "colour red round" in text


async def test_selected_row_of_striped_list_stands_out(show):
    rows = "".join(
        f"<p onclick=1 style='background:{'#eee' if n % 2 else '#fff'}'>Row {n}" for n in range(10)
    )
    told = await lines(show, rows.replace("#eee", "#00f", 1))
    assert [line for line in told if "colour" in line] == ["[e2 clickable: Row 1, colour blue]"]
