"""Judging by a cross-encoder in a folder: what it is asked, and what its answers become."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from agent.errors import UsageError
from agent.evidence import Evidence, check_answer
from agent.guard import Budget
from agent.guard.model_client import ModelClient
from agent.journal import Runs
from agent.models import Message, Task, takes
from agent.models.entailment import EntailmentModel
from agent.models.resolve import model_of_file
from agent.review.judge import judge, judge_system, open_claims
from agent.run.record import RunRecord
from agent.run.replay import replay
from browser.types import Document, Outcome, Page
from tests.agent.models.tiny import LABELS, build

TEXT = (
    "The keepers of Hesk Light left the tower in 1964, when its lamp became automatic. "
    "Visitors climb the 166 steps on Sundays."
)
CARRIED = "The lamp became automatic when the keepers left the tower."
DENIED = "Sheep do not graze near the tower on Sundays."
OPEN = "Sheep graze around the tower all year."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def evidence():
    page = Page(
        requested_url="https://isles.test/light",
        url="https://isles.test/light",
        via="http",
        outcome=Outcome.OK,
        fetched_at=datetime(2026, 11, 21, tzinfo=UTC),
        document=Document(url="https://isles.test/light", title="Hesk Light", text=TEXT),
    )
    evidence = Evidence()
    evidence.add(page)
    return evidence


@pytest.fixture
def judged(folder, evidence):
    """Have an answer judged as a run does; gives its sentences, and what was asked."""

    async def judging(*claims):
        answer = " ".join(f"{claim} [S1]" for claim in claims)
        asked = []
        model = EntailmentModel(str(folder))
        asker = ModelClient(model, judge_system(), Budget(), lambda *e, **d: asked.append((e, d)))
        verdicts = await judge(asker, "judge/1", open_claims(answer, evidence), evidence)
        return check_answer(answer, evidence, verdicts).sentences, asked

    return judging


async def test_undecided_claims_are_decided_from_their_passages(judged):
    sentences, _ = await judged(CARRIED, DENIED, OPEN)
    verdicts = [(s.verdict.value, s.decided_by) for s in sentences]
    assert verdicts == [("supported", "judge"), ("contradicted", "judge"), ("undecided", "judge")]


async def test_what_stands_there_literally_is_never_asked_about(judged):
    (sentence, _), asked = await judged("Visitors climb the 166 steps on Sundays.", CARRIED)
    assert (sentence.verdict.value, sentence.decided_by) == ("supported", "code")
    assert "Claim 2" not in json.dumps([d for _, d in asked])


async def test_the_quote_is_the_sentence_that_carries_it(folder, evidence):
    answer = f"{CARRIED} [S1]"
    asker = ModelClient(EntailmentModel(str(folder)), "", Budget(), lambda *_, **__: None)
    verdicts = await judge(asker, "judge/1", open_claims(answer, evidence), evidence)
    (source,) = check_answer(answer, evidence, verdicts).sources
    assert source.quotes == [TEXT.partition(" Visitors")[0]]


async def test_long_passages_are_cut_to_what_the_model_takes(folder):
    text = " ".join(f"Sentence {n} is about sheep." for n in range(400))
    request = f"Claim 1: Sentence 399 is about its sheep.\n<web>\n(Sheep) {text}\n</web>"
    reply = await EntailmentModel(str(folder)).reply("", [Message("user", request)])
    assert reply.text == '1: supported "Sentence 399 is about sheep."'


def test_it_is_asked_to_judge_and_for_nothing_else(folder):
    model = model_of_file(f"entailment:{folder}")
    assert [task for task in Task if takes(model, task)] == [Task.JUDGE]


async def test_a_run_is_judged_without_a_word_sent_and_replays(
    ask, script, site, folder, tmp_path, events
):
    claim = "First lit on 1 November 1829, Hesk Light is the oldest."
    model = script(f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>', f"{claim} [S1]")
    report = await ask(model=model, judge=f"entailment:{folder}")
    assert [(s.verdict.value, s.decided_by) for s in report.sentences] == [("supported", "judge")]
    assert report.usage.model == model
    spoke = {e.place: e.data["model"] for e in events(report) if e.type == "model.reply"}
    assert spoke["judge/1"] == "entailment:tiny"
    again = await replay(RunRecord.read(Runs(tmp_path / "data").find(report.run)))
    assert again.to_json(exclude={"elapsed_s"}) == report.to_json(exclude={"elapsed_s"})


def test_a_model_that_only_judges_answers_no_question(run, folder, web):
    done = run("When?", "--model", f"entailment:{folder}", *web)
    assert done.returncode == 2
    assert "judges claims, and answers no questions" in done.stderr
    assert "--judge" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("config.json", None, "has no config.json"),
        ("config.json", "{", "is no JSON"),
        ("config.json", "{}", "names no labels, and no entailment"),
        ("config.json", '{"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}', "names label_0, label_1"),
        ("config.json", '{"id2label": {"0": "entailment"}}', "id2label names 1 labels"),
        ("tokenizer.json", None, "has no tokenizer.json"),
        ("tokenizer.json", "{}", "is no tokenizer"),
        ("model.onnx", None, "has none of model.onnx"),
        ("model.onnx", "weights", "cannot be used"),
    ],
)
def test_what_is_wrong_with_a_folder_is_said(tmp_path, name, content, told):
    broken = build(tmp_path / "model")
    if content is None:
        (broken / name).unlink()
    else:
        (broken / name).write_text(content)
    with pytest.raises(UsageError, match=told) as refused:
        EntailmentModel(str(broken))
    assert refused.value.hint


def test_a_folder_that_is_not_there_is_said_before_anything_is_asked(run, answering, web):
    done = run("When?", "--model", answering, "--judge", "entailment:/nowhere", *web)
    assert done.returncode == 2
    assert "there is no folder /nowhere" in done.stderr


def test_a_missing_extra_is_named(folder):
    code = (
        "import sys; sys.modules['tokenizers'] = None\n"
        "from agent.models.entailment import EntailmentModel\n"
        f"EntailmentModel({str(folder)!r})"
    )
    command = [sys.executable, "-c", code]
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "judging by entailment is not installed" in failed.stderr


ASKED = f"Claim 1: {CARRIED}\n<web>\n(Hesk Light) {TEXT}\n</web>"


@pytest.mark.parametrize("weights", ["onnx/model.onnx", "onnx/model_quantized.onnx"])
async def test_weights_are_found_where_exports_have_them(tmp_path, weights):
    model = EntailmentModel(str(build(tmp_path / "model", weights=weights)))
    assert (await model.reply("", [Message("user", ASKED)])).text.startswith("1: supported")


async def test_labels_are_read_by_their_names_in_any_case(tmp_path):
    upper = build(tmp_path / "model", labels=tuple(name.upper() for name in LABELS))
    reply = await EntailmentModel(str(upper)).reply("", [Message("user", ASKED)])
    assert reply.text.startswith("1: supported")
