"""News of any host, Medium, Substack, MediaWiki; recipes, products and what else pages declare."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Any

from lxml import etree

from browser.extract.blocks import render_text, walk
from browser.extract.dates import date_within, iso_date
from browser.extract.html import extract
from browser.extract.metadata import names, text_of
from browser.extract.platforms.paths import RecordPaths
from browser.extract.platforms.site import (
    Platform,
    Record,
    attribute,
    author_of,
    counts,
    fields,
    line,
    node_date,
    node_of,
    number,
    objects_in,
    statistics,
    words_of,
)
from browser.extract.tables import read_table
from browser.extract.tree import parse_html
from browser.types import Link

if TYPE_CHECKING:
    from bs4 import Tag

    from browser.extract.blocks import Block
    from browser.extract.platforms.site import SitePage

_NEWS = ("LiveBlogPosting", "NewsArticle", "ReportageNewsArticle", "AnalysisNewsArticle",
         "OpinionNewsArticle")  # fmt: skip
# A story's address ends in its id: eight or more hexadecimal digits after the last hyphen.
_STORY = re.compile(r"(?:^|-)([0-9a-f]{8,14})$")
_MINUTES = re.compile(r"(\d+) min read")
# The reading time stands above a story, within so many characters.
_BYLINE = 30
_SHOWN_DATE = "[data-testid=storyPublishDate], .pw-published-date"


class News(Platform):
    """`NewsArticle` and its kin; the text is that of the article path."""

    name = "news"
    general = True

    def claims(self, page: SitePage) -> bool:
        """Pages that say they are news; a recipe or a product on a blog is read as what it is."""
        if page.json is not None:
            return False
        return bool(node_of(page, *_NEWS)) or (
            page.meta.get("og:type") == "article" and not is_thing(page)
        )

    def parse(self, page: SitePage) -> Record | None:
        """Read one article; the entries of a live blog are its items."""
        node, article = node_of(page, *_NEWS), extract(page.markup, page.url)
        if not article.text:
            return None
        section, free = node.get("articleSection"), node.get("isAccessibleForFree")
        said = node.get("liveBlogUpdate") or []
        updates = said if isinstance(said, list) else [said]
        picture, keywords = page.meta.get("og:image"), node.get("keywords") or ()
        words = keywords.split(",") if isinstance(keywords, str) else keywords
        return Record(
            self.name, "live_blog" if updates else "article", article.canonical_url or page.url,
            title=text_of(node.get("headline")) or page.meta.get("og:title", article.title),
            text=article.text, author=article.author, published=article.published,
            modified=article.modified, counts=counts(words=node.get("wordCount")),
            fields=fields(
                publisher=next(iter(names(node.get("publisher"))), None) or article.site,
                description=article.description, language=article.language,
                section=", ".join(section) if isinstance(section, list) else section,
                free=None if free is None else str(free).lower(),
            ),
            tags=tuple(w.strip() for w in words if isinstance(w, str) and w.strip()),
            media=(picture,) if picture else (),
            items=tuple(_update(update) for update in updates if isinstance(update, dict)),
        )  # fmt: skip


def _update(update: dict[str, Any]) -> Record:
    return Record(
        "news", "update", text_of(update.get("url")), title=text_of(update.get("headline")) or None,
        text=words_of(update, "articleBody"), author=author_of(update)[0],
        published=node_date(update, "datePublished"), modified=node_date(update, "dateModified"),
    )  # fmt: skip


class Medium(Platform):
    """Meta elements for what stands beside a story, the article path for its text."""

    name = "medium"
    marks = (b"al:ios:app_name",)
    hosts = ("medium.com",)

    def claims(self, page: SitePage) -> bool:
        """Its own hosts; publications by the application that their pages name."""
        if super().claims(page):
            return True
        return page.json is None and page.meta.get("al:ios:app_name") == "Medium"

    def parse(self, page: SitePage) -> Record | None:
        """Read one story; its meta element has the date of its last edition, not the shown one."""
        meta, node = page.meta, node_of(page, "NewsArticle", "BlogPosting", "Article")
        title = page.text("h1.pw-post-title, h1[data-testid=storyTitle]") or meta.get("og:title")
        found = _STORY.search(page.path[-1] if page.path else "")
        if page.first("article") is None or not title or not found:
            return None
        account = meta.get("article:author", "").rpartition("/@")[2]
        minutes = _MINUTES.search(meta.get("twitter:data1", ""))
        shown = date_within(page.text(_SHOWN_DATE))
        declared = node_date(node, "datePublished")
        text = extract(page.markup, page.url).text
        byline = _MINUTES.search(text[:_BYLINE])
        return Record(
            self.name, "story", page.canonical, id=found[1], title=title,
            text=text[byline.end():].lstrip() if byline else text,
            author=author_of(node)[0] or meta.get("author"),
            handle=account or None,
            published=declared or shown or iso_date(meta.get("article:published_time", "")),
            modified=node_date(node, "dateModified"),
            counts=counts(
                minutes=minutes and minutes[1],
                claps=number(page.text(".pw-multi-vote-count")),
            ),
            fields=fields(
                description=meta.get("og:description"),
            ),
            media=(meta["og:image"],) if meta.get("og:image") else (),
        )  # fmt: skip


# The page hands its state to its scripts as text within text.
_PRELOADED = re.compile(r"_preloads\s*=\s*JSON\.parse\((\"(?:[^\"\\]|\\.)*\")\)")
_NOTE = "[class*=feedPermalinkUnit]"
_ENTRY = RecordPaths(
    "post", id="slug", url="canonical_url", title="title", text="body_html || truncated_body_text",
    markup=True, handle="publishedBylines.handle", published="post_date", modified="updated_at",
    counts={"likes": "reaction_count || reactions.❤", "comments": "comment_count",
            "restacks": "restacks", "words": "wordcount"},
    fields={"subtitle": "subtitle", "section": "section_name", "audio": "podcast_url"},
    tags="postTags.name", media="cover_image",
)  # fmt: skip


class Substack(Platform):
    """JSON-LD of notes and posts; the permalink unit and `.available-content` without it."""

    name = "substack"
    marks = (b"substackcdn.com",)
    hosts = ("substack.com",)

    def claims(self, page: SitePage) -> bool:
        """Its own hosts; publications under names of their own by what they load."""
        if super().claims(page):
            return True
        return page.json is None and any(
            "substackcdn.com" in (node.get("href") or node.get("src") or "")
            for node in page.tree.iter("link", "script")
        )

    def parse(self, page: SitePage) -> Record | None:
        """Read a note or a post."""
        entry = _entry(page)
        if entry is not None:
            return _from_entry(page, entry)
        if page.json is not None:
            return None
        return _note(page) if "note" in page.path else _post(page)


def _entry(page: SitePage) -> dict[str, Any] | None:
    """The post as the API gives it, and as its page carries it in its state."""
    data = page.json
    if data is None:
        scripts = (script.text or "" for script in page.tree.iter("script"))
        said = _PRELOADED.search(next((text for text in scripts if "_preloads" in text), ""))
        data = json.loads(json.loads(said[1])) if said else None
    entries = (node for node in objects_in([data]) if {"slug", "post_date", "title"} <= node.keys())
    slug = page.path[-1] if page.path else ""
    return next((node for node in entries if page.json is not None or node["slug"] == slug), None)


def _from_entry(page: SitePage, entry: dict[str, Any]) -> Record:
    record, free = _ENTRY.read(page, "substack", entry), entry.get("audience")
    writers = [w["name"] for w in entry.get("publishedBylines") or [] if w.get("name")]
    more = fields(publication=page.meta.get("og:site_name") if page.json is None else None,
                  free=free == "everyone" if free else None)  # fmt: skip
    return replace(
        record, kind="podcast" if entry.get("type") == "podcast" else "post",
        url=record.url or page.canonical, author=", ".join(writers) or None,
        fields={**record.fields, **more},
    )  # fmt: skip


def _note(page: SitePage) -> Record | None:
    node, meta = node_of(page, "SocialMediaPosting"), page.meta
    name, _, account = meta.get("og:title", "").partition(" (@")
    body = page.first(f"{_NOTE} .ProseMirror")
    text = page.body(body) or words_of(node, "text") or meta.get("og:description", "")
    if not text:
        return None
    return Record(
        "substack", "note", page.canonical, id=page.path[-1], text=text,
        author=author_of(node)[0] or name or None, handle=account.rstrip(")") or None,
        published=node_date(node, "dateCreated", "datePublished")
        or iso_date(meta.get("og:published_time", "")),
        modified=node_date(node, "dateModified"), counts=statistics(node),
        media=tuple(attribute(e, "src") for e in page.all(f"{_NOTE} [class*=imageGrid] img")),
    )  # fmt: skip


def _post(page: SitePage) -> Record | None:
    node = node_of(page, "NewsArticle", "BlogPosting", "Article")
    body = page.first(".available-content .body") or page.first(".available-content, .body.markup")
    title = page.text("h1.post-title") or words_of(node, "headline")
    if body is None or not title:
        return None
    author, handle = author_of(node)
    likes = number(page.text(".like-button-container .label"))
    return Record(
        "substack", "post", page.canonical, id=page.path[-1] if page.path else None,
        title=title, text=page.body(body), author=author or page.meta.get("author"),
        handle=handle, published=node_date(node, "datePublished"),
        modified=node_date(node, "dateModified"),
        counts=statistics(node) or counts(likes=likes),
        fields=fields(
            subtitle=page.text("h3.subtitle"), publication=page.meta.get("og:site_name"),
            free=node.get("isAccessibleForFree"),
        ),
    )  # fmt: skip


_KINDS = {
    "Recipe": "recipe", "Product": "product", "ProductGroup": "product", "Movie": "film",
    "TVSeries": "series", "TVEpisode": "episode", "VideoGame": "game", "Book": "book",
    "MusicAlbum": "album", "PodcastEpisode": "episode", "Event": "event", "MusicEvent": "event",
    "SportsEvent": "event", "Festival": "event", "JobPosting": "job", "Course": "course",
    "SoftwareApplication": "software", "MobileApplication": "software", "Restaurant": "place",
    "Hotel": "place", "TouristAttraction": "place", "HowTo": "how_to",
}  # fmt: skip
_SPECIFIED = "offers.priceSpecification"
_THING = RecordPaths(
    "thing", title="name", text="description", author="author.name || author",
    published="datePublished || releaseDate", tags="genre || recipeCategory",
    media="image.url || image",
    counts={"ratings": "aggregateRating.ratingCount", "reviews": "aggregateRating.reviewCount"},
    fields={
        "rating": "aggregateRating.ratingValue", "best_rating": "aggregateRating.bestRating",
        "price": f"offers.price || {_SPECIFIED}.price || offers.lowPrice",
        "highest_price": "offers.highPrice",
        "currency": f"offers.priceCurrency || {_SPECIFIED}.priceCurrency",
        "availability": "offers.availability -> [^/]+$",
        "condition": "offers.itemCondition -> [^/]+$",
        "brand": "brand.name || brand", "director": "director.name", "actors": "actor.name",
        "creator": "creator.name", "publisher": "publisher.name", "organizer": "organizer.name",
        "performers": "performer.name", "employer": "hiringOrganization.name",
        "artist": "byArtist.name", "cuisine": "servesCuisine || recipeCuisine",
        "ingredients": "* recipeIngredient",
        "steps": "* recipeInstructions.itemListElement.text || recipeInstructions.text"
        " || recipeInstructions || step.text",
        "place": "location.name", "address": "address.streetAddress || address"
        " || location.address.streetAddress",
        "town": "address.addressLocality || location.address.addressLocality",
        "yield": "recipeYield", "total_time": "totalTime", "duration": "duration",
        "calories": "nutrition.calories", "starts": "startDate", "ends": "endDate",
        "rated": "contentRating", "isbn": "isbn", "sku": "sku", "gtin": "gtin13 || gtin",
        "telephone": "telephone", "price_range": "priceRange", "until": "validThrough",
        "employment": "employmentType", "system": "operatingSystem", "version": "softwareVersion",
        "seasons": "numberOfSeasons", "episode": "episodeNumber", "pages": "numberOfPages",
    },
)  # fmt: skip


class Things(Platform):
    """Recipes, products, films, events and their kin, by their nodes in JSON-LD."""

    name = "schema.org"
    general = True
    verified = False

    def claims(self, page: SitePage) -> bool:
        """Pages that declare such a thing."""
        return page.json is None and is_thing(page)

    def parse(self, page: SitePage) -> Record | None:
        """Read the first such thing on the page."""
        kind, node = next((k, n) for k in _KINDS if (n := node_of(page, k)))
        record = replace(_THING, kind=_KINDS[kind]).read(page, self.name, node)
        return replace(record, url=page.canonical, title=unescape(record.title),
                       text=unescape(record.text)) if record.title else None  # fmt: skip


def is_thing(page: SitePage) -> bool:
    """Whether a page declares a thing that is no article."""
    return bool(node_of(page, *_KINDS))


_INFOBOX = "table.infobox, table.vcard, table.infobox_v2, table.sinottico, .infobox_v3"
_CONTENT = "#mw-content-text .mw-parser-output, #mw-content-text, .mw-parser-output"
# What the software puts into the text around the article.
_APPARATUS = (
    ".toc, #toc, .mw-editsection, .navbox, .vertical-navbox, .sidebar, .metadata, .ambox, .reflist,"
    " .references, .hatnote, .noprint, .shortdescription, .mw-jump-link, .mw-empty-elt"
)
_LINE_TAGS = frozenset(("br", "li", "div", "p"))
_DISAMBIGUATION = "#disambigbox, .dmbox-disambig, .disambigbox, #disambig, [data-mw-disambig]"
_MISSING = ".noarticletext, .mw-noarticletext, #noarticletext"


class Wikipedia(Platform):
    """The parser output, as MediaWiki renders it with any skin."""

    name = "wikipedia"
    marks = (b"MediaWiki",)
    hosts = ("wikipedia.org", "wiktionary.org", "wikiquote.org", "wikivoyage.org", "wikibooks.org")

    def claims(self, page: SitePage) -> bool:
        """Wikimedia's own sites by host, others by their generator."""
        if super().claims(page):
            return True
        return page.json is None and page.meta.get("generator", "").startswith("MediaWiki")

    def parse(self, page: SitePage) -> Record | None:
        """Read an article; `items` are its sections, the lead first."""
        content, title = page.first(_CONTENT), page.text("#firstHeading, h1")
        if content is None or not title or page.first(_MISSING) is not None:
            return None
        node = node_of(page, "Article")
        apart = page.first(_DISAMBIGUATION) is not None
        facts = fields(
            description=node.get("headline") or page.text(".shortdescription", content),
            language=page.attr("html", "lang"),
            coordinates=page.text(".geo", content) or page.text("#coordinates .geo-dec"),
            redirected_from=page.text(".mw-redirectedfrom a"),
        )  # fmt: skip
        references = tuple(_references(page))
        infobox = page.first(_INFOBOX, content)
        box = read_table(_lxml(infobox), _cell) if infobox is not None else None
        for element in page.all(_APPARATUS, content) + ([infobox] if infobox is not None else []):
            element.clear()
        blocks = walk(parse_html(str(content)), page.url)
        pairs = (row for row in (box.rows if box else ()) if len(row) == 2 and all(row))
        return Record(
            self.name, "disambiguation" if apart else "article", page.canonical, title=title,
            text=render_text(blocks), id=page.path[-1] if page.path else None,
            published=node_date(node, "datePublished"),
            modified=node_date(node, "dateModified") or iso_date(page.text("#footer-info-lastmod")),
            fields={**facts, **{f"infobox: {name}": value for name, value in pairs}},
            tags=tuple(line(e) for e in page.all("#mw-normal-catlinks li a")),
            tables=tuple(block.table for block in blocks if block.table) + ((box,) if box else ()),
            links=references, items=tuple(_sections(blocks, title)),
        )  # fmt: skip


