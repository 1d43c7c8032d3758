"""A page's metadata: title, author, dates, language and address.

They are declared in JSON-LD, meta elements and markup; an undeclared author or date is read from
the lines around the title.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from browser.extract.dates import date_within, iso_date
from browser.extract.tree import finder, text_content
from browser.net.url import host, is_web_url, join
from browser.text.words import clean, ends_sentence, one_line, same_words, word_list
from browser.types import DOI_START, Document, Publication

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lxml import etree

    from browser.extract.blocks import Block

Node = dict[str, Any]

# Node types that describe the page itself, the most trusted first.
_MAIN_TYPES = (
    "NewsArticle", "ReportageNewsArticle", "AnalysisNewsArticle", "LiveBlogPosting", "BlogPosting",
    "ScholarlyArticle", "TechArticle", "Article", "OpinionNewsArticle", "Report",
    "SocialMediaPosting", "DiscussionForumPosting", "Recipe", "VideoObject", "Product", "WebPage",
)  # fmt: skip
# Comments and CDATA around a script's text.
_SCRIPT_WRAPPING = re.compile(r"^\s*(?://)?\s*(?:<!--|<!\[CDATA\[)|(?://)?\s*(?:-->|\]\]>)\s*$")
_TRAILING_COMMA = re.compile(r",\s*([}\]])")
# A page's graph is flat; deeper nesting is an attack or unrelated data.
_MAX_DEPTH = 6


def read_jsonld(root: etree._Element) -> list[Node]:
    """Return all JSON-LD nodes of the page, with graphs flattened; broken scripts are skipped."""
    nodes: list[Node] = []
    for script in root.iter("script"):
        if (script.get("type") or "").split(";")[0].strip().lower() == "application/ld+json":
            for value in _json_values(script.text or ""):
                nodes.extend(_flatten(value, _MAX_DEPTH))
    return nodes


def _json_values(text: str) -> Iterator[object]:
    """Yield a script's values, of which there may be several; small mistakes are repaired."""
    text = _SCRIPT_WRAPPING.sub("", text)
    if "&quot;" in text and '"' not in text:
        text = unescape(text)
    decoder = json.JSONDecoder(strict=False)
    while text := text.strip(" \t\r\n;,"):
        try:
            value, end = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            repaired = _TRAILING_COMMA.sub(r"\1", text)
            if repaired == text:
                return
            text = repaired
            continue
        yield value
        text = text[end:]


def _flatten(value: object, depth: int) -> Iterator[Node]:
    if depth == 0:
        return
    if isinstance(value, list):
        for item in value:
            yield from _flatten(item, depth - 1)
    elif isinstance(value, dict):
        yield value
        for key in ("@graph", "mainEntity", "mainEntityOfPage"):
            yield from _flatten(value.get(key), depth - 1)


def node_types(node: Node) -> list[str]:
    """The @type of a JSON-LD node, as a list."""
    kind = node.get("@type")
    values = kind if isinstance(kind, list) else [kind]
    return [value for value in values if isinstance(value, str)]


def names(value: object) -> list[str]:
    """Return the names of people or organisations, given as strings, nodes, or a list of either."""
    values = value if isinstance(value, list) else [value]
    found = [_name_of(item, _MAX_DEPTH) for item in values]
    return list(dict.fromkeys(name for name in found if name and not name.startswith("http")))


def _name_of(value: object, depth: int) -> str:
    """Return a name, given as a string or as a node whose name may itself be a node."""
    if isinstance(value, dict) and depth:
        return _name_of(value.get("name") or value.get("@value"), depth - 1)
    return text_of(value)


