"""Telegram, through its Bot API (https://core.telegram.org/bots/api) with long polling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from agent.channels.channel import Channel, ChannelSettings, Inbound, Outbound, response_json
from agent.errors import NotSent, UsageError
from agent.notify.notice import Attachment
from urchin_extras.connections import download

if TYPE_CHECKING:
    from agent.channels.channel import MessageHandler

_UPDATE_TYPES = ["message", "callback_query"]


class TelegramSettings(ChannelSettings):
    """`poll` is how many seconds a request waits for messages; the client gives up after 30."""

    poll: int = 25


class Telegram(Channel):
    """A bot created with BotFather. A sender is a user id; a thread is a chat or a topic in it."""

    Settings: ClassVar[type[ChannelSettings]] = TelegramSettings
    url = "https://api.telegram.org"
    keys: ClassVar[dict[str, str]] = {"token": "TELEGRAM_TOKEN"}
    max_message_length = 4096

    async def listen(self, handle: MessageHandler) -> None:
        """Poll for messages, with one long request after another."""
        after = 0
        while True:
            asked = {
                "offset": after,
                "timeout": self.settings.poll,
                "allowed_updates": _UPDATE_TYPES,
            }
            for update in await self._call("getUpdates", repeatable=True, json=asked):
                after = max(after, int(update["update_id"]) + 1)
                pressed = update.get("callback_query")
                parse = _message if pressed is None else _read_button_press
                inbound = self.read(parse, update.get("message") if pressed is None else pressed)
                if inbound is not None:
                    await handle(inbound)
                if pressed is not None:
                    asked = {"callback_query_id": pressed.get("id")}
                    await self._call("answerCallbackQuery", json=asked)

    async def send(self, thread: str, message: Outbound, answering: str = "") -> None:
        """Send text without link previews, or one file."""
        chat, _, topic = thread.partition("/")
        asked: dict[str, Any] = {"chat_id": chat, "link_preview_options": {"is_disabled": True}}
        if topic:
            asked["message_thread_id"] = int(topic)
        place, _, number = answering.rpartition("/")
        if place == chat and number.isdecimal():
            asked["reply_parameters"] = {
                "message_id": int(number),
                "allow_sending_without_reply": True,
            }
        if message.buttons:
            row = [{"text": label, "callback_data": name} for name, label in message.buttons]
            asked["reply_markup"] = {"inline_keyboard": [row]}
        if message.text:
            asked["text"] = message.text
            await self._call("sendMessage", repeatable=message.is_question, json=asked)
        for file in message.files:
            form = {"chat_id": chat, **({"message_thread_id": topic} if topic else {})}
            body = {"document": (file.name, file.body, file.media_type)}
            await self._call("sendDocument", data=form, files=body)

    async def check(self) -> str:
        """Return the bot's name."""
        me = await self._call("getMe", repeatable=True)
        return f"@{me.get('username', '')}"

    async def busy(self, thread: str) -> None:
        """Show the typing indicator for five seconds."""
        chat = thread.partition("/")[0]
        await self._call("sendChatAction", json={"chat_id": chat, "action": "typing"})

    async def fetch(self, file: str) -> Attachment:
        """Download a file by its id, up to 20 MB."""
        number, _, name = file.partition(" ")
        found = await self._call("getFile", repeatable=True, json={"file_id": number})
        path = str(found.get("file_path", ""))
        where = f"{self.base}/file/bot{self.key('token')}/{path}"
        body = await download(self.link, "Telegram", where)
        return Attachment.from_bytes(name or path.rpartition("/")[2], body)

    async def _call(self, method: str, *, repeatable: bool = False, **request: Any) -> Any:
        where = f"{self.base}/bot{self.key('token')}/{method}"
        answer = await self.link.http.call("POST", where, repeatable=repeatable, **request)
        if answer.status_code == 404:  # this is how Telegram reports an unknown bot
            raise UsageError(
                "Telegram has no bot with this token", hint="Get a token from BotFather."
            )
        if answer.status_code == 403:  # this user has blocked the bot; others have not
            raise NotSent(f"Telegram, {method}: forbidden: was the bot blocked?")
        return response_json(answer, f"Telegram, {method}").get("result")


def _thread(message: dict[str, Any]) -> str:
    chat = str(message["chat"]["id"])
    return f"{chat}/{message['message_thread_id']}" if message.get("is_topic_message") else chat


def _name(user: dict[str, Any]) -> str:
    return str(user.get("username") or user.get("first_name") or "")


def _message(message: dict[str, Any]) -> Inbound | None:
    if not message or "from" not in message:  # a channel post, or another kind of update
        return None
    text, quoted = str(message.get("text") or message.get("caption") or ""), _quoted(message)
    if "forward_origin" in message:
        text, quoted = "", text
    return Inbound(
        id=f"{message['chat']['id']}/{message['message_id']}",
        sender=str(message["from"]["id"]),
        thread=_thread(message),
        text=text,
        quoted=quoted,
        files=tuple(_files(message)),
        name=_name(message["from"]),
    )


def _quoted(message: dict[str, Any]) -> str:
    """Return the message replied to; "" for the bot's own, which the conversation contains."""
    if "quote" in message:
        return str(message["quote"].get("text", ""))
    answered_to = message.get("external_reply") or message.get("reply_to_message") or {}
    if answered_to.get("from", {}).get("is_bot"):
        return ""
    return str(answered_to.get("text") or answered_to.get("caption") or "")


def _files(message: dict[str, Any]) -> list[str]:
    found = []
    if document := message.get("document"):
        found.append(f"{document['file_id']} {document.get('file_name', '')}".strip())
    if photo := message.get("photo"):
        found.append(f"{photo[-1]['file_id']} photo.jpg")  # the largest size is last
    return found


def _read_button_press(pressed: dict[str, Any]) -> Inbound:
    return Inbound(
        id=f"pressed {pressed['id']}",
        sender=str(pressed["from"]["id"]),
        thread=_thread(pressed["message"]) if "message" in pressed else "",
        choice=str(pressed.get("data", "")) or "-",
        name=_name(pressed["from"]),
    )
