"""Crossref and arXiv, imitated on loopback, complete a PDF's publication details."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient
from browser.net.polite import Polite
from browser.read.online_metadata import OnlineMetadata
from browser.read.reader import Reader
from browser.types import ARXIV_API
from tests.browser.extract.documents.pdfs import Sheet, build_pdf

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from browser.types import Document
    from tests.browser.read.reading_site import Site

WORK = {
    "status": "ok",
    "message-type": "work",
    "message": {
        "DOI": "10.5555/Crane.7",
        "type": "journal-article",
        "title": ["The <i>second</i> crane of Hesk"],
        "author": [
            {"given": "Ada", "family": "Holm", "sequence": "first"},
            {"given": "Jo", "family": "Mole", "sequence": "additional"},
        ],
        "issued": {"date-parts": [[2019, 4]]},
        "container-title": ["Annals of Harbours"],
        "volume": "12",
        "issue": "3",
        "page": "41-56",
        "publisher": "Quay Press",
    },
}
FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>arXiv Query</title>{}</feed>"""
ENTRY = """<entry><id>http://arxiv.org/abs/2101.00042v2</id><published>2021-01-04T18:00:00Z</published>
<title>On cranes,
  and their weights</title><author><name>Bo Rower</name></author>
<arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">10.5555/weights.1</arxiv:doi></entry>"""


def paper(title: str, *lines: str) -> bytes:
    """A first page: a title above small print."""
    small = [(50, 700 - 14 * n, 10, line) for n, line in enumerate(lines)]
    return build_pdf(Sheet([(50, 740, 20, title), *small]))


@asynccontextmanager
async def reader_with_metadata(metadata: dict[str, str]) -> AsyncIterator[Reader]:
    """A reader that queries these registries."""
    async with (
        Egress(EgressPolicy(allow_private=("127.0.0.1",))) as egress,
        HttpClient(egress) as client,
    ):
        yield Reader(Polite(client), metadata=OnlineMetadata(client, **metadata))


async def read(reader: Reader, site: Site, path: str, body: bytes) -> Document:
    """Serve a PDF and read it."""
    site.answers[path] = (200, {"Content-Type": "application/pdf"}, body)
    document = (await reader.read(site.base + path)).document
    assert document is not None
    return document


async def test_crossref_completes_pdf_with_doi_unless_title_differs(site: Site) -> None:
    known = "/works/10.5555%2Fcrane.7"
    site.answers[known] = (200, {}, json.dumps(WORK).encode())
    async with reader_with_metadata({"crossref": f"{site.base}/works"}) as reader:
        text = ("The crane lifts forty tons from any ship.", "doi:10.5555/crane.7")
        same = await read(reader, site, "/a.pdf", paper("The second crane", *text))
        other = await read(reader, site, "/b.pdf", paper("A guide to cranes", *text))
        unknown = await read(reader, site, "/c.pdf", paper("Cranes", "doi:10.5555/none"))
        plain = await read(reader, site, "/d.pdf", paper("Cranes of the world", text[0]))
    assert (same.title, same.author) == ("The second crane of Hesk", "Ada Holm, Jo Mole")
    assert (same.published or "")[:7] == "2019-04"
    where = same.publication
    assert (where.venue, where.volume, where.issue) == ("Annals of Harbours", "12", "3")
    assert (where.pages, where.doi) == ("41-56", "10.5555/crane.7")
    assert other.title == "A guide to cranes"
    assert "Crossref has a different title: The second crane of Hesk" in other.notes
    assert "Crossref has no entry for 10.5555/none" in unknown.notes
    assert plain.notes == ()
    assert site.asked.count(known) == 1
    assert sum(path.startswith("/works/") for path in site.asked) == 2


async def test_arxiv_completes_preprint_and_failure_is_noted(site: Site) -> None:
    text = ("The crane lifts forty tons from any ship.", "arXiv:2101.00042v2 [cs.HC] 4 Jan 2021")
    site.answers["/api?id_list=2101.00042"] = (200, {}, FEED.format(ENTRY).encode())
    async with reader_with_metadata({"arxiv": f"{site.base}/api"}) as reader:
        found = await read(reader, site, "/a.pdf", paper("On cranes", *text))
    assert (found.title, found.author) == ("On cranes, and their weights", "Bo Rower")
    assert (found.published, found.publication.doi) == ("2021-01-04", "10.5555/weights.1")
    async with reader_with_metadata(
        {"crossref": f"{site.base}/broken", "arxiv": ARXIV_API}
    ) as reader:
        site.answers["/broken/10.5555%2Fcrane.7"] = (200, {}, b"<html>")
        failed = await read(reader, site, "/b.pdf", paper("On cranes", "doi:10.5555/crane.7"))
    assert failed.title == "On cranes"
    assert any("could not be completed by Crossref" in note for note in failed.notes)
