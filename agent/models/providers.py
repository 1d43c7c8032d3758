"""Providers: resolves a model name to its endpoint, client and price."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Literal

from agent.errors import UsageError
from browser.plugins import plugins

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from agent.models.base import Model, Usage
    from agent.options import Options


API = Literal["openai", "anthropic", "litellm", "local"]
"""An endpoint's protocol; `litellm` is any protocol that LiteLLM supports, `local` a model file."""
DEFAULT_PATIENCE_SECONDS = 120.0
"""Seconds without data before a call fails, as in the reference engine; enough for slow models."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider, identified by the prefix of its models' names.

    `key` is the environment variable for its key. `default` is the model used if only that key is
    set. `prices` is its name in genai-prices. `native` means that its models support function
    calling.
    """

    prefix: str
    base_url: str
    key: str | None
    default: str | None = None
    prices: str | None = None
    native: bool = True
    api: API = "openai"


PROVIDERS = (
    Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-4.1-mini", "openai"),
    Provider("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "claude-haiku-4-5",
             "anthropic", api="anthropic"),
    Provider("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY",
             "openai/gpt-4.1-mini", "openrouter"),
    Provider("gemini", "https://generativelanguage.googleapis.com/v1beta/openai/",
             "GEMINI_API_KEY", "gemini-2.5-flash", "google"),
    Provider("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "llama-3.3-70b-versatile",
             "groq"),
    Provider("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "mistral-small-latest",
             "mistral"),
    Provider("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-chat",
             "deepseek"),
    Provider("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", None, "together"),
    Provider("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", native=False),
    Provider("ollama", "http://127.0.0.1:11434/v1", None, native=False),
    Provider("litellm", "", None, native=False, api="litellm"),
)  # fmt: skip
"""Order of precedence for choosing the default model from the keys in the environment."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address and protocol of a model.

    `name` is the model's name in Urchin; `model` is its name at the provider, or empty for the
    first one that the endpoint lists. `sees` means that images are sent until the endpoint rejects
    them, `native` that tools are sent as functions, and `needs_key` that requests without a key are
    rejected. `patience` is the number of seconds without data before a call fails. `abilities_file`
    is the file that stores what endpoints accept.
    """

    name: str
    model: str
    base_url: str
    key: str | None
    key_name: str | None = None
    prices: str | None = None
    api: API = "openai"
    sees: bool = True
    native: bool = False
    patience: float = DEFAULT_PATIENCE_SECONDS
    needs_key: bool = False
    abilities_file: Path | None = None


EXTRACTIVE = "extractive"
SCRIPTED = "scripted:"
LOCAL = "local:"
"""Prefix of the name of a model file: `local:/path/to/model.gguf`."""
_PRICES_OF_LITELLM = {"bedrock": "aws", "vertex_ai": "google", "gemini": "google", "xai": "x-ai"}
"""LiteLLM's names for providers that are named differently in genai-prices."""
_CLASSES = {"openai": "OpenAIModel", "anthropic": "AnthropicModel", "litellm": "LiteLLMModel"}
"""The model class for each protocol; each is in the module of the same name, which is loaded when
needed."""
MAX_SMALL_BILLIONS = 4.0
"""A model with up to this many billion parameters runs in guided mode. A model with 1.5 billion did
not search by itself for any of four questions; the exact limit below 7 was not measured."""
_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)b(?![a-z])")


def without_folder(name: str) -> str:
    """Return a model's name without its file's folder: `local:/home/ida/a.gguf` → `local:a.gguf`.

    The name appears in reports and exports. llama.cpp servers report models by path, too.
    """
    prefix = next((p for p in (LOCAL, SCRIPTED) if name.startswith(p)), "")
    path = name.removeprefix(prefix)
    is_path = prefix or path.startswith(("/", "~")) or PureWindowsPath(path).is_absolute()
    return prefix + PureWindowsPath(path).name if is_path else name


def default_model(environ: Mapping[str, str]) -> str | None:
    """Return the default model of the first provider whose key is set, or None."""
    for provider in PROVIDERS:
        if provider.key and provider.default and environ.get(provider.key):
            return f"{provider.prefix}/{provider.default}"
    return None


