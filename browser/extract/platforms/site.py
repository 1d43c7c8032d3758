"""What a platform parser is, the page as it sees it, and the typed record that it gives.

Below the page the data that it carries beside its markup (JSON in scripts, JSON-LD nodes), and the
lines in which a reader can cite a record.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape, unescape
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qs

from bs4 import BeautifulSoup, Tag

from browser.extract.blocks import render_text, walk
from browser.extract.dates import date_within, iso_date
from browser.extract.hidden import strip_hidden
from browser.extract.metadata import names, node_types, read_jsonld, read_meta, text_of
from browser.extract.sniff import decode
from browser.extract.tree import bounded, parse_html
from browser.net.url import host, join, parse
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lxml import etree

    from browser.types import Link, Table

# Marks the part of a page that is rendered, among what stands around it.
_PART = "data-part"


class Platform:
    """One site, or one kind of software that many sites run.

    `hosts` are matched whole or as a parent domain (`x.com` also means `mobile.x.com`). Software
    that runs on hosts of anyone's overrides `claims` and looks at the page itself; `general`
    ones come last. `marks` are bytes of which every page of such software has one: a page at any
    host without them is not parsed when it is read. A parser that no saved page was tested on sets
    `verified` to false.
    """

    name: ClassVar[str]
    hosts: ClassVar[tuple[str, ...]] = ()
    marks: ClassVar[tuple[bytes, ...]] = ()
    general: ClassVar[bool] = False
    verified: ClassVar[bool] = True

    def claims(self, page: SitePage) -> bool:
        """Whether this parser is the one for a page; by its parsed host, unless overridden."""
        return self.owns(page.host)

    def owns(self, host: str) -> bool:
        """Whether a host is one of this platform's, whole or below one of them."""
        return any(host == name or host.endswith(f".{name}") for name in self.hosts)

    def parse(self, page: SitePage) -> Record | None:
        """Read the page; None where it lost the markup that this parser knows."""
        raise NotImplementedError


class SitePage:
    """One page or API reply. Its soup and its JSON are read when first asked for."""

    def __init__(self, url: str, content: str | bytes | Mapping[str, Any] | list[Any]) -> None:
        self.url = url
        self.host = host(url)
        parsed = parse(url)
        self.path = tuple(part for part in (parsed.path if parsed else "").split("/") if part)
        self.query = parsed.query.lstrip("?") if parsed else ""
        self._content = content

    def parameter(self, name: str) -> str:
        """The first value of a parameter of the address; empty where it has none of that name."""
        return next(iter(parse_qs(self.query).get(name, [])), "")

    @functools.cached_property
    def json(self) -> Any:
        """The content as JSON; None where it is none."""
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
        """The content as it came; empty where it came as data."""
        return self._content if isinstance(self._content, str | bytes) else ""

    @functools.cached_property
    def soup(self) -> BeautifulSoup:
        """The content as BeautifulSoup over lxml."""
        text = decode(self.markup) if isinstance(self.markup, bytes) else self.markup
        return BeautifulSoup(bounded(text).replace("\x00", ""), "lxml")

    @functools.cached_property
    def tree(self) -> etree._Element:
        """The content as an lxml tree: quicker to make, for what every page is asked."""
        return parse_html(self.markup if self.markup.strip() else "<html></html>")

    @functools.cached_property
    def meta(self) -> dict[str, str]:
        """`meta` elements by lower-case name or property."""
        return read_meta(self.tree)

    @functools.cached_property
    def jsonld(self) -> list[dict[str, Any]]:
        """JSON-LD nodes, laid out flat."""
        return read_jsonld(self.tree)

    @functools.cached_property
    def canonical(self) -> str:
        """The address that the page calls its own; else the one it was read from."""
        links = (e.get("href") for e in self.tree.iter("link") if e.get("rel") == "canonical")
        href = next(links, None) or self.meta.get("og:url")
        return (join(self.url, href) if self.url else href) if href else self.url

    def all(self, css: str, node: Tag | None = None) -> list[Tag]:
        """Every element that a CSS selector finds, in page order."""
        return list((self.soup if node is None else node).select(css))

    def first(self, css: str, node: Tag | None = None) -> Tag | None:
        """The first element that a CSS selector finds."""
        return (self.soup if node is None else node).select_one(css)

    def text(self, css: str, node: Tag | None = None) -> str:
        """The text of the first element found, on one line; empty where there is none."""
        return line(self.first(css, node))

    def attr(self, css: str, name: str, node: Tag | None = None) -> str:
        """An attribute of the first element found."""
        found = self.first(css, node)
        return attribute(found, name) if found is not None else ""

    def link(self, css: str, node: Tag | None = None) -> str:
        """The absolute target of the first link found."""
        href = self.attr(css, "href", node)
        return join(self.url, href) if href else ""

    def body(self, node: Tag | str | None) -> str:
        """Rich text, from an element or a piece of HTML, as blocks; what is hidden is left out."""
        markup = str(node) if node is not None else ""
        if not markup.strip():
            return ""
        # White words are hidden on a white ground only: the grounds around come along.
        around = list(node.parents) if isinstance(node, Tag) else []
        styles = [escape(style) for above in around if (style := attribute(above, "style"))]
        grounds = "".join(f'<div style="{style}">' for style in reversed(styles))
        root = parse_html(f"{grounds}<div {_PART}>{markup}")
        part = next(e for e in root.iter("div") if e.get(_PART) is not None)
        strip_hidden(part)
        return render_text(walk(part, self.url))


