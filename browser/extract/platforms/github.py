"""GitHub: repositories, issues, pull requests, discussions and files, from their pages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.extract.platforms import (
    Platform,
    Record,
    RecordPaths,
    SitePage,
    attribute,
    find_objects,
    line,
    opened_by,
    parse_json,
)

if TYPE_CHECKING:
    from bs4 import Tag

_THREADS = {"issues": "issue", "pull": "pull_request", "discussions": "discussion"}
_BLOB = RecordPaths(
    "file", counts={"lines": "headerInfo.lineInfo.truncatedLoc"},
    fields={"repository": ":url -> //[^/]+/([^/]+/[^/]+)", "branch": ":url -> /blob/([^/?#]+)",
            "size": "headerInfo.blobSize", "language": "language"},
    flags={"lfs": "headerInfo.isGitLfs", "truncated": "truncated", "picture": "image"},
)  # fmt: skip
_REPOSITORY = RecordPaths(
    "repository", text="article.markdown-body", tags="a.topic-tag",
    counts={
        "stars": "#repo-stars-counter-star@title || #repo-stars-counter-star",
        "forks": "#repo-network-counter@title || #repo-network-counter",
        "watchers": "a[href$='/watchers'] strong",
        "issues": "#issues-repo-tab-count@title || #issues-repo-tab-count",
        "pull_requests": "#pull-requests-repo-tab-count@title || #pull-requests-repo-tab-count",
    },
    fields={
        "description": ".BorderGrid-cell p.f4",
        "homepage": ".BorderGrid-cell a[role=link][rel~=nofollow]@href",
        "language": ".BorderGrid-cell .color-fg-default.text-bold",
        "license": "a[href*='LICENSE'], a[data-analytics-event*=license]",
        "branch": "#branch-select-menu .css-truncate-target, [data-hotkey=w] span",
        "forked_from": "span.lh-condensed-ultra -> forked from (.+)",
        "release": "a[href*='/releases/tag/'] .text-bold",
    },
)  # fmt: skip
# The issue viewer's blocks, then the timeline blocks of pull requests and older issues.
_COMMENTS = "[data-testid^=comment-viewer-outer-box], .js-comment, .timeline-comment"
_ANCHOR = "[id^=issuecomment], [id^=discussion_r]"
_FILE_BOX = "#repo-content-pjax-container, .file, [data-testid=blob-viewer]"
_BODY = "[data-testid=issue-body]"
_COMMENT = RecordPaths(
    "comment", text=".markdown-body, .comment-body",
    published="relative-time, time@datetime",
    author="[data-testid=issue-body-header-author], [data-testid=avatar-link], a.author",
    fields={"hidden": ".minimized-comment summary"},
)  # fmt: skip
_THREAD = RecordPaths(
    "thread", title="[data-testid=issue-title], .js-issue-title, h1 .markdown-title",
    tags="[data-testid=issue-labels] a, .js-issue-labels a, .IssueLabel",
    counts={"commits": "#commits_tab_counter", "files": "#files_tab_counter"},
    fields={
        "state": "[data-testid=header-state], span.State",
        "base": ".commit-ref.base-ref, .base-ref", "head": ".head-ref",
        "milestone": "[data-testid=sidebar-milestones-section] a, .milestone-name",
        "assignees": "* .js-issue-assignees .assignee,"
        " [data-testid=issue-assignees] [data-testid=avatar-link]",
    },
    flags={"answered": ".discussion-answer, [data-answer]"},
)  # fmt: skip


class GitHub(Platform):
    """Uses React's `data-testid` blocks if present, or else the older CSS classes."""

    name = "github"
    hosts = ("github.com",)

    def owns(self, host: str) -> bool:
        """Match only github.com itself: its documentation, gists and API have other formats."""
        return host in {"github.com", "www.github.com"}

    def parse(self, page: SitePage) -> Record | None:
        """Read a page by its path: `/owner/name`, `…/issues/N`, `…/pull/N`, `…/blob/…`."""
        path = page.path
        if len(path) >= 4 and path[2] in _THREADS and path[3].isdecimal():
            return _thread(page, _THREADS[path[2]])
        if len(path) >= 4 and path[2] == "blob":
            return _file(page)
        return _repository(page) if len(path) == 2 or path[2:3] == ("tree",) else None


