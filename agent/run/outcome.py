"""From what happened to the report: status, sentences with verdicts, sources, trail, usage."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent.errors import NeedsPerson, Offline, WebOutOfReach, error_kind
from agent.evidence.answer import check_answer, report_source
from agent.evidence.confidence import weigh
from agent.journal.events import JUDGE
from agent.keyless.model import ExtractiveModel
from agent.loop.loop import without_calls
from agent.prompts import WRAP_UP
from agent.protocol.replies import NOT_FOUND
from agent.tools.context import NO_BROWSER
from agent.types import (
    DataValue,
    ErrorInfo,
    Fit,
    Message,
    Report,
    SearchLine,
    Status,
    UsageTotals,
    VerdictState,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.errors import ResearchError
    from agent.evidence.answer import CheckedAnswer
    from agent.evidence.store import Evidence
    from agent.guard.budget import Budget
    from agent.journal.events import Event
    from agent.loop.loop import LoopResult
    from agent.review.gate import Gate
    from agent.review.judge import Verdicts
    from agent.review.schema import Schema, WeighedValues
    from agent.types import ReportSource


INTERRUPT: Final = "interrupt"
FINAL: Final = frozenset({"answered", "not_found"})
"""How a run ends that nothing goes on with; the others can be resumed."""
_HONEST = ("ok", "empty")
_DOING: Final = frozenset({"SCHEDULE_TASK", "REMIND_ME", "SET_TIMER", "MONITOR", "STOP"})
"""Tools that a person asks a run for: what they say of their success belongs to its answer."""
_REFUSED_HINT = "--allow and --deny hold for search engines too; `--site HOST` narrows the search."
EXIT_CODES: dict[str, int] = {"answered": 0, "not_found": 3, "partial": 5, "failed": 1}


class Ledger:
    """Adds up a run's events: the search trail, the calls, tokens and dollars."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.run = ""
        self.searches: list[SearchLine] = []
        self.usage = UsageTotals()
        self.no_browser = ""
        self.undone: list[str] = []
        self.fit: Fit | None = None
        self.done: list[str] = []
        self._calls = 0

    def note(self, event: Event) -> None:
        """Count an event."""
        data = event.data
        if event.type == "run.started":
            self.run = data["run"]
            self.usage.model = data["model"]
        elif event.type == "search.attempt":
            self.searches.append(SearchLine(**data))
        elif event.type == "tool.call":
            self._calls += 1
        elif event.type == "tool.result" and isinstance(data["data"], dict):
            if data["data"].get("outcome") == NO_BROWSER:
                self.no_browser = str(data["data"]["error"])
            if data["name"] in _DOING and data["data"].get("success"):
                self.done.append(str(data["data"]["message"]))
        elif event.type == "policy.refused" and data.get("undone"):
            self.undone.append(f"{data['name']} was not done: {data['effect']}")
        elif event.type == "model.reply":
            if not event.place.startswith(JUDGE):  # which may be another model
                self.usage.model = data["model"]
                self.fit = Fit(**data["fit"]) if "fit" in data else None
            self.usage.model_calls += 1
            self.usage.input_tokens += data["input_tokens"]
            self.usage.cached_tokens += data["cached_tokens"]
            self.usage.output_tokens += data["output_tokens"]
            self.usage.usd += data["usd"]

    @property
    def researched(self) -> bool:
        """Whether the answer is one to a question, and not what a tool was told to remember."""
        return bool(self.searches) or not self._calls

    @property
    def out_of_reach(self) -> bool:
        """Whether search was tried and no provider ever answered honestly."""
        asked = [line for line in self.searches if line.outcome != "skipped"]
        return bool(self.searches) and not any(line.outcome in _HONEST for line in asked)


def finished(
    ledger: Ledger,
    evidence: Evidence,
    result: LoopResult,
    budget: Budget,
    verdicts: Verdicts | None = None,
) -> Report:
    """Report on a run that came to its end, or to one of its limits."""
    if not evidence.sources and ledger.out_of_reach:
        return failed(ledger, evidence, _out_of_reach(ledger), budget)
    no_browser = WebOutOfReach(f"no browser could be started: {ledger.no_browser}")
    if ledger.no_browser and not evidence.sources:
        return failed(ledger, evidence, no_browser, budget)
    text, gave_up = _verdict_word(result.text)
    checked = check_answer(text, evidence, verdicts)
    status = _status(checked, result, gave_up=gave_up)
    nothing = not evidence.sources and not ledger.searches and result.limit is None
    if ledger.done and nothing:  # a model's own words around it stand on nothing
        status, checked = "answered", check_answer("", evidence)
    lacking = ledger.undone or (ledger.no_browser and status == "answered")
    report = _report(ledger, budget, "partial" if lacking else status)
    if ledger.no_browser:
        report.error = _info(no_browser)
    elif ledger.undone:
        report.error = _info(NeedsPerson("; ".join(dict.fromkeys(ledger.undone))))
    done = list(dict.fromkeys(ledger.done))
    report.answer = "\n\n".join(filter(None, (checked.answer, *done)))
    report.sources = list(checked.sources)  # also those of the passages that come closest
    claims = not gave_up and (ledger.researched or evidence.sources)
    if status != "not_found" or claims:
        report.sentences = list(checked.sentences)  # also those that nothing carries
    if status != "not_found":
        answers = verdicts.answers if verdicts else None
        weighed = weigh(checked, evidence, ledger.question, answers=answers, fit=ledger.fit)
        report.sources = list(weighed.sources)
        report.conflicts = list(weighed.conflicts)
        report.confidence = weighed.confidence
        report.confidence_parts = weighed.parts
    if not report.answer:
        report.answer = _what_was_tried(ledger, evidence)
    return report


