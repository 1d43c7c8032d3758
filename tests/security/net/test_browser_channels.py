"""Every way in which a page can make Chromium connect is refused by the guard."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import Error as PlaywrightError

from browser.net.egress import Egress, EgressPolicy
from tests.browser.net.servers import Exchange, Origin, greet

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from playwright.async_api import BrowserContext

pytestmark = pytest.mark.row(n=9)

# One script per channel; V stands for a private host that only this channel uses.
CHANNELS = {
    "redirect": "fetch('/to/V').catch(e => e)",
    "fetch": "fetch('http://V/', {mode: 'no-cors'}).catch(e => e)",
    "tls": "fetch('https://V/').catch(e => e)",
    "xhr": "{const x = new XMLHttpRequest(); x.open('GET', 'http://V/'); x.send()}",
    "frame": "add('iframe', {src: 'http://V/'})",
    "image": "add('img', {src: 'http://V/'})",
    "script": "add('script', {src: 'http://V/'})",
    "style": "add('link', {rel: 'stylesheet', href: 'http://V/'})",
    "object": "add('object', {data: 'http://V/'})",
    "video": "add('video', {src: 'http://V/'})",
    "form": "add('iframe', {name: 'f'}); add('form', {action: 'http://V/', target: 'f'}).submit()",
    "popup": "window.open('http://V/')",
    "websocket": "new WebSocket('ws://V/')",
    "websocket-tls": "new WebSocket('wss://V/')",
    "events": "new EventSource('http://V/')",
    "beacon": "navigator.sendBeacon('http://V/', 'x')",
    "worker": "new Worker(blob(`fetch('http://V/', {mode: 'no-cors'}).catch(e => e)`))",
    "imported": "new Worker(blob(`try { importScripts('http://V/') } catch (e) {}`))",
    "shared-worker": "new SharedWorker(blob(`fetch('http://V/').catch(e => e)`))",
    "service-worker": "navigator.serviceWorker.register('/sw.js?V')",
    "preconnect": "add('link', {rel: 'preconnect', href: 'https://V/'})",
    "prefetch": "add('link', {rel: 'prefetch', href: 'http://V/'})",
    "preload": "add('link', {rel: 'preload', as: 'image', href: 'http://V/'})",
    "font": "new FontFace('f', 'url(http://V/)').load().catch(e => e)",
    "module": "import('http://V/').catch(e => e)",
    "ping": "add('iframe', {name: 'p'}); add('a', {href: '/', target: 'p', ping: 'http://V/'}).click()",
}
# Hints that an automated Chromium may ignore; otherwise, their requests go through the guard too.
OPTIONAL = {"preconnect", "prefetch", "ping"}
HELPERS = """
const add = (tag, attributes) => {
  const element = Object.assign(document.createElement(tag), attributes);
  document.body.append(element);
  return element;
};
const blob = code => URL.createObjectURL(new Blob([code], {type: 'text/javascript'}));
"""
# UDP, and TCP to a TURN server: what an HTTP proxy cannot carry must not leave at all.
AROUND = """async port => {
  const peer = new RTCPeerConnection({iceServers: [
    {urls: `stun:127.0.0.1:${port}`},
    {urls: `turn:127.0.0.1:${port}?transport=tcp`, username: 'u', credential: 'c'},
  ]});
  peer.createDataChannel('c');
  await peer.setLocalDescription();
  const gathered = new Promise(done => {
    peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && done();
  });
  const quic = typeof WebTransport === 'undefined' ? Promise.resolve()
    : new WebTransport(`https://127.0.0.1:${port}/`).ready.catch(e => e);
  await Promise.race([gathered, new Promise(done => setTimeout(done, 2000))]);
  await Promise.race([quic, new Promise(done => setTimeout(done, 1000))]);
}"""


async def serve(exchange: Exchange) -> None:
    path, _, host = exchange.target.partition("?")
    if path.startswith("/to/"):
        await exchange.redirect(f"http://{path.removeprefix('/to/')}/")
    elif path == "/sw.js":
        code = f"fetch('http://{host}/', {{mode: 'no-cors'}}).catch(e => e)"
        await exchange.answer(code, Content_Type="text/javascript")
    else:
        await greet(exchange)


async def test_page_network_channels_are_blocked_by_egress(
    browser_behind: Callable[[Egress], AbstractAsyncContextManager[BrowserContext]],
    record_property: Callable[[str, object], None],
) -> None:
    asked: set[str] = set()
    heard = asyncio.Condition()

    async def lead_in(host: str) -> tuple:
        async with heard:
            asked.add(host.partition(".")[0])
            heard.notify_all()
        return (ip_address("127.0.0.1"),)

    async with (
        Origin(greet) as secret,
        Origin(serve) as origin,
        Egress(EgressPolicy((origin.named,)), resolve=lead_in) as egress,
        browser_behind(egress) as context,
    ):
        page = await context.new_page()
        await page.goto(origin.url)
        for name, script in CHANNELS.items():
            victim = f"{name}.inside.test:{secret.port}"
            with suppress(PlaywrightError):  # a channel may throw; the guard is what counts
                await page.evaluate(f"{{{HELPERS}{script.replace('V', victim)}}}")
        with suppress(TimeoutError):
            async with asyncio.timeout(10), heard:
                await heard.wait_for(lambda: asked >= set(CHANNELS) - OPTIONAL)
    assert sorted(set(CHANNELS) - OPTIONAL - asked) == []
    assert secret.connections == 0
    record_property("figure", f"{secret.connections} connections over {len(asked)} channels")


async def test_webrtc_udp_and_turn_are_blocked(
    browser_behind: Callable[[Egress], AbstractAsyncContextManager[BrowserContext]],
) -> None:
    class Listener(asyncio.DatagramProtocol):
        def __init__(self) -> None:
            self.heard: list[bytes] = []

        def datagram_received(self, data: bytes, address: object) -> None:
            self.heard.append(data)

    async with (
        Origin(greet) as secret,
        Origin(serve) as origin,
        Egress(EgressPolicy((origin.named,))) as egress,
        browser_behind(egress) as context,
    ):
        loop = asyncio.get_running_loop()
        listening, protocol = await loop.create_datagram_endpoint(
            Listener, local_addr=("127.0.0.1", secret.port)
        )
        page = await context.new_page()
        await page.goto(origin.url)
        await page.evaluate(AROUND, secret.port)
        listening.close()
    assert secret.connections == 0
    assert protocol.heard == []
