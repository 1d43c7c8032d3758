"""Question files: the formats that people use, and errors reported by position."""

from __future__ import annotations

import csv
import json

import pytest

from agent.errors import UsageError
from agent.jobs.batch import Batch, read_batch


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
def test_all_batch_formats_yield_same_question_and_options(tmp_path, name, text):
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
        ("d.jsonl", '{"question": \n', "line 1: not valid JSON"),
        ("e.txt", "# nothing\n", "contains no questions"),
    ],
)
def test_invalid_batch_file_error_names_position(tmp_path, name, text, said):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read_batch(tmp_path / name, {})


async def test_batch_results_keep_file_order_and_are_escaped(harness, tmp_path):
    (tmp_path / "q.csv").write_text("question\n=Who keeps the light?\nWho <b>else</b>?\n")
    items = read_batch(tmp_path / "q.csv", {**harness.model, "memory": False})
    batch, out = Batch(harness.jobs, items, tmp_path / "out"), tmp_path / "out"
    assert batch.enqueue(2) == 0
    async with harness.working(queues=[batch.queue]):
        jobs = await harness.ended(*batch.jobs())
    assert batch.enqueue(2) == 2  # answered questions are not asked again
    batch.write()
    lines = (out / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["question"] for line in lines] == [item.question for item in items]
    [first, _] = csv.DictReader((out / "results.csv").read_text().splitlines())
    assert first["question"] == "'=Who keeps the light?"  # not a spreadsheet formula
    [row, _] = csv.DictReader((out / "runs.csv").read_text().splitlines())
    assert (row["run"], row["state"]) == (jobs[0].run, "done")
    pages = [page.read_text() for page in sorted(out.rglob("*.html"))]
    assert len(pages) == 3
    assert not any("<b>else" in page for page in pages)
    assert not any(job.run in text for job in jobs for text in (*lines, *pages))
