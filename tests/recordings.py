"""Runs of every kind, to be recorded and replayed."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent import research

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from agent import Report
    from fixtures.server import Site
    from tests.agent.models.wire import OpenAIProvider

ASKED = "When was Hesk Light first lit?"
PHASES = "Find out when Hesk Light was lit and then how high it is and compare them"
LIT = "It was first lit on 1 November 1829. [S1]"


@dataclass
class Studio:
    """Where runs are recorded: a web, a model endpoint, a data folder."""

    site: Site
    provider: OpenAIProvider
    data: Path
    count: int = 0
    kinds: dict[str, Callable[[Studio], Awaitable[Any]]] = field(default_factory=dict)

    def script(self, *replies: str | dict[str, str]) -> str:
        """Write a script; returns the model's name."""
        self.count += 1
        path = self.data / f"script{self.count}.jsonl"
        path.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        return f"scripted:{path}"

    async def ask(
        self, *replies: str | dict[str, str], question: str = ASKED, **flags: Any
    ) -> Report:
        """Research with a script, or with the model named among the flags."""
        web = {"search": ["searxng"], "searxng_url": self.site.url}
        settings = {"model": self.script(*replies) if replies else None, "memory": False}
        return await research(question, **{**web, **settings, "data_dir": self.data, **flags})

    def read(self, path: str) -> str:
        return f'<<TOOL:READ:{{"url":"{self.site.url}{path}"}}>>'


async def searched(studio: Studio) -> None:
    await studio.ask("<<THINK>>search<</THINK>><<TOOL:WEB_SEARCH:Hesk Light>>",
                     studio.read("/hesk-light") + studio.read("/no-such-page"), LIT)  # fmt: skip


async def pdf(studio: Studio) -> None:
    await studio.ask(studio.read("/annual-report-2025.pdf"), "NOT_FOUND")


async def browser(studio: Studio) -> None:
    await studio.ask(
        f"<<TOOL:OPEN:{studio.site.url}/collection>>",
        '<<TOOL:TYPE:{"ref":"{{ref:Search the collection}}","text":"fog bell","submit":true}>>',
        "<<TOOL:SCREENSHOT>><<TOOL:SNAPSHOT>>",
        '<<TOOL:CLICK:{"ref":"e999"}>>',
        "NOT_FOUND",
    )


async def memory(studio: Studio) -> None:
    await studio.ask(
        '<<TOOL:REMEMBER:{"key":"light","value":"Hesk"}>>' + studio.read("/hesk-light"),
        '<<TOOL:RECALL:light>><<TOOL:SET_GOAL:{"project":"isles","goal":"lights"}>>',
        LIT,
        memory=True,
    )


async def planned(studio: Studio) -> None:
    subtasks = [{"task": "When was it lit?"}, {"task": "Sum up.", "dependsOn": [0]}]
    plan = json.dumps({"decompose": True, "subtasks": subtasks})
    await studio.ask({"reply": plan, "for": "plan"}, studio.read("/hesk-light"),
                     LIT.replace("S1", "{{1}}"), "In 1829.", "It was first lit on 1 November 1829.",
                     question=PHASES)  # fmt: skip


async def fallback(studio: Studio) -> None:
    answering = studio.script(studio.read("/hesk-light"), LIT)
    gone = {"model": "gone", "base_url": "http://127.0.0.1:9/v1"}
    await studio.ask(fallback=[answering], **gone)


async def native(studio: Studio) -> None:
    url = json.dumps({"url": f"{studio.site.url}/hesk-light"})
    studio.provider.answers.clear()
    studio.provider.says("", [("READ", url), ("FETCH_URL", url)])
    studio.provider.says(LIT)
    await studio.ask(model="m", base_url=studio.provider.url, native_tools=True)


async def failing(studio: Studio) -> None:
    await studio.ask(studio.read("/hesk-light"))  # the script ends: the model fails


