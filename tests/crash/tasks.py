"""Runs to kill: each has a question, flags, and a model that decides by what it has read."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.server import Site
    from tests.crash.orders import OrderSite
    from tests.crash.speaker import Talk


@dataclass(frozen=True)
class Task:
    """A run to kill.

    `asked()` counts requests to the web by path; `pages` are paths that only a single call reads.
    `book` names the order book that it writes to; `wrong()` says what is wrong there.
    """

    name: str
    question: str
    decide: Callable[[Talk], str]
    asked: Callable[[], Counter[str]]
    flags: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    book: str = ""
    wrong: Callable[[], str] = str


def reading(site: Site) -> Task:
    """Search, pages read in parallel, two memories, an answer from two sources."""

    def decide(talk: Talk) -> str:
        match len(talk.rounds):
            case 0:
                return "<<THINK>>search first<</THINK>><<TOOL:WEB_SEARCH:Hesk Light>>"
            case 1:
                return (
                    f"<<TOOL:READ:{site.url}/hesk-light>><<TOOL:READ:{site.url}/no-such-page>>"
                    '<<TOOL:REMEMBER:{"key":"light","value":"Hesk"}>>'
                )
            case 2:
                return (
                    f"<<TOOL:READ:{site.url}/annual-report-2025.pdf>>"
                    f'<<TOOL:READ:{{"url":"{site.url}/museum","query":"curator"}}>>'
                    '<<TOOL:SET_GOAL:{"project":"isles","goal":"know the lights"}>>'
                )
        lit, curator = talk.source_of("1 November 1829"), talk.source_of("Saskia Penhale")
        first = f"It was first lit on 1 November 1829. [{lit}]"
        return f"{first} The curator is Saskia Penhale. [{curator}]"

    question = "When was Hesk Light first lit?"
    flags = ("--search", "searxng", "--searxng-url", site.url)
    pages = ("/hesk-light", "/no-such-page", "/annual-report-2025.pdf", "/museum")
    return Task("reading", question, decide, lambda: site.asked, flags, pages)


def planned(site: Site) -> Task:
    """Three parallel subtasks, each with its own page and memory."""
    pages = {
        "Find when Hesk Light was lit.": ("hesk-light", "It was first lit on 1 November 1829."),
        "Find who is curator.": ("museum", "The curator is Saskia Penhale."),
        "Find how high the tower is.": ("hesk-light", "The granite tower is 34 metres high."),
    }
    plan = json.dumps({"decompose": True, "subtasks": [{"task": task} for task in pages]})

    def decide(talk: Talk) -> str:
        if talk.question.startswith("Request: "):
            return plan
        task = next((task for task in pages if task in talk.question), "")
        if not task or "Step 1 (" in talk.question:
            return " ".join(re.findall(r"[^.:\n]+\. \[S\d+\]", talk.question))
        path, words = pages[task]
        if not talk.rounds:
            memory = json.dumps({"key": task, "value": words})
            return f"<<TOOL:READ:{site.url}/{path}>><<TOOL:REMEMBER:{memory}>>"
        return f"{words} [{talk.source_of(words.split(' ', 2)[2][:-1])}]"

    question = (
        "Find when Hesk Light was lit and then who is curator and also how high the tower is, "
        f"from {site.url}/hesk-light and {site.url}/museum"  # memory is private: it may ask these
    )
    flags = ("--allow-private", site.address)
    return Task("planned", question, decide, lambda: site.asked, flags, ("/museum",))


def ordering(orders: OrderSite, name: str) -> Task:
    """A login and two orders in the browser: fields are typed into, buttons clicked."""
    url = f"{orders.url}/{name}/"
    wanted = ("anchor", "bell")

    def decide(talk: Talk) -> str:
        if not talk.rounds:
            return f"<<TOOL:OPEN:{url}>>"
        last = talk.rounds[-1]
        if "error" in last.split("\n")[0] or ("events" in last and "opened again" in last):
            return "<<TOOL:SNAPSHOT>>"
        if "for TYPE" in last:
            return click(talk, "Come in" if "Your name" in last else "Order")
        if "Your name" in last:
            return type_into(talk, "Your name", "friend")
        held = re.findall(r"holds \d orders: (.*)\.", last)
        missing = [goods for goods in wanted if not held or goods not in held[-1]]
        if held and not missing and not any("holds 2 orders" in line for line in talk.passages):
            return "<<TOOL:READ:{}>>"
        if held and not missing:
            return f"The book holds 2 orders: anchor and bell. [{talk.source_of('holds 2 orders')}]"
        return type_into(talk, "Goods", missing[0]) if held else "<<TOOL:SNAPSHOT>>"

    def wrong() -> str:
        arrived = orders.orders[name]
        return "" if arrived == list(wanted) else f"orders that arrived: {arrived}"

    question = f"What does the order book at {url} hold?"
    flags = ("--allow-private", orders.url.removeprefix("http://"))
    return Task("ordering", question, decide, Counter, flags, (), name, wrong)


def click(talk: Talk, label: str) -> str:
    ref = talk.ref_of(label)
    return f'<<TOOL:CLICK:{{"ref":"{ref}"}}>>' if ref else "<<TOOL:SNAPSHOT>>"


def type_into(talk: Talk, label: str, text: str) -> str:
    ref = talk.ref_of(label)
    return f'<<TOOL:TYPE:{{"ref":"{ref}","text":"{text}"}}>>' if ref else "<<TOOL:SNAPSHOT>>"