def line(node: Tag | None) -> str:
    """The text of an element on one line; empty for none."""
    return clean(" ".join(node.get_text().split())) if node is not None else ""


def attribute(node: Tag, name: str) -> str:
    """An attribute's text; empty where there is none. Several classes are parted by spaces."""
    value = node.get(name) or ""
    return (value if isinstance(value, str) else " ".join(value)).strip()


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
    for node in objects_in(roots):
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


def objects_in(roots: list[Any]) -> Iterator[dict[str, Any]]:
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


# Beside these the title and the text of an item say what it is.
_PLAIN_KINDS = frozenset(("comment", "reply", "answer", "post", "section", "transcript"))
# A reply's reply's reply is read as one thread; deeper is hostile or data.
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Record:
    """One thing on a platform: a post, a repository, a video, a question, a paper, a listing.

    `kind` says what it is; `author` is the name shown, `handle` the account; dates are ISO 8601.
    `counts` holds numbers under plain names (`likes`, `replies`, `stars`, `points`, `views`);
    `fields` what only this kind has, as text. `items` are the comments, answers or entries in
    page order; a reply names what it answers in `parent`. A field that the page does not hold is
    None or empty, never guessed.
    """

    platform: str
    kind: str
    url: str = ""
    id: str | None = None
    title: str | None = None
    text: str = ""
    author: str | None = None
    handle: str | None = None
    published: str | None = None
    modified: str | None = None
    parent: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    media: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    items: tuple[Record, ...] = ()


def listing(
    platform: str, url: str, items: Iterable[Record], title: str | None = None
) -> Record | None:
    """A page that lists things, as a record whose items they are; None where it lists nothing."""
    found = tuple(items)
    return Record(platform, "listing", url, title=title, items=found) if found else None


def facts(record: Record) -> dict[str, str]:
    """What a record says beside its text, by plain names; what it does not say is left out."""
    said = {
        "kind": f"{record.platform} {record.kind}",
        "id": record.id,
        "author": byline(record),
        "published": record.published,
        "modified": record.modified,
        "answers": record.parent,
        **{name: str(amount) for name, amount in record.counts.items()},
        **record.fields,
        "tags": ", ".join(record.tags),
    }
    return {name: value for name, value in said.items() if value}


def fact_lines(record: Record) -> str:
    """The facts as a list, a line each."""
    return "\n".join(f"- {name}: {' '.join(v.split())}" for name, v in facts(record).items())


def item_blocks(record: Record) -> Iterator[str]:
    """A block for each item, with who said it and when; items of items after theirs."""
    yield from _blocks(record, _DEEPEST)


def byline(record: Record) -> str:
    """Name and account, as `Ann (@ann)`; one of them where they are the same."""
    if record.handle and record.author and record.handle != record.author:
        return f"{record.author} (@{record.handle})"
    return record.author or record.handle or ""


def _blocks(record: Record, depth: int) -> Iterator[str]:
    for item in record.items if depth else ():
        yield _block(item)
        yield from _blocks(item, depth - 1)


def _block(item: Record) -> str:
    kind = "" if item.kind in _PLAIN_KINDS else item.kind.replace("_", " ")
    counted = [f"{name} {amount}" for name, amount in item.counts.items()]
    more = [f"{name}: {value}" for name, value in item.fields.items()]
    head = ", ".join(part for part in (kind, byline(item), item.published or "", *counted) if part)
    title = f"{item.title}\n" if item.title else ""
    rest = "\n".join(part for part in (item.text, "; ".join(more)) if part)
    return f"{head}: {title}{rest}".strip() if head else f"{title}{rest}".strip()


