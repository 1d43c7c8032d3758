"""Stack Exchange sites: questions with their answers, from pages and the API; lists."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Any

from browser.extract.platforms.paths import RecordPaths
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.site import Platform, attribute
from browser.extract.platforms.values import date_of, fields
from browser.net.url import join

if TYPE_CHECKING:
    from bs4 import Tag

    from browser.extract.platforms.site import SitePage

_USER = ".user-details a, .user-details [itemprop=name]"
_STAT, _NUMBER = ".s-post-summary--stats-item", ".s-post-summary--stats-item-number"
_REMARK = RecordPaths(
    "comment", "li.comment", id="@data-comment-id", text=".comment-copy", author=".comment-user",
    handle=r".comment-user@href -> /users/(\d+)",
    published=".comment-date .relativetime-clean@title || .comment-date [title]@title",
    counts={"points": ".comment-score"},
)  # fmt: skip
_POST = RecordPaths(
    "post", text=".s-prose, .post-text",
    counts={"points": ".js-vote-count || @data-score",
            "bounty": ".bounty-award, .js-bounty-award"},
    flags={"wiki": ".community-wiki"}, items=(_REMARK,),
)  # fmt: skip
_QUESTION = RecordPaths(
    "question", title="#question-header h1, h1[itemprop=name]",
    published="time[itemprop=dateCreated]@datetime", tags="#question .post-tag",
    counts={"views": "[title^=Viewed]@title", "answers": "[data-answercount]@data-answercount"},
    fields={"notice": "#question aside.s-notice, #question .js-post-notice, .question-status"},
)  # fmt: skip
_SUMMARY = RecordPaths(
    "question", ".s-post-summary", id="@data-post-id", url="h3 a", title="h3 a",
    text=".s-post-summary--content-excerpt", author=".s-user-card--link",
    handle=r".s-user-card--link a@href -> /users/(\d+)",
    published=".s-user-card--time .relativetime@title",
    counts={
        "points": f"{_STAT}:nth-child(1) {_NUMBER}",
        "answers": f"{_STAT}:nth-child(2) {_NUMBER}",
        "views": f"{_STAT}[title$=views]@title || {_STAT}:nth-child(3) {_NUMBER}",
    },
    flags={"answered": ".has-accepted-answer"}, tags=".post-tag",
)  # fmt: skip
_ENTRY = RecordPaths(
    "question", id="answer_id || question_id", url="link", title="title", text="body", markup=True,
    author="owner.display_name", handle="owner.user_id", published="creation_date",
    modified="last_edit_date", tags="tags",
    counts={"points": "score", "answers": "answer_count", "views": "view_count"},
    fields={"accepted_answer": "accepted_answer_id", "closed": "closed_reason"},
    flags={"accepted": "is_accepted"},
)  # fmt: skip


class StackExchange(Platform):
    """`#question` and `.answer` blocks; `.s-post-summary` rows; `items` of the API."""

    name = "stackexchange"
    hosts = ("stackoverflow.com", "stackexchange.com", "serverfault.com", "superuser.com",
             "askubuntu.com", "mathoverflow.net", "stackapps.com")  # fmt: skip
    verified = False

    def parse(self, page: SitePage) -> Record | None:
        """Read a question page, a list of questions, or an API reply."""
        if isinstance(page.json, dict) and "items" in page.json:
            items = tuple(_entry(page, item) for item in page.json["items"])
            return items[0] if len(items) == 1 else listing(self.name, page.url, items)
        node, question = page.first("#question"), _QUESTION.read(page, self.name, page.soup)
        if node is None or not question.title:
            return listing(self.name, page.url, _SUMMARY.records(page, self.name),
                           page.text("title"))  # fmt: skip
        head = _post(page, node, "question")
        answers = (_post(page, answer, "answer") for answer in page.all(".answer"))
        return replace(
            head, url=page.canonical, title=question.title, id=attribute(node, "data-questionid"),
            published=head.published or question.published, tags=question.tags,
            counts={**head.counts, **question.counts}, fields={**head.fields, **question.fields},
            items=(*head.items, *answers),
        )  # fmt: skip


def _entry(page: SitePage, item: dict[str, Any]) -> Record:
    """A question or an answer of the API; the answers of a question are its items."""
    record, answer = _ENTRY.read(page, "stackexchange", item), "answer_id" in item
    return replace(
        record, kind="answer" if answer else "question",
        title=unescape(record.title) if record.title else None,
        author=unescape(record.author) if record.author else None,
        parent=str(item["question_id"]) if answer and "question_id" in item else None,
        items=tuple(_entry(page, inner) for inner in item.get("answers") or []),
    )  # fmt: skip


def _post(page: SitePage, node: Tag, kind: str) -> Record:
    """A question or an answer; of its signatures the owner's, or the last, is its author's."""
    name = attribute(node, "data-answerid") or None
    signatures = page.all(".post-signature.owner", node) or page.all(".post-signature", node)
    author, handle = _author(page, signatures[-1]) if signatures else (None, None)
    times = [attribute(e, "title") for e in page.all(".post-signature .relativetime", node)]
    record = _POST.read(page, "stackexchange", node)
    accepted = kind == "answer" and "accepted-answer" in attribute(node, "class").split()
    return replace(
        record, kind=kind, url=join(page.url, f"/a/{name}") if name else "", id=name,
        author=author, handle=handle,
        published=date_of(times[-1].partition(",")[0]) if times else None,
        modified=date_of(times[0].partition(",")[0]) if len(times) > 1 else None,
        fields={**fields(accepted=accepted or None), **record.fields},
        items=tuple(replace(remark, parent=name) for remark in record.items),
    )  # fmt: skip


def _author(page: SitePage, signature: Tag) -> tuple[str | None, str | None]:
    """Name and number; a deleted account has a name without a profile, a wiki neither."""
    details = page.first(".user-details", signature)
    if details is None or page.first(".community-wiki", signature) is not None:
        return None, None
    bare = next(
        (s.strip() for s in details.find_all(string=True, recursive=False) if s.strip()), ""
    )
    profile = page.attr(_USER, "href", signature).partition("/users/")[2].partition("/")[0]
    return page.text(_USER, signature) or bare or None, profile or None
