"""Claude behind Anthropic's own Messages API: the official client (extra `anthropic`) and its form.

Two prefixes of a request are cached: tools with the system prompt, which all loops of a run share,
and the conversation so far, which the next call will begin with.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import httpx2

from agent.errors import ModelError, UsageError
from agent.models.base import Usage
from agent.models.failures import BACKOFF, GARBAGE, UNREACHED, Failure, seconds_to_wait
from agent.models.remote import Completion, RemoteModel, came_at_once, client_settings
from agent.protocol.native import as_turns, first_fields

try:
    import anthropic
    from anthropic import AsyncAnthropic
    from anthropic.types import Message as Reply
except ImportError as error:
    raise UsageError(
        f"anthropic/… needs a library that is not installed: {error}",
        hint="Install it: pip install 'urchin-research[anthropic]'.",
    ) from error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.models.base import Hearing
    from agent.models.providers import Endpoint
    from agent.models.remote import ModelRequest
    from agent.protocol.native import NativeTurn
    from agent.types import Image

LONGEST_REPLY = 8_192
"""Tokens that a reply may be; the API wants a bound. A sectioned report stays well below it."""
LONGEST_REPLY_OF_OLD = 4_096
"""What the models called claude-3-… give at most."""


class AnthropicModel(RemoteModel):
    """A Claude model; `proxy` is the guarded way out, None for a direct connection."""

    def __init__(
        self, where: Endpoint, *, proxy: str | None = None, backoff: float = BACKOFF
    ) -> None:
        super().__init__(where, backoff=backoff)
        old = where.model.startswith("claude-3-") and not where.model.startswith("claude-3-7")
        self._longest = LONGEST_REPLY_OF_OLD if old else LONGEST_REPLY
        # The client adds the version to the path by itself.
        base_url = where.base_url.rstrip("/").removesuffix("/v1")
        self._client = AsyncAnthropic(base_url=base_url, **client_settings(anthropic, where, proxy))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _ask(self, asked: ModelRequest, heard: Hearing | None) -> Completion:
        longest = min(self._longest, asked.max_tokens or self._longest)
        form = request(asked, self.where.model, longest, sees=self.sees)
        try:
            said = await self._answer(form, heard)
        except (anthropic.APITimeoutError, httpx2.TimeoutException) as error:
            raise self._silent() from error
        except anthropic.APIStatusError as error:
            raise self._failed(_failure(error)) from error
        except (anthropic.APIError, httpx2.HTTPError) as error:  # no connection, or half a stream
            raise self._failed(Failure(UNREACHED, str(error) or type(error).__name__)) from error
        except (
            *GARBAGE,
            AssertionError,
            RuntimeError,
        ) as error:  # the library's, of a stream cut off
            raise self._failed(Failure(UNREACHED, f"no reply in its answer: {error}")) from error
        if said.refused and not said.text:
            raise ModelError(f"{self.name} declined to answer", hint="Ask it in other words.")
        return said

    async def _answer(self, form: dict[str, Any], heard: Hearing | None) -> Completion:
        if heard is None:
            return whole(await self._client.messages.create(**form))
        async with self._client.messages.stream(**form) as stream:
            if came_at_once(stream):
                return whole(Reply.model_validate_json(await stream.response.aread()))
            async for piece in stream.text_stream:
                heard(piece)
            said = await stream.get_final_message()
        if said.stop_reason is None:
            raise ValueError("the stream broke off")
        return whole(said)


def _failure(error: anthropic.APIStatusError) -> Failure:
    said = error.api_message or str(error)
    kind = str(error.error_code or error.type or "")
    if error.status_code < 400:  # it came in the middle of a stream
        return Failure.in_stream(str(error.type or ""), said)
    return Failure(error.status_code, said, kind, seconds_to_wait(error.response.headers))


Block = dict[str, Any]
CACHED: Block = {"type": "ephemeral"}
"""Marks the end of a prefix that is to be cached: for five minutes, longer than a step takes."""
_EMPTY = "…"
"""What stands for a text that is empty: the API takes none."""


def request(asked: ModelRequest, model: str, longest: int, *, sees: bool) -> dict[str, Any]:
    """Write a call."""
    messages = _messages(asked, sees=sees)
    messages[-1]["content"][-1]["cache_control"] = CACHED
    form: dict[str, Any] = {"model": model, "max_tokens": longest, "messages": messages}
    if asked.system:
        form["system"] = [{"type": "text", "text": asked.system, "cache_control": CACHED}]
    if asked.tools:
        form["tools"] = [_tool(tool["function"]) for tool in asked.tools]
    return form


def whole(message: Any) -> Completion:
    """Read a message; raises `ValueError` where it is none."""
    blocks = getattr(message, "content", None)
    if not isinstance(blocks, list):
        raise ValueError("there is no content in it")
    texts = [block.text for block in blocks if block.type == "text"]
    calls = [(b.name, json.dumps(b.input)) for b in blocks if b.type == "tool_use"]
    usage, written = _counted(message.usage)
    refused = message.stop_reason == "refusal"
    return Completion("".join(texts), tuple(calls), usage, message.model, written, refused)


def _messages(asked: ModelRequest, *, sees: bool) -> list[dict[str, Any]]:
    if not asked.tools:
        return [
            {"role": m.role, "content": _content(m.content, m.images if sees else ())}
            for m in asked.messages
        ]
    turns = as_turns(asked.messages, first_fields(asked.tools))
    return [{"role": turn.role, "content": _native(turn, sees=sees)} for turn in turns]


def _native(turn: NativeTurn, *, sees: bool) -> list[Block]:
    if turn.calls:
        said = [_text(turn.text)] if turn.text else []
        return [
            *said,
            *(
                {"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments}
                for c in turn.calls
            ),
        ]
    images = turn.images if sees else ()
    if not turn.results:
        return _content(turn.text, images)
    results = [
        {"type": "tool_result", "tool_use_id": call, "content": [_text(text)]}
        for call, text in turn.results
    ]
    return [*results, *map(_picture, images)]


def _content(text: str, images: Sequence[Image]) -> list[Block]:
    """Write a message; pictures stand before the words about them."""
    return [*map(_picture, images), _text(text)]


def _text(text: str) -> Block:
    return {"type": "text", "text": text if text.strip() else _EMPTY}


def _picture(image: Image) -> Block:
    data = base64.b64encode(image.data).decode()
    source = {"type": "base64", "media_type": image.media_type, "data": data}
    return {"type": "image", "source": source}


def _tool(function: dict[str, Any]) -> Block:
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def _counted(usage: Any) -> tuple[Usage, int]:
    """Read the tokens: the API counts those from and into the cache apart; ours are one sum."""
    cached = usage.cache_read_input_tokens or 0
    written = usage.cache_creation_input_tokens or 0
    read = usage.input_tokens + cached + written
    return Usage(read, cached, usage.output_tokens), written
