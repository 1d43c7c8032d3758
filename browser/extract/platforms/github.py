"""GitHub: repositories, issues, pull requests, discussions and files, from pages and the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.extract.platforms.base import Platform
from browser.extract.platforms.github_api import from_api
from browser.extract.platforms.github_file import read_file
from browser.extract.platforms.github_thread import THREADS, read_thread
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.tree import text_content

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_ABOUT = ".BorderGrid-cell p.f4, [itemprop=about], .repository-meta-content"
_LANGUAGE = ".BorderGrid-cell .color-fg-default.text-bold, .lang"


class GitHub(Platform):
    """React's `data-testid` blocks where there are some, the older classes elsewhere."""

    name = "github"
    hosts = ("github.com", "gist.github.com")

    def claims(self, source: Source) -> bool:
        """Pages of github.com itself and its API; its documentation has a form of its own."""
        return source.host in {"github.com", "www.github.com", "api.github.com"}

    def owns(self, host: str) -> bool:
        """The sites that `claims` knows."""
        return host in {"github.com", "www.github.com"}

    def parse(self, source: Source) -> Record | None:
        """Read by the path: `/owner/name`, `…/issues/N`, `…/pull/N`, `…/blob/…`."""
        path = source.path
        if source.json is not None and source.host == "api.github.com":
            return from_api(source)
        if len(path) >= 4 and path[2] in THREADS and path[3].isdecimal():
            return read_thread(source, THREADS[path[2]])
        if len(path) >= 4 and path[2] == "blob":
            return read_file(source)
        return _repository(source) if len(path) == 2 or path[2:3] == ("tree",) else None


def _repository(source: Source) -> Record | None:
    name = source.meta.get("octolytics-dimension-repository_nwo") or "/".join(source.path[:2])
    readme = source.first("article.markdown-body")
    about = source.text(_ABOUT)
    if readme is None and not about:
        return None
    owner, _, title = name.partition("/")
    return Record(
        "github", "repository", f"https://github.com/{name}", id=name, title=title,
        text=source.body(readme), author=owner, handle=owner,
        counts=counts(
            stars=_count(source, "#repo-stars-counter-star, .social-count[href$=stargazers]"),
            forks=_count(source, "#repo-network-counter, .social-count[href$=network]"),
            watchers=number(source.text("a[href$='/watchers'] strong")),
            issues=_count(source, "#issues-repo-tab-count"),
            pull_requests=_count(source, "#pull-requests-repo-tab-count"),
        ),
        fields=fields(
            description=about, homepage=source.link(".BorderGrid-cell a[role=link][rel~=nofollow]"),
            language=source.text(_LANGUAGE),
            license=source.text("a[href*='LICENSE'] , a[data-analytics-event*=license]"),
            branch=source.text("#branch-select-menu .css-truncate-target, [data-hotkey=w] span"),
            archived="true" if _is_archived(source) else None,
            forked_from=_origin(source.text(".fork-flag, span.lh-condensed-ultra")),
            release=source.text("a[href*='/releases/tag/'] .text-bold, "
                                ".BorderGrid-cell a[href*='/releases/tag/'] span.css-truncate"),
        ),
        tags=tuple(text_content(tag) for tag in source.all("a.topic-tag")),
    )  # fmt: skip


def _is_archived(source: Source) -> bool:
    flashes = (text_content(e) for e in source.all(".flash-warn, .flash, [class*=Banner]"))
    return any("archived by the owner" in said for said in flashes)


def _origin(said: str) -> str:
    mark, found, name = said.partition("forked from")
    return name.strip() if found and not mark else ""


def _count(source: Source, css: str) -> int | None:
    return number(source.attr(css, "title") or source.text(css))
