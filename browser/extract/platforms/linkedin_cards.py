"""LinkedIn's public pages of people, companies and jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.jsonld import names, text_of
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.postings import date_of, first_node, node_of, statistics
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

CARDS = {"in": "profile", "company": "company", "school": "company", "jobs": "job"}
"""The kind of record by the first part of the path."""
_TITLE = ".top-card-layout__title, .topcard__title, h1"
_ABOUT = (
    "[data-section=summary] .core-section-container__content, [data-test-id=about-us__description],"
    " .description__text .show-more-less-html__markup, .show-more-less-html__markup"
)


def read_card(source: Source, kind: str) -> Record | None:
    """Read what is shown without an account; None where that is only the wall."""
    node = node_of(source, "Person", "Organization", "JobPosting")
    title = source.text(_TITLE)
    known = source.first(".top-card-layout, .topcard, .top-card__title") is not None
    if not title or not (node or known):
        return None
    place = node.get("address") or first_node(node.get("jobLocation")).get("address")
    return Record(
        "linkedin", kind, source.canonical, title=title, id=source.path[-1],
        text=source.body(source.first(_ABOUT)) or text_of(node.get("description")),
        author=", ".join(names(node.get("hiringOrganization"))) or None,
        handle=source.path[-1] if kind != "job" else None, published=date_of(node, "datePosted"),
        counts=statistics(node)
        or counts(followers=source.text(".top-card__subline-item--followers") or None,
                  employees=first_node(node.get("numberOfEmployees")).get("value")),
        fields=fields(
            headline=source.text(".top-card-layout__headline, .topcard__flavor"),
            place=_place(place) or source.text(".top-card__subline-item, .topcard__flavor--bullet"),
            works_for=", ".join(names(node.get("worksFor"))),
            studied=", ".join(names(node.get("alumniOf"))),
            until=date_of(node, "validThrough"), employment=text_of(node.get("employmentType")),
            website=text_of(node.get("sameAs")) if kind == "company" else None,
        ),
    )  # fmt: skip


def _place(address: Any) -> str:
    parts = (
        first_node(address).get(key)
        for key in ("addressLocality", "addressRegion", "addressCountry")
    )
    return ", ".join(text for part in parts if (text := text_of(part)))
