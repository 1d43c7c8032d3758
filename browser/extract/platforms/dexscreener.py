"""DexScreener: trading pairs, from the API's replies or a pair's page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import moment

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source


class DexScreener(Platform):
    """`pairs` of the API; chain and address of a page stand in its address."""

    name = "dexscreener"
    hosts = ("dexscreener.com",)

    def parse(self, source: Source) -> Record | None:
        """Read one pair, or a list of pairs as items."""
        data = source.json
        pairs = data if isinstance(data, list) else (data or {}).get("pairs") or []
        if not pairs and isinstance(data, dict) and data.get("pair"):
            pairs = [data["pair"]]
        found = tuple(_pair(pair) for pair in pairs if isinstance(pair, dict) and "chainId" in pair)
        if len(found) == 1:
            return found[0]
        if found:
            return Record(self.name, "listing", source.url, items=found)
        return _page(source) if data is None and len(source.path) == 2 else None


def _pair(pair: dict[str, Any]) -> Record:
    base, quote = pair.get("baseToken") or {}, pair.get("quoteToken") or {}
    windows = {
        f"{name} {window}": value
        for name, key in (("price change", "priceChange"), ("volume", "volume"))
        for window, value in (pair.get(key) or {}).items()
    }
    trades = {
        f"{side} {window}": value
        for window, sides in (pair.get("txns") or {}).items()
        for side, value in sides.items()
    }
    liquidity = pair.get("liquidity") or {}
    return Record(
        "dexscreener", "pair", pair.get("url") or "", id=pair.get("pairAddress"),
        title=f"{base.get('symbol', '')}/{quote.get('symbol', '')}",
        published=moment(pair.get("pairCreatedAt")),
        counts=counts(**trades),
        fields=fields(
            chain=pair.get("chainId"), exchange=pair.get("dexId"), token=base.get("address"),
            token_name=base.get("name"), token_symbol=base.get("symbol"),
            quote_symbol=quote.get("symbol"), quote_token=quote.get("address"),
            price_usd=pair.get("priceUsd"), price_native=pair.get("priceNative"),
            liquidity_usd=liquidity.get("usd"), fdv=pair.get("fdv"),
            market_cap=pair.get("marketCap"), **windows,
        ),
    )  # fmt: skip


def _page(source: Source) -> Record | None:
    title = source.meta.get("og:title") or source.text("title")
    if not title:
        return None
    chain, address = source.path
    return Record(
        "dexscreener", "pair", source.url, id=address, title=title,
        text=source.meta.get("og:description", ""), fields=fields(chain=chain),
    )  # fmt: skip
