"""Title, author, dates, language and address: what a page declares, and its byline.

JSON-LD, meta elements and markup declare; where they name no author or day, the lines around the
title are read.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from browser.extract.dates import date_within, iso_date
from browser.extract.tree import text_content
from browser.net.url import is_web_url, join
from browser.text.words import clean, count_words, word_list
from browser.types import Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml import etree

    from browser.extract.blocks import Block

Node = dict[str, Any]

# Nodes that describe the page itself, in the order in which they are trusted.
_MAIN_TYPES = (
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
        nodes.extend(_flat(_parsed(script.text or ""), _DEEPEST))
    return nodes


def article_node(nodes: list[Node]) -> Node:
    """The node that describes the page's main thing; an empty one where there is none."""
    for kind in _MAIN_TYPES:
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


def _parsed(text: str) -> object:
    trimmed = text.strip().removeprefix("<!--").removesuffix("-->").strip().rstrip(";")
    try:
        return json.loads(trimmed, strict=False)
    except (ValueError, RecursionError):
        return None


def _flat(value: object, depth: int) -> Iterator[Node]:
    if depth == 0:
        return
    if isinstance(value, list):
        for item in value:
            yield from _flat(item, depth - 1)
    elif isinstance(value, dict):
        yield value
        for key in ("@graph", "mainEntity", "mainEntityOfPage"):
            yield from _flat(value.get(key), depth - 1)


_AUTHOR_META = (
    "author", "article:author", "parsely-author", "sailthru.author", "byl", "dcterms.creator",
)  # fmt: skip
_PUBLISHED_META = (
    "article:published_time", "og:article:published_time", "datepublished", "date", "pubdate",
    "publishdate", "publish-date", "publication_date", "parsely-pub-date", "dc.date",
    "dc.date.issued", "dcterms.created", "dcterms.date", "sailthru.date",
    "citation_publication_date", "citation_online_date", "citation_date",
    "article.published", "cxenseparse:recs:publishtime",
)  # fmt: skip
_MODIFIED_META = (
    "article:modified_time", "og:updated_time", "datemodified", "last-modified", "lastmod",
    "dcterms.modified", "dc.date.modified", "article.updated",
)  # fmt: skip
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*", re.IGNORECASE)
_URL = re.compile(r"^https?://", re.IGNORECASE)
_BY = re.compile(r"^\s*(?:by|von|par|por|written by)\s+", re.IGNORECASE)
_BYLINES = frozenset(
    ("byline", "author", "byline-name", "author-name", "p-author", "autor", "fn", "username")
)
# A byline is a name or a few, not a paragraph.
_LONGEST_NAME = 120


# What stands between the name of a page and that of its site.
_BETWEEN = re.compile(r"\s+[|–—·•»›:-]+\s+|:\s+")
# Plain `Article` of JSON-LD is also what encyclopedias and manuals call their pages.
_ARTICLE_TYPES = (
    "og:article",
    "newsarticle",
    "blogposting",
    "liveblogposting",
    "opinionnewsarticle",
)
_THREAD_TYPES = frozenset(("discussionforumposting", "qapage"))


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the page says about itself; `types` are its JSON-LD and Open Graph types."""

    declared: Document
    types: frozenset[str]

    @property
    def is_article(self) -> bool:
        """Whether the page declares itself an article."""
        return any(name.endswith(_ARTICLE_TYPES) for name in self.types)

    @property
    def is_thread(self) -> bool:
        """Whether the page declares itself a discussion, or a question with its answers."""
        return not self.types.isdisjoint(_THREAD_TYPES)


def read_metadata(root: etree._Element, url: str) -> Metadata:
    """Read a page's own declarations: JSON-LD first, then meta elements, then the markup."""
    nodes = read_jsonld(root)
    node = article_node(nodes)
    meta = read_meta(root)
    declared = Document(
        url,
        title=read_title(root, declared=_headline(meta, node)),
        author=_author(root, meta, node),
        published=_date(node, ("datePublished", "dateCreated", "uploadDate"), meta, _PUBLISHED_META)
        or _time(root),
        modified=_date(node, ("dateModified",), meta, _MODIFIED_META),
        language=_language(root, meta, node),
        site=_clean(meta.get("og:site_name") or meta.get("application-name")) or _publisher(node),
        canonical_url=_canonical(root, meta, url),
        description=_clean(
            meta.get("og:description") or meta.get("description") or meta.get("twitter:description")
        ),
    )
    return Metadata(declared, _types(nodes, meta))