def endpoint_for(name: str, base_url: str | None, environ: Mapping[str, str]) -> Endpoint:
    """Return a remote model's endpoint; raises `UsageError` for an unknown provider.

    With a `base_url`, a provider's prefix still determines the protocol; a name without a known
    prefix uses OpenAI's.
    """
    prefix, _, model = name.partition("/")
    by_prefix = {provider.prefix: provider for provider in PROVIDERS}
    provider = by_prefix.get(prefix) if model else None
    if provider is None:
        if not base_url:
            prefixes = ", ".join(f"{prefix}/…" for prefix in by_prefix)
            known = (
                f"Known: extractive, scripted:FILE, {prefixes}; or any name with --base-url URL."
            )
            meant = _full_name(name, by_prefix)
            raise UsageError(
                f"unknown model {name!r}", hint=f"Did you mean {meant}?" if meant else known
            )
        key = environ.get("OPENAI_API_KEY")
        return Endpoint(name or "model", name, base_url, key, "OPENAI_API_KEY")
    other_address = base_url or environ.get(f"{prefix.upper()}_BASE_URL")
    prices = provider.prices
    if provider.api == "litellm":  # its names have the form `litellm/PROVIDER/MODEL`
        litellm_provider, slash, _ = model.partition("/")
        prices = _PRICES_OF_LITELLM.get(litellm_provider, litellm_provider) if slash else None
    return Endpoint(
        name,
        model,
        other_address or provider.base_url,
        environ.get(provider.key) if provider.key else None,
        provider.key,
        prices,
        provider.api,
        native=provider.native,
        # A server at another address may not need a key.
        needs_key=provider.key is not None and not other_address,
    )


def _full_name(name: str, by_prefix: Mapping[str, Provider]) -> str:
    """Return a known model's full name, if its provider was left out or misspelled."""
    prefix, slash, model = name.partition("/")
    if close := get_close_matches(prefix, by_prefix, 1) if slash else []:
        return f"{close[0]}/{model}"
    import genai_prices  # noqa: PLC0415 - large

    with suppress(LookupError):
        sold_by = genai_prices.calc_price(genai_prices.Usage(), name).provider.id
        return next((f"{p.prefix}/{name}" for p in PROVIDERS if p.prices == sold_by), "")
    return ""


def find_endpoint(
    name: str | None,
    base_url: str | None,
    environ: Mapping[str, str],
    options: Options | None = None,
) -> Endpoint | None:
    """Return a model's endpoint; None for the extractive, scripted and plug-in models.

    Without a name, this is the first model at `base_url`, otherwise the default model of a provider
    whose key is set, otherwise the extractive model. `options` override the abilities implied by
    the name. Raises `UsageError` for an unknown name.
    """
    name = name or ("" if base_url else default_model(environ) or EXTRACTIVE)
    if name == EXTRACTIVE or name.startswith(SCRIPTED):
        return None
    if name.startswith(LOCAL):
        found = Endpoint(without_folder(name), name.removeprefix(LOCAL), "", None, api="local")
    else:
        prefix = name.partition("/")[0]
        # Plug-ins are looked up last, so built-in names never reach them.
        built_in = base_url or any(provider.prefix == prefix for provider in PROVIDERS)
        if not built_in and plugins("models", prefix):
            return None
        found = endpoint_for(name, base_url, environ)
    if options is None:
        return found
    return replace(
        found,
        sees=found.sees if options.model_sees is None else options.model_sees,
        native=found.native if options.native_tools is None else options.native_tools,
        patience=options.model_timeout,
        abilities_file=options.data / "endpoints.json",
    )


def is_small(model: str) -> bool:
    """Return whether a model is too small for a tool loop, judging by its name (`qwen2.5:1.5b`)."""
    sizes = [float(size) for size in _SIZE.findall(model.lower().rpartition("/")[2])]
    return bool(sizes) and max(sizes) <= MAX_SMALL_BILLIONS


def remote_model(endpoint: Endpoint, proxy: str | None) -> Model:
    """Create the model at an endpoint, which is reached through the egress proxy `proxy`.

    Raises `UsageError` if the client library is not installed.
    """
    module = import_module(f"agent.models.{endpoint.api}")
    model: Model = getattr(module, _CLASSES[endpoint.api])(endpoint, proxy=proxy)
    return model


def with_price(
    usage: Usage, model: str, provider: str | None, *, asked: str = "", cache_writes: int = 0
) -> Usage:
    """Add the price of a call to its usage; 0 if the price is not known.

    `model` is the name of the model that answered; if its price is unknown, the price of the
    requested model `asked` is used. `provider` is a name in genai-prices, None for free models.
    `cache_writes` is the number of input tokens written to the provider's cache, for which some
    charge more.
    """
    if provider is None:
        return usage
    import genai_prices  # noqa: PLC0415 - large, see `RemoteModel`

    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=cache_writes,
        output_tokens=usage.output_tokens,
    )
    for name in filter(None, (model, asked)):
        with suppress(LookupError):
            price = genai_prices.calc_price(tokens, name, provider_id=provider)
            return replace(usage, usd=float(price.total_price))
    return usage
