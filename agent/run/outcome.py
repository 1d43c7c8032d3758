"""Making the report of a run from its events: status, checked sentences, sources, usage."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from agent.errors import NeedsPerson, Offline, WebOutOfReach, error_class, error_text
from agent.evidence.answer import SourceList, check_answer
from agent.evidence.confidence import assess_answer
from agent.evidence.store import Evidence
from agent.guard.budget import Budget
from agent.guard.provenance import UNTRUSTED
from agent.journal.events import JUDGE, MAIN
from agent.keyless.model import ExtractiveModel
from agent.loop.loop import without_calls
from agent.prompts import WRAP_UP
from agent.protocol.replies import NOT_FOUND
from agent.tools.context import NO_BROWSER
from agent.types import (
    ErrorInfo,
    Fit,
    Message,
    Report,
    SearchLine,
    Status,
    ToolCall,
    UsageTotals,
    VerdictState,
    has_error,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.errors import ResearchError
    from agent.evidence.schema import Schema
    from agent.journal.events import Event
    from agent.loop.judge import ClaimJudge
    from agent.loop.loop import LoopResult
    from agent.loop.orchestrator import Orchestrator


INTERRUPT: Final = "interrupt"
FINAL: Final = frozenset({"answered", "not_found"})
"""The statuses of a run that cannot be resumed."""
EXIT_CODES: Final = {"answered": 0, "not_found": 3, "partial": 5, "failed": 1}
MOST_STEPS: Final = 12
"""Most steps of a playbook; a longer one is no method to follow."""
LONGEST_STEP: Final = 200
"""Most characters of a step's query or address."""
_PLAYBOOK_FIELDS: Final = {
    "WEB_SEARCH": "query",
    "READ": "url",
    "FETCH_URL": "url",
    "OPEN": "url",
    "FIND": "text",
}
"""The tools in a playbook, each with the field that says what was asked for. Others are left out:
refs of a live page mean nothing later, and what is typed into one may be a secret."""
_SEARCHED_OUTCOMES = ("ok", "empty")
"""Outcomes of a provider that did search, whether it found something or not."""
_REPORTED: Final = frozenset({"SCHEDULE_TASK", "REMIND_ME", "SET_TIMER", "MONITOR", "STOP"})
"""Tools whose success message is part of the answer: the person asked for what they do."""
_REFUSED_HINT = "--allow and --deny hold for search engines too; `--site HOST` narrows the search."


