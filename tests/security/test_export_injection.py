"""Nothing that a page, an address or a model says becomes markup in a report.

The reports are opened in the real browser with the report's own script policy disabled, so that
escaping alone must suffice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product

import pytest
from markdown_it import MarkdownIt

from agent.export import export
from agent.journal.events import Journal
from agent.journal.runs import Runs
from agent.types import Report, ReportSource, SearchLine, Sentence, UsageTotals
from browser.extract.tree import parse_html
from tests.security.payloads import ADDRESSES, PAYLOADS

pytestmark = pytest.mark.row(n=25)

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
    foreign: list = field(default_factory=list)
    text: str = ""


@pytest.fixture(scope="module")
async def page(browser):
    """A page that reports what ran in it and what it requested."""
    nowhere = {"server": "http://127.0.0.1:9"}
    context = await browser.new_context(bypass_csp=True, proxy=nowhere)
    await context.add_init_script(WATCH)
    yield await context.new_page()
    await context.close()


@pytest.fixture
def opened(page, tmp_path):
    async def opening(payloads, urls=("https://example.org/",)):
        folder = hostile_run(tmp_path, payloads, urls)
        target = tmp_path / "report.html"
        export(folder.path, target)
        seen = Opened()

        def asked(request):
            if not request.url.startswith(("file:", "data:image/")):
                seen.asked_for.append(request.url)

        page.on("request", asked)
        await page.goto(target.as_uri())
        seen.ran = await page.evaluate(PROVOKE)
        foreign = page.locator(FOREIGN)
        seen.foreign = await foreign.evaluate_all("all => all.map(one => one.outerHTML)")
        seen.text = await page.locator("main").inner_text()
        page.remove_listener("request", asked)
        return seen

    return opening


def hostile_run(tmp_path, payloads, urls):
    """A finished run in which all third-party text is a payload, each in every place."""
    folder = Runs(tmp_path).create(NOW)
    journal = Journal(folder)
    together = "\n".join(payloads)
    paragraphs = [text for payload in payloads for text in (f"{payload} [1]", payload)]
    texts = [f"Before. {payload} After. {payload}" for payload in payloads]  # one is the quote
    digests = [folder.save_blob(text.encode()) for text in texts]
    sources = [
        ReportSource(
            n=n,
            url=url,
            title=payload,
            fetched_at=NOW.isoformat(),
            sha256=digest,
            via="http",
            quotes=[payload, f"{payload} elsewhere"],
        )
        for n, (url, (payload, digest)) in enumerate(
            product(urls, zip(payloads, digests, strict=True)), 1
        )
    ]
    report = Report(
        run=folder.id,
        question=together,
        status="answered",
        answer="\n\n".join(paragraphs),
        sentences=[Sentence(text=p, citations=[1], reason=p) for p in payloads],
        sources=sources,
        searches=[SearchLine(query=p, provider=p, outcome=p) for p in payloads],
        usage=UsageTotals(model=together),
        error={"type": together, "message": together, "hint": together},
    )
    journal.write("run.started", question=together)
    for step, (payload, digest) in enumerate(zip(payloads, digests, strict=True), 1):
        journal.write("thought", f"0/{step}", text=payload)
        for place, data in (
            (f"0/{step}/1", {"error": payload}),
            (payload, {payload: payload}),
        ):
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
    for source in sources:
        kept = {"n": source.n, "url": source.url, "title": source.title}
        journal.write("source.added", **kept, sha256=source.sha256, text=source.sha256, body=None)
    journal.write("run.finished", report=report.model_dump(mode="json"))
    journal.close()
    folder.write(folder.report, report.to_json().encode())
    return folder


def plain(text):
    """Return the characters that are visible on a screen."""
    return "".join(c for c in text if c.isprintable() and not c.isspace())


def test_at_least_120_export_payloads_are_tested():
    assert len(set(PAYLOADS)) >= 120


async def test_html_export_neutralizes_every_payload(opened):
    seen = await opened(PAYLOADS)
    assert (seen.ran, seen.asked_for, seen.foreign) == ([], [], [])
    # Each payload is shown as plain text, and the content after it is intact.
    assert [payload for payload in PAYLOADS if plain(payload) not in plain(seen.text)] == []
    assert "evidence for each sentence" in seen.text.casefold()
    assert "Steps" in seen.text


async def test_html_export_does_not_link_non_web_addresses(opened):
    seen = await opened(["Harmless."], ADDRESSES)
    assert (seen.ran, seen.asked_for, seen.foreign) == ([], [], [])


def as_a_viewer_shows_it(markdown):
    return MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)


@pytest.mark.parametrize(
    "payload", [*PAYLOADS, "x](<img src=//evil.example/>", "![a](//evil.example/)"]
)
@pytest.mark.sample(30)
def test_markdown_export_neutralizes_every_payload(tmp_path, payload):
    folder = hostile_run(tmp_path, [payload], ["https://example.org/a(b)<img src=x>"])
    export(folder.path, tmp_path / "report.md")
    root = parse_html(as_a_viewer_shows_it((tmp_path / "report.md").read_text("utf-8")))
    foreign = set(FOREIGN.split(", ")) | {"img"}
    assert [element.tag for element in root.iter() if element.tag in foreign] == []
    assert [name for element in root.iter() for name in element.attrib if name[:2] == "on"] == []


BAD = "\x1b[31m\x07\x9b31m\u202e\u2066\u200b\U000e0041\x00"


@pytest.mark.parametrize(
    "kind", ["md", "html", "json", "jsonl", "obsidian.md", "csl.json", "bib", "ris", "xml"]
)
@pytest.mark.row(n=5)
def test_export_strips_terminal_control_and_invisible_characters(tmp_path, kind):
    target = tmp_path / f"report.{kind}"
    export(hostile_run(tmp_path, [f"shown{BAD}here"], ["https://example.org/"]).path, target)
    text = target.read_bytes().decode("utf-8")
    assert "shown" in text
    assert [found for found in BAD if found in text and found not in "[31m"] == []
