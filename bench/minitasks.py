"""Small tasks modelled on MiniWoB++, on our own pages, carried out with tool tags.

    python -m bench.minitasks [--seed N] [--play KIND]

Sixty tasks click and type, mostly on elements that only have listeners; twenty drag or draw. Words,
numbers and orders come from the seed; `minitasks.js` draws the pages and knows when a task is done.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.player import (
    At,
    Call,
    Person,
    Played,
    Player,
    Reply,
    Task,
    choose,
    click,
    drag,
    enter,
    find,
    hover,
    press,
    report,
    stage,
    wait,
)
from bench.shelf import Targets
from tests.browser.page.pages import serve_pages

SCRIPT = Path(__file__).with_suffix(".js")
WORDS = (
    "anchor basil candle dune ember fjord garnet heron ivory jasmine kettle lantern meadow nutmeg "
    "opal pepper quartz raven saffron thistle umbra violet willow yarrow zephyr"
).split()
PEOPLE = "Ada Bruno Chloe Dario Elif Finn Greta Hugo Ines Jonas".split()
COLOURS = "red blue green yellow black".split()
PLAIN_SHARE, DRAGGING_SHARE = 0.97, 0.80


@dataclass(frozen=True, slots=True)
class Small:
    """A task: its text, its page's parameters, and the replies that complete it."""

    text: str
    told: dict[str, Any]
    replies: tuple[Reply, ...]


def checkboxes(chance: random.Random) -> Small:
    names = chance.sample(WORDS, 6)
    wanted = [name for name in names if chance.random() < 0.5] or names[:1]
    ticks = tuple(click(At(name, "checkbox")) for name in wanted)
    text = f"Tick {', '.join(wanted)}, and submit."
    return Small(text, {"names": names, "wanted": wanted}, ((*ticks, click("Submit")),))


def radio(chance: random.Random) -> Small:
    names = chance.sample(WORDS, 5)
    told = {"names": names, "wanted": names[3]}
    reply = (click(At(names[3], "radio")), click("Submit"))
    return Small(f"Choose {names[3]}, and submit.", told, (reply,))


def date(chance: random.Random) -> Small:
    month, ahead, day = chance.randint(2, 8), chance.choice([-1, 1, 2]), chance.randint(10, 28)
    wanted = f"2026-{month + ahead + 1:02}-{day}"
    turn = ((click("Next" if ahead > 0 else "Prev"),),) * abs(ahead)
    replies = ((click("Date"),), *turn, (click(str(day)), click("Submit")))
    return Small(
        f"Set the date to {wanted}.", {"year": 2026, "month": month, "wanted": wanted}, replies
    )


def select(chance: random.Random) -> Small:
    names = chance.sample(WORDS, 12)
    told = {"names": names, "wanted": names[8]}
    return Small(f"Select {names[8]}.", told, ((choose("Item", names[8]), click("Submit")),))


def tabs(chance: random.Random) -> Small:
    words = chance.sample(WORDS, 9)
    all_tabs = {f"Tab {n + 1}": words[n * 3 : n * 3 + 3] for n in range(3)}
    place = chance.randrange(9)
    replies = ((click(f"Tab {place // 3 + 1}"),), (click(words[place]),))
    told = {"tabs": all_tabs, "wanted": words[place]}
    return Small(f"Click {words[place]}, on the tab that has it.", told, replies)


def sections(chance: random.Random) -> Small:
    names, words = chance.sample(WORDS, 4), chance.sample(PEOPLE, 4)
    told = {"sections": dict(zip(names, words, strict=True)), "wanted": words[2]}
    return Small(
        f"Open {names[2]}, click its button.", told, ((click(names[2]),), (click(words[2]),))
    )


def login(chance: random.Random) -> Small:
    user, word = chance.choice(PEOPLE), " " + chance.choice(WORDS) + str(chance.randint(10, 99))
    reply = (enter("Username", user), enter("Password", word), click(At("Login", "button")))
    return Small(f"Log in as {user} with {word!r}.", {"wanted": [user, word]}, (reply,))


