"""Plain text and Markdown."""

from __future__ import annotations

import re

from browser.text import clean
from browser.types import Document, Link

_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_FRONT_MATTER = re.compile(r"\A---\n(?P<fields>.*?)\n---\n", re.DOTALL)
_FIELD = re.compile(r"^(\w+):\s*[\"']?(.*?)[\"']?\s*$", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\((https?://[^\s)]+)\)")
# A first line longer than this is a paragraph, not a title.
_LONGEST_TITLE = 120


def extract_plain(text: str, url: str, name: str) -> Document:
    """Read plain text: blocks are what blank lines part."""
    body = _blocks(text)
    first = body.partition("\n")[0].strip()
    title = first if 0 < len(first) <= _LONGEST_TITLE else name
    return Document(url=url, title=title, text=body, markdown=body, kind="text")


def extract_markdown(text: str, url: str, name: str) -> Document:
    """Read Markdown as it stands; front matter gives title, author, date and language."""
    unified = clean(text)
    front = _FRONT_MATTER.match(unified)
    fields = {k.lower(): v for k, v in _FIELD.findall(front["fields"])} if front else {}
    body = _blocks(unified[front.end() :] if front else unified)
    heading = _HEADING.search(body)
    return Document(
        url=url,
        title=fields.get("title") or (heading[1] if heading else name),
        text=body,
        markdown=body,
        author=fields.get("author") or None,
        published=fields.get("date") or None,
        language=fields.get("lang") or fields.get("language") or None,
        kind="md",
        links=tuple(Link(match[2], match[1]) for match in _LINK.finditer(body)),
    )


def _blocks(text: str) -> str:
    lines = "\n".join(line.rstrip() for line in clean(text).split("\n"))
    return _BLANK_LINES.sub("\n\n", lines).strip("\n")
