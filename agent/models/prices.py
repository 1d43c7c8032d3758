"""What a call cost, by the published prices of its provider."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.models.base import Usage


def priced(usage: Usage, model: str, provider: str | None, *, written: int = 0) -> Usage:
    """Add the real price; 0 where the model's price is not known.

    `provider` is its name in genai-prices, None where there is nothing to price. `written` are
    input tokens that went into the provider's cache, which some charge more for.
    """
    if provider is None:
        return usage
    # Its tables take a fifth of a second: they load only where there is something to price.
    import genai_prices  # noqa: PLC0415

    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=written,
        output_tokens=usage.output_tokens,
    )
    try:
        price = genai_prices.calc_price(tokens, model, provider_id=provider)
    except LookupError:
        return usage
    return replace(usage, usd=float(price.total_price))
