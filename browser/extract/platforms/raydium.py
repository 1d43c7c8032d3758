"""Raydium: liquidity pools and the tokens in them, from its API or what its pages show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browser.extract.platforms.base import Platform
from browser.extract.platforms.embedded import objects
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import moment
from browser.extract.platforms.tokens import is_address, shown_page

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_LABELS = {
    "pool liquidity": "liquidity", "24h fees": "fees_24h", "fees 24h": "fees_24h", "apr": "apr",
    "24h apr": "apr", "total apr": "apr", "fee tier": "fee_rate", "amm id": "pool",
    "pool id": "pool", "price impact": "price_impact", "minimum received": "least_output",
}  # fmt: skip
# Parameters of its addresses that name a pool, or the tokens of a swap.
_POOL, _INPUT, _OUTPUT = ("pool_id", "ammId"), "inputMint", "outputMint"


class Raydium(Platform):
    """Pools with `mintA` and `mintB`; swap and liquidity pages name theirs in the address."""

    name = "raydium"
    hosts = ("raydium.io",)
    verified = False

    def parse(self, source: Source) -> Record | None:
        """Read a pool, a swap, or a list of pools."""
        pools = {node["id"]: node for node in objects(source, "id", "mintA", "mintB")}
        if len(pools) == 1:
            return _pool(next(iter(pools.values())))
        if found := listing(self.name, source.url, map(_pool, pools.values())):
            return found
        return _page(source) if source.json is None else None


def _pool(node: dict[str, Any]) -> Record:
    base, quote, day = node["mintA"], node["mintB"], node.get("day") or {}
    return Record(
        "raydium", "pool", f"https://raydium.io/liquidity-pools/?pool_id={node['id']}",
        id=node["id"], title=f"{_symbol(base)}/{_symbol(quote)}",
        published=moment(node.get("openTime")),
        fields=fields(
            chain="solana", type=node.get("type"), program=node.get("programId"),
            token=base.get("address"), token_name=base.get("name"), token_symbol=_symbol(base),
            quote_token=quote.get("address"), quote_symbol=_symbol(quote), price=node.get("price"),
            liquidity_usd=node.get("tvl"), fee_rate=node.get("feeRate"),
            token_amount=node.get("mintAmountA"), quote_amount=node.get("mintAmountB"),
            volume_24h=day.get("volume"), fees_24h=day.get("volumeFee"), apr_24h=day.get("apr"),
            burnt=node.get("burnPercent"),
        ),
        tags=tuple(node.get("pooltype") or ()),
    )  # fmt: skip


def _symbol(mint: dict[str, Any]) -> str:
    return mint.get("symbol") or mint.get("name") or ""


def _page(source: Source) -> Record | None:
    pool = next((said for name in _POOL if is_address(said := source.parameter(name))), "")
    kind = "swap" if source.path[:1] == ("swap",) else "pool"
    record = shown_page(source, "raydium", kind, pool, _LABELS)
    tokens = fields(input=source.parameter(_INPUT), output=source.parameter(_OUTPUT))
    return replace(record, fields={**tokens, **record.fields}) if record else None
