"""`research rerun`: a recorded browser session performed again, live and without a model.

The steps are those of the record. An element is found by its role and name, never by a selector.
Where several share them, the words of the row that only it had decide; without those words on the
page, nothing is done. Each act is confirmed by its outcome, compared with the recorded one. At the
first difference the rerun stops and says what differs; if a model is given, it takes over there.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Unpack
from urllib.parse import urlsplit

from agent.config import load_options
from agent.errors import RerunStopped, UsageError
from agent.evidence.answer import SourceList
from agent.guard.provenance import Kind
from agent.journal.events import MAIN
from agent.journal.runs import Runs
from agent.run.record import RunRecord
from agent.run.research import Run, run_question
from agent.run.services import Inputs
from agent.run.takeover import take_over
from agent.run.web import open_web
from agent.tools.action_tools import without_refs
from agent.tools.policy import Policy
from agent.tools.toolset import PAGE_TOOLS, apply_tool_rules, available_tools
from agent.types import Sentence, ToolCall, VerdictState
from browser.text.words import words

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from contextlib import AsyncExitStack

    from agent.config import Flags
    from agent.journal.events import Event
    from agent.models.base import Model
    from agent.run.models import ResolvedModel
    from agent.run.services import RunServices
    from agent.tools.context import ToolContext
    from agent.tools.toolset import ToolSelection
    from agent.types import Observation, Report
    from browser.page.view import View

_ONLY_LOOKING: Final = frozenset(
    "SNAPSHOT FIND SCREENSHOT PAGE_CONTEXT READ SOLVE_CAPTCHA HOVER SCROLL".split()
)
"""Tools that change nothing on a page: a rerun looks for itself."""
_REFS: Final = ("ref", "to")
"""Parameters that name an element."""
_TYPED: Final = {"TYPE": "text", "SELECT": "value", "PRESS": "keys"}
"""The parameter of each tool that enters something."""
_KEPT_SETTINGS: Final = (
    "allow deny allow_private proxy ignore_robots headed storage_state file timeout".split()
)
"""Settings of the recorded run that hold again. Approvals do not: they are asked for anew."""
_READ_BACK: Final = frozenset({"OPEN", "TYPE", "SELECT", "CHECK"})
"""Tools that read back what they did, so that no change of the page has to confirm it."""
MIN_LIKENESS: Final = 0.6
"""Least likeness (0 to 1) of a line that an act made new to one that it made new in the record."""
MIN_OWN_PARTS: Final = 0.5
"""More than this share (0 to 1) of the cells or words that only an element's row had identifies the
row: of two words both, so that a namesake is another row."""
_DIALOG: Final = 2
"""`front` of the lines of a dialog that covers the page."""
NEW_LINES: Final = 5
"""More new lines than these are another page or list, whose content may differ."""
_REF_AT = re.compile(r"\[((?:f\d+)?e\d+)\b")
_AFTER_REF = re.compile(r"\[(?:f\d+)?e\d+\] ?(.*)", re.DOTALL)
_BARE_REF = re.compile(r"\b(?:f\d+)?e\d+\b")
_ROLE = re.compile(r"\s*\w+: ")
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an element stood: its line without refs, the line above it, and the heading.

    `name` is the element as its line shows it, `number` how many of that name stood before it.
    `own_parts` are the cells or words that no other row, or element of that name, had in its line
    (or, with `parts_above`, above it); `others` is the number of other elements of that name.
    """

    line: str
    above: str
    heading: str
    name: str
    number: int
    own_parts: frozenset[str] = frozenset()
    parts_above: bool = False
    others: int = 0


@dataclass(frozen=True, slots=True)
class SessionStep:
    """A recorded act: the call, its result, and where its elements stood.

    `element` is the role and name of what was acted on, and what was noted of it. `shown` are the
    lines that the session had shown before.
    """

    call: ToolCall
    fields: dict[str, Any]
    result: Observation
    element: str = ""
    places: dict[str, Place] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        """The name of the field that something was entered in."""
        return self.element.partition(" ")[2].partition(", ")[0]

    @property
    def entered(self) -> str:
        """What was typed, selected or pressed; empty for other acts."""
        return str(self.fields.get(_TYPED.get(self.call.name, ""), "") or "")

    @property
    def recorded(self) -> str:
        """What was entered when the session was recorded."""
        name = _TYPED.get(self.call.name, "")
        return str(self.call.fields.get(name, "") or "") if name else ""

    def wanted(self) -> str:
        """Say what the step is to do now: what it did then, with what is to be entered."""
        said = self.describe()
        if self.recorded:
            said = said.replace(self.recorded, self.entered)
        return said if self.entered in said else f"{said}: {self.entered!r}"

    def describe(self) -> str:
        """Say what the step did, without refs."""
        return without_refs(str(self.result.get("did") or "")) or f"opened {self.fields['url']}"


