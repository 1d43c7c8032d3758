"""Excessively large pages."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BYTES_AT_MOST = 400_000
SECONDS_AT_MOST = 5.0
HUGE_BYTES = 1_000_000_000
_BLOCK = b"<p>" + b"word " * 20_000 + b"</p>"


def links(count: int) -> str:
    """A page that writes this many links."""
    each = "(_, i) => `<a href=/${i}>link ${i}</a>`"
    return f"<script>document.write(Array.from({{length: {count}}}, {each}).join(' '))</script>"


HUGE = {"300,000 links": links(300_000), "20,000 levels": "<div>" * 20_000 + "bottom"}


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
