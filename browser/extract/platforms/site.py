"""The base class of platform parsers, and their view of a page: HTML, JSON, JSON-LD, state."""

from __future__ import annotations

import functools
import json
import re
from collections import defaultdict
from html import escape, unescape
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qs

from bs4 import BeautifulSoup, Tag

from browser.extract.blocks import render_text, walk
from browser.extract.dates import iso_date
from browser.extract.hidden import strip_hidden
from browser.extract.metadata import names, node_types, read_jsonld, read_meta, text_of
from browser.extract.platforms.parsing import number, parse_date
from browser.extract.platforms.site_record import Record
from browser.extract.sniff import decode
from browser.extract.tree import parse_html, truncate_tags
from browser.net.url import host, is_within, join, parse
from browser.text.words import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lxml import etree

# Marks the part to render in a copy that also contains the elements around it.
_PART_ATTRIBUTE = "data-part"
# Matches the calls by which Next.js streams its data: `self.__next_f.push([1,"…"])`.
_STREAMED_STATE = re.compile(r"__next_f\.push\(\s*(?=\[)")
# Maximum number of objects to search. If there are more, the rest are translations or routes.
_MAX_NODES = 200_000
_COUNT_BY_ACTION = {
    "LikeAction": "likes", "CommentAction": "replies", "ReplyAction": "replies",
    "ShareAction": "reposts", "RepostAction": "reposts", "WatchAction": "views",
    "ViewAction": "views", "AgreeAction": "likes", "FollowAction": "followers",
    "BookmarkAction": "bookmarks", "QuoteAction": "quotes", "WriteAction": "posts",
}  # fmt: skip


class Platform:
    """One site, or one kind of software that many sites run.

    `hosts` also match their subdomains (`x.com` also means `mobile.x.com`). A parser for software
    that runs on any host overrides `claims`, which then examines the page. Every page of such
    software contains one of the byte strings in `marks`; pages without one are not parsed. A parser
    that has not been tested on a saved page sets `verified` to false.
    """

    name: ClassVar[str]
    hosts: ClassVar[tuple[str, ...]] = ()
    marks: ClassVar[tuple[bytes, ...]] = ()
    verified: ClassVar[bool] = True

    def claims(self, page: SitePage) -> bool:
        """Whether this parser handles a page; decided by the URL's host, unless overridden."""
        return self.owns(page.host)

    def owns(self, host: str) -> bool:
        """Whether a host is one of this platform's hosts or a subdomain of one."""
        return any(is_within(host, name) for name in self.hosts)

    def parse(self, page: SitePage) -> Record | None:
        """Read the page; None if it no longer has the markup that this parser knows."""
        raise NotImplementedError