def shades(chance: random.Random) -> Small:
    colour = chance.choice(COLOURS)
    colours = [*chance.sample([c for c in COLOURS if c != colour], 3), colour, colour]
    chance.shuffle(colours)
    clicks = (click(At(colour)), click(At(colour, nth=1)), click("Submit"))
    text = f"Click both {colour} squares, and submit."
    return Small(text, {"colours": colours, "wanted": [colour, colour]}, (clicks,))


def dialog(chance: random.Random) -> Small:
    title, *others = chance.sample(WORDS, 4)
    return Small("Close the dialog.", {"title": title, "others": others}, ((click("✕"),),))


def inbox(chance: random.Random) -> Small:
    mails = list(zip(chance.sample(PEOPLE, 5), chance.sample(WORDS, 5), strict=True))
    who, act = mails[3][0], chance.choice(["star", "trash"])
    reply = (click(At("☆" if act == "star" else "🗑", near=who)),)
    return Small(
        f"{act.title()} the mail of {who}.", {"mails": mails, "wanted": [act, who]}, (reply,)
    )


def posts(chance: random.Random) -> Small:
    all_posts = list(zip(chance.sample(PEOPLE, 3), chance.sample(WORDS, 3), strict=True))
    who, act = all_posts[1][0], chance.choice(["Share", "Mute", "Block"])
    replies = ((click(At("⋯", near=all_posts[1][1])),), (click(act),))
    return Small(f"{act} what @{who} posted.", {"posts": all_posts, "wanted": [act, who]}, replies)


def spinner(chance: random.Random) -> Small:
    start, steps = chance.randint(3, 9), chance.choice([-4, -3, 2, 3])
    turn = click("▲" if steps > 0 else "▼")
    replies = ((*(turn,) * abs(steps), click("Submit")),)
    return Small(
        f"Set {start + steps}, and submit.", {"start": start, "wanted": start + steps}, replies
    )


def autocomplete(chance: random.Random) -> Small:
    wanted = chance.choice(WORDS)
    replies = ((enter("Tags", wanted[:2]),), (click(wanted),), (click("Submit"),))
    return Small(
        f"Enter the tag {wanted} from the list.", {"names": WORDS, "wanted": wanted}, replies
    )


