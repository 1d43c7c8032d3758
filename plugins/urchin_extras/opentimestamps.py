"""Timestamps from OpenTimestamps: calendars collect digests and put them into a Bitcoin block.

A calendar answers immediately with a promise. Hours later, it can name the block, which `complete`
adds to the proof, an `.ots` file in the format of the `ots` tool. A complete proof can be checked
without calendars, using only the block's header. Calendars only see a hash of the digest and a
random number.
"""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from agent.errors import UsageError
from agent.sealing import Stamp, TimestampFailed, TimestampInvalid, send_request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PUBLIC_CALENDARS = "public"
"""Used instead of a URL for the calendars that the OpenTimestamps project recommends."""
_NONCE_BYTES = 16  # as in the `ots` tool
_HEADERS = {
    "Accept": "application/vnd.opentimestamps.v1",
    "Content-Type": "application/x-www-form-urlencoded",  # as sent by `ots`
}


def stamp(
    digest: bytes, calendars: Sequence[str], before: bytes = b"", *, proxy: str | None = None
) -> tuple[bytes, tuple[str, ...]]:
    """Have calendars record a SHA-256 digest; returns the proof, and the failures with reasons.

    `before` is an earlier proof, which is merged into the new one if it has the same digest. Raises
    `TimestampFailed` if no calendar answers, `UsageError` if the extra is not installed.
    """
    ots = _library()
    proof = _read(before) if before else None
    if proof is None or proof.file_digest != digest:
        proof = ots.DetachedTimestampFile(ots.OpSHA256(), ots.Timestamp(digest))
    # A hash of the digest and a random number reveals nothing to a calendar.
    blind = proof.timestamp.ops.add(ots.OpAppend(secrets.token_bytes(_NONCE_BYTES)))
    node = blind.ops.add(ots.OpSHA256())
    urls = dict.fromkeys(
        url
        for name in calendars
        for url in (ots.DEFAULT_AGGREGATORS if name == PUBLIC_CALENDARS else [name])
    )
    missing = _ask_all([(node, url) for url in urls], "POST", proxy)
    if len(missing) == len(urls):
        raise TimestampFailed("; ".join(missing))
    return _serialize(proof), tuple(missing)


def complete(
    proof: bytes, calendars: Sequence[str] = (), *, proxy: str | None = None
) -> tuple[bytes, tuple[str, ...]]:
    """Ask a proof's calendars for the promised blocks; returns the proof and the missing ones.

    A proof may name any address, but only those of the OpenTimestamps project and those in
    `calendars` are asked. Raises `TimestampInvalid`, and `UsageError` if the extra is not
    installed.
    """
    ots = _library()
    found = _read(proof)
    own = {url.rstrip("/") for url in calendars}
    requests, strange = [], []
    for node, calendar in [] if _blocks(found) else _pending_attestations(found.timestamp):
        if calendar.rstrip("/") in own or calendar in ots.DEFAULT_CALENDAR_WHITELIST:
            requests.append((node, calendar))
        else:
            strange.append(f"{calendar} was not contacted: name it with --calendar if you trust it")
    missing = (*strange, *_ask_all(requests, "GET", proxy))
    return _serialize(found), missing


def check(proof: bytes, digest: bytes, blocks: Mapping[int, bytes]) -> Stamp:
    """Check that a proof covers this digest and leads to a block, using the given block headers.

    A block's time is set by its miner, accurate to two hours. Raises `TimestampInvalid`.
    """
    ots = _library()
    found = _read(proof)
    if found.file_hash_op != ots.OpSHA256() or found.file_digest != digest:
        told = "the timestamp is not valid: it belongs to other data"
        raise TimestampInvalid(told, hint="The timestamped data has been changed since.")
    named = _blocks(found)
    times = []
    for height, root in named:
        if height in blocks:
            block = ots.CBlockHeader.deserialize(blocks[height])
            attestation = ots.BitcoinBlockHeaderAttestation(height)
            try:
                times.append((int(attestation.verify_against_blockheader(root, block)), height))
            except ots.VerificationError as error:
                told = f"the timestamp is not valid: it does not lead to Bitcoin block {height}"
                raise TimestampInvalid(
                    told, hint="Check that the header belongs to that block."
                ) from error
    if times:
        when, height = min(times)
        return Stamp(datetime.fromtimestamp(when, UTC), f"Bitcoin block {height}")
    if named:
        height, root = named[0]
        who = f"Bitcoin block {height}"
        told = f"{who} confirms it if the block's Merkle root is {root[::-1].hex()}"
        return Stamp(None, who, f"{told}: not checked because its header is missing (--block)")
    calendars = sorted({calendar for _, calendar in _pending_attestations(found.timestamp)})
    who = " and ".join(calendars) or "an unknown calendar"
    return Stamp(None, who, f"pending: no Bitcoin block contains it yet; {who} promised one")


