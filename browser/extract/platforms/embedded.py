"""Data that pages carry beside their markup: JSON in scripts, and schema.org nodes in JSON-LD."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.metadata import names, node_types, text_of
from browser.extract.platforms.site_record import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser.extract.platforms.site import SitePage

# Next.js streams what its components need as strings: `self.__next_f.push([1,"…"])`.
_STREAMED = re.compile(r"__next_f\.push\(\s*(?=\[)")
# Objects beyond these are a page's translations or its routes.
_MOST_NODES = 200_000
_ACTIONS = {
    "LikeAction": "likes", "CommentAction": "replies", "ReplyAction": "replies",
    "ShareAction": "reposts", "RepostAction": "reposts", "WatchAction": "views",
    "ViewAction": "views", "AgreeAction": "likes", "FollowAction": "followers",
    "BookmarkAction": "bookmarks", "QuoteAction": "quotes", "WriteAction": "posts",
}  # fmt: skip


def variable(page: SitePage, name: str) -> Any:
    """The JSON value that a script assigns to a variable of this name; None without one."""
    assigned = re.compile(
        rf"(?:^|[^\w.])(?:window\.|self\.)?{re.escape(name)}\"?\]?\s*=\s*(?=[{{\[])"
    )
    for script in page.tree.iter("script"):
        text = script.text or ""
        if name in text and (match := assigned.search(text)):
            return decoded(text, match.end())
    return None


def objects(page: SitePage, *keys: str) -> Iterator[dict[str, Any]]:
    """Every object that has all of these keys, in a page's Next.js state or its JSON."""
    roots = [page.json] if page.json is not None else list(_states(page))
    for node in walk(roots):
        if all(key in node for key in keys):
            yield node


def _states(page: SitePage) -> Iterator[Any]:
    """What Next.js hands to a page, in both its forms."""
    yield variable(page, "__SERVER_DATA")
    pieces: list[str] = []
    for script in page.tree.iter("script"):
        text = script.text or ""
        if script.get("id") == "__NEXT_DATA__":
            data = decoded(text)
            yield ((data or {}).get("props") or {}).get("pageProps") if data else None
        for match in _STREAMED.finditer(text):
            row = decoded(text, match.end())
            if isinstance(row, list) and len(row) > 1 and isinstance(row[1], str):
                pieces.append(row[1])
    # A row is `id:value` on a line of its own; what is no JSON (modules, texts) is passed over.
    for line in "".join(pieces).split("\n"):
        value = line.partition(":")[2]
        if value[:1] in ("{", "["):
            yield decoded(value)


def walk(roots: list[Any]) -> Iterator[dict[str, Any]]:
    """Every object within some values, in their order."""
    stack = list(reversed(roots))
    for _ in range(_MOST_NODES):
        if not stack:
            return
        value = stack.pop()
        if isinstance(value, dict):
            yield value
            stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            stack.extend(reversed(value))


def decoded(text: str, start: int = 0) -> Any:
    """The JSON value that begins at a place of a text; None where there is none."""
    try:
        return json.JSONDecoder().raw_decode(text.lstrip() if not start else text, start)[0]
    except (ValueError, RecursionError):
        return None


def node_of(page: SitePage, *kinds: str) -> dict[str, Any]:
    """The first JSON-LD node of one of these types; an empty one where there is none."""
    wanted = set(kinds)
    return next((node for node in page.jsonld if wanted & set(node_types(node))), {})


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


def node_date(node: dict[str, Any], *keys: str) -> str | None:
    """The first of these dates that the node holds."""
    return next((date for key in keys if (date := iso_date(text_of(node.get(key))))), None)


def words_of(node: dict[str, Any], *keys: str) -> str:
    """A node's running text with its line breaks, entities undone."""
    value = next((node[key] for key in keys if isinstance(node.get(key), str)), "")
    return unescape(value).strip()
