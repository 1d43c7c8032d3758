"""A live page is opened if it needs interaction, and operated by its controls' labels."""

from __future__ import annotations

import json
from typing import Any

from agent.keyless.live_page import LiveControl, controls
from agent.keyless.model import ExtractiveModel
from agent.protocol import parse
from agent.types import Message, Observation, Passage, ToolCall

URL = "http://isles.example/catalogue"
QUESTION = "Who cast the fog bell of Hesk Light?"
READ_PAGE = (
    "S1¶1 # Catalogue of the museum\n"
    "S1¶2 The catalogue lists each bell and lamp of Hesk Light.\n"
    "S1¶3 There are a fog bell and a school bell."
)
OPENED = (
    "banner:\n [e1 searchbox: Search the isles]\nmain:\n # Catalogue of the museum\n search:\n"
    "  [e2 searchbox: Search the catalogue]\n  [e3 button: Go]\n  [e4 button: Order the fog bell]\n"
    "contentinfo:\n [e5: All pages]"
)
TYPED = (
    "~ [e2 searchbox: Search the catalogue = fog bell, focused]\n"
    "+   - [e6 button: Show record: Fog bell of Hesk Light]\n"
    "+   - [e7 button: Show record: School bell]"
)
CLICKED = (
    "+ ## Fog bell\n\nNew text:\n"
    "S2¶4 The fog bell of Hesk Light was cast by Ottoline Brask in 1846."
)


class ConversationStub:
    """A conversation up to some point."""

    def __init__(self, question: str = QUESTION) -> None:
        self.messages = [Message("user", question)]

    def then(
        self, name: str, param: dict[str, Any], data: dict[str, Any], web: str, label: str
    ) -> ConversationStub:
        self.messages.append(Message("assistant", f"<<TOOL:{name}:{json.dumps(param)}>>"))
        passages = tuple(
            Passage(line.split(" ")[0], 1, line.partition(" ")[2])
            for line in web.split("\n")
            if "¶" in line.split(" ")[0]
        )
        snapshot = "" if name == "READ" else web
        call = ToolCall(name, json.dumps(param))
        observed = Observation(call, data, passages, snapshot=snapshot)
        self.messages.append(Message("user", web, observations=(observed,)))
        return self

    def read(self, text: str = READ_PAGE, url: str = URL) -> ConversationStub:
        for query in (QUESTION, "bell", "Hesk Light"):
            self.then("WEB_SEARCH", {"query": query}, {"query": query, "results": 0}, "", "search")
        data = {"source": "S1", "url": url, "title": "Catalogue of the museum"}
        data["controls"] = ["searchbox Search the catalogue"]
        return self.then("READ", {"url": url}, data, text, "S1")

    def opened(self) -> ConversationStub:
        data = {"url": URL, "source": "S1", "title": "Catalogue of the museum"}
        return self.read().then("OPEN", {"url": URL}, data, OPENED, "S1")

    def typed(self) -> ConversationStub:
        data = {"did": "typed", "url": URL, "source": "S1"}
        return self.opened().then("TYPE", {"ref": "e2", "text": "fog bell"}, data, TYPED, "S1")

    async def reply(self) -> str:
        return (await ExtractiveModel().reply("", self.messages)).text


async def call(talk: ConversationStub) -> tuple[str, dict[str, Any]]:
    (only,) = parse(await talk.reply()).calls
    return only.name, json.loads(only.param)


async def test_page_with_controls_is_opened_but_file_is_not() -> None:
    assert await call(ConversationStub().read()) == ("OPEN", {"url": URL})
    assert "OPEN" not in await ConversationStub().read(url="file:///notes/museum.html").reply()


async def test_question_phrase_is_typed_into_page_search_box() -> None:
    talk = ConversationStub().opened()
    assert await call(talk) == ("TYPE", {"ref": "e2", "text": "fog bell", "submit": True})


async def test_button_matching_most_question_words_is_clicked() -> None:
    assert await call(ConversationStub().typed()) == ("CLICK", {"ref": "e6"})


async def test_text_revealed_by_click_is_quoted() -> None:
    data = {"did": "clicked", "url": URL, "source": "S2"}
    talk = ConversationStub().typed().then("CLICK", {"ref": "e6"}, data, CLICKED, "S2")
    assert "was cast by Ottoline Brask in 1846. [S2¶4]" in await talk.reply()


async def test_page_is_read_when_click_returns_no_passages() -> None:
    data = {"did": "clicked", "url": URL, "source": "S1"}
    talk = (
        ConversationStub().typed().then("CLICK", {"ref": "e6"}, data, "+ A dialog with news", "S1")
    )
    name, param = await call(talk)
    assert name == "READ"
    assert "url" not in param


async def test_page_that_already_answers_is_not_opened() -> None:
    answered = READ_PAGE + "\nS1¶4 The fog bell of Hesk Light was cast by Ottoline Brask."
    reply = await ConversationStub().read(answered).reply()
    assert reply.startswith("The fog bell of Hesk Light was cast by Ottoline Brask. [S1¶4]")


def shown(tool: str, snapshot: str) -> Observation:
    return Observation(ToolCall(tool), {"url": "u"}, snapshot=snapshot)


def test_controls_come_from_main_content_and_later_changes() -> None:
    change = (
        "~ [e1 searchbox: S, covered]\n- [e3 button: Go]\n+ [e8 tab: Winter]\n"
        "~ [e4 button: Order, disabled]"
    )
    found = controls([shown("OPEN", OPENED), shown("CLICK", change)])
    assert LiveControl("e8", "tab", "Winter") in found
    assert {c.ref for c in found} == {"e2", "e3", "e8"}
