"""Reads papers in JATS (.nxml), the XML format of PubMed Central and publishers, as pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from browser.extract.documents.composer import Composer
from browser.extract.metadata import find_doi
from browser.extract.tree import local_name, text_content
from browser.types import Document, Publication

if TYPE_CHECKING:
    from collections.abc import Iterator

_TAGS = {
    "list": "ul", "list-item": "li", "disp-quote": "blockquote", "fig": "figure", "ref": "li",
    "table-wrap": "div", "italic": "i", "bold": "b", "ext-link": "a", "preformat": "pre",
    "def-list": "dl", "term": "dt", "def": "dd", "boxed-text": "div", "fn": "p",
}  # fmt: skip
# Elements that are not text, or that are read as metadata.
_SKIPPED_TAGS = frozenset(
    """journal-meta article-id article-categories title-group contrib-group aff author-notes
    pub-date history permissions counts custom-meta-group volume issue fpage lpage object-id
    tex-math self-uri kwd-group elocation-id""".split()
)
_HREF = "{http://www.w3.org/1999/xlink}href"


def is_jats(root: etree._Element) -> bool:
    """Whether an XML document is a JATS paper."""
    return local_name(root) == "article" and root.find("{*}front") is not None


def read_jats(root: etree._Element, url: str, name: str) -> Document:
    """Read title, authors, journal, identifiers, abstract, text and references."""

    def first(path: str) -> str:
        found = root.find(f"{{*}}front//{{*}}{path}")
        return text_content(found) if found is not None else ""

    people = (c for c in root.iter("{*}contrib") if c.get("contrib-type", "author") == "author")
    start, end = first("fpage"), first("lpage")
    facts = Document(
        url,
        title=first("article-title"),
        author=", ".join(filter(None, map(_person, people))) or None,
        published=_date(root) or None,
        publication=Publication(
            venue=first("journal-title"), volume=first("volume"), issue=first("issue"),
            pages=f"{start}-{end}" if start and end and end != start else start,
            publisher=first("publisher-name"),
            doi=find_doi(" ".join(map(text_content, root.iterfind("{*}front//{*}article-id")))),
        ),
    )  # fmt: skip
    composer = Composer()
    page = etree.Element("body")
    for part in ("front", "body", "floats-group", "back", "front//{*}permissions"):
        for element in root.iterfind(f"{{*}}{part}"):
            page.extend(_convert_to_html(element, 1))
    composer.markup(page)
    return composer.document(url, "jats", name, facts)


def _person(contributor: etree._Element) -> str:
    parts = (contributor.find(f".//{{*}}{tag}") for tag in ("given-names", "surname"))
    name = " ".join(text_content(part) for part in parts if part is not None)
    whole = contributor.find(".//{*}collab")
    return name or (text_content(whole) if whole is not None else "")


def _date(root: etree._Element) -> str:
    """Return the most exact date in the earliest year: `2024-05-03`, `2024-05` or `2024`."""
    found = []
    for date in root.iterfind("{*}front//{*}pub-date"):
        parts = (date.findtext(f"{{*}}{name}", "") for name in ("year", "month", "day"))
        digits = [f"{int(part):02}" for part in parts if part and part.isdecimal()]
        found.append(digits)
    # A paper often has a date for its volume, which is just a year, and one for its publication.
    found = sorted(filter(None, found), key=lambda digits: (digits[0], -len(digits), digits))
    return "-".join(found[0]) if found else ""


def _convert_to_html(element: etree._Element, level: int) -> Iterator[etree._Element]:
    """Convert a JATS element's content to HTML; section nesting determines the heading levels."""
    for child in _with_tables_only(element):
        tag = local_name(child)
        if not tag or tag in _SKIPPED_TAGS:
            continue
        inner = level + (tag in {"sec", "ref-list", "abstract", "app"})
        name = _TAGS.get(
            tag, tag if tag in _KEPT_TAGS else "span" if tag in _INLINE_TAGS else "div"
        )
        if tag in {"title", "label"} and local_name(element) in {
            "sec",
            "ref-list",
            "abstract",
            "app",
        }:
            name = f"h{min(level, 6)}"
        made = etree.Element(name)
        if name == "a":
            made.set("href", child.get(_HREF) or "")
        made.text, made.tail = child.text, child.tail
        made.extend(_convert_to_html(child, inner))
        yield made


def _with_tables_only(element: etree._Element) -> Iterator[etree._Element]:
    """Yield an element's children; an `alternatives` element is replaced by the tables in it."""
    for child in element:
        if local_name(child) == "alternatives":
            yield from child.iterfind("{*}table")
        else:
            yield child


_KEPT_TAGS = frozenset("p sup sub table thead tbody tfoot tr td th caption break".split())
_INLINE_TAGS = frozenset(
    """xref named-content styled-content sc underline monospace surname given-names name year source
    article-title string-name person-group volume issue fpage lpage pub-id element-citation
    mixed-citation label inline-formula email uri""".split()
)
