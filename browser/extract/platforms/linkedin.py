"""LinkedIn: articles and posts of its public pages."""

from __future__ import annotations

from dataclasses import replace

from browser.extract.platforms import Platform, Record, RecordPaths, SitePage

_ACCOUNT = "a[href*='/in/'], a[href*='/company/']@href -> /(?:in|company)/([^/?]+)"
_COMMENT = RecordPaths(
    "comment", "section.comment", text=".comment__message, .comment__text, .comment__body",
    author=".comment__actor-name, .comment__author", handle=_ACCOUNT,
    counts={"likes": ".comment__likes-count, .comment__reactions-count"},
    fields={"headline": ".comment__author-headline", "age": ".comment__duration-since, time"},
)  # fmt: skip
_POST = RecordPaths(
    "post", title="h1",
    text=".article-content__body, [data-test-id=main-feed-activity-card__commentary],"
    " .reader-content-blocks-container",
    counts={
        "likes": "[data-test-id=social-actions__reaction-count],"
        " .social-counts-reactions__social-counts-numRections",
        "replies": "[data-test-id=social-actions__comments], .social-action-counts__social-counts-"
        "item:not(.social-counts-reactions__social-counts-item)",
    },
)  # fmt: skip
_AUTHOR = RecordPaths(
    "author", ".base-main-card, [data-test-id=main-feed-activity-card__entity-lockup]",
    author="h3", handle=_ACCOUNT, published=".base-main-card__metadata, time",
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
        node = page.linked_data("Article", "SocialMediaPosting", "DiscussionForumPosting")
        block = page.soup.select_one(_AUTHOR.at)
        author = _AUTHOR.read(page, self.name, block) if block is not None else record
        return replace(
            record, kind="article" if place == "pulse" else "post", url=page.canonical,
            id=page.path[-1], author=node.author or author.author, handle=author.handle,
            published=node.date("datePublished") or author.published,
            modified=node.date("dateModified"), counts=node.counts or record.counts,
            fields=author.fields, items=_COMMENT.records(page, self.name),
        )  # fmt: skip