def text_of(value: object) -> str:
    """Return a string, a list's first value or a typed value's `@value`; "" for anything else."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("@value", "")
    # Publishing systems often escape twice, so entities remain after the JSON is parsed.
    return " ".join(unescape(value).split()) if isinstance(value, str) else ""


def read_meta(root: etree._Element) -> dict[str, str]:
    """Return `meta` elements by lower-case name, property or itemprop; the first one of each."""
    found: dict[str, str] = {}
    for element in root.iter("meta"):
        keys = ("property", "name", "itemprop", "http-equiv")
        name = next((value for key in keys if (value := element.get(key))), "")
        content = (element.get("content") or element.get("value") or "").strip()
        if name and content:
            found.setdefault(name.strip().lower(), content)
    return found


_AUTHOR_META = ("author", "article:author", "byl", "sailthru.author")
_PUBLISHED_META = (
    "article:published_time", "og:article:published_time", "datepublished", "date", "pubdate",
    "publishdate", "parsely-pub-date", "dc.date", "dcterms.created",
    "citation_publication_date", "citation_online_date", "citation_date",
)  # fmt: skip
_MODIFIED_META = (
    "article:modified_time", "og:updated_time", "datemodified", "last-modified", "dcterms.modified",
)  # fmt: skip
_DOI = re.compile(rf"\b{DOI_START}[^\s\"<>]+")
CLOSING_PUNCTUATION = ".,;:!?'\"*_"
"""Characters after a DOI or an address that belong to the sentence."""
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*", re.IGNORECASE)
_BYLINE_PREFIX = re.compile(
    r"^\s*(?:(?:by|von|par|por|(?:posted|written) by)(?:[\s:]+|$)"
    r"|(?:author|autor(?:in)?|text[oe]?):\s*)",
    re.IGNORECASE,
)
_BYLINE_CLASSES = frozenset(
    ("byline", "author", "byline-name", "author-name", "p-author", "autor", "fn", "username")
)
# A longer string is a paragraph, not a list of names.
_MAX_BYLINE_CHARS = 120
MAX_NAME_CHARS = 40
"""Maximum length of one name."""
_MIN_NAME_CHARS = 2  # a single character is a placeholder for a picture
# An e-mail or web address.
_ADDRESS = re.compile(r"\S@\S+\.\S|www\.|\.(?:com|org|net)\b", re.IGNORECASE)
# Separators between the page's name and the site's name in a title.
_SITE_SEPARATOR = re.compile(r"\s+[|–—·•»›:-]+\s+|:\s+")
# `Article` alone is not in this list: encyclopedias and manuals also use it for their pages.
_ARTICLE_TYPES = (
    "og:article", "newsarticle", "blogposting", "liveblogposting", "opinionnewsarticle",
)  # fmt: skip
_THREAD_TYPES = frozenset(("discussionforumposting", "qapage"))
_LINE_PROPERTIES = ("recipeIngredient", "ingredients", "recipeInstructions")
# Searching by attribute takes a third of the time of searching by element.
_find_lines = finder(*(f"//@itemprop[.='{name}']/.." for name in _LINE_PROPERTIES))


@dataclass(frozen=True, slots=True)
class Metadata:
    """A page's declared metadata as a Document, and the kind of page that it declares."""

    declared: Document
    is_article: bool
    is_thread: bool
    recipe_lines: tuple[str, ...] = ()
    """The ingredients and steps that the page declares."""


def declared_body(nodes: Sequence[Node]) -> str:
    """Return the longest `articleBody` in the JSON-LD nodes."""
    bodies = (node.get("articleBody") for node in nodes)
    return max((body for body in bodies if isinstance(body, str)), key=len, default="")


