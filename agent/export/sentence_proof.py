"""Exports and verifies the proof of one sentence, a self-contained ZIP file.

It contains, in one folder, `proof.json` (the sentence, its verdict, its sources with the quotes),
`proof.html` for readers, each source's text as it was saved (`text-1.txt`) and the page as it was
fetched (`page-1.html`), the SHA-256 of each in `manifest-sha256.txt`, and a timestamp of that list
(`proof.tsr`, RFC 3161) if one was requested. The ZIP comment is a digest, as in run archives.
"""

from __future__ import annotations

import hashlib
import json
import mimetypes
import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import quote as percent_encode

from pydantic import BaseModel, Field, ValidationError

from agent.errors import ArchiveDamaged, UsageError
from agent.evidence.changes import supporting_quotes
from agent.evidence.passages import split_passages, split_row
from agent.evidence.verify import is_literal, verify_claim
from agent.export.archive_writer import pack
from agent.export.finished_run import FinishedRun
from agent.export.report_html import excerpts, render_page
from agent.export.report_view import source_note, verdict_label
from agent.export.run_archive import MANIFEST, find_manifest_mismatches, is_sealed, unpack
from agent.journal.integrity import RecordFlaw
from agent.sealing import TimestampInvalid, check, load_timestamper
from agent.types import ReportSource, Sentence, VerdictState
from browser.text.words import shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PROOF: Final = "proof.json"
STAMP: Final = "proof.tsr"
FRAGMENT_WORDS: Final = 5
"""Number of words from each end of a long quote in a text fragment: enough to be unique."""
PROOF_FILE = re.compile(
    r"(?P<run>[\w-]{1,100})/(manifest-sha256\.txt|proof\.(?:json|html|tsr)"
    r"|(?:text|page)-\d{1,3}\.[a-z0-9]{1,8})",
    re.ASCII,
)
"""Matches the names that a proof may contain; all are inside the folder it is unpacked to."""


class ProofSource(ReportSource):
    """A source of the sentence: `text` and `page` are file names, `links` are URLs of the quotes.

    `page` is empty if only the text was saved, as for a search result.
    """

    text: str
    page: str = ""
    page_sha256: str = ""
    content_type: str = ""
    links: list[str] = Field(default_factory=list)


class Proof(BaseModel):
    """The proof of one sentence; `head` is the hash of the run's complete journal."""

    run: str
    question: str
    model: str
    number: int
    sentence: Sentence
    sources: list[ProofSource]
    head: str


@dataclass(frozen=True, slots=True)
class VerifiedProof:
    """A verified proof (None if unreadable), its flaws, and a line for each attested time.

    `by_code` means that the sentence was again found word for word in the saved texts.
    """

    name: str
    proof: Proof | None
    flaws: tuple[RecordFlaw, ...]
    by_code: bool = False
    since: tuple[str, ...] = ()


def export_proof(
    folder: Path, number: int, path: Path, *, authority: str | None = None, proxy: str | None = None
) -> Proof:
    """Write the proof of a run's sentence `number` (counted from 1) to a ZIP file.

    `authority` is the URL of a timestamping authority. Raises `UsageError` if there is no such
    sentence or none of its sources was saved, and `TimestampFailed` if timestamping fails.
    """
    record = FinishedRun.read(folder)
    report = record.report
    if not 0 < number <= len(report.sentences):
        listed = "; ".join(f"{n}: {shorten(s.text, 60)}" for n, s in enumerate(report.sentences, 1))
        raise UsageError(
            f"{report.run} has no sentence {number}", hint=listed or "The report has no sentences."
        )
    sentence = report.sentences[number - 1]
    files: dict[str, bytes] = {}
    sources = [
        found
        for source in report.sources
        if source.n in sentence.citations
        and (found := _add_source(record, sentence, source, files))
    ]
    if not sources:
        raise UsageError(
            f"sentence {number} of {report.run} cites no source that was saved",
            hint="A proof needs the saved text of at least one source.",
        )
    proof = Proof(
        run=report.run,
        question=report.question,
        model=report.usage.model,
        number=number,
        sentence=sentence,
        sources=sources,
        head=record.events[-1].hash,
    )
    files = {
        PROOF: proof.model_dump_json(indent=2).encode(),
        "proof.html": _page(proof, verdict_label(sentence, report), files),
        **files,
    }

    def stamp(manifest: bytes) -> tuple[str, bytes]:
        digest = hashlib.sha256(manifest).digest()
        return STAMP, load_timestamper("rfc3161").stamp(digest, authority, proxy=proxy)

    at = datetime.fromisoformat(record.events[0].at)
    name = f"{report.run}-sentence-{number}"
    path.write_bytes(pack(name, at, files.items(), stamp if authority else None))
    return proof


def _add_source(
    record: FinishedRun, sentence: Sentence, source: ReportSource, files: dict[str, bytes]
) -> ProofSource | None:
    """Add a source's files; returns None if it is not in the record."""
    row = record.source_on_record(source)
    if row is None:
        return None
    judged = record.judged_quotes(sentence.text)
    quotes = supporting_quotes(sentence.text, source.quotes, judged)
    text, body = f"text-{source.n}.txt", row.get("body")
    files[text] = record.source_text(source).encode("utf-8", "surrogatepass")
    found = ProofSource(
        **{**source.model_dump(), "quotes": quotes},
        text=text,
        links=[link_to_quote(source.url, quote) for quote in quotes],
    )
    if body:
        kind = str(row.get("content_type") or "").partition(";")[0].strip().lower()
        end = (mimetypes.guess_extension(kind) or ".bin").removeprefix(".")
        found.page, found.page_sha256 = f"page-{source.n}.{end}", body
        found.content_type = str(row.get("content_type") or "")
        files[found.page] = record.folder.blob(body)
    return found