# What stands behind a shortened number: English, German, Romance and Slavic languages, CJK.
_SCALES = {
    "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12,
    "thousand": 1e3, "million": 1e6, "millions": 1e6, "millones": 1e6, "millionen": 1e6,
    "milhões": 1e6, "billion": 1e9,
    "tsd": 1e3, "mio": 1e6, "mrd": 1e9, "mil": 1e3, "mi": 1e6, "mln": 1e6, "md": 1e9, "bn": 1e9,
    "тыс": 1e3, "млн": 1e6, "млрд": 1e9, "千": 1e3, "천": 1e3, "万": 1e4, "萬": 1e4, "만": 1e4,
    "億": 1e8, "亿": 1e8, "억": 1e8,
}  # fmt: skip
_LONGEST_FIRST = "|".join(sorted(_SCALES, key=len, reverse=True))
_NUMBER = re.compile(
    rf"([-−]?\d[\d.,'’\u00a0\u202f\u2009 ]*)\s*(?:({_LONGEST_FIRST})\.?(?![^\W\d_]))?",
    re.IGNORECASE,
)
# A scale of CJK is followed by its counter word at once (`3.4万回`), so it needs no end of a word.
_CJK = re.compile(r"(\d[\d.,]*)\s*([千천万萬만億亿억])")
_GROUPED = re.compile(r"\d{1,3}(?:[.,'’ ]\d{3})+|\d{1,2}(?:,\d\d)+,\d{3}")
_SPACES = re.compile(r"[\u00a0\u202f\u2009]")
# Seconds until the year 2286 have ten digits, milliseconds thirteen.
_MILLISECONDS = 10_000_000_000
_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.\d+)?S)?")
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d\d)")


def number(text: object) -> int | None:
    """Read a count: `1,234`, `1.234`, `1.2k`, `3 points`, `1,2 Mio.`, `3.4万回`; None without one.

    A separator before exactly three digits groups them, another one is the decimal point.
    """
    if isinstance(text, bool) or text is None:
        return None
    if isinstance(text, int | float):
        return int(text) if abs(text) < 1e18 else None
    match = _CJK.search(str(text)) or _NUMBER.search(str(text))
    if match is None:
        return None
    value = decimal(match[1])
    scale = _SCALES[match[2].lower()] if match[2] else 1
    return None if value is None else round(value * scale) if scale > 1 else int(value)


def decimal(text: str) -> float | None:
    """Read a number written with any grouping and decimal sign; None where it is none."""
    plain = _SPACES.sub(" ", text).replace("−", "-").strip(" .,'’")
    sign, digits = (-1, plain[1:]) if plain.startswith("-") else (1, plain)
    digits = re.split(r" (?!\d{3}(?!\d))", digits)[0].rstrip(".,'’ ")
    if _GROUPED.fullmatch(digits):
        digits = re.sub(r"\D", "", digits)
    # The decimal sign is a separator that stands there once.
    elif (found := re.fullmatch(r"(.*?)([.,])(\d*)", digits)) and digits.count(found[2]) == 1:
        digits = re.sub(r"\D", "", found[1]) + f".{found[3]}"
    else:
        digits = re.sub(r"\D", "", digits)
    try:
        return sign * float(digits)
    except ValueError:
        return None


def counts(**values: object) -> dict[str, int]:
    """Counts by name, those that are absent left out."""
    found = {name: number(value) for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not None}


def fields(**values: object) -> dict[str, str]:
    """Fields by name as text, those that are absent or empty left out; `true` and `false`."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in values.items()
        if value not in (None, "", [])
    }


def moment(stamp: object) -> str | None:
    """ISO 8601 of seconds or milliseconds since the epoch; None for anything else."""
    if isinstance(stamp, str) and stamp.isdecimal():
        stamp = int(stamp)
    if isinstance(stamp, bool) or not isinstance(stamp, int | float) or stamp <= 0:
        return None
    seconds = stamp / 1000 if stamp > _MILLISECONDS else stamp
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def date_of(value: object) -> str | None:
    """ISO 8601 of a date or a moment, however a page or an API writes it; None where it is none."""
    if isinstance(value, str) and not value.isdecimal():
        return iso_date(value) or date_within(value)
    return moment(value)


def seconds_of(duration: str) -> int | None:
    """Seconds of `PT1H2M3S` or `1:02:03`; None for anything else."""
    if match := _CLOCK.fullmatch(duration.strip()):
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return hours * 3600 + minutes * 60 + seconds
    match = _DURATION.fullmatch(duration.strip())
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
