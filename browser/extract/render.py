"""Blocks into the saved text, and into Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from browser.extract.blocks import Block

_LIST = frozenset(("item", "item-rest"))
_GLOSSARY = frozenset(("term", "detail"))


def render_text(blocks: Sequence[Block]) -> str:
    """Join blocks by blank lines; the items of a list, and a term and its details, by newlines."""
    return _join(blocks, (_with_prefix(block, block.text) for block in blocks))


def render_markdown(blocks: Sequence[Block]) -> str:
    """Join blocks as Markdown, with emphasis, links and code fences."""
    return _join(blocks, (_as_markdown(block) for block in blocks))


def _join(blocks: Sequence[Block], texts: Iterable[str]) -> str:
    parts: list[str] = []
    previous: Block | None = None
    for block, text in zip(blocks, texts, strict=True):
        if previous is not None:
            parts.append("\n" if _belongs(previous, block) else "\n\n")
        parts.append(text)
        previous = block
    return "".join(parts)


def _belongs(previous: Block, block: Block) -> bool:
    if block.kind == "detail":
        return previous.kind in _GLOSSARY
    return block.kind in _LIST and previous.kind in _LIST


def _with_prefix(block: Block, text: str) -> str:
    if block.kind == "heading":
        return f"{'#' * block.level} {' '.join(text.split())}"
    if block.kind == "item":
        return f"- {text}"
    return f"  {text}" if block.kind == "item-rest" else text


def _as_markdown(block: Block) -> str:
    if block.kind == "code":
        return f"```\n{block.markdown}\n```"
    if block.kind == "quote":
        return "\n".join(f"> {line}" for line in block.markdown.split("\n"))
    return _with_prefix(block, block.markdown)
