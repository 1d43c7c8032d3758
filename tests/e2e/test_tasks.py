"""Tasks that people do on the web, performed with only tool tags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from agent import research
from agent.journal.events import read_events
from agent.journal.runs import Runs
from tests.browser.page.pages import serve_pages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.journal.events import Event

FOLDER = Path(__file__).parent / "tasks"
GOAL = "goal reached"  # the title of each page when its task is done
CSV = "hour,height\n03:10,4.1\n"


def call(name: str, **fields: object) -> str:
    return f"<<TOOL:{name}:{json.dumps(fields, ensure_ascii=False)}>>"


def click(named: str, **fields: object) -> str:
    return call("CLICK", ref=f"{{{{ref:{named}}}}}", **fields)


def type_into(named: str, text: str) -> str:
    return call("TYPE", ref=f"{{{{ref:{named}}}}}", text=text)


def press(keys: str, named: str) -> str:
    return call("PRESS", keys=keys, ref=f"{{{{ref:{named}}}}}")


LOOK = "<<TOOL:SNAPSHOT>>"

TASKS: dict[str, tuple[str, ...]] = {
    "steps": (
        type_into("Name", "Ada"),
        click("Next"),
        click("Family") + call("SELECT", ref="{{ref:Boats}}", value="two") + click("Next"),
        click("I agree") + click("Join"),
    ),
    "autocomplete": (type_into("Harbour", "old"), click("Oldport")),
    "datepicker": (click("Arrival"), click("›"), click("›"), click("clickable: 17")),
    "tree": (click("▸"), click("▸"), click("New timetable")),
    "tabs": (click("Prices"), click("Buy a season ticket")),
    "paging": (click(": 4"), click("The drowned bell")),
    "sorting": (click("Length"), LOOK, click("Length"), LOOK, click("Choose the first")),
    "inbox": (
        click(".bin"),
        LOOK,
        click(".reply@Ben about lunch"),
        type_into("Your reply", "See you at noon") + click("button: Send"),
    ),
    "cards": (call("DRAG", ref="{{ref:Mend the sail}}", to="{{ref:clickable: Done}}"),),
    "slider": (
        type_into("Volume", "35")
        + press("ArrowRight ArrowRight ArrowRight", "Balance")
        + click("Set"),
    ),
    "modal": (
        click("Delete account"),
        type_into("Word", "DELETE"),
        click("button: Delete", dialog="accept"),
    ),
    "endless": (
        call("SCROLL", to="bottom"),
        call("SCROLL", to="bottom"),
        call("SCROLL", to="bottom"),
        LOOK,
        click("The last lamp"),
    ),
    "frames": (type_into("Code", "mole") + click("Open"),),
    "shadow": (type_into("Word", "heron") + click("Enter"),),
    "canvas": (click("canvas", x=150, y=30),),
    "colours": (click("teal"),),
    "icons": (click("bell"),),
    "words": (click("noon") + click("nobody"),),
    "grid": (click("row 2, column 3"),),
    "paste": (press("Control+a Control+c", "From") + press("Control+v", "To") + click("Check"),),
    "newtab": (
        click("Open the form"),
        call("TABS", switch="t2"),
        LOOK,
        type_into("Pass word", "kelp") + click("Send"),
    ),
    "download": (call("DOWNLOAD", ref="{{ref:Tide table}}"),),
    "upload": (call("UPLOAD", ref="{{ref:Attach a file}}", path="tides.txt"), LOOK, click("Send")),
    "login": (
        type_into("User", "keeper")
        + type_into("Password", "lamp-42")
        + click("Stay signed in")
        + click("Sign in"),
    ),
    "table-choice": (click("Book@| 9 |"),),
    "shapes": (click("triangle green 20×20"),),
    "counting": (click("button: 2"),),
    "midpoint": (click("#s", x=66, y=56),),
    "moving": (call("DRAG", ref="{{ref:#small}}", dx=180, dy=80),),
    "highlight": (call("HIGHLIGHT", text="The keeper climbs ninety steps."), LOOK, click("Done")),
    "editor": (call("HIGHLIGHT", text="lantern"), LOOK, click(".tool-bold"), LOOK, click("Done")),
    "resize": (call("DRAG", ref="{{ref:#log}}", x=-4, y=-4, dy=40), LOOK, click("Done")),
    "order": (click("+@Kale") + click("+@Bean") + click("Order"),),
    "swatch": (type_into("Colour", "3fa0d2") + click("Done"),),
    "several": (call("SELECT", ref="{{ref:Islands}}", value="Unst; Yell") + click("Done"),),
    "hovermenu": (click("Menu"), call("HOVER", ref="{{ref:Playback}}"), click("Next")),
    "hotcold": (call("HOVER", ref="{{ref:#z}}", x=90, y=60), LOOK, click("#z", x=105, y=35)),
    "span": (
        call("DRAG", ref="{{ref:9:00}}", to="{{ref:10:00}}"),
        type_into("Name", "Tide") + click("Create"),
    ),
    "megamenu": (
        call("HOVER", ref="{{ref:hoverable: Sport}}"),
        call("HOVER", ref="{{ref:hoverable: Snow}}"),
        click("Sleds"),
    ),
    "merging": (click("alder") + click("cedar", hold="Control") + click("Merge"),),
    "orders": (
        call("SCROLL", pages=40),
        call("HOVER", ref="{{ref:Order 405}}"),
        click("colour gold"),
    ),
    "watching": (click("Buy@€39"),),
    "filemenu": (
        click("notes.txt", button="right"),
        call("HOVER", ref="{{ref:Move to}}"),
        click("Archive"),
    ),
    "dropdown": (call("SELECT", ref="{{ref:combobox}}", value="Unst"),),
}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def titles(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Return each selected page's title after its script, all in one run in one browser."""
    ours = [item for item in request.session.items if "titles" in getattr(item, "fixturenames", ())]
    tasks = [item.callspec.params["task"] for item in ours]
    folder = tmp_path_factory.mktemp("tasks")
    given = folder / "tides.txt"
    given.write_text("spring tide, neap tide")
    script = folder / "script.jsonl"
    with serve_pages() as pages:
        for page in FOLDER.glob("*.html"):
            pages.put(page.read_text(encoding="utf-8"), f"/tasks/{page.stem}")
        pages.put(CSV, "/tasks/tides.csv", content_type="text/csv")
        script.write_text("".join(f"{json.dumps(line)}\n" for line in replies(pages.base, tasks)))
        report = await research(
            f"Do what the pages at {pages.base} ask for, with the file.",
            model=f"scripted:{script}",
            allow_private=[f"127.0.0.1:{pages.port}"],
            data_dir=folder / "data",
            file=[given],
            share=["file"],
            memory=False,
            max_steps=200,
        )
    found = titles_in(list(read_events(Runs(folder / "data").find(report.run).journal)))
    if "download" in tasks:
        assert (folder / "data" / "downloads" / "tides.csv").read_text() == CSV
    return dict(zip(tasks, found, strict=True))


def replies(base: str, tasks: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for name in tasks:
        lines += [f"<<TOOL:OPEN:{base}/tasks/{name}>>", *TASKS[name], "<<TOOL:PAGE_CONTEXT>>"]
    return [*lines, "NOT_FOUND"]


def titles_in(events: list[Event]) -> list[str]:
    results = [event.data for event in events if event.type == "tool.result"]
    return [data["data"]["title"] for data in results if data["name"] == "PAGE_CONTEXT"]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sample(16)
async def test_task_is_completed_with_tool_tags(titles: dict[str, str], task: str) -> None:
    assert titles[task] == GOAL
