"""A relay between Playwright and the user's Chrome: Playwright sees only our tabs.

Without it, Playwright would attach to every tab: it waits for each of them (a tab with an open
alert never answers), pauses new ones, and handles their dialogs and downloads. The relay hides the
user's tabs from Playwright. Tabs that we create, and tabs that these open, are attached one by one;
the user's tabs are queried only when their content is needed, each with a deadline.
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
from browser.page.waiting import run_in_background
from browser.session.chrome import debugging_address

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from websockets.asyncio.client import ClientConnection
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

    from browser.page.injected import Send

CONNECT_SECONDS = 60.0  # since Chrome 144, the user must allow the connection, which takes time
COMMAND_SECONDS = 5.0  # per debugging-protocol command
_FIRST_OUR_ID = 1 << 30  # Playwright's ids start at 1

Message = dict[str, Any]
T = TypeVar("T")


class Relay:
    """One connection to the browser, shared by Playwright and our own commands."""

    def __init__(self, upstream: ClientConnection) -> None:
        self._upstream = upstream
        self._client: ServerConnection | None = None
        self._ids = count(_FIRST_OUR_ID)
        self._pending: dict[int, asyncio.Future[Message]] = {}  # our own commands, by id
        self._creating: set[int] = set()  # ids of Playwright's commands that create a tab
        self._sessions: set[str] = set()  # DevTools sessions of our tabs
        self._user_sessions: set[str] = set()  # DevTools sessions of the user's tabs
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
            raise AttachFailed(f"no Chrome responds at {websocket}: {error}") from error
        relay = cls(upstream)
        async with (
            upstream,
            serve(
                relay._from_playwright,
                "127.0.0.1",
                0,
                process_request=relay._check_client,
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
        """Send one of our own commands and return its result; raises BrowserGone, TimeoutError."""
        number = next(self._ids)
        future = self._pending[number] = asyncio.get_running_loop().create_future()
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
            self._pending.pop(number, None)
        if "error" in answer:
            raise BrowserGone(f"{method}: {answer['error'].get('message')}")
        result: Message = answer.get("result", {})
        return result

    @asynccontextmanager
    async def user_session(self, target: str) -> AsyncIterator[Send]:
        """Attach to one of the user's tabs without disturbing it; yields a send function."""
        attached = await self.command(
            "Target.attachToTarget", {"targetId": target, "flatten": True}
        )
        session = attached["sessionId"]
        self._user_sessions.add(session)

        async def send(method: str, params: Message) -> Message:
            return await self.command(method, params, session)

        try:
            yield send
        finally:
            await self.command("Target.detachFromTarget", {"sessionId": session})
            self._user_sessions.discard(session)

    def _check_client(self, connection: ServerConnection, request: Request) -> Response | None:
        """Reject clients without the token, and web pages, which may probe the port (security)."""
        if request.path != f"/{self._token}" or "Origin" in request.headers:
            return connection.respond(HTTPStatus.FORBIDDEN, "not yours\n")
        return None

    async def _from_playwright(self, client: ServerConnection) -> None:
        self._client = client
        try:
            async for text in client:
                await self._forward_command(json.loads(text), text)
        except ConnectionClosed:
            return  # one side has disconnected; `_from_browser` closes Playwright's connection

    async def _forward_command(self, message: Message, text: str | bytes) -> None:
        method = message.get("method") if "sessionId" not in message else None
        if method == "Target.setAutoAttach":
            # This command to the entire browser would attach Playwright to every tab.
            await self._to_playwright({"id": message["id"], "result": {}})
        elif method == "Target.createTarget":
            # In the background, so that the user's tab stays in front.
            message["params"]["background"] = True
            self._creating.add(message["id"])
            await self._upstream.send(json.dumps(message))
        else:
            await self._upstream.send(text)

    async def _from_browser(self) -> None:
        try:
            async for text in self._upstream:
                await self._dispatch(json.loads(text), text)
        except ConnectionClosed:
            pass
        finally:
            for future in self._pending.values():
                if not future.done():
                    future.set_exception(BrowserGone("the browser is gone"))
            if self._client:
                await self._client.close()

    async def _dispatch(self, message: Message, text: str | bytes) -> None:
        """Forward a message from the browser to its recipient."""
        number, session = message.get("id"), message.get("sessionId")
        if number is not None and number in self._pending:
            if not (future := self._pending[number]).done():
                future.set_result(message)
        elif number is not None and number >= _FIRST_OUR_ID:
            return  # the answer to a command that timed out
        elif number is not None and session is None and number in self._creating:
            # Playwright gets this answer when we are attached to the new tab.
            self._creating.discard(number)
            run_in_background(self._finish_creating(message))
        elif session in self._user_sessions:
            return  # events from the user's tabs are ignored
        elif session is None and "method" in message:
            await self._handle_browser_event(message, text)
        elif self._client:
            await self._client.send(text)

    async def _handle_browser_event(self, message: Message, text: str | bytes) -> None:
        method, params = message["method"], message["params"]
        if method == "Target.targetCreated":
            info = params["targetInfo"]
            if info["type"] == "page" and info.get("openerId") in self.ours:
                # In the background, as attaching waits for an answer that this task must receive.
                run_in_background(self._attach_tab(info["targetId"]))
        elif method == "Target.attachedToTarget":
            if params["targetInfo"]["targetId"] in self.ours:
                self._sessions.add(params["sessionId"])
                await self._to_playwright(message)
        elif method == "Target.detachedFromTarget":
            if params["sessionId"] in self._sessions:
                await self._to_playwright(message)
        elif not method.startswith("Target.") and self._client:
            await self._client.send(text)

    async def _finish_creating(self, answer: Message) -> None:
        if target := answer.get("result", {}).get("targetId"):
            await self._attach_tab(target)
        await self._to_playwright(answer)

    async def _attach_tab(self, target: str) -> None:
        """Attach to one of our tabs, with emulated focus, so that it works in the background."""
        if target in self.ours:
            return
        self.ours.add(target)
        params = {"targetId": target, "flatten": True}
        session = (await self.command("Target.attachToTarget", params))["sessionId"]
        await self.command("Emulation.setFocusEmulationEnabled", {"enabled": True}, session)

    async def _to_playwright(self, message: Message) -> None:
        if self._client:
            await self._client.send(json.dumps(message))


