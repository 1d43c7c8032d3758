"""Jupiter: tokens, prices and quotes, from its API or what a token's page shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.dates import iso_date
from browser.extract.platforms.base import Platform
from browser.extract.platforms.embedded import objects
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.platforms.tokens import is_address, shown_page, socials

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_LABELS = {"organic score": "organic_score", "top holders": "top_holders", "net buyers": "buyers"}


class Jupiter(Platform):
    """`/tokens/MINT` and `/swap/…` of jup.ag; entries with `id` and `usdPrice` of the API."""

    name = "jupiter"
    hosts = ("jup.ag",)
    verified = False

    def parse(self, source: Source) -> Record | None:
        """Read a token, a quote, or a list of tokens or prices."""
        if source.json is not None and (record := _quote(source.json) or _prices(source)):
            return record
        found = {n["id"]: n for n in objects(source, "id", "symbol") if _is_token(n)}
        address = next((part for part in source.path if is_address(part)), "")
        if address in found or (not address and len(found) == 1):
            return _token(found.get(address) or next(iter(found.values())))
        if address:
            return shown_page(source, self.name, "token", address, _LABELS)
        return listing(self.name, source.url, (_token(node) for node in found.values()))


def _is_token(node: dict[str, Any]) -> bool:
    return isinstance(node["id"], str) and is_address(node["id"])


def _token(node: dict[str, Any]) -> Record:
    day, first = node.get("stats24h") or {}, node.get("firstPool") or {}
    return Record(
        "jupiter", "token", f"https://jup.ag/tokens/{node['id']}", id=node["id"],
        title=node.get("name"), handle=node.get("dev"),
        published=iso_date(first.get("createdAt") or ""),
        counts=counts(holders=node.get("holderCount"), buys_24h=day.get("numBuys"),
                      sells_24h=day.get("numSells"), traders_24h=day.get("numTraders")),
        fields=fields(
            chain="solana", symbol=node.get("symbol"), price_usd=node.get("usdPrice"),
            price_change_24h=day.get("priceChange"), market_cap=node.get("mcap"),
            fdv=node.get("fdv"), liquidity_usd=node.get("liquidity"),
            buy_volume_24h=day.get("buyVolume"), sell_volume_24h=day.get("sellVolume"),
            supply=node.get("totalSupply"), circulating_supply=node.get("circSupply"),
            decimals=node.get("decimals"), organic_score=node.get("organicScore"),
            verified=node.get("isVerified"),
        ),
        tags=tuple(node.get("tags") or ()), links=socials(node, "website", "twitter", "telegram"),
        media=(node["icon"],) if node.get("icon") else (),
    )  # fmt: skip


def _quote(data: Any) -> Record | None:
    if not isinstance(data, dict) or not {"inputMint", "outputMint", "outAmount"} <= data.keys():
        return None
    steps = [(step.get("swapInfo") or {}).get("label") for step in data.get("routePlan") or []]
    return Record(
        "jupiter", "quote",
        fields=fields(
            input=data["inputMint"], output=data["outputMint"], input_amount=data.get("inAmount"),
            output_amount=data["outAmount"], least_output=data.get("otherAmountThreshold"),
            slippage_bps=data.get("slippageBps"), price_impact=data.get("priceImpactPct"),
            mode=data.get("swapMode"), route=" > ".join(step for step in steps if step),
        ),
    )  # fmt: skip


def _prices(source: Source) -> Record | None:
    """Prices by token: `{MINT: {usdPrice}}`, before that `{data: {MINT: {price}}}`."""
    data = source.json.get("data", source.json) if isinstance(source.json, dict) else {}
    rows = [(mint, row) for mint, row in data.items() if is_address(mint) and isinstance(row, dict)]
    return listing("jupiter", source.url, (
        Record("jupiter", "price", f"https://jup.ag/tokens/{mint}", id=mint,
               fields=fields(price_usd=row.get("usdPrice", row.get("price")),
                             price_change_24h=row.get("priceChange24h")))
        for mint, row in rows
    ))  # fmt: skip
