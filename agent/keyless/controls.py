"""The controls of a live page, read from its snapshot and from what later actions changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent.keyless.observations import Observation

LIVE_TOOLS = frozenset({"OPEN", "CLICK", "TYPE", "SELECT", "PRESS", "SCROLL", "SNAPSHOT"})

_CONTROL = re.compile(r"\[((?:f\d+)?e\d+)(?: ([a-z]+))?: ([^\]]*)\]")
_WORD = re.compile(r"\w+")
_LANDMARK = re.compile(r"([a-z]+)(?: .*)?:")
_OUT_OF_REACH = re.compile(r", (?:covered|disabled|off-screen)\b")
_FIELDS = frozenset({"searchbox", "textbox", "combobox", "spinbutton"})


@dataclass(frozen=True, slots=True)
class Control:
    """A control: `role` is `link` where the snapshot names none."""

    ref: str
    role: str
    label: str

    @property
    def is_field(self) -> bool:
        """Whether text can be typed into it."""
        return self.role in _FIELDS


def controls(observations: Iterable[Observation]) -> list[Control]:
    """The controls of the page opened last, its main part if it has one, with those that came."""
    found: dict[str, Control] = {}
    for observation in observations:
        if observation.tool not in LIVE_TOOLS or observation.failed:
            continue
        if observation.tool == "OPEN" or navigated(observation):
            found.clear()
        for line in _main(observation.lines):
            for ref, role, label in _CONTROL.findall(line):
                if ref in found or not line.startswith("~"):
                    found[ref] = Control(ref, role or "link", label)
    return [c for c in found.values() if not _OUT_OF_REACH.search(c.label)]


def navigated(observation: Observation) -> bool:
    """Whether an action led to another page."""
    return "navigated" in str(observation.data.get("events", ""))


def brought_text(observation: Observation) -> bool:
    """Whether an action brought text, and not controls alone; another page always does."""
    if observation.tool != "OPEN" and navigated(observation):
        return True
    new = (_CONTROL.sub("", line[1:]) for line in observation.lines if line.startswith("+"))
    return any(len(_WORD.findall(text)) > 1 for text in new)


def _main(lines: list[str]) -> Iterator[str]:
    """The lines under `main:` where there is such a landmark, else all; of a diff what is new."""
    bounded = "main:" in lines
    inside = not bounded
    for line in lines:
        if bounded and _LANDMARK.fullmatch(line):
            inside = line == "main:"
        elif inside and not line.startswith("- "):
            yield line
