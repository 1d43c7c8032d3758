"""A recorded browser session, repeated without a model on the test's own application."""

from __future__ import annotations

import asyncio
import json
from html import escape
from urllib.parse import parse_qs, urlsplit

import pytest

from agent import research
from agent.errors import UsageError
from agent.run.rerun import rerun
from tests.loopback import Handler, serving

PAGE = "<!doctype html><meta charset=utf-8><title>Desk</title><main>{}</main>"


class _Desk(Handler):
    """A visitor list in which visitors can be added, checked in and removed."""

    def get(self):
        self._show()

    def post(self, body):
        form = {key: values[0] for key, values in parse_qs(body.decode()).items()}
        path, site = urlsplit(self.path).path, self.server.site
        site.pressed.append((path, form))
        if path == "/add" and form.get("name") in site.refused:
            return self._show("<p role=alert>This name is taken already, choose another.</p>")
        if path == "/add":
            site.visitors.append(f"{form.get('name', '')} ({form.get('day', '')})")
            return self._show(f"<p role=status>The visit of {escape(form['name'])} was booked.</p>")
        name = form["name"]
        if path == "/remove":
            site.visitors.remove(name)
        return self._show(f"<p role=status>{escape(name)}: done with {path[1:]}.</p>")

    def _show(self, note=""):
        site = self.server.site
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td><form method=post action=/remove><input type=hidden "
            f"name=name value='{escape(name)}'><button>Remove</button></form></td></tr>"
            for name in site.visitors
        )
        form = (
            "<h2>New visit</h2><form method=post action=/add>"
            "<label>Visitor <input name=name></label>"
            "<label>Day <select name=day><option>Monday<option>Tuesday</select></label>"
            f"<button>{site.button}</button></form>"
        )
        body = PAGE.format(
            f"{site.dialog}<h1>Desk</h1>{note}{form}<h2>Visitors</h2><table>{rows}</table>"
        )
        self.send(200, "text/html; charset=utf-8", body.encode())


class _Site:
    def __init__(self, url):
        self.url, self.button, self.pressed, self.refused = url, "Book", [], set()
        self.dialog = ""
        self.visitors = ["Ida Holm (Monday)", "Jonas Ekdahl (Monday)"]


@pytest.fixture
def desk():
    with serving(_Desk, _Site) as site:
        yield site


@pytest.fixture
def flags(desk, tmp_path):
    return {"allow_private": [urlsplit(desk.url).netloc], "data_dir": tmp_path / "data"}


@pytest.fixture
def recorded(desk, flags, script):
    """Have a model perform steps on the page; returns the run's id."""

    async def record(*steps):
        model = script(f"<<TOOL:OPEN:{desk.url}/>>", *steps, "NOT_FOUND")
        report = await research("Book a visit.", model=model, memory=False, **flags)
        desk.pressed.clear()
        return report.run

    return record


BOOKING = (
    '<<TOOL:TYPE:{"ref":"{{ref:Visitor}}","text":"Hedda Brask"}>>',
    "<<TOOL:SNAPSHOT>>",
    '<<TOOL:SELECT:{"ref":"{{ref:Day}}","value":"Tuesday"}>>',
    "<<TOOL:SNAPSHOT>>",
    "<<TOOL:CLICK:{{ref:Book}}>>",
)


async def test_form_is_refilled_and_each_action_confirmed(desk, flags, recorded):
    run = await recorded(*BOOKING)
    desk.visitors.append("Somebody else (Friday)")  # numbers and rows may differ
    report = await rerun(run, **flags)
    assert report.error is None, report.error
    assert report.status == "answered"
    assert desk.pressed == [("/add", {"name": "Hedda Brask", "day": "Tuesday"})]
    assert [sentence.verdict for sentence in report.sentences] == ["done"] * 4
    assert "clicked button Book" in report.answer
    assert report.usage.model_calls == 0


async def test_values_are_replaced_by_field_name(desk, flags, recorded):
    run = await recorded(*BOOKING)
    report = await rerun(run, values={"visitor": "Mona Dahl", "Tuesday": "Monday"}, **flags)
    assert report.error is None, report.error
    assert desk.pressed == [("/add", {"name": "Mona Dahl", "day": "Monday"})]
    with pytest.raises(UsageError, match="'Colour' does not match"):
        await rerun(run, values={"Colour": "red"}, **flags)


