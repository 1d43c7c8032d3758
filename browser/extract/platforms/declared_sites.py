"""DexScreener, arXiv and Google Scholar: sites read by tables of paths; Stack Exchange."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms.paths import DeclaredPlatform, RecordPaths
from browser.extract.platforms.site import Platform, Record, attribute, fields, listing
from browser.types import Link

if TYPE_CHECKING:
    from bs4 import Tag

    from browser.extract.platforms.site import SitePage

_SPANS = ("m5", "h1", "h6", "h24")


class DexScreener(DeclaredPlatform):
    """`pairs` of the API or of the page's state; rows of lists by the classes of their columns."""

    name = "dexscreener"
    hosts = ("dexscreener.com",)
    entries = (RecordPaths(
        "pair", "**", having="chainId pairAddress baseToken", id="pairAddress", url="url",
        published="pairCreatedAt", tags="labels", media="info.imageUrl",
        fields={
            "chain": "chainId", "exchange": "dexId", "token": "baseToken.address",
            "token_name": "baseToken.name", "token_symbol": "baseToken.symbol",
            "quote_symbol": "quoteToken.symbol", "quote_token": "quoteToken.address",
            "price_usd": "priceUsd", "price_native": "priceNative",
            "liquidity_usd": "liquidity.usd", "fdv": "fdv", "market_cap": "marketCap",
            **{f"price change {span}": f"priceChange.{span}" for span in _SPANS},
            **{f"volume {span}": f"volume.{span}" for span in _SPANS},
        },
        counts={f"{side} {span}": f"txns.{span}.{side}"
                for span in _SPANS for side in ("buys", "sells")},
        links={"website": "info.websites.url", "social": "info.socials.url"},
    ),)  # fmt: skip
    rows = RecordPaths(
        "pair", "a.ds-dex-table-row[href]", url="@href", id="@href -> [^/]+$",
        title=".ds-dex-table-row-base-token-name",
        fields={
            "chain": "@href -> ^/([^/]+)/",
            "token_name": ".ds-dex-table-row-base-token-name",
            "token_symbol": ".ds-dex-table-row-base-token-symbol",
            "quote_symbol": ".ds-dex-table-row-quote-token-symbol",
            **{name: f".ds-dex-table-row-col-{css}" for name, css in (
                ("price_usd", "price"), ("age", "pair-age"), ("volume", "volume"),
                ("liquidity", "liquidity"), ("market_cap", "market-cap"))},
        },
    )  # fmt: skip

    def parse(self, page: SitePage) -> Record | None:
        """Read one pair, or a list of pairs as items; a pair's title is its two symbols."""
        if record := super().parse(page):
            return _titled(replace(record, url=record.url or page.url))
        if page.json is not None or len(page.path) != 2:
            return None
        title, said = page.meta.get("og:title"), page.meta.get("og:description", "")
        return Record(self.name, "pair", page.url, id=page.path[1], title=title, text=said,
                      fields={"chain": page.path[0]}) if title else None  # fmt: skip


def _titled(record: Record) -> Record:
    both = [record.fields.get(side, "") for side in ("token_symbol", "quote_symbol")]
    title = "/".join(both) if any(both) else record.title
    return replace(record, title=title, items=tuple(map(_titled, record.items)))


_LAST = ".post-signature:nth-last-child(1 of .post-signature)"
_STAT, _NUMBER = ".s-post-summary--stats-item", ".s-post-summary--stats-item-number"
_REMARK = RecordPaths(
    "comment", "li.comment", id="@data-comment-id", text=".comment-copy", author=".comment-user",
    handle=r".comment-user@href -> /users/(\d+)",
    published=".comment-date .relativetime-clean@title || .comment-date [title]@title",
    counts={"points": ".comment-score"},
)  # fmt: skip
_ANSWER = RecordPaths(
    "answer", ".answer", id="@data-answerid", text=".s-prose || .post-text",
    url="https://{:url -> ^https?://([^/]+)}/a/{@data-answerid}",
    author=f"{_LAST} .user-details a || {_LAST} .user-details:not(.community-wiki)",
    handle=rf"{_LAST} .user-details a@href -> /users/(\d+)",
    published=f"{_LAST} .relativetime@title -> ^[^,]+",
    modified=f"{_LAST.replace('(1', '(2')} .relativetime@title -> ^[^,]+",
    counts={"points": ".js-vote-count || @data-score",
            "bounty": ".bounty-award || .js-bounty-award"},
    flags={"accepted": "@class -> accepted-answer", "wiki": ".community-wiki"}, items=(_REMARK,),
)  # fmt: skip
_ENTRY = RecordPaths(
    "answer", "items", having="answer_id", id="answer_id", url="link", title="title", text="body",
    markup=True, author="owner.display_name", handle="owner.user_id", published="creation_date",
    modified="last_edit_date", parent="question_id", counts={"points": "score"},
    flags={"accepted": "is_accepted"},
)  # fmt: skip


