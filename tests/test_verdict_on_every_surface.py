"""Every surface shows what a reader must know: doubt, dispute, failure, passages.

A surface is whatever shows a report. `SHOWN_BY` names each; a module that shows a report and is not
walked here fails `test_every_module_showing_a_report_is_covered`.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pypdfium2
import pytest
from click.testing import CliRunner
from docx import Document

from agent import research
from agent.channels.answer_text import answer_text
from agent.cli.check import check
from agent.cli.job_commands import _format_job
from agent.cli.record_commands import diff
from agent.cli.render import print_report
from agent.cli.run_commands import runs, show
from agent.evidence.confidence import VERDICT_WEIGHTS
from agent.export import FORMATS, Content, writer
from agent.export.compare_runs import compare
from agent.export.data_csv import to_csv
from agent.export.finished_run import FinishedRun
from agent.export.report_html import render_page
from agent.export.report_view import VERDICT_LABELS, saved_text
from agent.jobs.batch import _COLUMNS, BatchItem, _BatchResult
from agent.jobs.job import Job, JobOutcome, JobSpec
from agent.jobs.job_notices import _build_notice
from agent.journal.runs import RunFolder, Runs
from agent.mcp.followed_run import report_result
from agent.notify.atom_feed import add_entry
from agent.notify.mail_sender import build_mail
from agent.run.job_runner import answer_turn_text
from agent.serve.chat_completions import _completion
from agent.serve.library import Library
from agent.serve.page_routes import _report, _templates
from agent.types import Standing, VerdictState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent.types import Report

ROOT = Path(__file__).parent.parent
QUESTION = "When did the Tamsel Bridge open to traffic?"
PAGES = {
    "guide.html": ("Tamsel Bridge: a guide", "2015-06-01", "1913"),
    "news.html": ("Bridges of the river", "2021-03-04", "1931"),
}
PAGE = """<html><head><title>{0}</title>
<meta property="article:published_time" content="{1}"></head><body><article><h1>{0}</h1>
<p>It crosses the river near the village, and it was built of steel by a firm of the county.</p>
<p>The Tamsel Bridge opened to traffic on 4 May {2}. The mayor was the first to cross it.</p>
<p>Cars pay two crowns in each direction, and whoever walks pays nothing at all.</p>
</article></body></html>"""


@dataclass(frozen=True)
class Shown:
    """A finished run: its report, and its folder on disk."""

    report: Report
    folder: RunFolder

    @property
    def data(self) -> Path:
        return self.folder.path.parent.parent

    @property
    def job(self) -> Job:
        outcome = JobOutcome(state="done", report=self.report.model_dump(mode="json"))
        return Job(
            id="one",
            question=QUESTION,
            state="done",
            created="2026-11-21T08:00Z",
            status=self.report.status,
            badge=self.report.badge,
            report=outcome.report,
        )


@pytest.fixture(scope="module")
async def shown(tmp_path_factory) -> Mapping[str, Shown]:
    """Three runs over a folder: disputed and in doubt, without an extractive answer, and failed."""
    folder = tmp_path_factory.mktemp("surfaces")
    corpus = folder / "corpus"
    corpus.mkdir()
    for name, texts in PAGES.items():
        (corpus / name).write_text(PAGE.format(*texts), encoding="utf-8")
    reading = "\n".join(f"<<TOOL:READ:{(corpus / name).as_uri()}>>" for name in PAGES)
    search = f"<<TOOL:WEB_SEARCH:{QUESTION}>>"
    answer = "The Tamsel Bridge opened to traffic on 4 May 1913. [S1] It is the oldest one. [S1]"
    judge = {"for": "judge", "reply": "1: not stated\nanswer: in part"}

    async def ask(name: str, *replies: object) -> Shown:
        script = folder / f"{name}.jsonl"
        script.write_text("".join(f"{json.dumps(reply)}\n" for reply in replies))
        report = await research(
            QUESTION,
            model=f"scripted:{script}" if replies else "extractive",
            corpus=corpus,
            data_dir=folder / name,
            memory=False,
        )
        return Shown(report, Runs(folder / name).find(report.run))

    return {
        "disputed": await ask("disputed", search, reading, answer, judge),
        "unanswered": await ask("unanswered"),
        "failed": await ask("failed", search),  # its script ends before it has answered
    }


def _exported(ending: str) -> Callable[[Shown], bytes]:
    return lambda shown: writer(Path(f"report{ending}"))(shown.folder.path)


def _words(ending: str) -> Callable[[Shown], str]:
    return lambda shown: _exported(ending)(shown).decode()


def _printed(shown: Shown) -> str:
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", out)
        print_report(shown.report)
        error = shown.report.error
    return out.getvalue() + (error.message if error else "")  # which `ask` prints to stderr


def _command(command: Any, *args: str) -> Callable[[Shown], str]:
    def run(shown: Shown) -> str:
        filled = [shown.folder.id if arg == "RUN" else arg for arg in args]
        result = CliRunner().invoke(command, [*filled, "--data-dir", str(shown.data)])
        return result.output

    return run


def _checked(shown: Shown) -> str:
    suite = shown.data / "suite.yaml"
    suite.write_text(json.dumps({"checks": [{"run": shown.folder.id, "expect": {"answer": "x"}}]}))
    summary, junit = suite.with_suffix(".md"), suite.with_suffix(".xml")
    flags = ["--summary", str(summary), "--junit", str(junit), "--data-dir", str(shown.data)]
    printed = CliRunner().invoke(check, [str(suite), *flags]).output
    return printed + junit.read_text() + summary.read_text()


def _in_pdf(shown: Shown) -> str:
    with pypdfium2.PdfDocument(_exported(".pdf")(shown)) as document:
        return " ".join(page.get_textpage().get_text_bounded() for page in document)


def _in_docx(shown: Shown) -> str:
    document = Document(io.BytesIO(_exported(".docx")(shown)))
    return "\n".join(paragraph.text for paragraph in document.paragraphs)


def _notice(shown: Shown) -> Any:
    spec = JobSpec(id="one", question=QUESTION)
    job = shown.job
    outcome = {"report": job.report, "status": job.status, "badge": job.badge}
    return _build_notice(spec, {**outcome, "state": "done", "error": "", "hint": ""})


def _in_mail(shown: Shown) -> str:
    mail = build_mail(_notice(shown), "a@example.org", ["b@example.org"])
    body = mail.get_body()
    assert body is not None
    return f"{mail['Subject']}\n{body.get_content()}"


def _in_feed(shown: Shown) -> str:
    path = shown.data / "news.xml"
    add_entry(path, _notice(shown))
    return path.read_text(encoding="utf-8")


def _in_batch(shown: Shown) -> str:
    result = _BatchResult(BatchItem(1, "one", QUESTION, {}), shown.job)
    page = render_page("batch_index.html", "1 question", results=[result]).decode()
    return page + to_csv(_COLUMNS, [result.row()]).decode()


def _in_library(shown: Shown) -> str:
    found = Library(Runs(shown.data), shown.data).search()
    values = {"runs": found, "q": "", "tag": "", "tags": [], "more": None, "here": "library"}
    page = _templates().get_template("library.html")
    return page.render(**values, folders=[], tab=False) + found[0].model_dump_json()


def _compared(shown: Shown) -> str:
    compared = compare(shown.folder, shown.folder)
    page = _templates().get_template("diff.html")
    printed = _command(diff, "RUN", "RUN")(shown)
    return page.render(diff=compared, here="library", folders=[], tab=False) + printed


def _over_mcp(shown: Shown) -> str:
    result = report_result(shown.report)
    texts = [part.text for part in result.content if part.type == "text"]
    return "\n".join(texts) + json.dumps(result.structured_content, ensure_ascii=False)


WHOLE: Mapping[str, Callable[[Shown], str]] = {
    "terminal": _printed,
    "show": _command(show, "RUN"),
    "show --json": _command(show, "RUN", "--json"),
    "Python": lambda shown: shown.report.to_json(),
    "check": _checked,
    **{end: _words(end) for end, form in FORMATS.items() if form.content is Content.ANSWER},
    ".pdf": _in_pdf,
    ".docx": _in_docx,
    ".obsidian.md": _words(".obsidian.md"),
    "page": lambda shown: str(_report(shown.folder)),
    "/v1/chat/completions": lambda shown: json.dumps(
        _completion(shown.report, "urchin"), ensure_ascii=False
    ),
    "MCP": _over_mcp,
    "channels": lambda shown: answer_text(shown.report),
    "mail": _in_mail,
    "feed": _in_feed,
    "other notices": lambda shown: f"{_notice(shown).title}\n{_notice(shown).text}",
    "queue show": lambda shown: saved_text(shown.job.report or {}),
    "batch report": lambda shown: render_page(
        "batch_result.html",
        QUESTION,
        **_batch_values(_BatchResult(BatchItem(1, "one", QUESTION, {}), shown.job)),
    ).decode(),
}
"""Surfaces that show a whole answer."""
FAILS_ITSELF = ("check", "/v1/chat/completions")
"""The check of a run that failed reports that, and the server answers with an error."""
LISTS: Mapping[str, Callable[[Shown], str]] = {
    "batch tables": _in_batch,
    "library": _in_library,
    "diff": _compared,
    "runs --json": _command(runs, "--json"),
}
"""Surfaces that show a line of each answer: what it is worth, and whether it is in doubt."""
BADGES: Mapping[str, Callable[[Shown], str]] = {
    "runs": _command(runs),
    "queue list": lambda shown: _format_job(shown.job),
}
"""Lists with no room for more than the badge."""


def _batch_values(result: _BatchResult) -> dict[str, Any]:
    from agent.export import report_view
    from agent.export.markup import answer_html

    assert result.report is not None
    return {"result": result, "answer": answer_html(result.report), "view": report_view}


def plain(text: str) -> str:
    """Leave the words of a surface: no tags, line breaks, hyphenation or entities."""
    text = re.sub(r"<[^>]*>|\\n|[\r\n\ufffe]+", " ", text)
    return " ".join(text.replace("&#39;", "'").split())


def test_fixture_runs_have_intended_outcomes(shown):
    disputed, unanswered = shown["disputed"].report, shown["unanswered"].report
    assert (disputed.status, disputed.standing) == ("answered", "disputed")
    assert disputed.doubt == "it answers only part of the question"
    assert (unanswered.status, len(unanswered.sources)) == ("not_found", 2)
    assert unanswered.closest
    assert unanswered.doubt is None
    assert shown["failed"].report.error is not None


@pytest.mark.parametrize("surface", WHOLE)
def test_doubt_and_dispute_are_shown_in_full_reports(shown, surface):
    text = plain(WHOLE[surface](shown["disputed"]))
    assert "disputed" in text
    assert "only part of the question" in text
    assert "4 May 1913" in text
    assert "4 May 1931" in text
    assert "2015-06-01" in text
    assert "2021-03-04" in text
    assert "newer" in text
    assert not re.search(r"supported(?=[\"'>][^<]*>answered<)", text)


@pytest.mark.parametrize("surface", LISTS)
def test_doubt_and_dispute_are_shown_in_lists(shown, surface):
    text = plain(LISTS[surface](shown["disputed"]))
    assert "disputed" in text
    assert "only part of the question" in text


@pytest.mark.parametrize("surface", BADGES)
def test_badge_shows_disputed_answer_as_disputed(shown, surface):
    assert "answered, disputed" in BADGES[surface](shown["disputed"])


@pytest.mark.parametrize("surface", WHOLE)
def test_closest_passages_are_shown_with_sources(shown, surface):
    text = plain(WHOLE[surface](shown["unanswered"]))
    assert "The Tamsel Bridge opened to traffic on 4 May 1931." in text
    assert "Bridges of the river" in text
    if surface not in ("show --json", "Python", ".json", ".jsonl"):
        assert (
            "There is no answer without a language model. These passages are relevant:".lower()
            in (text.lower())
        )
    assert "This may not answer the question" not in text


def test_closest_passages_precede_search_details(shown):
    page = WHOLE["page"](shown["unanswered"])
    assert page.index('class="contents"') < page.index('class="closest"')
    assert page.index('class="closest"') < page.index('class="answer meta"')


@pytest.mark.parametrize("surface", [name for name in WHOLE if name not in FAILS_ITSELF])
def test_failure_message_is_shown(shown, surface):
    report = shown["failed"].report
    assert report.error is not None
    assert report.error.message in plain(WHOLE[surface](shown["failed"]))


SHOWS = re.compile(
    r"report\.answer\b|\[.answer.\]|annotated_answer|answer_html|text_parts|saved_text"
    r"|report_body\(|print_report\(|answer_text\(|report_result\("
)
WRITES = {
    f"agent/export/{form.render.partition(':')[0]}.py": end
    for end, form in FORMATS.items()
    if form.content is Content.ANSWER
}
"""Modules of export formats, each with the format that walks it."""
SHOWN_BY = {
    "agent/channels/answer_text.py": "channels",
    "agent/channels/dialogue.py": "channels",
    "agent/cli/ask.py": "terminal",
    "agent/cli/check.py": "check",
    "agent/cli/job_commands.py": "queue show",
    "agent/cli/record_commands.py": "diff",
    "agent/cli/render.py": "terminal",
    "agent/cli/run_commands.py": "show",
    "agent/cli/ui_screen.py": "queue show",
    "agent/export/charts.py": ".html",
    "agent/export/compare_runs.py": "diff",
    "agent/export/markup.py": ".html",
    "agent/export/report_view.py": "channels",
    "agent/jobs/batch.py": "batch tables",
    "agent/jobs/job_notices.py": "other notices",
    "agent/jobs/jobs.py": "queue show",
    "agent/jobs/monitor_checks.py": "feed",
    "agent/mcp/followed_run.py": "MCP",
    "agent/mcp/server.py": "MCP",
    "agent/run/job_runner.py": "conversations",
    "agent/serve/chat_completions.py": "/v1/chat/completions",
    "agent/serve/library.py": "library",
    "agent/serve/page_routes.py": "page",
    "plugins/urchin_extras/notes.py": ".obsidian.md",
}
"""Modules that show a report, with the surface above (or below) that walks each."""
SHOWS_NOTHING = {
    "agent/memory/sealed_log.py": "hashes the answer",
    "agent/run/audit.py": "makes the report",
    "agent/run/expectations.py": "matches the answer with patterns",
    "agent/run/outcome.py": "makes the report",
    "agent/run/recheck.py": "makes the report",
    "agent/run/record.py": "keeps sections for a new report",
    "agent/run/rerun.py": "makes the report",
    "agent/run/streaming.py": "a table with a column for the doubt and the whole report",
}


def test_every_module_showing_a_report_is_covered():
    """A new surface must be added to the tables above, so that it is tested."""
    files = [*(ROOT / "agent").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    named = [f for f in files if SHOWS.search(f.read_text(encoding="utf-8"))]
    found = {str(f.relative_to(ROOT)) for f in named if SHOWS.search(_code(f))}
    assert found - SHOWS_NOTHING.keys() - WRITES.keys() == SHOWN_BY.keys()
    walked = {*WHOLE, *LISTS, *BADGES, "conversations"}
    assert set(SHOWN_BY.values()) <= walked


def _code(file: Path) -> str:
    """The code of a module, without comments and docstrings."""
    return ast.unparse(ast.parse(file.read_text(encoding="utf-8")))


def test_conversation_turn_keeps_doubt_and_dispute(shown):
    turn = answer_turn_text(shown["disputed"].report)
    assert "only part of the question" in turn
    assert "newer" in turn
    assert "[Not verified: “It is the oldest one.”]" in turn


def test_exported_report_matches_saved_standing_and_doubt(shown):
    """The computed fields of a report on disk are computed anew, and are the same."""
    for one in shown.values():
        saved = json.loads(one.folder.report.read_bytes())
        read = FinishedRun.read(one.folder.path).report
        assert (saved["standing"], saved["doubt"]) == (read.standing, read.doubt)


def test_spreadsheet_export_has_standing_and_doubt_columns(shown):
    result = _BatchResult(BatchItem(1, "one", QUESTION, {}), shown["disputed"].job)
    [row] = csv.DictReader(to_csv(_COLUMNS, [result.row()]).decode().splitlines())
    assert (row["standing"], row["doubt"]) == ("disputed", "it answers only part of the question")


def test_every_verdict_is_labelled_and_documented():
    page = (ROOT / "docs" / "verification.md").read_text("utf-8")
    assert set(VERDICT_LABELS) == set(VERDICT_WEIGHTS) == set(VerdictState)
    css = (ROOT / "agent" / "export" / "report.css").read_text("utf-8")
    assert [state for state in VerdictState if f".{state}" not in css] == []
    named = {*(state.value for state in VerdictState), *get_args(Standing)}
    assert [name for name in sorted(named) if f"`{name}`" not in page] == []
