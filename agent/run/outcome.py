"""Builds a run's report from its events: status, checked sentences, sources, usage."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from agent.errors import NOT_VERIFIED, NeedsUser, Offline, WebOutOfReach, error_class, error_text
from agent.evidence.answer import CheckedAnswer, SourceList, check_answer
from agent.evidence.confidence import MIN_EXTRACTIVE_CONFIDENCE, assess_answer
from agent.evidence.disputes import Dispute
from agent.evidence.store import Evidence
from agent.guard.budget import Budget
from agent.guard.provenance import UNTRUSTED_KINDS
from agent.journal.events import JUDGE, MAIN
from agent.keyless.model import ExtractiveModel
from agent.loop.loop import strip_tool_calls
from agent.prompts import WRAP_UP
from agent.protocol.replies import NOT_FOUND
from agent.run.closest import add_closest
from agent.tools.context import NO_BROWSER
from agent.types import (
    ContrarySearch,
    ErrorInfo,
    Fit,
    Message,
    Report,
    SearchLine,
    Sentence,
    Status,
    ToolTrait,
    UsageTotals,
    VerdictState,
    files_note,
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
    from agent.types import Conflict


INTERRUPT: Final = "interrupt"
EXIT_CODES: Final = {"answered": 0, "not_found": 3, "partial": 5, "failed": 1}
MAX_PLAYBOOK_STEPS: Final = 12
"""Maximum number of steps in a playbook; a longer one would be useless as instructions."""
MAX_STEP_CHARS: Final = 200
"""Maximum length of a step's query or address, in characters."""
_COMPLETED_OUTCOMES = ("ok", "empty")
"""A provider's outcomes for a completed search, even one without results."""
_MAX_LISTED: Final = 6
"""Maximum number of queries, of pages and of failures that a run without an answer lists."""
_LIMIT_REASONS: Final = {
    INTERRUPT: "it was interrupted",
    "steps": "the step limit was reached",
    "timeout": "the time limit was reached",
    "budget": "the dollar budget was used up",
    "tokens": "the token limit was reached",
    "repetition": "the model repeated itself",
}
_TOOL_REPORTED_REASON: Final = "a tool reported that it was done"
_ABOUT_SEARCH_REASON: Final = "a statement about the search"
_OWN_WORDS_HEADING: Final = "In the model's own words:"
_REFUSED_HINT = "--allow and --deny apply to search engines too; --site HOST narrows the search."


