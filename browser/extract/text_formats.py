"""Reads text formats: plain text, Markdown, JSON, CSV, feeds and other XML."""

from __future__ import annotations

import csv
import io
import json
import re
from contextlib import suppress
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING

from browser.errors import ExtractError
from browser.extract.blocks import render_text, walk
from browser.extract.dates import iso_date
from browser.extract.documents.jats import is_jats, read_jats
from browser.extract.hidden import strip_hidden
from browser.extract.links import read_links
from browser.extract.tables import MAX_ROWS, table_markdown, table_text
from browser.extract.tree import (
    local_name,
    parse_html,
    parse_page,
    parse_xml,
    text_content,
    truncate_tags,
)
from browser.net.url import join
from browser.text.sentences import text_blocks, unwrap
from browser.text.words import clean, ends_sentence, one_line
from browser.types import Document, Link, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree
    from markdown_it.rules_core import StateCore

# Maximum number of characters; a book has fewer, and parsing this many takes 1 to 2 s.
_MAX_MARKDOWN_CHARS = 1_000_000
# Unclosed brackets take quadratic time; long lists of links have a few thousand brackets.
_MAX_BRACKETS = 10_000
# A first line longer than this is a paragraph, not a title.
_MAX_TITLE_CHARS = 120


def read_text(kind: str, text: str, url: str, name: str) -> Document:
    """Read text of a kind returned by `sniff`; `name` is the title if the text has none."""
    if kind == "rst":
        from browser.extract.documents.restructured import (  # noqa: PLC0415 - loads docutils
            MAX_LENGTH,
            read_rst,
        )

        if len(text) > MAX_LENGTH:
            return read_plain(text, url, name, kind="rst", note="too long: shown as written")
        return read_rst(text, url, name)
    readers = {"md": _read_markdown, "json": _read_json, "csv": _read_csv, "feed": _read_feed,
               "xml": _read_xml, "captions": _read_captions}  # fmt: skip
    return readers.get(kind, read_plain)(text, url, name)


def read_plain(text: str, url: str, name: str, *, kind: str = "text", note: str = "") -> Document:
    """Read plain text; blocks are separated by blank lines."""
    body = text_blocks(text, unwrapped=True)
    first = " ".join(body.partition("\n")[0].lstrip("#").split())
    title = first if 0 < len(first) <= _MAX_TITLE_CHARS else name
    return Document(url, title, body, body, kind=kind, notes=(note,) if note else ())


def _read_markdown(text: str, url: str, name: str) -> Document:
    """Read Markdown as if it were rendered; front matter may provide title, author and date.

    The text has no markup except for headings, lists and tables; `markdown` is the file's content.
    A file above the limits is read as plain text, and the notes report this.
    """
    if len(text) > _MAX_MARKDOWN_CHARS or text.count("[") > _MAX_BRACKETS:
        note = "too long, or too many brackets: shown as Markdown source"
        return read_plain(text, url, name, kind="md", note=note)
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 0.04 s, for Markdown only

    body, front = clean(text), ""
    if body.startswith("---\n") and "\n---\n" in body[4:]:
        front, _, body = body[4:].partition("\n---\n")
    lines = [line.partition(":") for line in front.split("\n")]
    fields = {key.lower(): value.strip(" \"'") or None for key, _, value in lines}
    body = text_blocks(body)
    # Line breaks are kept (for poems, addresses, `Opened: 1829`), except in hard-wrapped text.
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
        author=fields.get("author"),
        published=fields.get("date"),
        language=fields.get("lang") or fields.get("language"),
        kind="md",
        links=read_links(root, url),
        tables=tuple(block.table for block in blocks if block.table),
        notes=notes,
    )


