"""CRAWL as called by a model: a section is read, and its best pages become citable sources."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def crawl_for(script, site):
    """A script that crawls the bundled web and quotes the first passage found."""

    def write(answer: str, **params: object) -> str:
        call = json.dumps({"url": f"{site.url}/", **params})
        return script(f"<<TOOL:CRAWL:{call}>>", answer)

    return write


def result(events):
    return next(e.data for e in events if e.type == "tool.result" and e.data["name"] == "CRAWL")


async def test_crawl_returns_citable_passages(ask, crawl_for, events, site):
    model = crawl_for(
        "Hesk Light was first lit on 1 November 1829. [S1]", query="Hesk Light first lit"
    )
    report = await ask(model=model)
    made = result(events(report))
    read = made["data"]["read"]
    assert read > 1
    # Every page that it read is named with a source, and has a passage.
    assert all(f"S{n} " in made["web"] and f"S{n}¶" in made["web"] for n in range(1, read + 1))
    assert report.sources


async def test_crawl_without_query_shows_page_beginnings(ask, crawl_for, events, site):
    report = await ask(model=crawl_for("NOT_FOUND", pages=3))
    made = result(events(report))
    assert made["web"].count(" — http") == made["data"]["read"] <= 3
    assert len(made["passages"]) == made["data"]["read"]


async def test_crawl_rejects_too_many_pages(ask, crawl_for, events, site):
    report = await ask(model=crawl_for("NOT_FOUND", pages=500))
    assert "pages" in result(events(report))["data"]["error"]