def read_title(root: etree._Element, *, declared: str | None) -> str:
    """The page's own name, without its site's; `declared` is the headline that it declares."""
    head = next((e for e in root.iter("title") if not _within_svg(e)), None)
    whole = text_content(head) if head is not None else None
    heading = _heading(root, whole or "")
    # The head's title is the page's name and the site's: it tells which of the others to believe.
    if heading and whole and heading in whole and not (declared and declared in whole):
        return heading
    if heading and declared and heading in declared:
        return heading
    return declared or whole or heading or ""


def _heading(root: etree._Element, whole: str) -> str | None:
    """The first h1, unless it names the site and another heading is what the page is called."""
    first = next(root.iter("h1"), None)
    if first is None:
        return None
    heading, parts = text_content(first), _BETWEEN.split(whole)
    if heading not in parts or (heading == parts[0] and not _leads_home(first)):
        return heading
    names = {text_content(e) for e in root.iter("h1", "h2", "h3") if not _leads_home(e)}
    return next((part for part in parts if part in names), heading)


def _leads_home(heading: etree._Element) -> bool:
    return any(urlsplit(link.get("href") or "-").path in {"", "/"} for link in heading.iter("a"))


def _within_svg(element: etree._Element) -> bool:
    parent = element.getparent()
    return parent is not None and parent.tag in {"svg", "symbol", "g"}


def read_meta(root: etree._Element) -> dict[str, str]:
    """Every `meta` element by lower-case name, property or itemprop; the first of each."""
    found: dict[str, str] = {}
    for element in root.iter("meta"):
        name = (
            element.get("property")
            or element.get("name")
            or element.get("itemprop")
            or element.get("http-equiv")
        )
        content = (element.get("content") or element.get("value") or "").strip()
        if name and content:
            found.setdefault(name.strip().lower(), content)
    return found


def _headline(meta: dict[str, str], node: Node) -> str | None:
    return _clean(
        text_of(node.get("headline")) or meta.get("og:title") or meta.get("twitter:title")
    )


def _author(root: etree._Element, meta: dict[str, str], node: Node) -> str | None:
    if found := names(node.get("author") or node.get("creator")):
        return ", ".join(found)
    if cited := _cited_authors(root):
        return cited
    for key in _AUTHOR_META:
        value = _name(meta.get(key))
        if value:
            return value
    return _byline(root)


def _cited_authors(root: etree._Element) -> str:
    """The authors of a paper, one meta element each, written `Holm, Ada`."""
    cited = (e.get("content") or "" for e in root.iter("meta") if _is_citation_author(e))
    turned = (" ".join(reversed(name.split(", ", 1))) for name in cited)
    return ", ".join(dict.fromkeys(name for value in turned if (name := _name(value))))


def _is_citation_author(element: etree._Element) -> bool:
    return (element.get("name") or "").lower() in {"citation_author", "dc.creator"}


def _byline(root: etree._Element) -> str | None:
    for element in root.iter("a", "span", "div", "p", "address", "li", "strong"):
        if _names_author(element) and (value := _name(text_content(element))):
            return value
    return None


def _names_author(element: etree._Element) -> bool:
    declared = f"{element.get('rel') or ''} {element.get('itemprop') or ''}".lower().split()
    named = (element.get("class") or "").lower().split()
    return "author" in declared or not _BYLINES.isdisjoint(named)