async def rerun(
    name: str,
    *,
    values: Mapping[str, str] | None = None,
    model: str | Model | None = None,
    on_event: Callable[[Event], None] | None = None,
    approve: Callable[[str], Awaitable[bool | str]] | None = None,
    config: bool = False,
    **flags: Unpack[Flags],
) -> Report:
    """Perform the browser session of a run again; `values` replace what was entered then.

    Their keys are names of fields, or what was entered. `model` takes over from the first step that
    differs; without one, the rerun stops there. `flags` are those of `research`. Raises
    `UsageError` if there is no such run, it has no such session, or a key fits no entry.
    """
    own_model = None if isinstance(model, str) else model
    arguments: dict[str, Any] = {**flags, "memory": False, "model": "extractive"}
    if isinstance(model, str):
        arguments["model"] = model
    folder = Runs(load_options(arguments, config=config).data).find(name)
    record = RunRecord.read(folder)
    steps = with_values(session_steps(record), values or {})
    if not steps:
        hint = "Only what a run did in the browser (OPEN, CLICK, TYPE, …) can be repeated."
        raise UsageError(f"{folder.id} did nothing in a browser", hint=hint)
    kept = {key: record.options[key] for key in _KEPT_SETTINGS if record.options.get(key)}
    options = load_options(
        {**kept, **{k: v for k, v in arguments.items() if v is not None}}, config=config
    )
    inputs = Inputs(model=own_model, on_event=on_event, approve=approve, config=config)
    make = partial(
        Rerun,
        steps=steps,
        asked=record.question,
        values=values or {},
        takes_over=model not in (None, "extractive"),
    )
    return await run_question(f"Rerun of {folder.id}: {record.question}", options, inputs, make)


def session_steps(record: RunRecord) -> list[SessionStep]:
    """Read the acts of a run's main loop that took effect, in their order."""
    known: dict[str, Place] = {}
    shown = set[str]()
    tools = {tool.name: tool for tool in PAGE_TOOLS}
    steps: list[SessionStep] = []
    for event in record.events_of("tool.result"):
        result = record.results[event.place]
        name = result.call.name
        if not event.place.startswith(f"{MAIN}/"):
            continue
        if name == "OPEN" and not result.failed:
            fields = {"url": str(result.call.fields.get("url") or result.call.param)}
            steps.append(SessionStep(result.call, fields, result))
        elif name in tools and name not in _ONLY_LOOKING and not result.failed:
            parsed = tools[name].parse(result.call.param).arguments
            fields = parsed.model_dump(mode="json", exclude_unset=True, by_alias=True)
            match = _AFTER_REF.search(str(result.get("did") or ""))
            places = {
                key: _distinguished(ref, known)
                for key in _REFS
                if (ref := fields.get(key)) in known
            }
            element = match[1] if match else ""
            before = frozenset(shown)
            steps.append(SessionStep(result.call, fields, result, element, places, before))
        if name == "OPEN" or "navigated" in _kinds(result):
            known.clear()  # another page
        known |= dict(_places(result.snapshot))
        shown.update(map(_comparable, result.snapshot.splitlines()))
    return steps


def _places(snapshot: str) -> Iterator[tuple[str, Place]]:
    """Yield the refs that a snapshot shows, each with its place."""
    heading, above, seen = "", "", dict[str, int]()
    for line in snapshot.splitlines():
        text = line.lstrip("+-~ ")
        if text.startswith("#"):
            heading = _plain(text)
        for match in _REF_AT.finditer(line):
            shown = line[match.end() :].partition("]")[0]
            role, _, words = shown.partition(":")
            name = f"{role.strip() or 'link'} {words.partition(', ')[0].strip()}".strip()
            seen[name] = seen.get(name, -1) + 1
            yield match[1], Place(_plain(line), above, heading, name, seen[name])
        above = _plain(line) or above


