"""From the name of a model to the model; what is not used is not imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.models.providers import default_model, endpoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.models.base import Model
    from agent.models.providers import Endpoint

EXTRACTIVE = "extractive"
SCRIPTED = "scripted:"


def endpoint_of(
    name: str | None,
    base_url: str | None,
    environ: Mapping[str, str],
    *,
    sees: bool | None = None,
) -> Endpoint | None:
    """Find where the named model is asked; None for those that are asked nowhere.

    Without a name: the endpoint's own first model, else the default of a provider whose key is
    set, else the extractive one. `sees` is what the settings say of its sight. Raises
    `UsageError` for a name that nobody has.
    """
    name = name or ("" if base_url else default_model(environ) or EXTRACTIVE)
    if name == EXTRACTIVE or name.startswith(SCRIPTED):
        return None
    return endpoint(name, base_url, environ, sees=sees)


def local_model(name: str | None) -> Model:
    """Make a model that needs no endpoint: the extractive one, or a script."""
    if name and name.startswith(SCRIPTED):
        from agent.models.scripted import ScriptedModel  # noqa: PLC0415 - only where used

        return ScriptedModel.from_file(name.removeprefix(SCRIPTED))
    from agent.models.extractive import ExtractiveModel  # noqa: PLC0415 - only where used

    return ExtractiveModel()


def remote_model(where: Endpoint, proxy: str | None) -> Model:
    """Make a model behind an endpoint, through the guarded way out."""
    from agent.models.openai import OpenAIModel  # noqa: PLC0415 - half a second to import

    return OpenAIModel(where, proxy=proxy)
