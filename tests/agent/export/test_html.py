"""The HTML report: self-contained, harmless, each marker leading to its quote."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from agent.export import export
from agent.journal import Runs

PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "[click](javascript:alert(1))",
    "![x](https://evil.test/p.png)",
    "<iframe src=https://evil.test></iframe>",
    "<style>*{background:url(https://evil.test)}</style>",
    "</style><script>alert(1)</script>",
    "`<script>alert(1)</script>`",
    "<a href='data:text/html,x'>x</a>",
    "<details ontoggle=alert(1) open>",
    "{{constructor.constructor('alert(1)')()}}",
]


class Elements(HTMLParser):
    """Collects the elements and attributes of a page."""

    def __init__(self, html):
        super().__init__()
        self.seen = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


@pytest.fixture
def written(ask, script, site, tmp_path):
    """Run a script and give the report as HTML."""

    async def write(*replies, question="When was Hesk Light first lit?", **flags):
        report = await ask(question, model=script(*replies), **flags)
        target = tmp_path / "report.html"
        export(Runs(tmp_path / "data").find(report.run).path, target)
        return target.read_text()

    return write


async def test_each_marker_leads_to_the_quote_that_carries_its_sentence(written, site):
    html = await written(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        "Hesk Light was first lit on 1 November 1829. [S1]",
    )
    marks = dict(re.findall(r'<mark id="(quote-[\d-]+)">([^<]*)</mark>', html))
    target = re.search(r'1829\.? <a class="cite" href="#(quote-[\d-]+)">', html)[1]
    assert "1829" in marks[target]


@pytest.mark.parametrize("payload", PAYLOADS)
async def test_what_a_page_or_a_model_says_never_becomes_markup(written, payload):
    html = await written(f"<<THINK>>{payload}<</THINK>>NOT_FOUND {payload}", question=payload)
    elements = Elements(html).seen
    assert {tag for tag, _ in elements}.isdisjoint({"script", "svg", "iframe", "object", "base"})
    attributes = [(name, value or "") for _, attrs in elements for name, value in attrs.items()]
    assert not [name for name, _ in attributes if name.startswith("on")]
    links = [value for name, value in attributes if name in ("href", "src")]
    assert all(link.startswith(("#", "http://127.0.0.1", "data:image/")) for link in links)


async def test_the_report_asks_for_nothing_from_anywhere(written):
    html = await written("NOT_FOUND")
    assert "default-src 'none'" in html
    assert "<link" not in html


async def test_screenshots_stand_in_the_steps(written, site):
    html = await written(f"<<TOOL:OPEN:{site.url}/hesk-light>>", "<<TOOL:SCREENSHOT>>", "NOT_FOUND")
    assert "data:image/png;base64," in html
