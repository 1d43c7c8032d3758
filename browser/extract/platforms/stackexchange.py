"""Stack Overflow and the other Stack Exchange sites: questions with answers and comments."""

from __future__ import annotations

from dataclasses import replace

from browser.extract.platforms import DeclaredPlatform, RecordPaths

_LAST_SIGNATURE = ".post-signature:nth-last-child(1 of .post-signature)"
_STAT, _NUMBER = ".s-post-summary--stats-item", ".s-post-summary--stats-item-number"
_COMMENT = RecordPaths(
    "comment", "li.comment", id="@data-comment-id", text=".comment-copy", author=".comment-user",
    handle=r".comment-user@href -> /users/(\d+)",
    published=".comment-date .relativetime-clean@title || .comment-date [title]@title",
    counts={"points": ".comment-score"},
)  # fmt: skip
_ANSWER = RecordPaths(
    "answer", ".answer", id="@data-answerid", text=".s-prose",
    url="/a/{@data-answerid}",
    author=f"{_LAST_SIGNATURE} .user-details a"
    f" || {_LAST_SIGNATURE} .user-details:not(.community-wiki)",
    handle=rf"{_LAST_SIGNATURE} .user-details a@href -> /users/(\d+)",
    published=f"{_LAST_SIGNATURE} .relativetime@title -> ^[^,]+",
    modified=f"{_LAST_SIGNATURE.replace('(1', '(2')} .relativetime@title -> ^[^,]+",
    counts={"points": ".js-vote-count || @data-score", "bounty": ".bounty-award"},
    flags={"accepted": "@class -> accepted-answer", "wiki": ".community-wiki"}, items=(_COMMENT,),
)  # fmt: skip
_ENTRY = RecordPaths(
    "answer", "items", having="answer_id", id="answer_id", url="link", title="title", text="body",
    markup=True, author="owner.display_name", handle="owner.user_id", published="creation_date",
    modified="last_edit_date", parent="question_id", counts={"points": "score"},
    flags={"accepted": "is_accepted"},
)  # fmt: skip


def _in_question(paths: str) -> str:
    return " || ".join(f"#question {path}" for path in paths.split(" || "))


class StackExchange(DeclaredPlatform):
    """Uses `#question` and `.answer` blocks, `.s-post-summary` rows, and `items` from the API.

    If a post has several signatures, the last one is the author's; the others are editors'.
    """

    name = "stackexchange"
    hosts = ("stackoverflow.com", "stackexchange.com", "serverfault.com", "superuser.com",
             "askubuntu.com", "mathoverflow.net", "stackapps.com")  # fmt: skip
    verified = False
    entries = (replace(
        _ENTRY, kind="question", having="title question_id", id="question_id", parent="",
        tags="tags",
        counts={"points": "score", "answers": "answer_count", "views": "view_count"},
        fields={"accepted_answer": "accepted_answer_id", "closed": "closed_reason"},
        flags={}, items=(replace(_ENTRY, at="answers"),),
    ), _ENTRY)  # fmt: skip
    page = RecordPaths(
        "question", title="#question-header h1",
        id="#question@data-questionid", text="#question .s-prose",
        author=_in_question(_ANSWER.author), handle=_in_question(_ANSWER.handle),
        published=_in_question(_ANSWER.published),
        modified=_in_question(_ANSWER.modified), tags="#question .post-tag",
        counts={
            "points": "#question .js-vote-count",
            "bounty": "#question .bounty-award",
            "views": "[title^=Viewed]@title", "answers": "[data-answercount]@data-answercount",
        },
        fields={"notice": "#question aside.s-notice || #question .js-post-notice"},
        flags={"wiki": "#question .community-wiki"},
        items=(replace(_COMMENT, at="#question li.comment"), _ANSWER),
    )  # fmt: skip
    rows = RecordPaths(
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