def search(chance: random.Random) -> Small:
    results, place = chance.sample(WORDS, 9), chance.randint(3, 8)
    told = {"results": results, "wanted": results[place]}
    begun = (enter("Query", "island"), click(At("Search", "button")))
    replies = (begun, (click(str(place // 3 + 1)),), (click(results[place]),))
    return Small(f"Search island, click result {place + 1}: {results[place]}.", told, replies)


def tree(chance: random.Random) -> Small:
    a, b, c, d, e, f = chance.sample(WORDS, 6)
    told = {"tree": {a: {b: None, c: {d: None}}, e: {f: None}}, "wanted": d}
    return Small(f"Click {d}, below {a} and {c}.", told, ((click(a),), (click(c),), (click(d),)))


def copy(chance: random.Random) -> Small:
    text = "  ".join(chance.sample(WORDS, 3))
    reply = (enter(At("Copy", "textbox"), text), click("Submit"))
    return Small(f"Copy {text!r} into the field.", {"text": text}, (reply,))


def flights(chance: random.Random) -> Small:
    towns = chance.sample(PEOPLE, 5)
    rows = [(f"{n + 6}:{chance.randint(10, 59)}", town, 100 + n) for n, town in enumerate(towns)]
    chance.shuffle(rows)
    at, town, _ = rows[2]
    return Small(
        f"Book the one to {town}.",
        {"flights": rows, "wanted": at},
        ((click(At("Book", near=town)),),),
    )


def menu(chance: random.Random) -> Small:
    names = chance.sample(WORDS, 3)
    parts = {name: chance.sample(PEOPLE, 3) for name in names}
    name = names[1]
    replies = ((hover(name),), (click(parts[name][2]),))
    told = {"menu": parts, "wanted": [name, parts[name][2]]}
    return Small(f"Choose {parts[name][2]} in the menu {name}.", told, replies)


def patience(chance: random.Random) -> Small:
    word = f"{chance.choice('ABC')}-{chance.randint(10, 99)}"
    told = {"word": word, "wanted": chance.randint(1_500, 3_000)}
    return Small(
        "When the code is there, go.", told, ((wait(r"/Code [A-C]-\d\d/"),), (click("Go"),))
    )


def keys(chance: random.Random) -> Small:
    names, place = chance.sample(WORDS, 6), chance.randint(1, 5)
    pressed = " ".join(["ArrowDown"] * place + ["Enter"])
    told = {"names": names, "wanted": names[place]}
    return Small(f"Choose {names[place]} by the keys.", told, ((press(pressed, "Choices"),),))


def shapes(chance: random.Random) -> Small:
    drawn = chance.sample([(kind, c) for kind in ("circle", "rect") for c in COLOURS], 5)
    kind, colour = drawn[chance.randrange(5)]
    name = "circle" if kind == "circle" else "square"
    told = {"shapes": drawn, "wanted": [kind, colour]}
    return Small(f"Click the {colour} {name}.", told, ((click(f"{name} {colour}"),),))


def spot(chance: random.Random) -> Small:
    x, y = chance.randint(20, 220), chance.randint(20, 140)
    reply = (click(At("Plan"), x=x, y=y),)
    return Small(f"Click ({x}, {y}) of the plan.", {"wanted": [x, y]}, (reply,))


def terminal(chance: random.Random) -> Small:
    command = f"rm {chance.choice(WORDS)}"
    keys_of = " ".join("Space" if letter == " " else letter for letter in command)
    reply = (press(f"{keys_of} Enter"),)
    return Small(f"Enter {command!r} into the terminal.", {"wanted": command}, (reply,))


def highlight(chance: random.Random) -> Small:
    lines = [
        f"The {a} is under the {b}." for a, b in zip(chance.sample(WORDS, 3), PEOPLE, strict=False)
    ]
    reply = (Call("HIGHLIGHT", {"text": lines[1]}), click("Submit"))
    told = {"sentences": lines, "wanted": lines[1]}
    return Small(f"Highlight {lines[1]!r}, and submit.", told, (reply,))


def editor(chance: random.Random) -> Small:
    words = chance.sample(WORDS, 5)
    reply = (Call("HIGHLIGHT", {"text": words[2], "ref": At("Letter")}), click("Bold"))
    return Small(f"Make {words[2]} bold.", {"words": words, "wanted": words[2]}, (reply,))


def terms(chance: random.Random) -> Small:
    lines = [f"{n}. Of {' and '.join(chance.sample(WORDS, 2))}." for n in range(1, 13)]
    scrolled = Call("SCROLL", {"ref": At("Terms"), "to": "bottom"})
    return Small(
        "Read the terms to their end, and agree.",
        {"lines": lines},
        ((scrolled,), (click("Agree"),)),
    )


def hold(chance: random.Random) -> Small:
    names = chance.sample(WORDS, 3)
    told = {"names": names, "wanted": names[1]}
    return Small(f"Press {names[1]} for a second.", told, ((click(names[1], seconds=1.5),),))


def several(chance: random.Random) -> Small:
    names = chance.sample(WORDS, 5)
    first, second = names[1], names[3]
    told = {"names": names, "wanted": sorted([first, second])}
    reply = (click(first), click(second, hold="Control"), click("Submit"))
    return Small(f"Choose {first} and {second}, and submit.", told, (reply,))


def context(chance: random.Random) -> Small:
    names, act = chance.sample(WORDS, 4), chance.choice(["Open", "Rename", "Delete"])
    replies = ((click(names[2], button="right"),), (click(act),))
    return Small(
        f"{act} {names[2]}, by its menu.", {"names": names, "wanted": [act, names[2]]}, replies
    )


def rename(chance: random.Random) -> Small:
    *names, new = chance.sample(WORDS, 4)
    replies = ((click(names[1], count=2),), (enter(At("", "textbox"), new, submit=True),))
    told = {"names": names, "wanted": [names[0], new, names[2]]}
    return Small(f"Rename {names[1]} to {new}.", told, replies)


def circle(chance: random.Random) -> Small:
    x, y, radius = chance.randint(120, 180), chance.randint(100, 120), chance.randint(50, 80)
    turns = [math.tau * n / 24 for n in range(25)]
    points = [(round(x + radius * math.cos(t)), round(y + radius * math.sin(t))) for t in turns]
    drawn = drag(At("Sheet"), x=points[0][0], y=points[0][1], path=points[1:])
    text = f"Draw a circle round ({x}, {y}), {radius} pixels wide from its middle."
    return Small(text, {"centre": [x, y], "radius": radius}, ((drawn,),))


def sort(chance: random.Random) -> Small:
    names = chance.sample(WORDS, 4)
    wanted = [names[1], names[2], names[0], names[3]]
    told = {"names": names, "wanted": wanted}
    return Small(f"Drag {names[0]} below {names[2]}.", told, ((drag(names[0], names[2]),),))


def into(chance: random.Random) -> Small:
    name, *names = chance.sample(WORDS, 4)
    told = {"name": name, "names": names, "wanted": names[1]}
    return Small(
        f"Drag {name} into {names[1]}.", told, ((find(names[1]),), (drag(name, names[1]),))
    )


def board(chance: random.Random) -> Small:
    cards = chance.sample(WORDS, 4)
    columns = {"Open": cards[:2], "Doing": cards[2:3], "Done": cards[3:]}
    told = {"columns": columns, "card": cards[0], "wanted": "Done"}
    return Small(f"Drag {cards[0]} to what is done.", told, ((drag(cards[0], cards[3]),),))


def slider(chance: random.Random) -> Small:
    start, wanted = chance.randint(10, 40), chance.randint(50, 90)
    moved = drag(At("Knob"), dx=(wanted - start) * 3)
    return Small(f"Drag the knob to {wanted}.", {"start": start, "wanted": wanted}, ((moved,),))


def resize(chance: random.Random) -> Small:
    dx, dy = chance.choice([60, 90]), chance.choice([-30, 40])
    told = {"width": 160, "height": 100, "wanted": [160 + dx, 100 + dy]}
    moved = drag("Resize me", dx=dx, dy=dy, x=-4, y=-4)
    return Small(f"Resize it by {dx}, {dy}.", told, ((find("Resize me"),), (moved,)))


def _stroke(line: tuple[int, int, int, int]) -> Call:
    x, y, to_x, to_y = line
    return drag(At("Sheet", "canvas|clickable|image"), x=x, y=y, dx=to_x - x, dy=to_y - y)


def line(chance: random.Random) -> Small:
    stroke = (chance.randint(20, 80), chance.randint(20, 180), 240, chance.randint(20, 180))
    text = f"Draw a line from {stroke[:2]} to {stroke[2:]} of the sheet."
    return Small(text, {"strokes": [stroke]}, ((_stroke(stroke),),))


def rectangle(chance: random.Random) -> Small:
    x, y, right, low = chance.randint(20, 60), 30, chance.randint(150, 250), chance.randint(90, 170)
    strokes = [(x, y, right, y), (right, y, right, low), (right, low, x, low), (x, low, x, y)]
    text = f"Draw the sides of a rectangle from ({x}, {y}) to ({right}, {low})."
    return Small(text, {"strokes": strokes}, (tuple(map(_stroke, strokes)),))


def pan(chance: random.Random) -> Small:
    dx, dy = chance.choice([-60, 50]), chance.choice([-40, 30])
    moved = drag("Harbour", dx=dx, dy=dy)
    return Small(
        f"Drag the map by {dx}, {dy}.", {"wanted": [dx, dy]}, ((find("Harbour"),), (moved,))
    )


def marquee(chance: random.Random) -> Small:
    names, first = chance.sample(PEOPLE, 5), chance.randint(0, 2)
    told = {"names": names, "wanted": names[first : first + 2]}
    drawn = drag("Desk", x=12 + first * 80, y=15, dx=156, dy=85)
    return Small(f"Draw a frame round {' and '.join(told['wanted'])}.", told, ((drawn,),))


def tiles(chance: random.Random) -> Small:
    names = chance.sample(WORDS, 4)
    told = {"names": names, "wanted": [names[2], names[1], names[0], names[3]]}
    return Small(
        f"Swap {names[0]} and {names[2]} by dragging.", told, ((drag(names[0], names[2]),),)
    )


def dial(chance: random.Random) -> Small:
    start, more = chance.randint(10, 30), chance.choice([-12, 15, 30])
    moved = drag("Dial", dy=-2 * more)
    return Small(
        f"Turn the dial to {start + more}.", {"start": start, "wanted": start + more}, ((moved,),)
    )


Kind = Callable[[random.Random], Small]
PLAIN: tuple[Kind, ...] = (
    *(checkboxes, radio, date, select, tabs, sections, login, shades, dialog, inbox),
    *(posts, spinner, autocomplete, search, tree, copy, flights, menu, patience, keys),
    *(shapes, spot, terminal, highlight, editor, terms, hold, several, context, rename),
)
DRAGGING: tuple[Kind, ...] = (
    *(circle, sort, into, board, slider, resize, line, rectangle, pan, marquee, tiles, dial),
)
DRAWN = {"line": "draw", "rectangle": "draw"}
"""Kinds that share a page."""


def page_of(kind: str, small: Small) -> str:
    told = json.dumps(small.told).replace("</", "<\\/")
    return (
        f"<!doctype html><title>{kind}</title><p id=query></p>"
        "<div id=area style='position: relative; width: 700px; height: 400px'></div>"
        f"<script src=/minitasks.js></script><script>start({DRAWN.get(kind, kind)!r}, {told});"
        f"document.getElementById('query').textContent = {json.dumps(small.text)};</script>"
    )


async def measure(
    kinds: tuple[Kind, ...], number: int, seed: int, player: type[Player] = Player
) -> list[Played]:
    """Run this many tasks, alternating the kinds."""
    chance = random.Random(seed)
    all_played = []
    with serve_pages() as pages:
        pages.put(SCRIPT.read_text("utf-8"), "/minitasks.js", content_type="text/javascript")
        async with stage(f"127.0.0.1:{pages.port}") as theatre:
            for place in range(number):
                kind = kinds[place % len(kinds)]
                small = kind(chance)
                task = Task(small.text, small.replies, "won()")
                url = pages.base + pages.put(page_of(kind.__name__, small))
                played = await theatre.play(url, task, player)
                all_played.append(played)
                if not played.done or player is Person:
                    print(report(kind.__name__, played), flush=True)
    return all_played


def judge(targets: Targets, what: str, played: list[Played], share: float) -> None:
    done = sum(one.done for one in played)
    targets.at_least(f"{what} done (of {len(played)})", done / len(played), share)
    false = sum(not one.done and not one.honest for one in played)
    targets.at_most(f"{what}: failures that claim success", false, 0)


def main() -> int:
    reader = argparse.ArgumentParser(prog="python -m bench.minitasks")
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--play", metavar="KIND", help="answer as the model; tags on stdin")
    asked = reader.parse_args()
    if asked.play:
        kinds = tuple(kind for kind in PLAIN + DRAGGING if kind.__name__ == asked.play)
        asyncio.run(measure(kinds, len(kinds), asked.seed, Person))
        return 0
    targets = Targets()
    plain = asyncio.run(measure(PLAIN, 60, asked.seed))
    dragging = asyncio.run(measure(DRAGGING, 20, asked.seed))
    judge(targets, "clicking and typing", plain, PLAIN_SHARE)
    judge(targets, "dragging and drawing", dragging, DRAGGING_SHARE)
    return targets.code


if __name__ == "__main__":
    sys.exit(main())
