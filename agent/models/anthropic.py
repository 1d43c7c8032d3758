"""Claude behind Anthropic's own Messages API, through the official client (extra `anthropic`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2

from agent.errors import ModelError, UsageError
from agent.models.anthropic_form import Gathered, request, whole
from agent.models.failures import GARBAGE, UNREACHED, Failure, seconds_to_wait
from agent.models.remote import HTTP_ERRORS, RemoteModel, Said, came_at_once, client_settings
from agent.models.retry import BACKOFF

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
    from agent.models.base import Hearing
    from agent.models.providers import Endpoint
    from agent.models.remote import Asked

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

    async def _ask(self, asked: Asked, heard: Hearing | None) -> Said:
        form = request(asked, self.where.model, self._longest, sees=self.sees)
        try:
            said = await self._answer(form, heard)
        except (anthropic.APITimeoutError, httpx2.TimeoutException) as error:
            raise self._silent() from error
        except anthropic.APIStatusError as error:
            raise self._failed(_failure(error)) from error
        except (anthropic.APIError, *HTTP_ERRORS) as error:  # no connection, or half a stream
            raise self._failed(Failure(UNREACHED, str(error) or type(error).__name__)) from error
        except GARBAGE as error:
            raise self._failed(Failure(UNREACHED, f"no reply in its answer: {error}")) from error
        if said.refused and not said.text:
            raise ModelError(f"{self.name} declined to answer", hint="Ask it in other words.")
        return said

    async def _answer(self, form: dict[str, Any], heard: Hearing | None) -> Said:
        if heard is None:
            return whole(await self._client.messages.create(**form))
        stream = await self._client.messages.create(**form, stream=True)
        if came_at_once(stream):
            return whole(Reply.model_validate_json(await stream.response.aread()))
        gathered = Gathered()
        async with stream:
            async for event in stream:
                heard(gathered.add(event))
        return gathered.said()


def _failure(error: anthropic.APIStatusError) -> Failure:
    said = error.api_message or str(error)
    kind = str(error.error_code or error.type or "")
    if error.status_code < 400:  # it came in the middle of a stream
        return Failure.in_stream(str(error.type or ""), said)
    return Failure(error.status_code, said, kind, seconds_to_wait(error.response.headers))
