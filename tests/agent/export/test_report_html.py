"""The HTML report: self-contained, accessible, each marker linking to its quote."""

from __future__ import annotations

import dataclasses
import itertools
import re

import pytest
from axe_playwright_python.async_playwright import Axe

from agent.export.finished_run import FinishedRun
from agent.export.markup import inline, prose
from agent.export.report_html import report_body, step_title
from agent.journal.events import read_events

WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")
LOW_CONTRAST_TEXTS = """() => {
  const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const color = parse(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const weak = [];
  for (let node; (node = words.nextNode());) {
    const element = node.parentElement;
    if (!node.data.trim() || element.tagName === 'STYLE') continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) weak.push([node.data.slice(0, 40), ratio.toFixed(2)]);
  }
  return weak;
}"""


@pytest.fixture
def html(written):
    return written("report.html").decode()


@pytest.fixture
async def shown(html, new_context):
    """The report in the real browser; returns a page with a given width and colour scheme."""

    async def show(width=1280, scheme="light", **options):
        size = {"width": width, "height": 900}
        nowhere = {"server": "http://127.0.0.1:9"}
        context = await new_context(viewport=size, color_scheme=scheme, proxy=nowhere, **options)
        page = await context.new_page()
        await page.set_content(html)
        return page

    return show


def test_citation_marker_links_to_supporting_quote(html):
    marks = dict(re.findall(r'<mark id="(quote-[\d-]+)">([^<]*)</mark>', html))
    target = re.search(r'1829\. <a class="cite" href="#(quote-[\d-]+)"', html)[1]
    assert "1829" in marks[target]


def test_unsupported_sentence_is_marked_in_answer(html):
    answer = html.partition('<div class="answer">')[2].partition("</div>")[0]
    assert re.findall(r"<small class=.(\w+).>([^<]+)</small>", answer) == [
        ("undecided", "not verified")
    ]
    assert answer.index("fond of it") < answer.index("not verified")


def test_report_loads_no_external_resources(html):
    assert "default-src 'none'" in html
    assert "<link" not in html


def test_timeline_shows_steps_with_thoughts_calls_and_screenshots(html):
    timeline = html.partition('<ol class="timeline">')[2]
    assert [int(n) for n in re.findall(r"<h3>Step (\d+) ", timeline)] == [1, 2, 3, 4]
    assert "search first" in timeline
    assert re.findall(r'<span class="tool">([A-Z_]+)', timeline) == [
        "WEB_SEARCH",
        "READ",
        "OPEN",
        "SCREENSHOT",
    ]
    assert "data:image/png;base64," in timeline


def test_answer_headings_start_at_h2_without_skipping_levels():
    made = prose("### a\n\n# b\n\n#### c\n\n###### d")
    assert re.findall(r"<h(\d)>(\w)</h\1>", made) == [
        ("2", "a"),
        ("2", "b"),
        ("3", "c"),
        ("4", "d"),
    ]


def test_inline_renders_emphasis_and_strips_table_pipes():
    assert inline("It is **old**.") == "It is <strong>old</strong>."
    assert inline("| first lit | 1829 |") == "first lit | 1829"


async def test_report_does_not_overflow_and_text_has_enough_contrast(shown):
    for width in WIDTHS:
        for scheme in SCHEMES:
            page = await shown(width, scheme)
            opened = "document.querySelectorAll('details').forEach((d) => (d.open = true))"
            await page.evaluate(opened)
            over = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, (width, scheme)
            assert await page.evaluate(LOW_CONTRAST_TEXTS) == [], (width, scheme)


async def test_report_has_landmarks_ordered_headings_and_alt_texts(shown):
    page = await shown(java_script_enabled=False)
    await page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    roles = [await page.get_by_role(role).count() for role in ("main", "contentinfo")]
    assert roles == [1, 1]
    levels = [
        int((await heading.evaluate("e => e.tagName"))[1])
        for heading in await page.get_by_role("heading").all()
    ]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert await page.locator("img:not([alt])").count() == 0
    assert await page.get_by_role("table").count() == await page.locator("table").count()


async def test_hovering_citation_marker_shows_quote(shown):
    page = await shown()
    marker = page.locator(".answer .cite").first
    shows = "e => getComputedStyle(e, '::after').content"
    assert await marker.evaluate(shows) == "none"
    await marker.hover()
    assert "1 November 1829" in await marker.evaluate(shows)


async def test_print_uses_light_background_in_dark_mode(shown):
    page = await shown(scheme="dark")
    await page.emulate_media(media="print", color_scheme="dark")
    ground = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"


@pytest.mark.parametrize(("width", "scheme"), list(zip(WIDTHS, SCHEMES, strict=True)))
async def test_axe_finds_no_accessibility_violations(shown, width, scheme):
    page = await shown(width, scheme)
    await page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    found = await Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


RIGHT_EDGES = """() => {
  const paragraph = document.querySelector('.answer p');
  paragraph.textContent = '\u05e9\u05dc\u05d5\u05dd.';
  const words = document.createRange();
  words.selectNodeContents(paragraph);
  return [words, paragraph].map(box => box.getBoundingClientRect().right);
}"""


async def test_paragraph_direction_follows_its_script(shown):
    page = await shown()
    words, paragraph = await page.evaluate(RIGHT_EDGES)
    assert paragraph - words < 2


async def test_citation_click_highlights_quote_without_javascript(shown):
    page = await shown(java_script_enabled=False)
    await page.locator("a.cite").first.click()
    marked = page.locator("mark:target")
    assert "1 November 1829" in (await marked.text_content() or "")
    assert await marked.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"


def test_timeline_groups_steps_of_parallel_parts(finished):
    events = list(read_events(finished.journal))
    moved = {"0/1": "1/1", "0/2": "2/1", "0/3": "1/1"}

    def elsewhere(event):
        head, _, rest = event.place.partition("/")
        step, _, call = rest.partition("/")
        place = moved.get(f"{head}/{step}")
        return dataclasses.replace(event, place=f"{place}/{call}".rstrip("/")) if place else event

    record = FinishedRun.read(finished.path)
    drawn = report_body(dataclasses.replace(record, events=tuple(map(elsewhere, events))))
    timeline = drawn.partition('<ol class="timeline">')[2]
    titles = re.findall(r"<h3>([^<]+?) <", timeline)
    assert titles == ["Part 1 · step 1", "Part 2 · step 1", "Step 4"]


@pytest.mark.parametrize(
    ("place", "title"),
    [("0/3", "Step 3"), ("2/wrap-up", "Part 2 · wrap-up"), ("judge/1", "Judge"), ("plan", "Plan")],
)
def test_step_titles_are_human_readable(place, title):
    assert step_title(place) == title
