"""What sites about tokens have in common: addresses, amounts, and records of their pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from browser.extract.platforms.labels import labelled
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.types import Link

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

# Base58 has neither 0, O, I nor l. 32 bytes are 32-44 letters of it, a signature is 86-88.
_BASE58 = re.compile(r"[1-9A-HJ-NP-Za-km-z]+")
_EVM = re.compile(r"0x[0-9a-fA-F]{40}")
_ADDRESS_LENGTHS = range(32, 45)
_SIGNATURE_LENGTHS = range(80, 91)

LABELS = {
    "price": "price", "current price": "price", "price usd": "price",
    "market cap": "market_cap", "marketcap": "market_cap", "mcap": "market_cap", "mc": "market_cap",
    "market cap.": "market_cap", "fdv": "fdv", "fully diluted valuation": "fdv",
    "fully diluted market cap": "fdv", "liquidity": "liquidity", "total liquidity": "liquidity",
    "tvl": "liquidity", "volume": "volume", "24h volume": "volume_24h", "volume 24h": "volume_24h",
    "volume (24h)": "volume_24h", "24h vol": "volume_24h", "vol 24h": "volume_24h",
    "holders": "holders", "holder": "holders", "holder count": "holders",
    "supply": "supply", "total supply": "supply", "current supply": "supply",
    "circulating supply": "circulating_supply", "circ. supply": "circulating_supply",
    "max supply": "max_supply", "decimals": "decimals", "decimal": "decimals",
    "creator": "creator", "created by": "creator", "dev": "creator", "deployer": "creator",
    "age": "age", "created": "created", "mint authority": "mint_authority",
    "freeze authority": "freeze_authority", "24h": "price_change_24h",
    "price change 24h": "price_change_24h", "24h change": "price_change_24h",
}  # fmt: skip
"""Labels that such sites share, with the names of the fields that they fill."""


def is_address(text: str) -> bool:
    """Whether a text can be an account or a token: base58 of 32 bytes, or `0x` and 40 digits."""
    base58 = _BASE58.fullmatch(text) is not None and len(text) in _ADDRESS_LENGTHS
    return base58 or _EVM.fullmatch(text) is not None


def is_signature(text: str) -> bool:
    """Whether a text can be a transaction's signature."""
    return _BASE58.fullmatch(text) is not None and len(text) in _SIGNATURE_LENGTHS


def socials(node: dict[str, Any], *names: str) -> tuple[Link, ...]:
    """The addresses that a token's entry gives of its own, by what they are called there."""
    return tuple(Link(node[name], name) for name in names if str(node.get(name)).startswith("http"))


def shown_page(
    source: Source, platform: str, kind: str, address: str, labels: dict[str, str] | None = None
) -> Record | None:
    """A record of what a page shows beside known labels; None where it shows nothing of it.

    The title is the page's own; `text` its description.
    """
    values = labelled(source, {**LABELS, **(labels or {})})
    title = source.text("h1") or source.meta.get("og:title", "") or source.text("title")
    about = source.meta.get("og:description") or source.meta.get("description", "")
    if not values:
        return None
    return Record(
        platform, kind, source.url, id=address or None, title=title or None, text=about,
        fields=fields(**values),
    )  # fmt: skip
