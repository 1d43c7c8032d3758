"""Snapshots beside Playwright's own, on the same pages in the same run.

    python tests/bench/snapshots.py FOLDER…     (.html and .html.gz below each folder)

Prints, for the plain snapshot, ours without a budget and ours at the default budget: tokens
(characters / 4), the share of the page's distinct visible words inside, refs, milliseconds.
"""

from __future__ import annotations

import asyncio
import gzip
import statistics
import sys
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from browser.session import Browser
from browser.text import words

if TYPE_CHECKING:
    from browser.page.tab import Tab

ROUNDS = 3  # the median of three is taken for each page
VISIBLE_TEXT = "() => document.body ? document.body.innerText : ''"


@dataclass(frozen=True)
class Measure:
    """One way of looking at one page."""

    chars: int
    recall: float
    refs: int
    ms: float


class Shelf(BaseHTTPRequestHandler):
    """Serves the saved pages by number."""

    pages: ClassVar[list[Path]] = []

    def do_GET(self) -> None:
        number = self.path.strip("/")
        if not number.isdigit():
            self.send_error(404)
            return
        path = self.pages[int(number)]
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


def recall(visible: set[str], text: str) -> float:
    return len(visible & set(words(text))) / len(visible) if visible else 1.0


async def plain(tab: Tab, visible: set[str]) -> Measure:
    times, text = [], ""
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        text = await tab.page.aria_snapshot(mode="ai")
        times.append(time.perf_counter() - begun)
    return Measure(len(text), recall(visible, text), text.count("[ref="), _ms(times))


async def ours(tab: Tab, visible: set[str], budget: int | None) -> Measure:
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        snapshot = await tab.snapshot(**({} if budget == 0 else {"budget": budget}))
        times.append(time.perf_counter() - begun)
    share = recall(visible, snapshot.text)
    return Measure(len(snapshot.text), share, len(snapshot.refs), _ms(times))


def _ms(times: list[float]) -> float:
    return statistics.median(times) * 1000


async def measure(base: str, count: int) -> dict[str, list[Measure]]:
    rows: dict[str, list[Measure]] = {"plain": [], "whole": [], "budget": []}
    async with Browser.launch() as browser:
        for number in range(count):
            tab = await browser.open(f"{base}/{number}")
            visible = set(words(await tab.page.evaluate(VISIBLE_TEXT)))
            rows["whole"].append(await ours(tab, visible, None))
            rows["budget"].append(await ours(tab, visible, 0))
            rows["plain"].append(await plain(tab, visible))
            await browser.close(tab)
            _print_page(Shelf.pages[number].name, rows)
    return rows


def _print_page(name: str, rows: dict[str, list[Measure]]) -> None:
    cells = [
        f"{kind} {m.chars // 4:>7} tok {m.recall:.2f} {m.refs:>5} refs {m.ms:>6.0f} ms"
        for kind, (*_, m) in rows.items()
    ]
    print(f"{name[:28]:28} {' | '.join(cells)}", flush=True)


def summary(rows: dict[str, list[Measure]]) -> None:
    print(f"\n{'':8}{'tokens':>8}{'p90':>8}{'recall':>8}{'refs':>7}{'ms':>7}{'p90 ms':>8}")
    for kind, measures in rows.items():
        tokens = sorted(m.chars // 4 for m in measures)
        times = sorted(m.ms for m in measures)
        print(
            f"{kind:8}{statistics.median(tokens):>8.0f}{_p90(tokens):>8.0f}"
            f"{statistics.median(m.recall for m in measures):>8.2f}"
            f"{statistics.median(m.refs for m in measures):>7.0f}"
            f"{statistics.median(times):>7.0f}{_p90(times):>8.0f}"
        )
    ratios = [
        w.chars / p.chars for w, p in zip(rows["whole"], rows["plain"], strict=True) if p.chars
    ]
    times = [b.ms / p.ms for b, p in zip(rows["budget"], rows["plain"], strict=True)]
    print(f"whole / plain characters: median {statistics.median(ratios):.2f}")
    print(f"budget / plain time: median {statistics.median(times):.2f}")


def _p90(values: list[float] | list[int]) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.9))]


def main(folders: list[str]) -> None:
    found = [p for f in folders for p in sorted(Path(f).rglob("*")) if p.is_file()]
    Shelf.pages = [p for p in found if p.name.endswith((".html", ".html.gz"))]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shelf)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    print(f"{len(Shelf.pages)} pages")
    summary(asyncio.run(measure(base, len(Shelf.pages))))


if __name__ == "__main__":
    main(sys.argv[1:] or ["fixtures/pages"])