def failed(ledger: Ledger, evidence: Evidence, error: ResearchError, budget: Budget) -> Report:
    """Report on a run that an error ended; what was read stays in its record."""
    report = _report(ledger, budget, "failed")
    report.answer = _what_was_tried(ledger, evidence) if evidence.sources else ""
    report.error = _info(error)
    return report


def _info(error: ResearchError) -> ErrorInfo:
    return ErrorInfo(type=type(error).__name__, message=str(error), hint=error.hint)


def exit_code(report: Report, *, require_verified: bool = False) -> int:
    """The exit code of the contract for a report."""
    if report.status == "failed" and report.error is not None:
        return error_kind(report.error.type).exit_code
    code = EXIT_CODES[report.status]
    if code == 0 and require_verified and not verified(report):
        return 4
    return code


def verified(report: Report) -> bool:
    """Whether every claim of the answer is supported."""
    claims = [sentence for sentence in report.sentences if not sentence.about_search]
    return bool(claims) and all(claim.verdict is VerdictState.SUPPORTED for claim in claims)


def _verdict_word(text: str) -> tuple[str, bool]:
    stripped = text.strip().lstrip("*_`# ")
    if not stripped.startswith(NOT_FOUND):
        return text, False
    return stripped.removeprefix(NOT_FOUND).strip(" :—-*_`\n"), True


def _status(checked: CheckedAnswer, result: LoopResult, *, gave_up: bool) -> Status:
    if result.limit is not None:
        return "partial"
    if gave_up or not checked.sources:
        return "not_found"
    return "answered"


def _report(ledger: Ledger, budget: Budget, status: Status) -> Report:
    return Report(
        run=ledger.run,
        question=ledger.question,
        status=status,
        searches=ledger.searches,
        usage=ledger.usage,
        steps=budget.steps + budget.elsewhere,
        elapsed_s=round(budget.elapsed(), 3),
    )


def _what_was_tried(ledger: Ledger, evidence: Evidence) -> str:
    queries = list(dict.fromkeys(line.query for line in ledger.searches))
    searched = "; ".join(queries) or "nothing"
    read = ", ".join(source.title or source.url for source in evidence.sources) or "no page"
    return f"No answer was found. Searched: {searched}. Read: {read}."


def _out_of_reach(ledger: Ledger) -> WebOutOfReach:
    seen: dict[str, str] = {}
    asked = sorted(ledger.searches, key=lambda line: line.outcome == "skipped", reverse=True)
    for line in asked:  # what a provider said when it was asked stands above its rest afterwards
        detail = f" ({line.detail})" if line.detail else ""
        seen[line.provider] = f"{line.provider}: {line.outcome}{detail}"
    reasons = {line.detail for line in ledger.searches if line.outcome == "unreachable"}
    outcomes = {line.outcome for line in asked} - {"skipped"}
    if outcomes == {"unreachable"} and len(reasons) > 1:  # one reason for all is the proxy's
        said = f"none of {len(seen)} search providers can be reached"
        return Offline(f"you seem to be offline ({said}); try --corpus DIR")
    if outcomes == {"refused"}:
        said = f"all {len(seen)} search providers are refused" if len(seen) > 1 else "refused"
        last = asked[-1]
        return WebOutOfReach(f"{said}: {last.provider}: {last.detail}", hint=_REFUSED_HINT)
    return WebOutOfReach("no search provider could be asked: " + "; ".join(seen.values()))


async def with_what_is_known(result: LoopResult, messages: Sequence[Message]) -> LoopResult:
    """Fill an answer that a limit or an interrupt left empty, by rules, from what was read."""
    if result.limit is None or result.text.strip() or len(messages) < 2:
        return result
    last = Message("user", WRAP_UP.format(limit=result.limit))
    reply = await ExtractiveModel().reply("", [*messages, last])
    return replace(result, text=without_calls(reply.text))


async def add_values(report: Report, answer: str, schema: Schema, gate: Gate) -> None:
    """Fill in the schema after an answer (the model's own text), and put it into the report.

    `gate` has the evidence, the model, and the judge of what code leaves open.
    """
    from agent.review.filling import Filling  # noqa: PLC0415 - few runs have a schema

    filled = await Filling(schema, gate).fill(report.question, answer)
    with_values(report, filled, gate.evidence)


def with_values(report: Report, filled: WeighedValues, evidence: Evidence) -> Report:
    """Put the values into a report; sources that only they cite come after its own."""
    report.data, report.data_notes = filled.data, filled.notes
    for value in filled.values:
        cited = [_numbered(report, n, evidence) for n in value.sources]
        verdict = value.verdict
        report.values.append(
            DataValue(
                pointer=value.pointer,
                value=value.value,
                citations=sorted({source.n for source in cited}),
                verdict=verdict.state,
                quote=verdict.quote,
                reason=verdict.reason,
            )
        )
        _quote(cited, verdict.quote, evidence)
    return report


def _numbered(report: Report, n: int, evidence: Evidence) -> ReportSource:
    """Find a source of the run among those of the report, or add it to them."""
    source = evidence.source(n)
    assert source is not None, "a value cites passages of the run"
    for known in report.sources:
        if (known.url, known.sha256) == (source.url, source.sha256):
            return known
    added = report_source(len(report.sources) + 1, source, [])
    report.sources.append(added)
    return added


def _quote(cited: Sequence[ReportSource], quote: str, evidence: Evidence) -> None:
    """Add the quote to the source in which it stands."""
    known = (*evidence.sources, *evidence.snippets)
    texts = {(s.url, s.sha256): s.text for s in known}
    for source in cited:
        if quote and quote in texts[source.url, source.sha256] and quote not in source.quotes:
            source.quotes.append(quote)
