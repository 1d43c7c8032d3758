"""Schema values: each is on a page, or is left out with a note."""

from __future__ import annotations

import json

import pytest

from agent.evidence.schema import Schema
from agent.evidence.schema_values import contains_value
from agent.export import export
from agent.journal.runs import Runs
from agent.run.record import RunRecord
from agent.run.replay import replay

LIGHT = {
    "type": "object",
    "properties": {
        "first_lit": {"type": "string", "format": "date"},
        "height_m": {"type": "integer", "title": "Height in metres"},
        "engineer": {"type": ["string", "null"], "title": "Engineer who designed it"},
    },
    "required": ["first_lit", "engineer"],
}
ANSWER = "It was first lit on 1 November 1829. [S1]"


@pytest.fixture
def filling_model(script, site):
    """A model that reads a page, answers, and fills in the given values."""

    def write(*replies):
        return script(
            f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
            ANSWER,
            *({"reply": json.dumps(reply), "for": "values"} for reply in replies),
        )

    return write


WHOLE_SOURCE = {"": [f"S1¶{n}" for n in range(1, 11)]}
"""Citations for the whole instance, and thus for each value in it."""
GOOD = {
    "data": {"first_lit": "1829-11-01", "height_m": 34, "engineer": "Gideon Thorsby"},
    "citations": WHOLE_SOURCE,
}


async def test_each_schema_value_is_cited_and_quoted(ask, filling_model):
    report = await ask(model=filling_model(GOOD), schema=LIGHT)
    assert report.data == {"first_lit": "1829-11-01", "height_m": 34, "engineer": "Gideon Thorsby"}
    assert [value.pointer for value in report.values] == ["/first_lit", "/height_m", "/engineer"]
    assert {value.verdict.value for value in report.values} == {"supported"}
    assert all(value.citations == [1] for value in report.values)
    assert "34 m" in report.values[1].quote
    assert report.values[1].quote in report.sources[0].quotes
    assert report.data_notes == []


async def test_invalid_values_are_returned_to_model_once_and_corrected(
    ask, filling_model, script, site
):
    wrong = {"data": {"first_lit": "1829-11-01", "height_m": "34"}, "citations": WHOLE_SOURCE}
    report = await ask(model=filling_model(wrong, GOOD), schema=LIGHT)
    assert report.data["height_m"] == 34
    assert report.data_notes == []


async def test_value_without_evidence_is_null_or_absent_with_note(ask, filling_model):
    invented = {"first_lit": "1829-11-01", "height_m": 35, "engineer": "Ada Nobody"}
    reply = {"data": invented, "citations": WHOLE_SOURCE}
    report = await ask(model=filling_model(reply, reply), schema=LIGHT)
    assert report.data == {"first_lit": "1829-11-01", "engineer": None}
    assert [note.partition(":")[0] for note in report.data_notes] == ["/height_m", "/engineer"]


async def test_missing_required_value_is_noted(ask, filling_model):
    reply = {"data": {"first_lit": "1830-11-01"}, "citations": {}}
    report = await ask(model=filling_model(reply, reply), schema=LIGHT)
    assert report.data == {}
    assert any("'engineer' is a required property" in note for note in report.data_notes)


async def test_values_replay_without_a_model(ask, filling_model, tmp_path):
    report = await ask(model=filling_model(GOOD), schema=LIGHT)
    again = await replay(RunRecord.read(Runs(tmp_path / "data").find(report.run)))
    assert again.model_dump(exclude={"elapsed_s"}) == report.model_dump(exclude={"elapsed_s"})


LAMP = {"type": "object", "properties": {"lit_by": {"type": ["string", "null"]}}}
DRAFT = {"data": {"lit_by": "daylight"}, "citations": {"/lit_by": ["S1¶2"]}}


@pytest.mark.parametrize(
    ("verdict", "value"),
    [
        ('supported "first lit on 1 November 1829"', "daylight"),
        ("supported", None),
        ('supported "It is lit by the sun"', None),
        ("not stated", None),
        ("contradicted", None),
    ],
)
async def test_paraphrased_value_is_decided_by_judge(ask, script, site, tmp_path, verdict, value):
    model = script(
        f'<<TOOL:READ:{{"url":"{site.url}/hesk-light"}}>>',
        ANSWER,
        {"reply": json.dumps(DRAFT), "for": "values"},
        {"reply": f"1: {verdict}", "for": "judge", "expect": "Claim 1: lit by: daylight\n<web>"},
        {"reply": json.dumps(DRAFT), "for": "values"},
    )
    report = await ask(model=model, schema=LAMP)
    assert report.data == {"lit_by": value}
    assert [v.verdict.value for v in report.values] == ["supported"] * bool(value)
    again = await replay(RunRecord.read(Runs(tmp_path / "data").find(report.run)))
    assert again.data == report.data


