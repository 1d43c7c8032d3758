"""LinkedIn: public articles and posts with their comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.linkedin_cards import CARDS, read_card
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.postings import author_of, date_of, node_of, statistics
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_BODY = (
    ".article-content__body, [data-test-id=main-feed-activity-card__commentary],"
    " .reader-content-blocks-container, .feed-shared-update-v2__description,"
    " .update-components-text"
)
_CARD = ".base-main-card, [data-test-id=main-feed-activity-card__entity-lockup]"
_REACTIONS = (
    "[data-test-id=social-actions__reaction-count],"
    " .social-counts-reactions__social-counts-numRections"
)
_REPLIES = (
    "[data-test-id=social-actions__comments],"
    " .social-action-counts__social-counts-item:not(.social-counts-reactions__social-counts-item)"
)
_LIKES = ".comment__likes-count, .comment__reactions-count"
_MESSAGE = ".comment__message, .comment__text, .comment__body"


class LinkedIn(Platform):
    """The pages that are shown without an account; the wall has none of their parts."""

    name = "linkedin"
    hosts = ("linkedin.com",)

    def parse(self, source: Source) -> Record | None:
        """Read an article, a post, or the public card of a person, company or job."""
        body, place = source.first(_BODY), "".join(source.path[:1])
        if place in CARDS:
            return read_card(source, CARDS[place])
        if body is None or place not in {"pulse", "posts", "feed"}:
            return None
        node = node_of(source, "Article", "SocialMediaPosting", "DiscussionForumPosting")
        kind = "article" if place == "pulse" else "post"
        author, _ = author_of(node)
        card = source.first(_CARD)
        return Record(
            self.name, kind, source.canonical, id=source.path[-1],
            title=source.text("h1") or None, text=source.body(body),
            author=author or (source.text("h3", card) or None if card is not None else None),
            handle=_account(source, card),
            published=date_of(node, "datePublished") or iso_date(_published(source, card)),
            modified=date_of(node, "dateModified"),
            counts=statistics(node)
            or counts(likes=source.text(_REACTIONS) or None, replies=source.text(_REPLIES) or None),
            fields=fields(headline=source.text("h4", card) if card is not None else None),
            items=tuple(_comment(source, part) for part in source.all("section.comment")
                        if source.first(_MESSAGE, part) is not None),
        )  # fmt: skip


def _account(source: Source, card: etree._Element | None) -> str | None:
    link = source.link("a[href*='/in/'], a[href*='/company/']", card) if card is not None else ""
    return link.partition("?")[0].rstrip("/").rpartition("/")[2] or None


def _published(source: Source, card: etree._Element | None) -> str:
    return source.text(".base-main-card__metadata, time", card) if card is not None else ""


def _comment(source: Source, part: etree._Element) -> Record:
    return Record(
        "linkedin", "comment",
        text=source.body(source.first(_MESSAGE, part)),
        author=source.text(".comment__actor-name, .comment__author", part) or None,
        handle=_account(source, part),
        fields=fields(headline=source.text(".comment__author-headline", part),
                      age=source.text(".comment__duration-since, time", part)),
        counts=counts(likes=source.text(_LIKES, part) or None),
    )  # fmt: skip
