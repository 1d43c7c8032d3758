"""Between Playwright and a person's Chrome: Playwright sees our tabs and nothing else.

Attached to directly, Playwright takes hold of every tab: it waits for each of them (one with an
open alert never answers), pauses new ones, and would handle their dialogs and downloads. The relay
keeps their targets from it. Tabs that we create, and what those open, are attached one by one;
the person's tabs are asked only when their content is wanted, each with a deadline.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from contextlib import asynccontextmanager
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed, WebSocketException

from browser.errors import AttachFailed, BrowserGone
from browser.page import injected
from browser.page.waiting import in_background
from browser.session.chrome import debugging_address

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from websockets.asyncio.client import ClientConnection
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

    from browser.page.injected import Send

CONNECT_SECONDS = 60.0  # since Chrome 144 a person is asked to allow it, and may look away
COMMAND_SECONDS = 5.0
_OUR_IDS = 1 << 30  # Playwright counts its own from 1

Message = dict[str, Any]
T = TypeVar("T")


class Relay:
    """One connection to the browser, shared by Playwright and by our own questions."""

    def __init__(self, upstream: ClientConnection) -> None:
        self._upstream = upstream
        self._client: ServerConnection | None = None
        self._ids = count(_OUR_IDS)
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._creating: set[int] = set()
        self._sessions: set[str] = set()
        self._questions: set[str] = set()
        self._token = secrets.token_urlsafe(16)
        self.endpoint = ""
        self.ours: set[str] = set()  # targets of our tabs

    @classmethod
    @asynccontextmanager
    async def connect(cls, url: str) -> AsyncIterator[Relay]:
        """Connect to a browser and listen on loopback for Playwright.

        `url` is `http://127.0.0.1:9222`, `ws://…`, a bare port, or `chrome` / `msedge`. Raises
        AttachFailed.
        """
        websocket = await _websocket_of(url)
        try:
            upstream = await connect(
                websocket, max_size=None, compression=None, open_timeout=CONNECT_SECONDS, proxy=None
            )
        except (OSError, TimeoutError, WebSocketException) as error:
            raise AttachFailed(f"no Chrome answers at {websocket}: {error}") from error
        relay = cls(upstream)
        async with (
            upstream,
            serve(
                relay._from_playwright,
                "127.0.0.1",
                0,
                process_request=relay._check,
                max_size=None,
                compression=None,
            ) as server,
        ):
            port = server.sockets[0].getsockname()[1]
            relay.endpoint = f"ws://127.0.0.1:{port}/{relay._token}"
            reader = asyncio.create_task(relay._from_browser())
            try:
                await relay.command("Target.setDiscoverTargets", {"discover": True})
                yield relay
            finally:
                reader.cancel()
                await asyncio.gather(reader, return_exceptions=True)

    async def command(
        self, method: str, params: Message | None = None, session: str | None = None
    ) -> Message:
        """Send a command of our own and give its result; raises BrowserGone, TimeoutError."""
        number = next(self._ids)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        message: Message = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        try:
            async with asyncio.timeout(COMMAND_SECONDS):
                await self._upstream.send(json.dumps(message))
                answer = await future
        except ConnectionClosed as error:
            raise BrowserGone("the browser closed the connection") from error
        finally:
            self._waiting.pop(number, None)
        if "error" in answer:
            raise BrowserGone(f"{method}: {answer['error'].get('message')}")
        result: Message = answer.get("result", {})
        return result

    @asynccontextmanager
    async def asking(self, target: str) -> AsyncIterator[Send]:
        """Ask a tab of the person, who notices nothing; what is given sends a command to it."""
        attached = await self.command(
            "Target.attachToTarget", {"targetId": target, "flatten": True}
        )
        session = attached["sessionId"]
        self._questions.add(session)

        async def send(method: str, params: Message) -> Message:
            return await self.command(method, params, session)

        try:
            yield send
        finally:
            await self.command("Target.detachFromTarget", {"sessionId": session})
            self._questions.discard(session)

    def _check(self, connection: ServerConnection, request: Request) -> Response | None:
        """Turn away whoever does not know the address: a web page may try the port."""
        if request.path != f"/{self._token}" or "Origin" in request.headers:
            return connection.respond(HTTPStatus.FORBIDDEN, "not yours\n")
        return None

    async def _from_playwright(self, client: ServerConnection) -> None:
        self._client = client
        try:
            async for text in client:
                await self._forward(json.loads(text), text)
        except ConnectionClosed:
            return  # either side is gone; the reader below tells Playwright

    async def _forward(self, message: Message, text: str | bytes) -> None:
        method = message.get("method") if "sessionId" not in message else None
        if method == "Target.setAutoAttach":
            # For the browser as a whole: it would attach to every tab.
            await self._to_playwright({"id": message["id"], "result": {}})
        elif method == "Target.createTarget":
            # In the background: the person's own tab stays in front.
            message["params"]["background"] = True
            self._creating.add(message["id"])
            await self._upstream.send(json.dumps(message))
        else:
            await self._upstream.send(text)

    async def _from_browser(self) -> None:
        try:
            async for text in self._upstream:
                await self._sort(json.loads(text), text)
        except ConnectionClosed:
            pass
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(BrowserGone("the browser is gone"))
            if self._client:
                await self._client.close()

    async def _sort(self, message: Message, text: str | bytes) -> None:
        # Answers to our own questions; the answer to a new tab, told once we are attached to it;
        # events of the person's tabs, for nobody; the rest is Playwright's.
        number, session = message.get("id"), message.get("sessionId")
        if number is not None and number in self._waiting:
            if not (future := self._waiting[number]).done():
                future.set_result(message)
        elif number is not None and number >= _OUR_IDS:
            return  # the answer to a question that was given up
        elif number is not None and session is None and number in self._creating:
            self._creating.discard(number)
            in_background(self._created(message))
        elif session in self._questions:
            return
        elif session is None and "method" in message:
            await self._root_event(message, text)
        elif self._client:
            await self._client.send(text)

    async def _root_event(self, message: Message, text: str | bytes) -> None:
        method, params = message["method"], message["params"]
        if method == "Target.targetCreated":
            info = params["targetInfo"]
            if info["type"] == "page" and info.get("openerId") in self.ours:
                # A command waits for an answer, which this very reader has to bring.
                in_background(self._take(info["targetId"]))
        elif method == "Target.attachedToTarget":
            if params["targetInfo"]["targetId"] in self.ours:
                self._sessions.add(params["sessionId"])
                await self._to_playwright(message)
        elif method == "Target.detachedFromTarget":
            if params["sessionId"] in self._sessions:
                await self._to_playwright(message)
        elif not method.startswith("Target.") and self._client:
            await self._client.send(text)

    async def _created(self, answer: Message) -> None:
        if target := answer.get("result", {}).get("targetId"):
            await self._take(target)
        await self._to_playwright(answer)

    async def _take(self, target: str) -> None:
        """Attach to a tab as ours. It need not be in front to act as if it were."""
        if target in self.ours:
            return
        self.ours.add(target)
        params = {"targetId": target, "flatten": True}
        session = (await self.command("Target.attachToTarget", params))["sessionId"]
        await self.command("Emulation.setFocusEmulationEnabled", {"enabled": True}, session)

    async def _to_playwright(self, message: Message) -> None:
        if self._client:
            await self._client.send(json.dumps(message))


TAB_SECONDS = 1.0  # a tab under an open dialog does not answer
# Scripts are kept: sites leave in them what their pages are made of.
_DOM = "document.documentElement ? document.documentElement.outerHTML : ''"


class UsersTabs:
    """The person's own tabs, read and never touched."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    async def all(self) -> list[Message]:
        """List them as `{targetId, url, title, …}`, as the browser orders them."""
        infos = (await self._relay.command("Target.getTargets"))["targetInfos"]
        return [
            info
            for info in infos
            if info["type"] == "page"
            and info["targetId"] not in self._relay.ours
            and not info["url"].startswith(("devtools:", "chrome-extension:"))
        ]

    async def visible(self) -> dict[str, Any] | None:
        """Ask for the context of the tab in front, with its `target`.

        That is the one with the focus; while a terminal has it, the first that is visible.
        """

        async def context(target: str) -> dict[str, Any]:
            answer = await self._evaluate(target, injected.CONTEXT_EXPRESSION)
            return {**json.loads(answer), "target": target} if answer else {}

        targets = [tab["targetId"] for tab in await self.all()]
        asked = [asyncio.create_task(context(target)) for target in targets]
        shown: dict[str, dict[str, Any]] = {}
        try:
            for answer in asyncio.as_completed(asked):
                raw = await answer
                if raw.get("visible"):
                    shown[raw["target"]] = raw
                    if raw["focus"]:
                        return raw
        finally:
            for task in asked:
                task.cancel()
        return next((shown[target] for target in targets if target in shown), None)

    async def html(self, target: str) -> str:
        """Ask a tab for its DOM as it stands; '' where it does not answer in time."""
        answer = await self._evaluate(target, _DOM)
        return answer if isinstance(answer, str) else ""

    async def text_behind(self, target: str) -> str:
        """Give the text in closed shadow roots of a tab, which its own text does not hold."""
        return await self._ask(target, injected.closed_text) or ""

    async def _evaluate(self, target: str, expression: str) -> Any:
        params = {"expression": expression, "returnByValue": True}
        answer = await self._ask(target, lambda send: send("Runtime.evaluate", params))
        return (answer or {}).get("result", {}).get("value")

    async def _ask(self, target: str, question: Callable[[Send], Awaitable[T]]) -> T | None:
        """Ask a tab something; None where it does not answer in time."""
        try:
            async with self._relay.asking(target) as send, asyncio.timeout(TAB_SECONDS):
                return await question(send)
        except (TimeoutError, BrowserGone):
            return None


