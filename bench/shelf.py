"""Serves saved pages on loopback by number, and reports a benchmark's findings."""

from __future__ import annotations

import gzip
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
OWN = (ROOT / "fixtures/pages", ROOT / "tests/browser/page/labelled")
SAVED = ("articles", "platform")  # below the data folder


def pages_of(data: str | None) -> tuple[list[Path], list[Path]]:
    """Return the saved pages below a data folder, and the project's own."""
    folders = [Path(data) / name for name in SAVED if (Path(data) / name).is_dir()] if data else []
    return html_in(folders), html_in(OWN)


def html_in(folders: list[Path] | tuple[Path, ...]) -> list[Path]:
    """Return the saved pages below some folders, compressed or not."""
    found = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path for path in found if path.name.endswith((".html", ".html.gz"))]


def html_of(page: Path) -> bytes:
    """Return a saved page's HTML, decompressed."""
    return gzip.decompress(page.read_bytes()) if page.suffix == ".gz" else page.read_bytes()


@contextmanager
def served(pages: list[Path]) -> Iterator[str]:
    """Serve pages by their number in the list; yields the address without the number."""

    class Shelf(_Shelf):
        shown: ClassVar[list[Path]] = pages

    server = ThreadingHTTPServer(("127.0.0.1", 0), Shelf)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class _Shelf(BaseHTTPRequestHandler):
    shown: ClassVar[list[Path]] = []

    def do_GET(self) -> None:
        number = self.path.strip("/")
        if not number.isdigit():
            self.send_error(404)
            return
        body = html_of(self.shown[int(number)])
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


class Targets:
    """Figures compared with their targets; `code` is 8 if one was missed."""

    MISSED = 8

    def __init__(self) -> None:
        self.code = 0

    def at_most(self, what: str, value: float, limit: float) -> None:
        self._say(what, f"{value:.4g} (at most {limit:g})", met=value <= limit)

    def at_least(self, what: str, value: float, limit: float) -> None:
        self._say(what, f"{value:.4g} (at least {limit:g})", met=value >= limit)

    def _say(self, what: str, found: str, *, met: bool) -> None:
        self.code = self.code if met else self.MISSED
        print(f"{what}: {found}{'' if met else '  MISSED'}", flush=True)
