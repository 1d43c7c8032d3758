"""A recorded browser session's actions: finds their elements and compares their outcomes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from agent.errors import RerunStopped, UsageError
from agent.journal.events import MAIN
from agent.run.element_positions import (
    MIN_OWN_PARTS,
    ElementPosition,
    keep_own_parts,
    positions_in,
    rate_match,
    share_of_own_parts,
    without_marks,
)
from agent.tools.action_tools import without_refs
from agent.tools.toolset import TOOLS_ON_PAGE
from agent.types import ToolTrait
from browser.types import REF

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.run.record import RunRecord
    from agent.tools.registry import Tool
    from agent.types import Observation, ToolCall
    from browser.page.view import View

REFS: Final = ("ref", "to")
"""Parameters that contain the ref of an element."""
_TEXT_AFTER_REF_RE = re.compile(rf"\[{REF}\] ?(.*)", re.DOTALL)
MIN_LIKENESS: Final = 0.6
"""Minimum similarity (0 to 1) of a line that appeared after an action to the recorded line."""
_DIALOG_LAYER: Final = 2
"""Value of `front` for the lines of a dialog that covers the page."""
MAX_NEW_LINES: Final = 5
"""Maximum number of new lines compared: more lines mean a new page or list, which may differ."""
_NUMBER_RE = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class SessionStep:
    """A recorded action: the tool, its call and result, and its elements' positions.

    `element` is the role, name and recorded state of the element on which the action was performed.
    `shown` are the lines that the session had already shown.
    """

    tool: Tool
    call: ToolCall
    fields: dict[str, Any]
    result: Observation
    element: str = ""
    positions: dict[str, ElementPosition] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        """The name of the field that was filled in."""
        return self.element.partition(" ")[2].partition(", ")[0]

    @property
    def new_value(self) -> str:
        """The text, option or keys to enter now; empty for other actions."""
        return str(self.fields.get(self.tool.entered_field) or "")

    @property
    def recorded_value(self) -> str:
        """The text, option or keys that were entered in the recorded session."""
        return str(self.call.fields.get(self.tool.entered_field) or "")

    def describe_with_new_value(self) -> str:
        """Describe the step to perform: the recorded action with the new value."""
        said = self.describe()
        if self.recorded_value:
            said = said.replace(self.recorded_value, self.new_value)
        return said if self.new_value in said else f"{said}: {self.new_value!r}"

    def describe(self) -> str:
        """Describe the recorded step, without refs."""
        return describe_act(self.result, self.fields.get("url", ""))


def describe_act(result: Observation, url: str) -> str:
    """Describe what an action did, without refs.

    If the action has no description, it opened `url`.
    """
    return without_refs(str(result.get("did") or "")) or f"opened {url}"


def session_steps(record: RunRecord) -> list[SessionStep]:
    """Read the successful actions of a run's main loop, in order."""
    known: dict[str, ElementPosition] = {}
    shown = set[str]()
    steps: list[SessionStep] = []
    for event in record.events_of("tool.result"):
        result = record.results[event.place]
        if not event.place.startswith(f"{MAIN}/"):
            continue
        tool = TOOLS_ON_PAGE.get(result.tool)
        opens = tool is not None and tool.opens_page
        if tool is None or result.failed or ToolTrait.LOOKS in tool.traits:
            pass
        elif opens:
            fields = {"url": str(result.call.fields.get("url") or result.call.param)}
            steps.append(SessionStep(tool, result.call, fields, result))
        else:
            parsed = tool.parse(result.call.param).arguments
            fields = parsed.model_dump(mode="json", exclude_unset=True, by_alias=True)
            match = _TEXT_AFTER_REF_RE.search(str(result.get("did") or ""))
            positions = {
                key: keep_own_parts(ref, known) for key in REFS if (ref := fields.get(key)) in known
            }
            element = match[1] if match else ""
            before = frozenset(shown)
            steps.append(SessionStep(tool, result.call, fields, result, element, positions, before))
        if opens or "navigated" in _kinds(result):
            known.clear()  # a new page
        known |= dict(positions_in(result.snapshot))
        shown.update(map(normalise_line, result.snapshot.splitlines()))
    return steps


def with_values(steps: Sequence[SessionStep], values: Mapping[str, str]) -> list[SessionStep]:
    """Replace entered values; raises `UsageError` for a key that matches no field or entry."""
    changed, unused = list[SessionStep](), dict.fromkeys(values)
    for step in steps:
        names = (step.label.casefold(), step.new_value.casefold())
        key = next((key for key in values if step.new_value and key.casefold() in names), None)
        if key is None:
            changed.append(step)
            continue
        unused.pop(key, None)
        fields = {**step.fields, step.tool.entered_field: values[key]}
        changed.append(replace(step, fields=fields))
    if unused:
        entered = [f"{step.label}={step.new_value}" for step in steps if step.new_value]
        listed = "; ".join(entered) or "nothing"
        raise UsageError(
            f"{next(iter(unused))!r} does not match any entered text", hint=f"Entered: {listed}."
        )
    return changed


