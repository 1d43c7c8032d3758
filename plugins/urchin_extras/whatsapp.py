"""WhatsApp, through Meta's Cloud API: messages arrive by webhook, answers are sent by REST.

https://developers.facebook.com/documentation/business-messaging/whatsapp
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import socket
from typing import TYPE_CHECKING, Any, ClassVar

from agent.channels.channel import Channel, ChannelSettings, Inbound, Outbound, response_json
from agent.errors import UsageError
from agent.notify.notice import Attachment
from urchin_extras.connections import download

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from agent.channels.channel import MessageHandler

_MAX_BODY_BYTES = 3 * 1024 * 1024  # Meta sends at most 3 MB
_MAX_LABEL_CHARS = 20  # characters on a button, Meta's limit
_MAX_BUTTON_TEXT_CHARS = 1024  # characters above buttons, Meta's limit
_FILE_TYPES = ("image", "document", "video")


class WhatsAppSettings(ChannelSettings):
    """`phone` is the id of our number.

    Your own reverse proxy forwards Meta's requests to `host`, `port` and `path`.
    """

    phone: str
    version: str = "v23.0"
    host: str = "127.0.0.1"
    port: int = 8788
    path: str = "/whatsapp"


class WhatsApp(Channel):
    """A WhatsApp Business account's phone number. Senders and threads are phone numbers."""

    Settings: ClassVar[type[ChannelSettings]] = WhatsAppSettings
    url = "https://graph.facebook.com"
    hosts: ClassVar[tuple[str, ...]] = ("lookaside.fbsbx.com",)
    keys: ClassVar[dict[str, str]] = {
        "token": "WHATSAPP_TOKEN",
        "secret": "WHATSAPP_APP_SECRET",
        "verify": "WHATSAPP_VERIFY_TOKEN",
    }
    max_message_length = 4096

    async def listen(self, handle: MessageHandler) -> None:
        """Serve the webhook; raises `UsageError` if the port is taken or Starlette is missing."""
        try:
            import uvicorn  # noqa: PLC0415 - an extra
            from starlette.applications import Starlette  # noqa: PLC0415 - as above
            from starlette.routing import Route  # noqa: PLC0415 - as above
        except ModuleNotFoundError as error:
            hint = "pip install 'urchin-extras[whatsapp]'"
            raise UsageError(f"{error.name} is not installed", hint=hint) from error
        self.key("secret"), self.key("verify"), self.key("token")

        async def hook(request: Request) -> Response:
            return await self._handle_webhook(request, handle)

        app = Starlette(routes=[Route(self.settings.path, hook, methods=["GET", "POST"])])
        config = uvicorn.Config(app, ws="none", log_config=None, access_log=False, lifespan="off")
        server = uvicorn.Server(config)
        with self._listening() as listening:
            serving = asyncio.ensure_future(server._serve([listening]))  # noqa: SLF001 - `serve` would install signal handlers
            try:
                await asyncio.shield(serving)
            finally:
                server.should_exit = True
                await serving

    def _listening(self) -> socket.socket:
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((self.settings.host, self.settings.port))
        except OSError as error:
            listening.close()
            where = f"{self.settings.host}:{self.settings.port}"
            raise UsageError(f"cannot listen on {where}: {error.strerror}") from error
        port = listening.getsockname()[1]
        self.link.report(
            f"the webhook is at http://{self.settings.host}:{port}{self.settings.path}"
        )
        return listening

    async def _handle_webhook(self, request: Request, handle: MessageHandler) -> Response:
        from starlette.responses import PlainTextResponse  # noqa: PLC0415 - an extra

        if request.method == "GET":
            asked = request.query_params
            known = hmac.compare_digest(
                asked.get("hub.verify_token", "").encode(), self.key("verify").encode()
            )
            if asked.get("hub.mode") == "subscribe" and known:
                return PlainTextResponse(asked.get("hub.challenge", ""))
            return PlainTextResponse("", status_code=403)
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > _MAX_BODY_BYTES:
                return PlainTextResponse("", status_code=413)
        if not self._is_signed(bytes(body), request.headers.get("x-hub-signature-256", "")):
            return PlainTextResponse("", status_code=403)
        try:
            inbound = _messages(json.loads(body), self.settings.phone)
        except (ValueError, TypeError, KeyError, AttributeError):
            return PlainTextResponse("", status_code=400)
        for message in inbound:
            await handle(message)
        return PlainTextResponse("")

    def _is_signed(self, body: bytes, signature: str) -> bool:
        mac = hmac.new(self.key("secret").encode(), body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(signature.encode(), f"sha256={mac}".encode())

    async def send(self, thread: str, message: Outbound, answering: str = "") -> None:
        """Send text without a preview, up to three buttons, or a file."""
        base: dict[str, Any] = {"messaging_product": "whatsapp", "to": thread}
        if answering.startswith("wamid."):
            base["context"] = {"message_id": answering}
        if message.buttons:
            question = {**base, "type": "interactive", "interactive": _interactive(message)}
            await self._messages(question, repeatable=message.is_question)
        elif message.text:
            text = {"body": message.text, "preview_url": False}
            await self._messages({**base, "type": "text", "text": text})
        for file in message.files:
            # Of the document types that Meta accepts, plain text fits Markdown and similar files.
            known = file.media_type if file.media_type == "application/pdf" else "text/plain"
            kept = await self._call(
                "POST",
                f"{self.settings.phone}/media",
                data={"messaging_product": "whatsapp", "type": known},
                files={"file": (file.name, file.body, known)},
            )
            document = {"id": kept["id"], "filename": file.name}
            await self._messages({**base, "type": "document", "document": document})

    async def check(self) -> str:
        """Return our number and its verified name."""
        me = await self._call("GET", self.settings.phone, repeatable=True)
        self.key("secret"), self.key("verify")
        return f"{me.get('display_phone_number', '')} {me.get('verified_name', '')}".strip()

    async def fetch(self, file: str) -> Attachment:
        """Download a file by its id."""
        number, _, name = file.partition(" ")
        there = await self._call("GET", number, repeatable=True)
        body = await download(self.link, "WhatsApp", there["url"], self.key("token"))
        return Attachment(name or "file", body, str(there.get("mime_type", "")))

    async def _messages(self, body: dict[str, Any], *, repeatable: bool = False) -> None:
        path = f"{self.settings.phone}/messages"
        await self._call("POST", path, repeatable=repeatable, json=body)

    async def _call(
        self, method: str, path: str, *, repeatable: bool = False, **request: Any
    ) -> Any:
        headers = {"Authorization": f"Bearer {self.key('token')}"}
        where = f"{self.base}/{self.settings.version}/{path}"
        answer = await self.link.http.call(
            method, where, repeatable=repeatable, headers=headers, **request
        )
        return response_json(answer, "WhatsApp")


def _interactive(message: Outbound) -> dict[str, Any]:
    buttons = [
        {"type": "reply", "reply": {"id": name, "title": label[:_MAX_LABEL_CHARS]}}
        for name, label in message.buttons[:3]
    ]
    body = {"text": message.text[:_MAX_BUTTON_TEXT_CHARS]}
    return {"type": "button", "body": body, "action": {"buttons": buttons}}


def _messages(hook: dict[str, Any], phone: str) -> list[Inbound]:
    """Parse the messages sent to our number; webhooks also report the status of sent messages."""
    values = [
        change["value"]
        for entry in hook.get("entry", ())
        for change in entry.get("changes", ())
        if change.get("field") == "messages"
    ]
    own = (v for v in values if v.get("metadata", {}).get("phone_number_id") == phone)
    return [_message(message) for value in own for message in value.get("messages", ())]


def _message(message: dict[str, Any]) -> Inbound:
    kind = str(message.get("type", ""))
    content: dict[str, Any] = message[kind] if isinstance(message.get(kind), dict) else {}
    text = str(content.get("body") or content.get("caption") or "")
    context = message.get("context") or {}
    forwarded = bool(context.get("forwarded") or context.get("frequently_forwarded"))
    pressed = content.get("button_reply", {}).get("id", "") if kind == "interactive" else ""
    file = (
        f"{content['id']} {content.get('filename') or kind}"
        if content and kind in _FILE_TYPES
        else ""
    )
    return Inbound(
        id=str(message["id"]),
        sender=str(message["from"]),
        thread=str(message["from"]),
        text="" if forwarded else text,
        quoted=text if forwarded else "",
        files=(file,) if file else (),
        choice=str(pressed),
    )
