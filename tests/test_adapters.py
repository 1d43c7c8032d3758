"""The adapters in docs/adapters.md, each run if its framework is installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "adapters.md"
ASKED = "Who repaired the pump?"


def example(framework: str) -> dict[str, Any]:
    """Run the code below a heading on the page; returns what it defines."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {framework}\n")[1]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert code is not None
    namespace: dict[str, Any] = {"__name__": "adapter"}
    exec(code[1], namespace)
    return namespace


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "pump.md").write_text("# The pump\n\nIn 2019 Ada Quill repaired the pump.\n")
    return {
        "model": "extractive",
        "corpus": notes,
        "search": ["corpus"],
        "data_dir": tmp_path / "data",
    }


async def test_langchain_retriever_example_works(settings):
    pytest.importorskip("langchain_core")
    retriever = example("LangChain")["UrchinRetriever"](settings=settings)
    for found in (retriever.invoke(ASKED), await retriever.ainvoke(ASKED)):
        assert found[0].page_content == "In 2019 Ada Quill repaired the pump."
        assert found[0].metadata["source"].endswith("/notes/pump.md")


async def test_llama_index_retriever_example_works(settings):
    pytest.importorskip("llama_index.core")
    retriever = example("LlamaIndex")["UrchinRetriever"](**settings)
    for found in (retriever.retrieve(ASKED), await retriever.aretrieve(ASKED)):
        assert found[0].node.text == "In 2019 Ada Quill repaired the pump."


async def test_pydantic_ai_tool_example_works(settings):
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    agent = Agent(TestModel(), tools=[example("pydantic-ai")["urchin_tool"](**settings)])
    with agent.override(model=TestModel(call_tools=["research"])):
        result = await agent.run(ASKED)
    assert "standing" in result.output


def test_adapter_examples_are_short():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    lines = [len([line for line in block.splitlines() if line.strip()]) for block in blocks]
    assert len(blocks) == 3
    assert max(lines) <= 22
