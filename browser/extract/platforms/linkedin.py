"""LinkedIn: public articles and posts with their comments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms.embedded import (
    author_of,
    node_date,
    node_of,
    statistics,
)
from browser.extract.platforms.paths import RecordPaths
from browser.extract.platforms.site import Platform

if TYPE_CHECKING:
    from browser.extract.platforms.record import Record
    from browser.extract.platforms.site import SitePage

_ACCOUNT = "a[href*='/in/'], a[href*='/company/']@href -> /(?:in|company)/([^/?]+)"
_HEAD = ".base-main-card, [data-test-id=main-feed-activity-card__entity-lockup]"
_COMMENT = RecordPaths(
    "comment", "section.comment", text=".comment__message, .comment__text, .comment__body",
    author=".comment__actor-name, .comment__author", handle=_ACCOUNT,
    counts={"likes": ".comment__likes-count, .comment__reactions-count"},
    fields={"headline": ".comment__author-headline", "age": ".comment__duration-since, time"},
)  # fmt: skip
_POST = RecordPaths(
    "post", title="h1",
    text=".article-content__body, [data-test-id=main-feed-activity-card__commentary],"
    " .reader-content-blocks-container, .feed-shared-update-v2__description,"
    " .update-components-text",
    counts={
        "likes": "[data-test-id=social-actions__reaction-count],"
        " .social-counts-reactions__social-counts-numRections",
        "replies": "[data-test-id=social-actions__comments], .social-action-counts__social-counts-"
        "item:not(.social-counts-reactions__social-counts-item)",
    },
)  # fmt: skip
_LOCKUP = RecordPaths(
    "lockup", author="h3", handle=_ACCOUNT, published=".base-main-card__metadata, time",
    fields={"headline": "h4"},
)  # fmt: skip


class LinkedIn(Platform):
    """The pages that are shown without an account; the wall has none of their parts."""

    name = "linkedin"
    hosts = ("linkedin.com",)

    def parse(self, page: SitePage) -> Record | None:
        """Read an article or a post."""
        place = "".join(page.path[:1])
        record = _POST.read(page, self.name, page.soup)
        if not record.text or place not in {"pulse", "posts", "feed"}:
            return None
        node = node_of(page, "Article", "SocialMediaPosting", "DiscussionForumPosting")
        block = page.first(_HEAD)
        head = _LOCKUP.read(page, self.name, block) if block is not None else record
        return replace(
            record, kind="article" if place == "pulse" else "post", url=page.canonical,
            id=page.path[-1], author=author_of(node)[0] or head.author,
            handle=head.handle,
            published=node_date(node, "datePublished") or head.published,
            modified=node_date(node, "dateModified"), counts=statistics(node) or record.counts,
            fields=head.fields, items=_COMMENT.records(page, self.name),
        )  # fmt: skip
