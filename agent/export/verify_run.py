"""Verifying a run offline: that its record is whole, and that its report stands on it.

What is checked: the chain of events, every blob against its hash, the text of every source (of a
search result: its words in the record), the report against the one that the run ended with, and
each quote, literally, against the saved text. Of an archive, its container and its WARC as well.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from pydantic import ValidationError

from agent.errors import ArchiveDamaged, JournalError
from agent.evidence.store import result_text
from agent.export.run_archive import is_sealed, unlisted, unpacked
from agent.export.run_record import FinishedRun
from agent.export.timestamps import since_when
from agent.export.web_archive import is_warc_of
from agent.journal.integrity import EventChain, Flaw, check_blobs, check_chain
from agent.types import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any

    from agent.journal.events import Event
    from agent.journal.runs import RunFolder
    from agent.types import ReportSource

_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Verified:
    """What verifying came to: how much was looked at, the head of the chain, what is wrong.

    `since` tells, a line for each timestamp, who says when the head was there.
    """

    run: str
    head: str
    events: int
    blobs: int
    sources: int
    quotes: int
    flaws: tuple[Flaw, ...]
    since: tuple[str, ...] = ()


def verify(
    folder: RunFolder, roots: Path | None = None, blocks: Mapping[int, bytes] | None = None
) -> Verified:
    """Check a run; raises `JournalError` where it has no journal.

    `roots` is a file of certificates that vouch for the authority of a timestamp, `blocks` are
    headers of the Bitcoin blocks that proofs name, by height.
    """
    chain = check_chain(folder.journal)
    blobs, flaws = check_blobs(folder, chain.events)
    report, wrong = _report(folder, chain)
    since, unstamped = since_when(folder, chain.head, roots, blocks)
    flaws = [*chain.flaws, *flaws, *_sources(chain.events), *wrong, *unstamped]
    if report is not None:
        flaws += _quotes(FinishedRun(folder, report, chain.events))
    return Verified(
        run=folder.id,
        head=chain.head,
        events=len(chain.events),
        blobs=blobs,
        sources=len(report.sources) if report else 0,
        quotes=sum(len(source.quotes) for source in report.sources) if report else 0,
        flaws=tuple(flaws),
        since=tuple(since),
    )


def verify_archive(
    path: Path, roots: Path | None = None, blocks: Mapping[int, bytes] | None = None
) -> Verified:
    """Check an archive, then the run in it; raises `UsageError` where there is no such file."""
    try:
        with unpacked(path) as folder:
            found = verify(folder, roots, blocks)
            unlike = [Flaw(name, what) for name, what in unlisted(folder)]
            flaws = [*found.flaws, *unlike] or list(_pages(folder))
    except ArchiveDamaged as error:
        return Verified(path.name, "", 0, 0, 0, 0, (Flaw(path.name, str(error)),))
    if not is_sealed(path):
        told = "it is not, byte for byte, the archive that was written: changed, or packed again"
        flaws.append(Flaw(path.name, told))
    return replace(found, flaws=tuple(flaws))


def _report(folder: RunFolder, chain: EventChain) -> tuple[Report | None, list[Flaw]]:
    """Take the report that the run ended with, and compare the one in the file to it."""
    ends = [event for event in chain.events if event.type == "run.finished"]
    if not ends:
        return None, [Flaw(folder.journal.name, "holds no intact end of the run (run.finished)")]
    then = ends[-1].data.get("report")
    try:
        report = Report.model_validate(then)
    except ValidationError as error:
        return None, [Flaw(folder.journal.name, f"its report is none: {error.errors()[0]['msg']}")]
    if not folder.report.is_file():
        return report, [Flaw(folder.report.name, "is missing")]
    return report, _compared(folder.report, report, then)


def _compared(path: Path, report: Report, then: Any) -> list[Flaw]:
    """Compare `report.json` to the recorded report, in the form that it was written in.

    A report of an older version has fewer fields than the model: its own form counts as well.
    """
    body = path.read_bytes()
    expected = report.to_json()
    if body in (expected.encode(), json.dumps(then, indent=2, ensure_ascii=False).encode()):
        return []
    lines = zip_longest(body.decode("utf-8", "replace").split("\n"), expected.split("\n"))
    number, now, was = next(
        ((n, now, was) for n, (now, was) in enumerate(lines, 1) if now != was), (1, "", "")
    )
    return [
        Flaw(f"{path.name}:{number}", f"says {_short(now)}; the run ended with {_short(was)}"),
    ]


def _sources(events: tuple[Event, ...]) -> Iterator[Flaw]:
    for event in events:
        if event.type == "source.added" and event.data.get("text") != event.data.get("sha256"):
            yield Flaw(f"S{event.data.get('n')}", "the hash of its text is not that of its blob")
        elif event.type == "results.added":
            yield from (
                Flaw(f"S{row['n']}", "its hash is not that of the search result's words")
                for row in event.data.get("results", ())
                if _digest(result_text(row["title"], row["snippet"])) != row["sha256"]
            )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _quotes(record: FinishedRun) -> Iterator[Flaw]:
    numbers = {source.n for source in record.report.sources}
    for sentence in record.report.sentences:
        for n in set(sentence.citations) - numbers:
            yield Flaw("report.json", f"{_short(sentence.text)} cites [{n}], which is no source")
    for source in record.report.sources:
        where = f"source [{source.n}] {source.url}"
        if record.source_on_record(source) is None:
            yield Flaw(where, "its text is not on record")
            continue
        text = _text(record, source)
        for quote in source.quotes:
            if quote not in text:
                yield Flaw(where, f"the quote {_short(quote)} does not stand in its saved text")


def _text(record: FinishedRun, source: ReportSource) -> str:
    """Read a saved text; what cannot be read was told of with the blobs, and carries no quote."""
    try:
        return record.source_text(source)
    except JournalError:
        return ""


def _pages(folder: RunFolder) -> Iterator[Flaw]:
    """Check what only an archive has."""
    path = folder.path / "pages.warc.gz"
    if not path.is_file():
        yield Flaw(path.name, "is missing")
    elif not is_warc_of(folder.path, path.read_bytes()):
        yield Flaw(path.name, "does not hold the pages of the run")


def _short(text: str | None) -> str:
    flat = " ".join((text or "nothing").split())
    return f"“{flat if len(flat) <= _SHOWN else flat[:_SHOWN] + '…'}”"
