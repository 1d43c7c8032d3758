"""A site with a login and a form that does something: each order that arrives is counted."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = "<!doctype html><title>{title}</title><main><h1>{title}</h1>{body}</main>"
LOGIN = (
    '<form method="post" action="login"><label>Your name <input name="who"></label>'
    "<button>Come in</button></form>"
)
FORM = (
    '<form method="post" action="order"><label>Goods <input name="goods"></label>'
    "<button>Order</button></form>"
)


@dataclass
class Orders:
    """A running site; `/NAME/` is a book of its own. `orders[name]` are those that arrived."""

    url: str
    orders: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    asked: Counter[str] = field(default_factory=Counter)


@contextmanager
def taking_orders() -> Iterator[Orders]:
    """Serve on 127.0.0.1 until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    orders = Orders(f"http://127.0.0.1:{server.server_port}")
    server.orders = orders  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield orders
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def handle(self) -> None:
        with suppress(ConnectionError):  # the browser may be killed
            super().handle()

    def do_GET(self) -> None:
        _, name, what = [*self.path.split("/"), ""][:3]
        self._site.asked[self.path] += 1
        if what:
            self._send(404, "")
        elif f"{name}=in" in self.headers.get("Cookie", ""):
            self._send(200, PAGE.format(title="Order book", body=self._list(name) + FORM))
        else:
            self._send(200, PAGE.format(title="Order book", body=LOGIN))

    def do_POST(self) -> None:
        _, name, what = [*self.path.split("/"), ""][:3]
        fields = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        cookies = SimpleCookie(self.headers.get("Cookie", ""))
        headers = {"Location": f"/{name}/"}
        if what == "login":
            headers["Set-Cookie"] = f"{name}=in; Path=/{name}/; HttpOnly"
        elif name in cookies and "goods" in fields:
            self._site.orders[name].append(fields["goods"][0])
        self._send(303, "", headers)

    @property
    def _site(self) -> Orders:
        return self.server.orders  # type: ignore[attr-defined, no-any-return]

    def _list(self, name: str) -> str:
        goods = self._site.orders[name]
        return f"<p>The book holds {len(goods)} orders: {' and '.join(goods) or 'none'}.</p>"

    def _send(self, status: int, body: str, headers: dict[str, str] | None = None) -> None:
        raw = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(raw)))
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(raw)
