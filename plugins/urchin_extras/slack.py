"""Slack, through Socket Mode and the Web API (https://docs.slack.dev); no server is needed."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any, ClassVar

from agent.channels.channel import Channel, Inbound, Outbound, response_json
from agent.errors import NotSent, UsageError
from agent.notify.notice import Attachment
from urchin_extras.connections import connect_websocket, download

if TYPE_CHECKING:
    from agent.channels.channel import MessageHandler

_TOKEN_ERRORS = frozenset(
    {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired",
     "not_allowed_token_type", "missing_scope", "no_permission"}
)  # fmt: skip
_USER_SUBTYPES = frozenset({None, "file_share"})
"""Subtypes of messages that users write; other subtypes report edits, joins and bots."""
_MARKUP = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")


class Slack(Channel):
    """An app's bot. A sender is a user id; a thread is a conversation id with a thread id."""

    url = "https://slack.com/api"
    hosts: ClassVar[tuple[str, ...]] = ("*.slack.com",)
    keys: ClassVar[dict[str, str]] = {"app": "SLACK_APP_TOKEN", "bot": "SLACK_BOT_TOKEN"}
    max_message_length = 3500

    async def listen(self, handle: MessageHandler) -> None:
        """Handle one socket's events until Slack asks for a new one (every few hours)."""
        where = (await self._call("apps.connections.open", key="app", repeatable=True))["url"]
        async with connect_websocket(where, self.link.proxy_url) as socket:
            while True:
                envelope = await socket.receive()
                kind, payload = envelope.get("type"), envelope.get("payload") or {}
                if kind == "disconnect":
                    return
                inbound = None
                if kind == "events_api":
                    inbound = self.read(_message, payload.get("event") or {})
                elif kind == "interactive" and payload.get("type") == "block_actions":
                    inbound = self.read(_read_button_press, payload)
                if inbound is not None:
                    await handle(inbound)
                if "envelope_id" in envelope:  # unacknowledged envelopes are sent again
                    await socket.send({"envelope_id": envelope["envelope_id"]})

    async def send(self, thread: str, message: Outbound, answering: str = "") -> None:  # noqa: ARG002 - `thread` is enough
        """Send text unchanged, without mentions and previews, and files to the same thread."""
        channel, _, root = thread.partition("/")
        place = {"channel": channel, **({"thread_ts": root} if root else {})}
        if message.text:
            asked: dict[str, Any] = {
                **place,
                "text": html.escape(message.text, quote=False),
                "mrkdwn": False,
                "unfurl_links": False,
                "unfurl_media": False,
            }
            if message.buttons:
                asked["blocks"] = _blocks(asked["text"], message.buttons)
            await self._call("chat.postMessage", repeatable=message.is_question, json=asked)
        for file in message.files:
            await self._upload(file, channel, root)

    async def _upload(self, file: Attachment, channel: str, root: str) -> None:
        named = {"filename": file.name, "length": str(len(file.body))}
        there = await self._call("files.getUploadURLExternal", repeatable=True, data=named)
        put = await self.link.http.call("POST", there["upload_url"], content=file.body)
        if not put.is_success:
            raise NotSent(f"Slack did not accept the file: {put.status_code}")
        asked: dict[str, Any] = {"files": [{"id": there["file_id"], "title": file.name}]}
        asked |= {"channel_id": channel, **({"thread_ts": root} if root else {})}
        await self._call("files.completeUploadExternal", json=asked)

    async def check(self) -> str:
        """Return the bot and its workspace; also request a socket, which checks the other token."""
        me = await self._call("auth.test", repeatable=True)
        await self._call("apps.connections.open", key="app", repeatable=True)
        return f"{me.get('user', '')} in {me.get('team', '')}"

    async def fetch(self, file: str) -> Attachment:
        """Download a file by its address, which requires the bot's token."""
        where, _, name = file.partition(" ")
        body = await download(self.link, "Slack", where, self.key("bot"))
        return Attachment.from_bytes(name or "file", body)

    async def _call(
        self, method: str, *, key: str = "bot", repeatable: bool = False, **request: Any
    ) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.key(key)}"}
        answer = await self.link.http.call(
            "POST", f"{self.base}/{method}", repeatable=repeatable, headers=headers, **request
        )
        body: dict[str, Any] = response_json(answer, f"Slack, {method}")
        if body.get("ok"):
            return body
        error = str(body.get("error", "no reason"))
        if error in _TOKEN_ERRORS:
            hint = "Check the tokens and their scopes (see docs/channels.md)."
            raise UsageError(f"Slack, {method}: {error}", hint=hint)
        raise NotSent(f"Slack, {method}: {error}")


def _message(event: dict[str, Any]) -> Inbound | None:
    """Parse a direct message or a message that mentions the bot; None for any other event."""
    direct = event.get("type") == "message" and event.get("channel_type") == "im"
    if not direct and event.get("type") != "app_mention":
        return None
    if event.get("bot_id") or event.get("subtype") not in _USER_SUBTYPES or not event.get("user"):
        return None
    root = event.get("thread_ts") or ("" if direct else event["ts"])
    lines = [_strip_slack_markup(line) for line in str(event.get("text", "")).split("\n")]
    shared = [str(one.get("text", "")) for one in event.get("attachments", ())]
    quoted = [line.lstrip("> ") for line in lines if line.startswith(">")]
    return Inbound(
        id=f"{event['channel']}/{event['ts']}",
        sender=str(event["user"]),
        thread=f"{event['channel']}/{root}" if root else str(event["channel"]),
        text="\n".join(line for line in lines if not line.startswith(">")).strip(),
        quoted="\n".join(filter(None, [*quoted, *shared])),
        files=tuple(
            f"{file['url_private_download']} {file.get('name', '')}"
            for file in event.get("files", ())
            if "url_private_download" in file
        ),
    )


def _strip_slack_markup(line: str) -> str:
    """Return the text as the user wrote it: addresses for `<url|label>`, nothing for `<@bot>`."""

    def written(mark: re.Match[str]) -> str:
        inner = mark[1]
        return (mark[2] or "") if inner[:1] in {"@", "#", "!"} else inner

    return html.unescape(_MARKUP.sub(written, line))


def _blocks(text: str, buttons: tuple[tuple[str, str], ...]) -> list[dict[str, Any]]:
    shown = [
        {
            "type": "button",
            "action_id": f"choice-{n}",
            "value": name,
            "text": {"type": "plain_text", "text": label},
        }
        for n, (name, label) in enumerate(buttons)
    ]
    section = {"type": "section", "text": {"type": "plain_text", "text": text[:3000]}}
    return [section, {"type": "actions", "elements": shown}]


def _read_button_press(payload: dict[str, Any]) -> Inbound:
    channel = str(payload.get("channel", {}).get("id", ""))
    root = payload.get("message", {}).get("thread_ts")
    action = payload["actions"][0]
    return Inbound(
        id=f"pressed {channel}/{action.get('action_ts', '')}",
        sender=str(payload.get("user", {}).get("id", "")),
        thread=f"{channel}/{root}" if root else channel,
        choice=str(action.get("value", "")) or "-",
    )
