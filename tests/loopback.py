"""A loopback server that runs until a block ends; its clients may be killed."""

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
    """Serves one `site`, which its request handlers use."""

    daemon_threads = True
    site: Site


class Handler(BaseHTTPRequestHandler):
    """A handler that logs nothing and ignores clients that disconnect."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def handle(self) -> None:
        """Handle one connection."""
        with suppress(ConnectionError):  # the client may be killed
            super().handle()

    def do_GET(self) -> None:
        """Answer using `get`."""
        self.get()

    def do_POST(self) -> None:
        """Answer using `post`, once the whole announced body has arrived."""
        length = int(self.headers["Content-Length"] or -1)
        body = self.rfile.read(max(0, length))
        if len(body) == length:  # otherwise, the client was killed while sending
            self.post(body)

    def get(self) -> None:
        """Answer a GET; the default refuses it."""
        self.send_error(405)

    def post(self, body: bytes) -> None:
        """Answer a POST; the default refuses it."""
        self.send_error(405)

    def send(
        self, status: int, content_type: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a complete response."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)


class Held(Handler):
    """Pages that are held back until released."""

    def get(self) -> None:
        """Report that a page was requested; send it when released."""
        self.server.site.asked.set()
        self.server.site.open.wait()
        self.send(200, "text/html", b"<p>The boat to Brack came in late, on 3 May 1901.</p>")


class HeldSite:
    """Holds pages back: `asked` is set when one is requested; set `open` to release them."""

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


async def sleep_briefly(seconds: float) -> None:
    """Replace the wait between two attempts, so that no test waits for half a second."""
    await asyncio.sleep(min(seconds, 0.01))
