"""Timestamps by OpenTimestamps: calendars gather digests and put them into a Bitcoin block.

A calendar answers at once with a promise; hours later it can name the block, and `complete` takes
that up. The proof is an `.ots` file, as the tool `ots` takes it; who has it needs no calendar any
more, only the header of the block. Calendars see a hash over the digest and a random number.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from agent.errors import UsageError
from agent.timestamp.types import Stamp, TimestampFailed, TimestampInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

PUBLIC = "public"
"""Instead of a URL: the calendars that the OpenTimestamps project names."""
_MAGIC = b"\x00OpenTimestamps\x00"
_HEADERS = {
    "Accept": "application/vnd.opentimestamps.v1",
    "Content-Type": "application/x-www-form-urlencoded",  # as `ots` sends it
}


@dataclass(frozen=True, slots=True)
class Promised:
    """A proof (the bytes of an `.ots` file), and what is missing of it, and why."""

    proof: bytes
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Request:
    """What one calendar is asked about one node of a proof."""

    calendar: str
    node: Any
    method: str
    path: str
    body: bytes | None = None


def is_proof(token: bytes) -> bool:
    """Tell whether a token is of this kind."""
    return token.startswith(_MAGIC)


def stamp(
    digest: bytes, calendars: Sequence[str], before: bytes = b"", *, proxy: str | None = None
) -> Promised:
    """Have a SHA-256 digest taken down by calendars; those that answer make the proof.

    `before` is an earlier proof: one of the same digest goes into the new one. Raises
    `TimestampFailed` where none answers, `UsageError` where the extra is not installed.
    """
    library = _library()
    proof = library.Proof.read(before) if before else library.Proof.begun(digest)
    if not proof.is_of(digest):
        proof = library.Proof.begun(digest)
    node = proof.blinded()
    urls = dict.fromkeys(
        url for name in calendars for url in (library.PUBLIC if name == PUBLIC else [name])
    )
    missing = _done([_Request(url, node, "POST", "digest", node.msg) for url in urls], proxy)
    if len(missing) == len(urls):
        raise TimestampFailed("; ".join(missing))
    return Promised(proof.token(), tuple(missing))


def complete(proof: bytes, calendars: Sequence[str] = (), *, proxy: str | None = None) -> Promised:
    """Ask the calendars of a proof for the blocks that they promised.

    A proof may name any address: those of the OpenTimestamps project and those in `calendars` are
    asked, no others. Raises `TimestampInvalid`, and `UsageError` where the extra is not installed.
    """
    library = _library()
    found = library.Proof.read(proof)
    own = {url.rstrip("/") for url in calendars}
    requests, strange = [], []
    for node, calendar in [] if found.blocks() else found.promises():
        if calendar.rstrip("/") in own or library.is_public(calendar):
            path = f"timestamp/{node.msg.hex()}"
            requests.append(_Request(calendar, node, "GET", path))
        else:
            strange.append(f"{calendar} is not asked: name it with --calendar if you trust it")
    missing = (*strange, *_done(requests, proxy))
    return Promised(found.token(), missing)


def check(proof: bytes, digest: bytes, blocks: Mapping[int, bytes]) -> Stamp:
    """Check that a proof is of this digest and leads to a block, by the headers at hand.

    A block's time is its miner's, right within two hours. Raises `TimestampInvalid`.
    """
    library = _library()
    found = library.Proof.read(proof)
    if not found.is_of(digest):
        told = "the timestamp does not hold: it is of something else"
        raise TimestampInvalid(told, hint="What was stamped has been changed since.")
    named = found.blocks()
    times = [(library.time_of(blocks[at], at, root), at) for at, root in named if at in blocks]
    if times:
        when, height = min(times)
        return Stamp(datetime.fromtimestamp(when, UTC), f"Bitcoin block {height}")
    if named:
        height, root = named[0]
        who = f"Bitcoin block {height}"
        told = f"{who} vouches for it if its Merkle root is {root[::-1].hex()}"
        return Stamp(None, who, f"{told}: not checked without its header (--block)")
    who = " and ".join(sorted({calendar for _, calendar in found.promises()})) or "nobody known"
    return Stamp(None, who, f"pending: no Bitcoin block holds it yet, {who} promised one")


def _done(requests: Sequence[_Request], proxy: str | None) -> list[str]:
    """Ask all at once, and take what they reply into the proof; gives what went wrong."""
    library = _library()
    missing = []
    with ThreadPoolExecutor(max(1, len(requests))) as threads:
        replies = list(threads.map(lambda request: _reply(request, proxy), requests))
    for request, reply in zip(requests, replies, strict=True):
        try:
            if isinstance(reply, TimestampFailed):
                raise reply
            library.grow(request.node, reply, request.calendar)
        except TimestampFailed as error:
            missing.append(str(error))
    return missing


def _reply(request: _Request, proxy: str | None) -> bytes | TimestampFailed:
    from agent.timestamp.http import ask  # noqa: PLC0415 - stamping is seldom asked for

    url = f"{request.calendar.rstrip('/')}/{request.path}"
    try:
        status, body = ask(request.method, url, _HEADERS, request.body, proxy=proxy)
    except TimestampFailed as error:
        return error
    if status == HTTPStatus.OK:
        return body
    if status == HTTPStatus.NOT_FOUND and request.method == "GET":
        return TimestampFailed(f"{request.calendar} has no block for it yet")
    return TimestampFailed(f"{request.calendar} gave no timestamp: HTTP {status}")


def _library() -> ModuleType:
    try:
        from agent.timestamp import proof  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(
            "OpenTimestamps is not installed", hint="pip install 'urchin-research[opentimestamps]'"
        ) from error
    return proof
