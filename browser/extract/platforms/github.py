"""GitHub: repositories, issues, pull requests and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.postings import date_of, node_of, statistics
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.tree import text_content

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_THREADS = {"issues": "issue", "pull": "pull_request", "discussions": "discussion"}
# The issue viewer's blocks, then the timeline's of pull requests and older issues.
_BODY = "[data-testid=issue-body], .js-discussion .timeline-comment, .timeline-comment"
_COMMENTS = "[data-testid^=comment-viewer-outer-box], .js-comment, .timeline-comment"
_AUTHOR = "[data-testid=issue-body-header-author], [data-testid=avatar-link], a.author"
_TIME = "relative-time, time-ago, time"
_MARKDOWN = ".markdown-body, .comment-body"
_STATE = "[data-testid=header-state], .gh-header-meta .State, span.State"


class GitHub(Platform):
    """React's `data-testid` blocks where there are some, the older classes elsewhere."""

    name = "github"
    hosts = ("github.com", "gist.github.com")

    def claims(self, source: Source) -> bool:
        """Pages of github.com itself; its API and documentation have forms of their own."""
        return source.host in {"github.com", "www.github.com"}

    def parse(self, source: Source) -> Record | None:
        """Read by the path: `/owner/name`, `…/issues/N`, `…/pull/N`, `…/blob/…`."""
        path = source.path
        if len(path) >= 4 and path[2] in _THREADS and path[3].isdecimal():
            return _thread(source, _THREADS[path[2]])
        if len(path) >= 4 and path[2] == "blob":
            return _file(source)
        return _repository(source) if len(path) == 2 or path[2:3] == ("tree",) else None


def _thread(source: Source, kind: str) -> Record | None:
    node = node_of(source, "DiscussionForumPosting", "QAPage")
    blocks = _blocks(source)
    first = source.first(_BODY) if source.first("[data-testid=issue-body]") is not None else None
    head = _comment(source, first) if first is not None else blocks.pop(0) if blocks else None
    title = source.text("[data-testid=issue-title], .js-issue-title") or _headline(source)
    if head is None or not title:
        return None
    labels = source.all("[data-testid=issue-labels] a, .js-issue-labels a, .IssueLabel")
    return Record(
        "github", kind, source.canonical, id=source.path[3], title=title, text=head.text,
        author=head.author, handle=head.handle,
        published=head.published or date_of(node, "datePublished"),
        counts=statistics(node), tags=tuple(text_content(label) for label in labels),
        fields=fields(state=source.text(_STATE).lower(), repository="/".join(source.path[:2])),
        items=tuple(blocks),
    )  # fmt: skip


def _blocks(source: Source) -> list[Record]:
    found = source.all(_COMMENTS)
    outer = [block for block in found if not any(a in found for a in block.iterancestors())]
    return [record for block in outer if (record := _comment(source, block))]


def _comment(source: Source, block: etree._Element) -> Record | None:
    body = source.first(_MARKDOWN, block)
    if body is None:
        return None
    author = source.text(_AUTHOR, block) or None
    name = _anchor(block) or source.attr("[id^=issuecomment], [id^=discussion_r]", "id", block)
    return Record(
        "github", "review_comment" if name.startswith("discussion_r") else "comment",
        id=name or None, text=source.body(body), author=author, handle=author,
        published=iso_date(source.attr(_TIME, "datetime", block)),
    )  # fmt: skip


def _anchor(block: etree._Element) -> str:
    own = (block, *list(block.iterancestors())[:2])
    ids = (node.get("id") or "" for node in own)
    return next((name for name in ids if name.startswith(("issuecomment", "discussion_r"))), "")


def _headline(source: Source) -> str:
    return source.meta.get("og:title", "").partition(" · ")[0]


def _repository(source: Source) -> Record | None:
    name = source.meta.get("octolytics-dimension-repository_nwo") or "/".join(source.path[:2])
    readme = source.first("article.markdown-body")
    about = source.text(".BorderGrid-cell p.f4, [itemprop=about], .repository-meta-content")
    if readme is None and not about:
        return None
    return Record(
        "github", "repository", f"https://github.com/{name}", id=name, title=name.partition("/")[2],
        text=source.body(readme), author=name.partition("/")[0], handle=name.partition("/")[0],
        counts=counts(
            stars=_count(source, "#repo-stars-counter-star, .social-count[href$=stargazers]"),
            forks=_count(source, "#repo-network-counter, .social-count[href$=network]"),
            watchers=number(source.text("a[href$='/watchers'] strong")),
            issues=_count(source, "#issues-repo-tab-count"),
            pull_requests=_count(source, "#pull-requests-repo-tab-count"),
        ),
        fields=fields(
            description=about, homepage=source.link(".BorderGrid-cell a[role=link][rel~=nofollow]"),
            language=source.text(".BorderGrid-cell .color-fg-default.text-bold, .lang"),
            license=source.text("a[href*='LICENSE'] , a[data-analytics-event*=license]"),
            branch=source.text("#branch-select-menu .css-truncate-target, [data-hotkey=w] span"),
        ),
        tags=tuple(text_content(tag) for tag in source.all("a.topic-tag")),
    )  # fmt: skip


def _count(source: Source, css: str) -> int | None:
    return number(source.attr(css, "title") or source.text(css))


def _file(source: Source) -> Record | None:
    lines = source.all("td.blob-code, .react-file-line, #read-only-cursor-text-area")
    text = "\n".join("".join(map(str, line.itertext())).rstrip("\n") for line in lines)
    text = text or source.body(source.first("article.markdown-body"))
    name = "/".join(source.path[4:])
    return Record("github", "file", source.url, id=name, title=name, text=text) if text else None