async def test_lists_keep_only_supported_items(ask, filling_model):
    schema = {"type": "array", "items": {"type": "object", "properties": {"name": {}, "h": {}}}}
    rows = [{"name": "Nowhere", "h": 1234}, {"name": "Hesk Light", "h": 34}]
    reply = {"data": rows, "citations": {"": ["S1¶1", "S1¶2", "S1¶3", "S1¶4"]}}
    report = await ask(model=filling_model(reply, reply), schema=schema)
    assert report.data == [{"name": "Hesk Light", "h": 34}]
    assert [value.pointer for value in report.values] == ["/0/name", "/0/h"]


async def test_value_from_another_column_is_refused(ask, script, site):
    schema = {"type": "object", "properties": {"ship": {}, "passengers": {"type": "integer"}}}
    row = {"/ship": ["S1¶5"], "/passengers": ["S1¶5"]}
    long, many = ({"ship": "MV Kittiwake", "passengers": n} for n in (46, 180))
    model = script(
        f'<<TOOL:READ:{{"url":"{site.url}/ferries"}}>>',
        "MV Kittiwake is 46 metres long. [S1¶5]",
        *(
            {"reply": json.dumps({"data": d, "citations": row}), "for": "values"}
            for d in (long, many)
        ),
    )
    report = await ask("How many passengers does MV Kittiwake carry?", model=model, schema=schema)
    assert report.data == many
    assert "| 180 |" in report.values[1].quote


async def test_extractive_model_fills_in_plainly_stated_values(ask):
    report = await ask(schema=LIGHT)
    assert report.data["first_lit"] == "1829-11-01"
    assert report.data["engineer"] == "Gideon Thorsby"
    assert report.data["height_m"] == 34  # not a number of lighthouses
    assert {value.verdict.value for value in report.values} == {"supported"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ('{"type":"strin"}', "is not valid at /type"),
        ('{"$ref":"https://example.org/a.json"}', "refers to https://example.org/a.json"),
        ('{"$ref":"#/$defs/none"}', "refers to #/$defs/none"),
    ],
)
def test_invalid_schema_exits_2_before_the_run(run, tmp_path, text, said):
    path = tmp_path / "schema.json"
    path.write_text(text)
    done = run("When?", "--schema", str(path), "--no-memory")
    assert done.returncode == 2
    assert said in done.stderr
    assert not any((tmp_path / "data").glob("runs/*"))


def test_missing_schema_file_exits_2(run):
    done = run("When?", "--schema", "/nowhere/schema.json", "--no-memory")
    assert (done.returncode, "cannot read the schema" in done.stderr) == (2, True)


def test_schema_fields_resolve_references_and_lists():
    schema = Schema.load(
        {
            "type": "object",
            "properties": {"ferries": {"type": "array", "items": {"$ref": "#/$defs/ferry"}}},
            "$defs": {"ferry": {"properties": {"name": {"title": "Name", "type": "string"}}}},
        }
    )
    assert [(field.name, field.kind, field.description) for field in schema.fields()] == [
        ("ferries.*.name", "string", "Name")
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (34, "The tower is 34 metres high."),
        (3400000, "It cost 3.4 million crowns."),
        (0.12, "It grew by 12 % in a year."),
        (1829, "It was lit in 1829."),
        ("1829-11-01", "It was lit on 1 November 1829."),
        ("1829-11", "It was lit in November 1829."),
        ("Gideon Thorsby", "It was built by GIDEON  THORSBY, they say."),
    ],
)
def test_contains_value_accepts_other_notations(value, text):
    assert contains_value(value, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (35, "The tower is 34 metres high."),
        (3, "The tower is 34 metres high."),
        ("1829-11-02", "It was lit on 1 November 1829."),
        ("Hale", "It was whale oil."),
        (True, "True."),
    ],
)
def test_contains_value_rejects_other_values(value, text):
    assert not contains_value(value, text)


async def test_exports_show_data_with_supporting_quotes(ask, filling_model, tmp_path):
    report = await ask(model=filling_model(GOOD), schema=LIGHT)
    folder = Runs(tmp_path / "data").find(report.run).path
    export(folder, tmp_path / "a.md")
    export(folder, tmp_path / "a.html")
    text = (tmp_path / "a.md").read_text()
    assert '"height_m": 34' in text
    assert "| /height_m | 34 | [1] | supported | " in text
    page = (tmp_path / "a.html").read_text()
    assert "<code>/height_m</code>" in page
    assert 'href="#quote-1-' in page.partition(">Data</h2>")[2].partition("<h2")[0]


def test_ask_prints_data_after_answer(run, web, filling_model, tmp_path):
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(LIGHT))
    done = run("When?", "--model", filling_model(GOOD), *web, "--schema", str(schema))
    assert "height_m   34              [1]  supported\n" in done.stdout
