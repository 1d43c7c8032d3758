"""What an action shows: each long text once, where it can be cited."""

from __future__ import annotations


async def test_a_long_text_that_an_action_brings_stands_once_as_a_passage(
    ask, script, site, events
):
    model = script(
        f"<<TOOL:OPEN:{site.url}/keepers-log>>",
        '<<TOOL:CLICK:{"ref":"{{ref:Show entry of 9 December}}"}>>',
        "NOT_FOUND No.",
    )
    report = await ask(model=model)
    [_, clicked] = [event.data for event in events(report) if event.type == "tool.result"]
    said = "The lantern glass broke at twenty past four"
    assert clicked["web"].count(said) == 1
    place = next(line.partition(" ")[0] for line in clicked["web"].splitlines() if said in line)
    assert f"+ ({place}, below)" in clicked["web"]