TAB_SECONDS = 1.0  # a tab with an open dialog does not answer
RETRY_TAB_SECONDS = 5.0  # used if no tab answered, as the machine may be busy
# Includes the scripts, in which many sites keep their data.
_DOM_EXPRESSION = "document.documentElement ? document.documentElement.outerHTML : ''"


class UsersTabs:
    """The user's own tabs, which are read but never changed."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self.unresponsive_tabs = 0

    async def all(self) -> list[Message]:
        """List them as `{targetId, url, title, …}`, in the browser's order."""
        infos = (await self._relay.command("Target.getTargets"))["targetInfos"]
        return [
            info
            for info in infos
            if info["type"] == "page"
            and info["targetId"] not in self._relay.ours
            and not info["url"].startswith(("devtools:", "chrome-extension:"))
        ]

    async def visible(self) -> dict[str, Any] | None:
        """Return the context of the frontmost tab, with its `target`; None if no tab answers.

        This is the tab with the focus or, while another program has it, the first visible tab. If
        no tab answers, all tabs are asked once more with a longer timeout, in case the machine is
        busy; `unresponsive_tabs` is then the number of tabs that still do not answer.
        """
        for seconds in (TAB_SECONDS, RETRY_TAB_SECONDS):
            found = await self._find_visible_tab(seconds)
            if found or not self.unresponsive_tabs:
                return found
        return None

    async def _find_visible_tab(self, seconds: float) -> dict[str, Any] | None:
        async def context(target: str) -> dict[str, Any]:
            answer = await self._evaluate(target, injected.CONTEXT_EXPRESSION, seconds)
            if not answer:
                self.unresponsive_tabs += 1
            return {**json.loads(answer), "target": target} if answer else {}

        self.unresponsive_tabs = 0
        targets = [tab["targetId"] for tab in await self.all()]
        tasks = [asyncio.create_task(context(target)) for target in targets]
        visible: dict[str, dict[str, Any]] = {}
        try:
            for completed in asyncio.as_completed(tasks):
                raw = await completed
                if raw.get("visible"):
                    visible[raw["target"]] = raw
                    if raw["focus"]:
                        return raw
        finally:
            for task in tasks:
                task.cancel()
        for target in targets:
            if target in visible:
                return visible[target]
        return None

    async def html(self, target: str) -> str:
        """Return a tab's current DOM; "" if it does not answer in time."""
        answer = await self._evaluate(target, _DOM_EXPRESSION)
        return answer if isinstance(answer, str) else ""

    async def closed_text(self, target: str) -> str:
        """Return the text in a tab's closed shadow roots, which is not in its visible text."""
        return await self._query(target, injected.closed_text) or ""

    async def _evaluate(self, target: str, expression: str, seconds: float = TAB_SECONDS) -> Any:
        params = {"expression": expression, "returnByValue": True}
        answer = await self._query(target, lambda send: send("Runtime.evaluate", params), seconds)
        return (answer or {}).get("result", {}).get("value")

    async def _query(
        self, target: str, query: Callable[[Send], Awaitable[T]], seconds: float = TAB_SECONDS
    ) -> T | None:
        """Run a query in a tab; None if it does not answer in time."""
        try:
            async with self._relay.user_session(target) as send, asyncio.timeout(seconds):
                return await query(send)
        except (TimeoutError, BrowserGone):
            return None


