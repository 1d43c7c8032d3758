"""The steps of a run as a timeline: thoughts, calls, results and screenshots, folded."""

from __future__ import annotations

import base64
import json
from html import escape
from typing import TYPE_CHECKING, Any

from agent.export.run_record import seconds_between
from agent.journal.places import MAIN

if TYPE_CHECKING:
    from agent.export.run_record import Record
    from agent.journal import Event

_RESULT_CHARS = 4_000
_HEAD_CHARS = 200
_PICTURES = {".png": "png", ".jpg": "jpeg"}
_SHOWN = ("model.reply", "thought", "tool.result")


def steps(record: Record) -> str:
    """Write the timeline; empty where nothing was done."""
    places: dict[str, list[Event]] = {}
    for event in record.events:
        if event.type in _SHOWN:  # parts that run side by side tell of their steps in turns
            places.setdefault(_place(event), []).append(event)
    items = [_step(record, place, events) for place, events in places.items()]
    if not items:
        return ""
    return '<h2>Steps</h2>\n<ol class="timeline">\n' + "\n".join(items) + "\n</ol>"


def _place(event: Event) -> str:
    """Name the step that an event belongs to: the first two parts of its place."""
    return "/".join(event.place.split("/")[:2])


def _step(record: Record, place: str, events: list[Event]) -> str:
    passed = seconds_between(record.events[0].at, events[0].at)
    facts = [f"after {passed:.1f} s", *(_asked(e.data) for e in events if e.type == "model.reply")]
    done = [_block(record, event) for event in events if event.type != "model.reply"]
    blocks = "\n".join(done or ["<p>writes the answer</p>"])
    head = f'{escape(_title(place))} <span class="meta">{" · ".join(facts)}</span>'
    return f"<li><h3>{head}</h3>\n{blocks}</li>"


def _title(place: str) -> str:
    """Name a step for people: `0/3` is the third, `2/1` the first of part 2."""
    loop, _, step = place.partition("/")
    if not loop.isdigit():
        return loop.capitalize() or "Aside"
    name = f"Step {step}" if step.isdigit() else step.capitalize()
    return name if loop == MAIN else f"Part {loop} · {name.lower()}"


def _asked(data: dict[str, Any]) -> str:
    tokens = f"{data['input_tokens']:,} tokens read, {data['output_tokens']:,} written"
    return f"{tokens} in {data['ms'] / 1000:.1f} s"


def _block(record: Record, event: Event) -> str:
    data = event.data
    if event.type == "thought":
        head, said = '<span class="tool">thinks</span>', data["text"]
        return _folded(
            f'{head} <span class="beginning">{escape(_cut(said))}</span>', "", "", _pre(said)
        )
    result = json.dumps(data["data"], ensure_ascii=False, indent=1)
    body = _pre(f"{result}\n{data['web']}".strip()[:_RESULT_CHARS])
    body += "".join(_picture(record, event, *blob) for blob in data["blobs"].items())
    head = f'<span class="tool">{escape(data["name"])}</span>'
    return _folded(head, _asked_for(data["param"]), _ended(data), body)


def _asked_for(param: str) -> str:
    """Show the values of a call, not the JSON around them."""
    try:
        values = json.loads(param)
    except ValueError:
        return param
    return (
        " · ".join(str(value) for value in values.values()) if isinstance(values, dict) else param
    )


def _ended(data: dict[str, Any]) -> str:
    failed = data["data"].get("error") if isinstance(data["data"], dict) else None
    if failed:
        return f'<span class="contradicted">failed: {escape(_cut(str(failed)))}</span>'
    return f'<span class="meta">{data["ms"]:,} ms</span>'


def _folded(head: str, what: str, ended: str, body: str) -> str:
    return f"<details><summary>{head} {escape(_cut(what))} {ended}</summary>\n{body}</details>"


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _HEAD_CHARS else f"{flat[:_HEAD_CHARS]}…"


def _pre(text: str) -> str:
    """Long ones scroll, so the keyboard must reach them."""
    return f'<pre tabindex="0">{escape(text)}</pre>'


def _picture(record: Record, event: Event, name: str, digest: str) -> str:
    kind = _PICTURES.get(name[name.rfind(".") :])
    if kind is None:
        return ""
    body = base64.b64encode(record.folder.blob(digest)).decode()
    alt = f"The page as it stood at {event.place}"
    return f'<img alt="{escape(alt)}" src="data:image/{kind};base64,{body}">'
