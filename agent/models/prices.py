"""What a call cost, by the published prices of its provider."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.models.base import Usage


def get_ready(provider: str | None) -> None:
    """Load the tables beside what goes on, where there will be something to price.

    They take a fifth of a second, which a model that was just asked takes anyway.
    """
    if provider is not None and "genai_prices" not in sys.modules:
        threading.Thread(target=import_module, args=("genai_prices",), daemon=True).start()


def priced(
    usage: Usage, model: str, provider: str | None, *, asked: str = "", written: int = 0
) -> Usage:
    """Add the real price; 0 where the model's price is not known.

    `provider` is its name in genai-prices, None where there is nothing to price. `asked` is the
    name under which the model was asked, where the one that answered is not known. `written` are
    input tokens that went into the provider's cache, which some charge more for.
    """
    if provider is None:
        return usage
    import genai_prices  # noqa: PLC0415 - see above

    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=written,
        output_tokens=usage.output_tokens,
    )
    for name in filter(None, (model, asked)):
        with suppress(LookupError):
            price = genai_prices.calc_price(tokens, name, provider_id=provider)
            return replace(usage, usd=float(price.total_price))
    return usage
