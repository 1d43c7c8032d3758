"""Small pages served on loopback, under two host names for frames of another origin."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser.types import Snapshot


@dataclass
class Pages:
    """Serves each text at its own address. `other` is the same server under another origin."""

    port: int = 0
    bodies: dict[str, tuple[bytes, dict[str, str]]] = field(default_factory=dict)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def other(self) -> str:
        return f"http://localhost:{self.port}"

    def put(self, text: str, path: str | None = None, **headers: str) -> str:
        """Serve a text as HTML (or as `content_type`, with `status`); returns its path."""
        path = path or f"/p{len(self.bodies)}"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.bodies[path] = (text.encode(), {"content-type": "text/html; charset=utf-8", **named})
        return path


@contextmanager
def serve_pages() -> Iterator[Pages]:
    pages = Pages()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.split("?")[0]
            if path == "/slow":
                time.sleep(
                    float(self.path.partition("?")[2] or 0.3)
                )  # the server is slow, not the test
            body, headers = pages.bodies.get(path, (b"", {}))
            self.send_response(int(headers.get("status", 200)) if path in pages.bodies else 404)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # the browser was killed
                self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the server's own naming

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    pages.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield pages
    finally:
        server.shutdown()
        server.server_close()


def load_factor() -> float:
    """How much longer things take on a busy machine: 1 on an idle one."""
    return max(1.0, 1.5 * os.getloadavg()[0] / (os.cpu_count() or 1)) if os.name == "posix" else 2.0


def ref(shown: Snapshot | dict[str, str], what: str) -> str:
    """Find the ref whose role and name begin with a text."""
    refs = shown if isinstance(shown, dict) else shown.refs
    found = [r for r, name in refs.items() if name.startswith(what)]
    assert found, f"{what!r} is not among {refs}"
    return found[0]
