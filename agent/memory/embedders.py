"""From the name of an embedder to the embedder; what is not used is not imported."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent.models.providers import PROVIDERS, endpoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.memory.embeddings import Embedder, Vectors
    from agent.memory.store import Store

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


def vectors_of(store: Store, model: Embedder | str | None) -> Vectors | None:
    """Keep a model's vectors in a store; a name is that of a model, None for none."""
    if isinstance(model, str):
        model = embedder_of(model, None, os.environ)
    if model is None:
        return None
    from agent.memory.embeddings import Vectors  # noqa: PLC0415 - few ask for one

    return Vectors(store, model)