@dataclass(slots=True)
class ReportBuilder:
    """Processes a run's events, live or from its record, and builds its report.

    `skills` are the names of the skills in the main loop's prompt. `tainted` means that the run
    read the web or other text that the user did not write.
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
    _failures: dict[str, None] = field(default_factory=dict)
    _silent_searches: list[str] = field(default_factory=list)
    _undone: list[str] = field(default_factory=list)
    _withheld: dict[str, str] = field(default_factory=dict)
    _done: list[str] = field(default_factory=list)
    _challenges: list[dict[str, Any]] = field(default_factory=list)
    _primary: dict[str, dict[str, Any]] = field(default_factory=dict)
    _fit: Fit | None = None
    _guided: bool = False
    _calls: int = 0
    _steps: dict[str, None] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        """Process an event."""
        data = event.data
        self._guided |= bool(data.get("guided"))  # from the start, or from a nudge
        match event.type:
            case "run.started":
                self.run = data["run"]
                self._usage.model = data["model"]
            case "skills.given" if event.place == MAIN and not self.skills:
                self.skills = tuple(data["names"])
            case "search.attempt" | "query.withheld" | "challenge" | "primary":
                self._add_search_line(event.type, data)
            case "source.added" | "results.added":
                self.tainted = True
            case "context.read":
                self.tainted |= data["origin"] in UNTRUSTED_KINDS
            case "tool.call":
                self._calls += 1
            case "tool.result":
                self._add_result(data)
            case "policy.refused" if data.get("undone"):  # no user was available to approve it
                self._undone.append(f"{data['name']} was not run: {data['effect']}")
            case "model.reply":
                self._add_reply(event)

    def _add_search_line(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "challenge":
            self._challenges.append(data)
        elif kind == "primary":
            self._primary[data["text"]] = data
        elif kind == "query.withheld":
            self._withheld[data["sent"]] = data["text"]
        else:
            withheld = self._withheld.get(data["query"], "")
            self._searches.append(SearchLine(**data, withheld=withheld))

    def _add_result(self, data: dict[str, Any]) -> None:
        name, result, request = data["name"], data["data"], data.get("request", "")
        if request and not has_error(result):
            self._steps[f"{name} {request[:MAX_STEP_CHARS]}"] = None
        if not isinstance(result, dict):
            return
        if has_error(result):
            error = str(result["error"])
            about = f" “{request[:MAX_STEP_CHARS]}”" if request and request not in error else ""
            self._failures[f"{name}{about}: {error}"] = None
            if ToolTrait.SEARCHES in data.get("traits", ()) and "providers" not in result:
                self._silent_searches.append(error)
        if result.get("outcome") == NO_BROWSER:
            self._no_browser = str(result["error"])
        if ToolTrait.REPORTS in data.get("traits", ()) and result.get("success"):
            self._done.append(str(result["message"]))

    def _add_reply(self, event: Event) -> None:
        data, usage = event.data, self._usage
        # The judge may be a different model. With fallbacks, the last model that answered is
        # reported.
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
        """The successful searches and page reads, as one line each, without duplicates."""
        return tuple(self._steps)[:MAX_PLAYBOOK_STEPS]

    def finished_report(self, result: LoopResult, judge: ClaimJudge | None = None) -> Report:
        """Build the report of a run that finished or reached a limit."""
        evidence = self.evidence
        if failure := self._web_failure():
            return self.failed_report(failure)

        # Determine the status.
        text, gave_up = _without_not_found(result.text)
        checked = check_answer(text, evidence, judge)
        weighed = assess_answer(
            checked,
            evidence,
            self.question,
            answers=judge.addresses_question if judge else None,
            disputes=(*(judge.disputes if judge else ()), *self._contrary_evidence()),
            fit=self._fit,
            primary={
                claim: data["source"] for claim, data in self._primary.items() if "source" in data
            },
        )
        # The extractive model either answers or shows relevant passages.
        too_weak = self._fit is not None and (weighed.confidence or 0.0) < MIN_EXTRACTIVE_CONFIDENCE
        unanswered = gave_up or too_weak or not checked.sources
        no_research = not evidence.sources and not self._searches and result.limit is None
        status: Status = "not_found" if unanswered else "answered"
        if result.limit is not None:
            status = "partial"
        if self._done and no_research:
            # A task was set up, so its confirmation is the answer. The model's own text is left
            # out, since nothing supports it.
            status, unanswered = "answered", False
            done_tasks = [
                Sentence(text=done, verdict=VerdictState.DONE, reason=_TOOL_REPORTED_REASON)
                for done in dict.fromkeys(self._done)
            ]
            checked = CheckedAnswer("", tuple(done_tasks), ())
            weighed = replace(weighed, confidence=None, sources=(), conflicts=())
        incomplete = self._undone or (self._no_browser and status == "answered")
        report = self.new_report("partial" if incomplete else status)
        if self._no_browser:
            report.error = _error_info(self._browser_missing)
        elif self._undone:
            report.error = _error_info(NeedsUser("; ".join(dict.fromkeys(self._undone))))

        # Add the answer with its sources and sentences, or else a description of the search and the
        # passages relevant to the question.
        if unanswered:
            words = CheckedAnswer("", (), ()) if too_weak else checked
            report.confidence_parts.fit = self._fit
            report.sources = list(words.sources)
            add_closest(report, result.text, self.evidence)
            self._add_search(report, result, words, gave_up=gave_up)
        else:
            report.answer = checked.answer
            report.sentences = list(checked.sentences)
            report.sources, report.conflicts = list(weighed.sources), list(weighed.conflicts)
            report.confidence, report.confidence_parts = weighed.confidence, weighed.parts
            report.challenges = self._contrary_searches(report.conflicts)
            self._name_primary_sources(report)
        report.answer = "\n\n".join(filter(None, (report.answer, *dict.fromkeys(self._done))))
        return report

    def _contrary_evidence(self) -> list[Dispute]:
        """Return the evidence that the judge found against challenged claims."""
        found = (data for data in self._challenges if "passage" in data)
        return [Dispute(data["text"], data["passage"], data["quote"]) for data in found]

    def _name_primary_sources(self, report: Report) -> None:
        """For sentences from secondary sources, add the primary source and whether it agrees."""
        sources = SourceList(report.sources)
        for sentence in report.sentences:
            data = self._primary.get(sentence.text)
            if data is None or not sentence.holds:
                continue
            sentence.secondary_to = data["url"]
            source = self.evidence.source(data.get("source", 0))
            note = f"its page cites {data['url']}"
            if source is not None:
                sentence.primary = sources.add(source, data["quote"]).n
                note = f"the primary source is [{sentence.primary}]"
            elif data["read"]:
                note = f"{note}, which does not contain this wording"
            sentence.reason = "; ".join(filter(None, (sentence.reason, note)))
        report.sources = list(sources)

    def _contrary_searches(self, conflicts: Sequence[Conflict]) -> list[ContrarySearch]:
        disputed = {conflict.text for conflict in conflicts}
        return [
            ContrarySearch(
                text=data["text"],
                query=data["query"],
                read=data["read"],
                found=data["text"] in disputed,
            )
            for data in self._challenges
        ]

    def _web_failure(self) -> WebOutOfReach | None:
        """Return the error if nothing could be searched or opened: such a run has failed."""
        could_search = any(line.outcome in _COMPLETED_OUTCOMES for line in self._searches)
        if self.evidence.sources:
            return None
        if self._searches and not could_search:
            return _unreachable_web_error(self._searches)
        if self._silent_searches and not could_search:
            return _no_finished_search_error(self._silent_searches)
        return self._browser_missing if self._no_browser else None

    @property
    def _browser_missing(self) -> WebOutOfReach:
        return WebOutOfReach(f"no browser could be started: {self._no_browser}")

    def _add_search(
        self, report: Report, result: LoopResult, checked: CheckedAnswer, *, gave_up: bool
    ) -> None:
        """Use the model's text and a description of the recorded search as the answer."""
        words = checked.answer
        if words and not gave_up:
            # A run that only called tools without searching (for example, to save a memory) has no
            # claims to check.
            if self._searches or not self._calls or self.evidence.sources:
                report.sentences = list(checked.sentences)
            report.answer = words
            return
        report.sentences = [
            Sentence(
                text=one.text,
                citations=one.citations,
                about_search=True,
                reason=_ABOUT_SEARCH_REASON,
            )
            for one in checked.sentences
        ]
        if words and result.by_model and not self._worded_by_code:
            words = f"{_OWN_WORDS_HEADING} {words}"
        record = self._describe_search(result.limit)
        if not (words or report.closest):
            record = f"No answer was found. {record}"
        report.answer = "\n\n".join(filter(None, (words, record)))

    @property
    def _worded_by_code(self) -> bool:
        """Whether code writes the replies: in guided mode, the model only picks passages."""
        return self._guided or self._usage.model == ExtractiveModel.name

    def failed_report(self, error: ResearchError) -> Report:
        """Build the report of a run that ended with an error."""
        report = self.new_report("failed")
        if self.evidence.sources:
            report.answer = f"No answer was found. {self._describe_search()}"
        report.error = _error_info(error)
        return report

    def new_report(self, status: Status) -> Report:
        """Build a report without an answer: search trail, usage, steps and duration."""
        return Report(
            run=self.run,
            question=self.question,
            status=status,
            searches=self._searches,
            usage=self._usage,
            steps=self.budget.steps + self.budget.subtask_steps,
            elapsed_s=round(self.budget.elapsed(), 3),
        )

    def _describe_search(self, limit: str | None = None) -> str:
        """Describe the recorded search: queries, pages, failures, and why it ended."""
        failed = {
            f"{line.provider} ({line.outcome.replace('_', ' ')})": None
            for line in self._searches
            if line.outcome not in (*_COMPLETED_OUTCOMES, "skipped")
        }
        queries = _join_first(dict.fromkeys(line.query for line in self._searches), "; ")
        read = _join_first(dict.fromkeys(s.title or s.url for s in self.evidence.sources), ", ")
        sentences = [
            f"Searched: {queries or 'nothing'}.",
            f"Read: {read or 'no page'}.",
            f"Search engines that failed: {_join_first(failed, ', ')}." if failed else "",
            f"Failed: {_join_first(self._failures, '; ')}." if self._failures else "",
            files_note(self._searches),
            f"Stopped early: {_LIMIT_REASONS.get(limit, limit)}." if limit else "",
        ]
        return " ".join(filter(None, sentences))


