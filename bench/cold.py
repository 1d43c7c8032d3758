"""Measures a whole run as a cold process: search, three pages, answer, with an instant model.

    python -m bench.cold [FOLDER]

FOLDER contains `serve.py`, which serves pages and a SearXNG-like endpoint on loopback; without it
the bundled web is used. The model is an endpoint on loopback. Prints medians: wall seconds and
their phases (start with imports; until the model is first called; work; exit after the report), the
peak memory of the Python process, and the characters sent to the model. Exits with 8 if a target is
missed.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.closedweb import load, served
from fixtures.server import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 7
TARGETS = {"READ": 1.0, "OPEN": 2.0}
"""Wall seconds for pages read over HTTP and shown in the browser."""
MEGABYTES = 120.0
TARGETS_MISSED = 8
_RESEARCH = Path(sys.executable).with_name("research")
_URL = re.compile(r"— (http\S+)")
_SENTENCE = re.compile(r"^ *(?:(S\d+¶\d+) )?(\w[^.\n]{30,}\.)", re.MULTILINE)


@dataclass
class Instant:
    """A model that searches, reads three pages with one tool, and quotes the first one."""

    tool: str
    query: str
    characters: int = 0
    calls: int = 0

    def reply(self, messages: list[dict[str, Any]]) -> str:
        """Answer immediately, depending on the last message."""
        self.calls += 1
        self.characters += sum(len(message["content"]) for message in messages)
        last = messages[-1]["content"]
        if not any("[Tool result for" in m["content"] for m in messages[1:]):
            return f"<<THINK>>I search.<</THINK>><<TOOL:WEB_SEARCH:{self.query}>>"
        if "Tool result for WEB_SEARCH" in last:
            urls = list(dict.fromkeys(_URL.findall(last)))[:3]
            return "\n".join(f"<<TOOL:{self.tool}:{url}>>" for url in urls)
        quoted = _SENTENCE.search(last)
        return f"{quoted[2]} [{quoted[1] or 'S1'}]" if quoted else "NOT_FOUND"


@dataclass
class Round:
    """One finished process: when it started, reported events and ended."""

    marks: dict[str, float] = field(default_factory=dict)
    peak_mb: float = 0.0
    cpu: float = 0.0
    code: int = 0


def main(folder: str = "") -> int:
    """Measure over HTTP and in the browser; return 8 if a target is missed."""
    with _web(folder) as (address, question):
        good = [measure(tool, address, question) for tool in TARGETS]
    return 0 if all(good) else TARGETS_MISSED


def measure(tool: str, address: str, question: str) -> bool:
    """Run several processes and print their medians; return whether the targets were met."""
    models = [Instant(tool, question) for _ in range(ROUNDS + 1)]
    rounds = [run(model, address, question) for model in models][1:]
    wall = statistics.median(r.marks["ended"] - r.marks["began"] for r in rounds)
    peak = max(r.peak_mb for r in rounds)
    codes = sorted({r.code for r in rounds})
    print(f"{'over HTTP' if tool == 'READ' else 'in the browser'}:")
    print(f"  wall      {wall:.2f} s (target {TARGETS[tool]:.1f}), codes {codes}")
    print(f"  phases    {phases(rounds)}")
    print(f"  memory    {peak:.0f} MB of our own (target {MEGABYTES:.0f})")
    print(f"  the model was sent {models[-1].characters:,} characters in {models[-1].calls} calls")
    return wall <= TARGETS[tool] and peak <= MEGABYTES and codes == [0]


def phases(rounds: list[Round]) -> str:
    """Describe where the seconds went, as medians; CPU is only that of our process."""
    spans = {
        "start": ("began", "run.started"),
        "to the first call": ("run.started", "model.request"),
        "work": ("model.request", "run.finished"),
        "exit": ("run.finished", "ended"),
    }
    told = [
        f"{name} {statistics.median(r.marks[end] - r.marks[start] for r in rounds):.2f}"
        for name, (start, end) in spans.items()
    ]
    return ", ".join([*told, f"CPU {statistics.median(r.cpu for r in rounds):.2f}"])


def run(model: Instant, address: str, question: str) -> Round:
    """Run one cold process to completion."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("RESEARCH_")}
    # As installed: without compiled bytecode, compiling our modules would be a quarter of the run.
    own.pop("PYTHONDONTWRITEBYTECODE", None)
    with answering(model) as base, tempfile.TemporaryDirectory() as folder:
        command = [
            *(str(_RESEARCH), question, "--model", "instant", "--base-url", base, "--events"),
            *("--search", "searxng", "--searxng-url", f"http://{address}"),
            *("--allow-private", address, "--data-dir", folder, "-q"),
        ]
        one = Round({"began": time.perf_counter()})
        process = subprocess.Popen(command, env=own, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            kind = json.loads(line)["type"]
            one.marks.setdefault(kind, time.perf_counter())
            if kind == "run.finished":
                one.peak_mb = _peak_mb(process.pid)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = one.code = os.waitstatus_to_exitcode(status)
        one.marks["ended"] = time.perf_counter()
        one.cpu = used.ru_utime + used.ru_stime
    return one


@contextmanager
def answering(model: Instant) -> Iterator[str]:
    """Serve the model at an OpenAI-compatible endpoint; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", "content": model.reply(asked["messages"])}
            raw = json.dumps(_completion(message)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _completion(message: dict[str, str]) -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "instant",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _peak_mb(pid: int) -> float:
    """Return a process's peak memory in MB, as Linux reports it."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


@contextmanager
def _web(folder: str) -> Iterator[tuple[str, str]]:
    if folder:
        question = next(q for q in load(Path(folder)) if q["kind"] == "single")
        with served(Path(folder), mixed=False) as address:
            yield address, question["question"]
        return
    with serve() as site:
        yield site.address, "When was Hesk Light first lit?"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