def _distinguished(ref: str, places: Mapping[str, Place]) -> Place:
    """Return a place with what no other row, and no other element of its name, had in its line."""
    place = places[ref]
    others = [one for key, one in places.items() if key != ref and one.name == place.name]
    rows = [one for one in places.values() if _is_row(place) and _is_row(one)]
    compared = [*others, *(row for row in rows if row.line != place.line)]
    own = _line_parts(place) - frozenset[str]().union(*map(_line_parts, compared))
    above = not own and bool(others)
    if above:
        own = _words_above(place) - frozenset[str]().union(*map(_words_above, others))
    if not (others or rows):
        own = frozenset()  # the name alone identifies it
    return replace(place, own_parts=own, parts_above=above, others=len(others))


def _is_row(place: Place) -> bool:
    return place.line.startswith("|")


def _line_parts(place: Place) -> frozenset[str]:
    """Return the cells of a row, or the words of another line, besides the element's name."""
    if not _is_row(place):
        return frozenset(words(_BARE_REF.sub("", place.line))) - frozenset(words(place.name))
    name = place.name.partition(" ")[2]
    cells = (
        " ".join(words(_ROLE.sub("", cell))) for cell in place.line.split("|") if name not in cell
    )
    return frozenset(filter(None, cells))


def _words_above(place: Place) -> frozenset[str]:
    """Return the words of the line above an element, and of its heading."""
    return frozenset(words(f"{place.above} {place.heading}"))


def _plain(line: str) -> str:
    """Return a line of a snapshot without refs, marks and indentation."""
    return " ".join(_REF_AT.sub("", line).strip(" +-~#").replace("]", "").split())


def with_values(steps: Sequence[SessionStep], values: Mapping[str, str]) -> list[SessionStep]:
    """Replace what was entered; raises `UsageError` for a key that no field or entry has."""
    changed, unused = list[SessionStep](), dict.fromkeys(values)
    for step in steps:
        names = (step.label.casefold(), step.entered.casefold())
        key = next((key for key in values if step.entered and key.casefold() in names), None)
        if key is None:
            changed.append(step)
            continue
        unused.pop(key, None)
        fields = {**step.fields, _TYPED[step.call.name]: values[key]}
        changed.append(replace(step, fields=fields))
    if unused:
        entered = [f"{step.label}={step.entered}" for step in steps if step.entered]
        listed = "; ".join(entered) or "nothing"
        raise UsageError(
            f"nothing was entered for {next(iter(unused))!r}", hint=f"Entered: {listed}."
        )
    return changed


