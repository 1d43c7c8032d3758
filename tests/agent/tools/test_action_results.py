"""An action's result shows each text once."""

from __future__ import annotations

from agent.evidence.page_state import split_state
from agent.journal.runs import Runs
from agent.tools.action_tools import type_text
from browser.session import launch
from browser.session.chrome import EXECUTABLE_VARIABLES
from tests.browser.page.pages import serve_pages

CALENDAR = """<!doctype html><title>Stay</title><p>When do you want to come to the island?</p>
<button onclick="draw(31)">Next</button><table id=t></table><script>
const draw = (days) => { let week = ''; t.innerHTML = '';
  for (let day = 1; day <= days; day++) { week += `<td onclick="1">${day}</td>`;
    if (day % 7 === 0 || day === days) { t.innerHTML += `<tr>${week}</tr>`; week = '' } } };
draw(28)</script>"""


async def test_text_revealed_by_action_is_shown_once_and_is_a_passage(
    ask, script, site, events, tmp_path
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
    [source] = [e.data for e in events(report) if e.type == "source.added"][1:]
    text = Runs(tmp_path / "data").find(report.run).blob(source["text"]).decode()
    passages = split_state(text, source["n"], source["shown_from"], acted=True)
    assert any(said in p.text for p in passages if p.id in clicked["passages"])


async def test_calendar_weeks_are_not_shown_as_new_text(ask, script, events):
    with serve_pages() as pages:
        model = script(
            f"<<TOOL:OPEN:{pages.base}{pages.put(CALENDAR)}>>",
            '<<TOOL:CLICK:{"ref":"{{ref:Next}}"}>>',
            "NOT_FOUND No.",
        )
        report = await ask(model=model, allow_private=[f"127.0.0.1:{pages.port}"])
    [_, clicked] = [event.data for event in events(report) if event.type == "tool.result"]
    assert "clickable: 31]" in clicked["web"]
    assert "| 29 | 30 | 31" not in clicked["web"]


async def test_failed_action_skips_later_actions_of_same_reply(ask, script, events):
    order = (
        "<button onclick=\"this.textContent = 'Ordered'\">Order</button><p>Berth 12 is free.</p>"
    )
    with serve_pages() as pages:
        model = script(
            f"<<TOOL:OPEN:{pages.base}{pages.put(order)}>>",
            '<<TOOL:TYPE:{"ref":"e99","text":"two"}>>\n<<TOOL:CLICK:{"ref":"{{ref:Order}}"}>>\n'
            "<<TOOL:SNAPSHOT>>\n<<TOOL:READ>>",
            '<<TOOL:CLICK:{"ref":"{{ref:Order}}"}>>',
            "NOT_FOUND No.",
        )
        report = await ask(model=model, allow_private=[f"127.0.0.1:{pages.port}"])
    done = [event.data for event in events(report) if event.type == "tool.result"]
    assert "e99 is not a ref" in done[1]["data"]["error"]
    assert done[2]["data"]["error"] == "not run: TYPE failed earlier in this reply"
    assert "button: Order]" in done[3]["web"]
    assert "Berth 12 is free." in done[4]["web"]
    assert "Ordered" in done[5]["web"]


async def test_run_reports_that_no_browser_can_be_started(ask, script, site, monkeypatch):
    await launch.processes().close_idle()  # those of other tests
    monkeypatch.setenv(EXECUTABLE_VARIABLES[0], "/nowhere/chrome")
    report = await ask(model=script(f"<<TOOL:OPEN:{site.url}/hesk>>", "It was lit in 1871."))
    assert report.status == "failed"
    assert report.error.type == "WebOutOfReach"
    assert report.error.message == "no browser could be started: no browser at /nowhere/chrome"
    page = f"{site.url}/keepers-log"
    model = script(f"<<TOOL:READ:{page}>>\n<<TOOL:OPEN:{page}>>", "The glass broke. [S1¶1]")
    report = await ask(model=model)
    assert report.status != "answered"
    assert "no browser could be started" in report.error.message


def test_typed_text_keeps_surrounding_whitespace():
    asked = type_text.parse('{"ref": " e1 ", "text": "  two\\t", "instead": " one "}').arguments
    assert (asked.ref, asked.text, asked.instead) == ("e1", "  two\t", " one ")


async def test_empty_page_result_suggests_waiting(ask, script, events):
    with serve_pages() as pages:
        empty = pages.put("<title>App</title><div id=root></div>")
        model = script(
            f"<<TOOL:OPEN:{pages.base}{pages.put(f'<a href={empty}>App</a>')}>>",
            '<<TOOL:CLICK:{"ref":"{{ref:App}}"}>>',
            "<<TOOL:SNAPSHOT>>",
            "NOT_FOUND No.",
        )
        report = await ask(model=model, allow_private=[f"127.0.0.1:{pages.port}"])
    results = [event.data["web"] for event in events(report) if event.type == "tool.result"]
    assert results[1:] == ["(the page shows nothing yet: WAIT, then SNAPSHOT)"] * 2