def _kinds(result: Observation) -> set[str]:
    events = result.get("events") or ()
    return {str(event).split(" ", 1)[0] for event in events} & {"navigated", "dialog", "download"}


def normalise_line(line: str) -> str:
    """Return a line without refs, markers and digits, so that sessions can be compared."""
    return _NUMBER_RE.sub("#", without_marks(line))


def find_element(view: View, step: SessionStep, key: str, where: str) -> str:
    """Find the element of a recorded step on the page; raises `RerunStopped` if there is none."""
    position = step.positions.get(key)
    wanted = step.element if key == "ref" else (position.name if position else "")
    found = [(ref, name) for ref, name in view.refs.items() if name and _is_named(wanted, name)]
    longest = max((len(name) for _, name in found), default=0)
    refs = [ref for ref, name in found if len(name) == longest]
    if not refs:
        role = wanted.partition(" ")[0]
        others = [name for name in view.refs.values() if name.partition(" ")[0] == role]
        listed = "; ".join(dict.fromkeys(others[:8])) or "none"
        named = wanted.partition(", ")[0]
        raise RerunStopped(
            f"{where}: there is no {named!r} on {view.url}; elements with that role: {listed}"
        )
    if position is None:
        return refs[0]
    there = dict(positions_in("\n".join(line.text for line in view.lines)))
    named = step.element.partition(", ")[0] if key == "ref" else position.name
    if position.unique_parts:
        shares = {ref: share_of_own_parts(position, there.get(ref)) for ref in refs}
        refs = [ref for ref in refs if shares[ref] == max(shares.values())]
        if shares[refs[0]] <= MIN_OWN_PARTS:
            row = " ".join(sorted(position.unique_parts))
            raise RerunStopped(
                f"{where}: there is no {named!r} in the row of “{position.line}” ({row})"
            )
    elif position.same_name_count and len(refs) != position.same_name_count + 1:
        recorded = position.same_name_count + 1
        message = f"{named!r} matches {len(refs)} elements, but {recorded} in the record"
        raise RerunStopped(f"{where}: {message}, and they cannot be told apart")
    return max(refs, key=lambda ref: rate_match(position, there.get(ref)))


def new_dialog(view: View, step: SessionStep) -> str:
    """Return the first new line of a dialog if most of its lines are new to the session, or ""."""
    lines = [line.text for line in view.lines if line.layer == _DIALOG_LAYER and line.plain]
    new = [line for line in lines if normalise_line(line) not in step.shown]
    return without_marks(new[0]) if len(new) > len(lines) / 2 else ""


def _is_named(wanted: str, name: str) -> bool:
    """Return whether the recorded description `wanted` starts with this role and name."""
    rest = wanted[len(name) :]
    return wanted.startswith(name) and (not rest or rest.startswith((",", " in ", ":")))


def describe_difference(
    step: SessionStep,
    now: Observation,
    before: frozenset[str],
    changed: Sequence[tuple[str, str]],
) -> str:
    """Describe how an outcome differs from the recorded one; empty if it matches.

    `before` are the lines that the page showed before the action; `changed` maps recorded values to
    the new ones.
    """
    then = step.result
    if now.failed:
        return str(now.get("error") or "it failed")
    if _address(then) != _address(now):
        return f"it led to {now.get('url')}; in the record it led to {then.get('url')}"
    if missing := _kinds(then) - _kinds(now):
        return f"this happened in the record but not now: {', '.join(sorted(missing))}"
    if step.tool.verifies:
        return ""
    if then.snapshot.strip() and not now.snapshot.strip():
        return "nothing on the page changed"
    lost = _lost_line(then.snapshot, step.shown, now.snapshot, before, changed)
    return f"the page did not show “{lost}”, or anything like it" if lost else ""


def _address(result: Observation) -> str:
    parts = urlsplit(str(result.get("url") or ""))
    return _NUMBER_RE.sub("#", f"{parts.netloc.partition(':')[0]}{parts.path.rstrip('/')}")


def _lost_line(
    then: str,
    shown: frozenset[str],
    now: str,
    before: frozenset[str],
    changed: Sequence[tuple[str, str]],
) -> str:
    """Return the first line that was new in the record, if no such line is new now; else "".

    Differences in numbers and in entered values are ignored.
    """
    expected = [line for line in _new_lines(then) if line not in shown]
    found = [line for line in _new_lines(now) if line not in before]
    for old, new in changed:
        expected = [line.replace(normalise_line(old), normalise_line(new)) for line in expected]
    if not expected or len(expected) > MAX_NEW_LINES:
        return ""
    alike = any(_alike(line, other) for line in expected for other in found)
    return "" if alike else expected[0]


def _new_lines(changes: str) -> list[str]:
    """Return the lines that a diff adds, or all lines if the page is new."""
    lines = changes.splitlines()
    if any(line.startswith(("+", "~", "-")) for line in lines):
        lines = [line for line in lines if line.startswith(("+", "~"))]
    return [line for line in map(normalise_line, lines) if line]


def _alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= MIN_LIKENESS
