"""Formats that are text: plain, Markdown, JSON, CSV, feeds and other XML."""

from __future__ import annotations

import csv
import io
import json
from contextlib import suppress
from dataclasses import replace
from itertools import groupby, islice
from typing import TYPE_CHECKING

from lxml import etree

from browser.errors import ExtractError
from browser.extract.blocks import render_text, table_markdown, table_text, walk
from browser.extract.dates import iso_date
from browser.extract.hidden import strip_hidden
from browser.extract.links import read_links
from browser.extract.tree import bounded, local_name, parse_html, parse_page, text_content
from browser.net.url import join
from browser.text.sentences import unwrap
from browser.text.words import clean
from browser.types import Document, Link, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.rules_core import StateCore

# Parsing takes 1 to 2 s for so many characters: more than a book has.
_LONGEST_MARKDOWN = 1_000_000
# Open brackets cost quadratic time where none is closed; long lists of links have some thousands.
_MOST_BRACKETS = 10_000
# What opens an item, a row, a command or a line of code in plain text.
_SIGNS = frozenset('-*+•|#>$"{}[<=_~:')
# A first line longer than this is a paragraph, not a title.
_LONGEST_TITLE = 120


def read_text(kind: str, text: str, url: str, name: str) -> Document:
    """Read text of a kind that `sniff` names; `name` stands for a title where it has none."""
    readers = {"md": _read_markdown, "json": _read_json, "csv": _read_csv, "feed": _read_feed,
               "xml": _read_xml}  # fmt: skip
    return readers.get(kind, read_plain)(text, url, name)


def read_plain(text: str, url: str, name: str) -> Document:
    """Read plain text: blocks are what blank lines part."""
    body = _blocks(text, unwrapped=True)
    first = " ".join(body.partition("\n")[0].lstrip("#").split())
    title = first if 0 < len(first) <= _LONGEST_TITLE else name
    return Document(url=url, title=title, text=body, markdown=body, kind="text")


def _read_markdown(text: str, url: str, name: str) -> Document:
    """Read Markdown as the page it stands for; front matter gives title, author, date, language.

    The text is free of marks, but for headings, lists and tables; `markdown` is the file's own.
    A file longer than a book, or made to burst, is read as plain text and says so.
    """
    if len(text) > _LONGEST_MARKDOWN or text.count("[") > _MOST_BRACKETS:
        note = "too long, or too many brackets: its Markdown stands as written"
        return replace(read_plain(text, url, name), kind="md", notes=(note,))
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 0.04 s, for Markdown only

    unified = clean(text)
    front, fence, rest = unified.removeprefix("---\n").partition("\n---\n")
    has_front = bool(fence) and unified.startswith("---\n")
    lines = [line.partition(":") for line in front.split("\n")] if has_front else []
    fields = {key.lower(): value.strip(" \"'") for key, _, value in lines}
    body = _blocks(rest if has_front else unified)
    # Line breaks stay, but for those of a column: a line of a poem or of an address is one, and so
    # is `Opened: 1829`.
    parser = MarkdownIt("commonmark", {"breaks": True, "maxNesting": 40}).enable(
        ["table", "strikethrough"]
    )
    parser.core.ruler.before("inline", "unwrap", _unwrap_paragraphs)
    root, notes = parse_page(f"<body>{parser.render(body)}")
    strip_hidden(root)
    blocks = walk(root, url)
    heading = next((block.text for block in blocks if block.kind == "heading"), "")
    return Document(
        url=url,
        title=fields.get("title") or heading or name,
        text=render_text(blocks),
        markdown=body,
        author=fields.get("author") or None,
        published=fields.get("date") or None,
        language=fields.get("lang") or fields.get("language") or None,
        kind="md",
        links=read_links(root, url),
        tables=tuple(block.table for block in blocks if block.table),
        notes=notes,
    )


def _blocks(text: str, *, unwrapped: bool = False) -> str:
    """A text with one blank line between its blocks."""
    lines = [line.rstrip() for line in clean(text).split("\n")]
    blocks = (list(block) for filled, block in groupby(lines, bool) if filled)
    return "\n\n".join("\n".join(unwrap(b, _SIGNS) if unwrapped else b) for b in blocks)