async def test_element_with_ambiguous_name_is_matched_by_its_row(desk, flags, recorded):
    run = await recorded("<<TOOL:CLICK:e5>>")
    desk.visitors = ["Jonas Ekdahl (Monday)", "Lisa Ek (Friday)", "Ida Holm (Monday)"]
    report = await rerun(run, **flags)
    assert report.error is None, report.error
    assert desk.pressed == [("/remove", {"name": "Jonas Ekdahl (Monday)"})]
    desk.pressed.clear()
    for others in (["Lisa Ek (Friday)", "Jonas Ekdal (Monday)"], ["Ida Holm (Monday)"]):
        desk.visitors = others  # the row is gone; only other rows have the button
        report = await rerun(run, **flags)
        assert report.error.type == "RerunStopped"
        assert "there is no 'button Remove' in the row of “| Jonas Ekdahl" in report.error.message
    assert desk.pressed == []


async def test_unexpected_dialog_stops_rerun_before_any_input(desk, flags, recorded):
    run = await recorded(*BOOKING)
    desk.dialog = (
        "<div role=dialog aria-modal=true style='position:fixed;inset:0;background:#fff'>"
        "<h2>The terms changed</h2><p>Please accept them.</p><button>Accept</button></div>"
    )
    report = await rerun(run, **flags)
    assert "step 2 of 4 (typed into textbox Visitor): a dialog" in report.error.message
    assert "The terms changed" in report.error.message
    assert desk.pressed == []


async def test_missing_element_stops_rerun_without_pressing_anything(desk, flags, recorded):
    run = await recorded(*BOOKING)
    desk.button = "Delete all visits"
    report = await rerun(run, **flags)
    assert (report.status, report.error.type) == ("failed", "RerunStopped")
    assert "there is no 'button Book'" in report.error.message
    assert "button Delete all visits" in report.error.message
    assert desk.pressed == []
    assert len(report.sentences) == 3


async def test_given_model_takes_over_from_differing_step(desk, flags, recorded, script):
    run = await recorded(*BOOKING)
    desk.button = "Request the visit"
    model = script(
        {
            "reply": "<<TOOL:SNAPSHOT>>",
            "expect": "(?s)textbox Visitor.*no 'button Book'.*remained:\n- clicked button Book",
        },
        "<<TOOL:CLICK:{{ref:Request the visit}}>>",
        "NOT_FOUND It was requested only.",
    )
    report = await rerun(run, values={"Visitor": "Mona Dahl"}, model=model, **flags)
    assert report.error is None, report.error
    assert desk.pressed == [("/add", {"name": "Mona Dahl", "day": "Tuesday"})]
    assert [one.verdict.value for one in report.sentences[:3]] == ["done"] * 3
    assert report.answer.startswith("1. opened")
    assert "It was requested only." in report.answer


async def test_different_outcome_stops_rerun(desk, flags, recorded):
    run = await recorded(*BOOKING)
    desk.refused.add("Hedda Brask")
    report = await rerun(run, **flags)
    assert report.error.type == "RerunStopped"
    assert "step 4 of 4" in report.error.message


async def test_run_without_browser_actions_cannot_be_rerun(flags, script):
    report = await research("Who?", model=script("NOT_FOUND"), memory=False, **flags)
    with pytest.raises(UsageError, match="has no browser actions"):
        await rerun(report.run, **flags)


async def test_rerun_command_repeats_session_and_exits_8_when_stopped(desk, flags, recorded, run):
    name = await recorded(*BOOKING)
    web = ("--allow-private", urlsplit(desk.url).netloc)
    again = await asyncio.to_thread(run, "rerun", name, "--with", "Visitor=Lisa Ek", *web, "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["standing"] == "supported"
    desk.button = "Send"
    stopped = await asyncio.to_thread(run, "rerun", name, *web)
    assert stopped.returncode == 8
    assert "there is no 'button Book'" in stopped.stderr
