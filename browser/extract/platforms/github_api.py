"""Replies of GitHub's REST API: repositories, issues, pull requests, comments, files."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source


def from_api(source: Source) -> Record | None:
    """Read one object, or a list of them, also as searches give it."""
    data = source.json
    rows = data.get("items") if isinstance(data, dict) and "items" in data else data
    if isinstance(rows, list):
        return listing("github", source.url, filter(None, map(_record, rows)))
    return _record(rows)


def _record(row: Any) -> Record | None:
    if not isinstance(row, dict):
        return None
    if "full_name" in row:
        return _repository(row)
    if "number" in row and "title" in row:
        return _thread(row)
    if "content" in row and row.get("encoding") == "base64":
        return _file(row)
    return _comment(row) if "body" in row and "user" in row else None


def _repository(row: dict[str, Any]) -> Record:
    owner = (row.get("owner") or {}).get("login")
    return Record(
        "github", "repository", row.get("html_url") or "", id=row["full_name"],
        title=row.get("name"), text=row.get("description") or "", author=owner, handle=owner,
        published=_date(row, "created_at"), modified=_date(row, "pushed_at"),
        counts=counts(stars=row.get("stargazers_count"), forks=row.get("forks_count"),
                      watchers=row.get("subscribers_count"), issues=row.get("open_issues_count")),
        fields=fields(
            description=row.get("description"), homepage=row.get("homepage"),
            language=row.get("language"), license=(row.get("license") or {}).get("spdx_id"),
            branch=row.get("default_branch"), archived="true" if row.get("archived") else None,
            forked_from=(row.get("parent") or {}).get("full_name"),
        ),
        tags=tuple(row.get("topics") or ()),
    )  # fmt: skip


def _thread(row: dict[str, Any]) -> Record:
    pull = row.get("pull_request") or ("head" in row and row) or {}
    state = "merged" if pull.get("merged_at") else "draft" if row.get("draft") else row.get("state")
    author = (row.get("user") or {}).get("login")
    return Record(
        "github", "pull_request" if pull else "issue", row.get("html_url") or "",
        id=str(row["number"]), title=row["title"], text=row.get("body") or "", author=author,
        handle=author, published=_date(row, "created_at"), modified=_date(row, "updated_at"),
        counts=counts(comments=row.get("comments"), additions=row.get("additions"),
                      deletions=row.get("deletions"), files=row.get("changed_files"),
                      commits=row.get("commits")),
        fields=fields(
            state=state, reason=row.get("state_reason"), closed=_date(row, "closed_at"),
            base=(row.get("base") or {}).get("ref"), head=(row.get("head") or {}).get("ref"),
            assignees=", ".join(user["login"] for user in row.get("assignees") or []),
            milestone=(row.get("milestone") or {}).get("title"),
        ),
        tags=tuple(label["name"] for label in row.get("labels") or [] if isinstance(label, dict)),
    )  # fmt: skip


def _comment(row: dict[str, Any]) -> Record:
    author = (row.get("user") or {}).get("login")
    return Record(
        "github", "review_comment" if "diff_hunk" in row else "comment", row.get("html_url") or "",
        id=str(row.get("id")), text=row.get("body") or "", author=author, handle=author,
        published=_date(row, "created_at"), modified=_date(row, "updated_at"),
        fields=fields(path=row.get("path")),
    )  # fmt: skip


def _file(row: dict[str, Any]) -> Record | None:
    try:
        text = base64.b64decode(row["content"]).decode("utf-8", "replace")
    except binascii.Error:
        return None
    return Record(
        "github", "file", row.get("html_url") or "", id=row.get("path"), title=row.get("path"),
        text=text, fields=fields(size=row.get("size")),
    )  # fmt: skip


def _date(row: dict[str, Any], key: str) -> str | None:
    return iso_date(row.get(key) or "")