def _name(value: str | None) -> str | None:
    text = _BY.sub("", _clean(value) or "")
    return text if text and len(text) <= _LONGEST_NAME and not _URL.match(text) else None


def _date(
    node: Node, keys: tuple[str, ...], meta: dict[str, str], names_: tuple[str, ...]
) -> str | None:
    values = [text_of(node.get(key)) for key in keys] + [meta.get(name) for name in names_]
    return next((date for value in values if value and (date := iso_date(value))), None)


def _time(root: etree._Element) -> str | None:
    for element in root.iter("time"):
        value = element.get("datetime") or text_content(element)
        if date := iso_date(value):
            return date
    return None


def _language(root: etree._Element, meta: dict[str, str], node: Node) -> str | None:
    declared = (
        root.get("lang")
        or root.get("{http://www.w3.org/XML/1998/namespace}lang")
        or root.get("xml:lang")
        or meta.get("content-language")
        or text_of(node.get("inLanguage"))
        or meta.get("og:locale")
        or meta.get("language")
    )
    match = _LANGUAGE.match(declared.strip()) if declared else None
    return match[0].replace("_", "-") if match else None


def _publisher(node: Node) -> str | None:
    found = names(node.get("publisher"))
    return found[0] if found else None


def _canonical(root: etree._Element, meta: dict[str, str], url: str) -> str | None:
    for element in root.iter("link"):
        if "canonical" in (element.get("rel") or "").lower().split() and element.get("href"):
            return _absolute(url, element.get("href", ""))
    return _absolute(url, meta["og:url"]) if meta.get("og:url") else None


def _absolute(base: str, href: str) -> str | None:
    joined = join(base, href)
    return joined if is_web_url(joined) else None


def _types(nodes: list[Node], meta: dict[str, str]) -> frozenset[str]:
    found = {kind.lower() for node in nodes for kind in node_types(node)}
    if og_type := meta.get("og:type"):
        found.add(f"og:{og_type.lower()}")
    if "article:published_time" in meta:
        found.add("og:article")
    return frozenset(found)


def node_types(node: Node) -> list[str]:
    """The @type of a JSON-LD node, as a list."""
    kind = node.get("@type")
    values = kind if isinstance(kind, list) else [kind]
    return [value for value in values if isinstance(value, str)]


def _clean(value: str | None) -> str | None:
    return clean(" ".join(value.split())) or None if value else None