def _of_question(paths: str) -> str:
    return " || ".join(f"#question {path}" for path in paths.split(" || "))


class StackExchange(DeclaredPlatform):
    """`#question` and `.answer` blocks; `.s-post-summary` rows; `items` of the API.

    Of several signatures under a post the last is its author's, those before it are editors'.
    """

    name = "stackexchange"
    hosts = ("stackoverflow.com", "stackexchange.com", "serverfault.com", "superuser.com",
             "askubuntu.com", "mathoverflow.net", "stackapps.com")  # fmt: skip
    verified = False
    entries = (replace(
        _ENTRY, kind="question", having="title question_id", id="question_id", parent="",
        tags="tags",
        counts={"points": "score", "answers": "answer_count", "views": "view_count"},
        fields={"accepted_answer": "accepted_answer_id", "closed": "closed_reason"},
        flags={}, items=(replace(_ENTRY, at="answers"),),
    ), _ENTRY)  # fmt: skip
    page = RecordPaths(
        "question", title="#question-header h1 || #question h1[itemprop=name]",
        id="#question@data-questionid", text="#question .s-prose || #question .post-text",
        author=_of_question(_ANSWER.author), handle=_of_question(_ANSWER.handle),
        published=f"{_of_question(_ANSWER.published)} || time[itemprop=dateCreated]@datetime",
        modified=_of_question(_ANSWER.modified), tags="#question .post-tag",
        counts={
            "points": "#question .js-vote-count || #question@data-score",
            "bounty": "#question .bounty-award || #question .js-bounty-award",
            "views": "[title^=Viewed]@title", "answers": "[data-answercount]@data-answercount",
        },
        fields={"notice":
                "#question aside.s-notice || #question .js-post-notice || .question-status"},
        flags={"wiki": "#question .community-wiki"},
        items=(replace(_REMARK, at="#question li.comment"), _ANSWER),
    )  # fmt: skip
    rows = RecordPaths(
        "question", ".s-post-summary", id="@data-post-id", url="h3 a", title="h3 a",
        text=".s-post-summary--content-excerpt", author=".s-user-card--link",
        handle=r".s-user-card--link a@href -> /users/(\d+)",
        published=".s-user-card--time .relativetime@title",
        counts={
            "points": f"{_STAT}:nth-child(1) {_NUMBER}",
            "answers": f"{_STAT}:nth-child(2) {_NUMBER}",
            "views": f"{_STAT}[title$=views]@title || {_STAT}:nth-child(3) {_NUMBER}",
        },
        flags={"answered": ".has-accepted-answer"}, tags=".post-tag",
    )  # fmt: skip


_SUBJECT = re.compile(r"[^;]+\(([\w.-]+)\)")
_ABSTRACT = RecordPaths(
    "paper", id="meta[name=citation_arxiv_id]@content", title="meta[name=citation_title]@content",
    url="https://arxiv.org/abs/{meta[name=citation_arxiv_id]@content}",
    published="meta[name=citation_date]@content",
    modified=r".dateline -> last revised ([^(\]]+)",
    links={"PDF": "meta[name=citation_pdf_url]@content"},
    fields={
        "subjects": "td.subjects", "comments": "td.comments", "journal": "td.jref",
        "version": r".dateline -> v(\d+)\)?\]?$", "report": "td.report-number",
        "license": ".abs-license a@href",
        "doi": "meta[name=citation_doi]@content || td.arxivdoi a, td.doi a",
    },
)  # fmt: skip
_ROW = RecordPaths(
    "paper", title=".list-title -> ^(?:Title:)? *(.+)", text="p.mathjax",
    author=".list-authors -> ^(?:Authors:)? *(.+)",
    fields={"comments": ".list-comments -> ^(?:Comments:)? *(.+)"},
)  # fmt: skip
_RESULT = RecordPaths(
    "paper", "li.arxiv-result", url=".list-title a[href*='/abs/']",
    id=".list-title a[href*='/abs/']@href -> /abs/(.+)", title="p.title", text=".abstract-full",
    author="p.authors -> ^(?:Authors:)? *(.+)",
    published="p.is-size-7:has(.has-text-weight-semibold) -> ^Submitted ([^;]+)",
    tags=".tags .tag[data-tooltip]",
)  # fmt: skip
_PAPER = RecordPaths(
    "paper", url=".gs_rt a", title=r".gs_rt -> ^(?:\[[A-Z]+\]\s*)*(.+)", text=".gs_rs",
    id=r".gs_fl a[href*='cites=']@href -> [?&]cites=(\d+)",
    counts={"citations": r".gs_fl a[href*='cites='] -> (\d[\d,.]*)\s*$"},
    fields={"type": r".gs_ct1 -> \w+"},
)  # fmt: skip


