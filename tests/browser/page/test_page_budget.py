"""Under a budget: what the question needs first, the rest one step away."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import pytest

from browser.page.lines import PageLine
from browser.page.snapshot import select_lines
from browser.text.words import words


def test_select_lines_keeps_everything_within_budget():
    lines = [PageLine("one"), PageLine("two", "h2")]
    assert select_lines(lines, 100).rendered == ["one", "## two"]


def test_select_lines_respects_budget_and_folds_the_rest():
    lines = [PageLine(f"line {n} with words w{n} v{n}", group=("g", n)) for n in range(400)]
    choice = select_lines(lines, 200)
    assert len("\n".join(choice.rendered)) <= 800
    folded = sum(map(len, choice.folds.values()))
    assert folded + len(choice.kept) == 400


def test_select_lines_prefers_lines_matching_the_query():
    lines = [PageLine(f"filler about matter {n} and things {n * 7}") for n in range(300)]
    lines[211] = PageLine("the lighthouse keeper was called Marten")
    choice = select_lines(lines, 150, "who was the lighthouse keeper")
    assert 211 in choice.kept


def test_select_lines_prefers_long_relevant_line_over_short_ones():
    lines = [PageLine(f"term{n} idea{n}", "h2") for n in range(300)]
    lines[211] = PageLine(f"{'and so it went on that day ' * 12}until the keeper was Marten")
    assert 211 in select_lines(lines, 150, "who was the keeper").kept


def test_select_lines_prefers_new_words_over_repeated_ones():
    repeated = [PageLine("read more share print") for _ in range(100)]
    fresh = [PageLine(f"term{n} idea{n} place{n}") for n in range(20)]
    choice = select_lines([*repeated, *fresh], 150)
    shown = set(words("\n".join(choice.rendered)))
    assert sum(f"term{n}" in shown for n in range(20)) >= 15


async def test_folded_lines_are_reachable_by_find_and_expand(show):
    rows = "".join(f"<li>Ship number {n} left with cargo c{n}" for n in range(400))
    tab = await show(f"<ul>{rows}</ul>")
    snapshot = await tab.snapshot(budget=300)
    assert len(snapshot.text) // 4 <= 300
    assert "cargo c377" in (await tab.find("cargo c377")).text
    fold = next(line for line in snapshot.text.splitlines() if line.startswith("[x"))
    assert "Ship number" in await tab.expand(fold[1:].split(":")[0])


async def test_long_paragraph_shows_the_part_matching_the_query(show):
    filler = " ".join(
        f"Sentence number {n} speaks of matters {n * 3} and {n * 5}." for n in range(400)
    )
    tab = await show(f"<p>{filler} The pilot was named Brandaris. {filler}</p>")
    snapshot = await tab.snapshot(budget=400, query="what was the pilot named")
    assert "Brandaris" in snapshot.text
    assert len(snapshot.text) // 4 <= 400


async def test_endless_line_of_links_is_shown_partially(show):
    links = " ".join(f"<a href=/{n}>link {n}</a>" for n in range(1000))
    tab = await show(f"<p>{links}</p>")
    snapshot = await tab.snapshot()
    assert len(snapshot.refs) > 100
    assert "link 999" in (await tab.find("link 999")).text


LINKS = "".join(f"<a href=/p{n}>Entry {n}</a> <p>Paragraph {n}</p>" for n in range(30))


@pytest.mark.parametrize(
    "dialog",
    [
        "<dialog id=d><p>Really?</p><button>Yes</button></dialog><script>d.showModal()</script>",
        "<div role=dialog aria-modal=true style='position:fixed;top:90px'><p>Really?</p><button>Yes</button></div>",
        "<div style='position:fixed;inset:0;background:#0008'><p>Really?</p><button>Yes</button></div>",
    ],
    ids=["native", "by ARIA", "a layer"],
)
async def test_snapshot_shows_dialog_before_content_beneath(show, dialog):
    tab = await show(f"<main>{LINKS}</main>{dialog}")
    snapshot = await tab.snapshot()
    lines = snapshot.text.splitlines()
    assert "Really?" in "".join(lines[:3])
    assert "(beneath it:)" in lines
    assert snapshot.text.index("(beneath it:)") < snapshot.text.index("Entry 7")
    assert "covered" not in snapshot.text
    small = (await tab.snapshot(budget=60)).text
    assert "Really?" in small
    assert "button: Yes" in small
    assert "more lines]" in small
    whole = (await tab.snapshot(budget=None)).text
    assert whole.index("Really?") < whole.index("Entry 7")


async def test_offscreen_menus_are_folded_to_one_line(show):
    sub = "".join(f"<li><a href=/s{n}>Page {n}</a></li>" for n in range(6))
    tab = await show(
        f"<ul><li><a href=/s>Pages</a><ul style='position:absolute;left:-9999px'>{sub}</ul></li></ul>"
    )
    snapshot = await tab.snapshot()
    assert snapshot.text.split("\n") == [" - [e1: Pages]", "[x1: 6 lines out of sight]"]
    assert "Page 4" in await tab.expand("x1")
    assert (await tab.find("Page 4")).found


async def test_unlimited_budget_shows_whole_large_page(show):
    filler = "and so it went on that day " * 15
    rows = "".join(f"<p>Entry {n} of the index, word{n} {filler}</p>" for n in range(700))
    tab = await show(rows)
    snapshot = await tab.snapshot(budget=None)
    assert "word699" in snapshot.text
    assert "word350" in snapshot.text
    assert all(f"word{n} " in snapshot.text for n in range(700))


async def test_modal_attribute_alone_does_not_make_menu_a_dialog(show):
    menu = "<nav role=dialog aria-modal=true aria-label=Menu><p>One</p><p>Two</p></nav>"
    afar = menu.replace("<nav", "<nav style='position:fixed;left:-400px;width:300px'")
    for one in (menu, afar):
        tab = await show(f"{one}<main>{LINKS}</main>")
        text = (await tab.snapshot()).text
        assert "Entry 7" in text
        assert "beneath" not in text
