"""Batches: the questions in a file, queued with content-based ids, and their result files.

Results are in file order and contain nothing that differs between runs (times, run ids), so that an
interrupted and resumed batch writes the same bytes as an uninterrupted one. The remaining fields
are in `runs.csv`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from agent.config import load_options
from agent.errors import UsageError
from agent.export import report_view
from agent.export.data_csv import to_csv
from agent.export.markup import answer_html
from agent.export.report_html import render_page
from agent.export.report_view import annotated_answer, badge_kind
from agent.files import write_file
from agent.jobs.job import FINAL_STATES, JobSpec, json_flags
from agent.types import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from agent.jobs.job import Job
    from agent.jobs.jobs import Jobs

_COLUMNS: Final = (
    *("n", "id", "status", "standing", "doubt", "confidence"),
    *("question", "answer", "sources", "error"),
)
_RUN_COLUMNS: Final = ("n", "id", "run", "state", "attempt", "started", "ended", "seconds", "usd")


@dataclass(frozen=True, slots=True)
class BatchItem:
    """A question in a batch: its number (from 1), an id derived from its content, and its flags."""

    n: int
    id: str
    question: str
    options: dict[str, Any]


def read_batch(path: Path, flags: Mapping[str, Any]) -> list[BatchItem]:
    """Read questions: one per line, or .csv, .jsonl and .yaml files with a `question` field.

    Other fields are flags for the question, with underscores; they override `flags`. Raises a
    `UsageError` that names the line or row.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    items: list[BatchItem] = []
    same: dict[str, int] = {}
    for where, row in _rows(path, text):
        if not isinstance(row, str | dict):
            raise UsageError(
                f"{path}, {where}: must be a question or an object with a `question` field"
            )
        fields = {"question": row} if isinstance(row, str) else {str(k): v for k, v in row.items()}
        question = str(fields.pop("question", None) or "").strip()
        if not question:
            hint = "Each row needs a `question` field; other fields are flags, such as `depth`."
            raise UsageError(f"{path}, {where}: the question is missing", hint=hint)
        own = {k.replace("-", "_"): v for k, v in fields.items() if v not in (None, "")}
        options = json_flags({**flags, **own})
        try:
            load_options(options)
        except UsageError as error:
            raise UsageError(f"{path}, {where}: {error}", hint=error.hint) from error
        # A question whose text or flags are edited becomes a new job.
        content = json.dumps([question, options], sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(content.encode()).hexdigest()[:12]
        same[digest] = same.get(digest, 0) + 1
        again = f"-{same[digest]}" if same[digest] > 1 else ""
        items.append(BatchItem(len(items) + 1, digest + again, question, options))
    if not items:
        raise UsageError(f"{path} contains no questions")
    return items


def _rows(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a file, each with a description of its location."""
    kind = path.suffix.lower()
    if kind == ".csv":
        yield from _csv_rows(path, text)
    elif kind in (".yaml", ".yml"):
        try:
            content = YAML(typ="safe", pure=True).load(text)
        except YAMLError as error:
            raise UsageError(f"{path} is not valid YAML: {error}") from error
        rows = content.get("questions") if isinstance(content, dict) else content
        if not isinstance(rows, list):
            raise UsageError(f"{path} must contain a list of questions")
        yield from ((f"entry {n}", row) for n, row in enumerate(rows, start=1))
    else:
        as_json = kind in (".jsonl", ".ndjson")
        for n, line in enumerate(text.splitlines(), start=1):
            if not line.strip() or (line.startswith("#") and not as_json):
                continue
            try:
                yield f"line {n}", json.loads(line) if as_json else line
            except ValueError as error:
                raise UsageError(f"{path}, line {n}: not valid JSON: {error}") from error


def _csv_rows(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)  # spreadsheets use their locale's delimiter
    for n, row in enumerate(csv.DictReader(io.StringIO(text), delimiter=delimiter), start=2):
        if "question" not in row:
            raise UsageError(f"{path} has no column `question`", hint=f"The header is: {head}")
        if None in row:
            raise UsageError(f"{path}, row {n}: more fields than the header")
        yield f"row {n}", row


class Batch:
    """The questions in a file, on their own queue; `out` is the results folder.

    The folder identifies the batch: using the same folder continues the batch, a different folder
    starts a new one.
    """

    def __init__(
        self, jobs: Jobs, items: Sequence[BatchItem], out: Path, *, retry: int = 1
    ) -> None:
        self.items = items
        self._jobs = jobs
        self._out = out
        self._retry = retry
        key = hashlib.sha256(str(out.resolve()).encode()).hexdigest()[:10]
        self.queue = self.origin = f"batch-{key}"

    def _job_id(self, item: BatchItem) -> str:
        return f"{self.origin}-{item.id}"

    def enqueue(self, at_once: int) -> int:
        """Queue new and failed questions; return the number already answered."""
        self._jobs.register_queue(self.queue, at_once)
        known = {job.id: job for job in self._jobs.list(prefix=f"{self.queue}-")}
        for item in self.items:
            name = self._job_id(item)
            if name not in known:
                spec = JobSpec(
                    id=name,
                    question=item.question,
                    options=item.options,
                    retry=self._retry,
                    base_delay=1.0,  # the user is waiting
                    origin=self.origin,
                    queue=self.queue,
                )
                self._jobs.enqueue(spec)
            elif known[name].state in FINAL_STATES - {"done"}:
                self._jobs.retry(name)
        return sum(job.state == "done" for job in self.jobs())

    def delete_jobs(self) -> None:
        """Delete the jobs, so that all questions are researched again; existing runs are kept."""
        self._jobs.delete(f"{self.queue}-")

    def jobs(self) -> list[Job]:
        """Return the items' queued jobs in order, without reports."""
        known = {job.id: job for job in self._jobs.list(prefix=f"{self.queue}-")}
        return [known[name] for item in self.items if (name := self._job_id(item)) in known]

    def enforce_budget(self, jobs: Sequence[Job], spent: float, budget: float) -> bool:
        """Return whether the batch budget is spent; if it is, cancel jobs that have not started."""
        if spent < budget:
            return False
        for job in jobs:
            if job.state in ("waiting", "queued"):
                self._jobs.cancel(job.id, reason="the batch budget is used up")
        return True

    def write(self) -> None:
        """Write `results.jsonl`, `results.csv`, `reports/`, `index.html`, and `runs.csv`."""
        results = [_BatchResult(item, self._jobs.find(self._job_id(item))) for item in self.items]
        rows = [result.row() for result in results]
        lines = (json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows)
        write_file(self._out / "results.jsonl", "".join(f"{line}\n" for line in lines).encode())
        for row, result in zip(rows, results, strict=True):
            sources = result.report.sources if result.report else ()
            row["sources"] = " ".join(source.url for source in sources)
            row["answer"] = annotated_answer(result.report) if result.report else ""
        write_file(self._out / "results.csv", to_csv(_COLUMNS, rows))
        run_rows = [result.run_row() for result in results]
        write_file(self._out / "runs.csv", to_csv(_RUN_COLUMNS, run_rows))
        for one in results:
            answer = answer_html(one.report) if one.report else None
            page = render_page(
                "batch_result.html", one.item.question, result=one, answer=answer, view=report_view
            )
            write_file(self._out / "reports" / one.file_name, page)
        title = f"{len(results)} questions"
        write_file(
            self._out / "index.html", render_page("batch_index.html", title, results=results)
        )


class _BatchResult:
    """An item with its job's outcome."""

    def __init__(self, item: BatchItem, job: Job | None) -> None:
        self.item = item
        self.job = job
        self.report = Report.model_validate(job.report) if job and job.report else None
        self.status = self.report.status if self.report else (job.state if job else "queued")
        self.badge = self.report.badge if self.report else self.status
        self.kind = badge_kind(self.report) if self.report else ""
        self.error = job.error if job else ""
        words = re.sub(r"[^a-z0-9]+", "-", item.question.lower()).strip("-")[:50].strip("-")
        self.file_name = f"{item.n:04}-{words or item.id}.html"

    def row(self) -> dict[str, Any]:
        """Return the fields that are the same in every run, without times and run ids."""
        row: dict[str, Any] = {
            "n": self.item.n,
            "id": self.item.id,
            "question": self.item.question,
            "status": self.status,
            "error": self.error,
        }
        if self.report is not None:
            row |= self.report.model_dump(
                mode="json",
                include={
                    *("standing", "doubt", "answer", "confidence", "sentences", "sources"),
                    *("conflicts", "closest", "data"),
                },
                exclude={"sources": {"__all__": {"fetched_at"}}},
            )
        return row

    def run_row(self) -> dict[str, Any]:
        """Return the fields that differ between runs."""
        row: dict[str, Any] = {"n": self.item.n, "id": self.item.id}
        if self.job is not None:
            row |= self.job.model_dump(mode="json", include=set(_RUN_COLUMNS) - row.keys())
            row["seconds"] = self.report.elapsed_s if self.report else ""
        return row
