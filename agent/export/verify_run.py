"""Verifies a run offline: its journal, pages, report and quotes, and an archive's WARC."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from pydantic import ValidationError

from agent.errors import ArchiveDamaged, JournalError
from agent.evidence.store import result_text
from agent.export.finished_run import FinishedRun
from agent.export.run_archive import find_manifest_mismatches, is_sealed, unpack
from agent.export.timestamps import check_timestamps
from agent.export.web_archive import is_warc_of
from agent.journal.integrity import EventChain, RecordFlaw, check_blobs, check_chain
from agent.types import Report
from browser.text.words import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from agent.journal.events import Event
    from agent.journal.runs import RunFolder

_EXCERPT_CHARS = 80  # about one line in a terminal


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """The result of a verification: the counts, the head of the chain, and the flaws.

    `since` contains a line for each valid timestamp of the head, with its time and authority.
    """

    run: str
    head: str
    events: int
    blobs: int
    sources: int
    quotes: int
    flaws: tuple[RecordFlaw, ...]
    since: tuple[str, ...] = ()


def verify(
    folder: RunFolder, roots: Path | None = None, blocks: Mapping[int, bytes] | None = None
) -> VerificationResult:
    """Verify a run; raises `JournalError` if it has no journal.

    `roots` is a file of trusted root certificates for timestamps; `blocks` maps heights to headers
    of the Bitcoin blocks that the proofs name.
    """
    chain = check_chain(folder.journal)
    blobs, flaws = check_blobs(folder, chain.events)
    report, report_flaws = _check_report(folder, chain)
    since, stamp_flaws = check_timestamps(folder, chain.head, roots, blocks)
    flaws = [*chain.flaws, *flaws, *_check_sources(chain.events), *report_flaws]
    flaws += stamp_flaws
    if report is not None:
        flaws += _check_quotes(FinishedRun(folder, report, chain.events))
    sources = report.sources if report else []
    return VerificationResult(
        run=folder.id,
        head=chain.head,
        events=len(chain.events),
        blobs=blobs,
        sources=len(sources),
        quotes=sum(len(source.quotes) for source in sources),
        flaws=tuple(flaws),
        since=tuple(since),
    )


def verify_archive(
    path: Path, roots: Path | None = None, blocks: Mapping[int, bytes] | None = None
) -> VerificationResult:
    """Verify an archive and the run in it; raises `UsageError` if there is no such file."""
    try:
        with unpack(path) as folder:
            found = verify(folder, roots, blocks)
            flaws = [
                *found.flaws,
                *(RecordFlaw(name, what) for name, what in find_manifest_mismatches(folder)),
            ]
            # The WARC is made from the journal, so comparing them needs an intact journal.
            pages = folder.path / "pages.warc.gz"
            if not flaws and not pages.is_file():
                flaws.append(RecordFlaw(pages.name, "is missing"))
            elif not flaws and not is_warc_of(folder.path, pages.read_bytes()):
                flaws.append(RecordFlaw(pages.name, "does not contain the pages of the run"))
    except ArchiveDamaged as error:
        return VerificationResult(path.name, "", 0, 0, 0, 0, (RecordFlaw(path.name, str(error)),))
    if not is_sealed(path):
        what = "the archive was changed or repacked after it was written"
        flaws.append(RecordFlaw(path.name, what))
    return replace(found, flaws=tuple(flaws))


def _check_report(folder: RunFolder, chain: EventChain) -> tuple[Report | None, list[RecordFlaw]]:
    """Compare the report file with the report in the journal; returns the latter and any flaws."""
    ends = [event for event in chain.events if event.type == "run.finished"]
    if not ends:
        return None, [
            RecordFlaw(
                folder.journal.name, "has no intact event for the end of the run (run.finished)"
            )
        ]
    recorded = ends[-1].data.get("report")
    try:
        report = Report.model_validate(recorded)
    except ValidationError as error:
        return None, [
            RecordFlaw(folder.journal.name, f"its report is invalid: {error.errors()[0]['msg']}")
        ]
    if not folder.report.is_file():
        return report, [RecordFlaw(folder.report.name, "is missing")]
    body, expected = folder.report.read_bytes(), report.to_json()
    # A report from an older version has fewer fields than the current model, but is valid too.
    older = json.dumps(recorded, indent=2, ensure_ascii=False)
    if body in (expected.encode(), older.encode()):
        return report, []
    lines = zip_longest(body.decode("utf-8", "replace").split("\n"), expected.split("\n"))
    number, found, recorded_line = next(
        ((n, a, b) for n, (a, b) in enumerate(lines, 1) if a != b), (1, "", "")
    )
    what = f"contains {_excerpt(found)}, but the run ended with {_excerpt(recorded_line)}"
    return report, [RecordFlaw(f"{folder.report.name}:{number}", what)]


def _check_sources(events: tuple[Event, ...]) -> Iterator[RecordFlaw]:
    for event in events:
        if event.type == "source.added" and event.data.get("text") != event.data.get("sha256"):
            yield RecordFlaw(
                f"S{event.data.get('n')}", "its text does not match the hash of its blob"
            )
        elif event.type == "results.added":
            for row in event.data.get("results", ()):
                text = result_text(row["title"], row["snippet"]).encode("utf-8", "surrogatepass")
                if hashlib.sha256(text).hexdigest() != row["sha256"]:
                    what = "its hash does not match the search result's text"
                    yield RecordFlaw(f"S{row['n']}", what)


def _check_quotes(record: FinishedRun) -> Iterator[RecordFlaw]:
    numbers = {source.n for source in record.report.sources}
    for sentence in record.report.sentences:
        for n in set(sentence.citations) - numbers:
            what = f"{_excerpt(sentence.text)} cites [{n}], which is not a source"
            yield RecordFlaw("report.json", what)
    for source in record.report.sources:
        where = f"source [{source.n}] {source.url}"
        if record.source_on_record(source) is None:
            yield RecordFlaw(where, "its text was not saved")
            continue
        try:
            text = record.source_text(source)
        except JournalError:  # `check_blobs` reports the blob itself
            text = ""
        for quote in source.quotes:
            if quote not in text:
                yield RecordFlaw(
                    where, f"the quote {_excerpt(quote)} does not appear in its saved text"
                )


def _excerpt(text: str | None) -> str:
    return f"“{shorten(text or 'nothing', _EXCERPT_CHARS)}”"
