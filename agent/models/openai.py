"""Models behind an OpenAI-compatible endpoint, through the official client."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import openai
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion

from agent.errors import UsageError
from agent.models.failures import GARBAGE, UNREACHED, Failure, seconds_to_wait
from agent.models.openai_form import STREAMED, Gathered, request, whole
from agent.models.remote import HTTP_ERRORS, RemoteModel, Said, came_at_once, client_settings
from agent.models.retry import BACKOFF

if TYPE_CHECKING:
    from agent.models.base import Hearing
    from agent.models.providers import Endpoint
    from agent.models.remote import Asked

_STREAM = re.compile(r"stream", re.IGNORECASE)
_UNSUPPORTED = frozenset({400, 404, 415, 422, 501})
"""How endpoints answer that do not know a parameter."""


class OpenAIModel(RemoteModel):
    """A model at an endpoint; `proxy` is the guarded way out, None for a direct connection."""

    def __init__(
        self, where: Endpoint, *, proxy: str | None = None, backoff: float = BACKOFF
    ) -> None:
        super().__init__(where, backoff=backoff)
        self._model = where.model
        self._streams = True
        settings = client_settings(openai, where, proxy)
        self._client = AsyncOpenAI(base_url=where.base_url, **settings)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _ask(self, asked: Asked, heard: Hearing | None) -> Said:
        form = request(asked, sees=self.sees)
        try:
            self._model = self._model or await self._first_model()
            return await self._answer({"model": self._model, **form}, heard)
        except openai.APITimeoutError as error:
            raise self._silent() from error
        except openai.APIStatusError as error:
            raise self._failed(failure(error)) from error
        except openai.APIError as error:  # no connection, or an error in the middle of a stream
            raise self._failed(Failure.in_stream(error.code or "", said(error))) from error
        except HTTP_ERRORS as error:
            raise self._failed(Failure(UNREACHED, str(error))) from error
        except GARBAGE as error:
            raise self._failed(Failure(UNREACHED, f"no reply in its answer: {error}")) from error

    async def _answer(self, form: dict[str, Any], heard: Hearing | None) -> Said:
        if heard is not None and self._streams:
            try:
                return await self._streamed(form, heard)
            except openai.APIStatusError as error:
                if error.status_code not in _UNSUPPORTED or not _STREAM.search(said(error)):
                    raise
                self._streams = False
        return whole(await self._client.chat.completions.create(**form))

    async def _streamed(self, form: dict[str, Any], heard: Hearing) -> Said:
        stream = await self._client.chat.completions.create(**form, **STREAMED)
        if came_at_once(stream):
            self._streams = False
            return whole(ChatCompletion.model_validate_json(await stream.response.aread()))
        gathered = Gathered()
        async with stream:
            async for chunk in stream:
                heard(gathered.add(chunk))
        return gathered.said()

    async def _first_model(self) -> str:
        listed = await self._client.models.list()
        if not listed.data:
            raise UsageError(f"{self.where.base_url} lists no model", hint="Name it: --model.")
        return listed.data[0].id


def failure(error: openai.APIStatusError) -> Failure:
    """Read what an endpoint says of a call that it refused."""
    code = str(error.code or error.type or "")
    return Failure(error.status_code, said(error), code, seconds_to_wait(error.response.headers))


def said(error: openai.APIError) -> str:
    """Give the endpoint's own words, else the client's."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or error or type(error).__name__)