class Rerun(Run):
    """The rerun of one session. It acts through the tools of a run, so that the same rules hold.

    `takes_over` says that the model continues where a step differs from the record.
    """

    def __init__(
        self,
        services: RunServices,
        model: ResolvedModel,
        steps: Sequence[SessionStep],
        asked: str,
        values: Mapping[str, str],
        *,
        takes_over: bool = False,
    ) -> None:
        super().__init__(services, model)
        services.evidence.question = ""
        for text in (asked, *values.values()):  # the user's own
            services.context.provenance.add(text, Kind.PERSON)
        self._steps, self._asked, self._takes_over = steps, asked, takes_over
        self._changed = [
            (step.recorded, step.entered) for step in steps if step.recorded != step.entered
        ]
        self._sentences: list[Sentence] = []
        self._sources = SourceList()

    async def _answer(self, stack: AsyncExitStack) -> Report:
        services = self._services
        name = self._model.name if self._takes_over else "none"
        services.write_start(name, services.folder.id, work="rerun")
        opened = open_web(services.options, services.environ, services.record, services.question)
        context = services.context
        context.web = await stack.enter_async_context(opened)
        tools = apply_tool_rules(available_tools(context), services.options)
        calls = Policy(tools.registry(), context)
        try:
            for number, step in enumerate(self._steps, 1):
                await self._do(calls, context, step, number)
        except RerunStopped as stopped:
            if self._takes_over:
                return self._finish(self._with_steps(await self._continue(stack, tools, stopped)))
            report = services.report_builder.failed_report(stopped)
            return self._finish(self._with_steps(report))
        return self._finish(self._with_steps(services.report_builder.new_report("answered")))

    async def _do(
        self, calls: Policy, context: ToolContext, step: SessionStep, number: int
    ) -> None:
        """Perform one step and confirm its outcome; raises `RerunStopped`."""
        where = f"step {number} of {len(self._steps)} ({step.describe()})"
        fields, before = dict(step.fields), frozenset[str]()
        if context.web is not None and context.web.tab is not None:
            view = await context.web.tab.look()
            if dialog := _new_dialog(view, step):
                raise RerunStopped(f"{where}: a dialog covers the page: “{dialog}”")
            before = frozenset(_comparable(line.text) for line in view.lines)
            for key in _REFS:
                if key in fields:
                    fields[key] = _find(view, step, key, where)
        elif step.element:
            raise RerunStopped(f"{where}: no page is open")
        call = ToolCall(step.call.name, json.dumps(fields, ensure_ascii=False))
        place = f"{MAIN}/{number}/1"
        result = (await calls.run(call, place))()
        if difference := _difference(step, result, before, self._changed):
            raise RerunStopped(f"{where}: {difference}")
        did = without_refs(str(result.get("did") or "")) or f"opened {result.get('url')}"
        source = self._services.evidence.source(_number(result))
        cited = [self._sources.add(source).n] if source else []
        self._sentences.append(
            Sentence(
                text=f"{number}. {did}",
                citations=cited,
                verdict=VerdictState.DONE,
                reason="its outcome is that of the record",
                step=place,
            )
        )

    async def _continue(
        self, stack: AsyncExitStack, tools: ToolSelection, stopped: RerunStopped
    ) -> Report:
        """Have the model do the rest of the session; its answer is checked like any other."""
        done = [one.text for one in self._sentences]
        result, judge = await take_over(
            self._services,
            self._model,
            stack,
            tools,
            asked=self._asked,
            done=done,
            why=str(stopped),
            left=[step.wanted() for step in self._steps[len(done) :]],
        )
        return self._checked(result, judge)

    def _with_steps(self, report: Report) -> Report:
        """Put the steps that were repeated before the answer, with their sources."""
        numbers: dict[int, int] = {}
        for source in self._sources:
            known = (
                s.n for s in report.sources if (s.url, s.sha256) == (source.url, source.sha256)
            )
            numbers[source.n] = next(known, len(report.sources) + 1)
            if numbers[source.n] > len(report.sources):
                report.sources.append(source.model_copy(update={"n": numbers[source.n]}))
        steps = [
            one.model_copy(update={"citations": [numbers[n] for n in one.citations]})
            for one in self._sentences
        ]
        lines = [f"{s.text} {''.join(f'[{n}]' for n in s.citations)}".rstrip() for s in steps]
        taken_over = report.answer if report.error is None else ""
        report.answer = "\n\n".join(filter(None, ["\n".join(lines), taken_over]))
        report.sentences = [*steps, *(report.sentences if taken_over else [])]
        report.confidence = None
        return report


def _number(result: Observation) -> int:
    name = str(result.get("source") or "")
    return int(name[1:]) if name[1:].isdecimal() else 0


def _find(view: View, step: SessionStep, key: str, where: str) -> str:
    """Find the element of a recorded step on the page; raises `RerunStopped` without any."""
    place = step.places.get(key)
    wanted = step.element if key == "ref" else (place.name if place else "")
    found = [(ref, name) for ref, name in view.refs.items() if name and _is_named(wanted, name)]
    longest = max((len(name) for _, name in found), default=0)
    refs = [ref for ref, name in found if len(name) == longest]
    if not refs:
        role = wanted.partition(" ")[0]
        others = [name for name in view.refs.values() if name.partition(" ")[0] == role]
        listed = "; ".join(dict.fromkeys(others[:8])) or "none"
        named = wanted.partition(", ")[0]
        raise RerunStopped(f"{where}: there is no {named!r} on {view.url}; of that role: {listed}")
    if place is None:
        return refs[0]
    there = dict(_places("\n".join(line.text for line in view.lines)))
    named = step.element.partition(", ")[0] if key == "ref" else place.name
    if place.own_parts:
        shares = {ref: _share(place, there.get(ref)) for ref in refs}
        refs = [ref for ref in refs if shares[ref] == max(shares.values())]
        if shares[refs[0]] <= MIN_OWN_PARTS:
            row = " ".join(sorted(place.own_parts))
            raise RerunStopped(f"{where}: no {named!r} stands in the row of “{place.line}” ({row})")
    elif place.others and len(refs) != place.others + 1:
        message = f"{len(refs)} of {named!r} are there, in the record {place.others + 1}"
        raise RerunStopped(f"{where}: {message}, and nothing tells them apart")
    return max(refs, key=lambda ref: _nearness(place, there.get(ref)))