# A byline is a line; what is longer speaks of something, and so does a sentence of this length.
_LONGEST_LINE = 30
_SENTENCE = 6
_PROSE = 25
# Lines looked at before and after the title; after them the body has begun.
_BEFORE, _AFTER = 4, 12
_UPDATED = re.compile(
    r"\b(?:updated?|modified|revised|edited|aktualisiert|geändert|stand|zuletzt|mis à jour"
    r"|actualizado)\b",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\W*(?:first |originally )?(?:published|posted|created|released|updated"
    r"|last (?:updated?|modified|edited)|veröffentlicht|erstellt|stand|zuletzt|aktualisiert"
    r"|publié|publicado|actualizado|pubblicato)\b",
    re.IGNORECASE,
)
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w’'.-]*"
_PARTICLE = r"(?:van|von|de|der|den|da|di|del|la|le|bin|al|zu|ter)\b"
_FULL_NAME = rf"{_CAPITAL}(?:\s+(?:{_PARTICLE}|{_CAPITAL})){{1,3}}"
_NAMES = rf"{_FULL_NAME}(?:\s*(?:,|and|und|et|y|&)\s+{_FULL_NAME})*"
_NAMED_BY = re.compile(
    rf"(?:^|[\s|·•—–-])(?i:by|von|par|por|di|text[oe]?:|autor(?:in)?:|author:)\s+({_NAMES})"
)
_WHOLE_NAME = re.compile(_FULL_NAME)
_ENDS = re.compile(r"[^\W\d_]{3}[.!?…][\"”’)]*\s*$|\d{4}[.!?]\s*$")
_PARTS = re.compile(r"\s*[|·•—–/\n]\s*|,\s+(?=[^\W\d_])")
_PERSON_LINK = re.compile(
    r"/(?:authors?|autor(?:en|in)?|by|people|profile|user|u|staff|contributor)/|/@"
)
_DATE_WORDS = re.compile(
    r"\d|^(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:tag|woch)$|^(?:min|read|share|home|news)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Byline:
    """What the lines around a title say; dates are ISO 8601."""

    author: str | None = None
    published: str | None = None
    modified: str | None = None


def read_byline(blocks: Sequence[Block], title: str) -> Byline:
    """Read author and dates from the lines around the title, and dated lines below the body."""
    place = _title_place(blocks, title)
    near = [block for block in _near(blocks, place) if not _is_entry(block, blocks)]
    dated = [(block.text, date) for block in near if (date := _date_in(block))]
    dated += [
        (block.text, date)
        for block in blocks[place:]
        if _DATED.match(block.text) and (date := _date_in(block))
    ]
    return Byline(
        author=next((name for block in near if (name := _author_in(block))), None),
        published=next((date for text, date in dated if not _UPDATED.search(text)), None),
        modified=next((date for text, date in dated if _UPDATED.search(text)), None),
    )


def _title_place(blocks: Sequence[Block], title: str) -> int:
    named = (n for n, b in enumerate(blocks) if title and word_list(b.text) == word_list(title))
    first = (n for n, block in enumerate(blocks) if block.level == 1)
    prose = (n for n, block in enumerate(blocks) if count_words(block.text) >= _PROSE)
    return next(named, next(first, next(prose, 0)))


def _near(blocks: Sequence[Block], place: int) -> Iterator[Block]:
    """Short lines, those after the title first; two paragraphs after it the body has begun."""
    paragraphs = 0
    for block in blocks[place + 1 : place + 1 + _AFTER]:
        if _speaks(block.text):
            paragraphs += 1
            if paragraphs == 2:
                break
        else:
            yield block
    for block in reversed(blocks[max(0, place - _BEFORE) : place]):
        if not _speaks(block.text):
            yield block


def _speaks(text: str) -> bool:
    """Whether a text speaks of something: it is long, or a sentence that names no maker."""
    length = count_words(text)
    says_of_itself = _DATED.match(text) or _NAMED_BY.match(text)
    is_sentence = _ENDS.search(text) is not None and not says_of_itself
    return length > _LONGEST_LINE or (length > _SENTENCE and is_sentence)


def _is_entry(block: Block, blocks: Sequence[Block]) -> bool:
    """Whether a heading is one of several days, as those of a log or a live blog are."""
    days = (b for b in blocks if b.kind == "heading" and _date_in(b))
    return block.kind == "heading" and len(list(itertools.islice(days, 2))) > 1


def _date_in(block: Block) -> str | None:
    if block.kind in {"table", "code"} or count_words(block.text) > _LONGEST_LINE:
        return None
    if block.kind == "heading" and count_words(block.text) > 5:
        return None  # a headline that speaks of a day
    return date_within(block.text)


def _author_in(block: Block) -> str | None:
    if block.kind in {"table", "code", "heading"}:
        return None
    text = " ".join(block.text.split())
    if match := _NAMED_BY.search(text):
        return _tidy(match[1])
    linked = next(
        (a for a in block.node.iter("a") if _PERSON_LINK.search(a.get("href") or "")), None
    )
    if linked is not None:
        name = text_content(linked)
        return name if _is_full_name(name) else None
    if date_within(text):
        return next((part for part in _PARTS.split(block.text) if _is_full_name(part)), None)
    return None


def _is_full_name(text: str) -> bool:
    return _WHOLE_NAME.fullmatch(text) is not None and not any(
        _DATE_WORDS.search(word) for word in text.split()
    )


def _tidy(names: str) -> str:
    return re.sub(r"\s*(?:,|\band\b|\bund\b|\bet\b|&)\s+", ", ", names).rstrip(" .,")
