"""A server on loopback that runs for the length of a block, whoever asks it may be killed."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Site = TypeVar("Site")


class Server(ThreadingHTTPServer, Generic[Site]):
    """Serves one `site`, to which the handlers of its requests turn."""

    daemon_threads = True
    site: Site


class Handler(BaseHTTPRequestHandler):
    """A handler without a log, to whom a client that goes away is nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def handle(self) -> None:
        """Handle what comes over one connection."""
        with suppress(ConnectionError):  # who asks may be killed
            super().handle()

    def do_GET(self) -> None:
        """Answer by `get`."""
        self.get()

    def do_POST(self) -> None:
        """Answer by `post`, where all that was announced has come."""
        length = int(self.headers["Content-Length"] or -1)
        body = self.rfile.read(max(0, length))
        if len(body) == length:  # else who asked was killed while asking
            self.post(body)

    def get(self) -> None:
        """Answer a GET; a site that takes none says so."""
        self.send_error(405)

    def post(self, body: bytes) -> None:
        """Answer a POST; a site that takes none says so."""
        self.send_error(405)

    def send(
        self, status: int, content_type: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a whole response."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)


class Held(Handler):
    """Pages that are not sent before they may be."""

    def get(self) -> None:
        """Tell that a page was asked for; send it when it may be."""
        self.server.site.asked.set()
        self.server.site.open.wait()
        self.send(200, "text/html", b"<p>The boat to Brack came in late, on 3 May 1901.</p>")


class HeldSite:
    """Where pages are held back: `asked` is set when one is wanted, set `open` to let them go."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked, self.open = threading.Event(), threading.Event()


@contextmanager
def serving(handler: type[Handler], site: Callable[[str], Site]) -> Iterator[Site]:
    """Serve on 127.0.0.1 until the block ends; `site` makes the site from its base URL."""
    server = Server[Site](("127.0.0.1", 0), handler)
    server.site = site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def at_once(seconds: float) -> None:
    """Stand for the wait between two attempts, so that no test waits for half a second."""
    await asyncio.sleep(min(seconds, 0.01))