class SitePage:
    """One page or API reply; its HTML and JSON are parsed on first use."""

    def __init__(self, url: str, content: str | bytes | Mapping[str, Any] | list[Any]) -> None:
        self.url = url
        self.host = host(url)
        parsed = parse(url)
        self.path = tuple(part for part in (parsed.path if parsed else "").split("/") if part)
        self.query = parsed.query.lstrip("?") if parsed else ""
        self._content = content

    def parameter(self, name: str) -> str:
        """The first value of the URL parameter with this name; empty if there is none."""
        return next(iter(parse_qs(self.query).get(name, [])), "")

    @functools.cached_property
    def json(self) -> Any:
        """The content as JSON; None if it is not JSON."""
        if not isinstance(self._content, str | bytes):
            return self._content
        start = self._content[:1].strip() or self._content.lstrip()[:1]
        if start not in ("{", "[", b"{", b"["):
            return None
        try:
            return json.loads(self._content)
        except (ValueError, RecursionError):
            return None

    @property
    def markup(self) -> str | bytes:
        """The content as received; empty if it was given as parsed data."""
        return self._content if isinstance(self._content, str | bytes) else ""

    @functools.cached_property
    def soup(self) -> BeautifulSoup:
        """The content as BeautifulSoup over lxml."""
        text = decode(self.markup) if isinstance(self.markup, bytes) else self.markup
        return BeautifulSoup(truncate_tags(text).replace("\x00", ""), "lxml")

    @functools.cached_property
    def tree(self) -> etree._Element:
        """The content as an lxml tree, which is faster than `soup`; for queries on every page."""
        return parse_html(self.markup if self.markup.strip() else "<html></html>")

    @functools.cached_property
    def meta(self) -> defaultdict[str, str]:
        """`meta` elements by lower-case name or property; empty if there are none."""
        return defaultdict(str, read_meta(self.tree))

    @functools.cached_property
    def jsonld(self) -> list[dict[str, Any]]:
        """JSON-LD nodes, flattened."""
        return read_jsonld(self.tree)

    @functools.cached_property
    def canonical(self) -> str:
        """The page's canonical address, or else the address from which it was read."""
        links = (e.get("href") for e in self.tree.iter("link") if e.get("rel") == "canonical")
        href = next(links, None) or self.meta["og:url"]
        return (join(self.url, href) if self.url else href) if href else self.url

    def text(self, css: str, node: Tag | None = None) -> str:
        """The text of the first element found, on one line; empty if there is none."""
        return line((node or self.soup).select_one(css))

    def attr(self, css: str, name: str, node: Tag | None = None) -> str:
        """An attribute of the first element found."""
        return attribute((node or self.soup).select_one(css), name)

    def link(self, css: str, node: Tag | None = None) -> str:
        """The absolute target of the first link found."""
        href = self.attr(css, "href", node)
        return join(self.url, href) if href else ""

    def body(self, node: Tag | str | None) -> str:
        """The text of an element or a piece of HTML, as blocks and without hidden text."""
        markup = str(node) if node is not None else ""
        if not markup.strip():
            return ""
        # White text is hidden only on a white background, so the backgrounds around it are kept.
        around = list(node.parents) if isinstance(node, Tag) else []
        styles = [escape(style) for above in around if (style := attribute(above, "style"))]
        grounds = "".join(f'<div style="{style}">' for style in reversed(styles))
        root = parse_html(f"{grounds}<div {_PART_ATTRIBUTE}>{markup}")
        part = next(e for e in root.iter("div") if e.get(_PART_ATTRIBUTE) is not None)
        strip_hidden(part)
        return render_text(walk(part, self.url))

    def linked_data(self, *types: str) -> LinkedData:
        """The first JSON-LD node of one of these types; an empty node if there is none."""
        wanted = set(types)
        return LinkedData(next((n for n in self.jsonld if wanted & set(node_types(n))), {}))

    def declared(self, platform: str, kind: str, *types: str) -> Record:
        """The post or profile that the page declares in its head or in JSON-LD of these types."""
        node, meta = self.linked_data(*types), self.meta
        name, _, account = meta["og:title"].partition(" (@")
        picture = meta["og:image"]
        own = "/avatar/" not in picture and "/profile_images/" not in picture
        return Record(
            platform, kind, self.canonical, id=self.canonical.rpartition("/")[2] or None,
            text=node.text("text", "articleBody") or meta["og:description"],
            author=node.author or (name if account else None),
            handle=account.rstrip(")") or node.handle or meta["profile:username"] or None,
            published=node.date("dateCreated", "datePublished")
            or parse_date(meta["article:published_time"] or meta["og:published_time"]),
            modified=node.date("dateModified"), counts=node.counts,
            media=(picture,) if picture and own else (),
        )  # fmt: skip

    def script_variable(self, name: str) -> Any:
        """The JSON value that a script assigns to this variable; None if there is none."""
        assigned = re.compile(
            rf"(?:^|[^\w.])(?:window\.|self\.)?{re.escape(name)}\"?\]?\s*=\s*(?=[{{\[])"
        )
        for script in self.tree.iter("script"):
            text = script.text or ""
            if name in text and (match := assigned.search(text)):
                return parse_json(text, match.end())
        return None

    def objects(self, *keys: str) -> Iterator[dict[str, Any]]:
        """All objects with all of these keys, in the JSON or in the page's Next.js state."""
        state = [self.json] if self.json is not None else list(self._next_state())
        return find_objects(state, *keys)

    def _next_state(self) -> Iterator[Any]:
        """The state that Next.js passes to a page, in either of its two forms."""
        yield self.script_variable("__SERVER_DATA")
        pieces: list[str] = []
        for script in self.tree.iter("script"):
            text = script.text or ""
            if script.get("id") == "__NEXT_DATA__":
                data = parse_json(text)
                yield ((data or {}).get("props") or {}).get("pageProps") if data else None
            for match in _STREAMED_STATE.finditer(text):
                row = parse_json(text, match.end())
                if isinstance(row, list) and len(row) > 1 and isinstance(row[1], str):
                    pieces.append(row[1])
        # Each line is `id:value`; values that are not JSON (modules, text) are skipped.
        for chunk in "".join(pieces).split("\n"):
            value = chunk.partition(":")[2]
            if value[:1] in ("{", "["):
                yield parse_json(value)


