"""Stack Exchange sites: questions with their answers, from pages and the API; lists."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.drawn import Drawn
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.platforms.stackexchange_api import from_api
from browser.extract.tree import raw_text
from browser.net.url import join

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_USER = ".user-details a, .user-details [itemprop=name]"
_ASKED = "time[itemprop=dateCreated]"
_NOTICE = "aside.s-notice, .js-post-notice, .question-status"
_STAT, _NUMBER = ".s-post-summary--stats-item", ".s-post-summary--stats-item-number"
_NAME = re.compile(r"/users/(\d+)")

_REMARK = Drawn(
    "comment",
    id="@data-comment-id",
    text=".comment-copy",
    author=".comment-user",
    handle=r".comment-user@href -> /users/(\d+)",
    published=".comment-date .relativetime-clean@title || .comment-date [title]@title",
    counts={"points": ".comment-score"},
)
_SUMMARY = Drawn(
    "question",
    at=".s-post-summary",
    id="@data-post-id",
    url="h3 a",
    title="h3 a",
    text=".s-post-summary--content-excerpt",
    author=".s-user-card--link",
    handle=r".s-user-card--link a@href -> /users/(\d+)",
    published=".s-user-card--time .relativetime@title",
    counts={
        "points": f"{_STAT}:nth-child(1) {_NUMBER}",
        "answers": f"{_STAT}:nth-child(2) {_NUMBER}",
        "views": f"{_STAT}[title$=views]@title || {_STAT}:nth-child(3) {_NUMBER}",
    },
    flags={"answered": ".has-accepted-answer"},
    tags=".post-tag",
)


class StackExchange(Platform):
    """`#question` and `.answer` blocks; `.s-post-summary` rows; `items` of the API."""

    name = "stackexchange"
    hosts = ("stackoverflow.com", "stackexchange.com", "serverfault.com", "superuser.com",
             "askubuntu.com", "mathoverflow.net", "stackapps.com")  # fmt: skip
    verified = False

    def parse(self, source: Source) -> Record | None:
        """Read a question page, a list of questions, or an API reply."""
        if isinstance(source.json, dict) and "items" in source.json:
            items = tuple(from_api(item) for item in source.json["items"])
            return items[0] if len(items) == 1 else listing(self.name, source.url, items)
        question = source.first("#question")
        title = source.text("#question-header h1, h1[itemprop=name]")
        if question is None or not title:
            return _listing(source)
        head = _post(source, question, "question")
        answers = source.attr("#answers-header [data-answercount]", "data-answercount") or None
        return replace(
            head, url=source.canonical, title=title, id=question.get("data-questionid"),
            published=head.published or iso_date(source.attr(_ASKED, "datetime")),
            counts={**head.counts, **counts(views=source.attr("[title^=Viewed]", "title") or None,
                                            answers=answers)},
            fields={**head.fields, **fields(notice=source.text(_NOTICE, question))},
            tags=tuple(raw_text(e).strip() for e in source.all(".post-tag", question)),
            items=(*head.items, *(_post(source, n, "answer") for n in source.all(".answer"))),
        )  # fmt: skip


def _post(source: Source, node: etree._Element, kind: str) -> Record:
    """A question or an answer; of its signatures the owner's, or the last, is its author's."""
    name = node.get("data-answerid")
    signatures = source.all(".post-signature.owner", node) or source.all(".post-signature", node)
    author, handle = _author(source, signatures[-1] if signatures else None)
    times = [e.get("title") or "" for e in source.all(".post-signature .relativetime", node)]
    accepted = kind == "answer" and "accepted-answer" in (node.get("class") or "").split()
    wiki = source.first(".community-wiki", node) is not None
    return Record(
        "stackexchange", kind, join(source.url, f"/a/{name}") if name else "", id=name,
        text=source.body(source.first(".s-prose, .post-text", node)), author=author, handle=handle,
        published=_utc(times[-1]) if times else None,
        modified=_utc(times[0]) if len(times) > 1 else None,
        counts=counts(points=source.text(".js-vote-count", node) or node.get("data-score"),
                      bounty=source.text(".bounty-award, .js-bounty-award", node) or None),
        fields=fields(accepted="true" if accepted else None, wiki="true" if wiki else None),
        items=tuple(
            replace(_REMARK.read(source, "stackexchange", part), parent=name)
            for part in source.all("li.comment", node)
        ),
    )  # fmt: skip


def _author(source: Source, signature: etree._Element | None) -> tuple[str | None, str | None]:
    """Name and number; a deleted account has a name without a profile, a wiki neither."""
    if signature is None or source.first(".community-wiki", signature) is not None:
        return None, None
    details = source.first(".user-details", signature)
    shown = source.text(_USER, signature)
    name = shown or (details.text or "").strip() if details is not None else shown
    profile = _NAME.search(source.attr(_USER, "href", signature))
    return name or None, profile[1] if profile else None


def _utc(title: str) -> str | None:
    return iso_date(title.partition(",")[0])


def _listing(source: Source) -> Record | None:
    rows = (row for row in _SUMMARY.records(source, "stackexchange") if row.title)
    return listing("stackexchange", source.url, rows, source.text("title"))
