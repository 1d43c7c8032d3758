"""A site with a login and a form that does something: each order that arrives is counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from tests.loopback import Handler, Server, serving

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

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
class OrderSite:
    """A running site; `/NAME/` is a separate book. `orders[name]` holds those that arrived."""

    url: str
    orders: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    asked: Counter[str] = field(default_factory=Counter)


def serve_order_site() -> AbstractContextManager[OrderSite]:
    """Serve on 127.0.0.1 until the block ends."""
    return serving(_Handler, OrderSite)


class _Handler(Handler):
    server: Server[OrderSite]

    def get(self) -> None:
        _, name, what = [*self.path.split("/"), ""][:3]
        self.server.site.asked[self.path] += 1
        if what:
            self._send(404, "")
        elif f"{name}=in" in self.headers.get("Cookie", ""):
            self._send(200, PAGE.format(title="Order book", body=self._list(name) + FORM))
        else:
            self._send(200, PAGE.format(title="Order book", body=LOGIN))

    def post(self, body: bytes) -> None:
        _, name, what = [*self.path.split("/"), ""][:3]
        fields = parse_qs(body.decode())
        cookies = SimpleCookie(self.headers.get("Cookie", ""))
        headers = {"Location": f"/{name}/"}
        if what == "login":
            headers["Set-Cookie"] = f"{name}=in; Path=/{name}/; HttpOnly"
        elif name in cookies and "goods" in fields:
            self.server.site.orders[name].append(fields["goods"][0])
        self._send(303, "", headers)

    def _list(self, name: str) -> str:
        goods = self.server.site.orders[name]
        return f"<p>The book holds {len(goods)} orders: {' and '.join(goods) or 'none'}.</p>"

    def _send(self, status: int, body: str, headers: dict[str, str] | None = None) -> None:
        self.send(status, "text/html; charset=utf-8", body.encode(), headers)
