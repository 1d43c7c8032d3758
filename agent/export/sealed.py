"""The head of a record under a timestamp: since when the run is as it is, by whose word (RFC 3161).

The token lies beside the journal as `head.tsr`, the authority's whole reply, as `openssl ts` takes
it too. The head stands for every event, and the events for all that was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.journal.seal import Flaw, check_chain
from agent.timestamp import TimestampInvalid, check, stamp

if TYPE_CHECKING:
    from pathlib import Path

    from agent.journal import RunFolder


def seal(folder: RunFolder, authority: str, *, proxy: str | None = None) -> str:
    """Have the head of a run stamped by the authority at this URL; gives the head.

    Raises `UsageError` where the record does not hold or the extra is missing, `TimestampFailed`.
    """
    chain = check_chain(folder.journal)
    if chain.flaws:
        hint = f"`research verify {folder.id}` says what is wrong."
        raise UsageError(f"the record of {folder.id} does not hold", hint=hint)
    folder.write_stamp(stamp(bytes.fromhex(chain.head), authority, proxy=proxy))
    return chain.head


def since_when(folder: RunFolder, head: str, roots: Path | None = None) -> tuple[str, list[Flaw]]:
    """Tell who says since when a head was there, and what is wrong; "" where it has no timestamp.

    `roots` is a file of certificates that vouch for authorities.
    """
    if not folder.stamp.is_file():
        return "", []
    try:
        found = check(folder.stamp.read_bytes(), bytes.fromhex(head), roots)
    except TimestampInvalid as error:
        return "", [Flaw(folder.stamp.name, f"{error}. {error.hint}")]
    except UsageError as error:  # the extra, or the file of certificates
        return f"not checked: {error}. {error.hint}".rstrip(), []
    return f"{found.when:%Y-%m-%d %H:%M:%S} UTC, says {found.authority}", []
