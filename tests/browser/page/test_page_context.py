"""What a user has in front of them, as text and as an image."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import pytest


async def test_context_reports_visible_page_details(show):
    tab = await show("""<html lang=nl><link rel=canonical href=https://example.test/a>
        <meta property=article:published_time content=2026-01-02><p id=p>visible text</p>
        <script>getSelection().selectAllChildren(p)</script>""")
    context = await tab.context()
    assert (context.language, context.published) == ("nl", "2026-01-02")
    assert context.canonical_url == "https://example.test/a"
    assert context.selection == "visible text"
    assert "visible text" in context.visible_text


async def test_marked_screenshot_shows_refs_and_leaves_page_unchanged(show):
    tab = await show("<button style='margin:50px;width:200px;height:80px'>Book</button>")
    before, plain = await tab.page.content(), await tab.screenshot()
    (unmarked,) = await tab.marked_pictures()  # nothing has a ref yet
    await tab.snapshot()
    (marked,) = await tab.marked_pictures()
    assert plain.startswith(b"\x89PNG")
    assert unmarked.startswith(b"\xff\xd8")
    assert marked != unmarked
    assert await tab.page.content() == before


DENSE = """<style>body{margin:0;font:13px sans-serif}div{display:grid;grid-template-columns:repeat(7,28px);padding:40px}
    button{width:28px;height:24px;border:0;padding:0}</style><div>%s</div>"""


@pytest.mark.parametrize(("days", "count"), [(14, 1), (28, 2)])
async def test_dense_marks_add_an_unmarked_screenshot(show, days, count):
    buttons = "".join(f"<button>{n}</button>" for n in range(10, 10 + days))
    tab = await show(DENSE % buttons)
    (bare,) = await tab.marked_pictures()  # nothing has a ref yet
    await tab.snapshot()
    marked, *others = await tab.marked_pictures()
    assert marked != bare
    assert others == [bare] * (count - 1)