def _ask_all(requests: Sequence[tuple[Any, str]], method: str, proxy: str | None) -> list[str]:
    """Ask calendars about nodes concurrently, and add their replies to the proof.

    POST submits a digest; GET requests its block. Returns the errors.
    """
    missing = []
    with ThreadPoolExecutor(max(1, len(requests))) as threads:
        replies = [threads.submit(_ask_one, *request, method, proxy) for request in requests]
    for reply, (node, _) in zip(replies, requests, strict=True):
        try:
            node.merge(reply.result())
        except TimestampFailed as error:
            missing.append(str(error))
    return missing


def _ask_one(node: Any, calendar: str, method: str, proxy: str | None) -> Any:
    """Return a calendar's data about a node, as a tree to merge; raises `TimestampFailed`."""
    ots, posts = _library(), method == "POST"
    path = "digest" if posts else f"timestamp/{node.msg.hex()}"
    url = f"{calendar.rstrip('/')}/{path}"
    status, reply = send_request(method, url, _HEADERS, node.msg if posts else None, proxy)
    if status == HTTPStatus.NOT_FOUND and not posts:
        raise TimestampFailed(f"{calendar} has no Bitcoin block for the timestamp yet")
    if status != HTTPStatus.OK:
        raise TimestampFailed(f"{calendar} returned no timestamp: HTTP {status}")
    try:
        return ots.Timestamp.deserialize(ots.BytesDeserializationContext(reply), node.msg)
    except (ots.DeserializationError, ValueError) as error:
        raise TimestampFailed(f"{calendar} did not send a timestamp: {error}") from error


def _read(token: bytes) -> Any:
    """Read an `.ots` file; raises `TimestampInvalid`."""
    ots = _library()
    try:
        context = ots.BytesDeserializationContext(token)
        return ots.DetachedTimestampFile.deserialize(context)
    except (ots.DeserializationError, ValueError) as error:
        told = f"the timestamp is not valid: {error}"
        raise TimestampInvalid(told, hint="It has been damaged since it was created.") from error


def _serialize(proof: Any) -> bytes:
    out = _library().BytesSerializationContext()
    proof.serialize(out)
    return bytes(out.getbytes())


def _pending_attestations(node: Any) -> Iterator[tuple[Any, str]]:
    """Yield the nodes for which a calendar promised a block, with its URL."""
    for attestation in node.attestations:
        if isinstance(attestation, _library().PendingAttestation):
            yield node, attestation.uri
    for below in node.ops.values():
        yield from _pending_attestations(below)


def _blocks(proof: Any) -> list[tuple[int, bytes]]:
    """List the Bitcoin blocks that a proof leads to, as height and required Merkle root."""
    block = _library().BitcoinBlockHeaderAttestation
    found = proof.timestamp.all_attestations()
    return sorted((one.height, message) for message, one in found if isinstance(one, block))


@cache
def _library() -> SimpleNamespace:
    """Return the parts of the `opentimestamps` library (an extra) that are used here."""
    try:
        from bitcoin.core import CBlockHeader  # noqa: PLC0415 - an extra
        from opentimestamps import calendar  # noqa: PLC0415 - an extra
        from opentimestamps.core import notary, op, serialize, timestamp  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(
            "OpenTimestamps is not installed", hint="pip install 'urchin-extras[timestamps]'"
        ) from error
    modules = (calendar, notary, op, serialize, timestamp)
    names = {name: value for module in modules for name, value in vars(module).items()}
    return SimpleNamespace(**names, CBlockHeader=CBlockHeader)
