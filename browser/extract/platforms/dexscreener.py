"""DexScreener: pairs of tokens, from its API and its pages."""

from __future__ import annotations

from dataclasses import replace

from browser.extract.platforms import DeclaredPlatform, Record, RecordPaths, SitePage

_SPANS = ("m5", "h1", "h6", "h24")


class DexScreener(DeclaredPlatform):
    """`pairs` of the API or of the page's state; rows of lists by the classes of their columns."""

    name = "dexscreener"
    hosts = ("dexscreener.com",)
    entries = (RecordPaths(
        "pair", "**", having="chainId pairAddress baseToken", id="pairAddress", url="url",
        published="pairCreatedAt", tags="labels", media="info.imageUrl",
        fields={
            "chain": "chainId", "exchange": "dexId", "token": "baseToken.address",
            "token_name": "baseToken.name", "token_symbol": "baseToken.symbol",
            "quote_symbol": "quoteToken.symbol", "quote_token": "quoteToken.address",
            "price_usd": "priceUsd", "price_native": "priceNative",
            "liquidity_usd": "liquidity.usd", "fdv": "fdv", "market_cap": "marketCap",
            **{f"price change {span}": f"priceChange.{span}" for span in _SPANS},
            **{f"volume {span}": f"volume.{span}" for span in _SPANS},
        },
        counts={f"{side} {span}": f"txns.{span}.{side}"
                for span in _SPANS for side in ("buys", "sells")},
        links={"website": "info.websites.url", "social": "info.socials.url"},
    ),)  # fmt: skip
    rows = RecordPaths(
        "pair", "a.ds-dex-table-row[href]", url="@href", id="@href -> [^/]+$",
        title=".ds-dex-table-row-base-token-name",
        fields={
            "chain": "@href -> ^/([^/]+)/",
            "token_name": ".ds-dex-table-row-base-token-name",
            "token_symbol": ".ds-dex-table-row-base-token-symbol",
            "quote_symbol": ".ds-dex-table-row-quote-token-symbol",
            **{name: f".ds-dex-table-row-col-{css}" for name, css in (
                ("price_usd", "price"), ("age", "pair-age"), ("volume", "volume"),
                ("liquidity", "liquidity"), ("market_cap", "market-cap"))},
        },
    )  # fmt: skip

    def parse(self, page: SitePage) -> Record | None:
        """Read one pair, or a list of pairs as items; a pair's title is its two symbols."""
        if record := super().parse(page):
            return _titled(replace(record, url=record.url or page.url))
        if page.json is not None or len(page.path) != 2:
            return None
        title, text = page.meta.get("og:title"), page.meta["og:description"]
        return Record(self.name, "pair", page.url, id=page.path[1], title=title, text=text,
                      fields={"chain": page.path[0]}) if title else None  # fmt: skip


def _titled(record: Record) -> Record:
    both = [record.fields.get(side, "") for side in ("token_symbol", "quote_symbol")]
    title = "/".join(both) if any(both) else record.title
    return replace(record, title=title, items=tuple(map(_titled, record.items)))
