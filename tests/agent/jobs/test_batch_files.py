"""Files of questions: the forms that people have, and what is wrong with one, by its place."""

from __future__ import annotations

import pytest

from agent.errors import UsageError
from agent.jobs.batch import read_batch


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'question,depth\n"Who, and when?",quick\n'),
        ("b.csv", "\ufeffquestion;depth\nWho, and when?;quick\n"),
        ("c.csv", "depth\tquestion\nquick\tWho, and when?\n"),
        ("d.jsonl", '{"question": "Who, and when?", "depth": "quick"}\n\n'),
        ("e.yaml", "questions:\n- {question: 'Who, and when?', depth: quick}\n"),
    ],
)
def test_each_form_gives_the_same_question_with_its_flag(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    [item] = read_batch(tmp_path / name, {"depth": "deep", "memory": False})
    assert (item.question, item.options) == (
        "Who, and when?",
        {"depth": "quick", "memory": False},
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "name,depth\nWho?,quick\n", "no column `question`"),
        ("b.csv", "question,depth\nWho?,quick,more\n", "row 2: more fields"),
        ("c.yaml", "- question: Who?\n  dept: quick\n", "entry 1: dept"),
        ("d.jsonl", '{"question": \n', "line 1: no JSON"),
        ("e.txt", "# nothing\n", "holds no questions"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, name, text, said):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read_batch(tmp_path / name, {})