def _lxml(node: Tag) -> etree._Element:
    """An element as the table reader wants it."""
    root = parse_html(str(node))
    return next(root.iter(node.name), root)


def _cell(cell: etree._Element) -> str:
    """A cell of an infobox: its lines and list items parted by commas, without note marks."""
    pieces: list[str] = []
    for event, node in etree.iterwalk(cell, events=("start", "end")):
        if node is not cell and node.tag in _LINE_TAGS:
            pieces.append("\n")
        if event == "start":
            pieces.append("" if _is_mark(node) else node.text or "")
        elif node is not cell:
            pieces.append("" if any(map(_is_mark, node.iterancestors("sup"))) else node.tail or "")
    lines = (" ".join(said.split()).strip(" ,") for said in "".join(pieces).split("\n"))
    return ", ".join(said for said in lines if said)


def _is_mark(node: etree._Element) -> bool:
    around = (node, *node.iterancestors("sup"))
    noted = any("reference" in (part.get("class") or "").split() for part in around)
    return noted or node.tag in ("style", "script")


def _sections(blocks: list[Block], title: str) -> list[Record]:
    groups: list[tuple[str, list[Block]]] = [(title, [])]
    for block in blocks:
        if block.kind == "heading":
            groups.append((block.text, []))
        else:
            groups[-1][1].append(block)
    found = [(name, render_text(part)) for name, part in groups]
    return [Record("wikipedia", "section", title=name, text=text) for name, text in found if text]


def _references(page: SitePage) -> list[Link]:
    return [
        Link(page.link("a.external", item), page.text(".reference-text", item) or line(item),
             "reference")
        for item in page.all("li[id^=cite_note]")
    ]  # fmt: skip
