"""Tests `research serve` under load: 20 runs at once, 50 watchers each, and the first event.

    python -m bench.watchers [RUNS] [WATCHERS]

Each watcher must receive each event in its journal once and in order; half of them have their
connection cut in between. Prints how long the first event takes after asking (POST, then the
stream). Exits with 8 if an event was lost or duplicated.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from fixtures.server import serve

TOKEN = "a-token-of-the-bench"
QUESTION = {"question": "When was Hesk Light first lit?"}
COMMAND = str(Path(sys.executable).with_name("research"))


async def watch(client: httpx2.AsyncClient, run: str, cut: int) -> list[int]:
    """Watch a run to its end; returns its event numbers. Reconnects after `cut` events."""
    seen: list[int] = []
    while True:
        headers = {"Last-Event-ID": str(seen[-1])} if seen else {}
        async with client.stream("GET", f"/api/runs/{run}/events", headers=headers) as stream:
            if stream.status_code == 204:
                return seen
            async for line in stream.aiter_lines():
                if line.startswith("id: "):
                    seen.append(int(line[4:]))
                    if cut and len(seen) == cut:
                        cut = 0
                        break
                elif line == "event: end":
                    return seen


async def first(client: httpx2.AsyncClient) -> float:
    """Return the milliseconds from asking to the first event."""
    began = time.perf_counter()
    run = (await client.post("/api/runs", json=QUESTION)).json()["run"]
    async with client.stream("GET", f"/api/runs/{run}/events") as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                break
    told = (time.perf_counter() - began) * 1000
    await watch(client, run, 0)
    return told


async def measured(url: str, data: Path, runs: int, watchers: int) -> int:
    limits = httpx2.Limits(max_connections=None)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(
        base_url=url, headers=headers, timeout=600, limits=limits
    ) as client:
        alone = [await first(client) for _ in range(5)]
        print(f"first event, one run: {statistics.median(alone):.0f} ms (median of {alone=})")
        asked = [client.post("/api/runs", json=QUESTION) for _ in range(runs)]
        names = [answer.json()["run"] for answer in await asyncio.gather(*asked)]
        watching = [
            watch(client, name, 7 if n % 2 else 0) for name in names for n in range(watchers)
        ]
        seen = await asyncio.gather(*watching)
    wrong = 0
    for n, numbers in enumerate(seen):
        journal = data / "runs" / names[n // watchers] / "journal.jsonl"
        wrong += numbers != list(range(len(journal.read_text().splitlines())))
    told = sum(map(len, seen))
    print(f"{runs} runs, {len(seen)} watchers, {told} events told: {wrong} lost or doubled any")
    return 8 if wrong else 0


def main(runs: str = "20", watchers: str = "50") -> int:
    with serve() as site, TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        flags = ("--search", "searxng", "--searxng-url", site.url, "--data-dir", str(data))
        env = {**os.environ, "RESEARCH_SERVE_TOKEN": TOKEN}
        command = [COMMAND, "serve", "--port", "0", "--at-once", "40", *flags]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as server:
            assert server.stdout
            try:
                url = server.stdout.readline().strip()
                return asyncio.run(measured(url, data, int(runs), int(watchers)))
            finally:
                server.terminate()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
