"""Compares what a tool reports about actions on resisting pages with what the page knows.

    python -m bench.resisting [--seed N] [--acts 200]

Fields reset or reformat themselves; buttons move, are covered, swapped or redrawn; in the page, in
closed shadow roots and in frames of both kinds. A *false done* is an action reported without doubt
that the page did not accept; a *false failed* is one reported as an error that it did accept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.player import At, Call, Played, Task, choose, click, enter, stage
from bench.shelf import Targets
from tests.browser.page.pages import Pages, serve_pages

LABELS = "Account Amount Branch City Code Colour Deposit Filter Label Locker Nickname Site".split()
BUTTONS = "Accept Apply Archive Book Confirm Copy Merge Post Publish Send Sign Submit".split()
OPTIONS = "Amber Basalt Coral Denim Ebony Fern Ginger Hazel".split()
DELAYS = (0, 20, 80, 200)
"""Milliseconds after which a page undoes what was done."""
PLACES = ("page", "page", "page", "shadow", "frame", "other origin")
_WAYS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_HEAD = "<!doctype html><title>Form</title><h1>Form</h1>"
_HEAR = "<script>var state = null; onmessage = (e) => { state = e.data; };</script>"


@dataclass(frozen=True, slots=True)
class Act:
    """One action: its place, the target's HTML and script, the call, and a JS expression."""

    kind: str
    place: str
    html: str
    script: str
    call: Call
    done: str


def acts(seed: int, number: int) -> list[Act]:
    """Return this many actions, all kinds equally often; the seed sets labels, texts and places."""
    chance = random.Random(seed)
    kinds = [(part, how) for part in _WAYS if part != "prelude" for how in _WAYS[part]["ways"]]
    return [_act(chance, *kinds[n % len(kinds)]) for n in range(number)]


def _act(chance: random.Random, part: str, how: str) -> Act:
    label, other = chance.sample(BUTTONS if part == "button" else LABELS, 2)
    value, old = chance.choice(OPTIONS[2:]), chance.choice(["", "", "first"])
    text = "".join(chance.choices("abcdefgh23456789", k=chance.randint(7, 12)))
    call, done = {
        # blanks and capitals that a page adds are only its formatting of what was typed
        "field": (
            enter(At(label, "textbox"), text),
            f"state.value.replaceAll(' ', '').toLowerCase() === {text!r} && !state.second",
        ),
        "button": (click(At(label, "button")), f"state.log.join() === {label!r}"),
        "box": (click(At(label, "checkbox")), "state.on && !state.second"),
        "select": (choose(At(label, "select|combobox"), value), f"state.value === {value!r}"),
        "list": (choose(At(label, "combobox"), value), f"state.value === {value!r}"),
    }[part]
    html = _WAYS[part]["html"].format(
        label=label,
        other=other,
        old=old,
        options="".join(f"<option>{name}</option>" for name in OPTIONS),
        items="".join(f"<li role=option>{name}</li>" for name in OPTIONS),
    )
    script = _WAYS[part]["setup"] + _WAYS[part]["ways"][how]
    for name, put_in in {"DELAY": chance.choice(DELAYS), "OLD": old, "OPTIONS": OPTIONS}.items():
        script = script.replace(name, json.dumps(put_in))
    return Act(f"{part} that {how}", chance.choice(PLACES), html, script, call, done)


def put(pages: Pages, act: Act) -> str:
    """Serve an action's page; returns its address. Its outermost window has the `state`."""
    root = "document.getElementById('place')"
    if act.place == "shadow":
        root += ".attachShadow({ mode: 'closed' })"
    body = _WAYS["prelude"].replace("BODY", json.dumps(act.html).replace("</", "<\\/"))
    tell = "setInterval(() => top.postMessage(state(), '*'), 25);"
    inner = (
        f"<div id=place></div><script>{{const root = {root};{body}{act.script}\n{tell}}}</script>"
    )
    if act.place in ("page", "shadow"):
        return pages.base + pages.put(_HEAD + _HEAR + inner)
    origin = pages.other if act.place == "other origin" else pages.base
    frame = f"<iframe src='{origin}{pages.put(_HEAD + inner)}' width=760 height=300></iframe>"
    return pages.base + pages.put(_HEAD + _HEAR + frame)


async def measure(all_acts: list[Act]) -> list[Played]:
    """Perform every action, each on its own page."""
    played = []
    with serve_pages() as pages:
        async with stage(f"127.0.0.1:{pages.port}", f"localhost:{pages.port}") as theatre:
            for act in all_acts:
                task = Task(
                    f"{act.kind} ({act.place})", ((act.call,),), f"state?.resting && ({act.done})"
                )
                played.append(await theatre.play(put(pages, act), task))
    return played


def told(one: Played) -> str:
    """Compare how an action was reported with what the page knows."""
    if one.lost:
        return "not shown"
    if one.done:
        return "false failed" if any(not fault_is_doubt(f) for f in one.faults) else "done"
    return "failed, told" if one.faults else "FALSE DONE"


def fault_is_doubt(fault: str) -> bool:
    """Whether an action was reported with a remark (such as a changed field), but no error."""
    return ", but " in fault or "could not be checked" in fault


def main() -> int:
    reader = argparse.ArgumentParser(prog="python -m bench.resisting")
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--acts", type=int, default=200)
    asked = reader.parse_args()
    counts: Counter[str] = Counter()
    for one in asyncio.run(measure(acts(asked.seed, asked.acts))):
        outcome = told(one)
        counts[outcome] += 1
        if outcome not in ("done", "failed, told"):
            print(f"{outcome:13} {one.task.text}: {'; '.join([*one.claims, *one.faults])[:160]}")
    print("; ".join(f"{count} {outcome}" for outcome, count in counts.most_common()))
    targets = Targets()
    targets.at_most("false done", counts["FALSE DONE"], 0)
    targets.at_most("false failed", counts["false failed"], 0)
    targets.at_most("not shown", counts["not shown"], 0)
    return targets.code


if __name__ == "__main__":
    sys.exit(main())