PROBE_SECONDS = 3.0


async def _websocket_of(url: str) -> str:
    """Resolve an address to attach to; raises AttachFailed where no browser can be debugged."""
    if url.startswith(("ws://", "wss://")):
        return url
    if url in {"chrome", "msedge"}:
        folder = _profile_of(url)
        # Chrome 144 and newer listen once the person allowed it.
        if address := debugging_address(folder):
            return address
        raise AttachFailed(f"no Chrome allows debugging in {folder}")
    url = f"http://127.0.0.1:{url}" if url.isdigit() else url
    try:
        async with httpx2.AsyncClient(timeout=PROBE_SECONDS, trust_env=False) as http:
            answer = await http.get(url.rstrip("/") + "/json/version")
            return str(answer.raise_for_status().json()["webSocketDebuggerUrl"])
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError) as error:
        why = "what listens there is not a browser's debugging port"
        if isinstance(error, httpx2.ConnectError):
            why = "nothing listens there"
        elif isinstance(error, httpx2.TimeoutException):
            why = f"no answer within {PROBE_SECONDS:g} s"
        raise AttachFailed(f"no Chrome answers at {url}: {why}") from error


def _profile_of(app: str) -> Path:
    """The profile folder that a person's own Chrome or Edge uses."""
    chrome = app == "chrome"
    if sys.platform == "darwin":
        name = "Google/Chrome" if chrome else "Microsoft Edge"
        return Path.home() / "Library" / "Application Support" / name
    if sys.platform == "win32":
        local = Path(os.environ.get("LOCALAPPDATA", Path.home()))
        return local / ("Google/Chrome" if chrome else "Microsoft/Edge") / "User Data"
    config = Path(os.environ.get("XDG_CONFIG_HOME", Path.home() / ".config"))
    return config / ("google-chrome" if chrome else "microsoft-edge")
