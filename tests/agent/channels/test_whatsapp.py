"""WhatsApp, over a Graph API on loopback, with its webhook as Meta calls it."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

import httpx2
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.agent.channels.conftest import eventually, served

if TYPE_CHECKING:
    from starlette.requests import Request

ENV = {
    "WHATSAPP_TOKEN": "token-of-a-test",
    "WHATSAPP_APP_SECRET": "secret-of-a-test",
    "WHATSAPP_VERIFY_TOKEN": "verify-of-a-test",
}
ANN, EVE, PHONE = "4712345678", "4799999999", "10555"


class Graph:
    """Records what was sent, and calls the webhook."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.files: list[bytes] = []
        self.limits: list[Response] = []
        self._ids = 0
        self.app = Starlette(
            routes=[
                Route(f"/v23.0/{PHONE}/messages", self.messages, methods=["POST"]),
                Route(f"/v23.0/{PHONE}/media", self.media, methods=["POST"]),
                Route(f"/v23.0/{PHONE}", self.me),
            ]
        )

    async def me(self, request: Request) -> Response:
        if request.headers["authorization"] != "Bearer token-of-a-test":
            error = {"message": "Invalid OAuth access token.", "code": 190}
            return JSONResponse({"error": error}, 401)
        return JSONResponse({"display_phone_number": "+47 1", "verified_name": "Urchin"})

    async def messages(self, request: Request) -> Response:
        if self.limits:
            return self.limits.pop(0)
        self.sent.append(await request.json())
        return JSONResponse({"messages": [{"id": "wamid.out"}]})

    async def media(self, request: Request) -> Response:
        async with request.form() as form:
            upload: Any = form["file"]
            self.files.append(await upload.read())
        return JSONResponse({"id": "M1"})

    def hook(self, text: str, sender: str = ANN, **more: Any) -> bytes:
        self._ids += 1
        message = {
            "from": sender,
            "id": f"wamid.{self._ids}",
            "type": "text",
            "text": {"body": text},
        }
        value = {"messaging_product": "whatsapp", "metadata": {"phone_number_id": PHONE}}
        value |= {"messages": [message | more]}
        change = {"field": "messages", "value": value}
        return json.dumps(
            {"object": "whatsapp_business_account", "entry": [{"changes": [change]}]}
        ).encode()


def signed(body: bytes, secret: str = "secret-of-a-test") -> dict[str, str]:
    mac = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"X-Hub-Signature-256": f"sha256={mac}"}


def webhook_url(said: list[str]) -> str:
    return next((line.rpartition(" ")[2] for line in said if "webhook is at" in line), "")


async def test_conversation_survives_restarts_and_redelivery(desk) -> None:
    graph = Graph()
    flags = {"allow": [ANN], "phone": PHONE, "port": 0}
    first = graph.hook("Who repaired the pump of Skarholm?")
    async with served(graph.app) as url, httpx2.AsyncClient() as meta:
        for number, body in enumerate(
            (first, graph.hook("When was it built?"), graph.hook("/report pdfx"))
        ):
            desk.said.clear()
            async with desk.running("whatsapp", ENV, url=url, **flags):
                where = await eventually(lambda: webhook_url(desk.said), desk.said)
                graph.limits = [Response(status_code=429, headers={"Retry-After": "0"})]
                for again in (body, first, body):  # Meta resends if it is unsure
                    answer = await meta.post(where, content=again, headers=signed(again))
                    assert answer.status_code == 200
                await eventually(lambda n=number: len(graph.sent) == n + 1, desk.said)
        async with desk.running("whatsapp", ENV, url=url, **flags):
            desk.said.clear()
            where = await eventually(lambda: webhook_url(desk.said), desk.said)
            body = graph.hook("/report md")
            await meta.post(where, content=body, headers=signed(body))
            await eventually(lambda: len(graph.sent) == 4, desk.said)
    texts = [one.get("text", {}).get("body", "") for one in graph.sent]
    assert "Ida Holm" in texts[0]
    assert "1911" in texts[1]
    assert "unknown format" in texts[2]
    assert graph.sent[0]["context"] == {"message_id": "wamid.1"}
    assert b"1911" in graph.files[0]
    assert graph.sent[3]["document"]["filename"].endswith(".md")


async def test_webhook_rejects_unsigned_and_malformed_requests(desk, tmp_path) -> None:
    graph = Graph()
    async with (
        served(graph.app) as url,
        desk.running("whatsapp", ENV, url=url, allow=[ANN], phone=PHONE, port=0),
        httpx2.AsyncClient() as meta,
    ):
        where = await eventually(lambda: webhook_url(desk.said), desk.said)
        body = graph.hook("Who repaired the pump of Skarholm?")
        for headers in ({}, signed(body, "guessed"), {"X-Hub-Signature-256": "sha256=å".encode()}):
            assert (await meta.post(where, content=body, headers=headers)).status_code == 403
        for bad in (
            b"[]",
            b"{",
            b'{"entry": 3}',
            b'{"entry":[{"changes":[{"field":"messages"}]}]}',
        ):
            assert (await meta.post(where, content=bad, headers=signed(bad))).status_code in {
                200,
                400,
            }
        huge = b" " * (4 * 1024 * 1024)
        assert (await meta.post(where, content=huge, headers=signed(huge))).status_code == 413
        asked = {
            "hub.mode": "subscribe",
            "hub.verify_token": "verify-of-a-test",
            "hub.challenge": "7",
        }
        assert (await meta.get(where, params=asked)).text == "7"
        asked["hub.verify_token"] = "guessed"
        assert (await meta.get(where, params=asked)).status_code == 403
        stranger = graph.hook("Who repaired the pump?", sender=EVE)
        assert (
            await meta.post(where, content=stranger, headers=signed(stranger))
        ).status_code == 200
        forwarded = graph.hook("Tora Lund was warden.", context={"forwarded": True})
        await meta.post(where, content=forwarded, headers=signed(forwarded))
        await eventually(lambda: graph.sent, desk.said)
    assert [one["text"]["body"] for one in graph.sent] == ["What would you like to know about it?"]
    assert not (tmp_path / "data" / "runs").exists()