def _unwrap_paragraphs(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline":
            token.content = "\n".join(unwrap(token.content.split("\n")))


# Maximum number of characters. No table has such a long row, but a line of commas would exhaust
# memory.
_MAX_LINE_CHARS = 1_000_000


def _read_json(text: str, url: str, name: str) -> Document:
    """Read JSON as `path: value` lines; invalid JSON is read as text."""
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raw = clean(text)
        return Document(url, name, raw, raw, kind="json", notes=("not valid JSON: shown as text",))
    body = "\n".join(_leaf_lines(value))
    title = value.get("title") or value.get("name") if isinstance(value, dict) else None
    return Document(url, title if isinstance(title, str) else name, body, body, kind="json")


def _leaf_lines(value: object) -> Iterator[str]:
    stack: list[tuple[str, object]] = [("", value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, dict):
            inner = [(f"{path}.{key}" if path else str(key), item[key]) for key in item]
            stack.extend(reversed(inner))
        elif isinstance(item, list):
            inner = [(f"{path}[{number}]", part) for number, part in enumerate(item)]
            stack.extend(reversed(inner))
        else:
            value_text = item if isinstance(item, str) else json.dumps(item)
            yield clean(f"{path}: {value_text}" if path else value_text)


def _read_csv(text: str, url: str, name: str) -> Document:
    """Read CSV or TSV as one table; the delimiter is detected."""
    if max(map(len, text.splitlines()), default=0) > _MAX_LINE_CHARS:
        return read_plain(text, url, name, kind="csv", note="not CSV: shown as text")
    dialect: csv.Dialect | type[csv.Dialect] = csv.excel
    with suppress(csv.Error):  # a single column has no delimiter: use the comma
        dialect = csv.Sniffer().sniff(text[:4096], delimiters=",;\t|")
    reader = filter(None, csv.reader(io.StringIO(text, newline=None), dialect))
    try:
        rows = list(islice(reader, MAX_ROWS + 1))
    except csv.Error:
        return read_plain(text, url, name, kind="csv", note="not valid CSV: shown as text")
    table = Table(tuple(tuple(one_line(c) for c in row) for row in rows[:MAX_ROWS]))
    return Document(
        url=url, title=name, text=table_text(table), markdown=table_markdown(table) if rows else "",
        kind="csv", tables=(table,),
        notes=(f"only the first {MAX_ROWS} rows were read",) if len(rows) > MAX_ROWS else (),
    )  # fmt: skip


def _read_feed(text: str, url: str, name: str) -> Document:
    """Read RSS or Atom: each entry becomes a heading, author and date, summary, and a link."""
    root = _parse(text)
    blocks: list[str] = []
    links: list[Link] = []
    for entry in root.iter():
        if _tag(entry) not in {"item", "entry"}:
            continue
        title = _field(entry, "title")
        author = _field(entry, "creator", "author", "name")
        date = _field(entry, "pubdate", "published", "updated", "date")
        summary = _field(entry, "encoded", "content", "description", "summary")
        if "<" in summary:
            summary = render_text(walk(parse_html(summary), url))
        byline = ", ".join(filter(None, (author, date)))
        blocks += filter(None, (f"## {title}" if title else "", byline, summary))
        if target := _entry_link(entry, url):
            links.append(Link(target, title))
    channel = next((e for e in root.iter() if _tag(e) in {"channel", "feed"}), root)
    body = "\n\n".join(blocks) or _lines(root)  # without entries, use the feed's text
    date = _field(channel, "pubdate", "updated", "lastbuilddate", "date")
    return Document(
        url=url, title=_field(channel, "title") or name, text=body, markdown=body, kind="feed",
        links=tuple(links),
        language=_field(channel, "language") or None, modified=iso_date(date),
    )  # fmt: skip


def _field(element: etree._Element, *tags: str) -> str:
    """The text of the first non-empty child with one of these tags, in the order of the tags."""
    for tag in tags:
        for child in element:
            if _tag(child) == tag and (text := text_content(child)):
                return text
    return ""


def _entry_link(entry: etree._Element, base: str) -> str:
    for child in entry:
        if _tag(child) != "link" or (child.get("rel") or "alternate") != "alternate":
            continue
        # The address is in an attribute in Atom, and in the text in RSS.
        if href := child.get("href") or (child.text or "").strip():
            return join(base, href)
    return ""


_CUE = re.compile(r"(?:(\d+):)?(\d\d):(\d\d)[.,]\d{3}\s+-->")
_SPEAKER = re.compile(r"<v(?:\.[\w.]*)?\s+([^>]+)>")
_MARKUP = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")


def _read_captions(text: str, url: str, name: str) -> Document:
    """Read WebVTT or SubRip: the spoken text, split by speaker and sentence, with times."""
    blocks: list[str] = []
    last = spoken = ""
    for cue in text_blocks(text).split("\n\n"):
        lines = cue.split("\n")
        times = [(n, match) for n, line in enumerate(lines) if (match := _CUE.match(line))]
        if not times:  # the header, a note or a style
            continue
        place, (hours, minutes, seconds) = times[0][0], times[0][1].groups()
        speaker = _SPEAKER.search(cue)
        # Rolling captions repeat the previous line.
        new = [
            said for line in lines[place + 1 :] if (said := unescape(_MARKUP.sub("", line)).strip())
        ]
        new = [line for line in new if line not in last.split("\n")]
        last = "\n".join(new) or last
        who = f"{speaker[1].strip()}: " if speaker else ""
        if not blocks or who not in {"", spoken} or ends_sentence(blocks[-1]):
            stamp = f"{hours or '00'}:{minutes}:{seconds}"
            blocks.append(f"[{stamp}] {who}{' '.join(new)}" if new else "")
        else:
            blocks[-1] += " " + " ".join(new)
        spoken = who or spoken
    body = "\n\n".join(filter(None, (clean(block).strip() for block in blocks)))
    return Document(url, name, body, body, kind="captions")


def _read_xml(text: str, url: str, name: str) -> Document:
    """Read other XML: papers are read like pages; otherwise, each element's text is one line."""
    root = _parse(text)
    if is_jats(root):
        return read_jats(root, url, name)
    body = _lines(root)
    links = tuple(Link(loc.text.strip(), "") for loc in root.iter("{*}loc") if loc.text)
    return Document(url=url, title=name, text=body, markdown=body, kind="xml", links=links)


def _lines(root: etree._Element) -> str:
    lines = (one_line(str(piece)) for piece in root.itertext())
    return "\n".join(line for line in lines if line)


def _parse(text: str) -> etree._Element:
    root = parse_xml(truncate_tags(text.lstrip("\ufeff \r\n\t")))
    if root is None:
        raise ExtractError("not readable as XML")
    return root


def _tag(element: etree._Element) -> str:
    return local_name(element).lower()
