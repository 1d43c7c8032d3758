"""When a question is split, and how a plan is parsed."""

from __future__ import annotations

import json

import pytest

from agent.loop.plan import read_plan, wants_plan


@pytest.mark.parametrize(
    "question",
    [
        "look at the market and then write a summary",
        "History of the pier and the light and their keepers",
        "Whole lists, and prices, then totals",
        "x" * 121,
        "Find a THEN b Finally c",
    ],
)
def test_compound_or_long_question_wants_plan(question):
    assert wants_plan(question)


@pytest.mark.parametrize(
    "question",
    [
        "short and sweet",
        "What is a and b and c?",
        "hey, do a and then b and then c",
        "  Who wrote it and then left and finally came back?",
        "price of a and b and c",
        "the sandy landing and bandstand",
        "How much is a and b and c " + "x" * 120,
    ],
)
def test_greeting_or_simple_question_wants_no_plan(question):
    assert not wants_plan(question)


def plan(*subtasks, decompose=True):
    return json.dumps({"decompose": decompose, "subtasks": list(subtasks)})


def test_plan_is_parsed_from_fenced_block_in_prose():
    reply = f"Here it is:\n```json\n{plan({'task': 'a'}, {'task': 'b', 'dependsOn': [0]})}\n```"
    assert [(s.task, s.depends_on) for s in read_plan(reply)] == [("a", ()), ("b", (0,))]


def test_only_earlier_subtasks_are_dependencies():
    rows = ({"task": "a", "dependsOn": [1]}, {"task": "b", "dependsOn": [1, 0, -1, "0", True]})
    assert [s.depends_on for s in read_plan(plan(*rows))] == [(), (0,)]


def test_dependency_numbers_as_strings_are_accepted():
    for number in (["0"], "0", 0):
        rows = ({"task": "a"}, {"task": "b", "dependsOn": number})
        assert read_plan(plan(*rows))[1].depends_on == (0,)
    rows = ({"task": "a"}, {"task": "b", "dependsOn": ["0"]})
    assert [s.depends_on for s in read_plan(plan(*rows))] == [(), (0,)]


@pytest.mark.parametrize(
    "reply",
    [
        "no",
        "{}",
        "[1]",
        '{"decompose":false}',
        '{"decompose":true,"subtasks":"a"}',
        '{"decompose":true,"subtasks":[{"task":"a"},{"no":"b"}]}',
        plan({"task": "a"}),
        plan(*[{"task": "a"}] * 5),
        plan({"task": "a"}, {"task": "b"}, decompose=False),
    ],
)
def test_invalid_plan_is_empty(reply):
    assert read_plan(reply) == []
