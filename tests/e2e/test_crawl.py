"""CRAWL as a model calls it: a section is read, its best pages become sources to cite."""

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


async def test_a_crawl_brings_passages_that_can_be_cited(ask, crawl_for, events, site):
    model = crawl_for(
        "Hesk Light was first lit on 1 November 1829. [S1]", query="Hesk Light first lit"
    )
    report = await ask(model=model)
    made = result(events(report))
    assert made["data"]["read"] > 1
    assert made["data"]["sources"]
    assert "S1¶" in made["web"]
    assert report.sources


async def test_without_a_query_a_crawl_lists_pages_and_makes_no_source(
    ask, crawl_for, events, site
):
    report = await ask(model=crawl_for("NOT_FOUND", pages=3))
    made = result(events(report))
    assert made["web"].count(" — http") == made["data"]["read"] <= 3
    assert "sources" not in made["data"]
    assert not [event for event in events(report) if event.type == "source.added"]


async def test_too_many_pages_are_refused_with_the_form_wanted(ask, crawl_for, events, site):
    report = await ask(model=crawl_for("NOT_FOUND", pages=500))
    assert "pages" in result(events(report))["data"]["error"]
