"""A model driving the loop searches the user's files and the web together, or just one."""

from __future__ import annotations

import json

import pytest

NOTE = "# Berths\n\nThe light of Hesk was painted red in 1951, as the harbour master told us.\n"


@pytest.fixture
def searched(ask, script, events, site, tmp_path):
    """Run one search over a folder and the bundled web; returns result, report and requests."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "berths.md").write_text(NOTE)

    async def searching(arguments, **flags):
        call = json.dumps({"query": "Hesk light painted", **arguments})
        before = site.asked["/search"]
        answer = "The light of Hesk was painted red in 1951 [S1]."
        report = await ask(
            "What colour was Hesk light?",
            model=script(f"<<TOOL:WEB_SEARCH:{call}>>", answer),
            corpus=folder,
            **flags,
        )
        result = next(e.data for e in events(report) if e.type == "tool.result")
        return result, report, site.asked["/search"] - before

    return searching


async def test_file_and_web_results_are_merged_and_found_file_counts_as_read(searched):
    result, report, requests = await searched({})
    urls = [url for url, _, _ in result["results"]]
    assert requests
    assert any(url.startswith("file:") for url in urls)
    assert any(url.startswith("http") for url in urls)
    assert "S1. (your file) Berths" in result["web"]
    assert "S1¶" in result["web"]
    source = report.sources[0]
    assert (source.via, report.sentences[0].verdict) == ("file", "supported")
    assert not report.sentences[0].weak


@pytest.mark.parametrize(("where", "schemes"), [("files", {"file"}), ("web", {"http"})])
async def test_search_can_be_limited_to_files_or_web(searched, where, schemes):
    result, _, requests = await searched({"in": where})
    assert {url.partition(":")[0] for url, _, _ in result["results"]} == schemes
    assert bool(requests) is (where == "web")


async def test_corpus_only_search_makes_no_request(searched):
    _, _, requests = await searched({}, search=["corpus"])
    assert not requests
