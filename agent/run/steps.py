"""What a run did, as the playbook of it tells: searches made and pages read, in order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agent.protocol.results import failed

if TYPE_CHECKING:
    from agent.journal import Event

TOLD = {"WEB_SEARCH": "query", "READ": "url", "FETCH_URL": "url", "OPEN": "url", "FIND": "text"}
"""Tools whose calls mean something later, with the field that says what was asked for. Refs of a
live page do not, and what is typed into one may be a secret."""
STEPS = 12  # of a run; a longer one is no method to follow
LENGTH = 200  # characters of what was asked for


class Steps:
    """Listens to the events of a run, and keeps what its calls that worked asked for."""

    def __init__(self) -> None:
        self._taken: dict[str, None] = {}

    def note(self, event: Event) -> None:
        """Take up a tool's result; the same call twice is one step."""
        if (
            event.type != "tool.result"
            or event.data["name"] not in TOLD
            or failed(event.data["data"])
        ):
            return
        asked = _asked(event.data["param"], TOLD[event.data["name"]])
        if asked:
            self._taken[f"{event.data['name']} {asked[:LENGTH]}"] = None

    def lines(self) -> tuple[str, ...]:
        """Give the steps so far, one line each."""
        return tuple(self._taken)[:STEPS]


def _asked(param: str, field: str) -> str:
    if not param.startswith("{"):
        return " ".join(param.split())
    try:
        fields = json.loads(param, strict=False)
    except ValueError:
        return ""  # the tool forgave what was wrong with it; the playbook can do without
    return " ".join(str(fields.get(field, "")).split())
