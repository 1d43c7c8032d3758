"""Token markets: pump.fun's coins and DexScreener's pairs, from their APIs and page state."""

from __future__ import annotations

from dataclasses import replace

from browser.extract.platforms import DeclaredPlatform, Record, RecordPaths, SitePage

# The number of tokens (times 10⁶) that a coin's bonding curve sells: `initial_real_token_reserves`
# in the program's `Global` account. When none are left, the coin moves to an exchange.
_CURVE_SUPPLY = 793_100_000_000_000
_TIME_SPANS = ("m5", "h1", "h6", "h24")


class PumpFun(DeclaredPlatform):
    """Uses `mint` objects with a bonding curve, from the API's `/coins` or embedded page state."""

    name = "pump.fun"
    hosts = ("pump.fun",)
    verified = False
    entries = (RecordPaths(
        "token", "**", having="mint symbol creator", id="mint", title="name", text="description",
        url="https://pump.fun/coin/{mint}", author="username", handle="creator",
        published="created_timestamp", media="image_uri", counts={"replies": "reply_count"},
        fields={
            "symbol": "symbol", "market_cap_usd": "usd_market_cap", "market_cap_sol": "market_cap",
            "supply": "total_supply", "bonding_curve": "bonding_curve", "complete": "complete",
            "live": "is_currently_live", "pool": "pump_swap_pool || raydium_pool",
            "left_on_curve": "real_token_reserves",
        },
        links={name: name for name in ("website", "twitter", "telegram")},
    ),)  # fmt: skip

    def parse(self, page: SitePage) -> Record | None:
        """Read a coin or a list of coins, each with the share that its bonding curve has sold."""
        record = super().parse(page)
        return _with_progress(record) if record else None


def _with_progress(record: Record) -> Record:
    fields = dict(record.fields)
    left = fields.pop("left_on_curve", "")
    if fields.get("complete") == "true":
        fields["progress"] = "100 %"
    elif left.isdecimal() and int(left) <= _CURVE_SUPPLY:
        fields["progress"] = f"{100 * (1 - int(left) / _CURVE_SUPPLY):.1f} %"
    return replace(record, fields=fields, items=tuple(map(_with_progress, record.items)))


class DexScreener(DeclaredPlatform):
    """Uses `pairs` in API responses and in the state embedded in pages."""

    name = "dexscreener"
    hosts = ("dexscreener.com",)
    entries = (RecordPaths(
        "pair", "**", having="chainId pairAddress baseToken", id="pairAddress", url="url",
        published="pairCreatedAt", tags="labels", media="info.imageUrl",
        fields={
            "chain": "chainId", "exchange": "dexId", "token": "baseToken.address",
            "token_name": "baseToken.name", "token_symbol": "baseToken.symbol",
            "quote_symbol": "quoteToken.symbol", "price_usd": "priceUsd",
            "price_native": "priceNative", "liquidity_usd": "liquidity.usd", "fdv": "fdv",
            "market_cap": "marketCap",
            **{f"price_change_{span}": f"priceChange.{span}" for span in _TIME_SPANS},
            **{f"volume_{span}": f"volume.{span}" for span in _TIME_SPANS},
        },
        counts={f"{side}_{span}": f"txns.{span}.{side}"
                for span in _TIME_SPANS for side in ("buys", "sells")},
        links={"website": "info.websites.url", "social": "info.socials.url"},
    ),)  # fmt: skip

    def parse(self, page: SitePage) -> Record | None:
        """Read a pair, or a list of pairs; a pair's title is its two symbols."""
        record = super().parse(page)
        return _with_title(record) if record else None


def _with_title(record: Record) -> Record:
    symbols = (record.fields.get(f"{side}_symbol") for side in ("token", "quote"))
    title = "/".join(filter(None, symbols)) or record.title
    return replace(record, title=title, items=tuple(map(_with_title, record.items)))