def _repository(page: SitePage) -> Record | None:
    record = _REPOSITORY.read(page, "github", page.soup)
    if not record.text and "description" not in record.fields:
        return None
    name = page.meta["octolytics-dimension-repository_nwo"] or "/".join(page.path[:2])
    owner, _, title = name.partition("/")
    flashes = (line(flash) for flash in page.soup.select(".flash-warn, .flash, [class*=Banner]"))
    archived = any("archived by the owner" in text for text in flashes) or None
    return record.updated(url=f"https://github.com/{name}", id=name, title=title, author=owner,
                          handle=owner, fields={"archived": archived})  # fmt: skip


def _thread(page: SitePage, kind: str) -> Record | None:
    """Read a conversation: its first post, then comments and reviews as items."""
    node = page.linked_data("DiscussionForumPosting", "QAPage")
    record, first = _THREAD.read(page, "github", page.soup), page.soup.select_one(_BODY)
    found = page.soup.select(_COMMENTS)
    known = set(map(id, found))
    outer = [block for block in found if not any(id(above) in known for above in block.parents)]
    posts = [post for block in outer if (post := _comment(page, block))]
    if first is not None:
        # If the first post has no text, a reply must not be mistaken for it.
        head = _comment(page, first)
        posts = [head, *posts] if head else []
    title = record.title or page.meta["og:title"].partition(" · ")[0]
    if not posts or not title:
        return None
    state = record.fields.get("state", "").lower().removeprefix("status:").strip()
    added, _, removed = page.text("#diffstat").replace("−", "-").partition("-")
    thread = opened_by(record, posts)
    return thread.updated(
        kind=kind, url=page.canonical, id=page.path[3], title=title,
        published=thread.published or node.date("datePublished"),
        counts={**node.counts, **record.counts,
                "additions": added.replace("+", ""), "deletions": removed},
        fields={"state": state, "repository": "/".join(page.path[:2]),
                "assignees": record.fields.get("assignees", "").replace("; ", ", ")},
    )  # fmt: skip


def _comment(page: SitePage, block: Tag) -> Record | None:
    record = _COMMENT.read(page, "github", block)
    if block.select_one(".markdown-body, .comment-body") is None:
        return None
    around = (block, *list(block.parents)[:2], block.select_one(_ANCHOR))
    ids = (attribute(node, "id") for node in around)
    name = next((n for n in ids if n.startswith(("issuecomment", "discussion_r"))), "")
    kind = "review_comment" if name.startswith("discussion_r") else "comment"
    return replace(record, kind=kind, id=name or None, handle=record.author)


def _file(page: SitePage) -> Record | None:
    """Read a file from the page's state or its rendered lines; the path is in the address."""
    scripts = page.soup.select("script[data-target='react-app.embeddedData']")
    states = find_objects([parse_json(script.get_text()) for script in scripts], "blob")
    blob: dict[str, Any] = next((n["blob"] for n in states if isinstance(n["blob"], dict)), {})
    record, name = _BLOB.read(page, "github", blob), "/".join(page.path[4:])
    lines, rich = blob.get("rawLines"), blob.get("richText")
    text = "\n".join(lines) if isinstance(lines, list) else _rendered_lines(page)
    if not text and isinstance(rich, str):
        text = page.body(rich)
    lfs = "lfs" in record.fields or "Stored with Git LFS" in page.text(_FILE_BOX)
    if not (text or lfs or "size" in record.fields):
        return None
    picture = blob.get("rawBlobUrl") if blob.get("image") else None
    return record.updated(
        url=page.url,
        id=name,
        title=name,
        text=text,
        counts={"lines": record.counts.get("lines") or (text.count("\n") + 1 if text else None)},
        fields={"lfs": lfs or None},
        media=(picture,) if picture else (),
    )


def _rendered_lines(page: SitePage) -> str:
    area = page.soup.select_one("#read-only-cursor-text-area")
    if area is not None and area.get_text().strip():
        return area.get_text().strip("\n")
    lines = page.soup.select("td.blob-code, .react-file-line")
    text = "\n".join(row.get_text().rstrip("\n") for row in lines)
    return text or page.body(page.soup.select_one("article.markdown-body"))
