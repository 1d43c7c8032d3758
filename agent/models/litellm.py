"""Models from the providers that LiteLLM supports, under LiteLLM's names (the `litellm` extra).

`litellm/bedrock/…`, `litellm/vertex_ai/…`, `litellm/azure/…`: keys come from the environment
variables that LiteLLM documents.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent.errors import requires_extra
from agent.models.failures import read_failure
from agent.models.openai import ChatCompletionsModel

# Prevents the import from downloading a price table, which would bypass the egress proxy.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
with requires_extra("litellm"):
    import litellm

if TYPE_CHECKING:
    from agent.models.failures import Failure
    from agent.models.providers import Endpoint

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "NO_PROXY", "no_proxy")


class LiteLLMModel(ChatCompletionsModel):
    """A model reached through LiteLLM; `proxy` is the egress proxy, None for a direct connection.

    LiteLLM's providers use different HTTP clients. All of them respect the proxy environment
    variables, so these are set while the model is open.
    """

    def __init__(self, endpoint: Endpoint, *, proxy: str | None = None) -> None:
        super().__init__(endpoint)
        self._environ = {name: os.environ.get(name) for name in _PROXIES}
        if proxy:
            os.environ.update(dict.fromkeys(_PROXIES, proxy) | {"NO_PROXY": "", "no_proxy": ""})
        litellm.telemetry = False
        litellm.disable_aiohttp_transport = True  # use only httpx, whose clients close themselves
        litellm.suppress_debug_info = True

    async def aclose(self) -> None:
        """Close the connections, and restore the environment."""
        litellm.in_memory_llm_clients_cache.flush_cache()
        for name, value in self._environ.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    async def _create(self, form: dict[str, Any]) -> Any:
        return await litellm.acompletion(
            model=self.endpoint.model,
            **form,
            api_base=self.endpoint.base_url or None,
            api_key=self.endpoint.key,
            timeout=self.endpoint.patience,
            num_retries=0,
            max_retries=0,
        )

    def _failure(self, error: BaseException | None) -> Failure:
        """Read a failure; one of the exception's causes contains the provider's code."""
        failure, code = replace(read_failure(error), code=""), None
        while error is not None and not failure.code:
            code = getattr(error, "code", None)
            if isinstance(code, str) and not code.isdigit():
                failure = replace(failure, code=code)
            error = error.__cause__ or error.__context__
        return failure
