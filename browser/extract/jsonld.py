"""JSON-LD of a page: its nodes, flat, and the few ways in which names are written in it."""

from __future__ import annotations

import json
from html import unescape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

Node = dict[str, Any]

# Nodes that describe the page itself, in the order in which they are trusted.
_ARTICLES = (
    "NewsArticle", "ReportageNewsArticle", "AnalysisNewsArticle", "LiveBlogPosting", "BlogPosting",
    "ScholarlyArticle", "TechArticle", "Article", "OpinionNewsArticle", "Report",
    "SocialMediaPosting", "DiscussionForumPosting", "Recipe", "VideoObject", "Product", "WebPage",
)  # fmt: skip
# A page's graph is small; what is nested deeper is hostile or data.
_DEEPEST = 6


def read_jsonld(root: etree._Element) -> list[Node]:
    """Every JSON-LD node of the page, graphs laid out flat; broken scripts are passed over."""
    nodes: list[Node] = []
    for script in root.iter("script"):
        if (script.get("type") or "").split(";")[0].strip().lower() != "application/ld+json":
            continue
        nodes.extend(_nodes(_load(script.text or ""), _DEEPEST))
    return nodes


def article_node(nodes: list[Node]) -> Node:
    """The node that describes the page's main thing; an empty one where there is none."""
    for kind in _ARTICLES:
        for node in nodes:
            declared = node.get("@type")
            if declared == kind or (isinstance(declared, list) and kind in declared):
                return node
    return {}


def names(value: object) -> list[str]:
    """Names of people or organisations, given as text, node, or a list of either."""
    values = value if isinstance(value, list) else [value]
    found = [
        text_of(item.get("name")) if isinstance(item, dict) else text_of(item) for item in values
    ]
    return list(dict.fromkeys(name for name in found if name and not name.startswith("http")))


def text_of(value: object) -> str:
    """A text value; the first of a list; `@value` of a typed one; else an empty string."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("@value", "")
    # Publishing systems escape twice: `&#8217;` stands for a character here, too.
    return " ".join(unescape(value).split()) if isinstance(value, str) else ""


def _load(text: str) -> object:
    trimmed = text.strip().removeprefix("<!--").removesuffix("-->").strip().rstrip(";")
    try:
        return json.loads(trimmed, strict=False)
    except (ValueError, RecursionError):
        return None


def _nodes(value: object, depth: int) -> Iterator[Node]:
    if depth == 0:
        return
    if isinstance(value, list):
        for item in value:
            yield from _nodes(item, depth - 1)
    elif isinstance(value, dict):
        yield value
        for key in ("@graph", "mainEntity", "mainEntityOfPage"):
            yield from _nodes(value.get(key), depth - 1)
