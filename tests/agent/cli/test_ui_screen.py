"""`research ui`: what its screen shows and does, using real stores."""

from __future__ import annotations

import pytest
from textual.widgets import DataTable, Input, RichLog, TabbedContent

from agent import research
from agent.cli.ui_screen import ResearchScreen
from agent.jobs.jobs import Jobs
from agent.journal.events import Journal, utc_now
from agent.journal.runs import Runs
from agent.memory import Memory

MAX_POLLS = 3_000
"""Number of times that a test checks the screen, which follows other processes' files."""


def shown(app, selector):
    """Return the text of a list, of the pane beside it, or of the line below."""
    widget = app.query_one(selector)
    if isinstance(widget, DataTable):
        rows = [widget.get_row_at(n) for n in range(widget.row_count)]
        return "\n".join(" | ".join(map(str, row)) for row in rows)
    if isinstance(widget, RichLog):
        return "\n".join(line.text for line in widget.lines)
    return str(widget.render())


async def until(pilot, selector, text):
    """Let the screen run until it shows a text."""
    for _ in range(MAX_POLLS):
        if text in shown(pilot.app, selector):
            return
        await pilot.pause(0.02)
    raise AssertionError(f"{text!r} is not in: {shown(pilot.app, selector)}")


async def switch_list(pilot, key, name):
    """Switch the list with a key, and wait until it has the focus."""
    await pilot.press(key)
    for _ in range(MAX_POLLS):
        if getattr(pilot.app.focused, "id", "") == f"{name}-list":
            break
        await pilot.pause(0.02)
    assert pilot.app.query_one(TabbedContent).active == name


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_runs_are_listed_and_steps_of_newest_update_live(size, script, tmp_path):
    await research("What is a quay?", model=script("A place for ships."), data_dir=tmp_path)
    journal = Journal(Runs(tmp_path).create(utc_now()))
    journal.write("run.started", question="How long is the pier?", options={})
    async with ResearchScreen(tmp_path, "default", None).run_test(size=size) as pilot:
        await until(pilot, "#runs-list", "What is a quay?")
        journal.write("thought", "main/1", text="The harbour office may know.")
        await until(pilot, "#runs-detail", "harbour office")
        await pilot.press("slash", *"quay", "enter")
        await until(pilot, "#runs-detail", "A place for ships.")
        assert pilot.app.query_one("#runs-list", DataTable).row_count == 1
    journal.close()


async def test_keys_add_pause_and_cancel_jobs(tmp_path):
    async with ResearchScreen(tmp_path, "default", None).run_test() as pilot:
        await switch_list(pilot, "2", "queue")
        await pilot.press("slash", *"How deep", "enter")
        await until(pilot, "#queue-list", "queued | How deep")
        await pilot.press("p")
        await until(pilot, "#note", "paused")
        await pilot.press("c")
        await until(pilot, "#queue-list", "cancelled | How deep")
    with Jobs.open(None, tmp_path) as jobs:
        assert [job.state for job in jobs.list()] == ["cancelled"]
        assert jobs.paused


async def test_memories_are_searched_and_settings_changed_and_unset(tmp_path, monkeypatch):
    monkeypatch.setenv("RESEARCH_CONFIG", str(tmp_path / "config.toml"))
    with Memory.open(tmp_path) as memory:
        memory.remember("boat", "The Blue Gull lies at Brask.")
        memory.remember("tea", "Green, without sugar.")
    async with ResearchScreen(tmp_path, "default", None).run_test() as pilot:
        await switch_list(pilot, "3", "memory")
        await until(pilot, "#memory-list", "Blue Gull")
        await pilot.press("slash", *"sugar", "enter")
        await until(pilot, "#memory-detail", "Green, without sugar.")
        await switch_list(pilot, "4", "settings")
        await until(pilot, "#settings-list", "model | -")
        entry = pilot.app.query_one("#settings-input", Input)
        await pilot.press("enter")
        assert entry.value.startswith("model = ")
        entry.value = "depth = unheard"
        await pilot.press("enter")
        await until(pilot, "#note", "depth")
        assert not (tmp_path / "config.toml").exists()
        entry.value = "depth = deep"
        await pilot.press("enter")
        await until(pilot, "#settings-list", "depth | deep | file")
        table = pilot.app.query_one("#settings-list", DataTable)
        table.move_cursor(row=table.get_row_index("depth"))
        await pilot.press("u")
        await until(pilot, "#settings-list", "depth | standard")