def _declared_lines(root: etree._Element, nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return the ingredients and steps of recipes, from JSON-LD and microdata."""
    values: list[Any] = [node.get(key) for node in nodes for key in _LINE_PROPERTIES]
    found = [element.get("content") or text_content(element) for element in _find_lines(root)]
    while values:
        value = values.pop()
        if isinstance(value, list):
            values += value
        elif isinstance(value, dict):
            values += [value.get("text"), value.get("itemListElement")]
        elif isinstance(value, str):
            found.append(one_line(unescape(value)))
    return tuple(found)


def read_metadata(root: etree._Element, url: str, nodes: Sequence[Node]) -> Metadata:
    """Read the metadata that a page declares in its JSON-LD `nodes`, meta elements and markup."""
    meta = read_meta(root)
    node: Node = next((n for kind in _MAIN_TYPES for n in nodes if kind in node_types(n)), {})

    def first(*keys: str) -> str | None:
        value = next((meta[key] for key in keys if key in meta), "")
        return one_line(value) or None

    def date(keys: tuple[str, ...], meta_keys: tuple[str, ...]) -> str | None:
        values = [text_of(node.get(key)) for key in keys] + [meta.get(key) for key in meta_keys]
        for value in values:
            if value and (parsed := iso_date(value)):
                return parsed
        return None

    def time_element() -> str | None:
        for element in root.iter("time"):
            if parsed := iso_date(element.get("datetime") or text_content(element)):
                return parsed
        return None

    headline = text_of(node.get("headline"))
    publishers = names(node.get("publisher"))
    declared = Document(
        url,
        title=read_title(
            root, declared=clean(headline) if headline else first("og:title", "twitter:title")
        ),
        author=_author(root, meta, node, _site_names(meta, node, url)),
        published=date(("datePublished", "dateCreated", "uploadDate"), _PUBLISHED_META)
        or time_element(),
        modified=date(("dateModified",), _MODIFIED_META),
        language=_language(root, meta, node),
        site=first("og:site_name", "application-name") or (publishers[0] if publishers else None),
        canonical_url=_canonical(root, meta, url),
        publication=read_publication(meta),
    )
    types = {kind.lower() for n in nodes for kind in node_types(n)}
    types.add(
        "og:" + ("article" if "article:published_time" in meta else meta.get("og:type", "").lower())
    )
    return Metadata(
        declared,
        is_article=any(kind.endswith(_ARTICLE_TYPES) for kind in types),
        is_thread=not types.isdisjoint(_THREAD_TYPES),
        recipe_lines=_declared_lines(root, nodes),
    )


def find_doi(text: str) -> str:
    """Find the DOI in a reference, an address or other text; "" if there is none."""
    match = _DOI.search(text)
    doi = match[0].rstrip(CLOSING_PUNCTUATION) if match else ""
    # DOIs may contain brackets, but an unmatched closing bracket belongs to the surrounding text.
    while doi.endswith((")", "]")) and doi.count(")") > doi.count("("):
        doi = doi[:-1].rstrip(CLOSING_PUNCTUATION)
    return doi.lower()


def read_publication(meta: Mapping[str, str]) -> Publication:
    """Read publication data from the `meta` elements of scholarly pages."""

    def first(*keys: str) -> str:
        return one_line(next((meta[key] for key in keys if key in meta), ""))

    proceedings = first("citation_conference_title", "citation_inbook_title", "citation_book_title")
    start, end = (
        first("citation_firstpage", "prism.startingpage"),
        first("citation_lastpage", "prism.endingpage"),
    )
    identifiers = ("citation_doi", "bepress_citation_doi", "prism.doi", "dc.identifier.doi",
                   "dc.identifier")  # fmt: skip
    return Publication(
        venue=proceedings
        or first(
            "citation_journal_title", "prism.publicationname", "dc.source", "dc.relation.ispartof"
        ),
        in_proceedings=bool(proceedings),
        volume=first("citation_volume", "prism.volume"),
        issue=first("citation_issue", "prism.number", "prism.issueidentifier"),
        pages=f"{start}-{end}" if start and end and start != end else start,
        publisher=first("citation_publisher", "dc.publisher"),
        doi=next(filter(None, (find_doi(meta.get(key, "")) for key in identifiers)), ""),
        arxiv=first("citation_arxiv_id"),
    )


def read_title(root: etree._Element, *, declared: str | None) -> str:
    """Return the page's title without the site's name; `declared` is the declared headline."""
    heads = (e for e in root.iter("title") if next(e.iterancestors("svg"), None) is None)
    head = next(heads, None)
    head_title = text_content(head) if head is not None else ""
    heading = _heading(root, head_title)
    # The title in the head contains the names of the page and the site, so it can confirm the other
    # candidates.
    if heading and heading in head_title and not (declared and declared in head_title):
        return heading
    if heading and declared and heading in declared:
        return heading
    return declared or head_title or heading


def _heading(root: etree._Element, head_title: str) -> str:
    """The first h1 or, if that is the site's name, another heading that appears in the title."""
    first = next(root.iter("h1"), None)
    if first is None:
        return ""
    heading, parts = _heading_text(first), _SITE_SEPARATOR.split(head_title)
    if heading not in parts or (heading == parts[0] and not _links_to_home(first)):
        return heading
    others = {_heading_text(e) for e in root.iter("h1", "h2", "h3") if not _links_to_home(e)}
    return next((part for part in parts if part in others), heading)


def _heading_text(heading: etree._Element) -> str:
    """The text of a heading without its permalink symbol."""
    return text_content(heading).rstrip("¶🔗 ").removesuffix(" #")


def _links_to_home(heading: etree._Element) -> bool:
    """Whether a heading links to the site's home page; links within the page do not count."""
    links = (link.get("href") or "#" for link in heading.iter("a"))
    return any(link[0] != "#" and urlsplit(link).path in {"", "/"} for link in links)


def _site_names(meta: dict[str, str], node: Node, url: str) -> frozenset[str]:
    """The names of a page's site (of its publisher and host), reduced to letters and digits."""
    labels = host(url).removeprefix("www.").split(".")
    declared = (meta.get("og:site_name", ""), meta.get("application-name", ""))
    found = (*declared, *names(node.get("publisher")), *labels, "".join(labels))
    return frozenset(filter(None, map(_letters, found)))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _author(
    root: etree._Element, meta: dict[str, str], node: Node, sites: frozenset[str]
) -> str | None:
    declared = [
        name for name in names(node.get("author") or node.get("creator")) if _is_person(name, sites)
    ]
    if declared:
        return ", ".join(declared)

    # Each author of a paper has a separate meta element, in the form `Holm, Ada`.
    cited: list[str] = []
    for element in root.iter("meta"):
        if (element.get("name") or "").lower() in {"citation_author", "dc.creator"}:
            parts = (element.get("content") or "").split(", ", 1)
            if name := _author_name(" ".join(reversed(parts)), sites):
                cited.append(name)
    if cited:
        return ", ".join(dict.fromkeys(cited))

    for key in _AUTHOR_META:
        if name := _author_name(meta.get(key, ""), sites):
            return name
    return _marked_author(root, sites)


def _marked_author(root: etree._Element, sites: frozenset[str]) -> str | None:
    """The first name that the markup marks as an author's."""
    for element in root.iter("a", "span", "div", "p", "address", "li", "strong"):
        marks = f"{element.get('rel') or ''} {element.get('itemprop') or ''}".lower().split()
        classes = (element.get("class") or "").lower().split()
        is_author = "author" in marks or not _BYLINE_CLASSES.isdisjoint(classes)
        if not is_author:
            continue
        named = (e for e in element.iterdescendants() if e.get("itemprop") == "name")
        name = _author_name(text_content(next(named, element)), sites)
        if date_within(name) is not None:
            name = name_within(element)
        if name and _is_person(name, sites):
            return name
    return None


def name_within(element: etree._Element) -> str:
    """The first text in an element that may be a name: it is not a count, a date or `by`."""
    for text in map(one_line, map(str, element.itertext())):
        name = _BYLINE_PREFIX.sub("", text.strip(" ·-–—»")).strip(" :").removeprefix("@")
        if (
            _MIN_NAME_CHARS <= len(name) <= MAX_NAME_CHARS
            and not name.replace(",", "").isdigit()
            and date_within(name) is None
        ):
            return name
    return ""


def _author_name(value: str, sites: frozenset[str]) -> str:
    """Clean an author's name and drop "by"; "" for an address, the site's name or a long text."""
    text = _BYLINE_PREFIX.sub("", one_line(value))
    return text if _is_person(text, sites) else ""


def _is_person(name: str, sites: frozenset[str]) -> bool:
    """Whether a name may be a person's: it is not an address, a number or the site's name."""
    letters = _letters(name)
    return (
        0 < len(name) <= _MAX_BYLINE_CHARS
        and not is_web_url(name)
        and not _ADDRESS.search(name)
        and not letters.isdigit()
        and letters not in sites
    )


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


def _canonical(root: etree._Element, meta: dict[str, str], url: str) -> str | None:
    href = meta.get("og:url", "")
    for link in root.iter("link"):
        if "canonical" in (link.get("rel") or "").lower().split() and link.get("href"):
            href = link.get("href", "")
            break
    joined = join(url, href) if href else ""
    return joined if is_web_url(joined) else None


# The author and date are in short lines directly before or after the title; a labelled date may be
# anywhere below it. Longer lines are prose, as are sentences of more than a few words.
_LINES_BEFORE, _LINES_AFTER = 4, 6
_MAX_LINE_WORDS = 20
_MIN_SENTENCE_WORDS = 6
_DATE_LABELS = (
    "published", "posted", "updated", "last updated", "last modified", "veröffentlicht", "erstellt",
    "stand", "aktualisiert", "publié", "publicado", "actualizado", "pubblicato",
)  # fmt: skip
_UPDATE_LABEL = re.compile(
    r"\b(?:updated?|modified|revised|edited|aktualisiert|geändert|stand|zuletzt|mis à jour"
    r"|actualizado)\b",
    re.IGNORECASE,
)
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w’'.-]*"
_PARTICLE = r"(?:van|von|de|der|den|da|di|del|la|le|bin|al|zu|ter)\b"
_FULL_NAME = rf"{_CAPITAL}(?:\s+(?:{_PARTICLE}|{_CAPITAL})){{1,3}}"
_AUTHOR_LINE = re.compile(
    r"(?:^|[\s|·•—–-])(?i:by|von|par|por|di|text[oe]?:|autor(?:in)?:|author:)\s+"
    rf"({_FULL_NAME}(?:\s*(?:,|and|und|et|y|&)\s+{_FULL_NAME})*)"
)
_PERSON_LINK = re.compile(
    r"/(?:authors?|autor(?:en|in)?|by|people|profile|user|u|staff|contributor)/|/@"
)


def add_byline(declared: Document, blocks: Sequence[Block]) -> Document:
    """Add an undeclared author and undeclared dates from the lines around the title.

    Of 186 saved pages that declare an author, this finds the same author on 78 and a different one
    on 6; of 200 that declare a date, the same date on 100 and a different one on 20.
    """
    if declared.author and (declared.published or declared.modified):
        return declared
    words = word_list(declared.title)
    titles = [n for n, block in enumerate(blocks) if same_words(block.text, words)]
    place = (titles or [n for n, block in enumerate(blocks) if block.level == 1] or [0])[0]
    after, before = blocks[place + 1 :], blocks[max(0, place - _LINES_BEFORE) : place]
    near = [block for block in (*after[:_LINES_AFTER], *reversed(before)) if _is_line(block)]
    labelled = [b for b in after if _is_line(b) and _has_date_label(b.text)]
    dated = [(b.text, day) for b in (*near, *labelled) if (day := date_within(b.text))]
    published = next((day for text, day in dated if not _UPDATE_LABEL.search(text)), None)
    modified = next((day for text, day in dated if _UPDATE_LABEL.search(text)), None)
    return replace(
        declared,
        author=declared.author or next(filter(None, map(_author_in, near)), None),
        published=declared.published or published,
        modified=declared.modified or modified,
    )


def _has_date_label(text: str) -> bool:
    text = text.casefold()
    return any(text.startswith(w) and not text[len(w) :][:1].isalpha() for w in _DATE_LABELS)


def _is_line(block: Block) -> bool:
    """Whether a block is a short line that is neither a sentence nor a heading.

    A heading that contains a date is a headline about that day, or a changelog entry.
    """
    is_sentence = block.words > _MIN_SENTENCE_WORDS and ends_sentence(block.text)
    return (
        block.words <= _MAX_LINE_WORDS
        and not is_sentence
        and block.kind not in {"table", "code", "heading"}
    )


def _author_in(block: Block) -> str | None:
    if match := _AUTHOR_LINE.search(" ".join(block.text.split())):
        return re.sub(r"\s*(?:,|\band\b|\bund\b|\bet\b|&)\s+", ", ", match[1]).rstrip(" .,")
    links = (a for a in block.node.iter("a") if _PERSON_LINK.search(a.get("href") or ""))
    name = next(map(text_content, links), "")
    return name if re.fullmatch(_FULL_NAME, name) else None
