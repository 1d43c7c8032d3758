"""The proxy itself, accessed over its socket as by browsers and clients."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE
from ipaddress import ip_address

import httpx2
import pytest

from browser.errors import Refused
from browser.net.egress import Egress, EgressPolicy
from tests.browser.net.servers import Exchange, Origin, greet


async def talk(egress: Egress, request: str, *, until: bytes = b"") -> bytes:
    """Send raw bytes to the proxy and read its whole answer, or up to `until`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", egress.port)
    try:
        writer.write(request.encode("latin-1"))
        async with asyncio.timeout(5):
            return await (reader.readuntil(until) if until else reader.read())
    finally:
        writer.close()


async def test_allowed_private_host_is_reachable() -> None:
    async with (
        Origin(greet) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        httpx2.AsyncClient(proxy=egress.proxy_url) as client,
    ):
        answer = await client.get(f"{origin.url}/quay?x=1")
    assert answer.text.startswith("<title>Quay")
    assert origin.requests[0].target == "/quay?x=1"


async def test_host_allowed_without_port_is_reachable_on_any_port() -> None:
    async with (
        Origin(greet) as origin,
        Egress(EgressPolicy(("127.0.0.1",))) as egress,
        httpx2.AsyncClient(proxy=egress.proxy_url) as client,
    ):
        assert (await client.get(origin.url)).status_code == 200


async def test_allowing_localhost_does_not_allow_127_0_0_1() -> None:
    async with (
        Origin(greet) as origin,
        Egress(EgressPolicy(("localhost",))) as egress,
        httpx2.AsyncClient(proxy=egress.proxy_url) as client,
    ):
        assert (await client.get(f"http://localhost:{origin.port}/")).status_code == 200
        refused = await client.get(origin.url)
    assert refused.status_code == 403


async def test_refusal_reason_is_in_response_and_refusal_log() -> None:
    async with (
        Origin(greet) as origin,
        Egress() as egress,
        httpx2.AsyncClient(proxy=egress.proxy_url) as client,
    ):
        answer = await client.get(origin.url)
    assert answer.status_code == 403
    assert answer.headers["x-egress-verdict"] == "403"
    assert answer.text == "127.0.0.1 is a loopback address"
    assert origin.connections == 0


async def test_refused_tunnel_gets_403() -> None:
    async with Egress() as egress:
        answer = await talk(egress, "CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 127.0.0.1 is a loopback address\r\n")


async def test_proxy_does_not_connect_to_itself() -> None:
    async with Egress(EgressPolicy(("127.0.0.1",))) as egress:
        own = f"127.0.0.1:{egress.port}"
        answer = await talk(egress, f"GET http://{own}/ HTTP/1.1\r\nHost: {own}\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize(
    "request_line",
    [
        "GET / HTTP/1.1",
        "GET https://harbour.test/ HTTP/1.1",
        "GET ftp://harbour.test/ HTTP/1.1",
        "CONNECT harbour test:443 HTTP/1.1",
        "CONNECT [::1 HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "nonsense",
    ],
)
async def test_invalid_proxy_request_gets_400(request_line: str) -> None:
    async with Egress() as egress:
        answer = await talk(egress, f"{request_line}\r\nHost: harbour.test\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")


async def test_request_target_overrides_host_header() -> None:
    async with Origin(greet) as origin, Egress(EgressPolicy((origin.named,))) as egress:
        head = f"GET {origin.url}/ HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n"
        await talk(egress, head, until=b"Moored.")
    assert origin.requests[0].headers["host"] == origin.named


async def test_proxy_headers_are_not_forwarded() -> None:
    async with Origin(greet) as origin, Egress(EgressPolicy((origin.named,))) as egress:
        head = (
            f"GET {origin.url}/ HTTP/1.1\r\nHost: {origin.named}\r\n"
            "Proxy-Authorization: Basic eDp5\r\nProxy-Connection: keep-alive\r\n"
            "Connection: X-Hop, close\r\nX-Hop: 1\r\nX-End: 2\r\n\r\n"
        )
        await talk(egress, head, until=b"Moored.")
    assert set(origin.requests[0].headers) == {"host", "x-end"}