@dataclass(slots=True)
class Ledger:
    """Adds up the events of a run, live or from its record, and makes its report.

    `skills` are the names of the skills in the main loop's prompt; `tainted` says that the run read
    the web, or other texts that the person did not write.
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
                self._add_result(data)
            case "policy.refused" if data.get("undone"):  # it needed a consent nobody could give
                self._undone.append(f"{data['name']} was not done: {data['effect']}")
            case "model.reply":
                self._add_reply(event)

    def _add_result(self, data: dict[str, Any]) -> None:
        name, result = data["name"], data["data"]
        call, request = ToolCall(name, data["param"]), ""
        if field_name := _PLAYBOOK_FIELDS.get(name):
            # A bare text is the field. Without broken JSON, which tools repair, a playbook can do.
            bare = "" if call.param.startswith("{") else call.param
            request = " ".join(str(call.fields.get(field_name, bare)).split())
        if request and not has_error(result):
            self._steps[f"{name} {request[:LONGEST_STEP]}"] = None
        if not isinstance(result, dict):
            return
        if result.get("outcome") == NO_BROWSER:
            self._no_browser = str(result["error"])
        if name in _REPORTED and result.get("success"):
            self._done.append(str(result["message"]))

    def _add_reply(self, event: Event) -> None:
        data, usage = event.data, self._usage
        # The judge may be another model. Of fallbacks, the model that answered last is reported.
        if not event.place.startswith(JUDGE):
            usage.model = data["model"]
            self._fit = Fit(**data["fit"]) if "fit" in data else None
        usage.model_calls += 1
        usage.input_tokens += data["input_tokens"]
        usage.cached_tokens += data["cached_tokens"]
        usage.output_tokens += data["output_tokens"]
        usage.usd += data["usd"]

    @property
    def playbook(self) -> tuple[str, ...]:
        """The successful searches and readings, one line each, without repetitions."""
        return tuple(self._steps)[:MOST_STEPS]

    def finished_report(self, result: LoopResult, judge: ClaimJudge | None = None) -> Report:
        """Make the report of a run that finished, or reached a limit."""
        evidence = self.evidence

        # Where nothing could be searched or opened, the run failed: it did not find "nothing".
        could_search = any(line.outcome in _SEARCHED_OUTCOMES for line in self._searches)
        if not evidence.sources and self._searches and not could_search:
            return self.failed_report(_out_of_reach(self._searches))
        no_browser = WebOutOfReach(f"no browser could be started: {self._no_browser}")
        if self._no_browser and not evidence.sources:
            return self.failed_report(no_browser)

        # The status.
        text, gave_up = _without_verdict_word(result.text)
        checked = check_answer(text, evidence, judge)
        status: Status = "not_found" if gave_up or not checked.sources else "answered"
        if result.limit is not None:
            status = "partial"
        no_research = not evidence.sources and not self._searches and result.limit is None
        if self._done and no_research:
            # A task was set up: its message is the answer. The model's own words are left out,
            # since nothing supports them.
            status, checked = "answered", check_answer("", evidence)
        incomplete = self._undone or (self._no_browser and status == "answered")
        report = self.new_report("partial" if incomplete else status)
        if self._no_browser:
            report.error = _error_info(no_browser)
        elif self._undone:
            report.error = _error_info(NeedsPerson("; ".join(dict.fromkeys(self._undone))))

        # The answer, its sources and sentences. Of an answer that was not found, the sources are
        # those of the passages that come closest.
        answer_parts = [part for part in (checked.answer, *dict.fromkeys(self._done)) if part]
        report.answer = "\n\n".join(answer_parts) or self._what_was_tried()
        report.sources = list(checked.sources)
        # A run that only called tools without searching (say, to remember something) makes no
        # claims that could be checked.
        researched = self._searches or not self._calls or evidence.sources
        if status != "not_found" or (not gave_up and researched):
            report.sentences = list(checked.sentences)
        if status != "not_found":
            answers = judge.answers if judge else None
            weighed = assess_answer(
                checked, evidence, self.question, answers=answers, fit=self._fit
            )
            report.sources = list(weighed.sources)
            report.conflicts = list(weighed.conflicts)
            report.confidence = weighed.confidence
            report.confidence_parts = weighed.parts
        return report

    def failed_report(self, error: ResearchError) -> Report:
        """Make the report of a run that an error ended."""
        report = self.new_report("failed")
        report.answer = self._what_was_tried() if self.evidence.sources else ""
        report.error = _error_info(error)
        return report

    def new_report(self, status: Status) -> Report:
        """Make a report without an answer: search trail, usage, steps and time."""
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


def _without_verdict_word(text: str) -> tuple[str, bool]:
    """Remove `NOT_FOUND` from the beginning of an answer; returns whether it was there."""
    stripped = text.strip().lstrip("*_`# ")
    if not stripped.startswith(NOT_FOUND):
        return text, False
    return stripped.removeprefix(NOT_FOUND).strip(" :—-*_`\n"), True


def _error_info(error: ResearchError) -> ErrorInfo:
    return ErrorInfo(type=type(error).__name__, message=error_text(error), hint=error.hint)


def _out_of_reach(searches: Iterable[SearchLine]) -> WebOutOfReach:
    """Explain why no provider could search: offline, refused by a rule, or each for itself."""
    # Skipped ones first: a provider that failed is skipped afterwards, and its failure, which
    # comes later in this order, says more.
    lines = sorted(searches, key=lambda line: line.outcome == "skipped", reverse=True)
    providers: dict[str, str] = {}
    for line in lines:
        detail = f" ({line.detail})" if line.detail else ""
        providers[line.provider] = f"{line.provider}: {line.outcome}{detail}"
    reasons = {line.detail for line in lines if line.outcome == "unreachable"}
    outcomes = {line.outcome for line in lines} - {"skipped"}
    # If all have the same reason, the proxy is out of reach, not the network.
    if outcomes == {"unreachable"} and len(reasons) > 1:
        summary = f"none of {len(providers)} search providers can be reached"
        return Offline(f"you seem to be offline ({summary}); try --corpus DIR")
    if outcomes == {"refused"}:
        summary = "refused"
        if len(providers) > 1:
            summary = f"all {len(providers)} search providers are refused"
        last = lines[-1]
        return WebOutOfReach(f"{summary}: {last.provider}: {last.detail}", hint=_REFUSED_HINT)
    return WebOutOfReach("no search provider could be asked: " + "; ".join(providers.values()))


def exit_code(report: Report, *, require_verified: bool = False) -> int:
    """Return the exit code for a report, as the README lists them."""
    if report.status == "failed" and report.error is not None:
        return error_class(report.error.type).exit_code
    if report.status == "answered" and require_verified and not verified(report):
        return 4
    return EXIT_CODES[report.status]


def verified(report: Report) -> bool:
    """Whether every claim of the answer is supported."""
    claims = [sentence for sentence in report.sentences if not sentence.about_search]
    return bool(claims) and all(claim.verdict is VerdictState.SUPPORTED for claim in claims)


async def answer_by_rules(result: LoopResult, messages: Sequence[Message]) -> LoopResult:
    """If a limit or an interrupt left the answer empty, have the keyless model write one."""
    if result.limit is None or result.text.strip() or len(messages) < 2:
        return result
    last = Message("user", WRAP_UP.format(limit=result.limit))
    reply = await ExtractiveModel().reply("", [*messages, last])
    return replace(result, text=without_calls(reply.text))


async def add_values(
    report: Report, answer: str, schema: Schema, work: Orchestrator, judge: ClaimJudge
) -> None:
    """Fill in a schema after an answer, and add the values to the report.

    `answer` is the text of the model, with its citations. Sources that only values cite come after
    those of the answer.
    """
    from agent.loop.schema_filling import SchemaFiller  # noqa: PLC0415 - few runs have a schema

    filled = await SchemaFiller(schema, work, judge).fill(report.question, answer)
    report.data, report.data_notes = filled.data, filled.notes
    sources = SourceList(report.sources)
    for value in filled.values:
        cited = [s for s in map(judge.evidence.source, value.citations) if s is not None]
        numbers = {sources.add(s, value.quote if value.quote in s.text else "").n for s in cited}
        report.values.append(value.model_copy(update={"citations": sorted(numbers)}))
    report.sources = list(sources)