class Arxiv(Platform):
    """`citation_*` meta elements, and the table of comments, subjects and identifiers."""

    name = "arxiv"
    hosts = ("arxiv.org", "export.arxiv.org")

    def parse(self, page: SitePage) -> Record | None:
        """Read one paper's abstract page, or a list of papers."""
        record = _ABSTRACT.read(page, self.name, page.soup)
        if not record.title or not record.id:
            rows = zip(page.all("#articles dt, #dlpage dt"), page.all("#articles dd, #dlpage dd"),
                       strict=False)  # fmt: skip
            items = [_row(page, *row) for row in rows]
            items += [
                replace(found, text=found.text.removesuffix("△ Less").strip())
                for found in _RESULT.records(page, self.name)
            ]
            return listing(self.name, page.url, items, page.text("h1") or page.text("title"))
        names = (attribute(e, "content") for e in page.all("meta[name=citation_author]"))
        given = page.path[-1].rpartition("v")[2] if page.path else ""
        version = given if given.isdecimal() and "v" in page.path[-1] else None
        more = fields(
            version=record.fields.get("version") or version,
            versions=len(re.findall(r"\[v\d", page.text(".submission-history"))) or None,
            withdrawn="withdrawn" in record.fields.get("comments", "").lower() or None,
        )  # fmt: skip
        shown = page.text("blockquote.abstract").removeprefix("Abstract:").strip()
        return replace(
            record, text=shown or page.meta.get("citation_abstract", ""),
            author=", ".join(map(_plain_order, names)) or None,
            tags=tuple(_SUBJECT.findall(page.text("td.subjects"))),
            links=record.links or (Link(f"https://arxiv.org/pdf/{record.id}", "PDF"),),
            fields={**record.fields, **more},
        )  # fmt: skip


def _plain_order(name: str) -> str:
    family, comma, given = name.partition(",")
    return f"{given.strip()} {family.strip()}" if comma else name.strip()


def _row(page: SitePage, head: Tag, body: Tag) -> Record:
    """A new or recent paper of a subject."""
    address = page.link("a[href*='/abs/']", head)
    return replace(
        _ROW.read(page, "arxiv", body), url=address, id=address.partition("/abs/")[2] or None,
        tags=tuple(_SUBJECT.findall(page.text(".list-subjects", body))),
    )  # fmt: skip


class Scholar(Platform):
    """`.gs_r` entries: title, the line of authors, venue and host, the excerpt, the links below."""

    name = "google-scholar"
    hosts = ("scholar.google.com",)

    def owns(self, host: str) -> bool:
        """Its country hosts, too: `scholar.google.` and a top-level domain."""
        return re.fullmatch(r"scholar\.google(?:\.[a-z]{2,3}){1,2}", host) is not None

    def parse(self, page: SitePage) -> Record | None:
        """Read a page of results; `items` are the papers."""
        papers = (_paper(page, node) for node in page.all(".gs_ri:has(.gs_rt)"))
        asked = page.text("title").rpartition("- Google Scholar")[0].strip()
        title = page.attr("input[name=q]", "value") or asked or None
        return listing(self.name, page.url, papers, title)


def _paper(page: SitePage, node: Tag) -> Record:
    """A result; its byline is `A B, C D… - Venue, 2015 - host.org`."""
    authors, venue, *rest = [*re.split(r"\s+-\s+", page.text(".gs_a", node)), ""]
    year = re.findall(r"\b(?:1[5-9]|20)\d\d\b", venue)
    record = _PAPER.read(page, "google-scholar", node)
    pdf = page.link(".gs_ggs a, .gs_or_ggsm a", node.parent)
    kind = record.fields.get("type", "").lower()
    return replace(
        record, author=authors or None, published=year[-1] if year else None,
        fields=fields(venue=re.sub(r",?\s*\d{4}$", "", venue), site=rest[-2] if rest[1:] else "",
                      type=kind),
        links=(Link(pdf, "PDF"),) if pdf else (),
    )  # fmt: skip
