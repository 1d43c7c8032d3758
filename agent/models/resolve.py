"""From the name of a model to the model; what is not used is not imported."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.models.providers import default_model, endpoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.config import Options
    from agent.models.base import Model
    from agent.models.providers import Endpoint

EXTRACTIVE = "extractive"
SCRIPTED = "scripted:"
ENTAILMENT = "entailment:"
"""A judge, by its folder: `entailment:/path/to/model`."""


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
    if name == EXTRACTIVE or name.startswith((SCRIPTED, ENTAILMENT)):
        return None
    found = endpoint(name, base_url, environ)
    if options is None:
        return found
    return replace(
        found,
        sees=found.sees if options.model_sees is None else options.model_sees,
        native=found.native if options.native_tools is None else options.native_tools,
        patience=options.model_timeout,
    )


def model_of_file(name: str) -> Model:
    """Make a model that stands in a file or folder: a script, or a judge.

    Raises `UsageError` for one that is not there, or not as it should be.
    """
    if name.startswith(ENTAILMENT):
        from agent.models.entailment import EntailmentModel  # noqa: PLC0415 - only where used

        return EntailmentModel(name.removeprefix(ENTAILMENT))
    from agent.models.scripted import ScriptedModel  # noqa: PLC0415 - only where used

    return ScriptedModel.from_file(name.removeprefix(SCRIPTED))


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
    if where.api == "anthropic":
        from agent.models.anthropic import AnthropicModel  # noqa: PLC0415 - a second to import

        return AnthropicModel(where, proxy=proxy)
    if where.api == "litellm":
        from agent.models.litellm import LiteLLMModel  # noqa: PLC0415 - two seconds to import

        return LiteLLMModel(where, proxy=proxy)
    from agent.models.openai import OpenAIModel  # noqa: PLC0415 - half a second to import

    return OpenAIModel(where, proxy=proxy)
