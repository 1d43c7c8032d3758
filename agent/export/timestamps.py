"""Timestamps the head of a run's journal, and checks such timestamps.

The tokens are stored next to the journal in standard formats: `head.tsr` is signed by an
authority (RFC 3161, `openssl ts`), `head.ots` is a proof of OpenTimestamps (`ots`). The head is a
hash over all events, which contain the hashes of everything that was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.journal.integrity import RecordFlaw, check_chain
from agent.sealing import TimestampInvalid, check, load_timestamper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from agent.journal.runs import RunFolder


def seal(folder: RunFolder, authority: str, *, proxy: str | None = None) -> str:
    """Have the hash of a run's journal signed by the authority at this URL; returns the hash.

    Raises `UsageError` if the journal is damaged or the plug-in is missing, and `TimestampFailed`
    if the authority fails.
    """
    head = _head(folder)
    token = load_timestamper("rfc3161").stamp(bytes.fromhex(head), authority, proxy=proxy)
    folder.write(folder.signature, token)
    return head


def submit_to_calendars(
    folder: RunFolder, urls: Sequence[str], *, proxy: str | None = None
) -> tuple[str, ...]:
    """Submit a run's hash to OpenTimestamps calendars; returns those that failed, and the reasons.

    An existing proof of the same hash is preserved inside the new one. Raises the same errors as
    `seal`.
    """
    before = folder.proof.read_bytes() if folder.proof.is_file() else b""
    digest = bytes.fromhex(_head(folder))
    proof, missing = load_timestamper("opentimestamps").stamp(digest, urls, before, proxy=proxy)
    folder.write(folder.proof, proof)
    return tuple(missing)


def complete(
    folder: RunFolder, urls: Sequence[str] = (), *, proxy: str | None = None
) -> tuple[str, ...]:
    """Complete a run's proof with Bitcoin blocks from the calendars; returns the missing parts."""
    if not folder.proof.is_file():
        hint = f"`research runs seal {folder.id} --calendar public` requests one."
        raise UsageError(f"{folder.id} has no OpenTimestamps proof", hint=hint)
    calendars = load_timestamper("opentimestamps")
    proof, missing = calendars.complete(folder.proof.read_bytes(), urls, proxy=proxy)
    folder.write(folder.proof, proof)
    return tuple(missing)


def check_timestamps(
    folder: RunFolder,
    head: str,
    roots: Path | None = None,
    blocks: Mapping[int, bytes] | None = None,
) -> tuple[list[str], list[RecordFlaw]]:
    """Check the timestamps of a head; returns a line for each valid one, and the flaws.

    `roots` is a file of trusted root certificates for authorities; `blocks` maps heights to headers
    of Bitcoin blocks.
    """
    lines, flaws = [], []
    for path in folder.stamps():
        try:
            found = check(path.read_bytes(), bytes.fromhex(head), roots, blocks)
        except TimestampInvalid as error:
            flaws.append(RecordFlaw(path.name, f"{error}. {error.hint}"))
        except UsageError as error:  # the plug-in or the certificate file is missing
            lines.append(f"{path.name} was not checked: {error}. {error.hint}".rstrip())
        else:
            lines.append(f"existed at {found}" if found.when else f"{path.name}: {found}")
    return lines, flaws


def _head(folder: RunFolder) -> str:
    chain = check_chain(folder.journal)
    if chain.flaws:
        hint = f"`research verify {folder.id}` reports what is wrong."
        raise UsageError(f"the record of {folder.id} failed verification", hint=hint)
    return chain.head
