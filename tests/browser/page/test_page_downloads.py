"""Downloads stay in their folder and below their quota, whatever a server names or sends."""

from __future__ import annotations

import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from browser.errors import ActionError
from browser.page.downloads import MAX_NAME_BYTES, safe_name
from browser.session.session import Browser
from tests.browser.page.greedy_downloads import filled
from tests.browser.page.pages import ref

if TYPE_CHECKING:
    from collections.abc import Iterator

QUOTA = 3_000_000
HOSTILE = (
    *("../up.txt", "../../etc/passwd", "..\\..\\up.txt", "/etc/passwd", "C:\\Windows\\x.dll"),
    *("..", ".", "...", "", " ", "CON", "con.txt", "NUL", "aux.csv", "com1.txt", "LPT9"),
    *("a/b/c.txt", "a\\b.txt", "a\0b.txt", "a\nb.txt", "a\rb.txt", "a\tb.txt", "\x1b[31mred.txt"),
    *("name.", "name ", " .hidden", ".bashrc", "-rf", "~/x", "$(id).txt", "`id`.txt", "a;b.txt"),
    *("file:name", "a<b>.txt", 'a"b.txt', "a|b.txt", "a?b.txt", "a*b.txt", "x" * 500 + ".pdf"),
    *(
        "x." + "y" * 500,
        "\u202etxt.exe",
        "a\u200bb.txt",
        "\ufeffx.txt",
        "é" * 300,
        "漢" * 119,
        "😀" * 100 + ".pdf",
        "a\ud800.txt",
        "%2e%2e%2fup",
    ),
    *("..%2f..%2fup", "....//up", "..;/up", "//host/share", "\\\\host\\share", "a\u2028b.txt"),
    *(
        "...pdf",
        ". .",
        "\u2024\u2024/x",
        "\uff0e\uff0e\uff0fx",
        "a\U000e0041.txt",
        "\x7f.txt",
        "\x9bm.txt",
    ),
    *(
        "CON .txt",
        "com\u00b9.txt",
        "file:///etc/passwd",
        "C:",
        "\\\\?\\C:\\x",
        "/proc/self/mem",
        "-",
    ),
)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.row(n=22)
@pytest.mark.sample(20)
def test_safe_name_sanitizes_hostile_file_names(name, tmp_path):
    safe = safe_name(name)
    assert (tmp_path / safe).resolve().parent == tmp_path.resolve()
    assert 0 < len(safe.encode()) <= MAX_NAME_BYTES
    assert not set(safe) & set('/\\:*?"<>|\0\n\r\t\x1b\u202e\u200b')


@pytest.fixture
def endless() -> Iterator[tuple[str, threading.Event]]:
    """An endless file without an announced size; the event says that it was given up."""
    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/":
                self._page()
                return
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Disposition", "attachment; filename=endless.bin")
            self.end_headers()
            with suppress(ConnectionError):
                while True:
                    self.wfile.write(b"0" * 65_536)
            stopped.set()

        def _page(self) -> None:
            body = b"<a href=/file>endless</a>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/", stopped
    server.shutdown()
    server.server_close()


@pytest.mark.row(n=22)
async def test_download_over_quota_is_stopped_early(endless, tmp_path):
    url, stopped = endless
    async with Browser.launch(downloads_dir=tmp_path, downloads_quota=QUOTA) as browser:
        tab = await browser.open(url)
        kept = await tab.download(ref(await tab.snapshot(), "link endless"))
        assert kept.path is None
        assert "3 MB" in kept.reason
        assert stopped.wait(5)
    assert list(tmp_path.iterdir()) == []


async def test_download_reports_link_without_a_file(show, pages):
    elsewhere = pages.put("<h1>A page</h1>")
    tab = await show(f"<a href='{elsewhere}'>no file</a>")
    with pytest.raises(ActionError, match="did not start a download"):
        await tab.download(ref(await tab.snapshot(), "link no file"))


async def test_download_keeps_suggested_file_name(show, pages, downloads_dir):
    path = pages.put(
        "a,b", content_type="text/csv", content_disposition="attachment; filename=t.csv"
    )
    tab = await show(f"<a href='{path}'>table</a>")
    kept = await tab.download(ref(await tab.snapshot(), "link table"))
    assert kept.path is not None
    assert kept.path.parent == downloads_dir
    assert kept.path.read_text() == "a,b"


@pytest.mark.row(n=22)
async def test_same_named_downloads_are_kept_up_to_the_quota(tmp_path):
    found = await filled(8_000_000, 20, tmp_path, QUOTA)
    assert found.kept == found.sent["/small"] == 20
    assert (found.of_bytes, found.left_arriving) == (20_000, 0)
    assert all("3 MB" in told for told in found.told)
