"""PYTHON: computes in a sandbox from figures that were read, each traced to its passage."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from agent.errors import ToolError
from agent.evidence import Evidence
from agent.export import export
from agent.export.verify_run import verify_archive
from agent.guard.redact import Redactor
from agent.journal.runs import Runs
from agent.limits import LimitSettings
from agent.run.record import RunRecord
from agent.run.replay import replay
from agent.tools.compute import compute, number
from agent.tools.context import ToolContext
from browser.types import Document, Outcome, Page

TABLE = """# Islands

| island | people | km² |
|---|---|---|
| Hesk | 1,234 | 31.5 |
| Brack | 87 | 4 |"""


@pytest.fixture
def context():
    evidence = Evidence("How many per km²?")
    for name, text in (("islands", TABLE), ("rain", "It rained 31.4 million litres on 12 days.")):
        url = f"https://{name}.example/"
        document = Document(url=url, title=name, text=text)
        evidence.add(Page(url, url, "http", Outcome.OK, datetime.now(UTC), document=document))
    return ToolContext(
        "", evidence, LimitSettings(), lambda *_, **__: None, lambda _: "", redactor=Redactor(())
    )


async def computed(context, code):
    return (await compute.run(context, compute.params(code=code)))()


async def test_computed_table_figure_is_a_source_naming_its_cells(context):
    row = next(p.id for p in context.evidence.sources[0].passages if "Hesk" in p.text)
    result = await computed(
        context, f'rows = table("{row}")\nnumber(rows[1][1]) / number(rows[1][2])'
    )
    source = context.evidence.sources[-1]
    assert (result.data["source"], source.via) == ("S3", "computed")
    assert source.text.startswith("Computed: 39.17460317460318, rounded 39; 39.2; 39.17; 39.175")
    assert f"“1,234” in {row}, islands <https://islands.example/>" in source.text
    assert f"“31.5” in {row}" in source.text
    assert "number(rows[1][1]) / number(rows[1][2])" in source.text


async def test_figure_must_appear_in_its_passage(context):
    passage = context.evidence.sources[1].passages[0].id
    result = await computed(
        context, f'figure("{passage}", "31.4 million") / figure("{passage}", "12 days")'
    )
    assert "2616666.6" in result.web
    with pytest.raises(ToolError, match="does not appear in"):
        await computed(context, f'figure("{passage}", "32 million")')
    with pytest.raises(ToolError, match="there is no passage"):
        await computed(context, 'figure("S9¶1", "1")')


async def test_figure_computed_without_sources_says_so(context):
    result = await computed(context, "6 * 7")
    source = context.evidence.sources[-1]
    assert result.data["source"] == source.name
    assert source.text.startswith("Computed: 42")
    assert "not from a source" in source.title


async def test_computed_text_without_sources_is_not_citable(context):
    result = await computed(context, "'the moon is ' + 'cheese'")
    assert result.web == "the moon is cheese"
    assert "cannot be cited" in result.data["note"]
    assert len(context.evidence.sources) == 2


@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    pass",
        "x = [0] * 10**9",
        "open('/etc/passwd').read()",
        "import socket\nsocket.socket()",
        "import os\nos.environ['HOME']",
        "1 +",
    ],
)
@pytest.mark.sample(3)
async def test_code_has_no_files_network_or_unlimited_time(context, code):
    with pytest.raises(ToolError):
        await computed(context, code)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234", 1234),
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("12,5 %", 12.5),
        ("$31.4 million", 31_400_000),
        ("−12", -12),
        ("1 234 567", 1_234_567),
        ("3.000.000", 3_000_000),
        ("24 cars", 24),
    ],
)
def test_numbers_are_parsed_in_human_formats(text, value):
    assert number(text) == value


def test_overlarge_number_is_refused():
    with pytest.raises(ValueError, match="too large"):
        number("9" * 400)


@pytest.mark.parametrize("text", ["", "none", "4 of 9", "1990–1995"])
def test_text_without_exactly_one_number_is_refused(text):
    with pytest.raises(ValueError, match="number"):
        number(text)


async def test_answer_cites_computation_and_its_inputs(ask, script, site, tmp_path):
    code = 'rows = table("S1¶{row}")\\nnumber(rows[1][2]) * 2'
    model = script(
        f'<<TOOL:READ:{{"url":"{site.url}/islands"}}>>',
        '<<TOOL:PYTHON:{"code":"' + code.replace("{row}", "4") + '"}>>',
        "Twice as many people is computed here. [S2¶1]",
    )
    report = await ask("How many are twice the people of Great Orlenn?", model=model)
    assert [source.via for source in report.sources] == ["computed", "http"]
    assert report.sentences[0].citations == [1, 2]
    assert report.sources[1].quotes == [
        "| Great Orlenn | 41.6 | 2,914 | Cairn Moll | 312 | Skarholm |"
    ]
    for name in ("run.zip", "run.html", "run.bib", "run.warc.gz"):
        export(Runs(tmp_path / "data").find(report.run).path, tmp_path / name)
    assert verify_archive(tmp_path / "run.zip").flaws == ()
    assert "urn:computed" not in (tmp_path / "run.bib").read_text()
    record = RunRecord.read(Runs(tmp_path / "data").find(report.run))
    again = await replay(record)
    assert json.loads(again.to_json())["sentences"] == json.loads(report.to_json())["sentences"]
