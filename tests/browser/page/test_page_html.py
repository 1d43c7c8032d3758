"""The DOM as HTML holds what a reader needs, in its place."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import pytest


async def test_shadow_roots_slots_and_frames_are_in_their_places(show, pages):
    deep = pages.put("<p>deep text</p>")
    inner = pages.put(f"<p>frame text</p><iframe src='{pages.base}{deep}'></iframe>")
    tab = await show(f"""<p>before</p><div id=a>slotted</div><p>between</p><iframe src='{pages.other}{inner}'></iframe><p>after</p>
        <script>a.attachShadow({{mode: 'closed'}}).innerHTML = '<b>shadow text <slot></slot></b>'</script>""")
    html = await tab.html()
    order = ["before", "shadow text", "slotted", "between", "frame text", "deep text", "after"]
    places = [html.index(text) for text in order]
    assert places == sorted(places)


async def test_text_hidden_by_style_is_marked_and_the_rest_is_not(show):
    tab = await show("<p style='opacity:0'>ghost</p><p style='font-size:0'>tiny</p><p>plain</p>")
    html = await tab.html()
    assert '<p style="opacity:0" hidden="">ghost</p>' in html
    assert '<p style="font-size:0" hidden="">tiny</p>' in html
    assert "<p>plain</p>" in html


async def test_it_is_html_again_when_parsed(show):
    tab = await show(
        "<p title='a\"b&amp;c'>1 &lt; 2 &amp; 3</p><script>if (1 < 2) { var x = '&' }</script><br>"
    )
    html = await tab.html()
    again = await show(html)
    assert await again.page.inner_text("p") == "1 < 2 & 3"
    assert await again.page.get_attribute("p", "title") == 'a"b&c'


async def test_the_context_tells_what_a_person_has_before_them(show):
    tab = await show("""<html lang=nl><link rel=canonical href=https://example.test/a>
        <meta property=article:published_time content=2026-01-02><p id=p>visible text</p>
        <script>getSelection().selectAllChildren(p)</script>""")
    context = await tab.context()
    assert (context.language, context.published) == ("nl", "2026-01-02")
    assert context.canonical_url == "https://example.test/a"
    assert context.selection == "visible text"
    assert "visible text" in context.visible_text


async def test_a_picture_shows_the_refs_and_leaves_nothing_behind(show):
    tab = await show("<button style='margin:50px;width:200px;height:80px'>Book</button>")
    before, plain = await tab.page.content(), await tab.screenshot()
    (unmarked,) = await tab.pictures()  # nothing has a ref yet
    await tab.snapshot()
    (marked,) = await tab.pictures()
    assert plain.startswith(b"\x89PNG")
    assert unmarked.startswith(b"\xff\xd8")
    assert marked != unmarked
    assert await tab.page.content() == before


DENSE = """<style>body{margin:0;font:13px sans-serif}div{display:grid;grid-template-columns:repeat(7,28px);padding:40px}
    button{width:28px;height:24px;border:0;padding:0}</style><div>%s</div>"""


@pytest.mark.parametrize(("days", "count"), [(14, 1), (28, 2)])
async def test_marks_that_hide_words_come_with_a_picture_without_them(show, days, count):
    buttons = "".join(f"<button>{n}</button>" for n in range(10, 10 + days))
    tab = await show(DENSE % buttons)
    (bare,) = await tab.pictures()  # nothing has a ref yet
    await tab.snapshot()
    marked, *others = await tab.pictures()
    assert marked != bare
    assert others == [bare] * (count - 1)
