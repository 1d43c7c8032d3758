"""Discord, through its gateway and REST API, version 10 (https://docs.discord.com)."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import suppress
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Final

from agent.channels.channel import Channel, Inbound, Outbound, response_json
from agent.errors import NotSent, UsageError
from agent.notify.notice import Attachment
from browser.errors import ConnectFailed
from urchin_extras.connections import connect_websocket, download

if TYPE_CHECKING:
    from agent.channels.channel import MessageHandler
    from urchin_extras.connections import SocketLink


class _Op(IntEnum):
    """The type of a gateway event."""

    DISPATCH = 0
    HEARTBEAT = 1
    IDENTIFY = 2
    RESUME = 6
    RECONNECT = 7
    INVALID_SESSION = 9
    HELLO = 10
    HEARTBEAT_ACK = 11


_INTENTS = 1 << 9 | 1 << 12 | 1 << 15
"""Gateway intents: server messages, direct messages, and their content."""
_FATAL_CLOSE_CODES: Final = {
    4004: "the token is wrong",
    4010: "the shard is invalid",
    4011: "the bot is in too many servers for one connection",
    4012: "the gateway version is no longer supported",
    4013: "the intents are invalid",
    4014: "the bot may not read messages: enable the Message Content Intent",
}
"""Close codes after which reconnecting cannot succeed."""
_NEW_SESSION_CLOSE_CODES = frozenset({4007, 4009})
_RESUMABLE_CLOSE_CODE = 4000  # any code except 1000 and 1001 keeps the session
_NO_PREVIEWS = 1 << 2  # Discord's message flag SUPPRESS_EMBEDS
_BUTTON_TYPE, _ROW_TYPE, _GREY_STYLE = 2, 1, 2
_ACKNOWLEDGEMENT = {"type": 6}


class Discord(Channel):
    """An application's bot. A sender is identified by a user id, a thread by a channel id."""

    url = "https://discord.com/api/v10"
    hosts: ClassVar[tuple[str, ...]] = (
        "gateway.discord.gg",
        "*.discord.gg",
        "cdn.discordapp.com",
        "media.discordapp.net",
    )
    keys: ClassVar[dict[str, str]] = {"token": "DISCORD_TOKEN"}
    max_message_length = 2000

    def __init__(self, settings: Any, link: Any) -> None:
        super().__init__(settings, link)
        self._session = ""
        self._resume_at = ""
        self._last: int | None = None
        self._acknowledged = True
        self._me = ""

    async def listen(self, handle: MessageHandler) -> None:
        """Handle one gateway connection's events; the next connection resumes the session."""
        where = self._resume_at or (await self._call("GET", "/gateway/bot", repeatable=True))["url"]
        async with connect_websocket(
            f"{where.rstrip('/')}/?v=10&encoding=json", self.link.proxy_url
        ) as socket:
            beating: asyncio.Task[None] | None = None
            try:
                while True:
                    event = await socket.receive()
                    if event.get("op") == _Op.HELLO and beating is None:
                        every = event["d"]["heartbeat_interval"] / 1000
                        self._acknowledged = True
                        beating = asyncio.create_task(self._send_heartbeats(socket, every))
                        await socket.send(self._identify_or_resume())
                    elif not await self._handle_event(event, socket, handle):
                        return
            except ConnectFailed:
                self._handle_close_code(socket.close_code)
                raise
            finally:
                if beating is not None:
                    beating.cancel()

    async def _handle_event(
        self, event: dict[str, Any], socket: SocketLink, handle: MessageHandler
    ) -> bool:
        """Handle an event; returns False if it asks for a new connection."""
        match event.get("op"):
            case _Op.DISPATCH:
                await self._handle_dispatch(event, handle)
                self._last = (
                    event.get("s") or self._last
                )  # stored on disk, so Discord need not send it again
            case _Op.HEARTBEAT:
                await socket.send({"op": _Op.HEARTBEAT, "d": self._last})
            case _Op.HEARTBEAT_ACK:
                self._acknowledged = True
            case _Op.RECONNECT:
                await socket.close(_RESUMABLE_CLOSE_CODE)
                return False
            case _Op.INVALID_SESSION:
                if not event.get("d"):
                    self._forget_session()
                await socket.close(_RESUMABLE_CLOSE_CODE)
                return False
        return True

    def _identify_or_resume(self) -> dict[str, Any]:
        token = self.key("token")
        if self._session:
            session = {"token": token, "session_id": self._session, "seq": self._last}
            return {"op": _Op.RESUME, "d": session}
        names = {"os": "linux", "browser": "urchin", "device": "urchin"}
        return {"op": _Op.IDENTIFY, "d": {"token": token, "intents": _INTENTS, "properties": names}}

    async def _send_heartbeats(self, socket: SocketLink, every: float) -> None:
        """Send heartbeats; close the connection if one is not acknowledged."""
        with suppress(ConnectFailed):  # `listen` gets the same error
            await asyncio.sleep(every * random.random())
            while self._acknowledged:
                self._acknowledged = False
                await socket.send({"op": _Op.HEARTBEAT, "d": self._last})
                await asyncio.sleep(every)
            await socket.close(_RESUMABLE_CLOSE_CODE)

    def _handle_close_code(self, code: int | None) -> None:
        if code in _FATAL_CLOSE_CODES:
            raise UsageError(
                f"Discord rejected the bot: {_FATAL_CLOSE_CODES[code]}",
                hint="See docs/channels.md.",
            )
        if code in _NEW_SESSION_CLOSE_CODES:
            self._forget_session()

    def _forget_session(self) -> None:
        self._session, self._resume_at, self._last = "", "", None

    async def _handle_dispatch(self, event: dict[str, Any], handle: MessageHandler) -> None:
        data = event.get("d") or {}
        match event.get("t"):
            case "READY":
                self._session, self._resume_at = data["session_id"], data["resume_gateway_url"]
                self._me = str(data["user"]["id"])
            case "MESSAGE_CREATE":
                if not data.get("author", {}).get("bot") and self._is_for_us(data):
                    inbound = self.read(self._message, data)
                    if inbound is not None:
                        await handle(inbound)
            case "INTERACTION_CREATE":
                if data.get("data", {}).get("custom_id"):
                    pressed = self.read(_read_button_press, data)
                    if pressed is not None:
                        await handle(pressed)
                    where = f"/interactions/{data['id']}/{data['token']}/callback"
                    with suppress(
                        NotSent, ConnectFailed
                    ):  # Discord requires this within three seconds
                        await self._call("POST", where, json=_ACKNOWLEDGEMENT)

    def _is_for_us(self, message: dict[str, Any]) -> bool:
        """Whether a message is a direct one or, in a server, mentions or answers the bot."""
        named = {str(user["id"]) for user in message.get("mentions", ())}
        author = (message.get("referenced_message") or {}).get("author", {})
        return not message.get("guild_id") or self._me in named or str(author.get("id")) == self._me

    def _message(self, message: dict[str, Any]) -> Inbound:
        text = str(message.get("content", ""))
        for mention in (f"<@{self._me}>", f"<@!{self._me}>"):
            text = text.replace(mention, "")
        shot = [one.get("message", {}) for one in message.get("message_snapshots", ())]
        before = message.get("referenced_message") or {}
        if str(before.get("author", {}).get("id")) == self._me:
            before = {}  # the conversation already contains the bot's own messages
        others = [str(one.get("content", "")) for one in (before, *shot)]
        files = [f for one in (message, *shot) for f in one.get("attachments", ())]
        return Inbound(
            id=str(message["id"]),
            sender=str(message["author"]["id"]),
            thread=str(message["channel_id"]),
            text=text.strip(),
            quoted="\n\n".join(filter(None, others)),
            files=tuple(f"{file['url']} {file.get('filename', '')}" for file in files),
            name=str(message["author"].get("username", "")),
        )

    async def send(self, thread: str, message: Outbound, answering: str = "") -> None:
        """Send text, buttons and files as one message that mentions nobody.

        With the nonce, Discord recognises a message that is sent again.
        """
        asked: dict[str, Any] = {
            "content": message.text,
            "allowed_mentions": {"parse": []},
            "flags": _NO_PREVIEWS,
        }
        if message.id:
            asked |= {"nonce": message.id[:25], "enforce_nonce": True}
        if answering.isdecimal():
            asked["message_reference"] = {"message_id": answering, "fail_if_not_exists": False}
        if message.buttons:
            row = [
                {"type": _BUTTON_TYPE, "style": _GREY_STYLE, "label": label, "custom_id": name}
                for name, label in message.buttons
            ]
            asked["components"] = [{"type": _ROW_TYPE, "components": row}]
        request: dict[str, Any] = {"json": asked}
        if message.files:
            parts = {
                f"files[{n}]": (f.name, f.body, f.media_type) for n, f in enumerate(message.files)
            }
            request = {"data": {"payload_json": json.dumps(asked)}, "files": parts}
        where = f"/channels/{thread}/messages"
        await self._call("POST", where, repeatable=bool(message.id), **request)

    async def check(self) -> str:
        """Return the bot's name."""
        me = await self._call("GET", "/users/@me", repeatable=True)
        return str(me.get("username", ""))

    async def busy(self, thread: str) -> None:
        """Show the typing indicator for ten seconds."""
        await self._call("POST", f"/channels/{thread}/typing")

    async def fetch(self, file: str) -> Attachment:
        """Download a file by its address, which is signed and needs no token."""
        where, _, name = file.partition(" ")
        return Attachment.from_bytes(name or "file", await download(self.link, "Discord", where))

    async def _call(
        self, method: str, path: str, *, repeatable: bool = False, **request: Any
    ) -> Any:
        headers = {
            "Authorization": f"Bot {self.key('token')}",
            "User-Agent": "DiscordBot (https://pypi.org/project/urchin-research, 1)",
        }
        answer = await self.link.http.call(
            method, f"{self.base}{path}", repeatable=repeatable, headers=headers, **request
        )
        if answer.status_code == 403:  # concerns only this channel or user
            raise NotSent(f"Discord, {path.split('/')[1]}: the bot is not allowed to do that there")
        return response_json(answer, f"Discord, {path.split('/')[1]}")


def _read_button_press(data: dict[str, Any]) -> Inbound:
    user = data.get("user") or data.get("member", {}).get("user", {})
    return Inbound(
        id=f"pressed {data['id']}",
        sender=str(user.get("id", "")),
        thread=str(data.get("channel_id", "")),
        choice=str(data["data"]["custom_id"]),
        name=str(user.get("username", "")),
    )
