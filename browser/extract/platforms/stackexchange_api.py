"""Stack Exchange's API: questions and answers, one or many."""

from __future__ import annotations

from html import unescape
from typing import Any

from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import Source, fields
from browser.extract.platforms.times import moment


def from_api(item: dict[str, Any]) -> Record:
    """A question or an answer; the answers of a question are its items."""
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
        items=tuple(from_api(answer) for answer in item.get("answers") or []),
    )  # fmt: skip


def _text(value: str | None) -> str | None:
    return unescape(value) if value else None