async def failing_part(studio: Studio) -> None:
    plan = {"decompose": True, "subtasks": [{"task": "When?"}, {"task": "How high?"}]}
    await studio.ask({"reply": json.dumps(plan), "for": "plan"}, studio.read("/hesk-light"),
                     question=PHASES)  # fmt: skip


async def cut_short(studio: Studio) -> None:
    await studio.ask(studio.read("/hesk-light"), LIT, max_steps=1)


async def interrupted(studio: Studio) -> None:
    began = asyncio.Event()

    def on_event(event: Any) -> None:
        if event.type == "tool.result":
            began.set()

    studio.provider.answers.clear()
    studio.provider.says(studio.read("/hesk-light"))
    studio.provider.hangs()
    asking = studio.ask(model="m", base_url=studio.provider.url, on_event=on_event)
    run = asyncio.create_task(asking)
    await began.wait()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)


async def repaired(studio: Studio) -> None:
    await studio.ask(studio.read("/hesk-light"), LIT.replace("1829", "1929"),
                     {"reply": LIT, "for": "review"})  # fmt: skip


async def in_circles(studio: Studio) -> None:
    await studio.ask(*[studio.read("/hesk-light")] * 5, "<<THINK>>only this<</THINK>>", LIT)


async def out_of_reach(studio: Studio) -> None:
    await studio.ask(
        "<<TOOL:WEB_SEARCH:Hesk Light>>", "NOT_FOUND", searxng_url="http://127.0.0.1:9"
    )


async def with_a_file(studio: Studio) -> None:
    path = studio.data / "notes.md"
    path.write_text("# Notes\n\nThe bell was cast in 1846 at Skarholm.\n")
    await studio.ask("The bell was cast in 1846 at Skarholm. [S1]", file=[path])


async def extractive(studio: Studio) -> None:
    await studio.ask()


async def as_report(studio: Studio) -> None:
    await studio.ask(report=True, depth="quick")


async def judged(studio: Studio) -> None:
    claim = "The lighthouse that Gideon Thorsby planned has shone since 1829. [S1]"
    verdict = '1: supported "It was first lit on 1 November 1829."'
    await studio.ask(studio.read("/hesk-light"), claim, {"reply": verdict, "for": "judge"})


async def deep(studio: Studio) -> None:
    await studio.ask(
        studio.read("/hesk-light"),
        LIT,
        {"reply": '{"open":["How high is it?"]}', "for": "missing"},
        '<<TOOL:FIND:{"text":"metres high"}>>',
        f"{LIT} The granite tower is 34 metres high and has 166 steps. [S1]",
        {"reply": '{"open":[]}', "for": "missing"},
        depth="deep",
    )


async def with_data(studio: Studio) -> None:
    schema = {"type": "object", "properties": {"height_m": {"type": "integer"}}}
    wrong = {"data": {"height_m": 35}, "citations": {"/height_m": "S1"}}
    reply = {"reply": json.dumps(wrong), "for": "values"}
    await studio.ask(studio.read("/hesk-light"), LIT, reply, reply, schema=schema)


async def seeing(studio: Studio) -> None:
    studio.provider.answers.clear()
    for reply in (f"<<TOOL:OPEN:{studio.site.url}/museum>>", "<<TOOL:SCREENSHOT>>", "NOT_FOUND"):
        studio.provider.says(reply)
    await studio.ask(model="openai/gpt-4.1", base_url=studio.provider.url, vision=True)


async def from_a_result(studio: Studio) -> None:
    await studio.ask(
        "<<TOOL:WEB_SEARCH:Hesk Light first lit>>",
        "The light shows three flashes every twenty seconds and was the first of the isles to be "
        "automatic, in 1964. [S510]",
    )


KINDS = (
    searched, pdf, browser, memory, planned, fallback, native, failing, interrupted, failing_part,
    cut_short, repaired, in_circles, out_of_reach, with_a_file, extractive, as_report, judged, deep,
    with_data, seeing, from_a_result,
)  # fmt: skip
"""The first nine differ most from each other."""
