"""Working in an application: what is shown can be cited, and actions are reported accurately."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from agent.journal.runs import Runs
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.run.resume import resume
from tests.browser.page.pages import serve_pages

SETTINGS = """<!doctype html><title>Settings</title><h1>Reading</h1>
<form onsubmit="event.preventDefault(); done.textContent = 'Settings saved.'">
<label>Blog pages show at most <input type=number name=n value=9></label>
<label><input type=checkbox checked> Show the sidebar</label><button>Save</button></form>
<p id=done></p>"""


@contextmanager
def served(text: str):
    with serve_pages() as pages:
        address = f"{pages.base}{pages.put(text)}"
        yield address, {"allow_private": [f"127.0.0.1:{pages.port}"]}


def call(name: str, ref: str, **fields: object) -> str:
    return f"<<TOOL:{name}:{json.dumps({'ref': f'{{{{ref:{ref}}}}}', **fields})}>>"


async def test_field_value_is_cited_from_page_state_showing_it(ask, script):
    with served(SETTINGS) as (address, flags):
        model = script(f"<<TOOL:OPEN:{address}>>", "Blog pages show at most 9. [S1]")
        report = await ask("How many posts do blog pages show?", model=model, **flags)
    [sentence] = report.sentences
    assert (sentence.verdict, sentence.decided_by) == ("supported", "code")
    assert "Blog pages show at most: 9" in report.sources[0].quotes[0]


LONG_LIST = """<!doctype html><title>Parts</title><div id=l style="height:200px;overflow:auto">
<div id=i style="position:relative;height:1200px"></div></div><script>const draw = () => {
const first = Math.floor(l.scrollTop / 20); i.innerHTML = '';
for (let n = first; n < Math.min(60, first + 12); n++) i.insertAdjacentHTML('beforeend',
`<p style="position:absolute;top:${n * 20}px">Part ${n} costs ${n * 3} crowns`) };
l.onscroll = draw; draw()</script>"""


async def test_repeated_find_in_list_adds_no_source(ask, script, events):
    with served(LONG_LIST) as (address, flags):
        looks = "<<TOOL:FIND:Part 50>><<TOOL:FIND:Part 3 costs>><<TOOL:FIND:Part 50>>"
        model = script(f"<<TOOL:OPEN:{address}>>", looks, "Part 50 costs 150 crowns. [S2]")
        report = await ask("What does part 50 cost?", model=model, **flags)
    assert report.sentences[0].verdict == "supported"
    assert [e.data["n"] for e in events(report) if e.type == "source.added"] == [1, 2]


async def test_action_is_done_when_page_confirms_it(ask, script, events):
    with served(SETTINGS) as (address, flags):
        model = script(
            f"<<TOOL:OPEN:{address}>>",
            call("TYPE", "Blog pages", text="12") + call("CLICK", "Save"),
            "I set it to 12 posts. [S3]",
            {"reply": '1: done "Settings saved."\nanswer: fully', "for": "judge"},
        )
        report = await ask("Set it to 12 posts and tell me", model=model, **flags)
    [sentence] = report.sentences
    assert (sentence.verdict, sentence.step) == ("done", "0/2/2")
    happened = events(report)
    states = [e.data for e in happened if e.type == "source.added"]
    assert [row.get("step") for row in states] == [None, "0/2/1", "0/2/2"]
    # If only the controls differ from the last state, the HTML is not stored again.
    assert states[1]["body"] is None
    asked = next(e.data for e in happened if e.type == "model.request" and "judge" in e.place)
    assert "(a step of this run" in asked["messages"][0]["content"]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("1: attempted\nanswer: no", "attempted"),
        ('1: done "no such words"\nanswer: fully', "attempted"),
    ],
)
async def test_unconfirmed_action_is_only_attempted(ask, script, said, verdict):
    with served(SETTINGS) as (address, flags):
        model = script(
            f"<<TOOL:OPEN:{address}>>",
            call("CLICK", "Show the sidebar"),
            "I mailed the settings to Ada. [S2]",
            {"reply": said, "for": "judge"},
        )
        report = await ask("Mail the settings to Ada", model=model, **flags)
    assert report.sentences[0].verdict == verdict


CONFIRMED = """<!doctype html><title>Tasks</title><p id=task>Buy lamp</p>
<button onclick="if (confirm('Delete Buy lamp?')) task.remove()">Delete Buy lamp</button>
<button onclick="alert('Buy lamp was mailed.')">Mail Buy lamp</button>"""


@pytest.mark.parametrize(
    ("button", "dialog", "quote", "verdict"),
    [
        ("Delete", "dismiss", "Buy lamp", "attempted"),
        ("Delete", "dismiss", "clicked button Delete Buy lamp", "attempted"),
        ("Delete", "accept", "clicked button Delete Buy lamp", "done"),
        ("Mail", "accept", "Buy lamp was mailed.", "done"),
    ],
)
async def test_page_without_a_change_does_not_confirm_an_action(
    ask, script, button, dialog, quote, verdict
):
    with served(CONFIRMED) as (address, flags):
        model = script(
            f"<<TOOL:OPEN:{address}>>",
            call("CLICK", button, dialog=dialog),
            f"I chose to {button} the task Buy lamp. [S2]",
            {"reply": f'1: done "{quote}"\nanswer: fully', "for": "judge"},
        )
        report = await ask("Change the task Buy lamp", model=model, **flags)
    assert report.sentences[0].verdict == verdict


async def test_action_without_step_is_undecided(ask, script):
    with served(SETTINGS) as (address, flags):
        model = script(
            f"<<TOOL:OPEN:{address}>>",
            "I saved the settings. [S1]",
            {"reply": '1: done "Reading"\nanswer: fully', "for": "judge"},
        )
        report = await ask("Save the settings", model=model, **flags)
    assert report.sentences[0].verdict == "undecided"


NEVER = "/slow?6"
FORM = "<!doctype html><title>Form</title><form method=post action={}>{}</form>"
UNSEEN = {
    "a slow save": (
        """<!doctype html><title>Note</title><button onclick="fetch('/slow?6', {method: 'POST'})
        .then(() => done.textContent = 'Saved.'); done.textContent = 'Saving.'">Keep it</button>
        <p id=done></p>""",
        call("CLICK", "Keep it"),
    ),
    "a redirect after a save": (
        FORM.format("/save", "<button>Keep it</button>"),
        call("CLICK", "Keep it"),
    ),
    "a download": (
        f"<title>Files</title><a href={NEVER}>notes.zip</a>",
        call("DOWNLOAD", "notes.zip"),
    ),
    "a dialog": (
        FORM.format(NEVER, "<button onclick=\"return confirm('Sure?')\">Delete</button>"),
        call("CLICK", "Delete", dialog="accept"),
    ),
    "a login": (
        FORM.format(
            NEVER,
            "<input aria-label=Name value=ada><input type=password aria-label=Word>"
            "<button>Log in</button>",
        ),
        call("TYPE", "Word", text="anchor", submit=True),
    ),
}


@pytest.mark.parametrize("kind", UNSEEN)
@pytest.mark.sample(2)
async def test_action_with_unseen_outcome_is_checked_and_not_repeated(
    ask, script, events, monkeypatch, tmp_path, kind
):
    monkeypatch.setattr("browser.page.driver.ACT_SECONDS", 1.5)
    page, act = UNSEEN[kind]
    with serve_pages() as pages:
        pages.put("", "/save", status="303", location=NEVER)
        address, flags = (
            f"{pages.base}{pages.put(page)}",
            {"allow_private": [f"127.0.0.1:{pages.port}"]},
        )
        opening = f"<<TOOL:OPEN:{address}>>"
        model = script(opening, act, opening, "NOT_FOUND It is not shown.")
        report = await ask("Do it", model=model, **flags)
        happened = events(report)
        # A crash in the act: the record ends with the intent, and the run goes on from there.
        folder = Runs(tmp_path / "data").find(report.run)
        lines = folder.journal.read_text().splitlines(keepends=True)
        intent = next(n for n, line in enumerate(lines) if '"tool.intent"' in line)
        folder.journal.write_text("".join(lines[: intent + 1]))
        folder.report.unlink()
        await resume(RunRecord.read(folder), data_dir=tmp_path / "data")
    resumed = events(report)
    for record in (happened, resumed):
        assert [e.place for e in record if e.type == "tool.intent"] == ["0/2/1"]
        assert [e.place for e in record if e.type == "tool.outcome_unknown"] == ["0/2/1"]
        result = [e.data for e in record if e.type == "tool.result"][1]
        assert result["data"]["outcome"] == "unknown"
        assert "not repeated" in result["hint"]
        assert "outcome unknown" in json.dumps(result)
        assert "once more" not in json.dumps(result)
    # The next state of the page names the action that was started.
    last = [e.data for e in happened if e.type == "source.added"][-1]
    assert last["step"] == "0/2/1"


async def test_run_with_actions_replays_to_same_report(ask, script, tmp_path):
    with served(SETTINGS) as (address, flags):
        model = script(
            f"<<TOOL:OPEN:{address}>>",
            call("TYPE", "Blog pages", text="12") + call("CLICK", "Save"),
            "<<TOOL:SNAPSHOT>><<TOOL:FIND:saved>>",
            "I set it to 12 posts. [S3]",
            {"reply": '1: done "Settings saved."\nanswer: fully', "for": "judge"},
        )
        report = await ask("Set it to 12 posts", model=model, **flags)
    again = await replay(RunRecord.read(Runs(tmp_path / "data").find(report.run)))
    assert again.sentences == report.sentences
    assert again.sources == report.sources


async def test_caller_tool_result_is_a_source(ask, script):
    async def weather(place: str) -> dict[str, object]:
        return {"now": f"It is sunny in {place}.", "degrees": 21}

    model = script("<<TOOL:WEATHER:Oslo>>", "It is sunny in Oslo. [S1]")
    report = await ask("How is the weather in Oslo?", model=model, tools={"WEATHER": weather})
    assert report.status == "answered"
    [source] = report.sources
    assert (source.via, source.title) == ("tool", "WEATHER(Oslo)")
    assert report.sentences[0].verdict == "supported"
