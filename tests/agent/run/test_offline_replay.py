"""Runs of every kind replay offline, reproducing their reports byte for byte."""

from __future__ import annotations

import json

import jsonschema

from agent.journal.runs import Runs
from dev.report_schema import report_schema
from tests.agent.models.wire import OpenAIProvider, running
from tests.offline import digest, replayed_offline
from tests.recordings import KINDS, Studio

SCHEMA = json.loads(report_schema()) | {"additionalProperties": False}


async def test_recorded_runs_replay_byte_for_byte_offline(site, tmp_path):
    with running(OpenAIProvider, "/v1") as provider:
        studio = Studio(site, provider, tmp_path)
        for record in KINDS[:9]:
            await record(studio)
    folders = [run.path for run in Runs(tmp_path)]
    assert len(folders) == 9
    for folder in folders:
        jsonschema.validate(json.loads((folder / "report.json").read_bytes()), SCHEMA)
    then = [digest((folder / "report.json").read_bytes()) for folder in folders]
    assert replayed_offline(folders) == then
