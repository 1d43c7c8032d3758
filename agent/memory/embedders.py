"""From the name of an embedder to the embedder; what is not used is not imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.models.providers import PROVIDERS, endpoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.memory.embeddings import Embedder

LOCAL = "local"


def embedder_of(
    name: str | None, base_url: str | None, environ: Mapping[str, str], proxy: str | None = None
) -> Embedder | None:
    """Make the named embedder: `local`, or a model of a provider or of `base_url`; None for none.

    Raises `UsageError` where `local` is not installed, and for an unknown provider.
    """
    if not name:
        return None
    if name == LOCAL:
        from agent.memory.minilm import MiniLm  # noqa: PLC0415 - an extra

        return MiniLm()
    from agent.memory.endpoint import EndpointEmbedder  # noqa: PLC0415 - seldom used

    named = any(name.startswith(f"{provider.prefix}/") for provider in PROVIDERS)
    where = endpoint(name, None if named else base_url, environ)
    return EndpointEmbedder(where.model, where.base_url, where.key, proxy)