class LinkedData(dict[str, Any]):
    """A node of JSON-LD."""

    @property
    def author(self) -> str | None:
        """The name of the first author."""
        return next(iter(names(self._person)), None)

    @property
    def handle(self) -> str | None:
        """The first author's account name, without the `@`."""
        person = self._person if isinstance(self._person, dict) else {}
        name = text_of(person.get("alternateName")) or text_of(person.get("identifier"))
        return name.lstrip("@") or None

    @property
    def _person(self) -> Any:
        value = self.get("author")
        return value[0] if isinstance(value, list) and value else value

    @property
    def counts(self) -> dict[str, int]:
        """The interaction counts, by plain names such as `likes`."""
        values = self.get("interactionStatistic") or []
        found: dict[str, int] = {}
        for counter in values if isinstance(values, list) else [values]:
            if not isinstance(counter, dict):
                continue
            kind = counter.get("interactionType")
            label = kind.get("@type", "") if isinstance(kind, dict) else str(kind)
            name = _COUNT_BY_ACTION.get(label.rpartition("/")[2])
            amount = number(counter.get("userInteractionCount"))
            if name and amount is not None:
                found[name] = amount
        return found

    def date(self, *keys: str) -> str | None:
        """The date in the first of these properties that has a valid one."""
        return next((date for key in keys if (date := iso_date(text_of(self.get(key))))), None)

    def text(self, *keys: str) -> str:
        """The text of the first of these properties that is a string; entities are decoded."""
        value = next((self[key] for key in keys if isinstance(self.get(key), str)), "")
        return unescape(value).strip()


def find_objects(value: Any, *keys: str) -> Iterator[dict[str, Any]]:
    """All objects within a JSON value that have all of these keys, in order."""
    stack, wanted = [value], set(keys)
    for _ in range(_MAX_NODES):
        if not stack:
            return
        node = stack.pop()
        if isinstance(node, dict):
            if wanted <= node.keys():
                yield node
            stack.extend(reversed(node.values()))
        elif isinstance(node, list):
            stack.extend(reversed(node))


def parse_json(text: str, start: int = 0) -> Any:
    """The JSON value that begins at a position in `text`; None if there is none."""
    try:
        return json.JSONDecoder().raw_decode(text.lstrip() if not start else text, start)[0]
    except (ValueError, RecursionError):
        return None


def line(node: Tag | None) -> str:
    """The text of an element on one line; empty if there is none."""
    return one_line(node.get_text()) if node is not None else ""


def attribute(node: Tag | None, name: str) -> str:
    """An attribute's value; empty if it is missing. Several classes are separated by spaces."""
    value = (node.get(name) if node is not None else None) or ""
    return (value if isinstance(value, str) else " ".join(value)).strip()
