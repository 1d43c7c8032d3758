"""Discord, over a gateway and a REST interface on loopback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from tests.agent.channels.conftest import eventually, served

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.websockets import WebSocket

TOKEN = "MTk4.discord-token-of-a-test"
ENV = {"DISCORD_TOKEN": TOKEN}
ANN, EVE, BOT = "71", "99", "1000"


class DiscordServer:
    """A gateway with one resumable session, and what the bot sent."""

    def __init__(self) -> None:
        self.url = ""
        self.greetings: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self.files: list[bytes] = []
        self.limits: list[Response] = []
        self.nonces: set[str] = set()
        self.socket: WebSocket | None = None
        self.beats = 0
        self._ids = 5000
        self.app = Starlette(
            routes=[
                WebSocketRoute("/", self.gateway),
                Route("/gateway/bot", self.where),
                Route("/channels/{channel}/messages", self.message, methods=["POST"]),
                Route("/{rest:path}", self.other, methods=["GET", "POST"]),
            ]
        )

    async def where(self, request: Request) -> Response:
        return JSONResponse({"url": self.url.replace("http", "ws"), "shards": 1})

    async def other(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bot {TOKEN}":
            return JSONResponse({"message": "401: Unauthorized", "code": 0}, 401)
        return JSONResponse({"id": BOT, "username": "urchin"})

    async def message(self, request: Request) -> Response:
        if self.limits:
            return self.limits.pop(0)
        if "multipart" in request.headers["content-type"]:
            async with request.form() as form:
                body = json.loads(str(form["payload_json"]))
                upload: Any = form["files[0]"]
                self.files.append(await upload.read())
        else:
            body = await request.json()
        assert len(body["content"]) <= 2000
        if body["nonce"] not in self.nonces:  # enforce_nonce
            self.nonces.add(body["nonce"])
            self.sent.append({**body, "channel": request.path_params["channel"]})
        return JSONResponse({"id": "9"})

    async def gateway(self, socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_json({"op": 10, "d": {"heartbeat_interval": 60_000}})
        try:
            while True:
                said = await socket.receive_json()
                await self._said(socket, said)
        except (WebSocketDisconnect, RuntimeError):
            self.socket = None if self.socket is socket else self.socket

    async def _said(self, socket: WebSocket, said: dict[str, Any]) -> None:
        if said["op"] == 1:
            self.beats += 1
            await socket.send_json({"op": 11})
            return
        self.greetings.append(said)
        if said["d"]["token"] != TOKEN:
            await socket.close(4004)
            return
        self.socket = socket
        if said["op"] == 2:
            ready = {"session_id": "S1", "resume_gateway_url": self.url.replace("http", "ws")}
            await self.dispatch("READY", {**ready, "user": {"id": BOT}})
        else:
            for event in [e for e in self.events if e["s"] > said["d"]["seq"]]:
                await socket.send_json(event)
            await socket.send_json({"op": 0, "t": "RESUMED", "s": len(self.events), "d": {}})

    async def dispatch(self, kind: str, data: dict[str, Any]) -> None:
        """Send an event; one that nobody receives is sent when the session is resumed."""
        self.events.append({"op": 0, "t": kind, "s": len(self.events) + 1, "d": data})
        if self.socket is not None:
            await self.socket.send_json(self.events[-1])

    async def write(self, text: str, sender: str = ANN, **more: Any) -> None:
        self._ids += 1
        author = {"id": sender, "username": f"u{sender}"}
        message = {"id": str(self._ids), "channel_id": "C1", "author": author, "content": text}
        await self.dispatch("MESSAGE_CREATE", message | more)

    async def cut(self, code: int) -> None:
        socket, self.socket = self.socket, None
        assert socket is not None
        await socket.close(code)


def texts(there: DiscordServer) -> list[str]:
    return [one["content"] for one in there.sent]


async def test_conversation_survives_two_dropped_connections(desk) -> None:
    there = DiscordServer()
    async with (
        served(there.app) as there.url,
        desk.running("discord", ENV, url=there.url, allow=[ANN]),
    ):
        await eventually(lambda: there.socket, desk.said)
        await there.write("Who repaired the pump of Skarholm?", mentions=[])
        await there.write("Eve asks who repaired the pump.", sender=EVE)
        await eventually(lambda: len(there.sent) == 1, desk.said)
        await there.cut(4000)
        await there.write("When was it built?")  # while nobody listens
        await eventually(lambda: len(there.sent) == 2, desk.said)
        assert there.socket is not None
        await there.socket.send_json({"op": 7, "d": None})
        await eventually(lambda: len(there.greetings) == 3, desk.said)
        there.limits = [JSONResponse({"retry_after": 0.01, "global": False}, 429)]
        await there.write("/report")
        await eventually(lambda: there.files, desk.said)
    assert "Ida Holm" in texts(there)[0]
    assert "1911" in texts(there)[1]
    assert b"1911" in there.files[0]
    assert [one["op"] for one in there.greetings] == [2, 6, 6]
    assert there.sent[0]["allowed_mentions"] == {"parse": []}
    assert sum("refused 99" in line for line in desk.said) == 1
    assert len(there.sent) == 3


async def test_expired_session_is_reidentified_without_duplicate_answers(desk) -> None:
    there = DiscordServer()
    async with (
        served(there.app) as there.url,
        desk.running("discord", ENV, url=there.url, allow=[ANN]),
    ):
        await eventually(lambda: there.socket, desk.said)
        await there.write("Who repaired the pump of Skarholm?")
        await eventually(lambda: len(there.sent) == 1, desk.said)
        await there.cut(4009)
        await eventually(lambda: len(there.greetings) == 2 and there.socket, desk.said)
        await there.dispatch("MESSAGE_CREATE", there.events[1]["d"])  # the same, once more
        await there.write("/help")
        await eventually(lambda: len(there.sent) == 2, desk.said)
    assert [one["op"] for one in there.greetings] == [2, 2]
    assert "Ask a question" in texts(there)[1]


async def test_bot_answers_only_mentions_in_a_server(desk) -> None:
    there = DiscordServer()
    async with (
        served(there.app) as there.url,
        desk.running("discord", ENV, url=there.url, allow=[ANN]),
    ):
        await eventually(lambda: there.socket, desk.said)
        before = {"author": {"id": EVE}, "content": "Tora Lund was warden of Hesk."}
        await there.write("Nice weather.", guild_id="G")
        await there.write("/help", guild_id="G", referenced_message=before)
        named = {"guild_id": "G", "mentions": [{"id": BOT}], "referenced_message": before}
        await there.write(f"<@{BOT}>", **named)
        await eventually(lambda: there.sent, desk.said)
    assert texts(there) == ["What would you like to know about it?"]


async def test_wrong_token_stops_discord_channel(desk) -> None:
    there = DiscordServer()
    async with (
        served(there.app) as there.url,
        desk.running("discord", {"DISCORD_TOKEN": "wrong.token.here"}, url=there.url, allow=[ANN]),
    ):
        await eventually(lambda: any("stopped" in line for line in desk.said), desk.said)
    assert "the token is wrong" in str(desk.said)
    assert len(there.greetings) == 1
