"""The wiki tools, as called in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agent.evidence import Evidence
from agent.limits import LimitSettings
from agent.tools.context import ToolContext
from agent.tools.memory_tools import WIKI_TOOLS
from agent.tools.policy import Policy
from agent.tools.registry import Registry
from agent.tools.toolset import available_tools
from agent.types import ToolCall
from agent.wiki import Wiki

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from agent.types import Observation


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ToolContext]:
    wiki = Wiki(tmp_path / "wiki")
    wiki.ensure()
    wiki.write_file("boats.md", "# Boats\n" + "The Kittiwake is a yawl.\n" * 300)
    made = ToolContext("q", Evidence(), LimitSettings(), lambda *_, **__: None, lambda _: "")
    made.wiki = wiki
    yield made
    made.close()


@pytest.fixture
def call(context: ToolContext) -> Callable[..., Awaitable[Observation]]:
    policy = Policy(Registry(WIKI_TOOLS), context)

    async def calling(name: str, param: str = "") -> Observation:
        return (await policy.run(ToolCall(name, param), "0/1/1"))()

    return calling


async def test_wiki_file_is_found_and_read_within_bounds(call: Any) -> None:
    found = await call("memory_search", "kittiwake")
    assert [hit["path"] for hit in found.data["results"]] == ["boats.md"]
    read = await call("memory_get", '{"path":"boats.md","start":2}')
    assert (read.data["start"], read.data["end"], read.data["total"]) == (2, 121, 301)
    assert read.web.count("yawl") == 120


@pytest.mark.parametrize("path", ["nope.md", "../memory.db", "/etc/passwd"])
async def test_path_outside_wiki_is_not_read(call: Any, path: str) -> None:
    assert "error" in (await call("memory_get", path)).data


async def test_relationship_and_log_are_written_once_and_linted(call: Any) -> None:
    relation = '{"from":"boats.md","to":"ports.md","type":"related"}'
    assert (await call("wiki_record_relationship", relation)).data == {"added": 1}
    assert (await call("wiki_record_relationship", relation)).data == {"added": 0}
    refused = await call("wiki_record_relationship", relation.replace("related", "loves"))
    assert "no such type" in refused.data["error"]
    assert (await call("wiki_append_log", "Looked at boats")).data == {"changed": ["log.md"]}
    assert "index.md" in (await call("wiki_update_index")).data["changed"]
    assert (await call("wiki_lint")).data["findings"] == 1


def test_wiki_tools_are_available_only_with_wiki(context: ToolContext) -> None:
    assert "wiki_lint" in {tool.name for tool, why in available_tools(context) if not why}
    context.wiki = None
    assert "wiki_lint" not in {tool.name for tool, why in available_tools(context) if not why}
