"""Questions of a file, side by side: read, queued under ids of their content, and written out.

What is written is in the order of the file and holds nothing that differs from run to run (times,
run ids), so that a batch that was killed writes what one writes that was not. Those stand in
`runs.csv`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from agent.config import load_options
from agent.errors import UsageError
from agent.export.markup import answer_html
from agent.export.report_html import whole_page
from agent.files import write_file
from agent.jobs.job import ENDED, JobSpec, plain
from agent.types import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from agent.jobs.job import Job
    from agent.jobs.jobs import Jobs

_COLUMNS: Final = ("n", "id", "status", "confidence", "question", "answer", "sources", "error")
_VARYING: Final = ("n", "id", "run", "state", "attempt", "started", "ended", "seconds", "usd")
_SPENT: Final = "the budget of the batch is reached"


@dataclass(frozen=True, slots=True)
class Item:
    """A question of a batch: its place (from 1), an id of its content, its flags."""

    n: int
    id: str
    question: str
    options: dict[str, Any]


def read_batch(path: Path, flags: Mapping[str, Any]) -> list[Item]:
    """Read questions: lines, or by ending .csv, .jsonl, .yaml with a field `question`.

    Other fields are flags of the question, with underscores; they outweigh `flags`. Raises
    `UsageError` that names the place.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    items: list[Item] = []
    seen: dict[str, int] = {}
    for where, row in _rows(path, text):
        question = str(row.pop("question", None) or "").strip()
        if not question:
            hint = "Each row has a field `question`; others are flags, such as `depth`."
            raise UsageError(f"{path}, {where}: there is no question", hint=hint)
        own = {
            name.replace("-", "_"): value for name, value in row.items() if value not in (None, "")
        }
        options = plain({**flags, **own})
        try:
            load_options(options)
        except UsageError as error:
            raise UsageError(f"{path}, {where}: {error}", hint=error.hint) from error
        told = json.dumps([question, options], sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(told.encode()).hexdigest()[:12]
        seen[digest] = seen.get(digest, 0) + 1
        again = f"-{seen[digest]}" if seen[digest] > 1 else ""
        items.append(Item(len(items) + 1, digest + again, question, options))
    if not items:
        raise UsageError(f"{path} holds no questions")
    return items


def _rows(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = path.suffix.lower()
    if kind == ".csv":
        yield from _csv_rows(path, text)
    elif kind in (".jsonl", ".ndjson"):
        for n, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                yield f"line {n}", _as_row(_json(path, n, line), path, f"line {n}")
    elif kind in (".yaml", ".yml"):
        yield from _yaml(path, text)
    else:
        for n, line in enumerate(text.splitlines(), start=1):
            if line.strip() and not line.startswith("#"):
                yield f"line {n}", {"question": line}


def _csv_rows(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    head = text.partition("\n")[0]
    mark = max(",;\t", key=head.count)  # spreadsheets write what their country does
    for n, row in enumerate(csv.DictReader(io.StringIO(text), delimiter=mark), start=2):
        if "question" not in row:
            raise UsageError(f"{path} has no column `question`", hint=f"Its head is: {head}")
        if None in row:
            raise UsageError(f"{path}, row {n}: more fields than the head has")
        yield f"row {n}", dict(row)


def _json(path: Path, n: int, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise UsageError(f"{path}, line {n}: no JSON: {error}") from error


def _yaml(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        read = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise UsageError(f"{path} is no YAML: {error}") from error
    found = read.get("questions") if isinstance(read, dict) else read
    if not isinstance(found, list):
        raise UsageError(f"{path}: a list of questions is wanted")
    for n, row in enumerate(found, start=1):
        yield f"entry {n}", _as_row(row, path, f"entry {n}")


def _as_row(row: Any, path: Path, where: str) -> dict[str, Any]:
    if isinstance(row, str):
        return {"question": row}
    if not isinstance(row, dict):
        raise UsageError(f"{path}, {where}: a question, or an object with one, is wanted")
    return {str(name): value for name, value in row.items()}


class Batch:
    """The questions of a file on a queue of their own; `out` is the folder of its results.

    The folder is the batch: the same one goes on where it was, another one begins anew.
    """

    def __init__(self, jobs: Jobs, items: Sequence[Item], out: Path, *, retry: int = 1) -> None:
        self.items = items
        self._jobs = jobs
        self._out = out
        self._retry = retry
        key = hashlib.sha256(str(out.resolve()).encode()).hexdigest()[:10]
        self.queue = self.origin = f"batch-{key}"

    def job_id(self, item: Item) -> str:
        """Name the job of an item."""
        return f"{self.origin}-{item.id}"

    def enqueue(self, at_once: int) -> int:
        """Queue what is not known yet, and again what failed; returns how many had ended well."""
        self._jobs.register(self.queue, at_once)
        known = {job.id: job for job in self._jobs.list(origin=self.origin)}
        for item in self.items:
            job = known.get(self.job_id(item))
            if job is None:
                self._jobs.enqueue(self._spec(item))
            elif job.state in ENDED - {"done"}:
                self._jobs.retry(job.id)
        return sum(job.state == "done" for job in self.found())

    def _spec(self, item: Item) -> JobSpec:
        name = self.job_id(item)
        return JobSpec(
            id=name,
            question=item.question,
            options=item.options,
            retry=self._retry,
            base_delay=1.0,
            origin=self.origin,
            queue=self.queue,
        )

    def forget(self) -> None:
        """Take the jobs away, so that all is asked anew; runs stay."""
        self._jobs.delete(self.origin)

    def found(self) -> list[Job]:
        """Give the jobs of the items, in their order, as far as they are queued; no reports."""
        known = {job.id: job for job in self._jobs.list(origin=self.origin)}
        return [known[name] for item in self.items if (name := self.job_id(item)) in known]

    def stop_spending(self, found: Sequence[Job], spent: float, budget: float) -> bool:
        """Where the batch's budget is reached, cancel what was not begun; says whether it is."""
        if spent < budget:
            return False
        for job in found:
            if job.state in ("waiting", "queued"):
                self._jobs.cancel(job.id, reason=_SPENT)
        return True

    def write(self) -> None:
        """Write `results.jsonl`, `results.csv`, `reports/`, `index.html`, and `runs.csv`."""
        rows = [_Result(item, self._jobs.find(self.job_id(item))) for item in self.items]
        (self._out / "reports").mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(row.told(), ensure_ascii=False, sort_keys=True) for row in rows)
        write_file(self._out / "results.jsonl", "".join(f"{line}\n" for line in lines).encode())
        write_file(self._out / "results.csv", _csv(_COLUMNS, [row.line() for row in rows]))
        write_file(self._out / "runs.csv", _csv(_VARYING, [row.varying() for row in rows]))
        for row in rows:
            write_file(self._out / "reports" / row.page, row.html())
        write_file(self._out / "index.html", _index(rows))


class _Result:
    """An item with what its job came to."""

    def __init__(self, item: Item, job: Job | None) -> None:
        self.item = item
        self.job = job
        given = job.report if job else None
        self.report = Report.model_validate(given) if given else None
        self.status = self.report.status if self.report else (job.state if job else "queued")
        words = re.sub(r"[^a-z0-9]+", "-", item.question.lower()).strip("-")[:50].strip("-")
        self.page = f"{item.n:04}-{words or item.id}.html"

    @property
    def error(self) -> str:
        return self.job.error if self.job else ""

    def told(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "n": self.item.n,
            "id": self.item.id,
            "question": self.item.question,
            "status": self.status,
            "error": self.error,
        }
        if self.report is not None:
            kept = self.report.model_dump(
                mode="json",
                include={"answer", "confidence", "sentences", "sources", "conflicts", "data"},
                exclude={"sources": {"__all__": {"fetched_at"}}},
            )
            row |= kept
        return row

    def line(self) -> dict[str, Any]:
        row = {name: self.told().get(name) for name in _COLUMNS}
        row["sources"] = " ".join(s.url for s in self.report.sources) if self.report else ""
        return row

    def varying(self) -> dict[str, Any]:
        row: dict[str, Any] = {"n": self.item.n, "id": self.item.id}
        if self.job is None:
            return row
        job = self.job.model_dump(mode="json", include=set(_VARYING) - {"n", "id"})
        return {**row, **job, "seconds": self.report.elapsed_s if self.report else ""}

    def html(self) -> bytes:
        head = f'<h1>{escape(self.item.question)}</h1>\n<p class="facts">{escape(self.status)}</p>'
        if self.report is None:
            return whole_page(self.item.question, f"{head}\n<p>{escape(self.error)}</p>")
        report = self.report
        answer = answer_html(report)
        sources = "\n".join(
            f'<section class="source" id="source-{s.n}">\n'
            f"<h3>[{s.n}] {escape(s.title or s.url)}</h3>\n"
            f'<p class="meta">{escape(s.url)} · sha256 {s.sha256[:16]}…</p>\n'
            + "".join(f"<blockquote>{escape(quote)}</blockquote>" for quote in s.quotes)
            + "\n</section>"
            for s in report.sources
        )
        failed = f'<p class="failed">{escape(self.error)}</p>' if self.error else ""
        back = '<p class="meta"><a href="../index.html">all questions</a></p>'
        body = f'{head}\n{failed}<div class="answer">{answer}</div>\n{sources}\n{back}'
        return whole_page(self.item.question, body)


def _index(rows: Sequence[_Result]) -> bytes:
    lines = "\n".join(
        f'<tr><td>{row.item.n}</td><td><a href="reports/{row.page}">{escape(row.item.question)}</a>'
        f"</td><td>{escape(row.status)}</td></tr>"
        for row in rows
    )
    done = sum(row.status == "answered" for row in rows)
    head = f'<h1>{len(rows)} questions</h1>\n<p class="facts">{done} answered</p>'
    table = f"<table>\n<tr><th>n</th><th>question</th><th>status</th></tr>\n{lines}\n</table>"
    return whole_page(f"{len(rows)} questions", f"{head}\n{table}")


def _csv(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _harmless(row.get(name)) for name in columns})
    return out.getvalue().encode("utf-8", "replace")


def _harmless(value: Any) -> Any:
    """Take from a text what a spreadsheet would run as a formula (OWASP, CSV injection)."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value
