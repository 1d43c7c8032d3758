"""GitHub's conversations: issues, pull requests and discussions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.postings import date_of, node_of, statistics
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.tree import text_content

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

THREADS = {"issues": "issue", "pull": "pull_request", "discussions": "discussion"}
"""The kind of record by the third part of the path."""
# The issue viewer's blocks, then the timeline's of pull requests and older issues.
_BODY = "[data-testid=issue-body], .js-discussion .timeline-comment, .timeline-comment"
_COMMENTS = "[data-testid^=comment-viewer-outer-box], .js-comment, .timeline-comment"
_AUTHOR = "[data-testid=issue-body-header-author], [data-testid=avatar-link], a.author"
_TIME = "relative-time, time-ago, time"
_MARKDOWN = ".markdown-body, .comment-body"
_STATE = "[data-testid=header-state], .gh-header-meta .State, span.State"
_TITLE = "[data-testid=issue-title], .js-issue-title, h1 .markdown-title"
_ASSIGNED = ".js-issue-assignees .assignee, [data-testid=issue-assignees] [data-testid=avatar-link]"
_MILESTONE = "[data-testid=sidebar-milestones-section] a, .milestone-name"


def read_thread(source: Source, kind: str) -> Record | None:
    """Read a conversation: its first post, then comments and reviews as items."""
    node = node_of(source, "DiscussionForumPosting", "QAPage")
    blocks = _blocks(source)
    first = source.first(_BODY) if source.first("[data-testid=issue-body]") is not None else None
    head = _comment(source, first) if first is not None else blocks.pop(0) if blocks else None
    title = source.text(_TITLE) or source.meta.get("og:title", "").partition(" · ")[0]
    if head is None or not title:
        return None
    labels = source.all("[data-testid=issue-labels] a, .js-issue-labels a, .IssueLabel")
    return Record(
        "github", kind, source.canonical, id=source.path[3], title=title, text=head.text,
        author=head.author, handle=head.handle,
        published=head.published or date_of(node, "datePublished"),
        counts={**statistics(node), **_changes(source)},
        tags=tuple(dict.fromkeys(text_content(label) for label in labels)),
        fields=fields(
            state=_state(source), repository="/".join(source.path[:2]),
            base=source.text(".commit-ref.base-ref, .base-ref"), head=source.text(".head-ref"),
            milestone=source.text(_MILESTONE),
            assignees=", ".join(text_content(e) for e in source.all(_ASSIGNED)),
            answered="true" if source.first(".discussion-answer, [data-answer]") is not None
            else None,
        ),
        items=tuple(blocks),
    )  # fmt: skip


def _state(source: Source) -> str:
    """`open`, `closed`, `merged`, `draft`; `not planned` and `duplicate` where it is said why."""
    shown = source.first(_STATE)
    if shown is None:
        return ""
    return text_content(shown).lower().removeprefix("status:").strip()


def _changes(source: Source) -> dict[str, int]:
    stat = source.text("#diffstat, .diffstat")
    added, _, removed = stat.replace("−", "-").partition("-")
    return counts(
        commits=source.text("#commits_tab_counter") or None,
        files=source.text("#files_tab_counter") or None,
        additions=number(added.replace("+", "")) if stat else None,
        deletions=number(removed) if stat else None,
    )


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
    hidden = source.text(".minimized-comment summary", block)
    return Record(
        "github", "review_comment" if name.startswith("discussion_r") else "comment",
        id=name or None, text=source.body(body), author=author, handle=author,
        published=iso_date(source.attr(_TIME, "datetime", block)), fields=fields(hidden=hidden),
    )  # fmt: skip


def _anchor(block: etree._Element) -> str:
    own = (block, *list(block.iterancestors())[:2])
    ids = (node.get("id") or "" for node in own)
    return next((name for name in ids if name.startswith(("issuecomment", "discussion_r"))), "")
