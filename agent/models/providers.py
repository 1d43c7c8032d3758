"""From the name of a model to where, by what and for how much it is asked."""

from __future__ import annotations

import re
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from agent.config import make_plugin
from agent.errors import UsageError
from browser.plugins import plugins

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.config import Options
    from agent.models.base import Model, Usage


API = Literal["openai", "anthropic", "litellm", "local"]
"""The protocols spoken; litellm stands for all that its library knows, local for a model file."""
PATIENCE = 120.0
"""Seconds of silence: the reference engine's bound on a call; slow models stay below it."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider by prefix; `default` is the model taken when only its key is set.

    `prices` is its name in genai-prices; `native` says that its models know function calling.
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
"""In the order in which a key in the environment chooses the default model."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked: `model` is the provider's own name, empty for its first one.

    `sees` tells whether it can be shown pictures, `native` whether it is offered tools as
    functions; `patience` is in seconds of silence; `needs_key` that it lets nobody in without one.
    """

    name: str
    model: str
    base_url: str
    key: str | None
    key_name: str | None = None
    prices: str | None = None
    api: API = "openai"
    sees: bool = False
    native: bool = False
    patience: float = PATIENCE
    needs_key: bool = False


EXTRACTIVE = "extractive"
SCRIPTED = "scripted:"
LOCAL = "local:"
"""A language model, by its file: `local:/path/to/model.gguf`."""
_PRICES_OF_LITELLM = {"bedrock": "aws", "vertex_ai": "google", "gemini": "google", "xai": "x-ai"}
"""How LiteLLM calls providers that genai-prices calls otherwise."""
_CLASSES = {"openai": "OpenAIModel", "anthropic": "AnthropicModel", "litellm": "LiteLLMModel"}
"""By protocol, in the module of that name, which is loaded when needed."""
SMALL = 4.0
"""Billions of parameters up to which a model is guided. One of 1.5 that was tried made no search by
itself in any of four questions; where the line is between it and those of 7 was not measured."""
_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)b(?![a-z])")
# No list of models with their abilities is installed: names are all that there is to go by.
_SEES = re.compile(
    r"""
    ^(?:chatgpt-)?gpt-(?:4o|4\.1|4\.5|4-turbo|[5-9])
    | ^o(?:1|3|4|5)\b
    | ^claude-(?!2|instant)
    | ^gemini-
    | ^gemma-?3 | ^gemma-?[4-9]
    | pixtral | ^mistral-(?:small|medium|large)-latest
    | llama-?3\.2.*(?:vision|11b|90b) | llama-?4
    | ^grok-(?:[4-9]|2-vision)
    | llava | bakllava | moondream | internvl | minicpm-v
    | vision | [\W_]vl\b | (?<=\d)vl\b
    """,
    re.VERBOSE,
)
_SEES_NOT = (
    *("audio", "realtime", "transcribe", "tts", "embed"),
    *("o1-mini", "o1-preview", "o3-mini", "3-1b", "3n-1b"),
)


def default_model(environ: Mapping[str, str]) -> str | None:
    """The default model of the first provider whose key is set; None where none is."""
    for provider in PROVIDERS:
        if provider.key and provider.default and environ.get(provider.key):
            return f"{provider.prefix}/{provider.default}"
    return None


def endpoint(name: str, base_url: str | None, environ: Mapping[str, str]) -> Endpoint:
    """Say where a model is asked; raises `UsageError` for a name that no provider has.

    At another address a provider's prefix still says which protocol is spoken there.
    """
    prefix, _, model = name.partition("/")
    provider = next((p for p in PROVIDERS if p.prefix == prefix and model), None)
    if provider is None:
        if not base_url:
            prefixes = ", ".join(f"{provider.prefix}/…" for provider in PROVIDERS)
            known = (
                f"Known: extractive, scripted:FILE, {prefixes}; or any name with --base-url URL."
            )
            raise UsageError(f"unknown model {name!r}", hint=known)
        key = environ.get("OPENAI_API_KEY")
        sees = sees_by_name(name)
        return Endpoint(name or "model", name, base_url, key, "OPENAI_API_KEY", sees=sees)
    elsewhere = base_url or environ.get(f"{prefix.upper()}_BASE_URL")
    prices = provider.prices
    if provider.api == "litellm":  # it names the provider before the model
        maker, slash, _ = model.partition("/")
        prices = _PRICES_OF_LITELLM.get(maker, maker) if slash else None
    return Endpoint(
        name,
        model,
        elsewhere or provider.base_url,
        environ.get(provider.key) if provider.key else None,
        provider.key,
        prices,
        provider.api,
        sees=sees_by_name(model),
        native=provider.native,
        needs_key=provider.key is not None and not elsewhere,
    )


def find_endpoint(
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
    if name == EXTRACTIVE or name.startswith(SCRIPTED):
        return None
    if name.startswith(LOCAL):
        found = Endpoint(name, name.removeprefix(LOCAL), "", None, api="local")
    else:
        prefix = name.partition("/")[0]
        # Plug-ins are only looked for where nothing built in has the name.
        built_in = base_url or any(provider.prefix == prefix for provider in PROVIDERS)
        if not built_in and plugins("models", prefix):
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


def is_small(model: str) -> bool:
    """Tell by its name (`qwen2.5:1.5b`) whether a model is too small to drive a tool loop."""
    sizes = [float(size) for size in _SIZE.findall(model.lower().rpartition("/")[2])]
    return bool(sizes) and max(sizes) <= SMALL


def sees_by_name(model: str) -> bool:
    """Tell by its name whether a model takes pictures; the maker before a `/` is left aside."""
    name = model.lower().rpartition("/")[2]
    return bool(_SEES.search(name)) and not any(part in name for part in _SEES_NOT)


def plugin_model(name: str) -> Model | None:
    """Make the model of a plug-in, `PLUGIN/NAME`; None for other names. Raises `UsageError`."""
    prefix, _, rest = name.partition("/")
    model: Model | None = make_plugin("models", prefix, rest)
    return model


def preload_client(where: Endpoint) -> None:
    """Load the client of an endpoint in the background: each takes half a second or more."""

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


def preload_prices(provider: str | None) -> None:
    """Load the tables of prices in the background, where there will be something to price.

    They take a fifth of a second, which a model that was just asked takes anyway.
    """
    if provider is not None and "genai_prices" not in sys.modules:
        threading.Thread(target=import_module, args=("genai_prices",), daemon=True).start()


def with_price(
    usage: Usage, model: str, provider: str | None, *, asked: str = "", cache_writes: int = 0
) -> Usage:
    """Add the real price; 0 where the model's price is not known.

    `provider` is its name in genai-prices, None where there is nothing to price. `asked` is the
    name under which the model was asked, where the one that answered is not known. `cache_writes`
    are input tokens that went into the provider's cache, which some charge more for.
    """
    if provider is None:
        return usage
    import genai_prices  # noqa: PLC0415 - see above

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
