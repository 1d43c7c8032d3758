"""TLS through the guard's tunnels, and the guard chained to another proxy."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest

from browser.errors import (
    ConnectFailed,
    Refused,
)
from browser.net.egress import Egress, EgressPolicy
from browser.net.http import HttpClient
from browser.net.transport import certificates
from tests.browser.net.servers import Origin, greet

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    ClientOf = Callable[..., AbstractAsyncContextManager[HttpClient]]


@pytest.fixture(scope="module")
def self_signed(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    make = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 "
        "-subj /CN=quay -addext subjectAltName=IP:127.0.0.1"
    )
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*make.split(), *files], check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    return context, certificate


async def test_untrusted_certificate_raises_connect_failed(
    self_signed: tuple[ssl.SSLContext, Path],
) -> None:
    context, _ = self_signed
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0, ssl=context)
    named = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with Egress(EgressPolicy((named,))) as egress, HttpClient(egress, retries=0) as http:
        with pytest.raises(ConnectFailed, match="certificate"):
            await http.get(f"https://{named}/")
    server.close()


async def test_https_page_is_fetched_through_tunnel(
    self_signed: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    context, certificate = self_signed
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    certificates.cache_clear()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nsafe!")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    named = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with Egress(EgressPolicy((named,))) as egress, HttpClient(egress, retries=0) as http:
        bodies = [(await http.get(f"https://{named}/")).body for _ in range(2)]
    server.close()
    certificates.cache_clear()
    assert bodies == [b"safe!", b"safe!"]


async def test_guard_is_applied_before_upstream_proxy() -> None:
    async def known_there(host: str) -> tuple:
        return (ip_address("127.0.0.1"),)

    async def unknown_here(host: str) -> tuple:
        return ()

    async with (
        Origin(greet) as origin,
        Egress(EgressPolicy(("quay.test",)), resolve=known_there) as upstream,
        Egress(EgressPolicy(upstream_proxy=upstream.proxy_url), resolve=unknown_here) as egress,
        HttpClient(egress) as http,
    ):
        answer = await http.get(f"http://quay.test:{origin.port}/")
        with pytest.raises(Refused, match="loopback"):
            await http.get(origin.url)
    assert answer.status == 200
    assert len(origin.requests) == 1


async def test_locally_private_names_are_not_sent_to_upstream_proxy() -> None:
    asked: list[str] = []

    async def private(host: str) -> tuple:
        return (ip_address("10.0.0.1"),)

    async def record(host: str) -> tuple:
        asked.append(host)
        return ()

    async with (
        Egress(resolve=record) as upstream,
        Egress(EgressPolicy(upstream_proxy=upstream.proxy_url), resolve=private) as egress,
        HttpClient(egress) as http,
    ):
        for scheme in ("http", "https"):
            with pytest.raises(Refused, match="private"):
                await http.get(f"{scheme}://quay.test/")
    assert asked == []