def _join_first(items: Iterable[str], between: str) -> str:
    """Join the first strings, and append the number of the remaining ones."""
    found = [" ".join(item.split()).rstrip(".") for item in items]
    more = f"{between}and {len(found) - _MAX_LISTED} more" if len(found) > _MAX_LISTED else ""
    return between.join(found[:_MAX_LISTED]) + more


def _without_not_found(text: str) -> tuple[str, bool]:
    """Remove `NOT_FOUND` from the beginning of an answer; also returns whether it was present."""
    stripped = text.strip().lstrip("*_`# ")
    if not stripped.startswith(NOT_FOUND):
        return text, False
    return stripped.removeprefix(NOT_FOUND).lstrip(" .:—-*_`\n").rstrip(" *_`\n"), True


def _error_info(error: ResearchError) -> ErrorInfo:
    return ErrorInfo(type=type(error).__name__, message=error_text(error), hint=error.hint)


def _no_finished_search_error(errors: Sequence[str]) -> WebOutOfReach:
    """Explain why no search was completed."""
    reasons = "; ".join(dict.fromkeys(errors))
    hint = (
        "Ask again: the part of the index that is finished is kept. A longer --timeout also helps."
    )
    return WebOutOfReach(f"no search finished: {reasons}", hint=hint)


def _unreachable_web_error(searches: Iterable[SearchLine]) -> WebOutOfReach:
    """Explain why no provider could search: offline, all refused, or different reasons."""
    # A provider that failed is skipped afterwards. Sort skipped lines first, so that the failure,
    # which is more informative, overrides them.
    lines = sorted(searches, key=lambda line: line.outcome == "skipped", reverse=True)
    providers: dict[str, str] = {}
    for line in lines:
        detail = f" ({line.detail})" if line.detail else ""
        providers[line.provider] = f"{line.provider}: {line.outcome}{detail}"
    reasons = {line.detail for line in lines if line.outcome == "unreachable"}
    outcomes = {line.outcome for line in lines} - {"skipped"}
    # If all providers fail for the same reason, the proxy is unreachable rather than the network.
    if outcomes == {"unreachable"} and len(reasons) > 1:
        summary = f"none of {len(providers)} search providers can be reached"
        hint = "Check the network, or search a folder of your own with --corpus DIR."
        return Offline(f"you seem to be offline ({summary})", hint=hint)
    if outcomes == {"refused"}:
        summary = "refused"
        if len(providers) > 1:
            summary = f"all {len(providers)} search providers are refusing requests"
        last = lines[-1]
        return WebOutOfReach(f"{summary}: {last.provider}: {last.detail}", hint=_REFUSED_HINT)
    return WebOutOfReach("no search provider could be reached: " + "; ".join(providers.values()))


def exit_code(report: Report, *, require_verified: bool = False) -> int:
    """Return the exit code for a report; the README lists the codes."""
    if report.status == "failed" and report.error is not None:
        return error_class(report.error.type).exit_code
    if report.status == "answered" and require_verified and report.standing != "supported":
        return NOT_VERIFIED
    return EXIT_CODES[report.status]


async def extractive_answer(result: LoopResult, messages: Sequence[Message]) -> LoopResult:
    """If a limit or an interrupt left no answer, have the extractive model write one."""
    if result.limit is None or result.text.strip() or len(messages) < 2:
        return result
    last = Message("user", WRAP_UP.format(limit=result.limit))
    reply = await ExtractiveModel().reply("", [*messages, last])
    return replace(result, text=strip_tool_calls(reply.text), by_model=False)


async def add_values(
    report: Report, answer: str, schema: Schema, work: Orchestrator, judge: ClaimJudge
) -> None:
    """Fill in a schema after an answer, and add the values to the report.

    `answer` is the model's text with its citations. Sources that only the values cite are listed
    after the answer's sources.
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
