"""Stack Exchange: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.extract.platforms.site_record import facts
from tests.browser.extract.platforms.reading import parse_record


def test_question_page_yields_answers_and_accepted_answer() -> None:
    page = """<div id=question-header><h1>How to splice?</h1></div><div id=question data-questionid=4><div class=js-vote-count>12</div><div class=s-prose><p>Rope.</p></div><a class=post-tag>rope</a>
    <div class="post-signature owner"><span class=relativetime title="2024-05-03 08:00:00Z">x</span><div class=user-details><a href="/users/1/ann">Ann</a></div></div></div>
    <div class="answer accepted-answer" data-answerid=5><div class=js-vote-count>3</div><div class=s-prose><p>So.</p></div><div class=post-signature><div class=user-details><a href="/users/2/bo">Bo</a></div></div></div>"""
    question = parse_record("https://sailing.stackexchange.com/questions/4/how", page)
    assert (question.id, question.title, question.text, question.author, question.handle) == (
        "4",
        "How to splice?",
        "Rope.",
        "Ann",
        "1",
    )
    assert (question.published, question.counts, question.tags) == (
        "2024-05-03T08:00:00+00:00",
        {"points": 12},
        ("rope",),
    )
    answer = question.items[0]
    assert (answer.id, answer.text, answer.counts, answer.fields) == (
        "5",
        "So.",
        {"points": 3},
        {"accepted": "true"},
    )
    assert facts(question)["accepted answer"] == "Bo (@2)"


QUESTION = """<div id=question-header><h1>How to splice?</h1></div><div title="Viewed 12,345 times">Viewed 12k times</div><div id=answers-header><h2 data-answercount=2>2 Answers</h2></div>
<div id=question data-questionid=4><aside class="s-notice js-post-notice"><b>Closed.</b> This question needs focus.</aside><div class=js-vote-count>-3</div><div class=s-prose><p>Rope.</p></div>{signatures}
<ul><li class=comment data-comment-id=9><div class=comment-score><span>5</span></div><span class=comment-copy>Which <b>rope</b>?</span><a href="/users/2/bo" class=comment-user>Bo</a><span class=comment-date><span title="2024-05-04 08:00:00Z, License: CC BY-SA 4.0" class=relativetime-clean>x</span></span></li></ul></div>
<div class=answer data-answerid=5 data-score=0><div class=s-prose><p>So.</p></div><div class=post-signature><div class="user-details community-wiki"><span class=community-wiki>Community wiki</span></div></div></div>
<div class=answer data-answerid=6><div class=s-prose><p>Or so.</p></div><span class=bounty-award>+50</span><div class=post-signature><span class=relativetime title="2024-05-05 08:00:00Z"></span><div class=user-details>user12</div></div></div>"""
SIGNATURES = """<div class=post-signature>edited <span class=relativetime title="2024-06-01 08:00:00Z"></span><div class=user-details><a href="/users/3/cy">Cy</a></div></div>
<div class="post-signature owner">asked <span class=relativetime title="2024-05-03 08:00:00Z"></span><div class=user-details><a href="/users/1/ann">Ann</a></div></div>"""


def test_closed_question_without_accepted_answer() -> None:
    question = parse_record(
        "https://stackoverflow.com/questions/4/how", QUESTION.format(signatures=SIGNATURES)
    )
    assert (question.author, question.handle) == ("Ann", "1")
    assert question.published == "2024-05-03T08:00:00+00:00"
    assert question.modified == "2024-06-01T08:00:00+00:00"
    assert question.counts == {"points": -3, "views": 12345, "answers": 2}
    assert question.fields == {"notice": "Closed. This question needs focus."}
    remark, wiki, deleted = question.items
    assert (remark.kind, remark.text, remark.author, remark.handle) == (
        "comment",
        "Which rope?",
        "Bo",
        "2",
    )
    assert (remark.counts, remark.published) == ({"points": 5}, "2024-05-04T08:00:00+00:00")
    assert (wiki.author, wiki.fields, wiki.counts) == (None, {"wiki": "true"}, {"points": 0})
    assert (deleted.author, deleted.handle, deleted.counts) == ("user12", None, {"bounty": 50})


def test_question_list_is_parsed() -> None:
    page = """<title>Newest</title><div class=s-post-summary data-post-id=4><div class=s-post-summary--stats><div class=s-post-summary--stats-item><span class=s-post-summary--stats-item-number>-1</span></div><div class="s-post-summary--stats-item has-accepted-answer"><span class=s-post-summary--stats-item-number>2</span></div>
    <div class=s-post-summary--stats-item title="1,234 views"><span class=s-post-summary--stats-item-number>1k</span></div></div><h3><a href="/questions/4/how">How to splice?</a></h3><div class=s-post-summary--content-excerpt>Rope.</div><a class=post-tag>rope</a>
    <div class=s-user-card--link><a href="/users/1/ann">Ann</a></div><time class=s-user-card--time><span class=relativetime title="2024-05-03 08:00:00Z"></span></time></div>"""
    (row,) = parse_record("https://stackoverflow.com/questions", page).items
    assert (row.id, row.title, row.text, row.author) == ("4", "How to splice?", "Rope.", "Ann")
    assert row.url == "https://stackoverflow.com/questions/4/how"
    assert row.counts == {"points": -1, "answers": 2, "views": 1234}
    assert (row.published, row.fields, row.tags) == (
        "2024-05-03T08:00:00+00:00",
        {"answered": "true"},
        ("rope",),
    )


def test_api_question_yields_answers() -> None:
    question = {"question_id": 4, "title": "How &amp; why?", "link": "https://stackoverflow.com/q/4", "owner": {"user_id": 1, "display_name": "Ann"}, "creation_date": 1714723200, "score": 3, "view_count": 9, "answer_count": 1, "tags": ["rope"],
                "body": "<p>Rope.</p>", "accepted_answer_id": 5, "answers": [{"answer_id": 5, "question_id": 4, "body": "<p>So.</p>", "is_accepted": True, "owner": {"display_name": "user12"}}]}  # fmt: skip
    record = parse_record("https://api.stackexchange.com/2.3/questions/4", {"items": [question]})
    assert (record.title, record.text, record.handle) == ("How & why?", "Rope.", "1")
    assert record.counts == {"points": 3, "answers": 1, "views": 9}
    assert record.fields == {"accepted_answer": "5"}
    (answer,) = record.items
    assert (answer.author, answer.handle, answer.parent) == ("user12", None, "4")
    assert answer.fields == {"accepted": "true"}
