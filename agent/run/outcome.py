"""From the events of a run to its report: status, sentences with verdicts, sources, usage."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from agent.errors import NeedsPerson, Offline, WebOutOfReach, error_class
from agent.evidence.answer import check_answer, report_source
from agent.evidence.confidence import assess_answer
from agent.evidence.store import Evidence
from agent.guard.budget import Budget
from agent.guard.provenance import UNTRUSTED
from agent.journal.events import JUDGE, MAIN
from agent.keyless.model import ExtractiveModel
from agent.loop.loop import without_calls
from agent.prompts import WRAP_UP
from agent.protocol.replies import NOT_FOUND
from agent.protocol.results import failed
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
    from collections.abc import Iterable, Sequence

    from agent.errors import ResearchError
    from agent.evidence.schema import Schema
    from agent.journal.events import Event
    from agent.loop.gate import Gate
    from agent.loop.judge import Verdicts
    from agent.loop.loop import LoopResult
    from agent.types import ReportSource


INTERRUPT: Final = "interrupt"
FINAL: Final = frozenset({"answered", "not_found"})
"""How a run ends that nothing goes on with; the others can be resumed."""
EXIT_CODES: Final = {"answered": 0, "not_found": 3, "partial": 5, "failed": 1}
MOST_STEPS: Final = 12
"""Steps of a playbook; a longer one is no method to follow."""
LONGEST_STEP: Final = 200
"""Characters of what a step asked for."""
_PLAYBOOK_FIELDS: Final = {
    "WEB_SEARCH": "query",
    "READ": "url",
    "FETCH_URL": "url",
    "OPEN": "url",
    "FIND": "text",
}
"""Tools whose calls mean something later, with the field that says what was asked for. Refs of a
live page do not, and what is typed into one may be a secret."""
_ANSWERED_HONESTLY = ("ok", "empty")
_REPORTED: Final = frozenset({"SCHEDULE_TASK", "REMIND_ME", "SET_TIMER", "MONITOR", "STOP"})
"""Tools that a person asks a run for: what they say of their success belongs to its answer."""
_REFUSED_HINT = "--allow and --deny hold for search engines too; `--site HOST` narrows the search."


@dataclass(slots=True)
class Ledger:
    """Adds up a run's events, live or from its record, and makes the report of them.

    `skills` are the names of those that the main loop was given; `tainted` says that the run read
    the web, or what others wrote.
    """

    question: str
    evidence: Evidence = field(default_factory=Evidence)
    budget: Budget = field(default_factory=Budget)
    run: str = ""
    skills: tuple[str, ...] = ()
    tainted: bool = False
    _searches: list[SearchLine] = field(default_factory=list)
    _usage: UsageTotals = field(default_factory=UsageTotals)
    _no_browser: str = ""
    _undone: list[str] = field(default_factory=list)
    _done: list[str] = field(default_factory=list)
    _fit: Fit | None = None
    _calls: int = 0
    _steps: dict[str, None] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        """Count an event."""
        data = event.data
        match event.type:
            case "run.started":
                self.run = data["run"]
                self._usage.model = data["model"]
            case "skills.given" if event.place == MAIN and not self.skills:
                self.skills = tuple(data["names"])
            case "search.attempt":
                self._searches.append(SearchLine(**data))
            case "source.added" | "results.added":
                self.tainted = True
            case "context.read":
                self.tainted |= data["origin"] in UNTRUSTED
            case "tool.call":
                self._calls += 1
            case "tool.result":
                self._note_result(data)
            case "policy.refused" if data.get("undone"):
                self._undone.append(f"{data['name']} was not done: {data['effect']}")
            case "model.reply":
                self._note_reply(event)

    def _note_result(self, data: dict[str, Any]) -> None:
        name, result = data["name"], data["data"]
        asked = _asked_for(data["param"], _PLAYBOOK_FIELDS.get(name, ""))
        if asked and not failed(result):
            self._steps[f"{name} {asked[:LONGEST_STEP]}"] = None
        if not isinstance(result, dict):
            return
        if result.get("outcome") == NO_BROWSER:
            self._no_browser = str(result["error"])
        if name in _REPORTED and result.get("success"):
            self._done.append(str(result["message"]))

    def _note_reply(self, event: Event) -> None:
        data, usage = event.data, self._usage
        if not event.place.startswith(JUDGE):  # which may be another model
            usage.model = data["model"]  # the one that answered in the end, with a fallback another
            self._fit = Fit(**data["fit"]) if "fit" in data else None
        usage.model_calls += 1
        usage.input_tokens += data["input_tokens"]
        usage.cached_tokens += data["cached_tokens"]
        usage.output_tokens += data["output_tokens"]
        usage.usd += data["usd"]

    @property
    def playbook(self) -> tuple[str, ...]:
        """The searches made and pages read that worked, one line each; twice the same is one."""
        return tuple(self._steps)[:MOST_STEPS]

    def finished_report(self, result: LoopResult, verdicts: Verdicts | None = None) -> Report:
        """Report on a run that came to its end, or to one of its limits."""
        evidence = self.evidence
        # A search that failed everywhere is no answer that was not found.
        if not evidence.sources and self._searches:
            asked = [line for line in self._searches if line.outcome != "skipped"]
            if not any(line.outcome in _ANSWERED_HONESTLY for line in asked):
                return self.failed_report(_out_of_reach(self._searches))
        no_browser = WebOutOfReach(f"no browser could be started: {self._no_browser}")
        if self._no_browser and not evidence.sources:
            return self.failed_report(no_browser)
        text, gave_up = _without_verdict_word(result.text)
        checked = check_answer(text, evidence, verdicts)
        status: Status = "not_found" if gave_up or not checked.sources else "answered"
        if result.limit is not None:
            status = "partial"
        nothing = not evidence.sources and not self._searches and result.limit is None
        if self._done and nothing:  # a model's own words around it stand on nothing
            status, checked = "answered", check_answer("", evidence)
        lacking = self._undone or (self._no_browser and status == "answered")
        report = self.new_report("partial" if lacking else status)
        if self._no_browser:
            report.error = _info(no_browser)
        elif self._undone:
            report.error = _info(NeedsPerson("; ".join(dict.fromkeys(self._undone))))
        report.answer = "\n\n".join(filter(None, (checked.answer, *dict.fromkeys(self._done))))
        report.answer = report.answer or self._what_was_tried()
        report.sources = list(checked.sources)  # also those of the passages that come closest
        # A run that was told to remember something and searched nothing claims nothing.
        researched = self._searches or not self._calls or evidence.sources
        if status != "not_found" or (not gave_up and researched):
            report.sentences = list(checked.sentences)  # also those that nothing carries
        if status != "not_found":
            answers = verdicts.answers if verdicts else None
            weighed = assess_answer(
                checked, evidence, self.question, answers=answers, fit=self._fit
            )
            report.sources = list(weighed.sources)
            report.conflicts = list(weighed.conflicts)
            report.confidence = weighed.confidence
            report.confidence_parts = weighed.parts
        return report

    def failed_report(self, error: ResearchError) -> Report:
        """Report on a run that an error ended; what was read stays in its record."""
        report = self.new_report("failed")
        report.answer = self._what_was_tried() if self.evidence.sources else ""
        report.error = _info(error)
        return report

    def new_report(self, status: Status) -> Report:
        """Give a report without an answer: the search trail, the usage, the steps, the time."""
        return Report(
            run=self.run,
            question=self.question,
            status=status,
            searches=self._searches,
            usage=self._usage,
            steps=self.budget.steps + self.budget.subtask_steps,
            elapsed_s=round(self.budget.elapsed(), 3),
        )

    def _what_was_tried(self) -> str:
        queries = dict.fromkeys(line.query for line in self._searches)
        searched = "; ".join(queries) or "nothing"
        read = ", ".join(source.title or source.url for source in self.evidence.sources)
        return f"No answer was found. Searched: {searched}. Read: {read or 'no page'}."


def _asked_for(param: str, name: str) -> str:
    """Give the field of a call that says what was asked for; the parameter may be the field."""
    if not name:
        return ""
    if not param.startswith("{"):
        return " ".join(param.split())
    try:
        fields = json.loads(param, strict=False)
    except ValueError:
        return ""  # the tool forgave what was wrong with it; the playbook can do without
    return " ".join(str(fields.get(name, "")).split())


def _without_verdict_word(text: str) -> tuple[str, bool]:
    """Take the word of giving up from the beginning of an answer; tells whether it stood there."""
    stripped = text.strip().lstrip("*_`# ")
    if not stripped.startswith(NOT_FOUND):
        return text, False
    return stripped.removeprefix(NOT_FOUND).strip(" :—-*_`\n"), True


def _info(error: ResearchError) -> ErrorInfo:
    return ErrorInfo(type=type(error).__name__, message=str(error), hint=error.hint)


def _out_of_reach(searches: Iterable[SearchLine]) -> WebOutOfReach:
    """Say why no provider could be asked: the machine is offline, the person's rules, or each."""
    # What a provider said when it was asked stands above its rest afterwards.
    asked = sorted(searches, key=lambda line: line.outcome == "skipped", reverse=True)
    seen: dict[str, str] = {}
    for line in asked:
        detail = f" ({line.detail})" if line.detail else ""
        seen[line.provider] = f"{line.provider}: {line.outcome}{detail}"
    reasons = {line.detail for line in asked if line.outcome == "unreachable"}
    outcomes = {line.outcome for line in asked} - {"skipped"}
    if outcomes == {"unreachable"} and len(reasons) > 1:  # one reason for all is the proxy's
        said = f"none of {len(seen)} search providers can be reached"
        return Offline(f"you seem to be offline ({said}); try --corpus DIR")
    if outcomes == {"refused"}:
        said = f"all {len(seen)} search providers are refused" if len(seen) > 1 else "refused"
        last = asked[-1]
        return WebOutOfReach(f"{said}: {last.provider}: {last.detail}", hint=_REFUSED_HINT)
    return WebOutOfReach("no search provider could be asked: " + "; ".join(seen.values()))


