"""Claude through Anthropic's Messages API and official client (the `anthropic` extra).

Two prefixes of a request are cached: the tools and system prompt, which all loops in a run share,
and the conversation so far, which is the beginning of the next request.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, ClassVar

from agent.errors import requires_extra
from agent.models.base import Usage
from agent.models.failures import NOT_A_REPLY, ErrorInReply
from agent.models.remote import Completion, RemoteModel, client_settings, is_whole_reply
from agent.protocol.native import as_turns

with requires_extra("anthropic"):
    import anthropic
    from anthropic import AsyncAnthropic
    from anthropic.types import Message as Reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.adaptation import ModelRequest
    from agent.models.base import TextStream
    from agent.models.providers import Endpoint
    from agent.protocol.native import NativeTurn
    from agent.types import Image

MAX_REPLY_TOKENS = 8_192
"""Maximum number of reply tokens; the API requires a limit. Long reports are well below it."""
MAX_REPLY_TOKENS_CLAUDE_3 = 4_096
"""The maximum for models named claude-3-…"""
Block = dict[str, Any]
CACHE_CONTROL: Block = {"type": "ephemeral"}
"""Marks the end of a prefix to cache for five minutes, longer than a step takes."""
_EMPTY_TEXT = "…"
"""Replaces empty text, which the API rejects."""


class AnthropicModel(RemoteModel):
    """A Claude model; `proxy` is the egress proxy, None for a direct connection."""

    library: ClassVar = anthropic

    def __init__(self, endpoint: Endpoint, *, proxy: str | None = None) -> None:
        super().__init__(endpoint)
        old = endpoint.model.startswith("claude-3-") and not endpoint.model.startswith("claude-3-7")
        self._max_tokens = MAX_REPLY_TOKENS_CLAUDE_3 if old else MAX_REPLY_TOKENS
        # The client itself adds the version to the path.
        base_url = endpoint.base_url.rstrip("/").removesuffix("/v1")
        self._client = AsyncAnthropic(
            base_url=base_url, **client_settings(anthropic, endpoint, proxy)
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _call(self, request: ModelRequest, stream: TextStream | None) -> Completion:
        form = self._form(request)
        if stream is None:
            return _read_message(await self._client.messages.create(**form))
        async with self._client.messages.stream(**form) as events:
            if await is_whole_reply(events):
                return _read_message(Reply.model_validate_json(await events.response.aread()))
            async for piece in events.text_stream:
                stream(piece)
            message = await events.get_final_message()
        if message.stop_reason is None:
            raise ValueError("the stream was cut off")
        return _read_message(message)

    def _form(self, request: ModelRequest) -> dict[str, Any]:
        turns = as_turns(request.messages, request.tools)
        messages: list[Block] = [
            {"role": turn.role, "content": _content(turn, turn.images if self.sees else ())}
            for turn in turns
        ]
        # The next request begins with this conversation, which is then in the cache.
        messages[-1]["content"][-1]["cache_control"] = CACHE_CONTROL
        form: dict[str, Any] = {
            "model": self.endpoint.model,
            "max_tokens": min(self._max_tokens, request.max_tokens or self._max_tokens),
            "messages": messages,
        }
        if request.system:
            form["system"] = [
                {"type": "text", "text": request.system, "cache_control": CACHE_CONTROL}
            ]
        if request.tools:
            form["tools"] = [
                {
                    "name": tool["function"]["name"],
                    "description": tool["function"]["description"],
                    "input_schema": tool["function"]["parameters"],
                }
                for tool in request.tools
            ]
        return form


def _content(turn: NativeTurn, images: Sequence[Image]) -> list[Block]:
    """Format a message; images come before the text, but after tool results."""
    if turn.calls:
        blocks = [_text(turn.text)] if turn.text else []
        for call in turn.calls:
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
            blocks.append(block)
        return blocks
    pictures: list[Block] = [
        {
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": image.media_type,
                "data": base64.b64encode(image.data).decode(),
            },
        }
        for image in images
    ]
    if not turn.results:
        return [*pictures, _text(turn.text)]
    results: list[Block] = [
        {"type": "tool_result", "tool_use_id": call, "content": [_text(text)]}
        for call, text in turn.results
    ]
    return results + pictures


def _text(text: str) -> Block:
    return {"type": "text", "text": text if text.strip() else _EMPTY_TEXT}


def _read_message(message: Any) -> Completion:
    """Read a message; raises `ErrorInReply` for a web page, `ValueError` without content."""
    blocks = getattr(message, "content", None)
    if isinstance(message, str):
        raise ErrorInReply(message, NOT_A_REPLY)
    if not isinstance(blocks, list):
        raise ValueError("the message has no content")
    usage = message.usage
    # The API's `input_tokens` exclude tokens read from and written to the cache; ours include them.
    cached = usage.cache_read_input_tokens or 0
    written = usage.cache_creation_input_tokens or 0
    return Completion(
        "".join(block.text for block in blocks if block.type == "text"),
        tuple((b.name, json.dumps(b.input)) for b in blocks if b.type == "tool_use"),
        Usage(usage.input_tokens + cached + written, cached, usage.output_tokens),
        message.model,
        cache_writes=written,
        refused=message.stop_reason == "refusal",
        end_reason=message.stop_reason or "",
    )
