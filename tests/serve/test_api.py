"""The REST API: runs are started, watched, stopped and read as from the shell."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from datetime import UTC, datetime
from threading import Thread

import httpx2
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

from agent.export import FORMATS
from agent.http_server import MAX_BODY_BYTES
from agent.journal.events import Journal
from agent.journal.runs import Runs
from tests.conftest import COMMAND
from tests.serve.conftest import QUESTION, TOKEN


def journal(served, run):
    return (served.data / "runs" / run / "journal.jsonl").read_text().splitlines()


def test_event_stream_matches_journal_and_report_matches_cli(served, run):
    name = served.ask()
    frames = served.frames(name)
    kept = [(number, data) for number, _, data in frames if number is not None]
    assert [json.loads(line) for line in journal(served, name)] == [data for _, data in kept]
    assert [number for number, _ in kept] == list(range(len(kept)))
    assert frames[-1][1] == "end"
    shell = run("show", name, "--json", RESEARCH_DATA_DIR=str(served.data)).stdout
    assert served.client.get(f"/api/runs/{name}/report").text == shell
    assert "184 metres" in json.loads(shell)["answer"]


def test_reconnecting_client_gets_each_event_once(served):
    run = served.ask()
    seen = []
    while True:
        frames = served.frames(run, after=seen[-1] if seen else -1, most=3)
        seen += [number for number, _, _ in frames if number is not None]
        if not frames or frames[-1][1] == "end":
            break
    assert seen == list(range(len(journal(served, run))))
    assert served.frames(run, after=seen[-1]) == []  # 204: an EventSource does not reconnect


@pytest.mark.soak
def test_concurrent_watchers_of_many_runs_get_every_event(served):
    runs = [served.ask() for _ in range(3)]
    seen = {}

    def watch(n, run):
        seen[n, run] = [number for number, _, _ in served.frames(run) if number is not None]

    threads = [Thread(target=watch, args=(n, run)) for n in range(6) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (_, run), numbers in seen.items():
        assert numbers == list(range(len(journal(served, run))))
    assert len(seen) == 18


def test_run_of_another_process_can_be_watched(served, commands, site):
    web = ("--search", "searxng", "--searxng-url", site.url, "--data-dir", str(served.data))
    other = commands.start(str(COMMAND), QUESTION, *web, "--events", env=served.env)
    name = json.loads(other.stdout.readline())["data"]["run"]
    reading = Thread(target=other.communicate)  # otherwise, its pipe would fill up and block it
    reading.start()
    numbers = [number for number, _, _ in served.frames(name) if number is not None]
    reading.join()
    assert numbers == list(range(len(journal(served, name))))


def test_unfinished_run_is_running_everywhere_until_process_exits(served, run):
    folder = Runs(served.data).create(datetime.now(UTC))
    journal = Journal(folder)
    journal.write("run.started", run=folder.id, question="Who?", options={})

    def seen():
        report = served.client.get(f"/api/runs/{folder.id}/report")
        listed = served.client.get("/api/runs", params={"limit": 500}).json()
        shell = json.loads(run("runs", "--json", "--data-dir", str(served.data)).stdout)
        shown = run("show", folder.id, "--json", "--data-dir", str(served.data)).stdout
        rows = [*listed, *shell, report.json(), json.loads(shown)]
        return report.status_code, {row["status"] for row in rows if row["run"] == folder.id}

    try:
        assert seen() == (202, {"running"})
    finally:
        journal.close()
    assert seen() == (200, {"cut off", "partial"})
    Runs(served.data).remove(folder)


def test_stopped_run_can_be_resumed_but_finished_run_cannot(served, finished):
    run = served.ask(timeout=600)
    served.client.post(f"/api/runs/{run}/stop")
    state = served.client.get(f"/api/runs/{run}").json()
    if state["status"] == "partial":  # otherwise, it had already finished
        resumed = served.client.post(f"/api/runs/{run}/resume", json={})
        assert resumed.status_code == 201
        assert "184 metres" in served.report(run)["answer"]
    again = served.client.post(f"/api/runs/{finished}/resume", json={})
    assert (again.status_code, again.json()["error"]["type"]) == (422, "UsageError")
    assert "has already ended" in again.json()["error"]["message"]


def test_printed_address_signs_in_one_browser_and_sigterm_keeps_run_resumable(start, run):
    served, server = start(data="terminated", token=None)
    name = served.ask(timeout=600)
    assert httpx2.get(served.address).status_code == 401
    os.kill(server.pid, signal.SIGTERM)
    assert server.wait() == 0
    kinds = [json.loads(line)["type"] for line in journal(served, name)]
    if "run.interrupted" in kinds:
        where = {"RESEARCH_DATA_DIR": str(served.data)}
        assert "184 metres" in run("resume", name, "--json", **where).stdout


def test_runs_are_searchable_by_text_and_tags(served, finished):
    client = served.client
    assert client.put(
        f"/api/runs/{finished}/tags", json={"tags": [" sea  lights ", "x"]}
    ).json() == {"tags": ["sea lights", "x"]}
    for words in ("sunnock", "metr", "longest 184"):
        found = client.get("/api/runs", params={"q": words}).json()
        assert finished in [row["run"] for row in found]
        assert any(hit for row in found for _, hit in row["found"])
    tagged = client.get("/api/runs", params={"tag": "sea lights"}).json()
    assert [row["run"] for row in tagged] == [finished]
    assert client.get("/api/runs", params={"q": "zeppelin"}).json() == []
    assert client.get("/api/runs", params={"q": '"" OR * NEAR('}).status_code == 200


def test_exports_match_the_cli(served, finished, run, tmp_path):
    run("export", finished, str(tmp_path / "a.bib"), RESEARCH_DATA_DIR=str(served.data))
    got = served.client.get(f"/api/runs/{finished}/export", params={"form": ".bib"})
    assert got.content == (tmp_path / "a.bib").read_bytes()
    assert got.headers["content-disposition"].endswith('.bib"')
    wrong = served.client.get(f"/api/runs/{finished}/export", params={"form": "../../etc"})
    assert wrong.status_code == 422
    offered = re.findall(r"export\?form=([^\"]+)", served.client.get(f"/runs/{finished}").text)
    assert set(offered) == FORMATS.keys() - {".csv"}, "this run has no data"


def test_repeated_question_is_compared_with_the_first(served, finished):
    again = served.client.post(f"/api/runs/{finished}/again").json()["run"]
    served.report(again)
    told = served.client.get(f"/api/runs/{finished}/diff/{again}").json()
    assert told["a"]["run"] == finished
    assert told["b"]["run"] == again
    assert told["changed"] == []


def test_conversation_continues_and_is_listed_as_one(served, finished):
    then = served.ask("And who built it?", continues=finished)
    served.report(then)
    session = served.client.get(f"/api/runs/{then}").json()["session"]
    listed = served.client.get("/api/runs", params={"session": session}).json()
    assert {finished, then} <= {row["run"] for row in listed}


def test_memory_can_be_added_found_trusted_and_deleted(served, finished):
    client = served.client
    assert client.post("/api/memory", json={"key": "boat", "value": "blue"}).status_code == 201
    [found] = [row for row in client.get("/api/memory?q=boat").json() if row["key"] == "boat"]
    left = client.get("/api/memory?kind=outcome").json()[0]
    assert left["trusted"] is False
    client.post(f"/api/memory/{left['id']}/trust")
    assert client.get(f"/api/memory/{left['id']}").json()["trusted"] is True
    assert client.delete(f"/api/memory/{found['id']}").json() == {"done": True}
    assert client.get(f"/api/memory/{found['id']}").status_code == 404
    assert client.post("/api/memory", json={"key": "_own", "value": "x"}).status_code == 422


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"question": "x y", "since": "soon"}, "since"),
        ({"question": " "}, "question"),
        ({"question": "x y", "source": "/etc"}, "no source"),
        ({"question": "x y", "model": "openai/gpt"}, "model"),
        ({"question": "x y", "model": "scripted:/etc/passwd"}, "model"),
        ({"question": "x y", "files": ["0" * 64]}, "no file"),
        ({"question": "x y", "files": ["../../etc"]}, "files"),
        ({"question": "x y", "continues": "nope"}, "no run"),
    ],
)
def test_invalid_run_request_is_rejected_with_reason(served, form, said):
    refused = served.client.post("/api/runs", json=form)
    assert refused.status_code in (404, 422)
    assert said in refused.json()["error"]["message"]


def test_server_that_searches_only_its_corpus_uses_it_by_default(start, home):
    notes = home / "notes"
    notes.mkdir()
    (notes / "skua.md").write_text("# Skua\n\nThe Skua was built by Orm Pell in 1874.\n")
    served, _ = start("--corpus", str(notes), "--search", "corpus", data="corpus-data")
    report = served.report(served.ask("Who built the Skua?"))
    assert [source["title"] for source in report["sources"]] == ["Skua"]
    refused = served.client.post("/api/runs", json={"question": "x y", "source": "web"})
    assert (refused.status_code, "notes" in refused.json()["error"]["hint"]) == (422, True)
    page = served.client.get("/", headers={"accept": "text/html"}).text
    assert '<option value="notes" selected>folder notes</option></select>' in page
    assert 'value="web"' not in page


def test_hints_name_page_controls_or_cli_commands_by_client(served):
    form = {"question": "x y", "model": "openai/gpt"}
    for headers, named in (({"x-urchin-page": "1"}, "“Keys” in Settings"), ({}, "research keys")):
        refused = served.client.post("/api/runs", json=form, headers=headers)
        assert named in refused.json()["error"]["hint"]
    opened = served.client.get("/runs/nope", headers={"accept": "text/html"})
    assert (opened.status_code, "<h1>No run nope</h1>" in opened.text) == (404, True)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Host": "rebound.test"}, 403),
        ({"Origin": "http://rebound.test"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/runs", "/openapi.json", "/v1/models", "/no/such"])
@pytest.mark.row(n=23)
@pytest.mark.sample(9)
def test_foreign_host_origin_or_missing_token_is_refused(served, headers, status, path):
    assert (
        httpx2.get(
            served.url + path, headers={"Authorization": f"Bearer {TOKEN}", **headers}
        ).status_code
        == status
    )


def test_server_listens_only_on_loopback(served):
    port = int(served.url.rpartition(":")[2])
    own = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False)
    for address in own.stdout.split():
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as line:
            line.settimeout(2)
            assert line.connect_ex((address, port)) != 0


def test_missing_resources_return_404(served):
    for method, path in (
        ("GET", "monitors/none"),
        ("POST", "monitors/none/run"),
        ("DELETE", "monitors/none"),
        ("POST", "schedules/none/run"),
        ("DELETE", "schedules/none"),
        ("POST", "queue/none/cancel"),
        ("POST", "queue/none/retry"),
        ("GET", "runs/none/report"),
        ("GET", "memory/999999"),
    ):
        answer = served.client.request(method, f"/api/{path}")
        assert (answer.status_code, answer.json()["error"]["type"]) == (404, "NotFound"), path


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("runs/last/export?format=pdf", "Available: form."),
        ("runs?query=boat", "Available: q, tag, session, limit, skip."),
        ("queue?limit=1", "This route has no parameters."),
    ],
)
def test_unknown_query_parameter_is_refused(served, path, hint):
    answer = served.client.get(f"/api/{path}")
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["hint"]) == (422, "UsageError", hint)
    assert "unknown query parameter" in error["message"]


@pytest.mark.parametrize("body", [b"", b"question=When?", b'["When?"]', b'{"question": '])
def test_body_that_is_not_a_json_object_is_refused_plainly(served, body):
    headers = {"content-type": "application/json"}
    answer = served.client.post("/api/runs", content=body, headers=headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (422, "UsageError")
    assert error["message"] == "the request's body is missing or is not a JSON object"
    assert "content-type: application/json" in error["hint"]


@pytest.mark.soak
def test_openapi_operations_cause_no_server_errors(start):
    import schemathesis

    served = start(data="fuzzed")[0]  # its own server: random requests pause and delete
    schema = schemathesis.openapi.from_url(
        f"{served.url}/openapi.json", headers={"Authorization": f"Bearer {TOKEN}"}
    ).exclude(path_regex="/v1/chat/completions", method="POST")
    failed = []
    for made in schema.get_all_operations():
        operation = made.ok()
        if (operation.method, operation.path) == ("post", "/api/runs"):
            continue  # each request would start a run

        @given(case=operation.as_strategy())
        @hypothesis_settings(max_examples=4, suppress_health_check=list(HealthCheck), deadline=None)
        def asked(case):
            kwargs = case.as_transport_kwargs(base_url=served.url)
            answer = served.client.request(
                kwargs["method"],
                kwargs["url"],
                params=kwargs.get("params"),
                json=kwargs.get("json"),
            )
            if answer.status_code >= 500:
                failed.append((answer.request.method, str(answer.request.url), answer.text))

        asked()
    assert failed == []


@pytest.mark.parametrize("path", ["/api/runs", "/v1/chat/completions"])
@pytest.mark.parametrize("chunked", [False, True])
def test_oversized_body_returns_413_without_being_read(served, path, chunked):
    sent = 0

    def endless():
        nonlocal sent
        while True:
            sent += MAX_BODY_BYTES // 8
            yield b" " * (MAX_BODY_BYTES // 8)

    length = {} if chunked else {"Content-Length": str(64 * MAX_BODY_BYTES)}
    answer = served.client.post(path, content=endless(), headers=length)
    assert answer.status_code == 413
    assert answer.json()["error"]["type"] == "too_large"
    assert sent <= 3 * MAX_BODY_BYTES


@pytest.mark.parametrize(("token", "status"), [(TOKEN, 200), ("wrong", 401)])
def test_websocket_upgrade_is_answered_as_plain_request(served, token, status):
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "x" * 24,
        "Authorization": f"Bearer {token}",
    }
    assert httpx2.get(f"{served.url}/api/runs", headers=headers).status_code == status
