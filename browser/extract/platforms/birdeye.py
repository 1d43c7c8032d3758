"""Birdeye: a token, from the API's overview or what its page shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.platforms.base import Platform
from browser.extract.platforms.embedded import objects
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import moment
from browser.extract.platforms.tokens import is_address, shown_page, socials

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

# The page's parameter, or the first part of its path, names the chain.
_KINDS = {"token": "token", "profile": "account", "pair": "pair"}


class Birdeye(Platform):
    """`/token/ADDRESS?chain=…` and `/CHAIN/token/ADDRESS`; `data` of the public API."""

    name = "birdeye"
    hosts = ("birdeye.so",)
    verified = False

    def parse(self, source: Source) -> Record | None:
        """Read a token, an account or a pair; a list of tokens as items."""
        found = {n["address"]: n for n in objects(source, "address", "symbol") if _is_token(n)}
        address = next((part for part in source.path if is_address(part)), "")
        chain = _chain(source)
        if address in found or len(found) == 1:
            return _token(found.get(address) or next(iter(found.values())), chain)
        if address:
            kind = next((_KINDS[part] for part in source.path if part in _KINDS), "token")
            return shown_page(source, self.name, kind, address)
        return listing(self.name, source.url, (_token(node, chain) for node in found.values()))


def _is_token(node: dict[str, Any]) -> bool:
    return isinstance(node["address"], str) and is_address(node["address"])


def _chain(source: Source) -> str:
    in_path = source.path[0] if source.path[1:2] == ("token",) else "solana"
    return source.parameter("chain") or in_path


def _token(node: dict[str, Any], chain: str) -> Record:
    address, links = node["address"], node.get("extensions") or {}
    picture = node.get("logoURI") or node.get("logo_uri")
    return Record(
        "birdeye", "token", f"https://birdeye.so/{chain}/token/{address}", id=address,
        title=node.get("name"), text=links.get("description") or "",
        counts=counts(holders=node.get("holder"), trades_24h=node.get("trade24h"),
                      wallets_24h=node.get("uniqueWallet24h")),
        fields=fields(
            chain=chain, symbol=node.get("symbol"), price_usd=node.get("price"),
            price_change_24h=node.get("priceChange24hPercent", node.get("price24hChangePercent")),
            market_cap=node.get("marketCap", node.get("mc", node.get("marketcap"))),
            fdv=node.get("fdv"), liquidity_usd=node.get("liquidity"),
            volume_24h_usd=node.get("v24hUSD", node.get("volume24hUSD")),
            supply=node.get("totalSupply", node.get("supply")),
            circulating_supply=node.get("circulatingSupply"), decimals=node.get("decimals"),
            rank=node.get("rank"), last_trade=moment(node.get("lastTradeUnixTime")),
        ),
        links=socials(links, "website", "twitter", "telegram", "discord", "medium"),
        media=(picture,) if picture else (),
    )  # fmt: skip
