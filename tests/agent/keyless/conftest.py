"""A small web, and a loop around the model that passes on results like the real one."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent.evidence import split_passages
from agent.keyless.conversation import read_conversation
from agent.keyless.model import ExtractiveModel, final_answer
from agent.keyless.researcher import Research
from agent.protocol import parse
from agent.types import Message, Observation, ToolCall
from browser.text.words import BM25, content_words
from browser.types import SearchResult

SITE = "http://isles.example/"


@dataclass
class Page:
    title: str
    text: str
    next: str | None = None


@dataclass
class SmallWeb:
    """Pages by name, a search engine over them, and the requests to both."""

    pages: dict[str, Page]
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    sources: dict[str, int] = field(default_factory=dict)

    def add(self, title: str, text: str) -> None:
        """Add one more page."""
        self.pages[title.casefold().replace(" ", "-")] = Page(title, text)

    def run(self, name: str, param: str) -> Observation:
        made, call = ToolCall(name, param), json.loads(param)
        self.asked.append((name, call))
        if name == "WEB_SEARCH":
            return self._search(made, call["query"])
        if name == "READ":
            return self._read(made, call["url"])
        return Observation(made, {"error": f"there is no tool {name} here"})

    def _search(self, made: ToolCall, query: str) -> Observation:
        names = list(self.pages)
        texts = [f"{p.title} {p.title} {p.text}" for p in self.pages.values()]
        best = BM25([content_words(text) for text in texts]).best(content_words(query), 10)
        found = [(names[number], self.pages[names[number]]) for number, _ in best]
        hits = [SearchResult(f"{SITE}{name}", p.title, p.text[:80]) for name, p in found]
        return Observation(made, {"query": query}, results=tuple(hits), web="hits", label="search")

    def _read(self, made: ToolCall, url: str) -> Observation:
        name = url.removeprefix(SITE)
        page = self.pages.get(name)
        if page is None:
            return Observation(made, {"error": f"{url}: 404"})
        number = self.sources.setdefault(name, len(self.sources) + 1)
        passages = split_passages(f"# {page.title}\n\n{page.text}", number)
        data = {"source": f"S{number}", "url": url, "title": page.title}
        if page.next:
            data["next"] = SITE + page.next
        return Observation(made, data, tuple(passages), web="text", label=f"S{number}")

    def queries(self) -> list[str]:
        return [call["query"] for name, call in self.asked if name == "WEB_SEARCH"]

    def read(self) -> list[str]:
        return [call["url"].removeprefix(SITE) for name, call in self.asked if name == "READ"]


Ask = Callable[..., Awaitable[str]]


@pytest.fixture
def ask() -> Ask:
    """Let the model work on a small web until it answers; returns what it would quote.

    At most twelve replies. `test_confidence.py` covers how confident it must be to answer.
    """

    async def run(
        web: SmallWeb,
        question: str,
        *,
        before: tuple[Message, ...] = (),
        given: tuple[Observation, ...] = (),
    ) -> str:
        model = ExtractiveModel()
        asked = Message("user", f"layers\n{question}", observations=given, question=question)
        messages = [*before, asked]
        for _ in range(12):
            reply = parse((await model.reply("", messages)).text)
            if not reply.calls:
                return final_answer(Research(read_conversation(messages)))
            messages.append(Message("assistant", reply.text))
            results = [web.run(call.name, call.param) for call in reply.calls]
            messages.append(Message("user", "as text", observations=tuple(results)))
        raise AssertionError("no answer within twelve steps")

    return run


@pytest.fixture
def isles() -> SmallWeb:
    """Six pages about islands that do not exist."""
    return SmallWeb(
        {
            "hesk-light": Page(
                "Hesk Light",
                "Hesk Light is a lighthouse on Hesk. It was first lit on 1 November 1829. "
                "It was designed by the engineer Gideon Thorsby.",
            ),
            "thorsby": Page(
                "Gideon Thorsby",
                "Gideon Thorsby was an engineer of lighthouses. "
                "He was born in Nether Croft in 1788. He died at sea.",
            ),
            "marrow-light": Page(
                "Marrow Point Light",
                "Marrow Point Light is a lighthouse on Marrow. It was first lit on 3 May 1851. "
                "Its lens was cut in Brask.",
            ),
            "ferries": Page(
                "Ferries of the isles",
                "Two ferries serve the isles.\n\n"
                "| Ferry | Year | Passengers |\n"
                "| Kittiwake | 1987 | 60 |\n| Anna Torrand | 2014 | 310 |",
            ),
            "pudding": Page("Hesk pudding", "Hesk pudding is made of oats, cream and sea salt."),
            "wren": Page(
                "Orlenn wren",
                "The Orlenn wren is a small bird. It nests in the walls of sheepfolds on Brack. "
                "Tobias Renwick described the Orlenn wren in 1871.",
            ),
        }
    )
