"""Pages far too large: how long a snapshot takes, and how large it is.

python -m tests.bench.bounds
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from browser.errors import BrowserError
from browser.session import Browser
from tests.bench.shelf import Targets
from tests.browser.page.pages import serve_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

BYTES, SECONDS = 200_000, 5.0
OPEN_SECONDS = 20.0
HUGE_BYTES = 1_000_000_000
_BLOCK = b"<p>" + b"word " * 20_000 + b"</p>"
_LINKS = "Array.from({length: 3e5}, (_, i) => `<a href=/${i}>link ${i}</a>`).join(' ')"
PAGES = {
    "300,000 links": f"<script>document.write({_LINKS})</script>",
    "20,000 levels": "<div>" * 20_000 + "bottom",
}


class Endless(BaseHTTPRequestHandler):
    """Sends a page of 1 GB."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        with suppress(ConnectionError):  # the browser has enough
            for _ in range(HUGE_BYTES // len(_BLOCK)):
                self.wfile.write(_BLOCK)

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def endless() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


async def measure(url: str) -> tuple[int, float]:
    """Bytes and seconds of one snapshot without a budget; a typed error has no bytes."""
    async with Browser.launch() as browser:
        begun = time.perf_counter()
        try:
            tab = await browser.open(url, deadline=OPEN_SECONDS)
            begun = time.perf_counter()
            text = (await tab.snapshot(budget=None)).text
        except BrowserError as error:
            print(f"  {type(error).__name__}: {error}")
            return 0, time.perf_counter() - begun
    return len(text.encode()), time.perf_counter() - begun


async def main() -> int:
    targets = Targets()
    with serve_pages() as pages, endless() as huge:
        urls = {name: pages.base + pages.put(f"<!doctype html>{t}") for name, t in PAGES.items()}
        for name, url in {**urls, "1 GB": huge}.items():
            size, seconds = await measure(url)
            targets.at_most(f"{name}: bytes", size, BYTES)
            targets.at_most(f"{name}: seconds", seconds, SECONDS)
    return targets.code


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
