"""DexScreener: trading pairs, from the API's replies or a pair's page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.extract.platforms.base import Platform
from browser.extract.platforms.embedded import variable, walk
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import moment
from browser.extract.platforms.tokens import shown_page
from browser.net.url import join
from browser.types import Link

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_LABELS = {"price usd": "price_usd", "pair created": "age", "txns": "transactions",
           "makers": "makers", "5m": "price change m5", "1h": "price change h1",
           "6h": "price change h6", "24h": "price change h24"}  # fmt: skip
# Columns of a list, by what their classes end in.
_COLUMNS = {"price": "price_usd", "pair-age": "age", "txns": "transactions", "volume": "volume",
            "makers": "makers", "liquidity": "liquidity", "market-cap": "market_cap",
            "price-change-h24": "price change h24"}  # fmt: skip


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
        if data is not None:
            return listing(self.name, source.url, found)
        rows = (_row(source, node) for node in source.all("a.ds-dex-table-row[href]"))
        if table := listing(self.name, source.url, rows):
            return table
        return _page(source) if len(source.path) == 2 else None


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
        tags=tuple(pair.get("labels") or ()), links=_links(pair.get("info") or {}),
        media=(picture,) if (picture := (pair.get("info") or {}).get("imageUrl")) else (),
    )  # fmt: skip


def _links(info: dict[str, Any]) -> tuple[Link, ...]:
    sites = [
        (site.get("url"), site.get("label") or "website") for site in info.get("websites") or []
    ]
    sites += [(s.get("url"), s.get("type") or s.get("platform")) for s in info.get("socials") or []]
    return tuple(Link(url, name or "") for url, name in sites if url)


def _page(source: Source) -> Record | None:
    """A pair's page: its state, else what it shows beside labels; the address names the pair."""
    chain, address = source.path
    pairs = [n for n in walk([variable(source, "__SERVER_DATA")]) if "pairAddress" in n]
    mine = next((n for n in pairs if str(n["pairAddress"]).lower() == address.lower()), None)
    if mine is not None and "chainId" in mine:
        return replace(_pair(mine), url=source.url)
    shown = shown_page(source, "dexscreener", "pair", address, _LABELS)
    title = source.meta.get("og:title") or source.text("title")
    if shown is None and not source.meta.get("og:title"):
        return None
    values = shown.fields if shown else {}
    return Record(
        "dexscreener", "pair", source.url, id=address, title=title,
        text=source.meta.get("og:description", ""), fields={"chain": chain, **values},
    )  # fmt: skip


def _row(source: Source, node: etree._Element) -> Record:
    """A row of a list of pairs, as the page draws it."""
    path = (node.get("href") or "").strip("/").split("/")
    said = {
        name: source.text(f".ds-dex-table-row-col-{css}", node) for css, name in _COLUMNS.items()
    }
    symbols = (
        source.text(f".ds-dex-table-row-{side}-token-symbol", node) for side in ("base", "quote")
    )
    return Record(
        "dexscreener", "pair", join(source.url, node.get("href") or ""), id=path[-1],
        title="/".join(symbols),
        fields=fields(chain=path[0] if len(path) > 1 else None,
                      token_name=source.text(".ds-dex-table-row-base-token-name", node), **said),
    )  # fmt: skip
