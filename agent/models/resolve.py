"""From the name of a model to the model; what is not used is not imported."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from agent.config import made
from agent.errors import UsageError
from agent.models.providers import PROVIDERS, Endpoint, default_model, endpoint
from browser.plugins import plugins

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.config import Options
    from agent.models.base import Model

EXTRACTIVE = "extractive"
SCRIPTED = "scripted:"
LOCAL = "local:"
"""A language model, by its file: `local:/path/to/model.gguf`."""


def endpoint_of(
    name: str | None,
    base_url: str | None,
    environ: Mapping[str, str],
    options: Options | None = None,
) -> Endpoint | None:
    """Find where the named model is asked; None for those that are asked nowhere.

    Without a name: the endpoint's own first model, else the default of a provider whose key is
    set, else the extractive one. What `options` say of a model's abilities goes before what its
    name tells. Raises `UsageError` for a name that nobody has.
    """
    name = name or ("" if base_url else default_model(environ) or EXTRACTIVE)
    if name == EXTRACTIVE or name.startswith(SCRIPTED) or _is_plugged(name, base_url):
        return None
    if name.startswith(LOCAL):
        found = Endpoint(name, name.removeprefix(LOCAL), "", None, api="local")
    else:
        found = endpoint(name, base_url, environ)
    if options is None:
        return found
    return replace(
        found,
        sees=found.sees if options.model_sees is None else options.model_sees,
        native=found.native if options.native_tools is None else options.native_tools,
        patience=options.model_timeout,
    )


def _is_plugged(name: str, base_url: str | None) -> bool:
    """Whether a model is a plug-in's; those of providers are not looked for."""
    prefix = name.partition("/")[0]
    built_in = base_url or name.startswith(LOCAL) or any(p.prefix == prefix for p in PROVIDERS)
    return not built_in and bool(plugins("models", prefix))


def plugged_model(name: str) -> Model | None:
    """Make the model of a plug-in, `PLUGIN/NAME`; None for other names. Raises `UsageError`."""
    prefix, _, rest = name.partition("/")
    model: Model | None = made("models", prefix, rest)
    return model


_CLASSES = {"openai": "OpenAIModel", "anthropic": "AnthropicModel", "litellm": "LiteLLMModel"}
"""By protocol, in the module of that name: loaded when needed, each takes half a second or more."""


def get_ready(where: Endpoint) -> None:
    """Load the client of an endpoint beside what goes on: disks are waited for meanwhile."""

    def load() -> None:
        # What cannot be imported is told when the model is made.
        with suppress(UsageError):
            import_module(f"agent.models.{where.api}")

    threading.Thread(target=load, daemon=True).start()


def remote_model(where: Endpoint, proxy: str | None) -> Model:
    """Make a model behind an endpoint, through the guarded way out.

    Raises `UsageError` where the library that speaks its protocol is not installed.
    """
    module = import_module(f"agent.models.{where.api}")
    model: Model = getattr(module, _CLASSES[where.api])(where, proxy=proxy)
    return model
