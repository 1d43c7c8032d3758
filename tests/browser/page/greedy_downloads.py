"""A site that sends endless files and hundreds of files; what is kept of them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from browser.session.session import Browser

if TYPE_CHECKING:
    from pathlib import Path

    from browser.page.tab import Tab

MB = 1_000_000
QUOTA = 50 * MB
OVERSHOT = 200 * MB
"""Sent beyond the quota: the folder is checked five times a second, and loopback is fast."""
_CHUNK = bytes(256 * 1024)
_PAGE = """<a href=/big>announced</a> <a href=/endless>unannounced</a> <button onclick="
for (let n = 0; n < %d; n += 1) setTimeout(() => document.body.append(Object.assign(
  document.createElement('iframe'), { hidden: true, src: '/small?' + n })), n * 5)">many</button>"""


@dataclass
class Site:
    """Sends generated files, and counts the bytes and the requests for small ones."""

    size: int
    files: int
    sent: dict[str, int] = field(default_factory=dict)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode().partition("?")[0]
            if path == "/":
                writer.write(_head("text/html") + (_PAGE % self.files).encode())
            elif path == "/small":
                self.sent[path] = self.sent.get(path, 0) + 1
                writer.write(_head("application/octet-stream", 1000) + bytes(1000))
            elif path in {"/big", "/endless"}:
                writer.write(_head("application/octet-stream", self.size * (path == "/big")))
                self.sent[path] = 0
                while self.sent[path] < self.size:
                    writer.write(_CHUNK)
                    self.sent[path] += len(_CHUNK)
                    await writer.drain()
            await writer.drain()
        writer.close()


def _head(kind: str, length: int = 0) -> bytes:
    announced = f"Content-Length: {length}\r\n" if length else ""
    return (
        f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{announced}Connection: close\r\n\r\n".encode()
    )


@dataclass(frozen=True)
class DownloadCounts:
    """Bytes that the server sent of each file; files and bytes kept; files requested."""

    sent: dict[str, int]
    kept: int
    of_bytes: int
    left_arriving: int
    told: tuple[str, ...]


async def filled(size: int, files: int, folder: Path, quota: int = QUOTA) -> DownloadCounts:
    """Let a site send a file of this many bytes twice, then this many small ones."""
    site = Site(size, files)
    server = await asyncio.start_server(site.answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with Browser.launch(downloads_dir=folder, downloads_quota=quota) as browser:
        tab = await browser.open(url)
        told = [await _refused(tab, name) for name in ("announced", "unannounced")]
        await tab.click(await _ref(tab, "many"))
        began = -1
        while began < len(tab.events.downloads) < files:
            began = len(tab.events.downloads)
            await tab.wait_for(None, 3)
        kept = [one for one in await asyncio.gather(*tab.events.downloads) if one.path]
        left = browser._downloads._bytes_arriving()
        assert "announced" in (await tab.snapshot()).text, "the page is there still"
    server.close()
    lies = _files_in(folder)
    assert len(lies) == len(kept)
    return DownloadCounts(
        site.sent | {"begun": len(tab.events.downloads)},
        len(kept),
        sum(p.stat().st_size for p in lies),
        left,
        tuple(told),
    )


def _files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def _refused(tab: Tab, name: str) -> str:
    saved = await tab.download(await _ref(tab, name), 120)
    return "" if saved.path else saved.reason


async def _ref(tab: Tab, name: str) -> str:
    refs = (await tab.snapshot()).refs
    return next(ref for ref, said in refs.items() if said.split()[-1] == name)