def _share(then: Place, now: Place | None) -> float:
    """Return the share (0 to 1) of a place's own parts that stand where it now is."""
    if now is None:
        return 0.0
    there = _words_above(now) if then.parts_above else frozenset(words(now.line))
    return sum(there.issuperset(part.split()) for part in then.own_parts) / len(then.own_parts)


def _new_dialog(view: View, step: SessionStep) -> str:
    """Return the first line of a dialog of which the session had not shown most; "" without one."""
    lines = [line.text for line in view.lines if line.front == _DIALOG and line.plain]
    new = [line for line in lines if _comparable(line) not in step.shown]
    return _plain(new[0]) if len(new) > len(lines) / 2 else ""


def _is_named(wanted: str, name: str) -> bool:
    """Tell whether a role and name begin what the record says of an element."""
    rest = wanted[len(name) :]
    return wanted.startswith(name) and (not rest or rest.startswith((",", " in ", ":")))


def _nearness(then: Place, now: Place | None) -> tuple[float, ...]:
    """Rate a place by its lines, its heading, and its number among elements of the same name."""
    if now is None:
        return (0.0,)
    pairs = ((then.line, now.line), (then.above, now.above), (then.heading, now.heading))
    alike = (SequenceMatcher(None, *pair, autojunk=False).ratio() for pair in pairs)
    return (*(round(ratio, 2) for ratio in alike), -abs(then.number - now.number))


def _difference(
    step: SessionStep,
    now: Observation,
    before: frozenset[str],
    changed: Sequence[tuple[str, str]],
) -> str:
    """Say how an outcome differs from the recorded one; empty if it confirms it.

    `before` are the lines that the page showed before the act, `changed` what is entered in place
    of what was entered then.
    """
    then = step.result
    if now.failed:
        return str(now.get("error") or "it failed")
    if _address(then) != _address(now):
        return f"it led to {now.get('url')}, in the record to {then.get('url')}"
    if missing := _kinds(then) - _kinds(now):
        return f"what happened then did not: {', '.join(sorted(missing))}"
    if step.call.name in _READ_BACK:
        return ""
    if then.snapshot.strip() and not now.snapshot.strip():
        return "nothing on the page changed"
    lost = _lost_line(then.snapshot, step.shown, now.snapshot, before, changed)
    return f"the page did not show “{lost}”, or anything like it" if lost else ""


def _address(result: Observation) -> str:
    parts = urlsplit(str(result.get("url") or ""))
    return _NUMBERS.sub("#", f"{parts.netloc.partition(':')[0]}{parts.path.rstrip('/')}")


def _kinds(result: Observation) -> set[str]:
    events = result.get("events") or ()
    return {str(event).split(" ", 1)[0] for event in events} & {"navigated", "dialog", "download"}


def _lost_line(
    then: str,
    shown: frozenset[str],
    now: str,
    before: frozenset[str],
    changed: Sequence[tuple[str, str]],
) -> str:
    """Return a line that the act made new in the record and not now; "" if one of them is there.

    Numbers may differ, and so does what was entered.
    """
    expected = [line for line in _new_lines(then) if line not in shown]
    found = [line for line in _new_lines(now) if line not in before]
    for old, new in changed:
        expected = [line.replace(_comparable(old), _comparable(new)) for line in expected]
    if not expected or len(expected) > NEW_LINES:
        return ""
    alike = any(_alike(line, other) for line in expected for other in found)
    return "" if alike else expected[0]


def _new_lines(changes: str) -> list[str]:
    """Return the lines that a diff adds, or all lines of a new page."""
    lines = changes.splitlines()
    if any(line.startswith(("+", "~", "-")) for line in lines):
        lines = [line for line in lines if line.startswith(("+", "~"))]
    return [line for line in map(_comparable, lines) if line]


def _comparable(line: str) -> str:
    return _NUMBERS.sub("#", _plain(line))


def _alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= MIN_LIKENESS
