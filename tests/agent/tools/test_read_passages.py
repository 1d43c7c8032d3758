"""What READ shows from a long page for a query."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.evidence import Evidence
from agent.tools.context import ToolContext
from agent.tools.sources import show_passages
from browser.types import Document, Outcome, Page

HEAD = "| Ferry | Built | Length (m) | Remarks |"
ROWS = [
    f"| Name{n:03} | {1850 + n % 150} | {10 + n % 80} | A ferry of the northern harbour line |"
    for n in range(600)
]
TEXT = "\n".join(
    ["The ferries of the isles are many.", "", HEAD, "|---|---|---|---|", *ROWS, "", "The end."]
)


@pytest.mark.parametrize("number", [3, 311, 598])
def test_query_shows_table_header_and_matching_row_with_neighbours(number):
    evidence = Evidence("q")
    url = "https://ferries.test/"
    document = Document(url=url, title="Ferries", text=TEXT)
    evidence.add(Page(url, url, "http", Outcome.OK, datetime.now(UTC), document=document))
    context = ToolContext("q", evidence)
    query = f"length of the ferry Name{number:03}"
    text, _ = show_passages(context, evidence.sources[0], query=query)
    lines = [line.partition(" ")[2] for line in text.splitlines()]
    assert HEAD in lines
    assert set(ROWS[number - 1 : number + 2]) <= set(lines)
    assert len(lines) <= 24