def exit_code(report: Report, *, require_verified: bool = False) -> int:
    """Choose the exit code of the contract for a report."""
    if report.status == "failed" and report.error is not None:
        return error_class(report.error.type).exit_code
    code = EXIT_CODES[report.status]
    return 4 if code == 0 and require_verified and not verified(report) else code


def verified(report: Report) -> bool:
    """Whether every claim of the answer is supported."""
    claims = [sentence for sentence in report.sentences if not sentence.about_search]
    return bool(claims) and all(claim.verdict is VerdictState.SUPPORTED for claim in claims)


async def answer_by_rules(result: LoopResult, messages: Sequence[Message]) -> LoopResult:
    """Fill an answer that a limit or an interrupt left empty from what was read, by rules."""
    if result.limit is None or result.text.strip() or len(messages) < 2:
        return result
    last = Message("user", WRAP_UP.format(limit=result.limit))
    reply = await ExtractiveModel().reply("", [*messages, last])
    return replace(result, text=without_calls(reply.text))


async def add_values(report: Report, answer: str, schema: Schema, gate: Gate) -> None:
    """Fill in a schema after an answer (the model's own text), and put the values into the report.

    `gate` has the evidence, the model, and the judge of what code leaves open. Sources that only
    values cite come after the report's own.
    """
    from agent.loop.schema_filling import Filling  # noqa: PLC0415 - few runs have a schema

    filled, evidence = await Filling(schema, gate).fill(report.question, answer), gate.evidence
    report.data, report.data_notes = filled.data, filled.notes
    for value in filled.values:
        cited = [_report_source(report, n, evidence) for n in value.sources]
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
        texts = {(s.url, s.sha256): s.text for s in (*evidence.sources, *evidence.snippets)}
        for source in cited:
            here = bool(verdict.quote) and verdict.quote in texts[source.url, source.sha256]
            if here and verdict.quote not in source.quotes:
                source.quotes.append(verdict.quote)


def _report_source(report: Report, n: int, evidence: Evidence) -> ReportSource:
    """Find a source of the run among those of the report, or add it to them."""
    source = evidence.source(n)
    assert source is not None, "a value cites passages of the run"
    for known in report.sources:
        if (known.url, known.sha256) == (source.url, source.sha256):
            return known
    added = report_source(len(report.sources) + 1, source, [])
    report.sources.append(added)
    return added
