"""Site parsers that only declare paths; no saved pages were available for testing them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms import DeclaredPlatform, Record, RecordPaths
from browser.net.url import registrable_domain

if TYPE_CHECKING:
    from browser.extract.platforms import SitePage


class Amazon(DeclaredPlatform):
    """Uses element ids that have been stable for a decade; in reviews, `data-hook` attributes."""

    name = "amazon"
    hosts = ("amazon.com",)
    verified = False
    page = RecordPaths(
        "product", title="#productTitle",
        id="input#ASIN@value || :url -> /([A-Z0-9]{10})(?:[/?]|$)",
        text="#feature-bullets || #productDescription || #bookDescription_feature_div",
        # A book's authors, or else the product's brand, if the shop link contains nothing else.
        author="#bylineInfo .author a || #bylineInfo -> ^(?:Brand|Marke|Marque ?): *(.+)"
        " || #bylineInfo -> ^Visit the (.+) Store$",
        counts={"ratings": "#acrCustomerReviewText"},
        fields={
            "price": "#corePrice_feature_div .a-offscreen"
            " || #corePriceDisplay_desktop_feature_div .a-offscreen || .priceToPay .a-offscreen"
            " || #priceblock_ourprice || #price || #kindle-price",
            "list_price": ".basisPrice .a-offscreen", "rating": "#acrPopover .a-icon-alt",
            "availability": "#availability span", "seller": "#sellerProfileTriggerId",
            "brand": ".po-brand td:last-child",
        },
        tags="#wayfinding-breadcrumbs_container a",
        media="#landingImage@data-old-hires || #landingImage@src || #imgBlkFront@src",
        items=(RecordPaths(
            "review", "[data-hook=review]", id="@id", author=".a-profile-name",
            title="[data-hook=review-title] > span:not(.a-letter-space)",
            text="[data-hook=review-body]",
            counts={"helpful": "[data-hook=helpful-vote-statement]"},
            fields={"rating": "[data-hook$=star-rating] .a-icon-alt",
                    "date": "[data-hook=review-date]"},
            flags={"verified": "[data-hook=avp-badge]"},
        ),),
    )  # fmt: skip

    def owns(self, host: str) -> bool:
        """Also match national hosts: `amazon.`, optionally `co.` or `com.`, and a country code."""
        name, _, ending = registrable_domain(host).partition(".")
        return name == "amazon" and ending.removeprefix("com.").removeprefix("co.").isalpha()


class PubMed(DeclaredPlatform):
    """Uses `citation_*` meta elements, the abstract's blocks, and `.full-docsum` result rows."""

    name = "pubmed"
    hosts = ("pubmed.ncbi.nlm.nih.gov", "pmc.ncbi.nlm.nih.gov")
    verified = False
    page = RecordPaths(
        "paper", title="meta[name=citation_title]@content || h1.heading-title",
        id="meta[name=citation_pmid]@content || .current-id",
        text="#eng-abstract || #abstract .abstract-content || section.abstract",
        author="meta[name=citation_authors]@content || .authors-list",
        published="meta[name=citation_publication_date]@content || meta[name=citation_date]@content"
        " || .cit",
        links={"PDF": "meta[name=citation_pdf_url]@content"},
        fields={
            "journal": "meta[name=citation_journal_title]@content",
            "doi": "meta[name=citation_doi]@content || .identifier.doi .id-link",
            "pmc": ".identifier.pmc .id-link", "citation": ".article-source .cit || .cit",
            "types": "* #publication-types .keyword-actions-trigger",
            "mesh": "* #mesh-terms .keyword-actions-trigger",
        },
        flags={"retracted": ".retraction-banner, #retraction-in"},
        items=(RecordPaths("reference", "#references ol > li", text="", title="",
                           url="a.reference-link"),),
    )  # fmt: skip
    rows = RecordPaths(
        "paper", "article.full-docsum", id=".docsum-pmid", url="a.docsum-title",
        title="a.docsum-title", text=".full-view-snippet",
        author=".full-authors || .docsum-authors",
        fields={"citation": ".full-journal-citation || .docsum-journal-citation"},
    )  # fmt: skip


class OpenReview(DeclaredPlatform):
    """Reads notes and their replies; `content` fields may be wrapped in `value` objects."""

    name = "openreview"
    hosts = ("openreview.net",)
    verified = False
    entries = (RecordPaths(
        "paper", "**", having="id content", id="id", url="https://openreview.net/forum?id={id}",
        title="content.title.value || content.title",
        text="content.abstract.value || content.abstract || content.review.value"
        " || content.comment.value || content.comment || content.summary.value",
        author="signatures", published="pdate || cdate", modified="mdate",
        parent="replyto", tags="content.keywords.value || content.keywords",
        fields={
            "authors": "content.authors.value || content.authors", "number": "number",
            "venue": "content.venue.value || content.venue",
            "decision": "content.decision.value || content.decision",
            "rating": "content.rating.value || content.rating",
            "confidence": "content.confidence.value || content.confidence",
        },
        links={"PDF": "https://openreview.net{content.pdf.value || content.pdf}"},
    ),)  # fmt: skip
    page = RecordPaths(
        "paper", id=":url -> [?&]id=([^&]+)", title="meta[name=citation_title]@content",
        author="meta[name=citation_author]@content",
        published="meta[name=citation_online_date]@content",
        text="", links={"PDF": "meta[name=citation_pdf_url]@content"},
    )  # fmt: skip

    def parse(self, page: SitePage) -> Record | None:
        """Read a submission with its reviews, a list of submissions, or the meta elements."""
        record = super().parse(page)
        heads = [item for item in record.items if not item.parent] if record else []
        if record is None or len(heads) != 1:
            return _with_signature(record) if record else None
        rest = (replace(item, kind="reply") for item in record.items if item is not heads[0])
        return replace(_with_signature(heads[0]), items=tuple(map(_with_signature, rest)))


def _with_signature(record: Record) -> Record:
    """Set a record's author: a submission's authors, or the last part of a reply's signature."""
    fields = dict(record.fields)
    author = fields.pop("authors", None) or (record.author or "").rpartition("/")[2]
    return replace(record, author=author.replace("_", " ") or None, fields=fields,
                   items=tuple(map(_with_signature, record.items)))  # fmt: skip
