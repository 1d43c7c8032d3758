"""Sites about tokens: DexScreener, Birdeye, Jupiter, pump.fun, Raydium, Solscan.

Their entries as their APIs give them and as their pages carry them in their state, by tables alone.
What a page only shows is in its own text.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from browser.extract.platforms.paths import DeclaredPlatform, RecordPaths
from browser.extract.platforms.record import Record

if TYPE_CHECKING:
    from browser.extract.platforms.site import SitePage

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
        title, said = page.meta.get("og:title"), page.meta.get("og:description", "")
        return Record(self.name, "pair", page.url, id=page.path[1], title=title, text=said,
                      fields={"chain": page.path[0]}) if title else None  # fmt: skip


def _titled(record: Record) -> Record:
    both = [record.fields.get(side, "") for side in ("token_symbol", "quote_symbol")]
    title = "/".join(both) if any(both) else record.title
    return replace(record, title=title, items=tuple(map(_titled, record.items)))


class Birdeye(DeclaredPlatform):
    """`/token/ADDRESS?chain=…` and `/CHAIN/token/ADDRESS`; entries of the public API."""

    name = "birdeye"
    hosts = ("birdeye.so",)
    verified = False
    entries = (RecordPaths(
        "token", "**", having="address symbol", id="address", title="name",
        text="extensions.description", media="logoURI || logo_uri",
        counts={"holders": "holder", "trades_24h": "trade24h", "wallets_24h": "uniqueWallet24h"},
        fields={
            "chain": ":url -> chain=(\\w+) || :url -> birdeye.so/(\\w+)/token/",
            "symbol": "symbol", "price_usd": "price", "decimals": "decimals", "fdv": "fdv",
            "price_change_24h": "priceChange24hPercent || price24hChangePercent",
            "market_cap": "marketCap || mc || marketcap", "liquidity_usd": "liquidity",
            "volume_24h_usd": "v24hUSD || volume24hUSD", "supply": "totalSupply || supply",
            "circulating_supply": "circulatingSupply", "rank": "rank",
        },
        links={name: f"extensions.{name}" for name in ("website", "twitter", "telegram")},
    ),)  # fmt: skip


class Jupiter(DeclaredPlatform):
    """`/tokens/MINT` of jup.ag; tokens, prices and quotes of the API."""

    name = "jupiter"
    hosts = ("jup.ag",)
    verified = False
    entries = (
        RecordPaths(
            "quote", having="inputMint outputMint outAmount",
            fields={"input": "inputMint", "output": "outputMint", "input_amount": "inAmount",
                    "output_amount": "outAmount", "slippage_bps": "slippageBps",
                    "price_impact": "priceImpactPct", "route": "routePlan.swapInfo.label"},
        ),
        RecordPaths(
            "token", "**", having="id symbol usdPrice", id="id", title="name", handle="dev",
            url="https://jup.ag/tokens/{id}", published="firstPool.createdAt", tags="tags",
            media="icon",
            counts={"holders": "holderCount", "buys_24h": "stats24h.numBuys",
                    "sells_24h": "stats24h.numSells", "traders_24h": "stats24h.numTraders"},
            fields={"symbol": "symbol", "price_usd": "usdPrice", "market_cap": "mcap", "fdv": "fdv",
                    "price_change_24h": "stats24h.priceChange", "liquidity_usd": "liquidity",
                    "supply": "totalSupply", "circulating_supply": "circSupply",
                    "decimals": "decimals", "organic_score": "organicScore",
                    "verified": "isVerified"},
            links={name: name for name in ("website", "twitter", "telegram")},
        ),
    )  # fmt: skip


class PumpFun(DeclaredPlatform):
    """`mint` objects with a bonding curve; a coin's address is its mint."""

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
        },
        links={name: name for name in ("website", "twitter", "telegram")},
    ),)  # fmt: skip


class Raydium(DeclaredPlatform):
    """Pools with `mintA` and `mintB` of the API."""

    name = "raydium"
    hosts = ("raydium.io",)
    verified = False
    entries = (RecordPaths(
        "pool", "**", having="id mintA mintB", id="id", published="openTime", tags="pooltype",
        title="mintA.symbol",
        fields={
            "type": "type", "program": "programId", "price": "price", "liquidity_usd": "tvl",
            "token": "mintA.address", "token_name": "mintA.name", "token_symbol": "mintA.symbol",
            "quote_token": "mintB.address", "quote_symbol": "mintB.symbol", "fee_rate": "feeRate",
            "token_amount": "mintAmountA", "quote_amount": "mintAmountB",
            "volume_24h": "day.volume", "fees_24h": "day.volumeFee", "apr_24h": "day.apr",
        },
    ),)  # fmt: skip

    def parse(self, page: SitePage) -> Record | None:
        """Read a pool, or a list of pools; a pool's title is its two symbols."""
        record = super().parse(page)
        return _titled(record) if record else None


class Solscan(DeclaredPlatform):
    """The path says what a page is about; its rows are labels and values. Entries of the API."""

    name = "solscan"
    hosts = ("solscan.io",)
    verified = False
    entries = tuple(
        RecordPaths(
            kind, "data", having=key, id=key, url=f"https://solscan.io/{path}/{{{key}}}",
            title="name", author="signer", published="block_time || created_time", media="icon",
            counts={"holders": "holder"},
            fields={
                "symbol": "symbol", "price_usd": "price", "price_change_24h": "price_change_24h",
                "volume_24h_usd": "volume_24h", "market_cap": "market_cap", "supply": "supply",
                "decimals": "decimals", "creator": "creator", "type": "type",
                "lamports": "lamports", "block": "block_id", "fee": "fee", "result": "status",
            },
        )
        for kind, key, path in (("token", "address", "token"), ("transaction", "tx_hash", "tx"),
                                ("account", "account", "account"))
    )  # fmt: skip
