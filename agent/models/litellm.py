"""Models of all providers that LiteLLM knows, named as it names them (extra `litellm`).

`litellm/bedrock/…`, `litellm/vertex_ai/…`, `litellm/azure/…`: keys come from the environment, under
the names that LiteLLM documents.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from agent.errors import UsageError
from agent.models.failures import BACKOFF, GARBAGE, UNREACHED, Failure, seconds_to_wait
from agent.models.openai import STREAMED, OpenAIStream, request, whole
from agent.models.remote import RemoteModel

# It would fetch a table of prices while it is imported, past the guarded way out.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
try:
    import litellm
    import openai
except ImportError as error:
    raise UsageError(
        f"litellm/… needs a library that is not installed: {error}",
        hint="Install it: pip install 'urchin-research[litellm]'.",
    ) from error

if TYPE_CHECKING:
    from agent.models.base import Hearing
    from agent.models.providers import Endpoint
    from agent.models.remote import Completion, ModelRequest

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "NO_PROXY", "no_proxy")


class LiteLLMModel(RemoteModel):
    """A model asked through LiteLLM; `proxy` is the guarded way out, None for none.

    Its providers bring clients of their own; what they all heed is the environment's proxy, which
    is therefore set as long as the model is open.
    """

    def __init__(
        self, where: Endpoint, *, proxy: str | None = None, backoff: float = BACKOFF
    ) -> None:
        super().__init__(where, backoff=backoff)
        self._before = {name: os.environ.get(name) for name in _PROXIES}
        if proxy:
            os.environ.update(dict.fromkeys(_PROXIES, proxy) | {"NO_PROXY": "", "no_proxy": ""})
        litellm.telemetry = False
        litellm.disable_aiohttp_transport = True  # one kind of client, which closes itself
        litellm.suppress_debug_info = True

    async def aclose(self) -> None:
        """Close the connections, and give the environment back as it was."""
        litellm.in_memory_llm_clients_cache.flush_cache()
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    async def _ask(self, asked: ModelRequest, heard: Hearing | None) -> Completion:
        form = request(asked, sees=self.sees)
        try:
            if heard is None:
                return whole(await self._create(form))
            gathered = OpenAIStream()
            async for chunk in await self._create({**form, **STREAMED}):
                heard(gathered.add(chunk))
            return gathered.said()
        except openai.APITimeoutError as error:
            raise self._silent() from error
        except openai.APIError as error:  # what LiteLLM raises for all providers
            raise self._failed(_failure(error)) from error
        except GARBAGE as error:
            raise self._failed(Failure(UNREACHED, f"no reply in its answer: {error}")) from error

    async def _create(self, form: dict[str, Any]) -> Any:
        return await litellm.acompletion(
            model=self.where.model,
            **form,
            api_base=self.where.base_url or None,
            api_key=self.where.key,
            timeout=self.where.patience,
            num_retries=0,
            max_retries=0,
        )


def _failure(error: openai.APIError) -> Failure:
    status = int(getattr(error, "status_code", UNREACHED) or UNREACHED)
    headers = getattr(getattr(error, "response", None), "headers", {})
    return Failure(status, str(error), _code(error), seconds_to_wait(headers))


def _code(error: BaseException | None) -> str:
    """Find the provider's own word for the cause; LiteLLM's own errors know only the status."""
    while error is not None:
        code = getattr(error, "code", None)
        if isinstance(code, str) and not code.isdigit():
            return code
        error = error.__cause__ or error.__context__
    return ""
