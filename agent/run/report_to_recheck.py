"""An earlier report to recheck: from a run, in an archive, or saved as JSON."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from agent.config import load_options
from agent.errors import UsageError
from agent.evidence.changes import supporting_quotes
from agent.export.finished_run import FinishedRun
from agent.export.run_archive import is_archive, open_run
from agent.run.record import RunRecord
from agent.run.settings import local_files
from agent.types import Report, VerdictState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.evidence.store import Source
    from agent.journal.runs import Runs
    from agent.types import ReportSource, Sentence
    from browser.net.local_files import LocalFiles
    from browser.types import Page

_READABLE_VIA: Final = frozenset({"http", "browser", "file"})
"""Sources that can be read again, by `via`."""


@dataclass(frozen=True, slots=True)
class EarlierReport:
    """A report to recheck, with its record if available.

    `files` lists the user's files from that run, which may be read again; None if the report was
    not made on this machine.
    """

    name: str
    report: Report
    run: FinishedRun | None = None
    record: RunRecord | None = None
    files: LocalFiles | None = None

    def saved(self, source: ReportSource) -> Source | None:
        """Return the source as saved by the earlier run; None if its text was not saved."""
        return self.record.evidence.by_hash(source.url, source.sha256) if self.record else None

    def quotes(self, sentence: Sentence, source: ReportSource) -> list[str]:
        """Return the quotes from a source that support a sentence."""
        judged = self.run.judged_quotes(sentence.text) if self.run else ()
        return supporting_quotes(sentence.text, source.quotes, judged)

    def saved_page(self, source: ReportSource) -> Page | None:
        """Return the page of a source as saved by the earlier run; None if it was not saved."""
        return self.record.page(source.url, source.sha256) if self.record else None


@contextmanager
def open_earlier(name: str, runs: Runs) -> Iterator[EarlierReport]:
    """Open a run's report (by the run's id), the report in an archive, or one saved as JSON.

    Raises `UsageError` if there is no such run or file, or if it has no report.
    """
    if name.lower().endswith(".json"):
        path = Path(name)
        try:
            report = Report.model_validate_json(path.read_bytes())
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from error
        except ValidationError as error:
            hint = "`research audit FILE` checks other documents."
            raise UsageError(f"{path.name} is not a run report", hint=hint) from error
        yield EarlierReport(path.name, report)
        return
    with open_run(name, runs) as folder:
        finished = FinishedRun.read(folder.path)
        record = RunRecord(folder, finished.events)
        files = None if is_archive(name) else _files_of(record)
        yield EarlierReport(folder.id, finished.report, finished, record, files)


def _files_of(record: RunRecord) -> LocalFiles:
    options = record.options
    return local_files(load_options({name: options.get(name) for name in ("corpus", "file")}))


def quoted_pages(sentence: Sentence, report: Report) -> list[ReportSource]:
    """Return the pages whose quotes support a sentence in a report."""
    if sentence.verdict is not VerdictState.SUPPORTED or sentence.weak:
        return []
    cited = [source for source in report.sources if source.n in sentence.citations]
    return [source for source in cited if source.via in _READABLE_VIA and source.quotes]
