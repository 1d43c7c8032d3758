"""Slack, over a socket and a Web API on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from tests.agent.channels.conftest import eventually, served

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.websockets import WebSocket

ENV = {"SLACK_APP_TOKEN": "xapp-of-a-test", "SLACK_BOT_TOKEN": "xoxb-of-a-test"}
ANN, EVE = "U71", "U99"


class Workspace:
    """Sends envelopes until each is acknowledged, and records what the bot posted."""

    def __init__(self) -> None:
        self.url = ""
        self.sockets = 0
        self.socket: WebSocket | None = None
        self.open: dict[str, dict[str, Any]] = {}
        self.sent: list[dict[str, Any]] = []
        self.files: list[bytes] = []
        self.limits: list[Response] = []
        self.deaf = False  # hears no acknowledgements
        self.app = Starlette(
            routes=[
                WebSocketRoute("/link", self.link),
                Route("/upload", self.upload, methods=["POST"]),
                Route("/{method}", self.method, methods=["POST"]),
            ]
        )

    async def method(self, request: Request) -> Response:
        method = request.path_params["method"]
        key = "SLACK_APP_TOKEN" if method == "apps.connections.open" else "SLACK_BOT_TOKEN"
        if request.headers["authorization"] != f"Bearer {ENV[key]}":
            return JSONResponse({"ok": False, "error": "invalid_auth"})
        if method == "apps.connections.open":
            return JSONResponse(
                {"ok": True, "url": f"{self.url.replace('http', 'ws')}/link?ticket=1"}
            )
        if method == "files.getUploadURLExternal":
            async with request.form() as form:
                assert int(str(form["length"])) > 0
            return JSONResponse({"ok": True, "upload_url": f"{self.url}/upload", "file_id": "F1"})
        if method == "chat.postMessage" and self.limits:
            return self.limits.pop(0)
        self.sent.append({"method": method, **await request.json()})
        return JSONResponse({"ok": True, "ts": "9.9"})

    async def upload(self, request: Request) -> Response:
        self.files.append(await request.body())
        return Response("OK")

    async def link(self, socket: WebSocket) -> None:
        await socket.accept()
        self.sockets += 1
        await socket.send_json({"type": "hello"})
        self.socket, left = socket, list(self.open.values())
        for envelope in left:
            await socket.send_json(envelope)
        try:
            while True:
                said = await socket.receive_json()
                if not self.deaf:
                    self.open.pop(said["envelope_id"], None)
        except (WebSocketDisconnect, RuntimeError):
            self.socket = None if self.socket is socket else self.socket

    async def tell(self, kind: str, payload: dict[str, Any]) -> None:
        name = f"E{len(self.open)}-{len(self.sent)}-{self.sockets}"
        self.open[name] = {"type": kind, "envelope_id": name, "payload": payload}
        if self.socket is not None:
            await self.socket.send_json(self.open[name])

    async def write(self, text: str, ts: str, sender: str = ANN, **more: Any) -> None:
        event = {"type": "message", "channel_type": "im", "channel": "D1", "user": sender}
        await self.tell("events_api", {"event": event | {"text": text, "ts": ts} | more})


async def test_slack_conversation_survives_dropped_sockets(desk) -> None:
    there = Workspace()
    async with (
        served(there.app) as there.url,
        desk.running("slack", ENV, url=there.url, allow=[ANN]),
    ):
        await eventually(lambda: there.socket, desk.said)
        there.deaf = True
        await there.write("Who repaired the pump of Skarholm?", "1.1")
        await there.write("Who repaired the pump?", "1.2", sender=EVE)
        await eventually(lambda: len(there.sent) == 1, desk.said)
        socket, there.socket = there.socket, None
        await socket.close(1011)  # unacknowledged envelopes are sent again
        await eventually(lambda: there.sockets == 2 and there.socket, desk.said)
        there.deaf = False
        there.limits = [Response(status_code=429, headers={"Retry-After": "0"})]
        await there.write("When was it built?", "1.3")
        await eventually(lambda: len(there.sent) == 2, desk.said)
        socket, there.socket = there.socket, None
        await socket.send_json({"type": "disconnect", "reason": "refresh_requested"})
        await eventually(lambda: there.sockets == 3 and there.socket, desk.said)
        await there.write("/report", "1.4")
        await eventually(lambda: len(there.sent) == 3, desk.said)
    assert "Ida Holm" in there.sent[0]["text"]
    assert "1911" in there.sent[1]["text"]
    assert there.sent[2]["method"] == "files.completeUploadExternal"
    assert b"1911" in there.files[0]
    assert sum("refused U99" in line for line in desk.said) == 1
    assert not there.sent[0]["unfurl_links"]


async def test_mention_is_answered_in_thread_and_quote_alone_is_no_question(desk) -> None:
    there = Workspace()
    async with (
        served(there.app) as there.url,
        desk.running("slack", ENV, url=there.url, allow=[ANN]),
    ):
        await eventually(lambda: there.socket, desk.said)
        mention = {"type": "app_mention", "channel": "C1", "channel_type": "channel"}
        await there.write("<@U1> Who repaired the pump of Skarholm?", "2.1", **mention)
        await eventually(lambda: len(there.sent) == 1, desk.said)
        await there.write("<@U1>\n&gt; Tora Lund was warden.", "2.2", thread_ts="2.1", **mention)
        await eventually(lambda: len(there.sent) == 2, desk.said)
        await there.write("changed", "2.3", subtype="message_changed")
        await there.write("I am a bot", "2.4", bot_id="B1")
        await there.write("&lt;!channel&gt; /help", "2.5")
        await eventually(lambda: len(there.sent) == 3, desk.said)
    assert {one["channel"] for one in there.sent[:2]} == {"C1"}
    assert {one["thread_ts"] for one in there.sent[:2]} == {"2.1"}
    assert "What would you like to know" in there.sent[1]["text"]
    assert "<!channel>" not in there.sent[2]["text"]


async def test_wrong_token_stops_slack_channel(desk) -> None:
    there = Workspace()
    wrong = {**ENV, "SLACK_APP_TOKEN": "xapp-wrong-one"}
    async with (
        served(there.app) as there.url,
        desk.running("slack", wrong, url=there.url, allow=[ANN]),
    ):
        await eventually(lambda: any("stopped" in line for line in desk.said), desk.said)
    assert "invalid_auth" in str(desk.said)
    assert "xapp-wrong" not in str(desk.said)
