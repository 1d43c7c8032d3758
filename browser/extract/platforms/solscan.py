"""Solscan: tokens, accounts, transactions and blocks of Solana, from its pages and its API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser.extract.platforms.base import Platform
from browser.extract.platforms.numbers import counts, number
from browser.extract.platforms.record import Record, listing
from browser.extract.platforms.source import fields
from browser.extract.platforms.times import moment
from browser.extract.platforms.tokens import is_address, is_signature, shown_page

if TYPE_CHECKING:
    from browser.extract.platforms.source import Source

_KINDS = {"token": "token", "account": "account", "address": "account", "tx": "transaction",
          "block": "block"}  # fmt: skip
_LABELS = {
    "token name": "name", "token symbol": "symbol", "token address": "token",
    "owner program": "owner_program", "first mint": "first_mint", "authority": "authority",
    "update authority": "update_authority", "token program": "owner_program", "owner": "owner",
    "sol balance": "sol_balance", "token balance": "token_balance", "label": "label",
    "signature": "signature", "block": "block", "slot": "block", "block hash": "block_hash",
    "timestamp": "timestamp", "block time": "timestamp", "result": "result", "status": "result",
    "signer": "signer", "by": "signer", "fee": "fee", "transaction fee": "fee",
    "priority fee": "priority_fee", "compute units consumed": "compute_units",
    "transaction version": "version", "confirmations": "confirmations", "leader": "leader",
    "previous block hash": "previous_block_hash", "transactions": "transactions",
    "executable": "executable", "isoncurve": "is_on_curve", "extensions": "extensions",
}  # fmt: skip
# Fields of API entries: accounts' and transactions' as well as tokens'.
_ENTRY = {
    "symbol": "symbol", "price": "price_usd", "price_change_24h": "price_change_24h",
    "volume_24h": "volume_24h_usd", "market_cap": "market_cap", "supply": "supply",
    "decimals": "decimals", "creator": "creator", "mint_authority": "mint_authority",
    "freeze_authority": "freeze_authority", "type": "type", "owner_program": "owner_program",
    "lamports": "lamports", "rent_epoch": "rent_epoch", "block_id": "block", "fee": "fee",
    "status": "result", "account_label": "label", "market_cap_rank": "rank",
    "compute_units_consumed": "compute_units", "priority_fee": "priority_fee",
}  # fmt: skip


class Solscan(Platform):
    """The path says what a page is about; its rows are labels and values."""

    name = "solscan"
    hosts = ("solscan.io",)
    verified = False

    def parse(self, source: Source) -> Record | None:
        """Read by the path: `/token/…`, `/account/…`, `/tx/…`, `/block/…`; or an API entry."""
        if source.json is not None:
            return _from_api(source.json, source.url)
        kind, name = _KINDS.get(source.path[0] if source.path else ""), "".join(source.path[1:2])
        if not kind or not (is_address(name) or is_signature(name) or name.isdecimal()):
            return None
        return shown_page(source, self.name, kind, name, _LABELS)


def _from_api(data: Any, url: str) -> Record | None:
    node = data.get("data") if isinstance(data, dict) else None
    if isinstance(node, list):
        return listing("solscan", url, filter(None, map(_entry, node)))
    return _entry(node)


def _entry(node: Any) -> Record | None:
    if not isinstance(node, dict):
        return None
    places = (("token", "address"), ("transaction", "tx_hash"), ("account", "account"))
    kind, name = next(((k, str(node[key])) for k, key in places if node.get(key)), ("", ""))
    if not name:
        return None
    path = {"token": "token", "transaction": "tx", "account": "account"}[kind]
    signers = node.get("signer")
    return Record(
        "solscan", kind, f"https://solscan.io/{path}/{name}", id=name, title=node.get("name"),
        author=", ".join(signers) if isinstance(signers, list) else signers,
        published=moment(node.get("block_time") or node.get("created_time")),
        counts=counts(holders=number(node.get("holder"))),
        fields=fields(**{field: node.get(key) for key, field in _ENTRY.items()}),
        media=(node["icon"],) if node.get("icon") else (),
    )  # fmt: skip