def _unwrap_paragraphs(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline":
            token.content = "\n".join(unwrap(token.content.split("\n")))


# Rows beyond this are data to compute with, not to read.
_MOST_ROWS = 20_000
# No table has a row as long as this; a line of nothing but commas is made to burst.
_LONGEST_LINE = 1_000_000


def _read_json(text: str, url: str, name: str) -> Document:
    """Lay JSON out as `path: value` lines, values unchanged; broken JSON stays as it is."""
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raw = clean(text)
        note = "not valid JSON: shown as text"
        return Document(url, name, raw, raw, kind="json", notes=(note,))
    body = "\n".join(_leaves(value, ""))
    title = value.get("title") or value.get("name") if isinstance(value, dict) else None
    return Document(url, title if isinstance(title, str) else name, body, body, kind="json")


def _read_csv(text: str, url: str, name: str) -> Document:
    """Read CSV or TSV as one table; the delimiter is found by looking."""
    if max(map(len, text.splitlines()), default=0) > _LONGEST_LINE:
        return replace(read_plain(text, url, name), kind="csv", notes=("not CSV: as text",))
    try:
        rows = list(_rows(text))
    except csv.Error:
        return replace(read_plain(text, url, name), kind="csv", notes=("not valid CSV: as text",))
    notes = (f"the first {_MOST_ROWS} rows",) if len(rows) > _MOST_ROWS else ()
    table = Table(rows=tuple(rows[:_MOST_ROWS]))
    return Document(
        url=url, title=name, text=table_text(table), markdown=table_markdown(table) if rows else "",
        kind="csv", tables=(table,), notes=notes,
    )  # fmt: skip


def _rows(text: str) -> Iterator[tuple[str, ...]]:
    dialect: csv.Dialect | type[csv.Dialect] = csv.excel
    with suppress(csv.Error):  # one column, or none that repeats: commas, then
        dialect = csv.Sniffer().sniff(text[:4096], delimiters=",;\t|")
    reader = csv.reader(io.StringIO(text, newline=None), dialect)
    for row in islice(filter(None, reader), _MOST_ROWS + 1):
        yield tuple(clean(" ".join(cell.split())) for cell in row)


def _leaves(value: object, path: str) -> Iterator[str]:
    stack: list[tuple[str, object]] = [(path, value)]
    while stack:
        place, item = stack.pop()
        if isinstance(item, dict):
            stack.extend(
                (f"{place}.{key}" if place else str(key), item[key]) for key in reversed(item)
            )
        elif isinstance(item, list):
            stack.extend(
                (f"{place}[{number}]", item[number]) for number in reversed(range(len(item)))
            )
        else:
            yield clean(f"{place}: {_scalar(item)}" if place else _scalar(item))


def _scalar(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


_ENTRIES = frozenset(("item", "entry"))


def _read_feed(text: str, url: str, name: str) -> Document:
    """Read RSS or Atom: an entry is a heading, its author and date, its summary, and a link."""
    root = _parse(text)
    entries = [element for element in root.iter() if _tag(element) in _ENTRIES]
    blocks: list[str] = []
    links: list[Link] = []
    for entry in entries:
        title, target = _field(entry, "title"), _link(entry, url)
        blocks.extend(_entry_blocks(entry, title, url))
        if target:
            links.append(Link(target, title))
    channel = next((e for e in root.iter() if _tag(e) in {"channel", "feed"}), root)
    body = "\n\n".join(blocks) or _lines(root)  # a feed without entries still says what it is
    date = _field(channel, "pubdate", "updated", "lastbuilddate", "date")
    return Document(
        url=url, title=_field(channel, "title") or name, text=body, markdown=body, kind="feed",
        description=_field(channel, "description", "subtitle") or None, links=tuple(links),
        language=_field(channel, "language") or None, modified=iso_date(date) if date else None,
    )  # fmt: skip


def _read_xml(text: str, url: str, name: str) -> Document:
    """Read any other XML: the text of its elements, one line each."""
    root = _parse(text)
    body = _lines(root)
    links = tuple(Link(loc.text.strip(), "") for loc in root.iter("{*}loc") if loc.text)
    return Document(url=url, title=name, text=body, markdown=body, kind="xml", links=links)


def _lines(root: etree._Element) -> str:
    lines = (clean(" ".join(piece.split())) for piece in root.itertext() if isinstance(piece, str))
    return "\n".join(line for line in lines if line)


def _parse(text: str) -> etree._Element:
    # No entities, no network: a feed is foreign input.
    parser = etree.XMLParser(
        recover=True,
        resolve_entities=False,
        no_network=True,
        encoding="utf-8",
        remove_comments=True,
        remove_pis=True,
    )
    try:
        data = bounded(text.lstrip("\ufeff \r\n\t")).encode("utf-8", "replace")
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        message = f"not readable as XML: {error}"
        raise ExtractError(message) from error
    if root is None:
        message = "not readable as XML"
        raise ExtractError(message)
    return root


def _entry_blocks(entry: etree._Element, title: str, url: str) -> Iterator[str]:
    if title:
        yield f"## {title}"
    date = _field(entry, "pubdate", "published", "updated", "date")
    author = _field(entry, "creator", "author", "name")
    if line := ", ".join(part for part in (author, date) if part):
        yield line
    summary = _plain(_field(entry, "encoded", "content", "description", "summary"), url)
    if summary:
        yield summary


def _field(element: etree._Element, *tags: str) -> str:
    for tag in tags:
        for child in element:
            if _tag(child) == tag and (text := text_content(child)):
                return text
    return ""


def _link(entry: etree._Element, base: str) -> str | None:
    for child in entry:
        if _tag(child) == "link" and (child.get("rel") or "alternate") == "alternate":
            href = child.get("href") or (child.text or "").strip()
            if href:
                return join(base, href) or None
    return None


def _plain(markup: str, base: str) -> str:
    if "<" not in markup:
        return markup
    return render_text(walk(parse_html(markup), base))


def _tag(element: etree._Element) -> str:
    return local_name(element).lower()