PROBE_SECONDS = 3.0  # how long to wait for a debugging port to answer


async def _websocket_of(url: str) -> str:
    """Resolve an address to a WebSocket address; raises AttachFailed if no browser answers."""
    if url.startswith(("ws://", "wss://")):
        return url
    if url in {"chrome", "msedge"}:
        folder = _profile_of(url)
        # Chrome 144 and later write the address there when the user has allowed debugging.
        if address := debugging_address(folder):
            return address
        raise AttachFailed(f"no Chrome that uses {folder} allows debugging")
    url = f"http://127.0.0.1:{url}" if url.isdigit() else url
    try:
        async with httpx2.AsyncClient(timeout=PROBE_SECONDS, trust_env=False) as http:
            answer = await http.get(url.rstrip("/") + "/json/version")
            return str(answer.raise_for_status().json()["webSocketDebuggerUrl"])
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError) as error:
        reason = "the program listening there is not a browser with debugging enabled"
        if isinstance(error, httpx2.ConnectError):
            reason = "nothing is listening there"
        elif isinstance(error, httpx2.TimeoutException):
            reason = f"no response within {PROBE_SECONDS:g} s"
        raise AttachFailed(f"no Chrome responds at {url}: {reason}") from error


def _profile_of(app: str) -> Path:
    """The profile folder of the user's own Chrome or Edge."""
    chrome = app == "chrome"
    if sys.platform == "darwin":
        name = "Google/Chrome" if chrome else "Microsoft Edge"
        return Path.home() / "Library" / "Application Support" / name
    if sys.platform == "win32":
        local = Path(os.environ.get("LOCALAPPDATA", Path.home()))
        return local / ("Google/Chrome" if chrome else "Microsoft/Edge") / "User Data"
    config = Path(os.environ.get("XDG_CONFIG_HOME", Path.home() / ".config"))
    return config / ("google-chrome" if chrome else "microsoft-edge")
