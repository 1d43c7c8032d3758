"""A real loopback HTTP server that stands in for search engines, one path per engine."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Reply:
    """A path's response; `hangs` holds it back until `clear`."""

    body: str | bytes = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False


@dataclass(frozen=True)
class Asked:
    """A request as received; header names are in lower case."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: str


class StandIn:
    """Serves `replies[path]`; `asked[path]` holds the requests received."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}
        self.asked: dict[str, list[Asked]] = defaultdict(list)
        self._released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def clear(self) -> None:
        """Clear replies and requests, and release waiting clients."""
        self._released.set()
        self._released = threading.Event()
        self.replies.clear()
        self.asked.clear()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    def url(self, path: str = "") -> str:
        return f"http://{self.address}{path}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self.answer("")

            def do_POST(self) -> None:
                self.answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())

            def answer(self, sent: str) -> None:
                url = urlsplit(self.path)
                asked = Asked(self.command, url.path, parse_qs(url.query), dict(self.headers), sent)
                stand_in.asked[url.path].append(asked)
                reply = stand_in.replies.get(url.path, Reply("no such page", 404))
                if reply.hangs:
                    stand_in._released.wait()
                body = reply.body.encode() if isinstance(reply.body, str) else reply.body
                try:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

        return Handler