async def test_client_connection_is_reused_across_hosts() -> None:
    async with (
        Origin(greet) as one,
        Origin(greet) as two,
        Egress(EgressPolicy((one.named, two.named))) as egress,
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", egress.port)
        for origin in (one, one, two, one):
            head = f"GET {origin.url}/ HTTP/1.1\r\nHost: {origin.named}\r\n\r\n"
            writer.write(head.encode())
            assert b"200 OK" in await reader.readuntil(b"Moored.")
        writer.close()
    assert (one.connections, len(one.requests), two.connections) == (2, 3, 1)


async def test_posted_body_arrives_complete() -> None:
    async with (
        Origin(greet) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        httpx2.AsyncClient(proxy=egress.proxy_url) as client,
    ):
        await client.post(origin.url, content=b"knot" * 100_000)
    assert origin.requests[0].body == b"knot" * 100_000


async def test_tunnel_carries_bytes_both_ways_until_eof() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.read())
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with Egress(EgressPolicy((f"127.0.0.1:{port}",))) as egress:
        reader, writer = await asyncio.open_connection("127.0.0.1", egress.port)
        writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n\r\nahoy ".encode())
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"quay" * 500_000)
        writer.write_eof()
        assert await reader.read() == b"ahoy " + b"quay" * 500_000
        writer.close()
    server.close()


async def test_client_disconnect_closes_upstream_connection() -> None:
    arrived, left = asyncio.Event(), asyncio.Event()

    async def wait_for_the_end(exchange: Exchange) -> None:
        arrived.set()
        assert await exchange.reader.read() == b""
        left.set()

    async with Origin(wait_for_the_end) as origin, Egress(EgressPolicy((origin.named,))) as egress:
        _, writer = await asyncio.open_connection("127.0.0.1", egress.port)
        writer.write(f"GET {origin.url}/ HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        async with asyncio.timeout(5):
            await arrived.wait()
            writer.close()
            await left.wait()


async def test_private_addresses_of_mixed_name_are_dropped() -> None:
    async def both(host: str) -> tuple:
        return (ip_address("10.0.0.1"), ip_address("8.8.8.8"))

    egress = Egress(resolve=both)
    assert await egress.guard.addresses("harbour.test", 80) == (ip_address("8.8.8.8"),)


async def test_allowed_host_resolving_to_metadata_service_is_refused() -> None:
    async def metadata(host: str) -> tuple:
        return (ip_address("169.254.169.254"),)

    egress = Egress(EgressPolicy(("intranet.test", "169.254.169.254")), resolve=metadata)
    with pytest.raises(Refused, match="cloud metadata"):
        await egress.guard.addresses("intranet.test", 80)
    assert await egress.guard.addresses("169.254.169.254", 80)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as another user"
)
async def test_other_local_user_is_not_served() -> None:
    code = (
        "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1])));"
        "s.sendall(b'GET http://127.0.0.1/ HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n'); print(s.recv(99))"
    )
    async with Egress() as egress:
        answers = []
        for user in (0, 65534):
            asking = await asyncio.create_subprocess_exec(
                "/usr/bin/env", "python3", "-c", code, str(egress.port),
                user=user, stdout=PIPE, stderr=PIPE,
            )  # fmt: skip
            answers.append((await asking.communicate())[0])
    assert answers[0].startswith(b"b'HTTP/1.1 403")
    assert b"HTTP" not in answers[1]


async def test_hundreds_of_concurrent_connections_are_served() -> None:
    async with Origin(greet) as origin, Egress(EgressPolicy((origin.named,))) as egress:
        head = f"GET {origin.url}/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        answers = await asyncio.gather(*(talk(egress, head) for _ in range(300)))
    assert all(answer.endswith(b"Moored.") for answer in answers)


async def test_exit_closes_port_and_connections() -> None:
    async with Origin(greet) as origin:
        async with Egress(EgressPolicy((origin.named,))) as egress:
            reader, writer = await asyncio.open_connection("127.0.0.1", egress.port)
            writer.write(f"GET {origin.url}/ HTTP/1.1\r\nHost: h\r\n\r\n".encode())
            await reader.readuntil(b"Moored.")
            port = egress.port
        assert await reader.read() == b""
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)


@pytest.mark.parametrize(
    "policy",
    [
        EgressPolicy(allow_private=("not a host",)),
        EgressPolicy(deny_hosts=("me@h.test",)),
        EgressPolicy(upstream_proxy="socks5://h.test:1080"),
        EgressPolicy(upstream_proxy="http://"),
    ],
)
def test_invalid_policy_raises_on_construction(policy: EgressPolicy) -> None:
    with pytest.raises(ValueError, match=r"."):
        Egress(policy)


async def test_browser_background_requests_are_refused() -> None:
    async with Egress() as egress:
        with pytest.raises(Refused):
            egress.guard.check_url("https://update.googleapis.com/service")
