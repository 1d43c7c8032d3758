"""Driving a real page with only tool tags."""

from __future__ import annotations


async def test_answer_requiring_typing_and_click_is_found(ask, script, site, events):
    model = script(
        f"<<TOOL:OPEN:{site.url}/collection>>",
        '<<TOOL:TYPE:{"ref":"{{ref:Search the collection}}","text":"fog bell","submit":true}>>',
        "<<TOOL:SNAPSHOT>>",
        "<<TOOL:CLICK:{{ref:Fog bell}}>>",
        "<<TOOL:READ:{}>><<TOOL:SCREENSHOT>><<TOOL:TABS>>",
        "NOT_FOUND",
    )
    report = await ask(model=model)
    happened = events(report)
    read = [e for e in happened if e.type == "tool.result" and e.data["name"] == "READ"]
    assert "Ottoline Brask" in read[0].data["web"]
    picture = next(e for e in happened if e.data.get("blobs"))
    assert picture.data["blobs"]["screenshot.png"]


async def test_page_actions_run_in_tag_order(ask, script, site, events):
    model = script(
        f"<<TOOL:OPEN:{site.url}/collection>>",
        '<<TOOL:TYPE:{"ref":"{{ref:Search the collection}}","text":"lamp"}>>'
        '<<TOOL:PRESS:{"keys":"Enter","ref":"{{ref:Search the collection}}"}>>',
        "NOT_FOUND",
    )
    report = await ask(model=model)
    acted = [e.data["data"] for e in events(report) if e.type == "tool.result"][1:]
    assert all("error" not in data for data in acted)


async def test_private_address_is_refused_and_not_a_source(ask, script, events):
    model = script(
        "<<TOOL:OPEN:http://127.0.0.1:8080/admin>><<TOOL:OPEN:http://localhost.localdomain:8080/>>",
        "NOT_FOUND",
    )
    report = await ask(model=model)
    happened = events(report)
    results = [e.data for e in happened if e.type == "tool.result"]
    assert all("error" in result["data"] for result in results)
    assert "--allow-private" in results[0]["hint"]
    assert not [e for e in happened if e.type == "source.added"]
