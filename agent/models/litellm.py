"""Models of all providers that LiteLLM knows, named as it names them (extra `litellm`).

`litellm/bedrock/…`, `litellm/vertex_ai/…`, `litellm/azure/…`: keys come from the environment, under
the names that LiteLLM documents.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent.errors import from_extra
from agent.models.failures import read_failure
from agent.models.openai import ChatCompletionsModel
from agent.models.remote import BACKOFF

# It would fetch a table of prices while it is imported, past the guarded way out.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
with from_extra("litellm"):
    import litellm

if TYPE_CHECKING:
    from agent.models.failures import Failure
    from agent.models.providers import Endpoint

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "NO_PROXY", "no_proxy")


class LiteLLMModel(ChatCompletionsModel):
    """A model asked through LiteLLM; `proxy` is the guarded way out, None for none.

    Its providers bring clients of their own; what they all heed is the environment's proxy, which
    is therefore set as long as the model is open.
    """

    def __init__(
        self, where: Endpoint, *, proxy: str | None = None, backoff: float = BACKOFF
    ) -> None:
        super().__init__(where, backoff=backoff)
        self._environ = {name: os.environ.get(name) for name in _PROXIES}
        if proxy:
            os.environ.update(dict.fromkeys(_PROXIES, proxy) | {"NO_PROXY": "", "no_proxy": ""})
        litellm.telemetry = False
        litellm.disable_aiohttp_transport = True  # one kind of client, which closes itself
        litellm.suppress_debug_info = True

    async def aclose(self) -> None:
        """Close the connections, and give the environment back as it was."""
        litellm.in_memory_llm_clients_cache.flush_cache()
        for name, value in self._environ.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

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

    def _failure(self, error: BaseException | None) -> Failure:
        """Read a failure; the provider's own word for its cause is on an error further down."""
        failure, code = replace(read_failure(error), code=""), None
        while error is not None and not failure.code:
            code = getattr(error, "code", None)
            if isinstance(code, str) and not code.isdigit():
                failure = replace(failure, code=code)
            error = error.__cause__ or error.__context__
        return failure
