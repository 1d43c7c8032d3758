"""Nothing that a page, an address or a model says becomes markup in a report.

The reports are opened in the real browser with the report's own policy against scripts switched
off: the escaping has to hold alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from markdown_it import MarkdownIt

from agent.export import export
from agent.journal.runs import Runs
from agent.journal.writer import Journal
from agent.types import Report, ReportSource, SearchLine, Sentence, UsageTotals
from browser.extract.tree import parse_html
from tests.security.payloads import ADDRESSES, PAYLOADS

NOW = datetime(2026, 11, 21, 5, 45, tzinfo=UTC)
FOREIGN = (
    "script, svg, math, iframe, object, embed, base, form, input, link, template, video, audio"
)
WATCH = "window.ran = []; window.alert = (what) => window.ran.push(String(what));"
PROVOKE = """() => {
  for (const element of document.querySelectorAll('*')) {
    if (element.tagName === 'DETAILS') element.open = true;
    for (const name of ['mouseover', 'focus', 'toggle', 'load', 'error', 'animationstart'])
      element.dispatchEvent(new Event(name, { bubbles: false }));
    const href = element.getAttribute('href');
    if (href && !href.startsWith('#') && !/^https?:\\/\\//.test(href)) window.ran.push(href);
    for (const name of element.getAttributeNames())
      if (name.startsWith('on') || name === 'style' || name === 'srcset') window.ran.push(name);
  }
  return window.ran;
}"""


@dataclass
class Opened:
    """What happened when a report was opened."""

    ran: list = field(default_factory=list)
    asked_for: list = field(default_factory=list)
    foreign: int = 0
    text: str = ""


@pytest.fixture(scope="module")
async def page(browser):
    """A page that tells what ran in it and what it asked for."""
    nowhere = {"server": "http://127.0.0.1:9"}
    context = await browser.new_context(bypass_csp=True, proxy=nowhere)
    await context.add_init_script(WATCH)
    yield await context.new_page()
    await context.close()


@pytest.fixture
def opened(page, tmp_path):
    async def opening(payload, url="https://example.org/"):
        folder = hostile_run(tmp_path, payload, url)
        target = tmp_path / "report.html"
        export(folder.path, target)
        seen = Opened()

        def asked(request):
            if not request.url.startswith(("file:", "data:image/")):
                seen.asked_for.append(request.url)

        page.on("request", asked)
        await page.goto(target.as_uri())
        seen.ran = await page.evaluate(PROVOKE)
        seen.foreign = await page.locator(FOREIGN).count()
        seen.text = await page.locator("main").inner_text()
        page.remove_listener("request", asked)
        return seen

    return opening


def hostile_run(tmp_path, payload, url):
    """A finished run in which everything that others say is the payload."""
    folder = Runs(tmp_path).create(NOW)
    journal = Journal(folder)
    text = f"Before. {payload} After."
    digest = folder.keep(text.encode())
    report = Report(
        run=folder.id,
        question=payload,
        status="answered",
        answer=f"{payload} [1]\n\n{payload}",
        sentences=[Sentence(text=payload, citations=[1], reason=payload)],
        sources=[
            ReportSource(
                n=1,
                url=url,
                title=payload,
                fetched_at=NOW.isoformat(),
                sha256=digest,
                via="http",
                quotes=[payload, f"{payload} elsewhere"],
            )
        ],
        searches=[SearchLine(query=payload, provider=payload, outcome=payload)],
        usage=UsageTotals(model=payload),
        error={"type": payload, "message": payload, "hint": payload},
    )
    journal.write("run.started", question=payload)
    journal.write("thought", "0/1", text=payload)
    journal.write(
        "source.added", n=1, url=url, title=payload, sha256=digest, text=digest, body=None
    )
    for place, data in (("0/1/1", {"error": payload}), (payload, {payload: payload})):
        journal.write(
            "tool.result",
            place,
            name=payload,
            param=payload,
            data=data,
            web=payload,
            ms=1,
            blobs={f"{payload}.png": digest},
        )
    journal.write("run.finished", report=report.model_dump(mode="json"))
    journal.close()
    folder.write_report(report.to_json())
    return folder


def test_there_are_at_least_120_payloads():
    assert len(set(PAYLOADS)) >= 120


@pytest.mark.parametrize("payload", PAYLOADS)
async def test_no_payload_runs_asks_for_anything_or_becomes_an_element(opened, payload):
    seen = await opened(payload)
    assert (seen.ran, seen.asked_for, seen.foreign) == ([], [], 0)
    assert "What carries each sentence" in seen.text  # the page after the payload is still there
    assert "Steps" in seen.text


@pytest.mark.parametrize("url", ADDRESSES)
async def test_an_address_that_is_none_of_the_web_is_no_link(opened, url):
    seen = await opened("Harmless.", url)
    assert (seen.ran, seen.asked_for, seen.foreign) == ([], [], 0)


def as_a_viewer_shows_it(markdown):
    return MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)


@pytest.mark.parametrize(
    "payload", [*PAYLOADS, "x](<img src=//evil.example/>", "![a](//evil.example/)"]
)
def test_in_markdown_no_payload_becomes_an_element_or_is_fetched(tmp_path, payload):
    folder = hostile_run(tmp_path, payload, "https://example.org/a(b)<img src=x>")
    export(folder.path, tmp_path / "report.md")
    root = parse_html(as_a_viewer_shows_it((tmp_path / "report.md").read_text("utf-8")))
    foreign = set(FOREIGN.split(", ")) | {"img"}
    assert [element.tag for element in root.iter() if element.tag in foreign] == []
    assert [name for element in root.iter() for name in element.attrib if name[:2] == "on"] == []


BAD = "\x1b[31m\x07\x9b31m\u202e\u2066\u200b\U000e0041\x00"


@pytest.mark.parametrize(
    "kind", ["md", "html", "json", "jsonl", "obsidian.md", "csl.json", "bib", "ris", "xml"]
)
def test_row5_no_character_of_an_export_steers_a_terminal_or_hides(tmp_path, kind):
    target = tmp_path / f"report.{kind}"
    export(hostile_run(tmp_path, f"shown{BAD}here", "https://example.org/").path, target)
    text = target.read_bytes().decode("utf-8")
    assert "shown" in text
    assert [found for found in BAD if found in text and found not in "[31m"] == []
