"""Stack Exchange: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from tests.browser.extract.platforms.reading import parsed


def test_stack_exchange_question_and_answers() -> None:
    page = """<div id=question-header><h1>How to splice?</h1></div><div id=question data-questionid=4><div class=js-vote-count>12</div><div class=s-prose><p>Rope.</p></div><a class=post-tag>rope</a>
    <div class="post-signature owner"><span class=relativetime title="2024-05-03 08:00:00Z">x</span><div class=user-details><a href="/users/1/ann">Ann</a></div></div></div>
    <div class="answer accepted-answer" data-answerid=5><div class=js-vote-count>3</div><div class=s-prose><p>So.</p></div></div>"""
    question = parsed("https://sailing.stackexchange.com/questions/4/how", page)
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
