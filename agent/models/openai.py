"""Models behind an OpenAI-compatible endpoint, through the official client."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import httpx2
import openai
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion

from agent.errors import (
    ModelError,
    ModelQuota,
    ModelUnauthorized,
    ModelUnavailable,
    ResearchError,
    UsageError,
)
from agent.models.base import Message, ModelReply, Usage
from agent.models.retry import BACKOFF, Transient, retrying
from agent.protocol.native import with_calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openai.types.chat import ChatCompletionMessage

    from agent.models.base import Image
    from agent.models.providers import Endpoint

CALL_SECONDS = 120.0
"""The reference engine's bound on one call; long answers of slow models stay below it."""


class OpenAIModel:
    """A model at an endpoint; `proxy` is the guarded way out, None for a direct connection.

    `backoff` is the first wait before another try, in seconds.
    """

    def __init__(
        self, endpoint: Endpoint, *, proxy: str | None = None, backoff: float = BACKOFF
    ) -> None:
        self.name = endpoint.name
        self.sees = endpoint.sees
        self._backoff = backoff
        self._endpoint = endpoint
        self._model = endpoint.model
        self._tools: list[Any] = []
        self._client = AsyncOpenAI(
            api_key=endpoint.key or "none",
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=CALL_SECONDS,
            http_client=httpx2.AsyncClient(proxy=proxy, trust_env=False, timeout=CALL_SECONDS),
        )

    async def reply(self, system: str, messages: Sequence[Message]) -> ModelReply:
        """Ask once, with retries of what may pass; raises `ModelError` or `UsageError`."""
        rows: list[Any] = [{"role": "system", "content": system}]
        rows += [_row(message, sees=self.sees) for message in messages]
        try:
            async for attempt in retrying(self._backoff):
                with attempt:
                    return self._read(await self._ask(rows))
        except Transient as error:
            raise _final(error.cause, self._endpoint) from error
        raise ModelUnavailable(f"{self.name} gave no answer")

    def offer(self, tools: Sequence[dict[str, Any]]) -> None:
        """Let the model call these functions natively from now on."""
        self._tools = list(tools)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _ask(self, rows: list[Any]) -> ChatCompletion:
        try:
            self._model = self._model or await self._first_model()
            return await self._client.chat.completions.create(
                model=self._model, messages=rows, tools=self._tools or openai.omit
            )
        except openai.APIStatusError as error:
            raise _classified(error, self._endpoint) from error
        except (openai.APIConnectionError, openai.APIResponseValidationError) as error:
            raise Transient(error) from error
        except ValueError as error:  # a body that is no JSON
            raise Transient(error) from error

    async def _first_model(self) -> str:
        listed = await self._client.models.list()
        if not listed.data:
            raise UsageError(f"{self._endpoint.base_url} lists no model", hint="Name it: --model.")
        return listed.data[0].id

    def _read(self, completion: Any) -> ModelReply:
        if not isinstance(completion, ChatCompletion) or not completion.choices:
            raise Transient(ModelUnavailable(f"{self.name} answered without a choice"))
        text = _said_and_called(completion.choices[0].message)
        usage = completion.usage
        if usage is None:
            return ModelReply(text, Usage(), completion.model or self._model)
        cached = usage.prompt_tokens_details.cached_tokens if usage.prompt_tokens_details else 0
        counted = Usage(usage.prompt_tokens, cached or 0, usage.completion_tokens)
        return ModelReply(
            text,
            priced(counted, completion.model or self._model, self._endpoint.prices),
            completion.model or self._model,
        )


def _row(message: Message, *, sees: bool) -> dict[str, Any]:
    """Write a message; pictures stand before the words about them, as data URLs."""
    if not (sees and message.images):
        return {"role": message.role, "content": message.content}
    shown = [{"type": "image_url", "image_url": {"url": _url(image)}} for image in message.images]
    return {"role": message.role, "content": [*shown, {"type": "text", "text": message.content}]}


def _url(image: Image) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"


def _said_and_called(message: ChatCompletionMessage) -> str:
    """Write a message down as text; native calls become tags, whether they were offered or not."""
    calls = [call.function for call in message.tool_calls or [] if call.type == "function"]
    return with_calls(message.content or "", [(call.name, call.arguments) for call in calls])


def priced(usage: Usage, model: str, provider: str | None) -> Usage:
    """Add the real price; 0 where the model's price is not known."""
    if provider is None:
        return usage
    import genai_prices  # noqa: PLC0415 - its tables load only where there is something to price

    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_tokens,
        output_tokens=usage.output_tokens,
    )
    try:
        usd = float(genai_prices.calc_price(tokens, model, provider_id=provider).total_price)
    except LookupError:
        return usage
    return Usage(usage.input_tokens, usage.cached_tokens, usage.output_tokens, usd)


def _classified(error: openai.APIStatusError, endpoint: Endpoint) -> Exception:
    if error.status_code in (408, 409, 425, 429) or error.status_code >= 500:
        if _out_of_quota(error):
            return _final(error, endpoint)
        return Transient(error, _retry_after(error))
    return _final(error, endpoint)


def _final(error: Exception, endpoint: Endpoint) -> ResearchError:
    if isinstance(error, ModelError):
        return error
    status = getattr(error, "status_code", 0)
    said = _said(error)
    if status in (401, 403):
        key = endpoint.key_name or "the key"
        return ModelUnauthorized(
            f"{endpoint.name} refused the key ({status}): {said}",
            hint=f"Set {key} to a valid key, or use --model extractive, which needs none.",
        )
    if status == 404:
        return UsageError(
            f"{endpoint.base_url} knows no model {endpoint.model!r}: {said}",
            hint="Check --model, and that --base-url ends where the API begins (often /v1).",
        )
    if status == 402 or (status == 429 and _out_of_quota(error)):
        return ModelQuota(f"{endpoint.name} has no quota left ({status}): {said}")
    if status == 429:
        return ModelUnavailable(f"{endpoint.name} limits the rate, after all retries: {said}")
    if status and status < 500:
        return ModelError(f"{endpoint.name} refused the request ({status}): {said}")
    return ModelUnavailable(f"{endpoint.name} at {endpoint.base_url} cannot be reached: {said}")


def _out_of_quota(error: Exception) -> bool:
    code = str(getattr(error, "code", "") or "")
    return "quota" in code or "billing" in code


def _said(error: Exception) -> str:
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(message or error or type(error).__name__).split())[:200]


def _retry_after(error: openai.APIStatusError) -> float | None:
    value = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        return None
