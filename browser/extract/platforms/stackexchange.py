"""Stack Exchange sites: a question with its answers, from the page or the API."""

from __future__ import annotations

from html import unescape
from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import Source, fields
from browser.extract.platforms.times import moment
from browser.net.url import join

if TYPE_CHECKING:
    from lxml import etree

_USER = ".user-details a"
_ASKED = "time[itemprop=dateCreated]"


class StackExchange(Platform):
    """`#question` and `.answer` blocks; `items` of the API."""

    name = "stackexchange"
    hosts = ("stackoverflow.com", "stackexchange.com", "serverfault.com", "superuser.com",
             "askubuntu.com", "mathoverflow.net", "stackapps.com")  # fmt: skip
    verified = False

    def parse(self, source: Source) -> Record | None:
        """Read a question page, or the questions and answers of an API reply."""
        if isinstance(source.json, dict) and "items" in source.json:
            items = tuple(_from_api(item) for item in source.json["items"])
            return (
                items[0]
                if len(items) == 1
                else Record(self.name, "listing", source.url, items=items)
            )
        question = source.first("#question")
        title = source.text("#question-header h1, h1[itemprop=name]")
        if question is None or not title:
            return None
        head = _post(source, question, "question")
        return Record(
            self.name, "question", source.canonical, id=question.get("data-questionid"),
            title=title, text=head.text, author=head.author, handle=head.handle,
            published=head.published or iso_date(source.attr(_ASKED, "datetime")),
            modified=head.modified, counts=head.counts,
            tags=tuple("".join(map(str, e.itertext())) for e in source.all(".post-tag", question)),
            items=tuple(_post(source, node, "answer") for node in source.all(".answer")),
        )  # fmt: skip


def _post(source: Source, node: etree._Element, kind: str) -> Record:
    name = node.get("data-answerid")
    signatures = source.all(".post-signature.owner", node) or source.all(".post-signature", node)
    signature = signatures[-1] if signatures else None
    author = source.text(_USER, signature) or None if signature is not None else None
    times = [e.get("title") or "" for e in source.all(".post-signature .relativetime", node)]
    accepted = kind == "answer" and "accepted-answer" in (node.get("class") or "").split()
    profile = source.attr(_USER, "href", signature) if signature is not None else ""
    return Record(
        "stackexchange", kind, join(source.url, f"/a/{name}") if name else "", id=name,
        text=source.body(source.first(".s-prose, .post-text", node)), author=author,
        handle=profile.split("/")[2] if profile.startswith("/users/") else None,
        published=_utc(times[-1]) if times else None,
        modified=_utc(times[0]) if len(times) > 1 else None,
        counts=counts(points=source.text(".js-vote-count", node) or node.get("data-score")),
        fields=fields(accepted="true" if accepted else None),
    )  # fmt: skip


def _utc(title: str) -> str | None:
    return iso_date(title.partition(",")[0])


def _from_api(item: dict[str, Any]) -> Record:
    owner = item.get("owner") or {}
    answered = "answer_id" in item
    body = Source("", "").body
    return Record(
        "stackexchange", "answer" if answered else "question", item.get("link") or "",
        id=str(item.get("answer_id") or item.get("question_id")), title=_text(item.get("title")),
        text=body(item.get("body") or ""), author=_text(owner.get("display_name")),
        handle=str(owner["user_id"]) if "user_id" in owner else None,
        published=moment(item.get("creation_date")),
        modified=moment(item.get("last_edit_date")),
        parent=str(item["question_id"]) if answered and "question_id" in item else None,
        counts=counts(points=item.get("score"), answers=item.get("answer_count"),
                      views=item.get("view_count")),
        fields=fields(accepted="true" if item.get("is_accepted") else None),
        tags=tuple(item.get("tags") or ()),
        items=tuple(_from_api(answer) for answer in item.get("answers") or []),
    )  # fmt: skip


def _text(value: str | None) -> str | None:
    return unescape(value) if value else None
