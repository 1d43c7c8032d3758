"""The head of a record under a timestamp: since when the run is as it is, by whose word.

The tokens lie beside the journal, as other tools take them: `head.tsr` is what an authority signed
(RFC 3161, `openssl ts`), `head.ots` a proof of OpenTimestamps (`ots`). The head stands for every
event, and the events for all that was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.errors import UsageError
from agent.journal.integrity import Flaw, check_chain
from agent.sealing import TimestampInvalid, check, load_timestamper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from agent.journal.runs import RunFolder


def seal(folder: RunFolder, authority: str, *, proxy: str | None = None) -> str:
    """Have the head of a run stamped by the authority at this URL; returns the head.

    Raises `UsageError` where the record does not hold or the extra is missing, `TimestampFailed`.
    """
    head = _head(folder)
    token = load_timestamper("rfc3161").stamp(bytes.fromhex(head), authority, proxy=proxy)
    folder.write(folder.signature, token)
    return head


def anchor(folder: RunFolder, urls: Sequence[str], *, proxy: str | None = None) -> tuple[str, ...]:
    """Have OpenTimestamps calendars note the head of a run; returns which did not, and why.

    A proof that there is of the same head is kept in the new one. Raises as `seal` does.
    """
    before = folder.proof.read_bytes() if folder.proof.is_file() else b""
    digest = bytes.fromhex(_head(folder))
    proof, missing = load_timestamper("opentimestamps").stamp(digest, urls, before, proxy=proxy)
    folder.write(folder.proof, proof)
    return tuple(missing)


def complete(
    folder: RunFolder, urls: Sequence[str] = (), *, proxy: str | None = None
) -> tuple[str, ...]:
    """Put the blocks that calendars promised into the proof of a run; returns what is missing."""
    if not folder.proof.is_file():
        hint = f"`research runs seal {folder.id} --calendar public` asks calendars for one."
        raise UsageError(f"{folder.id} has no proof of OpenTimestamps", hint=hint)
    calendars = load_timestamper("opentimestamps")
    proof, missing = calendars.complete(folder.proof.read_bytes(), urls, proxy=proxy)
    folder.write(folder.proof, proof)
    return tuple(missing)


def since_when(
    folder: RunFolder,
    head: str,
    roots: Path | None = None,
    blocks: Mapping[int, bytes] | None = None,
) -> tuple[list[str], list[Flaw]]:
    """Check the timestamps of a head: who says since when it was there, and what is wrong.

    `roots` is a file of certificates that vouch for authorities, `blocks` are headers of Bitcoin
    blocks by height.
    """
    said, flaws = [], []
    for path in folder.stamps():
        try:
            found = check(path.read_bytes(), bytes.fromhex(head), roots, blocks)
        except TimestampInvalid as error:
            flaws.append(Flaw(path.name, f"{error}. {error.hint}"))
        except UsageError as error:  # the extra, or the file of certificates
            said.append(f"{path.name} is not checked: {error}. {error.hint}".rstrip())
        else:
            said.append(f"there since {found}" if found.when else f"{path.name}: {found}")
    return said, flaws


def _head(folder: RunFolder) -> str:
    chain = check_chain(folder.journal)
    if chain.flaws:
        hint = f"`research verify {folder.id}` says what is wrong."
        raise UsageError(f"the record of {folder.id} does not hold", hint=hint)
    return chain.head
