"""Lists the language models that are ready to use: by key, in Ollama, or as a downloaded file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import httpx2

from agent.models.providers import EXTRACTIVE, LOCAL, PROVIDERS
from agent.models.weights import downloaded

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

OLLAMA_SECONDS: Final = 1.0
"""Seconds to wait for Ollama, which runs on this machine and responds immediately or not at all."""


def ollama_models(environ: Mapping[str, str]) -> list[str]:
    """Return the models available in Ollama on this machine; empty if it does not respond."""
    default = next(one.base_url for one in PROVIDERS if one.prefix == "ollama")
    address = environ.get("OLLAMA_BASE_URL", default).rstrip("/")
    try:
        reply = httpx2.get(f"{address}/models", timeout=OLLAMA_SECONDS, trust_env=False)
        return [str(one["id"]) for one in reply.raise_for_status().json()["data"]]
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, LookupError, TypeError):
        return []


def ready_models(data: Path, environ: Mapping[str, str]) -> list[str]:
    """Return the names of the models that are ready to use."""
    keyed = [
        f"{provider.prefix}/{provider.default}"
        for provider in PROVIDERS
        if provider.key and provider.default and environ.get(provider.key)
    ]
    offered = [f"ollama/{name}" for name in ollama_models(environ)]
    return [*keyed, *offered, *(f"{LOCAL}{path}" for path in downloaded(data)), EXTRACTIVE]
