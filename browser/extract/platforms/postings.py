"""What schema.org calls a posting, as several platforms declare their posts in JSON-LD."""

from __future__ import annotations

from html import unescape
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.jsonld import names, text_of
from browser.extract.metadata import node_types
from browser.extract.platforms.numbers import number

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_ACTIONS = {
    "LikeAction": "likes", "CommentAction": "replies", "ReplyAction": "replies",
    "ShareAction": "reposts", "RepostAction": "reposts", "WatchAction": "views",
    "ViewAction": "views", "AgreeAction": "likes", "FollowAction": "followers",
    "BookmarkAction": "bookmarks", "QuoteAction": "quotes", "WriteAction": "posts",
}  # fmt: skip


def node_of(source: Source, *kinds: str) -> dict[str, Any]:
    """The first JSON-LD node of one of these types; an empty one where there is none."""
    wanted = set(kinds)
    return next((node for node in source.jsonld if wanted & set(node_types(node))), {})


def first_node(value: object) -> dict[str, Any]:
    """The node that a property holds, of several the first; an empty one where it is none."""
    item = value[0] if isinstance(value, list) and value else value
    return item if isinstance(item, dict) else {}


def statistics(node: dict[str, Any]) -> dict[str, int]:
    """Interaction counters by plain names."""
    values = node.get("interactionStatistic") or []
    found: dict[str, int] = {}
    for counter in values if isinstance(values, list) else [values]:
        if not isinstance(counter, dict):
            continue
        kind = counter.get("interactionType")
        label = kind.get("@type", "") if isinstance(kind, dict) else str(kind)
        name = _ACTIONS.get(label.rpartition("/")[2])
        amount = number(counter.get("userInteractionCount"))
        if name and amount is not None:
            found[name] = amount
    return found


def author_of(node: dict[str, Any]) -> tuple[str | None, str | None]:
    """Name and handle of a node's author."""
    value = node.get("author")
    person = value[0] if isinstance(value, list) and value else value
    found = names(person)
    if not isinstance(person, dict):
        return (found[0] if found else None, None)
    handle = text_of(person.get("alternateName")) or text_of(person.get("identifier"))
    return (found[0] if found else None, handle.lstrip("@") or None)


def date_of(node: dict[str, Any], *keys: str) -> str | None:
    """The first of these dates that the node holds."""
    return next((date for key in keys if (date := iso_date(text_of(node.get(key))))), None)


def words_of(node: dict[str, Any], *keys: str) -> str:
    """A node's running text with its line breaks, entities undone."""
    value = next((node[key] for key in keys if isinstance(node.get(key), str)), "")
    return unescape(value).strip()
