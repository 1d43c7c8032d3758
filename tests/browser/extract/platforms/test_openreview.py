"""OpenReview: each field, from notes in both versions of its API."""

from __future__ import annotations

from typing import Any

from browser.types import Link
from tests.browser.extract.platforms.reading import parsed, state

LONG = (
    "The authors measured tides in one harbour only, which leaves the claim about all of them open."
)
PAPER: dict[str, Any] = {
    "id": "AbC1", "forum": "AbC1", "number": 12, "cdate": 1_714_723_200_000,
    "mdate": 1_714_809_600_000,
    "content": {
        "title": {"value": "On tides"}, "authors": {"value": ["Ann Rower", "Jo Mole"]},
        "abstract": {"value": "Tides rise."}, "keywords": {"value": ["tide", "moon"]},
        "venue": {"value": "ICTM 2024 Oral"}, "pdf": {"value": "/pdf/1.pdf"},
        "TLDR": {"value": "They do."},
    },
}  # fmt: skip
REVIEW: dict[str, Any] = {
    "id": "r1", "forum": "AbC1", "replyto": "AbC1", "cdate": 1_714_809_600_000,
    "invitations": ["ICTM.cc/2024/Conference/Submission12/-/Official_Review"],
    "signatures": ["ICTM.cc/2024/Conference/Submission12/Reviewer_x7Yz"],
    "content": {
        "summary": {"value": LONG}, "weaknesses": {"value": "One\nharbour."},
        "rating": {"value": "6: marginally above"}, "confidence": {"value": 4},
    },
}  # fmt: skip
COMMENT: dict[str, Any] = {
    "id": "c1", "forum": "AbC1", "replyto": "r1",
    "invitations": ["ICTM.cc/2024/Conference/Submission12/-/Official_Comment"],
    "signatures": ["ICTM.cc/2024/Conference/Submission12/Authors"],
    "content": {"title": {"value": "Reply"}, "comment": {"value": f"{LONG} We agree."}},
}  # fmt: skip


def test_a_forum_with_a_review_and_the_answer_to_it() -> None:
    paper = parsed("https://api2.openreview.net/notes", {"notes": [PAPER, REVIEW, COMMENT]})

    assert (paper.kind, paper.id, paper.title) == ("paper", "AbC1", "On tides")
    assert paper.url == "https://openreview.net/forum?id=AbC1"
    assert (paper.author, paper.text) == ("Ann Rower, Jo Mole", "Tides rise.")
    assert paper.published == "2024-05-03T08:00:00+00:00"
    assert paper.modified == "2024-05-04T08:00:00+00:00"
    assert paper.tags == ("tide", "moon")
    assert paper.links == (Link("https://openreview.net/pdf/1.pdf", "PDF"),)
    assert paper.fields == {"number": "12", "venue": "ICTM 2024 Oral", "TLDR": "They do."}
    review, comment = paper.items
    assert (review.kind, review.author, review.parent) == (
        "official_review", "Reviewer x7Yz", None,
    )  # fmt: skip
    assert review.fields == {"rating": "6: marginally above", "confidence": "4"}
    assert review.text == f"## summary\n\n{LONG}\n\n## weaknesses\n\nOne\nharbour."
    assert (comment.kind, comment.parent, comment.title) == ("official_comment", "r1", "Reply")
    assert comment.text == f"{LONG} We agree."


def test_the_older_notes_without_wrapped_values() -> None:
    note = {
        "id": "B2", "forum": "B2", "content": {"title": "On moons", "keywords": "moon"},
    }  # fmt: skip
    answer = {
        "id": "d", "forum": "B2", "replyto": "B2", "invitation": "X/-/Decision",
        "content": {"decision": "Reject"}, "signatures": ["X/Program_Chairs"],
    }  # fmt: skip
    paper = parsed("https://api.openreview.net/notes?forum=B2", {"notes": [note, answer]})

    assert (paper.title, paper.tags, paper.author) == ("On moons", ("moon",), None)
    assert [(r.kind, r.fields) for r in paper.items] == [("decision", {"decision": "Reject"})]


def test_the_page_carries_the_submission_in_its_state_or_its_meta_elements() -> None:
    own = {key: value for key, value in PAPER.items() if key != "forum"}
    page = parsed("https://openreview.net/forum?id=AbC1", state({"forumNote": own}))
    assert (page.id, page.title) == ("AbC1", "On tides")

    meta = """<meta name=citation_title content="On tides"><meta name=citation_author
    content="Ann Rower"><meta name=citation_online_date content="2024/05/03">"""
    plain = parsed("https://openreview.net/forum?noteId=XyZ9&id=AbC1&referrer=x", meta)
    assert (plain.id, plain.author, plain.published) == ("AbC1", "Ann Rower", "2024-05-03")