def _page(proof: Proof, label: str, files: Mapping[str, bytes]) -> bytes:
    texts = {source.n: files[source.text].decode("utf-8", "replace") for source in proof.sources}
    return render_page(
        "proof.html",
        f"Proof of a sentence of {proof.run}",
        proof=proof,
        label=label,
        note=lambda source: source_note(source, source.fetched_at),
        excerpts=lambda source: excerpts(texts[source.n], source),
    )


def link_to_quote(url: str, quote: str) -> str:
    """Return a URL with a text fragment, so that browsers scroll to a quote and highlight it."""
    if not url.startswith(("http://", "https://")):
        return url
    cells = [cell for cell in split_row(quote) if cell]
    words = quote.split()
    ends = [" ".join(words)]
    if len(cells) > 1:  # a table row: from its first cell to its last
        ends = [cells[0], cells[-1]]
    elif len(words) > 2 * FRAGMENT_WORDS:
        ends = [" ".join(words[:FRAGMENT_WORDS]), " ".join(words[-FRAGMENT_WORDS:])]
    text = ",".join(percent_encode(end, safe="").replace("-", "%2D") for end in ends)
    return f"{url.partition('#')[0]}#:~:text={text}"


def is_proof(path: Path) -> bool:
    """Return whether a file is a sentence proof."""
    try:
        with unpack(path, PROOF_FILE, PROOF):
            return True
    except ArchiveDamaged:
        return False


def verify_proof(path: Path, roots: Path | None = None) -> VerifiedProof:
    """Verify a proof offline: its files, quotes and timestamp, and, if possible, the sentence.

    `roots` is a file of trusted root certificates of timestamping authorities. Raises `UsageError`
    if the file cannot be read.
    """
    try:
        with unpack(path, PROOF_FILE, PROOF) as folder:
            flaws = [
                RecordFlaw(name, what)
                for name, what in find_manifest_mismatches(folder, unlisted=STAMP)
            ]
            proof = Proof.model_validate_json((folder.path / PROOF).read_bytes())
            texts = _texts(proof, folder.path, flaws)
            since = _check_stamp(folder.path, roots, flaws)
    except (ArchiveDamaged, ValidationError, json.JSONDecodeError) as error:
        return VerifiedProof(path.name, None, (RecordFlaw(path.name, str(error)),))
    if not is_sealed(path):
        what = "the proof was changed or repacked after it was written"
        flaws.append(RecordFlaw(path.name, what))
    flaws += [
        RecordFlaw(source.text, f"does not contain the quote “{quote}”")
        for source in proof.sources
        for quote in source.quotes
        if quote not in texts.get(source.n, "")
    ]
    by_code = _is_found(proof, texts)
    claimed = proof.sentence.verdict is VerdictState.SUPPORTED
    if claimed and proof.sentence.decided_by == "code" and not by_code:
        flaws.append(
            RecordFlaw(PROOF, "the sentence does not appear word for word in the saved pages")
        )
    return VerifiedProof(path.name, proof, tuple(flaws), by_code, tuple(since))


def _texts(proof: Proof, folder: Path, flaws: list[RecordFlaw]) -> dict[int, str]:
    """Read the saved texts, and check the hashes of texts and pages against the proof."""
    texts: dict[int, str] = {}
    for source in proof.sources:
        for name, digest in ((source.text, source.sha256), (source.page, source.page_sha256)):
            path = folder / name
            if not name or not path.is_file() or path.parent != folder:
                if name:
                    flaws.append(RecordFlaw(name, "is missing"))
                continue
            body = path.read_bytes()
            if hashlib.sha256(body).hexdigest() != digest:
                flaws.append(RecordFlaw(name, f"its hash does not match source {source.n}"))
            if name == source.text:
                texts[source.n] = body.decode("utf-8", "surrogatepass")
    return texts


def _is_found(proof: Proof, texts: Mapping[int, str]) -> bool:
    passages = [p for n, text in texts.items() for p in split_passages(text, n)]
    words: Sequence[str] = (proof.sentence.text, f"{proof.question} {proof.sentence.text}")
    return any(is_literal(verify_claim(claim, passages)) for claim in words)


def _check_stamp(folder: Path, roots: Path | None, flaws: list[RecordFlaw]) -> list[str]:
    path = folder / STAMP
    if not path.is_file():
        return []
    digest = hashlib.sha256((folder / MANIFEST).read_bytes()).digest()
    try:
        found = check(path.read_bytes(), digest, roots)
    except TimestampInvalid as error:
        flaws.append(RecordFlaw(STAMP, f"{error}. {error.hint}"))
        return []
    except UsageError as error:  # the plug-in or the certificate file is missing
        return [f"{STAMP} was not checked: {error}. {error.hint}".rstrip()]
    return [f"existed at {found}"]
