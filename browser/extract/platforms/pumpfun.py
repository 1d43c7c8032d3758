"""pump.fun: a coin, from the API, the page's state or what it shows; the form for a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.platforms.base import Platform
from browser.extract.platforms.embedded import objects
from browser.extract.platforms.numbers import counts
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import moment
from browser.extract.platforms.tokens import is_address, shown_page, socials
from browser.extract.tree import raw_text

if TYPE_CHECKING:
    from lxml import etree

    from browser.extract.platforms.source import Source

_LABELS = {"bonding curve progress": "progress", "bonding curve": "progress", "ath": "ath"}
# What is typed into other kinds of input is secret, a file, or no text.
_WRITTEN = frozenset(("", "text", "search", "url", "number", "email", "tel"))


class PumpFun(Platform):
    """`mint` objects with a bonding curve; a coin's address is its mint."""

    name = "pump.fun"
    hosts = ("pump.fun",)
    verified = False

    def parse(self, source: Source) -> Record | None:
        """Read a coin, a list of coins, or the form on `/create`."""
        if source.path[-1:] == ("create",):
            return _form(source)
        coins = {node["mint"]: node for node in objects(source, "mint", "symbol", "creator")}
        mint = next((part for part in source.path if is_address(part)), "")
        if mint in coins or len(coins) == 1:
            return _coin(coins.get(mint) or next(iter(coins.values())))
        if mint:
            return shown_page(source, self.name, "token", mint, _LABELS)
        return listing(self.name, source.url, map(_coin, coins.values()))


def _coin(node: dict[str, Any]) -> Record:
    mint = node["mint"]
    replies = [_reply(reply) for reply in node.get("replies") or [] if isinstance(reply, dict)]
    return Record(
        "pump.fun", "token", f"https://pump.fun/coin/{mint}", id=mint, title=node.get("name"),
        text=node.get("description") or "", author=node.get("username") or None,
        handle=node.get("creator"), published=moment(node.get("created_timestamp")),
        counts=counts(replies=node.get("reply_count")),
        fields=fields(
            chain="solana", symbol=node.get("symbol"), market_cap_usd=node.get("usd_market_cap"),
            market_cap_sol=node.get("market_cap"), supply=node.get("total_supply"),
            bonding_curve=node.get("bonding_curve"),
            complete=node.get("complete"), live=node.get("is_currently_live"),
            pool=node.get("pump_swap_pool") or node.get("raydium_pool"),
            king_of_the_hill=moment(node.get("king_of_the_hill_timestamp")),
            last_trade=moment(node.get("last_trade_timestamp")), ath=node.get("ath_market_cap"),
        ),
        links=socials(node, "website", "twitter", "telegram"),
        media=(node["image_uri"],) if node.get("image_uri") else (), items=tuple(replies),
    )  # fmt: skip


def _reply(node: dict[str, Any]) -> Record:
    return Record(
        "pump.fun", "reply", id=str(node["id"]) if "id" in node else None,
        text=node.get("text") or "", author=node.get("username"), handle=node.get("user"),
        published=moment(node.get("timestamp")), counts=counts(likes=node.get("total_likes")),
    )  # fmt: skip


def _form(source: Source) -> Record | None:
    """What is written into the form so far; never what is secret or hidden."""
    written: dict[str, str] = {}
    for element in source.all("input, textarea"):
        if (element.get("type") or "").lower() in _WRITTEN and (value := _value(element)):
            name = element.get("name") or element.get("id") or element.get("placeholder") or "input"
            written[name if name not in written else f"{name} {len(written) + 1}"] = value
    return Record("pump.fun", "form", source.url, fields=written) if written else None


def _value(element: etree._Element) -> str:
    return (raw_text(element) if element.tag == "textarea" else element.get("value") or "").strip()
