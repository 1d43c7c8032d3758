"""Providers that speak the OpenAI protocol: where they are, which key they want."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.models.sight import sees_by_name

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider by prefix; `default` is the model taken when only its key is set."""

    prefix: str
    base_url: str
    key: str | None
    default: str | None = None
    prices: str | None = None


PROVIDERS = (
    Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-4.1-mini", "openai"),
    Provider(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        "openai/gpt-4.1-mini",
        "openrouter",
    ),
    Provider(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai/",
        "GEMINI_API_KEY",
        "gemini-2.5-flash",
        "google",
    ),
    Provider(
        "groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "llama-3.3-70b-versatile", "groq"
    ),
    Provider(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        "mistral-small-latest",
        "mistral",
    ),
    Provider(
        "deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-chat", "deepseek"
    ),
    Provider("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", None, "together"),
    Provider("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
    Provider("ollama", "http://127.0.0.1:11434/v1", None),
)
"""In the order in which a key in the environment chooses the default model."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked: `model` is the provider's own name, empty for its first one.

    `sees` tells whether it can be shown pictures.
    """

    name: str
    model: str
    base_url: str
    key: str | None
    key_name: str | None = None
    prices: str | None = None
    sees: bool = False


def default_model(environ: Mapping[str, str]) -> str | None:
    """Find the default model of the first provider whose key is set; None where none is."""
    for provider in PROVIDERS:
        if provider.key and provider.default and environ.get(provider.key):
            return f"{provider.prefix}/{provider.default}"
    return None


def endpoint(
    name: str, base_url: str | None, environ: Mapping[str, str], *, sees: bool | None = None
) -> Endpoint:
    """Say where a model is asked; raises `UsageError` for a name that no provider has.

    `sees` says whether it can be shown pictures; None leaves that to its name.
    """
    found = _found(name, base_url, environ)
    return replace(found, sees=sees_by_name(found.model) if sees is None else sees)


def _found(name: str, base_url: str | None, environ: Mapping[str, str]) -> Endpoint:
    prefix, slash, rest = name.partition("/")
    provider = next((p for p in PROVIDERS if p.prefix == prefix), None)
    if base_url:
        model = rest if provider and slash else name
        key = environ.get((provider.key if provider else None) or "OPENAI_API_KEY")
        return Endpoint(name or "model", model, base_url, key, "OPENAI_API_KEY")
    if provider is None or not rest:
        raise UsageError(f"unknown model {name!r}", hint=_known())
    key = environ.get(provider.key) if provider.key else "none"
    return Endpoint(name, rest, provider.base_url, key, provider.key, provider.prices)


def _known() -> str:
    prefixes = ", ".join(f"{provider.prefix}/…" for provider in PROVIDERS)
    return f"Known: extractive, scripted:FILE, {prefixes}; or any name with --base-url URL."
