"""Stack Exchange sites: questions with their answers, from pages and the API; lists."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import Source, fields
from browser.extract.platforms.times import moment
from browser.extract.tree import raw_text
from browser.net.url import join

if TYPE_CHECKING:
    from lxml import etree

_USER = ".user-details a, .user-details [itemprop=name]"
_ASKED = "time[itemprop=dateCreated]"
_NOTICE = "aside.s-notice, .js-post-notice, .question-status"
_NAME = re.compile(r"/users/(\d+)")


class StackExchange(Platform):
    """`#question` and `.answer` blocks; `.s-post-summary` rows; `items` of the API."""

    name = "stackexchange"
    hosts = ("stackoverflow.com", "stackexchange.com", "serverfault.com", "superuser.com",
             "askubuntu.com", "mathoverflow.net", "stackapps.com")  # fmt: skip
    verified = False

    def parse(self, source: Source) -> Record | None:
        """Read a question page, a list of questions, or an API reply."""
        if isinstance(source.json, dict) and "items" in source.json:
            items = tuple(_from_api(item) for item in source.json["items"])
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
        items=tuple(_remark(source, part, name) for part in source.all("li.comment", node)),
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


def _remark(source: Source, node: etree._Element, answered: str | None) -> Record:
    profile = _NAME.search(source.attr(".comment-user", "href", node))
    return Record(
        "stackexchange", "comment", id=node.get("data-comment-id"), parent=answered,
        text=source.text(".comment-copy", node), author=source.text(".comment-user", node) or None,
        handle=profile[1] if profile else None,
        published=_utc(source.attr(".comment-date .relativetime-clean, .comment-date [title]",
                                   "title", node)),
        counts=counts(points=source.text(".comment-score", node) or None),
    )  # fmt: skip


def _utc(title: str) -> str | None:
    return iso_date(title.partition(",")[0])


def _listing(source: Source) -> Record | None:
    rows = source.all(".s-post-summary")
    items = (_summary(source, row) for row in rows if source.text("h3 a", row))
    return listing("stackexchange", source.url, items, source.text("title"))


def _summary(source: Source, row: etree._Element) -> Record:
    stats = [raw_text(e).strip() for e in source.all(".s-post-summary--stats-item-number", row)]
    points, answers, views = (*stats, None, None, None)[:3]
    profile = _NAME.search(source.attr(".s-user-card--link a", "href", row))
    exact = source.attr(".s-post-summary--stats-item[title$=views]", "title", row)
    return Record(
        "stackexchange", "question", source.link("h3 a", row), id=row.get("data-post-id"),
        title=source.text("h3 a", row), text=source.text(".s-post-summary--content-excerpt", row),
        author=source.text(".s-user-card--link", row) or None,
        handle=profile[1] if profile else None,
        published=_utc(source.attr(".s-user-card--time .relativetime", "title", row)),
        counts=counts(points=points, answers=answers, views=exact or views),
        fields=fields(answered="true" if source.all(".has-accepted-answer", row) else None),
        tags=tuple(raw_text(e).strip() for e in source.all(".post-tag", row)),
    )  # fmt: skip


def _from_api(item: dict[str, Any]) -> Record:
    owner = item.get("owner") or {}
    answered = "answer_id" in item
    body = Source("", "").body
    return Record(
        "stackexchange", "answer" if answered else "question", item.get("link") or "",
        id=str(item.get("answer_id") or item.get("question_id")), title=_text(item.get("title")),
        text=body(item.get("body") or ""), author=_text(owner.get("display_name")),
        handle=str(owner["user_id"]) if "user_id" in owner else None,
        published=moment(item.get("creation_date")), modified=moment(item.get("last_edit_date")),
        parent=str(item["question_id"]) if answered and "question_id" in item else None,
        counts=counts(points=item.get("score"), answers=item.get("answer_count"),
                      views=item.get("view_count")),
        fields=fields(accepted="true" if item.get("is_accepted") else None,
                      accepted_answer=item.get("accepted_answer_id"),
                      closed=item.get("closed_reason")),
        tags=tuple(item.get("tags") or ()),
        items=tuple(_from_api(answer) for answer in item.get("answers") or []),
    )  # fmt: skip


def _text(value: str | None) -> str | None:
    return unescape(value) if value else None
